"""A recursive grammar as one minimal automaton for each rule, with call edges.

A rule is regular over bytes, tokens and the names of rules: the subset construction and
the minimisation are those of any automaton, with a call as one more symbol (recursive
transition networks: Woods, *Transition network grammars for natural language analysis*,
CACM 13(10), 1970). So left recursion is a call edge that leaves the start, and ambiguity
stays between the symbols. `rule_tracker` finds the states of a text in them.

Every rule keeps its own name, since its author knows the names. Rejected: inlining rules
that are not recursive, which makes fewer and larger automata that nobody wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from engine.automata.byte_classes import ByteClasses, join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.dfa.materialise import merge_equivalent
from engine.automata.nfa.program import Call, CharClass, Program, TokenAtom
from engine.automata.nfa.rule_network import RuleNetwork, RuleState, body_of, span_of
from engine.automata.utf8 import FINAL
from engine.grammar import TokenSet
from engine.source import CancelToken, InvariantError, LimitExceededError, Span, checkpoint

_RuleStates: TypeAlias = frozenset[RuleState]
_TokenKey: TypeAlias = tuple[tuple[str, ...], tuple[int, ...], bool]


@dataclass(frozen=True, slots=True)
class CallEdge:
    """An edge from one state of a rule to another by a text of the rule `rule`; `spans` are the references."""

    source: int
    target: int
    rule: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenEdge:
    """An edge from one state of a rule to another by one token, taken as a unit."""

    source: int
    target: int
    tokens: TokenSet


@dataclass(frozen=True, slots=True)
class EpsilonEdge:
    """An edge from one state of a rule to another that reads nothing, if the lookaround `condition` holds there."""

    source: int
    target: int
    condition: Span | None = None


@dataclass(frozen=True, slots=True)
class RuleAutomaton:
    """The automaton of one rule.

    Attributes:
        span: the location of its name where it is defined.
        nullable: whether it matches the empty text.
        dfa: its states, of which 0 is the start, and its edges over bytes. In an accepting state the rule may end.
        calls: its edges over rules.
        tokens: its edges over tokens taken as units.
        epsilons: its edges that read nothing; none in a deterministic automaton.
    """

    name: str
    span: Span
    nullable: bool
    dfa: ByteDfa
    calls: tuple[CallEdge, ...] = ()
    tokens: tuple[TokenEdge, ...] = ()
    epsilons: tuple[EpsilonEdge, ...] = ()


@dataclass(frozen=True)
class RuleAutomata:
    """The automata of a whole grammar.

    Attributes:
        rules: the rules that the start rule leads to, itself first; none if no text matches.
    """

    rules: tuple[RuleAutomaton, ...]

    def __post_init__(self) -> None:
        if not {call.rule for rule in self.rules for call in rule.calls} <= self.numbers.keys():
            raise InvariantError("errors.invariant.missing_rule")

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the index of each rule, by its name."""
        return {rule.name: number for number, rule in enumerate(self.rules)}

    @property
    def size(self) -> int:
        """Return the number of states in all rules."""
        return sum(len(rule.dfa.states) for rule in self.rules)


def rule_automata(program: Program, limit: int, cancel: CancelToken | None = None) -> RuleAutomata:
    """Return the automata of a program that has rules; the start rule is first, the others in source order.

    Args:
        program: the program.
        limit: the most states before minimisation.
        cancel: reports progress and cancels.

    Raises:
        LimitExceededError: they take more than `limit` states before minimisation.
        CancelledError: `cancel` was used.
    """
    explored = explore_rules(program, limit, cancel)
    start = next(iter(explored))
    built: dict[int, RuleAutomaton] = {}
    numbers = {rule.name: number for number, rule in enumerate(program.rules)}
    rules, todo = len(explored), [start]
    while todo:
        number = todo.pop()
        if number in built:
            continue
        if cancel is not None:
            cancel.report("progress.rules", len(built), rules)
        built[number] = explored.pop(number).minimal()
        todo += (numbers[call.rule] for call in built[number].calls)
    others = sorted(built.keys() - {start})
    return RuleAutomata(tuple(built[number] for number in (start, *others)))


def explore_rules(program: Program, limit: int, cancel: CancelToken | None = None) -> dict[int, RuleSubsets]:
    """Return the subset constructions of a program's rules by their numbers, the start rule first.

    All states are counted before any automaton is minimised, which takes as long again: so a limit is met sooner.

    Args:
        program: the program.
        limit: the largest number of states of all rules together.
        cancel: cancels the work.

    Raises:
        InvariantError, LimitExceededError, CancelledError: as `rule_automata`.
    """
    start = program.instructions[program.start]
    if not isinstance(start, Call):
        raise InvariantError("errors.invariant.no_rules")
    explored: dict[int, RuleSubsets] = {}
    network, left, todo = RuleNetwork(program), limit, [start.rule]
    while todo:
        number = todo.pop()
        if number in explored:
            continue
        if cancel is not None:
            cancel.report("progress.rule_states", len(explored))
        explored[number] = RuleSubsets(program, network, number, limit, left, cancel)
        left -= len(explored[number].states)
        todo += explored[number].called
    return explored


