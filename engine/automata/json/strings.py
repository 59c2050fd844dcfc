"""Strings: the languages of what stands between two quotes.

A conjunction over strings becomes one automaton over JSON-spelled characters;
a conjunction with an `enum` becomes a trie of the values that satisfy the rest.
Both are read up to the closing quote, which no spelling of a character begins
with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from engine.automata.json.formula import All, Among, Constant, Formula, Length, Not, Some, Text
from engine.automata.json.spelling import json_automaton, spellings
from engine.automata.lazy import LazyAutomaton
from engine.automata.program import Atom, Program, assemble
from engine.automata.runtime import DEAD
from engine.automata.utf8 import utf8_automaton
from engine.grammar import EMPTY, NEVER, Chars, CharSet, Choice, Look, Node, Repeat, Sequence
from engine.grammar.nodes import parts
from engine.grammar.simplify import simplify
from engine.source import Limits, Span

_EVERY_SCALAR = CharSet(((0, 0xD7FF), (0xE000, 0x10FFFF)))
_ANY = Chars(_EVERY_SCALAR)
_END = Look(_ANY, ahead=True, negated=True)
ANYTHING = Repeat(_ANY, 0, None)


def to_node(formula: Formula) -> Node:
    """A formula over strings as a node that matches the whole of a decoded string."""
    match formula:
        case Constant():
            return ANYTHING if formula.value else NEVER
        case Text():
            return formula.node
        case Length():
            return Repeat(Chars(_EVERY_SCALAR, formula.span), formula.least, formula.most, formula.span)
        case Among():
            return Choice(tuple(_literal(value, formula.span) for value in formula.values if isinstance(value, str)))
        case Some():
            return Choice(tuple(to_node(item) for item in formula.items))
        case Not():
            return Sequence((_whole(formula.item, negated=True), ANYTHING))
        case All():
            return _conjunction(formula.items)
        case _:
            raise AssertionError(formula)


def _conjunction(items: tuple[Formula, ...]) -> Node:
    least, most, span = 0, None, Span(0, 0)
    looks: list[Node] = []
    body: Formula | None = None
    for item in items:
        if isinstance(item, Length):
            least = max(least, item.least)
            most = item.most if most is None else most if item.most is None else min(most, item.most)
            span = item.span
        elif isinstance(item, Text | Some) and body is None:
            body = item
        else:
            looks.append(_whole(item.item, negated=True) if isinstance(item, Not) else _whole(item, negated=False))
    if most is not None and most < least:
        return NEVER
    counted = (least, most) != (0, None)
    if counted and body is not None:
        looks.append(_whole(body, negated=False))
    if counted:
        return Sequence((*looks, Repeat(Chars(_EVERY_SCALAR, span), least, most, span)))
    return Sequence((*looks, ANYTHING if body is None else to_node(body)))


def _whole(formula: Formula, *, negated: bool) -> Node:
    return Look(Sequence((to_node(formula), _END)), ahead=True, negated=negated)


def _literal(value: str, span: Span) -> Node:
    if not value:
        return EMPTY
    return Sequence(tuple(Chars(CharSet(((ord(c), ord(c)),)), span) for c in value))


def json_spelled(node: Node, limits: Limits) -> Program | None:
    """The program of a node with each character in any of its spellings within a JSON string."""
    simple = simplify(node)
    program = assemble(simple, limits)
    if program is None:
        return None
    spelled = {utf8_automaton(part.set): json_automaton(part.set) for part in parts(simple) if isinstance(part, Chars)}
    instructions = tuple(
        replace(i, automaton=spelled.get(i.automaton, i.automaton)) if isinstance(i, Atom) else i
        for i in program.instructions
    )
    return replace(program, instructions=instructions)


@lru_cache(maxsize=4096)
def _inner(text: str) -> bytes:
    import json

    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")


class TextLanguage:
    """The strings of a formula, spelled in JSON."""

    __slots__ = ("automaton", "of_byte", "start")

    def __init__(self, formula: Formula, limits: Limits) -> None:
        self.automaton = LazyAutomaton(json_spelled(to_node(formula), limits), limits)
        self.of_byte = self.automaton.classes.of_byte
        self.start: int | None = None if self.automaton.start == DEAD else self.automaton.start

    def step(self, state: int, byte: int) -> int | None:
        """The state after a byte."""
        following = int(self.automaton.rows[state, self.of_byte[byte]])
        if following < 0:
            following = self.automaton.step(state, self.of_byte[byte])
        return following or None

    def accepts(self, state: int) -> bool:
        """Whether the string may end here."""
        return bool(self.automaton.accepting[state])

    def holds(self, text: str) -> bool:
        """Whether it holds a string."""
        if self.start is None:
            return False
        state = self.automaton.run(self.start, _inner(text))
        return state != DEAD and self.accepts(state)

    def spans(self, state: int) -> tuple[Span, ...]:
        """Where in the source the match stands."""
        return self.automaton.spans(state)


class TrieState(NamedTuple):
    """A node of a trie, and the bytes of the character that is being read."""

    node: int
    partial: bytes


@dataclass(frozen=True, slots=True)
class Trie:
    """Some strings, read one character after the other in whichever spelling.

    Attributes:
        names: the strings.
        edges: of each node the characters that go on and where they lead; the root is node 0.
        below: of each node the strings that lie below it or end there, as a bit set.
        ends: of each node the string that ends there; -1 for none.
    """

    names: tuple[str, ...]
    edges: tuple[dict[int, int], ...]
    below: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, names: Iterable[str]) -> Trie:
        """The trie of some strings."""
        listed = tuple(dict.fromkeys(names))
        edges: list[dict[int, int]] = [{}]
        below, ends = [0], [-1]
        for number, name in enumerate(listed):
            node = 0
            below[0] |= 1 << number
            for character in name:
                following = edges[node].get(ord(character))
                if following is None:
                    following = edges[node][ord(character)] = len(edges)
                    edges.append({})
                    below.append(0)
                    ends.append(-1)
                node = following
                below[node] |= 1 << number
            ends[node] = number
        return cls(listed, tuple(edges), tuple(below), tuple(ends))

    @property
    def start(self) -> TrieState:
        """Before the first character."""
        return TrieState(0, b"")

    def step(self, state: TrieState, byte: int, allowed: int) -> TrieState | None:
        """The state after a byte, if one of the strings in the bit set `allowed` lies that way."""
        partial = state.partial + bytes([byte])
        edges = self.edges[state.node]
        if byte < 0x80 and not state.partial and byte != 0x5C:
            target = edges.get(byte)  # a character as itself
            return TrieState(target, b"") if target is not None and self.below[target] & allowed else None
        partly = False
        for code, target in edges.items():
            if self.below[target] & allowed:
                fit = _fit(code, partial)
                if fit is True:
                    return TrieState(target, b"")
                partly = partly or fit is None
        return TrieState(state.node, partial) if partly else None

    def end(self, state: TrieState, allowed: int) -> int:
        """The string that ends here, by number; -1 for none."""
        number = -1 if state.partial else self.ends[state.node]
        return number if number >= 0 and allowed >> number & 1 else -1


@lru_cache(maxsize=65536)
def _fit(code: int, partial: bytes) -> bool | None:
    """Whether bytes spell a character (True), may come to (None), or cannot (False)."""
    for way in spellings(code):
        if len(partial) <= len(way) and all(byte in place for byte, place in zip(partial, way, strict=False)):
            return True if len(partial) == len(way) else None
    return False


class EnumLanguage:
    """Some strings, any of which may stand."""

    __slots__ = ("all", "span", "start", "trie")

    def __init__(self, values: Iterable[str], span: Span) -> None:
        self.trie = Trie.of(values)
        self.all = (1 << len(self.trie.names)) - 1
        self.start: TrieState | None = self.trie.start if self.all else None
        self.span = span

    def step(self, state: TrieState, byte: int) -> TrieState | None:
        """The state after a byte."""
        return self.trie.step(state, byte, self.all)

    def accepts(self, state: TrieState) -> bool:
        """Whether the string may end here."""
        return self.trie.end(state, self.all) >= 0

    def holds(self, text: str) -> bool:
        """Whether it holds a string."""
        return text in self.trie.names

    def spans(self, state: TrieState) -> tuple[Span, ...]:
        """Where in the source the match stands."""
        return (self.span,)


StringLanguage: TypeAlias = TextLanguage | EnumLanguage
