"""What a rule reaches without reading anything or calling anybody: the letters that may come next in it.

Seen from within one rule, a call is a letter like a character: the rule is then
a finite automaton over bytes, tokens and the names of rules (a recursive
transition network: Woods, CACM 13(10), 1970). `closures` looks the other way:
it goes through calls, down to the bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from engine.automata.nfa.closures import Counters, passes
from engine.automata.nfa.program import (
    Accept,
    Call,
    CharClass,
    CountPass,
    CountStart,
    Pc,
    Program,
    Return,
    Split,
    TokenAtom,
    successors,
)
from engine.source import InvariantError, Span

Letter: TypeAlias = CharClass | TokenAtom | Call


class RuleState(NamedTuple):
    """Where a rule stands: before a letter or at its end, `node` deep in a character."""

    pc: Pc
    counters: Counters
    node: int = 0


class RuleNetwork:
    """The rules of one program, each seen from within."""

    def __init__(self, program: Program) -> None:
        if program.looks:
            raise InvariantError("a condition is no letter")
        self._code = program.instructions
        self._places: dict[tuple[Pc, Counters], tuple[RuleState, ...]] = {}

    def places(self, pc: Pc, counters: Counters = ()) -> tuple[RuleState, ...]:
        """The letters and the end that an instruction leads to, calls not entered."""
        known = self._places.get((pc, counters))
        if known is None:
            known = self._places[pc, counters] = self._find(pc, counters)
        return known

    def _find(self, pc: Pc, counters: Counters) -> tuple[RuleState, ...]:
        start = (pc, counters, len(counters))
        todo, seen = [start], {start}
        found: dict[RuleState, None] = {}
        while todo:
            pc, counters, fresh = todo.pop()
            following: list[tuple[Pc, Counters, int]] = []
            match self._code[pc]:
                case Split(targets):
                    following = [(target, counters, fresh) for target in targets]
                case CountStart(to):
                    following = [(to, (*counters, 0), fresh)]
                case CountPass() as loop:
                    following = passes(loop, counters, fresh)
                case _:
                    found[RuleState(pc, counters)] = None
            for other in following:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return tuple(found)

    def letter(self, place: RuleState) -> Letter | None:
        """What may come next at a place; None at the end of a rule."""
        instruction = self._code[place.pc]
        return instruction if isinstance(instruction, Letter) else None

    def is_end(self, place: RuleState) -> bool:
        """Whether the rule, or the match where it has no rules, may be over at a place."""
        return isinstance(self._code[place.pc], Accept | Return)

    def spans(self, pc: Pc, counters: Counters = ()) -> tuple[Span, ...]:
        """Where in the source an instruction goes on: the letters that may come next."""
        letters = (self.letter(place) for place in self.places(pc, counters))
        return tuple(sorted({span_of(letter) for letter in letters if letter is not None}))

    def may_end(self, pc: Pc, counters: Counters = ()) -> bool:
        """Whether the rule may be over at an instruction."""
        return any(map(self.is_end, self.places(pc, counters)))


def span_of(letter: Letter) -> Span:
    """Where a letter is written."""
    return letter.tokens.span if isinstance(letter, TokenAtom) else letter.span


def body_of(program: Program, start: Pc) -> set[Pc]:
    """The instructions of the rule that begins at `start`, calls not entered."""
    body: set[Pc] = set()
    todo = [start]
    while todo:
        pc = todo.pop()
        if pc not in body:
            body.add(pc)
            todo += successors(program.instructions[pc])
    return body


def owners(program: Program) -> dict[Pc, str]:
    """Of each instruction the name of its rule; conditions and the match itself have none."""
    return {pc: rule.name for rule in program.rules for pc in body_of(program, rule.start)}
