"""The automaton of one condition on strings: a pattern, a format, a length, or a list of names.

It reads character classes (see `alphabet`), or, if it distinguishes too many characters,
bytes of the JSON encoding. The tests compare both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, partial
from threading import RLock
from typing import Final, TypeAlias

import numpy as np

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteClasses, join_ranges
from engine.automata.completion import Alphabet, LengthBound
from engine.automata.dfa.lazy_table import LazyTable
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.length_bounds import ByteCosts, ProgramLengths
from engine.automata.nfa.program import Accept, CharClass, Pc, Program, Split, assemble
from engine.automata.nfa.thread_values import NOTHING, Past, Threads
from engine.automata.utf8 import Utf8Automaton
from engine.grammar import Chars, CharSet, Node, Repeat
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.nodes import parts
from engine.grammar.simplify import simplify
from engine.schema_automaton.formula.nodes import EnumValues, Formula, Length, Text
from engine.schema_automaton.json_encoding.character_classes import MOST_CLASSES, CharacterClasses, char_classes_of
from engine.schema_automaton.json_encoding.class_encoder import class_encoding_of, json_automaton
from engine.schema_automaton.json_encoding.encoder import Escapes, spellings
from engine.schema_automaton.string_languages.names import NameTrie, TrieState
from engine.schema_automaton.string_languages.tables import TableAutomaton, table_of
from engine.source import Limits

_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")  # no JSON text encodes an unpaired surrogate
_SHARED_STATES: Final = 20_000
"""A larger automaton is not shared with further grammars."""


class ConditionAutomaton(LazyAutomaton):
    """A pattern or a format. States that accept every continuation are merged, one for each node in a character.

    Attributes:
        char_classes: the character classes; None if it reads bytes.
    """

    def __init__(
        self, program: Program | None, limits: Limits, char_classes: CharacterClasses | None, escapes: Escapes
    ) -> None:
        self.char_classes = char_classes
        every = json_automaton(EVERY_SCALAR, escapes) if char_classes is None else char_classes.automaton(EVERY_SCALAR)
        self._endless = _endless(program, every) if program is not None else frozenset()
        self._reduced: dict[Threads, Threads] = {}
        self._free: set[int]
        super().__init__(program, limits, classes=None if char_classes is None else char_classes.classes)

    def _clear(self, dead: tuple[Threads, Past]) -> None:
        super()._clear(dead)
        self._free = set()

    def is_free(self, configuration: int) -> bool:
        """Return whether every continuation of the string is accepted."""
        return configuration in self._free

    def characters(self, configuration: int) -> int:
        """Return the fewest characters that complete a string from a live configuration without lookarounds."""
        if self.accepting[configuration]:
            return 0
        least = self._in_characters.of(self._keys[configuration][0]).at_least
        assert least is not None
        return least

    @property
    def has_exact_lengths(self) -> bool:
        """Return whether `characters` is known: there are no lookarounds."""
        return self._program is not None and not self._program.looks

    @cached_property
    def _in_characters(self) -> ProgramLengths:
        return ProgramLengths(self._program, self._machine, _OneEach(None))

    def _lengths_of(self, alphabet: Alphabet) -> ProgramLengths:
        if self.char_classes is None:
            return super()._lengths_of(alphabet)
        return ProgramLengths(self._program, self._machine, _CharacterCosts(self.char_classes, alphabet))

    def _intern(self, key: tuple[Threads, Past]) -> int:
        if not self._endless:
            return super()._intern(key)
        threads = self._reduced.get(key[0])
        if threads is None:
            threads = self._reduced[key[0]] = self._reduce(key[0])
        if not threads:
            return super()._intern(key)
        number = super()._intern((threads, (NOTHING,) * len(key[1])))
        self._free.add(number)
        return number

    def _reduce(self, threads: Threads) -> Threads:
        """Return threads that accept every continuation; none if there are none."""
        code, machine = self._program.instructions, self._machine
        free = [number for number in threads if not machine[number].obligations]
        loops = [number for number in free if machine[number].pc in self._endless]
        ends = [number for number in free if isinstance(code[machine[number].pc], Accept)]
        for number in loops:
            if machine[number].node != 0:
                return frozenset((number,))
            if ends:
                return frozenset((number, ends[0]))
        return NOTHING


def _endless(program: Program, every: Utf8Automaton) -> frozenset[Pc]:
    """Return the character instructions that read any character, and then lead to themselves or to the end."""
    code = program.instructions
    found = set()
    for pc, atom in enumerate(code):
        if not isinstance(atom, CharClass) or program.minima[pc] or atom.automaton != every:
            continue
        reached, todo = {atom.to}, [atom.to]
        while todo:
            at = code[todo.pop()]
            if isinstance(at, Split):
                new = set(at.targets) - reached
                reached |= new
                todo += new
        if pc in reached and any(isinstance(code[at], Accept) for at in reached):
            found.add(pc)
    return frozenset(found)


class _CharacterCosts(ByteCosts):
    """The number of bytes of character classes."""

    def __init__(self, char_classes: CharacterClasses, alphabet: Alphabet) -> None:
        super().__init__(alphabet)
        self._of_class = class_encoding_of(char_classes).costs(alphabet)[0]

    def left(self, automaton: Utf8Automaton, node: int = 0) -> int | None:
        """Return the fewest bytes of one of the character classes."""
        least = min(self._of_class[first : last + 1].min(initial=np.inf) for first, last, _ in automaton.nodes[node])
        return None if least == np.inf else int(least)


class _OneEach(ByteCosts):
    """A cost of 1 for every character class."""

    def left(self, automaton: Utf8Automaton, node: int = 0) -> int:
        """Return 1."""
        return 1


def json_spelled(node: Node, limits: Limits, escapes: Escapes) -> Program | None:
    """Return the program of a node with each character in all of its encodings within a JSON string.

    Args:
        node: the node, over decoded characters.
        limits: the limits of the program.
        escapes: the escapes that strings may contain.
    """
    return assemble(simplify(node), limits, partial(json_automaton, escapes=escapes))


def any_automaton(limits: Limits, escapes: Escapes) -> ConditionAutomaton:
    """Return the automaton of every string, by bytes."""
    program = json_spelled(Repeat(Chars(EVERY_SCALAR), 0, None), limits, escapes)
    return ConditionAutomaton(program, limits, None, escapes)


def no_automaton(limits: Limits, escapes: Escapes) -> ConditionAutomaton:
    """Return the automaton of no string."""
    return ConditionAutomaton(None, limits, None, escapes)


class _ByIdentity:
    """A node compared by identity: formats give the same node to every grammar."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.node is self.node

    def __hash__(self) -> int:
        return id(self.node)


