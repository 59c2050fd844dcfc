"""The nondeterministic automata of a program, one for each rule, before determinisation.

The states are those that the compiled program has (Thompson, CACM 11(6), 1968): an instruction, with the counts of the
loops around it. So a counted repetition has a copy of its body for each count, as in a textbook, and an instruction
that reads nothing has ε edges. A character beyond ASCII has a state for each byte of it.

Rejected: the position automaton (Glushkov), which has no ε edges. Whoever compares the steps of a construction by hand
expects those of Thompson, and the program has them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from engine.automata.byte_classes import join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.nfa.closures import Counters
from engine.automata.nfa.program import Accept, Call, CharClass, Condition, Pc, Program, Return, TokenAtom
from engine.automata.nfa.rule_network import RuleState, Symbol, epsilon_successors, span_of
from engine.automata.rtn.rule_automata import CallEdge, EpsilonEdge, RuleAutomata, RuleAutomaton, TokenEdge
from engine.automata.utf8 import FINAL
from engine.source import CancelToken, LimitExceededError, Span, checkpoint


@dataclass(frozen=True)
class RuleNfas:
    """The nondeterministic automata of a grammar.

    Attributes:
        automata: one for each rule, the start rule first; one without a name if the program has no rules.
        states: the rule and the number of each state that reads something or ends.
        has_conditions: whether an ε edge depends on a lookaround.
    """

    automata: RuleAutomata
    states: dict[RuleState, tuple[int, int]]
    has_conditions: bool


def rule_nfas(program: Program, limit: int, cancel: CancelToken | None = None) -> RuleNfas:
    """Return the nondeterministic automata of a program.

    Args:
        program: the program.
        limit: the largest number of states of all rules together.
        cancel: cancels the work.

    Raises:
        LimitExceededError: they have more than `limit` states.
        CancelledError: `cancel` was used.
    """
    start = program.instructions[program.start]
    built: dict[int, _RuleNfa] = {}
    todo, left = [start.rule if isinstance(start, Call) else -1], limit
    while todo:
        number = todo.pop()
        if number not in built:
            built[number] = _RuleNfa(program, number, limit, left, cancel)
            left -= len(built[number].numbers)
            todo += built[number].called
    first, *others = built
    order = first, *sorted(others)
    states = {
        RuleState(state.pc, state.counters, state.node): (rule, at)
        for rule, number in enumerate(order)
        for state, at in built[number].numbers.items()
        if built[number].is_kept(state)
    }
    automata = RuleAutomata(tuple(built[number].automaton() for number in order))
    return RuleNfas(automata, states, bool(program.looks))


class _State(NamedTuple):
    pc: Pc
    counters: Counters
    fresh: int  # the first counter whose current pass has read nothing
    node: int = 0  # within a character


class _RuleNfa:
    def __init__(self, program: Program, rule: int, limit: int, left: int, cancel: CancelToken | None) -> None:
        self._program = program
        self._rule = program.rules[rule] if rule >= 0 else None
        start = self._state(program.start if self._rule is None else self._rule.start, (), 0)
        self.numbers: dict[_State, int] = {start: 0}
        self.called: list[int] = []
        self._bytes: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self._spans: dict[tuple[int, int], Span] = {}
        self._calls: list[CallEdge] = []
        self._tokens: list[TokenEdge] = []
        self._epsilons: list[EpsilonEdge] = []
        states = [start]
        for state in states:  # grows
            checkpoint()
            if cancel is not None:
                cancel.check()
            for other in self._leave(state):
                if other not in self.numbers:
                    if len(states) == left:
                        raise LimitExceededError("errors.limit.rule_states", given=limit + 1, limit=limit)
                    self.numbers[other] = len(states)
                    states.append(other)
            self._connect(state)

    def is_kept(self, state: _State) -> bool:
        """Return whether threads are kept in a state: it reads or ends."""
        return isinstance(self._program.instructions[state.pc], CharClass | TokenAtom | Accept | Return)

    def automaton(self) -> RuleAutomaton:
        """Return the automaton."""
        code = self._program.instructions
        states = []
        for state, number in self.numbers.items():
            read = code[state.pc]
            spans = (span_of(read),) if isinstance(read, Symbol) else ()
            states.append(DfaState(number, isinstance(read, Accept | Return), spans))
        edges = tuple(
            DfaEdge(*key, join_ranges([tuple(self._bytes[key])]), (self._spans[key],)) for key in sorted(self._bytes)
        )
        parts = tuple(self._calls), tuple(self._tokens), tuple(self._epsilons)
        rule, dfa = self._rule, ByteDfa(0, tuple(states), edges)
        if rule is None:
            return RuleAutomaton("", Span(0, 0), nullable=False, dfa=dfa, tokens=parts[1], epsilons=parts[2])
        return RuleAutomaton(rule.name, rule.span, rule.nullable, dfa, *parts)

    def _state(self, pc: Pc, counters: Counters, fresh: int) -> _State:
        is_symbol = isinstance(self._program.instructions[pc], Symbol | Accept | Return)
        return _State(pc, counters, len(counters) if is_symbol else fresh)

    def _leave(self, state: _State) -> list[_State]:
        """Return the states after a state."""
        instruction = self._program.instructions[state.pc]
        if isinstance(instruction, CharClass):
            targets = dict.fromkeys(target for _, _, target in instruction.automaton.nodes[state.node])
            return [self._after(state, target) for target in targets]
        if isinstance(instruction, TokenAtom | Call):
            return [self._state(instruction.to, state.counters, len(state.counters))]
        return [self._state(*found) for found in epsilon_successors(instruction, state.counters, state.fresh)]

    def _after(self, state: _State, node: int) -> _State:
        """Return the state after a byte that leads to a node of its character."""
        instruction = self._program.instructions[state.pc]
        assert isinstance(instruction, CharClass)
        if node == FINAL:
            return self._state(instruction.to, state.counters, len(state.counters))
        return state._replace(node=node)

    def _connect(self, state: _State) -> None:
        """Add the edges that leave a state."""
        instruction, here = self._program.instructions[state.pc], self.numbers[state]
        targets = [self.numbers[other] for other in self._leave(state)]
        match instruction:
            case CharClass():
                for first, last, node in instruction.automaton.nodes[state.node]:
                    key = here, self.numbers[self._after(state, node)]
                    self._bytes[key].append((first, last))
                    self._spans[key] = instruction.span
            case Call():
                name = self._program.rules[instruction.rule].name
                self._calls.append(CallEdge(here, targets[0], name, (instruction.span,)))
                self.called.append(instruction.rule)
            case TokenAtom():
                self._tokens.append(TokenEdge(here, targets[0], instruction.tokens))
            case Condition():
                self._epsilons.append(EpsilonEdge(here, targets[0], self._program.looks[instruction.look].span))
            case _:
                self._epsilons += [EpsilonEdge(here, target) for target in dict.fromkeys(targets)]
