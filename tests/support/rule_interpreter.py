"""The language of rule automata, the slow and obvious way: ends of matches, iterated until nothing is new."""

from __future__ import annotations

from engine.automata.rtn.rule_automata import RuleAutomata

Known = dict[tuple[int, bytes], frozenset[int]]
"""How long a match of a rule at the beginning of a text may be."""


class RuleInterpreter:
    """Asks what each rule matches at the beginning of each rest of a text."""

    def __init__(self, automata: RuleAutomata) -> None:
        self._automata = automata
        self._known: Known = {}

    def accepts(self, data: bytes) -> bool:
        """Whether the whole of `data` matches."""
        if not self._automata.rules:
            return False
        for at in range(len(data), -1, -1):
            self._learn(data[at:])
        return len(data) in self._known[0, data]

    def _learn(self, rest: bytes) -> None:
        if (0, rest) in self._known:
            return
        rules = range(len(self._automata.rules))
        self._known |= {(rule, rest): frozenset() for rule in rules}
        grown = True
        while grown:
            grown = False
            for rule in rules:
                lengths = self._lengths(rule, rest)
                if lengths > self._known[rule, rest]:
                    self._known[rule, rest] = lengths
                    grown = True

    def _lengths(self, rule: int, rest: bytes) -> frozenset[int]:
        automaton = self._automata.rules[rule]
        todo, seen = [(0, 0)], {(0, 0)}
        while todo:
            state, at = todo.pop()
            read = automaton.dfa.step(state, rest[at]) if at < len(rest) else None
            found = [] if read is None else [(read, at + 1)]
            for call in automaton.calls:
                if call.source == state:
                    called = self._automata.numbers[call.rule]
                    found += [(call.target, at + length) for length in self._known[called, rest[at:]]]
            for place in found:
                if place not in seen:
                    seen.add(place)
                    todo.append(place)
        return frozenset(at for state, at in seen if automaton.dfa.states[state].accepting)
