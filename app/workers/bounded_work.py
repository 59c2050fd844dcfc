"""A bound on the work of a drawing or a list, counted in turns of loops.

A drawing that takes too long delays findings and steps, so it is not made. Turns are counted instead of seconds: the
same grammar is drawn or not drawn on every machine, however busy. Rejected: a deadline, by the clock or by processor
time. What the window shows would depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from engine.source import CancelledError, EngineError, limited_work, work_turns


class TooMuchWorkError(Exception):
    """The work needs more turns than it may take."""


@contextmanager
def bounded_work(limit: int) -> Iterator[None]:
    """Bound the turns of the work within it.

    What the work has computed earlier and kept costs no turns again, so begin with values that nothing else has used.

    Raises:
        TooMuchWorkError: the work needs more than `limit` turns; an error that the work raised for this reason is
            replaced, whatever its type.
    """
    with limited_work("errors.limit.drawing_work", limit):
        try:
            yield
        except CancelledError:
            raise
        except EngineError as error:
            if work_turns() > limit:
                raise TooMuchWorkError from error
            raise
        if work_turns() > limit:
            raise TooMuchWorkError
