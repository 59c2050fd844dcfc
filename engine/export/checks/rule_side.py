"""A recogniser for rule automata: Earley's algorithm (CACM 13(2), 1970), in its simplest form.

A state is the set of all live items (rule, state, origin of the call). The check has its own reader of what an export
says, so it shares nothing with the runtime that it is compared with.
"""

from __future__ import annotations

from typing import TypeAlias

from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.export.checks.byte_walks import DfaRecogniser, Recogniser


def recogniser_of(automata: ByteDfa | RuleAutomata) -> Recogniser:
    """Return automata as a `Recogniser`."""
    return DfaRecogniser(automata) if isinstance(automata, ByteDfa) else RuleRecogniser(automata)


class _Position:
    """A position between two bytes: its items, and where each rule that is called here continues."""

    __slots__ = ("at", "items", "returns")

    def __init__(self, at: int) -> None:
        self.at = at
        self.items: dict[_Item, None] = {}
        self.returns: dict[int, list[_Item]] = {}


_Item: TypeAlias = tuple[int, int, _Position]
"""A rule, one of its states, and the position of its call."""


class RuleRecogniser:
    """A grammar's rule automata as a `Recogniser`; tokens matched by id are no bytes and are not followed."""

    def __init__(self, automata: RuleAutomata) -> None:
        self._rules = automata.rules
        numbers = automata.numbers
        self._calls: list[list[list[tuple[int, int]]]] = []
        self._ranges: list[list[list[ByteRanges]]] = []
        for rule in automata.rules:
            self._calls.append([[] for _ in rule.dfa.states])
            self._ranges.append([[] for _ in rule.dfa.states])
            for call in rule.calls:
                self._calls[-1][call.source].append((numbers[call.rule], call.target))
            for edge in rule.dfa.edges:
                self._ranges[-1][edge.source].append(edge.ranges)
        self._nullable = self._find_nullable()

    @property
    def start(self) -> _Position | None:
        """The state before the first byte; see `Recogniser`."""
        if not self._rules:
            return None
        here = _Position(0)
        return self._close(here, [(0, 0, here)])

    def step(self, place: _Position, byte: int) -> _Position | None:
        """Return the state after a byte; see `Recogniser`."""
        read = [(rule, self._rules[rule].dfa.step(state, byte), origin) for rule, state, origin in place.items]
        kernel = [(rule, state, origin) for rule, state, origin in read if state is not None]
        return self._close(_Position(place.at + 1), kernel) if kernel else None

    def expected(self, place: _Position) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return join_ranges(ranges for rule, state, _ in place.items for ranges in self._ranges[rule][state])

    def accepts(self, place: _Position) -> bool:
        """Return whether a text may end here."""
        return any(rule == 0 == origin.at and self._is_over(rule, state) for rule, state, origin in place.items)

    def _is_over(self, rule: int, state: int) -> bool:
        return self._rules[rule].dfa.states[state].accepting

    def _close(self, here: _Position, todo: list[_Item]) -> _Position:
        """Predict, complete, and skip nullable rules, until nothing is new."""
        while todo:
            item = rule, state, origin = todo.pop()
            if item in here.items:
                continue
            here.items[item] = None
            for called, target in self._calls[rule][state]:
                behind = rule, target, origin
                here.returns.setdefault(called, []).append(behind)
                todo.append((called, 0, here))
                if called in self._nullable:
                    todo.append(behind)
            if origin is not here and self._is_over(rule, state):
                todo += origin.returns.get(rule, [])
        return here

    def _find_nullable(self) -> set[int]:
        """Return the nullable rules, as a fixpoint."""
        found: set[int] = set()
        while True:
            more = {
                number for number in range(len(self._rules)) if number not in found and self._is_empty(number, found)
            }
            if not more:
                return found
            found |= more

    def _is_empty(self, rule: int, nullable: set[int]) -> bool:
        todo, seen = [0], {0}
        while todo:
            state = todo.pop()
            if self._is_over(rule, state):
                return True
            reached = {target for called, target in self._calls[rule][state] if called in nullable} - seen
            seen |= reached
            todo += reached
        return False
