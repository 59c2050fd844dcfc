"""Looks ahead, at compile time, for what could not be decided later.

Most schemas cannot get there. Where one uses an assertion that some combination
cannot decide, or one whose alternatives may be many, the goals that a value can
lead to are written out now, so that what is refused is refused before the first
byte.
"""

from __future__ import annotations

from engine.automata.json.arrays import ArrayCase, ArrayPlace
from engine.automata.json.formula import Formula
from engine.automata.json.goals import BudgetSpentError, Goals
from engine.automata.json.objects import ObjectCase, ObjectPlace
from engine.automata.json.values import Kind
from engine.source import CancelToken

_MOST_JUDGED = 2_000


def explore(goals: Goals, goal: Formula, cancel: CancelToken) -> None:
    """Write out the goals below a goal, if the grammar has assertions that may be undecided.

    Raises:
        UndecidedError: one of them is.
    """
    if not goals.arena.uses_distinct:
        return
    seen, todo = {goal}, [goal]
    goals.budget = goals.judged + _MOST_JUDGED
    try:
        _explore(goals, seen, todo, cancel)
    except BudgetSpentError:
        pass  # what is undecided further on counts as impossible there
    finally:
        goals.budget = None


def _explore(goals: Goals, seen: set[Formula], todo: list[Formula], cancel: CancelToken) -> None:
    while todo:
        cancel.report("looking at subschemas", len(seen))
        current = todo.pop()
        for kind in (Kind.ARRAY, Kind.OBJECT):
            for start in goals.starts(current, kind):
                for following in _below(start):
                    if following not in seen:
                        seen.add(following)
                        todo.append(following)


def _below(start: object) -> list[Formula]:
    if isinstance(start, ArrayPlace):
        case: ArrayCase = start.case
        return [move.goal for place in case.sample() for move in case.moves(place)]
    if isinstance(start, ObjectPlace):
        owner: ObjectCase = start.case
        return owner.value_goals()
    return []
