"""Conversion of a byte automaton to characters: its edges become classes of code points.

UTF-8 is decoded from the last byte to the first, as numbers in base 64 after a lead byte (The Unicode Standard 16.0,
section 3.9, table 3-7), so a state is visited once and not once per character.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.dfa.materialise import minimal_dfa
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.export.rules.right_linear import System
from engine.grammar import Chars, CharSet, Node
from engine.grammar.simplify import simplify
from engine.source import CancelToken, Limits

MOST_STATES: Final = 5_000

_Ranges: TypeAlias = list[tuple[int, int, int]]
"""Numbers from `first` to `last`, and the state that they lead to."""

# (first lead byte, last lead byte, continuation bytes)
_LEADS: Final = ((0x00, 0x7F, 0), (0xC0, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF7, 3))


def character_system(
    node: Node, limits: Limits, most_states: int = MOST_STATES, cancel: CancelToken | None = None
) -> System | None:
    """Return the minimal automaton of a node over characters, its start at 0; None if nothing matches.

    Args:
        node: the node.
        limits: the limits of the automaton.
        most_states: the largest number of byte states before minimisation.
        cancel: cancels the construction.

    Raises:
        LimitExceededError: before minimisation it has more than `most_states` states.
        CancelledError: `cancel` was used.
    """
    dfa = minimal_dfa(LazyAutomaton(assemble(simplify(node), limits), limits, cancel), most_states, cancel)
    return None if dfa.start is None else _Reader(dfa).read(dfa.start)


def read_characters(dfa: ByteDfa) -> System:
    """Convert a non-empty byte automaton to characters; its start is 0."""
    assert dfa.start is not None
    return _Reader(dfa).read(dfa.start)


class _Reader:
    def __init__(self, dfa: ByteDfa) -> None:
        self._dfa = dfa
        self._rows: list[_Ranges] = [[] for _ in dfa.states]
        for edge in dfa.edges:
            self._rows[edge.source] += [(first, last, edge.target) for first, last in edge.ranges]
        self._known: dict[tuple[int, int], _Ranges] = {}

    def read(self, start: int) -> System:
        """Return the states between characters as a system."""
        system = System()
        number = {start: system.add(accepting=self._dfa.states[start].accepting)}
        todo = [start]
        while todo:
            state = todo.pop()
            by_target: dict[int, list[tuple[int, int]]] = {}
            for first, last, target in self._characters(state):
                by_target.setdefault(target, []).append((first, last))
            for target, pairs in by_target.items():
                if target not in number:
                    number[target] = system.add(accepting=self._dfa.states[target].accepting)
                    todo.append(target)
                system.connect(number[state], Chars(CharSet.of(pairs)), number[target])
        return system

    def _characters(self, state: int) -> _Ranges:
        found: _Ranges = []
        for low, high, continuations in _LEADS:
            within = [
                (max(low, a) - low, min(high, b) - low, t) for a, b, t in self._rows[state] if a <= high and b >= low
            ]
            found += self._numbers(within, continuations)
        return found

    def _numbers(self, digits: _Ranges, behind: int) -> _Ranges:
        """Return the numbers that begin with a digit followed by `behind` digits in base 64."""
        if behind == 0:
            return digits
        found: _Ranges = []
        unit = 64**behind
        for first, last, target in digits:
            rest = self._rest(target, behind)
            if len(rest) == 1 and rest[0][:2] == (0, unit - 1):
                found.append((first * unit, last * unit + unit - 1, rest[0][2]))
            else:
                found += [(d * unit + a, d * unit + b, t) for d in range(first, last + 1) for a, b, t in rest]
        return found

    def _rest(self, state: int, behind: int) -> _Ranges:
        key = (state, behind)
        if key not in self._known:
            digits = [(first - 0x80, last - 0x80, target) for first, last, target in sorted(self._rows[state])]
            self._known[key] = _merged(self._numbers(digits, behind - 1))
        return self._known[key]


def _merged(ranges: _Ranges) -> _Ranges:
    merged: _Ranges = []
    for first, last, target in ranges:
        if merged and merged[-1][1] + 1 == first and merged[-1][2] == target:
            merged[-1] = (merged[-1][0], last, target)
        else:
            merged.append((first, last, target))
    return merged
