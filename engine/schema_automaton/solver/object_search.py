"""Search for a completion of an object with counts, existential constraints or residual conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.source import checkpoint

if TYPE_CHECKING:
    from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState, ObjectTransition


def completes(case: ObjectMachine, start: ObjectState) -> bool:
    """Return whether an object can be completed: search depth first for a state that can close."""
    goals = case.goals
    reached, todo = {start}, [start]
    while todo:
        place = todo.pop()
        checkpoint(8)
        for move in _witness_moves(case, place):
            if move.place in reached or not goals.is_satisfiable(move.goal):
                continue
            if case.can_close(move.place) or case.known_live(move.place):
                return True
            reached.add(move.place)
            goals.limits.check("places of an object", len(reached), goals.limits.search, "search")
            todo.append(move.place)
    return False


def _witness_moves(case: ObjectMachine, place: ObjectState) -> list[ObjectTransition]:
    """Return the transitions that bring the end nearer; each key class is represented by one key.

    A member that is not required, satisfies no existential constraint and is not needed for the count can be left out
    of whatever completes the object. If the order is free, it suffices to try names in one order, before key classes.
    """
    names, with_cells = case.candidates(place)
    missing = case.missing(place)
    wanted = (case.all_quests & ~place.done) | case.conditions.open(place.left) << len(case.quests)
    moves: list[ObjectTransition] = []
    if with_cells and not missing:
        for number, cell in enumerate(case.cells):
            if place.size < case.least or cell.quests & wanted:
                witness = cell.witness(case.goals, place.extras) if case.remembers else ""
                if witness is not None:
                    moves += reversed(case.all_moves(place, -1, number, witness))
    last = (missing & -missing).bit_length() - 1 if missing else len(case.names)
    for name in reversed(names):
        needed = missing >> name & 1 or place.size < case.least or case.watched_of_name[name] & wanted
        if name <= last and needed:
            checkpoint(4)
            moves += reversed([_as_if_ordered(case, move, name) for move in case.all_moves(place, name, -1, "")])
    return [
        move
        for move in moves
        if place.size < case.least
        or move.place.done != place.done
        or move.place.left is not place.left
        or case.missing(move.place) != missing
    ]


def _as_if_ordered(case: ObjectMachine, move: ObjectTransition, name: int) -> ObjectTransition:
    """Return a transition of a free order as if the names before this one could not come any more."""
    place = move.place
    free = range(case.ordered, name)
    passed = [i for i in free if not place.seen >> i & 1]
    if not passed:
        return move
    left = place.left
    for i in passed:
        left = case.conditions.assume(left, case.conditions.of_name(case.names[i]), holds=True)
    seen = place.seen | sum(1 << i for i in passed)
    return move._replace(place=place._replace(seen=seen, left=left))