class SharedAutomaton(ConditionAutomaton):
    """The automaton of a format, shared by all grammars and threads, with the results that they computed."""

    def __init__(
        self, program: Program | None, limits: Limits, char_classes: CharacterClasses | None, escapes: Escapes
    ) -> None:
        self._lock = RLock()
        super().__init__(program, limits, char_classes, escapes)

    def _follow(self, configuration: int, byte_class: int) -> int:
        with self._lock:
            return super()._follow(configuration, byte_class)

    def complete(self, state: int) -> None:
        """Compute a whole row."""
        with self._lock:
            super().complete(state)


_shared: dict[tuple[_ByIdentity, Limits, Escapes, bool], SharedAutomaton] = {}


def _text_automaton(
    formula: Text, limits: Limits, escapes: Escapes, *, by_characters: bool
) -> ConditionAutomaton | None:
    if not formula.shared:
        program = text_program(formula.node, limits, escapes, by_characters=by_characters)
        return ConditionAutomaton(*program) if program is not None else None
    key = (_ByIdentity(formula.node), limits, escapes, by_characters)
    known = _shared.get(key)
    if known is None or known.size > _SHARED_STATES:
        program = text_program(formula.node, limits, escapes, by_characters=by_characters)
        if program is None:
            return None
        known = _shared[key] = SharedAutomaton(*program)
    return known


def text_program(
    node: Node, limits: Limits, escapes: Escapes, *, by_characters: bool
) -> tuple[Program | None, Limits, CharacterClasses | None, Escapes] | None:
    """Assemble the program of a node.

    Args:
        node: the node.
        limits: the limits of the program.
        escapes: the escapes that strings may contain.
        by_characters: whether the program reads character classes; otherwise bytes.

    Returns:
        The arguments of `ConditionAutomaton`; None if the node distinguishes too many characters.

    Raises:
        LimitExceededError: a program over bytes has a look-behind. Within an escape, the text behind is no character.
    """
    if not by_characters:
        program = json_spelled(node, limits, escapes)
        if program is not None and any(not look.ahead for look in program.looks):
            limits.check("errors.limit.character_kinds", MOST_CLASSES + 1, MOST_CLASSES)
        return program, limits, None, escapes
    simple = simplify(node)
    char_classes = char_classes_of((part.set for part in parts(simple) if isinstance(part, Chars)), escapes)
    return (
        None
        if char_classes is None
        else (assemble(simple, limits, char_classes.automaton), limits, char_classes, escapes)
    )


class NamesAutomaton(LazyTable["TrieState | None"]):
    """A list of strings in all of their encodings, by bytes."""

    char_classes = None

    def __init__(self, names: Iterable[str], limits: Limits, escapes: Escapes) -> None:
        self._trie = NameTrie(names, escapes)
        super().__init__(_classes_of_names(self._trie.names, escapes), None, limits)
        if self._trie.names:
            self.start = self._intern(self._trie.start)

    def is_free(self, configuration: int) -> bool:
        """Return False: the strings are finite."""
        return False

    def _is_accepting(self, key: TrieState | None) -> bool:
        return key is not None and self._trie.end(key, -1) >= 0

    def _follow(self, configuration: int, byte_class: int) -> int:
        key = self._keys[configuration]
        following = None if key is None else self._trie.step(key, self.classes.representatives[byte_class], -1)
        return DEAD if following is None else self._intern(following)


