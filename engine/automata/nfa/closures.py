"""Epsilon closures of a program: loops begun and left, rules called, conditions met, without reading a byte.

A closure is computed once for each instruction, relative to any stack below: it says
which character instructions are reached, which frames they have pushed, which corners are
entered, and whether the rule of the instruction may return.

A call always reads something: a rule that matches the empty text is skipped instead, at
the call. So nothing returns within a closure in which it was called, and a rule meets
itself there only by left recursion. For that, a call pushes a *corner*: any rule of the
cycle may begin, and when one is matched, every rule that begins with it may continue, or
the one that was called is complete (the left corner of Rosenkrantz and Lewis, 1970). The
stack does not grow with the text. What a corner leads to does not depend on which of its
rules was called, so all calls that enter it in one step enter it together (see `threads`).

Rejected: rewriting the grammar without left recursion. The rules of the result
are not the user's, and hidden left recursion multiplies them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from engine.automata.nfa.program import (
    Accept,
    AcceptAny,
    Call,
    CharClass,
    Condition,
    CountPass,
    CountStart,
    Pc,
    Program,
    Return,
    Split,
    TokenAtom,
)
from engine.automata.nfa.stacks import CallFrame, begun
from engine.grammar.analysis import components
from engine.source import checkpoint

# A counter with this flag has had an empty pass: its minimum is satisfied.
MET = 1 << 40

Counters = tuple[int, ...]


class CallSite(NamedTuple):
    """A call that a rule may begin with: the rule, and the instruction after the call."""

    rule: int
    to: Pc
    counters: Counters


class EpsilonTarget(NamedTuple):
    """A character instruction, or an end, that a closure reaches.

    Attributes:
        pushed: the frames pushed on the path, the last one on top.
        looks: the conditions on the path.
    """

    pc: Pc
    counters: Counters
    pushed: tuple[CallFrame, ...]
    looks: frozenset[int]


class LeftCorner(NamedTuple):
    """A corner that a closure enters.

    Attributes:
        corner: the first of its rules.
        rule: the rule that is called.
        pushed: the frames pushed on the path, the last one on top.
        looks: the conditions on the path.
    """

    corner: int
    rule: int
    pushed: tuple[CallFrame, ...]
    looks: frozenset[int]


@dataclass(frozen=True, slots=True)
class Closure:
    """The epsilon closure of an instruction.

    Attributes:
        reached: the character instructions and ends that it reaches.
        entered: the corners that it enters.
        returns: whether the rule of the instruction may end.
    """

    reached: tuple[EpsilonTarget, ...]
    entered: tuple[LeftCorner, ...]
    returns: bool

    @property
    def only_returns(self) -> bool:
        """Return whether nothing is left of the rule."""
        return self.returns and not self.reached and not self.entered


class _EpsilonState(NamedTuple):
    pc: Pc
    counters: Counters
    fresh: int  # the first counter whose current pass has read nothing
    pushed: tuple[CallFrame, ...]
    looks: frozenset[int]


class Closures:
    """The closures of one program.

    The objects that compute them do not refer to them, so that a program is freed as soon as it is no longer used.

    Attributes:
        closure: returns the closure of an instruction within loops that have counted so far.
        inside: returns the closure of a corner, given its first rule, on top of the rule that was called.
        corner: returns the rules that begin with one another and with a rule; none if it is not left-recursive.
        sites: returns the call sites at which the rules of its corner begin with a rule.
    """

    def __init__(self, program: Program) -> None:
        corners = Corners(program)
        builder = _ClosureBuilder(program, corners)
        self.corner, self.sites = corners.corner, corners.sites
        self.closure: Callable[[Pc, Counters], Closure] = cache(builder.closure)
        self.inside: Callable[[int], Closure] = cache(builder.inside)
        self._ends: dict[tuple[int, int], bool] = {}

    def ends(self, rule: int, goal: int) -> bool:
        """Return whether a rule that is matched, in a corner, is `goal` or can only be all of it."""
        key = rule, goal
        known = self._ends.get(key)
        if known is None:
            known = self._ends[key] = self._must_end(rule, goal)
        return known

    def _must_end(self, rule: int, goal: int) -> bool:
        todo, seen = [rule] if rule != goal else [], {rule, goal}
        while todo:
            for site in self.sites(todo.pop()):
                if not self.closure(site.to, site.counters).only_returns:
                    return False
                if site.rule not in seen:
                    seen.add(site.rule)
                    todo.append(site.rule)
        return True


class _ClosureBuilder:
    def __init__(self, program: Program, corners: Corners) -> None:
        self._code, self._rules, self._corners = program.instructions, program.rules, corners

    def closure(self, pc: Pc, counters: Counters) -> Closure:
        """Return the closure of `pc` within loops that have counted so far."""
        return self._from([_EpsilonState(pc, counters, len(counters), (), frozenset())])

    def inside(self, corner: int) -> Closure:
        """Return the closure of the rules of a corner, each on top of its own upper half."""
        rules = sorted(self._corners.corner(corner))
        return self._from(
            [_EpsilonState(self._rules[rule].start, (), 0, (begun(rule),), frozenset()) for rule in rules]
        )

    def _from(self, todo: list[_EpsilonState]) -> Closure:
        seen = set(todo)
        reached: dict[EpsilonTarget, None] = {}
        entered: dict[LeftCorner, None] = {}
        returns = False
        while todo:
            state = todo.pop()
            checkpoint(2 + 2 * len(state.pushed) + len(state.looks))
            instruction = self._code[state.pc]
            if isinstance(instruction, CharClass | TokenAtom | Accept | AcceptAny):
                reached[EpsilonTarget(state.pc, state.counters, state.pushed, state.looks)] = None
            elif isinstance(instruction, Return):
                returns |= not state.pushed
            for following in self._following(state, instruction, entered):
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        return Closure(tuple(reached), tuple(entered), returns)

    def _following(
        self, state: _EpsilonState, instruction: object, entered: dict[LeftCorner, None]
    ) -> list[_EpsilonState]:
        match instruction:
            case Call():
                return self._call(state, instruction, entered)
            case Condition():
                return [state._replace(pc=instruction.to, looks=state.looks | {instruction.look})]
            case _:
                return _plain_successors(state, instruction)

    def _call(self, state: _EpsilonState, call: Call, entered: dict[LeftCorner, None]) -> list[_EpsilonState]:
        rule = self._rules[call.rule]
        found = [state._replace(pc=call.to)] if rule.nullable else []
        corner = self._corners.corner(call.rule)
        if corner and state.pushed and state.pushed[-1].current in corner:
            return found  # the corner that this is in begins with this rule too, and continues from it
        pushed = state.pushed if call.last else (*state.pushed, CallFrame(call.to, state.counters))
        if not corner:
            return [*found, _EpsilonState(rule.start, (), 0, pushed, state.looks)]
        entered[LeftCorner(min(corner), call.rule, pushed, state.looks)] = None
        return found


class Corners:
    """The left recursion of one program."""

    def __init__(self, program: Program) -> None:
        self._code, self._rules = program.instructions, program.rules
        self._first_calls: dict[int, tuple[tuple[int, Pc, Counters], ...]] = {}
        self._corners: list[frozenset[int]] | None = None
        self._sites: dict[int, tuple[CallSite, ...]] = {}

    def corner(self, rule: int) -> frozenset[int]:
        """Return the rules that begin with one another and with this one; none if it is not left-recursive."""
        if self._corners is None:
            self._corners = self._find()
        return self._corners[rule]

    def sites(self, rule: int) -> tuple[CallSite, ...]:
        """Return the call sites at which the rules of its corner begin with a rule."""
        sites = self._sites.get(rule)
        if sites is None:
            self._find_sites(self.corner(rule) or {rule})
            sites = self._sites[rule]
        return sites

    def _find_sites(self, corner: frozenset[int] | set[int]) -> None:
        """Find the sites of all rules of a corner at once: separate searches would take quadratic time."""
        found: dict[int, list[CallSite]] = {rule: [] for rule in corner}
        for member in sorted(corner):
            first_calls = self.begins_with(member)
            checkpoint(1 + len(first_calls))
            for callee, to, counters in first_calls:
                if callee in found:
                    found[callee].append(CallSite(member, to, counters))
        self._sites.update((rule, tuple(sites)) for rule, sites in found.items())

    def _find(self) -> list[frozenset[int]]:
        """Return the corner of every rule, found at once: separate searches would take quadratic time."""
        begins = {rule: {callee for callee, _, _ in self.begins_with(rule)} for rule in range(len(self._rules))}
        corners: list[frozenset[int]] = [frozenset()] * len(begins)
        for component in components(begins):
            if len(component) > 1 or component[0] in begins[component[0]]:
                corner = frozenset(component)
                for rule in component:
                    corners[rule] = corner
        return corners

    def begins_with(self, rule: int) -> tuple[tuple[int, Pc, Counters], ...]:
        """Return the calls that a rule may begin with: the callee, the instruction after it, and the counters."""
        known = self._first_calls.get(rule)
        if known is None:
            known = self._first_calls[rule] = self._find_first_calls(rule)
        return known

    def _find_first_calls(self, rule: int) -> tuple[tuple[int, Pc, Counters], ...]:
        start = _EpsilonState(self._rules[rule].start, (), 0, (), frozenset())
        todo, seen = [start], {start}
        found = []
        while todo:
            checkpoint()
            state = todo.pop()
            instruction = self._code[state.pc]
            if isinstance(instruction, Call):
                found.append((instruction.rule, instruction.to, state.counters))
                following = [state._replace(pc=instruction.to)] if self._rules[instruction.rule].nullable else []
            else:
                following = _plain_successors(state, instruction)
            for other in following:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return tuple(found)


def _plain_successors(state: _EpsilonState, instruction: object) -> list[_EpsilonState]:
    """Return the successors of an instruction that neither reads nor calls."""
    match instruction:
        case Split():
            return [state._replace(pc=target) for target in instruction.targets]
        case CountStart():
            return [state._replace(pc=instruction.to, counters=(*state.counters, 0))]
        case CountPass():
            return [
                state._replace(pc=to, counters=counters, fresh=fresh)
                for to, counters, fresh in passes(instruction, state.counters, state.fresh)
            ]
        case _:
            return []


def passes(loop: CountPass, counters: Counters, fresh: int) -> list[tuple[Pc, Counters, int]]:
    """Return where a completed pass may lead: (instruction, counters, first fresh counter).

    Args:
        loop: the end of the pass.
        counters: the counters of the loops around it, its own last.
        fresh: the index of the first counter whose current pass has read nothing.
    """
    *outer, count = counters
    around, depth = tuple(outer), len(outer)
    if fresh <= depth:
        if not loop.nullable or count & MET:
            return []
        count |= MET
    elif loop.maximum is None:
        count = count if count & MET else min(count + 1, loop.minimum)
    else:
        count += 1
    passes = count & ~MET
    following: list[tuple[Pc, Counters, int]] = []
    if count & MET or passes >= loop.minimum:
        following.append((loop.to, around, min(fresh, depth)))
    if loop.maximum is None or passes < loop.maximum:
        following.append((loop.body, (*around, count), min(fresh, depth)))
    return following
