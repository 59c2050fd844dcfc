"""What a nondeterministic run of a program is, as values (see `threads`, which steps them)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from engine.automata.nfa.closures import MET, Counters
from engine.automata.nfa.program import Pc
from engine.automata.nfa.stacks import StackSet

ThreadId: TypeAlias = int
Threads: TypeAlias = frozenset[ThreadId]
Past: TypeAlias = tuple[Threads, ...]
"""Of each look, inner ones first, what a look-behind comes to here; empty for a look-ahead."""


class Obligation(NamedTuple):
    """What the text from here on must (or, negated, must not) come to."""

    negated: bool
    threads: Threads


Obligations: TypeAlias = frozenset[Obligation]


class Thread(NamedTuple):
    """One run: at instruction `pc`, `node` deep in its character.

    Attributes:
        counters: of the loops around it, outermost first.
        obligations: what the rest of the text has to come to.
        stacks: what the rule it is in returns to.
    """

    pc: Pc
    node: int
    counters: Counters
    obligations: Obligations
    stacks: StackSet


class CornerEntry(NamedTuple):
    """A corner that is about to be entered.

    Attributes:
        corner: the first of its rules.
        obligations: what the rest of the text has to come to.
        stacks: on what; the rules that were called are on top.
    """

    corner: int
    obligations: Obligations
    stacks: StackSet


class StepResult(NamedTuple):
    """Threads, and what else is reached, to be worked out once for all threads of a step.

    Attributes:
        threads: those that are known.
        entries: the corners that are about to be entered beside them.
        returns: the stacks with corners on top whose rules are over.
    """

    threads: Threads
    entries: frozenset[CornerEntry] = frozenset()
    returns: frozenset[StackSet] = frozenset()

    @property
    def is_open(self) -> bool:
        """Return whether entries or returns are still to be worked out."""
        return bool(self.entries or self.returns)


NOTHING: Threads = frozenset()
NOWHERE = StepResult(NOTHING)
FREE: Obligations = frozenset()


def simplify(negated: bool, threads: Threads, is_certain: Callable[[Threads], bool]) -> Obligation | bool:
    """An obligation, or whether it is met (True) or broken (False) already."""
    if not threads:
        return negated
    if is_certain(threads):
        return not negated
    return Obligation(negated, threads)


def subsumes(one: Thread, other: Thread, minima: tuple[int, ...]) -> bool:
    """Whether whatever `other` may still accept, `one` may too; both stand at the same place."""
    if one.stacks != other.stacks or not one.obligations <= other.obligations:
        return False
    for mine, theirs, minimum in zip(one.counters, other.counters, minima, strict=True):
        free = mine >= minimum  # true with `MET` as well
        if mine != theirs and not (free and mine & ~MET <= theirs & ~MET):
            return False
    return True
