"""The rules of a program as finite automata over bytes, tokens and the names of rules.

Within one rule, a call is a symbol like a character (a recursive transition network:
Woods, CACM 13(10), 1970). `RuleNetwork` finds the symbols that may come next in a rule
without reading anything or entering calls. `closures` is the counterpart: it goes through
calls, down to the bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from engine.automata.nfa.closures import Counters, passes
from engine.automata.nfa.program import (
    Accept,
    AcceptAny,
    Call,
    CharClass,
    Condition,
    CountPass,
    CountStart,
    Instruction,
    Pc,
    Program,
    Return,
    Split,
    TokenAtom,
    successors,
)
from engine.source import InvariantError, Span, checkpoint

Symbol: TypeAlias = CharClass | TokenAtom | Call


class RuleState(NamedTuple):
    """A state of a rule: before a symbol or at its end; `node` is the node within a character."""

    pc: Pc
    counters: Counters
    node: int = 0


class RuleNetwork:
    """The rules of one program as a recursive transition network."""

    def __init__(self, program: Program) -> None:
        if program.looks:
            raise InvariantError("errors.invariant.condition")
        self._code = program.instructions
        self._closures: dict[tuple[Pc, Counters], tuple[RuleState, ...]] = {}

    def closure(self, pc: Pc, counters: Counters = ()) -> tuple[RuleState, ...]:
        """Return the symbols and the end that an instruction leads to, without entering calls."""
        known = self._closures.get((pc, counters))
        if known is None:
            known = self._closures[pc, counters] = self._find(pc, counters)
        return known

    def _find(self, pc: Pc, counters: Counters) -> tuple[RuleState, ...]:
        start = (pc, counters, len(counters))
        todo, seen = [start], {start}
        found: dict[RuleState, None] = {}
        while todo:
            checkpoint()
            pc, counters, fresh = todo.pop()
            instruction = self._code[pc]
            if isinstance(instruction, Symbol | Accept | AcceptAny | Return):
                found[RuleState(pc, counters)] = None
            for other in epsilon_successors(instruction, counters, fresh):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return tuple(found)

    def symbol_at(self, state: RuleState) -> Symbol | None:
        """Return the symbol that a state reads next; None at the end of a rule."""
        instruction = self._code[state.pc]
        return instruction if isinstance(instruction, Symbol) else None

    def is_end(self, state: RuleState) -> bool:
        """Return whether the rule, or the match if there are no rules, may end in a state."""
        return isinstance(self._code[state.pc], Accept | Return)

    def spans(self, pc: Pc, counters: Counters = ()) -> tuple[Span, ...]:
        """Return the source locations of the symbols that may come next at an instruction."""
        symbols = (self.symbol_at(state) for state in self.closure(pc, counters))
        return tuple(sorted({span_of(symbol) for symbol in symbols if symbol is not None}))

    def may_end(self, pc: Pc, counters: Counters = ()) -> bool:
        """Return whether the rule may end at an instruction."""
        return any(map(self.is_end, self.closure(pc, counters)))


def epsilon_successors(instruction: Instruction, counters: Counters, fresh: int) -> list[tuple[Pc, Counters, int]]:
    """Return where an instruction leads without reading: (instruction, counters, first fresh counter).

    Args:
        instruction: the instruction; one that reads, calls or ends leads nowhere.
        counters: the counters of the loops around it.
        fresh: the first counter whose current pass has read nothing.
    """
    match instruction:
        case Split(targets):
            return [(target, counters, fresh) for target in targets]
        case CountStart(to):
            return [(to, (*counters, 0), fresh)]
        case CountPass():
            return passes(instruction, counters, fresh)
        case Condition(to=to):
            return [(to, counters, fresh)]
        case _:
            return []


def span_of(symbol: Symbol) -> Span:
    """Return the source location of a symbol."""
    return symbol.tokens.span if isinstance(symbol, TokenAtom) else symbol.span


def body_of(program: Program, start: Pc) -> set[Pc]:
    """Return the instructions of the rule that begins at `start`, without entering calls."""
    body: set[Pc] = set()
    todo = [start]
    while todo:
        pc = todo.pop()
        if pc not in body:
            body.add(pc)
            todo += successors(program.instructions[pc])
    return body


def owners(program: Program) -> dict[Pc, str]:
    """Return for each instruction the name of its rule; conditions and the match itself have none."""
    return {pc: rule.name for rule in program.rules for pc in body_of(program, rule.start)}
