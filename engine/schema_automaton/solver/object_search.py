"""Search for a completion of an object with counts, existential constraints or residual conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.source import checkpoint

if TYPE_CHECKING:
    from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState, ObjectTransition


def completes(machine: ObjectMachine, start: ObjectState) -> bool:
    """Return whether an object can be completed: search depth first for a state that can close."""
    solver = machine.goals
    reached, todo = {start}, [start]
    while todo:
        state = todo.pop()
        checkpoint(8)
        for transition in _witness_moves(machine, state):
            if transition.place in reached or not solver.is_satisfiable(transition.goal):
                continue
            if machine.can_close(transition.place) or machine.known_live(transition.place):
                return True
            reached.add(transition.place)
            solver.limits.check("places of an object", len(reached), solver.limits.search, "search")
            todo.append(transition.place)
    return False


def _witness_moves(machine: ObjectMachine, state: ObjectState) -> list[ObjectTransition]:
    """Return the transitions that bring the end nearer; each key class is represented by one key.

    A member that is not required, satisfies no existential constraint and is not needed for the count can be left out
    of whatever completes the object. If the order is free, it suffices to try names in one order, before key classes.
    """
    names, with_cells = machine.candidates(state)
    missing = machine.missing(state)
    open_constraints = (machine.all_exists_constraints & ~state.done) | machine.conditions.open(state.left) << len(
        machine.exists_constraints
    )
    transitions: list[ObjectTransition] = []
    if with_cells and not missing:
        for number, key_class in enumerate(machine.cells):
            if state.size < machine.least or key_class.exists_constraints & open_constraints:
                witness = key_class.witness(machine.goals, state.extras) if machine.remembers else ""
                if witness is not None:
                    transitions += reversed(machine.all_moves(state, -1, number, witness))
    last = (missing & -missing).bit_length() - 1 if missing else len(machine.names)
    for name in reversed(names):
        needed = missing >> name & 1 or state.size < machine.least or machine.watched_of_name[name] & open_constraints
        if name <= last and needed:
            checkpoint(4)
            transitions += reversed(
                [_as_if_ordered(machine, transition, name) for transition in machine.all_moves(state, name, -1, "")]
            )
    return [
        transition
        for transition in transitions
        if state.size < machine.least
        or transition.place.done != state.done
        or transition.place.left is not state.left
        or machine.missing(transition.place) != missing
    ]


def _as_if_ordered(machine: ObjectMachine, transition: ObjectTransition, name: int) -> ObjectTransition:
    """Return a transition of a free order as if the names before this one could not come any more."""
    state = transition.place
    free = range(machine.ordered, name)
    passed = [i for i in free if not state.seen >> i & 1]
    if not passed:
        return transition
    residual = state.left
    for i in passed:
        residual = machine.conditions.assume(residual, machine.conditions.of_name(machine.names[i]), holds=True)
    seen = state.seen | sum(1 << i for i in passed)
    return transition._replace(place=state._replace(seen=seen, left=residual))
