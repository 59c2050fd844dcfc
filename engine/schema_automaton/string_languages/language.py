"""Languages of JSON strings, from the opening quote to the closing one.

A conjunction over strings becomes one automaton over JSON-encoded characters; a
conjunction with an `enum` becomes a trie of the values that satisfy the rest. Both are
read up to the closing quote, which begins no encoding of a character.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from engine.automata.byte_automaton import DEAD
from engine.automata.completion import Alphabet
from engine.grammar import EMPTY
from engine.grammar.simplify import simplify
from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    Formula,
    Length,
    Location,
    Not,
    Text,
    span_of,
    span_of_location,
)
from engine.schema_automaton.json_encoding.encoded_automaton import EncodedAutomaton, before
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.a_labels import DOTS, LONGEST_NAME
from engine.schema_automaton.string_languages.conditions import (
    Component,
    ConditionAutomaton,
    NamesAutomaton,
    any_automaton,
    no_automaton,
)
from engine.schema_automaton.string_languages.length_counter import longest_completion, without_count
from engine.schema_automaton.string_languages.names import NameTrie, TrieState
from engine.schema_automaton.string_languages.plainly_inhabited import is_plainly_inhabited
from engine.schema_automaton.string_languages.products import (
    LEAF,
    TextProduct,
    TooManyClassesError,
    begin,
)
from engine.schema_automaton.string_languages.tables import table_of
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import Limits, Span, checkpoint, counted_cache

EVERY_STRING = Constant(True)

ByBytes: TypeAlias = ConditionAutomaton | NamesAutomaton | TextProduct


@lru_cache(maxsize=4096)
def _inner(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


class Listing(NamedTuple):
    """A list of strings, or all strings except those listed."""

    names: tuple[str, ...]
    others: bool


class Bounded(NamedTuple):
    """A pattern with a bounded length.

    Attributes:
        pattern: the strings of the pattern, of any length.
        least, most: the least and the greatest number of characters.
        reach: the most characters that are needed to complete a match of the pattern once it has begun.
        lengths: the assertions that bound the length.
    """

    pattern: TextLanguage
    least: int
    most: int
    reach: int
    lengths: tuple[Length, ...]

    def spans(self, count: int) -> tuple[Span, ...]:
        """Return the source locations that apply after a number of characters."""
        open_lengths = [each for each in self.lengths if each.most is not None or count < each.least]
        return tuple(sorted({*self.pattern.locations, *map(span_of, open_lengths)}))


class TextLanguage:
    """The strings of a formula, encoded in JSON.

    The automaton is built when it is first stepped, or if only a search can decide whether there are such strings.
    """

    __slots__ = ("_automaton", "_formula", "_witnesses", "escapes", "start")

    def __init__(self, formula: Formula, witnesses: Witnesses) -> None:
        self._formula, self._witnesses, self.escapes = formula, witnesses, witnesses.escapes
        self._automaton: ByBytes | EncodedAutomaton | None = None
        verdict = is_plainly_inhabited(formula) or witnesses.verdict(formula)
        # The first state that an automaton interns is 1.
        self.start: int | None = self.automaton.start or None if verdict is None else 1 if verdict else None

    @property
    def automaton(self) -> ByBytes | EncodedAutomaton:
        """Return the automaton; build it on first use."""
        if self._automaton is None:
            self._automaton = self._make()
        return self._automaton

    @property
    def listing(self) -> Listing | None:
        """Return the strings that the formula excludes, if it says nothing else; otherwise None."""
        parts = self._formula.items if isinstance(self._formula, And) else (self._formula,)
        names: list[str] = []
        for part in parts:
            if isinstance(part, Not) and isinstance(part.item, EnumValues):
                names += (value for value in part.item.values if isinstance(value, str))
            elif part is not EVERY_STRING:
                return None
        return Listing(tuple(names), others=True)

    @property
    def lengths(self) -> tuple[int, int | None] | None:
        """Return the least and the greatest length, if the formula says nothing else; otherwise None."""
        parts = self._formula.items if isinstance(self._formula, And) else (self._formula,)
        lengths = [part for part in parts if isinstance(part, Length)]
        return _range_of(lengths) if len(lengths) == len(parts) else None

    @property
    def bounded(self) -> Bounded | None:
        """Return the formula as a pattern with a bounded length, if it is one; otherwise None.

        A counted repetition in the pattern becomes one of the lengths if possible.
        """
        parts = self._formula.items if isinstance(self._formula, And) else (self._formula,)
        texts = [part for part in parts if not isinstance(part, Length)]
        lengths = [part for part in parts if isinstance(part, Length)]
        if len(texts) != 1 or not isinstance(texts[0], Text):
            return None
        text, table = texts[0], None
        if text.shared:
            table = table_of(text.key, self.escapes)
        node = simplify(text.node) if table is None and (lengths or not text.shared) else EMPTY
        counted = without_count(node)
        if counted is not None:
            node = counted.node
            lengths.append(Length(counted.least, counted.most, text.location))
            text = Text(lambda: node, ("without a count", text.key), shared=False, location=text.location)
        least, most = _range_of(lengths)
        reach = longest_completion(node) if table is None else table.reach
        if reach is None or most is None:
            return None
        pattern = TextLanguage(text, self._witnesses)
        return Bounded(pattern, least, most, reach, tuple(lengths))

    @property
    def host_names(self) -> str | None:
        """Return the host name format of the formula, if it is one with A-labels and nothing else; otherwise None."""
        parts = self._formula.items if isinstance(self._formula, And) else (self._formula,)
        texts = [part for part in parts if not _is_length_of_names(part)]
        match texts:
            case [Text(key=("format", str(name)))] if name in DOTS:
                return name
            case _:
                return None

    @property
    def locations(self) -> tuple[Span, ...]:
        """Return the source locations of the formula."""
        parts = self._formula.items if isinstance(self._formula, And) else (self._formula,)
        return tuple(span_of(part) for part in parts)

    @property
    def of_byte(self) -> bytes:
        """Return the byte class of each byte."""
        return self.automaton.classes.of_byte

    @property
    def encoded(self) -> EncodedAutomaton | None:
        """Return the automaton over character classes in its JSON encoding; None if the automaton reads bytes."""
        return self.automaton if isinstance(self.automaton, EncodedAutomaton) else None

    def _make(self) -> ByBytes | EncodedAutomaton:
        if self._formula is EVERY_STRING:
            return any_automaton(self._witnesses.limits, self.escapes)
        try:
            made = self._build(by_characters=True)
        except TooManyClassesError:
            made = self._build(by_characters=False)
        if made.char_classes is not None:
            # The states of a product are not merged: they tell which conditions are open.
            return EncodedAutomaton(made.char_classes, made, merges=not isinstance(made, TextProduct))
        assert isinstance(made, ConditionAutomaton | NamesAutomaton | TextProduct)
        return made

    def _build(self, *, by_characters: bool) -> Component | TextProduct:
        limits = self._witnesses.limits
        residual, components, formulas = begin(
            self._formula, limits, self.escapes, self._witnesses.components, by_characters=by_characters
        )
        if isinstance(residual, bool):
            return _every(self.escapes) if residual else no_automaton(limits, self.escapes)
        if residual[0] == LEAF:
            number: int = residual[1]
            return components[number]
        return TextProduct(None if by_characters else _every(self.escapes), components, formulas, residual, limits)

    def step(self, state: int, byte: int) -> int | None:
        """Return the state after a byte; None if it is dead."""
        automaton = self.automaton
        if isinstance(automaton, EncodedAutomaton):
            return automaton.advance(state, byte) or None
        following = int(automaton.rows[state, automaton.classes.of_byte[byte]])
        if following < 0:
            following = automaton.step(state, automaton.classes.of_byte[byte])
        return following or None

    def row(self, state: int) -> list[int | None]:
        """Return the state after each byte; None where it is dead."""
        automaton = self.automaton
        if isinstance(automaton, EncodedAutomaton):
            return [following or None for following in automaton.row(state)]
        row = automaton.row(state)
        return [row[each] or None for each in automaton.classes.of_byte]

    def accepts(self, state: int) -> bool:
        """Return whether the string may end here."""
        return bool(self.automaton.accepts(state))

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> int | None:
        """Return a lower bound of the bytes of an alphabet that complete a string; None if none do."""
        return self.automaton.min_remaining(state, alphabet).at_least

    def is_free(self, state: int) -> bool:
        """Return whether this is between two characters, and any string may follow."""
        return self.accepts(state) and self.automaton.is_free(state)

    def holds(self, text: str) -> bool:
        """Return whether the language contains a string."""
        state = self.start
        for byte in _inner(text):
            if state is None:
                return False
            checkpoint(4)
            state = self.step(state, byte)
        return state is not None and self.accepts(state)

    def some_strings(self, most: int) -> list[str]:
        """Return up to `most` strings; at most one, found breadth first, if there is no encoded automaton."""
        if self.start is None:
            return []
        if self._automaton is None and (found := self._witnesses.strings(self._formula, most)):
            return found
        if self.encoded is not None:
            return self.encoded.some_strings(most)
        automaton = self.automaton
        bytes_of = automaton.classes.representatives
        predecessors: dict[int, tuple[int, int]] = {self.start: (DEAD, 0)}
        queue = deque([self.start])
        while queue:
            state = queue.popleft()
            checkpoint(automaton.n_classes)
            if self.accepts(state):
                encoded = bytearray()
                while state != self.start or encoded == b"":
                    state, byte = predecessors[state]
                    if state == DEAD:
                        break
                    encoded.append(byte)
                return [str(json.loads(b'"' + bytes(reversed(encoded)) + b'"'))]
            for byte_class in range(automaton.n_classes):
                following = automaton.step(state, byte_class)
                if following != DEAD and following not in predecessors:
                    predecessors[following] = (state, bytes_of[byte_class])
                    queue.append(following)
        return []

    def spans(self, state: int) -> tuple[Span, ...]:
        """Return the source locations of the conditions that are open in a state."""
        automaton: object = self.automaton
        if isinstance(automaton, EncodedAutomaton):
            automaton, state = automaton.inner, before(state)
        if isinstance(automaton, TextProduct):
            return automaton.spans(state)
        span = span_of(self._formula)
        return (span,) if span.end else ()


def _is_length_of_names(part: Formula) -> bool:
    """Return whether a formula is a bound on the length that every host name satisfies."""
    return isinstance(part, Length) and part.least <= 1 and (part.most is None or part.most >= LONGEST_NAME)


def _range_of(lengths: Iterable[Length]) -> tuple[int, int | None]:
    """Return the intersection of some length ranges."""
    least, most = 0, None
    for each in lengths:
        least = max(least, each.least)
        most = each.most if most is None else most if each.most is None else min(most, each.most)
    return least, most


@counted_cache()
def any_string(escapes: Escapes) -> TextLanguage:
    """Return the language of every string, complete and shared by all grammars with such escapes."""
    language = TextLanguage(EVERY_STRING, Witnesses(Limits(), escapes))
    automaton, state = language.automaton, 1
    assert isinstance(automaton, ConditionAutomaton)
    while state < automaton.size:
        automaton.complete(state)
        state += 1
    return language


def _every(escapes: Escapes) -> ConditionAutomaton:
    automaton = any_string(escapes).automaton
    assert isinstance(automaton, ConditionAutomaton)
    return automaton


class EnumLanguage:
    """A finite list of strings."""

    __slots__ = ("_escapes", "_location", "_trie", "_values", "all", "start")

    lengths = None
    bounded = None
    host_names = None
    encoded = None

    def __init__(self, values: Iterable[str], location: Location, escapes: Escapes) -> None:
        self._values = tuple(dict.fromkeys(values))
        self._escapes = escapes
        self._trie: NameTrie | None = None
        self.all = (1 << len(self._values)) - 1
        self.start: TrieState | None = NameTrie.start if self._values else None
        self._location = location

    @property
    def trie(self) -> NameTrie:
        """Return the trie of the strings; build it on first use."""
        if self._trie is None:
            self._trie = NameTrie(self._values, self._escapes)
        return self._trie

    @property
    def listing(self) -> Listing:
        """Return the strings as a listing."""
        return Listing(self._values, others=False)

    @property
    def locations(self) -> tuple[Span, ...]:
        """Return the source location of the list."""
        return (span_of_location(self._location),)

    def step(self, state: TrieState, byte: int) -> TrieState | None:
        """Return the state after a byte; None if it is dead."""
        return self.trie.step(state, byte, self.all)

    def row(self, state: TrieState) -> list[TrieState | None]:
        """Return the state after each byte; None where it is dead."""
        row: list[TrieState | None] = [None] * 256
        for byte, following, _ in self.trie.steps(state):
            row[byte] = following
        return row

    def accepts(self, state: TrieState) -> bool:
        """Return whether the string may end here."""
        return self.trie.end(state, self.all) >= 0

    def min_remaining(self, state: TrieState, alphabet: Alphabet = None) -> int | None:
        """Return 0, a lower bound of the bytes that complete a string."""
        return 0

    def holds(self, text: str) -> bool:
        """Return whether the list contains a string."""
        return text in self.trie.numbers

    def some_strings(self, most: int) -> list[str]:
        """Return up to `most` strings."""
        return [*self._values[:most]]

    def spans(self, state: TrieState) -> tuple[Span, ...]:
        """Return the source location of the list, in every state."""
        return (span_of_location(self._location),)


StringLanguage: TypeAlias = TextLanguage | EnumLanguage
