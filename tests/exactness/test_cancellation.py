"""Heavy work looks at the cancel token often, and stops there; `python -m tests.exactness.cancellation` tries more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from engine import CancelledError, CancelToken, EngineError, Matcher, compile_grammar
from tests.exactness.cancellation import count_lines, most_lines, phases, small_vocabulary, wide_inputs

SIZE = 250
INPUTS = wide_inputs(SIZE)
SMALL_INPUTS = wide_inputs(150)
LINES = 400_000
"""Lines of one phase, after which it is cancelled."""


class CancelsItself(CancelToken):
    """Counts the looks at it, and is cancelled at one of them."""

    def __init__(self, cancel_at: int | None = None) -> None:
        super().__init__()
        self.looks = 0
        self._cancel_at = cancel_at

    def check(self) -> None:
        self.looks += 1
        if self.looks == self._cancel_at:
            self.cancel()
        super().check()


@pytest.fixture(scope="module", autouse=True)
def _vocabulary_is_ready() -> None:
    small_vocabulary()


@pytest.mark.parametrize("name", INPUTS)
def test_few_lines_run_between_two_looks_at_the_token(name: str) -> None:
    longest = {phase: count_lines(work, most=LINES).longest for phase, work in phases(*INPUTS[name])}
    assert max(longest.values()) <= most_lines(SIZE), f"{longest}; try --size {SIZE} --only {name!r}"


@pytest.mark.parametrize("name", SMALL_INPUTS)
def test_every_phase_stops_at_the_look_at_which_it_is_cancelled(name: str) -> None:
    for step in range(3):  # compile, first mask, completion
        total, answer = run(name, step, CancelsItself())
        for at in sorted({1, (total + 1) // 2, total} - {0}):
            token = CancelsItself(at)
            work = partial(run, name, step, token)
            assert stops(work) or token.looks < at  # fewer looks than before, with what the process shares
            assert token.looks <= at
        if answer is None:
            return


@pytest.mark.parametrize("name", SMALL_INPUTS)
def test_a_cancelled_mask_leaves_nothing_wrong_behind(name: str) -> None:
    total, expected = run(name, 1, CancelsItself())
    if expected is None or not total:
        return
    matcher, token = new_matcher(name), CancelsItself((total + 1) // 2)
    with token.scope():
        stops(matcher.bitmask)
    assert matcher.bitmask().tobytes() == expected


def stops(work: Callable[[], object]) -> bool:
    """Return whether the cancel token stops a piece of work."""
    try:
        work()
    except CancelledError:
        return True
    return False


def new_matcher(name: str) -> Matcher:
    return Matcher(compile_grammar(*SMALL_INPUTS[name]), small_vocabulary())


def run(name: str, step: int, token: CancelsItself) -> tuple[int, object]:
    """Run one phase; return how often it looked, and what came out, None where a limit stopped it."""
    answer: object = None
    try:
        if step == 0:
            answer = compile_grammar(*SMALL_INPUTS[name], cancel=token).fullmatch("")
        else:
            matcher = new_matcher(name)
            if step == 2:
                matcher.bitmask()
            with token.scope():
                answer = matcher.bitmask().tobytes() if step == 1 else matcher.shortest_completion(cancel=token)
    except CancelledError:
        raise
    except EngineError:
        pass
    return token.looks, answer
