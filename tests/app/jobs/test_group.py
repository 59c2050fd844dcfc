import contextlib
import errno
import multiprocessing.process
import os
import signal
from types import SimpleNamespace

import psutil
import pytest

from app.jobs import KILLED_AFTER_GRACE, JobGroup, Policy
from tests.app.jobs.worker_doubles import Beside, Die, DoubleHandler, Echo, Fail, OpenedBy, OpenGate, Sleep

LONG_MS = 60_000  # on a busy machine, too, who stops politely has stopped by then


@pytest.fixture
def group(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=False, grace_ms=LONG_MS))
    yield group
    group.close()
    assert group.pid is None


@pytest.fixture
def exclusive(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=True, grace_ms=LONG_MS))
    yield group
    group.close()


@pytest.fixture
def impatient(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=True, grace_ms=100))
    yield group
    group.close()


def is_running(pid: int) -> bool:
    """Return whether a process executes code; one that was killed may wait to be reaped."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_RUNNING
    return False


def answers(group):
    got = []
    group.answered.connect(lambda _request, answer: got.append(answer))
    return got


def test_answers_come_in_order(group, qtbot):
    got = answers(group)
    for i in range(3):
        group.submit(Echo(i))
    qtbot.waitUntil(lambda: got == [0, 1, 2])
    assert group.pending == ()


def test_a_bug_in_a_job_is_told_and_costs_no_other_job(group, qtbot):
    got = answers(group)
    with qtbot.waitSignal(group.failed) as blocker:
        group.submit(Fail())
    assert "ZeroDivisionError: as asked" in blocker.args[1].summary
    assert "Traceback" in blocker.args[1].traceback
    group.submit(Echo("still here"))
    qtbot.waitUntil(lambda: got == ["still here"])


def test_a_request_is_opened_by_the_thread_that_does_it(group, qtbot):
    got = answers(group)
    group.submit(OpenedBy())
    qtbot.waitUntil(lambda: got == ["MainThread"])


def test_a_request_that_cannot_be_opened_is_told_and_costs_no_other_job(group, qtbot):
    got = answers(group)
    with qtbot.waitSignal(group.failed) as blocker:
        group.submit(OpenedBy(allowed=False))
    assert "ImportError: not to be opened" in blocker.args[1].summary
    assert group.pending == ()
    group.submit(Echo("still here"))
    qtbot.waitUntil(lambda: got == ["still here"])


def test_a_job_can_run_beside_others_and_is_cancelled(group, qtbot):
    got = answers(group)
    with qtbot.waitSignal(group.reported):
        group.submit(Beside())
    group.submit(Echo(1))
    qtbot.waitUntil(lambda: got == [1])
    with qtbot.waitSignal(group.cancelled):
        group.cancel(lambda request: isinstance(request, Beside))
    assert group.pending == ()


def test_a_prepared_job_is_done_by_the_main_thread_so_that_no_answer_overtakes_a_newer_one(group, qtbot):
    got = answers(group)
    with qtbot.waitSignal(group.reported):
        group.submit(Beside())
    group.submit(OpenGate())
    qtbot.waitUntil(lambda: got == ["open", "MainThread"])


def test_a_new_request_cancels_the_older_one_politely(exclusive, qtbot):
    got = answers(exclusive)
    with qtbot.waitSignal(exclusive.reported):
        exclusive.submit(Sleep("old"))
    pid = exclusive.pid
    with qtbot.waitSignal(exclusive.cancelled) as blocker:
        exclusive.submit(Sleep("new"))
    assert blocker.args == [Sleep("old")]
    with qtbot.waitSignal(exclusive.cancelled):
        exclusive.cancel()
    exclusive.submit(Echo("after"))
    qtbot.waitUntil(lambda: got == ["after"])
    assert exclusive.pid == pid


def test_a_stubborn_job_costs_the_process_and_the_new_request_is_sent_again(impatient, qtbot):
    got = answers(impatient)
    with qtbot.waitSignal(impatient.reported):
        impatient.submit(Sleep("stubborn", stubborn=True))
    first = impatient.pid
    impatient.submit(Echo("different type, not replaced"))
    with qtbot.waitSignal(impatient.cancelled):
        impatient.submit(Sleep("polite"))
    qtbot.waitUntil(lambda: got == ["different type, not replaced"])
    assert impatient.pid != first
    assert not is_running(first)
    assert impatient.pending == (Sleep("polite"),)


def test_a_stateful_process_that_does_not_stop_is_lost_with_its_jobs(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=False, grace_ms=100, stateful=True))
    cancelled, got = [], answers(group)
    group.cancelled.connect(cancelled.append)
    with qtbot.waitSignal(group.reported):
        group.submit(Sleep("stubborn", stubborn=True))
    group.submit(Echo("needs the state"))
    with qtbot.waitSignal(group.died) as blocker:
        group.cancel(lambda request: isinstance(request, Sleep))
    assert blocker.args == [KILLED_AFTER_GRACE, (Echo("needs the state"),), True]
    assert cancelled == [Sleep("stubborn", stubborn=True)]
    group.submit(Echo("after"))
    qtbot.waitUntil(lambda: got == ["after"])
    group.close()


def test_a_cancelled_job_that_has_not_begun_is_skipped(group, qtbot):
    got = answers(group)
    with qtbot.waitSignal(group.reported):
        group.submit(Sleep("first"))
    group.submit(Echo("never"))
    group.cancel()
    group.submit(Echo("last"))
    qtbot.waitUntil(lambda: got == ["last"])


def test_a_killed_process_is_told_restarted_and_serves_again(group, qtbot):
    got = answers(group)
    with qtbot.waitSignal(group.reported):
        group.submit(Sleep("lost"))
    with qtbot.waitSignal(group.died) as blocker:
        os.kill(group.pid, signal.SIGKILL)
    exit_code, lost, restarted = blocker.args
    assert (exit_code, lost, restarted) == (-signal.SIGKILL, (Sleep("lost"),), True)
    group.submit(Echo("again"))
    qtbot.waitUntil(lambda: got == ["again"])


def test_a_process_that_dies_at_once_again_waits_for_the_user(group, qtbot, monkeypatch):
    monkeypatch.setattr("app.jobs.group.time", SimpleNamespace(monotonic=lambda: 100.0))  # both die at one moment
    got = answers(group)
    with qtbot.waitSignal(group.died):
        group.submit(Die())
    with qtbot.waitSignal(group.died) as blocker:
        group.submit(Die())
    assert blocker.args[2] is False
    assert group.pid is None
    group.restart()
    group.submit(Echo("back"))
    qtbot.waitUntil(lambda: got == ["back"])


def test_a_job_beyond_the_limit_fails_and_the_next_is_served(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=True, grace_ms=100, limit_ms=500, unlimited=(Echo,)))
    got = answers(group)
    with qtbot.waitSignal(group.failed) as blocker:
        group.submit(Sleep("late", stubborn=True))
    assert blocker.args[0] == Sleep("late", stubborn=True)
    group.submit(Echo("next"))
    qtbot.waitUntil(lambda: got == ["next"])
    group.close()


def test_what_serves_where_another_was_too_slow_has_its_time(qtbot):
    policy = Policy(exclusive=True, grace_ms=100, limit_ms=50, unlimited=(Sleep,))
    group = JobGroup("double", DoubleHandler, policy)
    with qtbot.waitSignal(group.reported), qtbot.assertNotEmitted(group.failed, wait=300):
        group.submit(Sleep("late", stubborn=True))
    group.close()


@pytest.mark.skipif(not hasattr(psutil.Process, "num_fds"), reason="Windows counts handles, not descriptors")
def test_restarts_leave_no_descriptor_open(group, qtbot):
    got, this = answers(group), psutil.Process()
    counts = []
    for number in range(20):
        group.submit(Echo(number))
        qtbot.waitUntil(lambda: len(got) == 1)
        assert got.pop() == number
        counts.append(this.num_fds())
        group.restart()
    group.submit(Echo("last"))
    qtbot.waitUntil(lambda: got == ["last"])
    qtbot.waitUntil(lambda: this.num_fds() <= counts[0])  # once the last of them is buried


def test_a_process_that_cannot_be_started_is_reported_and_started_later(group, qtbot, monkeypatch):
    got = answers(group)
    start = multiprocessing.process.BaseProcess.start

    def refuse(process):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
    with qtbot.waitSignal(group.died):
        group.submit(Echo("lost"))
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start)
    group.restart()
    group.submit(Echo("served"))
    qtbot.waitUntil(lambda: "served" in got)


def test_closing_leaves_no_process(group, qtbot):
    with qtbot.waitSignal(group.reported):
        group.submit(Sleep("forever", stubborn=True))
    pid = group.pid
    group.close()  # waits two seconds at most, which a busy machine may exceed
    qtbot.waitUntil(lambda: not psutil.pid_exists(pid))
