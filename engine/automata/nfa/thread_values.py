"""The values of a nondeterministic run of a program (see `threads`, which steps them)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from engine.automata.nfa.closures import MET, Counters
from engine.automata.nfa.program import Pc
from engine.automata.nfa.stacks import StackSet

ThreadId: TypeAlias = int
Threads: TypeAlias = frozenset[ThreadId]
Past: TypeAlias = tuple[Threads, ...]
"""For each look, inner ones first, the verdict of a look-behind here; empty for a look-ahead."""


class Obligation(NamedTuple):
    """A configuration that the text from here on must (or, negated, must not) lead to acceptance."""

    negated: bool
    threads: Threads


Obligations: TypeAlias = frozenset[Obligation]


class Thread(NamedTuple):
    """One run: at instruction `pc`, at a node within its character.

    Attributes:
        counters: the counters of the loops around it, outermost first.
        obligations: the look-aheads that the rest of the text has to meet.
        stacks: the stacks that its rule returns to.
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
        obligations: the look-aheads that the rest of the text has to meet.
        stacks: the stacks below; the rules that were called are on top.
    """

    corner: int
    obligations: Obligations
    stacks: StackSet


class StepResult(NamedTuple):
    """Threads, and the rest of a step, which is computed once for all threads.

    Attributes:
        threads: the threads that are known.
        entries: the corners that are still to be entered.
        returns: the stacks with corners on top whose rules have ended.
    """

    threads: Threads
    entries: frozenset[CornerEntry] = frozenset()
    returns: frozenset[StackSet] = frozenset()

    @property
    def is_open(self) -> bool:
        """Return whether entries or returns are still to be computed."""
        return bool(self.entries or self.returns)


NOTHING: Threads = frozenset()
NOWHERE = StepResult(NOTHING)
FREE: Obligations = frozenset()


def simplify(negated: bool, threads: Threads, is_unconditional: Callable[[Threads], bool]) -> Obligation | bool:
    """Return an obligation, or whether it is already met (True) or broken (False).

    Args:
        negated: whether it is negated.
        threads: its configuration.
        is_unconditional: whether a configuration accepts any continuation.
    """
    if not threads:
        return negated
    if is_unconditional(threads):
        return not negated
    return Obligation(negated, threads)


def subsumes(one: Thread, other: Thread, minima: tuple[int, ...]) -> bool:
    """Return whether `one` may accept whatever `other` may still accept.

    Args:
        one: a thread.
        other: a thread at the same instruction and node.
        minima: the minimum counts of the loops around the instruction, outermost first.
    """
    if one.stacks != other.stacks or not one.obligations <= other.obligations:
        return False
    for mine, theirs, minimum in zip(one.counters, other.counters, minima, strict=True):
        free = mine >= minimum  # true with `MET` as well
        if mine != theirs and not (free and mine & ~MET <= theirs & ~MET):
            return False
    return True
