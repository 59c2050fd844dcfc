"""A random user: types, steps, branches, breaks and mends, closes and reopens, kills a process; nothing breaks.

After every action everything settles, and the invariants are checked. A failure
says which seed it was and what was done. RANDOM_USER_SECONDS makes the walk
longer, RANDOM_USER_SEED takes another one, RANDOM_USER_LOG names a file that every action is
written to before it is done, RANDOM_USER_FIGURES one for memory, descriptors, processes and stalls;
with RANDOM_USER_WINDOW_SECONDS a window lives longer, and a server of its own is attached to at times.

Rejected: hypothesis' state machine. It shrinks by running an example hundreds of
times, and each needs a window and three processes; and what a window does depends
on time, so a smaller example often fails no more. A seed and a log serve better.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtTest import QTest

from tests.app.user.actions import WEIGHTED, leave_dialogs, open_late_panes
from tests.app.user.invariants import check
from tests.app.user.own_window import OwnWindow
from tests.app.user.recorder import Recorder, slope

SECONDS = float(os.environ.get("RANDOM_USER_SECONDS", "30"))
SEED = int(os.environ.get("RANDOM_USER_SEED", "4"))
LOG = os.environ.get("RANDOM_USER_LOG", "")
FIGURES = os.environ.get("RANDOM_USER_FIGURES", "")
WINDOW_SECONDS = float(os.environ.get("RANDOM_USER_WINDOW_SECONDS", "90"))
"""After this another window opens, so that what grows is not all that is tested."""


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(SECONDS + 240)
def test_a_random_user_breaks_nothing(qtbot, qtlog, tmp_path, monkeypatch):
    end = time.monotonic() + SECONDS
    seed = SEED
    recorder, actions = (Recorder() if FIGURES else None), Counter[str]()
    try:
        while time.monotonic() < end:
            desk = OwnWindow(qtbot, qtlog, tmp_path, random.Random(seed), monkeypatch)
            walk(desk, seed, min(end, time.monotonic() + WINDOW_SECONDS), actions)
            seed += 1
    finally:
        if recorder is not None:
            recorder.write(Path(FIGURES), actions)


def test_a_slope_has_an_interval():
    noise, hours = random.Random(1), [second / 3600 for second in range(200)]
    steady = slope(list(range(200)), [7.0 + noise.gauss(0, 1) for _ in range(200)])
    growing = slope(list(range(200)), [7.0 + 5 * hour for hour in hours])
    assert steady[1] < 0 < steady[2]
    assert growing == pytest.approx((5, 5, 5))


def walk(desk: OwnWindow, seed: int, end: float, actions: Counter[str]) -> None:
    """Act at random until it is time; close the window whatever happens.

    Args:
        desk: the window.
        seed: the seed of the actions.
        end: the time of the monotonic clock.
        actions: counts what is done.
    """
    rng = random.Random(seed)
    done: list[str] = []
    acts = [action for _, action in WEIGHTED]
    weights = [weight for weight, _ in WEIGHTED]
    try:
        open_late_panes(desk, rng)
        desk.settle()
        while time.monotonic() < end:
            (act,) = rng.choices(acts, weights)
            done.append(act.__name__)
            actions[act.__name__] += 1
            if LOG:
                with Path(LOG).open("a") as log:  # a crash of the process leaves nothing else
                    log.write(f"{seed} {len(done)} {act.__name__}\n")
            act(desk, rng)
            leave_dialogs(desk, rng)
            desk.settle()
            QTest.qWait(0)
            check(desk)
    except Exception as error:
        where = f"seed {seed}, action {len(done)} ({done[-1:]})"
        raise AssertionError(f"{where}: {error}\n… {' '.join(done[-40:])}\n{desk.state()}") from error
    finally:
        desk.close()
