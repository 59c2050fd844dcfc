"""The common base of the machines of arrays and objects: their solver, and results that may be provisional.

A machine requires something of its items or members, which its solver decides; the
solver in turn asks the machines below. The import goes one way only: machines know the
`Solver` protocol, and `SchemaSolver` knows the machines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast
from weakref import ref

from engine.schema_automaton.formula.nodes import Formula, Location, sorted_spans
from engine.schema_automaton.formula.values import Value
from engine.schema_automaton.solver.residual import ResidualConditions
from engine.schema_automaton.solver.string_solver import StringSolver
from engine.source import EngineError, Limits, Span


class Memo(defaultdict[str, dict[tuple[Any, ...], Any]]):
    """The results of each method by name, each by the arguments; unlike a plain dictionary, it has weak references."""


class UndecidedError(EngineError):
    """A formula needs a decision that this engine cannot make.

    Attributes:
        location: the source location of the formula.
    """

    def __init__(self, key: str, location: Location, **fields: object) -> None:
        super().__init__(key, **fields)
        self.location = location


class Solver(Protocol):
    """The part of the solver that a machine uses.

    Attributes:
        limits: the limits of steps and searches.
        strings: decides formulas over strings, and has the arena.
        any_order: whether declared properties may come in any order.
        budget: the most conjunctions that may be examined, during the precheck; None afterwards.
        memos: the results of all machines.
        provisional_epoch: a counter that grows whenever an answer rests on a goal whose check is in progress. An answer
            is provisional if the counter grew while it was computed; only other answers may be memoised.
        no_conditions: a residual formula that is always true, which most machines share.
    """

    limits: Limits
    strings: StringSolver
    any_order: bool
    budget: int | None
    memos: list[Memo]
    no_conditions: ResidualConditions
    provisional_epoch: int

    def mark_provisional(self) -> None:
        """Mark the current answer as provisional."""

    def is_satisfiable(self, goal: Formula) -> bool:
        """Return whether some value satisfies a goal."""

    def has_more_values(self, goal: Formula, count: int) -> bool:
        """Return whether more than `count` strings and literals are known to satisfy a goal."""

    def values(self, goal: Formula, most: int) -> list[Value] | None:
        """Return up to `most` different values that satisfy a goal; None where they are unknown."""


class _Owner(Protocol):
    @property
    def memo(self) -> Callable[[], Memo | None]: ...

    @property
    def solver(self) -> Solver: ...


_O = TypeVar("_O", bound=_Owner)
_P = ParamSpec("_P")
_T = TypeVar("_T")


def provisional_memo(method: Callable[Concatenate[_O, _P], _T]) -> Callable[Concatenate[_O, _P], _T]:
    """Memoise a method by its positional arguments, unless the result is provisional. `True` is always final.

    The result is provisional if `provisional_epoch` grew while it was computed; see the head of `schema_automaton`.

    Args:
        method: a method whose result is never None, of an object with a `solver`, and a `memo`, which returns where
            results are kept.
    """
    name = method.__name__
    compute = cast("Callable[..., Any]", method)

    @wraps(method)
    def memoised(self: Any, *arguments: Any) -> Any:
        results = self.memo()[name]
        known = results.get(arguments)
        if known is None:
            solver = self.solver
            before = solver.provisional_epoch
            known = compute(self, *arguments)
            if known is True or solver.provisional_epoch == before:
                results[arguments] = known
        return known

    return cast("Callable[Concatenate[_O, _P], _T]", memoised)


class Machine:
    """The machine of one conjunction of assertions. It lives no longer than its solver, to which it refers weakly.

    States refer to their machine, so the solver keeps the results about them: there are no reference cycles, and a
    grammar is freed as soon as it is no longer used.
    """

    def __init__(self, solver: Solver, conjunction: tuple[Formula, ...]) -> None:
        memo = Memo(dict)
        solver.memos.append(memo)
        self.memo = ref(memo)
        self._solver_ref = ref(solver)
        self._conjunction = conjunction
        self._arena = solver.strings.arena

    @property
    def solver(self) -> Solver:
        """Return the solver that the machine belongs to."""
        solver = self._solver_ref()
        if solver is None:
            raise ReferenceError("the solver of this machine is gone")
        return solver

    def results_of(self, method: str) -> dict[tuple[Any, ...], Any]:
        """Return the memoised results of a method, by its arguments."""
        memo = self.memo()
        if memo is None:
            raise ReferenceError("the solver of this machine is gone")
        return memo[method]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Return the source locations of the conjunction."""
        return sorted_spans(self._conjunction)
