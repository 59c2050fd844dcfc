"""Runs generators: for so many cases, or for so many seconds of processor time, in one process or several.

Case `i` of a generator depends on the seed, the generator's name and `i` only, so that a difference that was found in a
long run on several processes can be tried again alone.
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine import LimitExceededError
from tests.exactness.soundness.registry import GENERATORS
from tests.exactness.soundness.tally import Tally


@dataclass(frozen=True, slots=True)
class Effort:
    """How long one generator runs.

    Attributes:
        seed: the seed of all cases.
        seconds: the processor time after which no new case begins, for each process; None for no limit.
        cases: the number of cases; None for no limit.
        first: the number of the first case.
        case_limit: the processor time, in seconds, after which a case is given up and recorded as a difference; None
            for no limit, so that the results depend on nothing but the cases.
    """

    seed: int = 0
    seconds: float | None = None
    cases: int | None = None
    first: int = 0
    case_limit: float | None = None


class _OutOfTimeError(BaseException):
    """A case used its processor time; no `except Exception` of the code under test may catch it."""


def run(name: str, effort: Effort, *, workers: int = 1) -> Tally:
    """Run one generator and return its results.

    Args:
        name: the generator's name in the registry.
        effort: how long it runs.
        workers: the number of processes that share the cases; 1 runs them in this process.
    """
    if workers == 1:
        return _run_share(name, effort, 0, 1)
    total = Tally(name, effort.seed)
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for tally in pool.starmap(_run_share, [(name, effort, share, workers) for share in range(workers)]):
            total.add(tally)
    return total


def _run_share(name: str, effort: Effort, share: int, shares: int) -> Tally:
    tally = Tally(name, effort.seed)
    began = time.process_time()
    case = effort.first + share
    while effort.cases is None or case < effort.first + effort.cases:
        if effort.seconds is not None and time.process_time() - began >= effort.seconds:
            break
        _try_case(name, effort, case, tally)
        case += shares
    tally.seconds = time.process_time() - began
    return tally


def _try_case(name: str, effort: Effort, case: int, tally: Tally) -> None:
    tally.case = case
    tally.inputs += 1
    try:
        with _processor_time(effort.case_limit):
            GENERATORS[name](random.Random(f"{effort.seed} {name} {case}"), tally)
    except LimitExceededError as error:
        tally.skip(f"limit exceeded: {error.what}")
    except _OutOfTimeError:
        tally.differ("out of time", "", "", "", f"the case used {effort.case_limit} s of processor time")
    except Exception as error:  # noqa: BLE001 - an exception in one case is a finding, and the other cases go on
        place = traceback.extract_tb(error.__traceback__)[-1]
        detail = f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})"
        tally.differ("exception", "", "", "", detail)


@contextmanager
def _processor_time(limit: float | None) -> Iterator[None]:
    """Raise `_OutOfTimeError` when the process has used this many seconds, where the system has such a timer."""
    if limit is None or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
