"""Arrays and objects as automata: which items and members may follow one another, and where commas are.

The machines of `engine.schema_automaton` define what may come at each state. There are finitely many reachable states,
unless earlier items or keys must be remembered: then no grammar without counters can express it, and it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from engine.export.rules.expressions import sequence
from engine.export.rules.right_linear import System
from engine.grammar import Node
from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.solver.array_machine import ArrayMachine, ArrayState
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import EngineError, Span, checkpoint

MOST_STATES: Final = 5_000
_MOST_VALUES: Final = 12
"""The largest number of distinct items if no two may be equal: each subset of them is a state."""


class NotContextFreeError(EngineError):
    """A grammar cannot express what a schema requires, or not within bounds.

    Attributes:
        span: the keyword.
    """

    def __init__(self, key: str, span: Span, **fields: object) -> None:
        super().__init__(key, **fields)
        self.span = span


@dataclass(slots=True)
class _Graph:
    """States, the start first, and the items or members that lead from one to another."""

    closable: list[bool] = field(default_factory=list)
    edges: list[list[tuple[Node, int]]] = field(default_factory=list)


_State = TypeVar("_State", ArrayState, ObjectState)

ItemWriter: TypeAlias = Callable[[Formula], Node]
"""Returns the text of an item that satisfies a goal, with the white space after it."""

MemberWriter: TypeAlias = Callable[[int, int, Formula], Node]
"""Returns the text of a member, likewise: of a name (or -1), of a key class (or -1), with a goal for its value."""


def array_system(case: ArrayMachine, solver: SchemaSolver, item: ItemWriter, comma: Node) -> System:
    """Return what may be between the brackets of an array; the start is state 0.

    Args:
        case: the machine of the array.
        solver: the solver.
        item: writes an item.
        comma: the comma with its white space.

    Raises:
        NotContextFreeError: earlier items would have to be remembered.
    """

    def edges(state: ArrayState) -> Iterator[tuple[Node, ArrayState]]:
        return ((item(goal), following) for goal, following in _array_moves(case, solver, state))

    return _with_commas(_reached(case.start, case.can_close, edges, case.spans), comma)


def _array_moves(case: ArrayMachine, solver: SchemaSolver, state: ArrayState) -> list[tuple[Formula, ArrayState]]:
    found: list[tuple[Formula, ArrayState]] = []
    for move in case.transitions(state):
        if case.distinct is None:
            found.append((move.goal, move.state))
            continue
        if case.most is not None and move.state.at >= case.most:
            following = move.state._replace(seen=frozenset())  # it is the last item
            if case.can_close(following):
                found.append((move.goal, following))
            continue
        values = solver.values(move.goal, _MOST_VALUES + 1)
        if values is None or len(values) > _MOST_VALUES:
            raise NotContextFreeError("errors.export.rules.distinct", case.distinct.span)
        for value in values:
            after = case.after(move.state, value)
            if after is not None:
                only = solver.arena.all_of((move.goal, solver.arena.enum((value,), case.distinct.span)))
                found.append((only, after))
    return found


def object_system(case: ObjectMachine, solver: SchemaSolver, member: MemberWriter, comma: Node) -> System:
    """Return what may be between the braces of an object; the start is state 0.

    Args:
        case: the machine of the object.
        solver: the solver.
        member: writes a member.
        comma: the comma with its white space.

    Raises:
        NotContextFreeError: earlier keys would have to be remembered.
    """

    def edges(state: ObjectState) -> Iterator[tuple[Node, ObjectState]]:
        names, cells = case.allowed(state)
        for name in range(names.bit_length()):
            if names >> name & 1:
                for move in case.transitions_after(state, name, -1, ""):
                    yield member(name, -1, move.goal), move.state
        for cell in cells:
            for move in case.transitions_after(state, -1, cell, _any_key(case, solver, state, cell)):
                yield member(-1, cell, move.goal), move.state

    return _with_commas(_reached(case.start, case.can_close, edges, case.spans), comma)


def _any_key(case: ObjectMachine, solver: SchemaSolver, state: ObjectState, cell: int) -> str:
    """Return a key that represents its class; empty if keys are not remembered."""
    if not case.remembers:
        return ""
    if state.extras:
        raise NotContextFreeError("errors.export.rules.remembered_keys", _first(case.spans))
    witness = case.key_classes[cell].witness(solver.strings, state.extras)
    assert witness is not None  # the key class is allowed here
    return witness


def _reached(
    start: _State,
    can_close: Callable[[_State], bool],
    edges: Callable[[_State], Iterable[tuple[Node, _State]]],
    spans: tuple[Span, ...],
) -> _Graph:
    """Return all reachable states; `spans` are the keywords that require them."""
    graph = _Graph()
    index: dict[_State, int] = {}
    todo: list[_State] = []

    def number(state: _State) -> int:
        if state not in index:
            index[state] = len(index)
            if len(index) > MOST_STATES:
                raise NotContextFreeError("errors.export.rules.states", _first(spans), limit=MOST_STATES)
            graph.closable.append(can_close(state))
            graph.edges.append([])
            todo.append(state)
        return index[state]

    number(start)
    while todo:
        state = todo.pop()
        for text, following in edges(state):
            checkpoint()
            graph.edges[index[state]].append((text, number(following)))
    return graph


def _first(spans: tuple[Span, ...]) -> Span:
    return next((span for span in spans if span.end), Span(0, 0))


def _with_commas(graph: _Graph, comma: Node) -> System:
    """Add commas between items: after an item that needs another, before one that is optional."""
    system = System()
    states: dict[tuple[int, bool], int] = {}
    todo: list[tuple[int, bool]] = []

    def number(state: int, *, first: bool) -> int:
        key = (state, first)
        if key not in states:
            states[key] = system.add(accepting=graph.closable[state])
            todo.append(key)
        return states[key]

    number(0, first=True)
    while todo:
        state, first = todo.pop()
        leads = graph.closable[state] and not first
        for label, target in graph.edges[state]:
            text = sequence(comma, label) if leads else label
            if not graph.closable[target]:
                text = sequence(text, comma)
            system.connect(states[state, first], text, number(target, first=False))
    return system
