"""A random user: types, steps, branches, breaks and mends, closes and reopens, kills a process; nothing breaks.

After every action everything settles, and the invariants are checked. A failure
says which seed it was and what was done. RANDOM_USER_SECONDS makes the walk
longer, RANDOM_USER_SEED takes another one, RANDOM_USER_LOG names a file that every action is
written to before it is done.

Rejected: hypothesis' state machine. It shrinks by running an example hundreds of
times, and each needs a window and three processes; and what a window does depends
on time, so a smaller example often fails no more. A seed and a log serve better.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from PySide6.QtTest import QTest

from tests.app.user.actions import WEIGHTED, leave_dialogs, open_late_panes
from tests.app.user.invariants import check
from tests.app.user.own_window import OwnWindow

SECONDS = float(os.environ.get("RANDOM_USER_SECONDS", "30"))
SEED = int(os.environ.get("RANDOM_USER_SEED", "4"))
LOG = os.environ.get("RANDOM_USER_LOG", "")
_WINDOW_SECONDS = 90.0  # then another window: so that what grows is not all that is tested


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(SECONDS + 240)
def test_a_random_user_breaks_nothing(qtbot, qtlog, tmp_path, monkeypatch):
    end = time.monotonic() + SECONDS
    seed = SEED
    while time.monotonic() < end:
        desk = OwnWindow(qtbot, qtlog, tmp_path, random.Random(seed), monkeypatch)
        walk(desk, seed, min(end, time.monotonic() + _WINDOW_SECONDS))
        seed += 1


def walk(desk: OwnWindow, seed: int, end: float) -> None:
    """Act at random until it is time; close the window whatever happens."""
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
