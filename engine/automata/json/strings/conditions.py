"""One condition on strings, as an automaton over JSON spelling: a pattern, a format, a length, some names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from engine.automata.byte_classes import ByteClasses, join_ranges
from engine.automata.json.formula import Among, Formula, Length, Text
from engine.automata.json.strings.names import Trie, TrieState
from engine.automata.json.strings.spelling import json_automaton, spellings
from engine.automata.lazy import LazyAutomaton
from engine.automata.program import Accept, Atom, Pc, Program, Split, assemble
from engine.automata.runtime import DEAD
from engine.automata.table import LazyTable
from engine.automata.threads import NOTHING, Past, Threads
from engine.grammar import Chars, Node, Repeat
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.simplify import simplify
from engine.source import Limits


class SpelledAutomaton(LazyAutomaton):
    """One condition as it is spelled in JSON. Once anything may follow, all states are one per place in a character."""

    def __init__(self, program: Program | None, limits: Limits) -> None:
        self._endless = _endless(program) if program is not None else frozenset()
        self._reduced: dict[Threads, Threads] = {}
        self._free: set[int] = set()
        super().__init__(program, limits)

    def is_free(self, configuration: int) -> bool:
        """Whether every string that goes on from here is accepted."""
        return configuration in self._free

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
        """The threads that accept whatever follows; none where there are none such."""
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


def _endless(program: Program) -> frozenset[Pc]:
    """The atoms that read any character, then themselves again, or the end."""
    every = json_automaton(EVERY_SCALAR)
    code = program.instructions
    found = set()
    for pc, atom in enumerate(code):
        if not isinstance(atom, Atom) or program.minima[pc] or atom.automaton != every:
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


def json_spelled(node: Node, limits: Limits) -> Program | None:
    """The program of a node with each character in any of its spellings within a JSON string."""
    return assemble(simplify(node), limits, json_automaton)


def any_automaton(limits: Limits) -> SpelledAutomaton:
    """Every string."""
    return SpelledAutomaton(json_spelled(Repeat(Chars(EVERY_SCALAR), 0, None), limits), limits)


def no_automaton(limits: Limits) -> SpelledAutomaton:
    """No string."""
    return SpelledAutomaton(None, limits)


class _Same:
    """A node, compared by identity: formats give the same node to every grammar."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.node is self.node

    def __hash__(self) -> int:
        return id(self.node)


@lru_cache(maxsize=64)
def _shared_program(same: _Same, limits: Limits) -> Program | None:
    return json_spelled(same.node, limits)


class NamesAutomaton(LazyTable["TrieState | None"]):
    """Some strings in any spelling."""

    def __init__(self, names: Iterable[str], limits: Limits) -> None:
        self._trie = Trie(names)
        super().__init__(_classes_of_names(self._trie.names), None, limits)
        if self._trie.names:
            self.start = self._intern(self._trie.start)

    def is_free(self, configuration: int) -> bool:
        """Never: the strings end."""
        return False

    def _is_accepting(self, key: TrieState | None) -> bool:
        return key is not None and self._trie.end(key, -1) >= 0

    def _follow(self, configuration: int, byte_class: int) -> int:
        key = self._keys[configuration]
        following = None if key is None else self._trie.step(key, self.classes.representatives[byte_class], -1)
        return DEAD if following is None else self._intern(following)


def _classes_of_names(names: Iterable[str]) -> ByteClasses:
    """Every byte that some spelling has is a class of its own."""
    used = {byte for name in names for c in set(name) for way in spellings(ord(c)) for place in way for byte in place}
    of_byte = bytearray(256)
    ranges = [join_ranges([tuple((byte, byte) for byte in range(256) if byte not in used)])]
    for number, byte in enumerate(sorted(used), 1):
        of_byte[byte] = number
        ranges.append(((byte, byte),))
    return ByteClasses(bytes(of_byte), tuple(group[0][0] for group in ranges), tuple(ranges))


Component: TypeAlias = SpelledAutomaton | NamesAutomaton
Components: TypeAlias = dict[Formula, Component]
"""The automata of the conditions of one grammar."""


def component(formula: Text | Length | Among, limits: Limits, known: Components) -> Component:
    """The automaton of one condition."""
    made = known.get(formula)
    if made is None:
        match formula:
            case Among():
                made = NamesAutomaton((value for value in formula.values if isinstance(value, str)), limits)
            case Length():
                length = Repeat(Chars(EVERY_SCALAR), formula.least, formula.most)
                made = SpelledAutomaton(json_spelled(length, limits), limits)
            case Text():
                program = _shared_program(_Same(formula.node), limits) if formula.shared else None
                made = SpelledAutomaton(program or json_spelled(formula.node, limits), limits)
        known[formula] = made
    return made
