"""Shortest witnesses: the shortest texts that use a given rule or edge.

Knuth's generalisation of Dijkstra's algorithm (*A generalization of Dijkstra's algorithm*, Information Processing
Letters 6(1), 1977) gives the shortest text of each rule from the shortest texts of the rules that it calls. Then follow
the shortest path from the start rule into each rule, and back out of it.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass

from engine.automata.byte_classes import ByteRanges
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.diagnosis.test_strings.values import EdgeKey


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge between two states, over the bytes of `label` or the rule `called`."""

    source: int
    target: int
    label: bytes = b""
    called: int | None = None


class ShortestWitnesses:
    """The shortest witnesses of one grammar; None if only tokens matched by id lead on."""

    def __init__(self, automata: RuleAutomata) -> None:
        self._automata = automata
        numbers = automata.numbers
        self._edges = [
            [
                *(_Edge(edge.source, edge.target, _legible(edge.ranges)) for edge in rule.dfa.edges),
                *(_Edge(call.source, call.target, called=numbers[call.rule]) for call in rule.calls),
            ]
            for rule in automata.rules
        ]
        self._yields: list[bytes | None] = [None] * len(automata.rules)
        self._find_yields()
        self._heads = [self._shortest_paths(number, backwards=False) for number in range(len(automata.rules))]
        self._tails = [self._shortest_paths(number, backwards=True) for number in range(len(automata.rules))]
        self._around = self._find_surroundings()

    def through_rule(self, rule: int) -> bytes | None:
        """Return the shortest text that uses a rule."""
        inner, around = self._yields[rule], self._around[rule]
        return None if inner is None or around is None else around[0] + inner + around[1]

    def through_edge(self, key: EdgeKey) -> bytes | None:
        """Return the shortest text that uses an edge."""
        around = self._around[key.rule]
        head, tail = self._heads[key.rule].get(key.source), self._tails[key.rule].get(key.target)
        called = self._automata.numbers.get(key.called) if key.called else None
        edge = next(
            (
                one
                for one in self._edges[key.rule]
                if (one.source, one.target, one.called) == (key.source, key.target, called)
            ),
            None,
        )
        text = None if edge is None else self._text_of(edge)
        if around is None or head is None or tail is None or text is None:
            return None
        return around[0] + head + text + tail + around[1]

    def _text_of(self, edge: _Edge) -> bytes | None:
        return edge.label if edge.called is None else self._yields[edge.called]

    def _find_yields(self) -> None:
        """Shorten the rules' texts until a fixpoint; a rule gets its text after the rules that it needs."""
        changed = True
        while changed:
            changed = False
            for number in range(len(self._yields)):
                paths = self._shortest_paths(number, backwards=False)
                states = self._automata.rules[number].dfa.states
                found = [paths[state.id] for state in states if state.accepting and state.id in paths]
                best = min(found, key=len, default=None)
                known = self._yields[number]
                if best is not None and (known is None or len(best) < len(known)):
                    self._yields[number] = best
                    changed = True

    def _shortest_paths(self, number: int, *, backwards: bool) -> dict[int, bytes]:
        """Return the shortest text from a rule's start to each state, or from each state to the rule's end."""
        dfa = self._automata.rules[number].dfa
        following: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for edge in self._edges[number]:
            text = self._text_of(edge)
            if text is not None and backwards:
                following[edge.target].append((edge.source, text))
            elif text is not None:
                following[edge.source].append((edge.target, text))
        starts = [state.id for state in dfa.states if state.accepting] if backwards else [dfa.start or 0]
        paths: dict[int, bytes] = {}
        frontier = [(0, state, b"") for state in starts]
        heapq.heapify(frontier)
        while frontier:
            length, state, text = heapq.heappop(frontier)
            if state in paths:
                continue
            paths[state] = text
            for target, label in following[state]:
                if target not in paths:
                    heapq.heappush(frontier, (length + len(label), target, label + text if backwards else text + label))
        return paths

    def _find_surroundings(self) -> list[tuple[bytes, bytes] | None]:
        """Return what comes before and after each rule in the shortest text that calls it."""
        found: list[tuple[bytes, bytes] | None] = [None] * len(self._automata.rules)
        frontier = [(0, 0, b"", b"")] if found else []
        while frontier:
            length, rule, before, behind = heapq.heappop(frontier)
            if found[rule] is not None:
                continue
            found[rule] = before, behind
            for edge in self._edges[rule]:
                if edge.called is None or found[edge.called] is not None:
                    continue
                head, tail = self._heads[rule].get(edge.source), self._tails[rule].get(edge.target)
                if head is not None and tail is not None:
                    more = length + len(head) + len(tail)
                    heapq.heappush(frontier, (more, edge.called, before + head, tail + behind))
        return found


def _legible(ranges: ByteRanges) -> bytes:
    """Return the most readable byte of some ranges."""
    for wanted in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E), (0x20, 0x20)):
        for first, last in ranges:
            low, high = max(first, wanted[0]), min(last, wanted[1])
            if low <= high:
                return bytes((low,))
    return bytes((ranges[0][0],))
