"""Sets of stacks, each set one number.

A thread returns to a set of stacks, since a grammar may be ambiguous. A set is a trie
from the top of the stack down, with equal remainders shared, so it is canonical: two sets
are equal exactly if their numbers are. It plays the part of Tomita's graph-structured
stack (1986), without cycles: left recursion never grows a stack here (see `closures`).

A corner is on the stack in two halves, the rule that is being read on top of the one that
was called: where a thousand rules begin with one another, and each of them was called,
there are two thousand frames and not a million.

Rejected: one thread for each stack. Ambiguity then multiplies threads that
differ in nothing they read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from engine.source import checkpoint

_MOST_COMPARED: Final = 64
"""The most called rules that are compared with one another; the comparison takes quadratic time."""

StackSet: TypeAlias = int
"""The number of a set of stacks."""

BOTTOM: StackSet = 0
"""The set that contains only the empty stack."""


class CallFrame(NamedTuple):
    """The continuation of a call, or a corner.

    Attributes:
        to: the instruction after the call; -1 for a corner.
        counters: the counters of the loops around the call.
        goal: the rule of the corner that was called; -1 for a call, and for a corner's upper half.
        current: the rule of the corner that is being read; -1 for a call, and for a corner's lower half.
    """

    to: int
    counters: tuple[int, ...]
    goal: int = -1
    current: int = -1

    @property
    def is_corner(self) -> bool:
        """Return whether this is the left corner of a left-recursive rule, or half of it."""
        return self.to < 0


def called(rule: int) -> CallFrame:
    """Return the lower half of a corner: the rule that was called."""
    return CallFrame(-1, (), goal=rule)


def begun(rule: int) -> CallFrame:
    """Return the upper half of a corner: the rule that is being read."""
    return CallFrame(-1, (), current=rule)


class Stacks:
    """Interns sets of stacks."""

    def __init__(self) -> None:
        # A set: its top frames, each with the set below it. BOTTOM has none.
        self._sets: list[dict[CallFrame, StackSet]] = [{}]
        self._ends: list[bool] = [True]
        self._ids: dict[tuple[bool, frozenset[tuple[CallFrame, StackSet]]], StackSet] = {(True, frozenset()): BOTTOM}
        self._unions: dict[tuple[StackSet, StackSet], StackSet] = {}

    def __len__(self) -> int:
        """Return the number of sets."""
        return len(self._sets)

    def tops(self, stacks: StackSet) -> dict[CallFrame, StackSet]:
        """Return the top frames, each with the set below it; a corner's halves are frames of their own."""
        return self._sets[stacks]

    def whole_tops(self, stacks: StackSet) -> Iterator[tuple[CallFrame, StackSet]]:
        """Yield the top frames, each with the set below it; a corner is one frame."""
        for frame, below in self._sets[stacks].items():
            if frame.current < 0:
                yield frame, below
            else:
                yield from ((half._replace(current=frame.current), rest) for half, rest in self._sets[below].items())

    def each(self, stacks: StackSet) -> Iterator[tuple[CallFrame, ...]]:
        """Yield every stack of a set, the top first, corners as one frame each. There may be far too many to list."""
        if stacks == BOTTOM:
            yield ()
        path: list[CallFrame] = []
        walk = [iter(sorted(self.whole_tops(stacks)))]
        while walk:
            found = next(walk[-1], None)
            if found is None:
                walk.pop()
                if path:
                    path.pop()
                continue
            frame, below = found
            path.append(frame)
            if below == BOTTOM:
                yield tuple(path)
            walk.append(iter(sorted(self.whole_tops(below))))

    def push(self, frame: CallFrame, stacks: StackSet) -> StackSet:
        """Push a frame on every stack of the set; a whole corner is pushed as two frames."""
        if frame.goal >= 0 and frame.current >= 0:
            return self.push(begun(frame.current), self.push(called(frame.goal), stacks))
        return self._intern(False, {frame: stacks})

    def push_called(self, rule: int, stacks: StackSet, ends: Callable[[int], bool]) -> StackSet:
        """Push a corner's lower half, without piling up the corners of a rule that ends with itself.

        If a rule is called at the very end of one with which the same rule `ends`, the inner corner continues, once
        the rule is matched, as the outer one would, or is replaced by it.

        Args:
            rule: the rule that is called.
            stacks: the stacks below.
            ends: whether a rule that is matched can only be all of the called one.
        """
        half = called(rule)
        rest = dict(self._sets[stacks])
        same: list[StackSet] = []
        for top, below in self._sets[stacks].items():
            goals = self._sets[below]
            if top.current >= 0 and half in goals and ends(top.current):
                same.append(self._intern(False, {half: goals[half]}))
                others = {goal: under for goal, under in goals.items() if goal != half}
                if others:
                    rest[top] = self._intern(False, others)
                else:
                    del rest[top]
        if rest or self._ends[stacks]:
            same.append(self.push(half, self._intern(self._ends[stacks], rest)))
        return self.union_all(same)

    def union(self, one: StackSet, other: StackSet) -> StackSet:
        """Return the union of two sets."""
        if one == other:
            return one
        key = (min(one, other), max(one, other))
        known = self._unions.get(key)
        if known is None:
            known = self._unions[key] = self._merge(*key)
        return known

    def union_all(self, sets: Sequence[StackSet]) -> StackSet:
        """Return the union of one or more sets, in pairs: one by one, each step would copy all that came before."""
        level = list(sets)
        while len(level) > 1:
            odd = level[-1:] if len(level) % 2 else []
            level = [self.union(one, other) for one, other in zip(level[::2], level[1::2], strict=False)] + odd
        return level[0]

    def _merge(self, one: StackSet, other: StackSet) -> StackSet:
        # Deep sets usually differ near the top, so there are few pending pairs; an explicit stack keeps deep ones safe.
        pending = [(one, other)]
        while pending:
            a, b = pending[-1]
            tops = dict(self._sets[a])
            checkpoint(2 + (len(tops) + len(self._sets[b])) // 2)
            missing = []
            for frame, below in self._sets[b].items():
                mine = tops.get(frame)
                if mine is None or mine == below:
                    tops[frame] = below
                    continue
                pair = (min(mine, below), max(mine, below))
                if pair in self._unions:
                    tops[frame] = self._unions[pair]
                else:
                    missing.append(pair)
            if missing:
                pending += missing
            else:
                self._unions[a, b] = self._intern(self._ends[a] or self._ends[b], tops)
                pending.pop()
        return self._unions[one, other]

    def _uncovered(self, tops: dict[CallFrame, StackSet]) -> dict[CallFrame, StackSet]:
        """Return the stacks without those that continue only as another one does.

        A rule that ends with itself calls itself there, in a corner of its own. Whatever is matched in that corner
        continues as it would in the corner around it, and if the rule has ended in one, it has in the other. So if both
        were called for the same rule, the inner one is dropped: `e ::= t | e "+" e` and `t ::= [a-z] | e "*" t` pile
        nothing up.
        """
        found = tops
        for half, inner in tops.items() if len(tops) <= _MOST_COMPARED else ():
            own = begun(half.goal)
            around = self._sets[inner].get(own) if half.goal >= 0 else None
            if around is None:
                continue
            goals = self._sets[around]
            rest = {goal: below for goal, below in goals.items() if goal == half or tops.get(goal) != below}
            if len(rest) == len(goals):
                continue
            others = {frame: below for frame, below in self._sets[inner].items() if frame != own}
            if rest:
                others[own] = self._intern(False, rest)
            found = {frame: below for frame, below in found.items() if frame != half}
            if others or self._ends[inner]:
                found[half] = self._intern(self._ends[inner], others)
        return found

    def _intern(self, ends: bool, tops: dict[CallFrame, StackSet]) -> StackSet:
        if len(tops) > 1:
            tops = self._uncovered(tops)
        key = (ends, frozenset(tops.items()))
        number = self._ids.get(key)
        if number is None:
            checkpoint(1 + len(tops))
            number = self._ids[key] = len(self._sets)
            self._sets.append(tops)
            self._ends.append(ends)
        return number
