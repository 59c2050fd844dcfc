"""The worker processes that tests are given, as the leak check and the death of one see them."""

import os
import signal
import time
from multiprocessing.context import BaseContext

import pytest
from leaks import Running, leaks

from app.jobs import link


@pytest.fixture
def context(ready_worker) -> BaseContext:
    if ready_worker is None:
        pytest.skip("nothing can be forked here")
    return ready_worker


def test_one_that_stays_is_a_leak(context):
    before = Running.now()
    worker = context.Process(target=time.sleep, args=(60,), daemon=True)
    worker.start()
    (line,) = leaks(before, grace=0.01)
    assert line.startswith(f"process {worker.pid}: ")
    os.kill(worker.pid, signal.SIGTERM)
    worker.join()
    assert worker.exitcode == -signal.SIGTERM
    assert leaks(before) == []


def test_a_window_gets_them(workers, context):
    assert link.CONTEXT is context


@pytest.mark.alone
def test_what_measures_the_event_loop_starts_its_own(workers):
    assert link.CONTEXT.get_start_method() == "spawn"