class RuleSubsets:
    """The subset construction of one rule, over its own symbols: its byte classes, its calls, its tokens."""

    def __init__(
        self, program: Program, network: RuleNetwork, rule: int, limit: int, left: int, cancel: CancelToken | None
    ) -> None:
        self._program = program
        self._rule = program.rules[rule]
        self._network = network
        self._cancel = cancel
        body = [program.instructions[pc] for pc in sorted(body_of(program, self._rule.start))]
        self._classes = ByteClasses.of(symbol.automaton for symbol in body if isinstance(symbol, CharClass))
        self._calls = sorted({symbol.rule for symbol in body if isinstance(symbol, Call)})
        # A set that occurs twice is one symbol; tokens that two sets share are left to whoever takes a token.
        self._tokens = {_key(symbol.tokens): symbol.tokens for symbol in body if isinstance(symbol, TokenAtom)}
        self.states: list[_RuleStates] = [frozenset(self._network.closure(self._rule.start, ()))]
        self.rows: list[list[int]] = []
        self._explore(limit, left)

    @property
    def called(self) -> list[int]:
        """Return the rules that some state calls."""
        first = len(self._classes)
        return [rule for at, rule in enumerate(self._calls, first) if any(row[at] >= 0 for row in self.rows)]

    def minimal(self) -> RuleAutomaton:
        """Return the minimal automaton."""
        merged = merge_equivalent(
            self.rows,
            [any(map(self._network.is_end, members)) for members in self.states],
            [
                {span_of(symbol) for state in members if (symbol := self._network.symbol_at(state))}
                for members in self.states
            ],
            self._edge_spans,
            self._cancel,
            kind=lambda symbol: max(0, symbol - len(self._classes) + 1),
        )
        bytes_, calls, tokens = [], [], []
        for (source, target, kind), (symbols, spans) in sorted(merged.edges.items()):
            if kind == 0:
                ranges = join_ranges(self._classes.ranges[symbol] for symbol in symbols)
                bytes_.append(DfaEdge(source, target, ranges, spans))
            elif kind <= len(self._calls):
                calls.append(CallEdge(source, target, self._program.rules[self._calls[kind - 1]].name, spans))
            else:
                tokens.append(TokenEdge(source, target, [*self._tokens.values()][kind - 1 - len(self._calls)]))
        dfa = ByteDfa(0, merged.states, tuple(bytes_))
        rule = self._rule
        return RuleAutomaton(rule.name, rule.span, rule.nullable, dfa, tuple(calls), tuple(tokens))

    def _explore(self, limit: int, left: int) -> None:
        index = {self.states[0]: 0}
        width = len(self._classes) + len(self._calls) + len(self._tokens)
        while len(self.rows) < len(self.states):
            if self._cancel is not None:
                self._cancel.check()
            here = self.states[len(self.rows)]
            checkpoint((1 + len(here)) * (1 + len(self._classes)) + len(self._calls) + len(self._tokens))
            row = [-1] * width
            for symbol, successors in sorted(self._following(here).items()):
                members = frozenset(successors)
                if not members:
                    continue
                if members not in index:
                    if len(self.states) == left:
                        raise LimitExceededError("errors.limit.rule_states", given=limit + 1, limit=limit)
                    index[members] = len(self.states)
                    self.states.append(members)
                row[symbol] = index[members]
            self.rows.append(row)

    def _following(self, members: _RuleStates) -> dict[int, set[RuleState]]:
        """Return the successors by symbol; only symbols that some member reads."""
        found: dict[int, set[RuleState]] = {}
        for state in members:
            symbol = self._network.symbol_at(state)
            if symbol is None:
                continue
            after = self._network.closure(symbol.to, state.counters)
            match symbol:
                case CharClass():
                    for first, last, node in symbol.automaton.nodes[state.node]:
                        for byte_class in set(self._classes.of_byte[first : last + 1]):
                            found.setdefault(byte_class, set()).update(
                                after if node == FINAL else (state._replace(node=node),)
                            )
                case Call():
                    number = len(self._classes) + self._calls.index(symbol.rule)
                    found.setdefault(number, set()).update(after)
                case TokenAtom():
                    number = len(self._classes) + len(self._calls) + [*self._tokens].index(_key(symbol.tokens))
                    found.setdefault(number, set()).update(after)
        return found

    def _edge_spans(self, state: int, symbol: int) -> set[Span]:
        call = symbol - len(self._classes)
        checkpoint(1 + len(self.states[state]))
        found = set()
        byte = self._classes.representatives[symbol] if call < 0 else 0
        for member in self.states[state]:
            read = self._network.symbol_at(member)
            match read:
                case CharClass() if call < 0 and read.automaton.step(member.node, byte) is not None:
                    found.add(read.span)
                case Call() if 0 <= call < len(self._calls) and read.rule == self._calls[call]:
                    found.add(read.span)
        return found


def _key(tokens: TokenSet) -> _TokenKey:
    return tokens.names, tokens.ids, tokens.negated