def _classes_of_names(names: Iterable[str], escapes: Escapes) -> ByteClasses:
    """Return classes with one class for each byte that some encoding has."""
    characters = {ord(character) for name in names for character in name}
    used = {
        byte
        for code in characters
        for encoding in spellings(code, escapes)
        for position in encoding
        for byte in position
    }
    of_byte = bytearray(256)
    ranges = [join_ranges([tuple((byte, byte) for byte in range(256) if byte not in used)])]
    for number, byte in enumerate(sorted(used), 1):
        of_byte[byte] = number
        ranges.append(((byte, byte),))
    return ByteClasses(bytes(of_byte), tuple(group[0][0] for group in ranges), tuple(ranges))


class ListedAutomaton(LazyTable[int]):
    """A list of strings, by character classes; a state is a node of their trie.

    Attributes:
        char_classes: the character classes.
        count: the number of strings.
    """

    def __init__(self, names: Iterable[str], char_classes: CharacterClasses, limits: Limits) -> None:
        self.char_classes = char_classes
        self._trie = NameTrie(names, char_classes.escapes)
        self.count = len(self._trie.names)
        self._edges = [{char_classes.of(code): to for code, to in edges.items()} for edges in self._trie.edges]
        super().__init__(char_classes.classes, -1, limits)
        if self._trie.names:
            self.start = self._intern(0)

    def is_free(self, configuration: int) -> bool:
        """Return False: the strings are finite."""
        return False

    def _is_accepting(self, key: int) -> bool:
        return key >= 0 and self._trie.ends[key] >= 0

    def _follow(self, configuration: int, byte_class: int) -> int:
        following = self._edges[self._keys[configuration]].get(byte_class)
        return DEAD if following is None else self._intern(following)


class LengthAutomaton(LazyTable[int]):
    """Strings of bounded length, by character classes; a state is the capped number of characters."""

    def __init__(self, least: int, most: int | None, limits: Limits, escapes: Escapes) -> None:
        char_classes = char_classes_of((), escapes)
        assert char_classes is not None
        self.char_classes: CharacterClasses = char_classes
        self._least, self._most = least, most
        super().__init__(char_classes.classes, -1, limits)
        if most is None or least <= most:
            self.start = self._intern(0)

    def is_free(self, configuration: int) -> bool:
        """Return whether any string may follow."""
        return self._most is None and self._keys[configuration] >= self._least

    def left(self, configuration: int) -> tuple[int, int | None]:
        """Return the least and the greatest number of characters that may follow; None for any number."""
        count = self._keys[configuration]
        return max(self._least - count, 0), None if self._most is None else self._most - count

    def min_remaining(self, configuration: int, alphabet: Alphabet = None) -> LengthBound:
        """Return a lower bound of one byte for each missing character."""
        return (
            LengthBound(max(self._least - self._keys[configuration], 0), exact=False)
            if configuration
            else super().min_remaining(configuration)
        )

    def _is_accepting(self, key: int) -> bool:
        return key >= self._least

    def _follow(self, configuration: int, byte_class: int) -> int:
        count = self._keys[configuration] + 1
        if self._most is None:
            return self._intern(min(count, self._least))
        return self._intern(count) if count <= self._most else DEAD


Component: TypeAlias = ConditionAutomaton | TableAutomaton | NamesAutomaton | ListedAutomaton | LengthAutomaton
Components: TypeAlias = dict[tuple[Formula, bool], Component | None]
"""The automata of the conditions of one grammar, by whether they read character classes. All have its escapes."""


def component(
    formula: Text | Length | EnumValues, limits: Limits, escapes: Escapes, known: Components, *, by_characters: bool
) -> Component | None:
    """Return the automaton of one condition.

    Args:
        formula: the condition.
        limits: the limits of the automaton.
        escapes: the escapes that strings may contain.
        known: the automata that exist already; a new one is added.
        by_characters: whether it reads character classes; otherwise bytes.

    Returns:
        The automaton; None if it distinguishes too many characters.
    """
    key = (formula, by_characters)
    if key not in known:
        known[key] = _make(formula, limits, escapes, by_characters=by_characters)
    return known[key]


def _make(
    formula: Text | Length | EnumValues, limits: Limits, escapes: Escapes, *, by_characters: bool
) -> Component | None:
    match formula:
        case EnumValues():
            names = [value for value in formula.values if isinstance(value, str) and not _SURROGATES.search(value)]
            if not by_characters:
                return NamesAutomaton(names, limits, escapes)
            codes = sorted({ord(character) for name in names for character in name})
            char_classes = char_classes_of((CharSet(((code, code),)) for code in codes), escapes)
            return None if char_classes is None else ListedAutomaton(names, char_classes, limits)
        case Length():
            if by_characters:
                return LengthAutomaton(formula.least, formula.most, limits, escapes)
            length = Repeat(Chars(EVERY_SCALAR), formula.least, formula.most)
            return ConditionAutomaton(json_spelled(length, limits, escapes), limits, None, escapes)
        case Text():
            table = table_of(formula.key, escapes) if formula.shared and by_characters else None
            return table or _text_automaton(formula, limits, escapes, by_characters=by_characters)
