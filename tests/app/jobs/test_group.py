import contextlib
import errno
import multiprocessing.process
import os
import signal
from types import SimpleNamespace

import psutil
import pytest
from PySide6.QtCore import QObject, Signal
from shiboken6 import delete

from app.jobs import KILLED_AFTER_GRACE, JobGroup, Loss, Policy
from app.jobs.link import WorkerLink
from app.workers.protocol import Began, Cancelled, Refusal, Reply
from tests.app.jobs.worker_doubles import (
    Annotate,
    Beside,
    Die,
    DoubleHandler,
    Echo,
    Fail,
    OpenedBy,
    OpenGate,
    Refuse,
    Remark,
    Sleep,
    Twice,
)

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


class Client(QObject):
    """Asks a group, and keeps what comes back."""

    def __init__(self, group):
        super().__init__(group)
        self.group = group
        self.got = []
        self.lost = []

    def ask(self, request):
        """Send a request; `lost` receives it with the cause if there is no answer."""
        asked = self.group.ask(request, self)
        return asked.then(self.got.append).lost(lambda lost: self.lost.append((request, lost.cause)))


def test_answers_come_in_order(group, qtbot):
    client = Client(group)
    for i in range(3):
        client.ask(Echo(i))
    qtbot.waitUntil(lambda: client.got == [0, 1, 2])
    assert group.pending == ()


def test_slots_are_called_in_order_and_not_after_the_deletion_of_their_receiver(group, qtbot):
    client, kept, called = Client(group), Client(group), []
    client.ask(Echo(1)).then(lambda _answer: called.append("second")).then(lambda _answer: called.append("third"))
    qtbot.waitUntil(lambda: called == ["second", "third"])
    assert client.got == [1]
    client.ask(Echo(2))
    client.ask(Fail())
    delete(client)
    with qtbot.waitSignal(group.failed):
        kept.ask(Echo(3))
    qtbot.waitUntil(lambda: kept.got == [3])
    assert (client.got, client.lost) == ([1], [])


def test_an_intermediate_answer_goes_to_its_own_slots(group, qtbot):
    client, reported = Client(group), []
    client.ask(Twice("a")).reported(reported.append)
    client.ask(Twice("b"))
    qtbot.waitUntil(lambda: client.got == ["a", "b"])
    assert reported == ["a"]


def test_a_refusal_is_no_answer_and_gives_its_reason(group, qtbot):
    client, reasons = Client(group), []
    with qtbot.waitSignal(group.refused) as blocker:
        client.ask(Refuse()).lost(lambda lost: reasons.append(lost.why))
    assert blocker.args == [Refusal("not now")]
    assert (client.got, client.lost, reasons) == ([], [(Refuse(), Loss.REFUSED)], ["not now"])


def test_a_bug_in_a_job_is_told_and_costs_no_other_job(group, qtbot):
    client, failures = Client(group), []
    with qtbot.waitSignal(group.failed) as blocker:
        client.ask(Fail()).failed(failures.append)
    assert failures == [blocker.args[1]]
    assert "ZeroDivisionError: as asked" in blocker.args[1].summary
    assert "Traceback" in blocker.args[1].traceback
    client.ask(Echo("still here"))
    qtbot.waitUntil(lambda: client.got == ["still here"])


def test_a_request_is_opened_by_the_thread_that_does_it(group, qtbot):
    client = Client(group)
    client.ask(OpenedBy())
    qtbot.waitUntil(lambda: client.got == ["MainThread"])


def test_a_request_that_cannot_be_opened_is_told_and_costs_no_other_job(group, qtbot):
    client = Client(group)
    with qtbot.waitSignal(group.failed) as blocker:
        client.ask(OpenedBy(allowed=False))
    assert "ImportError: not to be opened" in blocker.args[1].summary
    assert group.pending == ()
    client.ask(Echo("still here"))
    qtbot.waitUntil(lambda: client.got == ["still here"])


def test_a_job_can_run_beside_others_and_is_cancelled(group, qtbot):
    client = Client(group)
    with qtbot.waitSignal(group.progressed):
        client.ask(Beside())
    client.ask(Echo(1))
    qtbot.waitUntil(lambda: client.got == [1])
    group.cancel(lambda request: isinstance(request, Beside))
    assert group.pending == ()
    qtbot.waitUntil(lambda: client.lost == [(Beside(), Loss.CANCELLED)])


def test_a_prepared_job_is_done_by_the_main_thread_so_that_no_answer_overtakes_a_newer_one(group, qtbot):
    client = Client(group)
    with qtbot.waitSignal(group.progressed):
        client.ask(Beside())
    client.ask(OpenGate())
    qtbot.waitUntil(lambda: client.got == ["open", "MainThread"])


def test_a_new_request_cancels_the_older_one_politely(exclusive, qtbot):
    client = Client(exclusive)
    with qtbot.waitSignal(exclusive.progressed):
        client.ask(Sleep("old"))
    pid = exclusive.pid
    client.ask(Sleep("new"))
    qtbot.waitUntil(lambda: client.lost == [(Sleep("old"), Loss.CANCELLED)])
    exclusive.cancel()
    qtbot.waitUntil(lambda: client.lost[1:] == [(Sleep("new"), Loss.CANCELLED)])
    client.ask(Echo("after"))
    qtbot.waitUntil(lambda: client.got == ["after"])
    assert exclusive.pid == pid


def test_a_stubborn_job_costs_the_process_and_the_new_request_is_sent_again(impatient, qtbot):
    client = Client(impatient)
    with qtbot.waitSignal(impatient.progressed):
        client.ask(Sleep("stubborn", stubborn=True))
    first = impatient.pid
    client.ask(Echo("different type, not replaced"))
    client.ask(Sleep("polite"))
    qtbot.waitUntil(lambda: client.got == ["different type, not replaced"])
    assert impatient.pid != first
    assert not is_running(first)
    assert client.lost == [(Sleep("stubborn", stubborn=True), Loss.CANCELLED)]
    assert impatient.pending == (Sleep("polite"),)


class LinkDouble(QObject):
    """Notes what a group does with its process, and whom it calls once it has read what has arrived."""

    received, died = Signal(object), Signal(int)

    def __init__(self, _name, _make_handler, parent):
        super().__init__(parent)
        self.sent, self.restarts, self.calls = [], 0, []

    def send(self, message):
        self.sent.append(message)

    def after_arrived(self, then):
        self.calls.append(then)

    def restart(self):
        self.restarts += 1


def test_an_answer_that_waits_to_be_read_at_the_end_of_the_grace_saves_the_process(qtbot, monkeypatch):
    links = []
    monkeypatch.setattr("app.jobs.group.WorkerLink", lambda *given: links.append(LinkDouble(*given)) or links[0])
    group = JobGroup("double", DoubleHandler, Policy(exclusive=False, grace_ms=0))
    link, client = links[0], Client(group)
    for number in range(2):
        client.ask(Echo(number))
        link.received.emit(Began(number))
        group.cancel()
        qtbot.waitUntil(lambda: len(link.calls) == 1)
        if number == 0:
            link.received.emit(Reply(number, Cancelled(), True))
        link.calls.pop()()
        assert link.restarts == number
    assert client.lost == [(Echo(0), Loss.CANCELLED), (Echo(1), Loss.CANCELLED)]


def test_a_link_calls_after_what_has_arrived_unless_its_process_is_gone(qtbot):
    link, heard = WorkerLink("double", DoubleHandler), []
    link.received.connect(heard.append)
    link.after_arrived(lambda: heard.append("without a process"))
    link.start()
    link.after_arrived(lambda: heard.append("before the restart"))
    link.restart()
    link.after_arrived(lambda: heard.append("after"))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == ["after"]
    link.close()


def test_a_stateful_process_that_does_not_stop_is_lost_with_its_jobs(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=False, grace_ms=100, stateful=True))
    client = Client(group)
    with qtbot.waitSignal(group.progressed):
        client.ask(Sleep("stubborn", stubborn=True))
    client.ask(Echo("needs the state"))
    with qtbot.waitSignal(group.died) as blocker:
        group.cancel(lambda request: isinstance(request, Sleep))
    assert blocker.args == [KILLED_AFTER_GRACE, (Echo("needs the state"),), True]
    assert client.lost == [
        (Sleep("stubborn", stubborn=True), Loss.CANCELLED),
        (Echo("needs the state"), Loss.DIED),
    ]
    client.ask(Echo("after"))
    qtbot.waitUntil(lambda: client.got == ["after"])
    group.close()


def test_a_cancelled_job_that_has_not_begun_is_skipped(group, qtbot):
    client = Client(group)
    with qtbot.waitSignal(group.progressed):
        client.ask(Sleep("first"))
    client.ask(Echo("never"))
    group.cancel()
    client.ask(Echo("last"))
    qtbot.waitUntil(lambda: client.got == ["last"])


def test_a_killed_process_is_told_restarted_and_serves_again(group, qtbot):
    client = Client(group)
    with qtbot.waitSignal(group.progressed):
        client.ask(Sleep("lost"))
    with qtbot.waitSignal(group.died) as blocker:
        os.kill(group.pid, signal.SIGKILL)
    exit_code, lost, restarted = blocker.args
    assert (exit_code, lost, restarted) == (-signal.SIGKILL, (Sleep("lost"),), True)
    assert client.lost == [(Sleep("lost"), Loss.DIED)]
    client.ask(Echo("again"))
    qtbot.waitUntil(lambda: client.got == ["again"])


def test_a_process_that_dies_at_once_again_waits_for_the_user(group, qtbot, monkeypatch):
    monkeypatch.setattr("app.jobs.group.time", SimpleNamespace(monotonic=lambda: 100.0))  # both die at one moment
    client = Client(group)
    with qtbot.waitSignal(group.died):
        client.ask(Die())
    with qtbot.waitSignal(group.died) as blocker:
        client.ask(Die())
    assert blocker.args[2] is False
    assert group.pid is None
    group.restart()
    client.ask(Echo("back"))
    qtbot.waitUntil(lambda: client.got == ["back"])


def test_a_job_beyond_the_limit_fails_and_the_next_is_served(qtbot):
    group = JobGroup("double", DoubleHandler, Policy(exclusive=True, grace_ms=100, limit_ms=500, unlimited=(Echo,)))
    client = Client(group)
    with qtbot.waitSignal(group.failed) as blocker:
        client.ask(Sleep("late", stubborn=True))
    assert blocker.args[0] == Sleep("late", stubborn=True)
    assert client.lost == [(Sleep("late", stubborn=True), Loss.FAILED)]
    client.ask(Echo("next"))
    qtbot.waitUntil(lambda: client.got == ["next"])
    group.close()


def test_a_request_that_fails_is_replaced_by_its_fallback_once(group, qtbot):
    client, failures = Client(group), []
    with qtbot.assertNotEmitted(group.failed):
        client.ask(Fail()).otherwise(Echo("instead")).failed(failures.append)
        qtbot.waitUntil(lambda: client.got == ["instead"])
    with qtbot.waitSignal(group.failed):
        client.ask(Fail()).otherwise(Fail()).failed(failures.append)
    assert (client.lost, len(failures)) == ([(Fail(), Loss.FAILED)], 1)


def test_what_serves_where_another_was_too_slow_has_its_time(qtbot):
    policy = Policy(exclusive=True, grace_ms=100, limit_ms=50, unlimited=(Sleep,))
    group = JobGroup("double", DoubleHandler, policy)
    client, reports, failures = Client(group), [], []
    with qtbot.waitSignal(group.progressed) as blocker, qtbot.assertNotEmitted(group.failed, wait=300):
        client.ask(Sleep("late", stubborn=True)).progressed(reports.append).failed(failures.append)
    assert (reports, failures) == ([blocker.args[1]], [])
    group.close()


@pytest.mark.skipif(not hasattr(psutil.Process, "num_fds"), reason="Windows counts handles, not descriptors")
def test_restarts_leave_no_descriptor_open(group, qtbot):
    client, this = Client(group), psutil.Process()
    counts = []
    for number in range(20):
        client.ask(Echo(number))
        qtbot.waitUntil(lambda: len(client.got) == 1)
        assert client.got.pop() == number
        counts.append(this.num_fds())
        group.restart()
    client.ask(Echo("last"))
    qtbot.waitUntil(lambda: client.got == ["last"])
    qtbot.waitUntil(lambda: this.num_fds() <= counts[0])  # once the last of them is buried


def test_a_process_that_cannot_be_started_is_reported_and_started_later(group, qtbot, monkeypatch):
    client = Client(group)
    start = multiprocessing.process.BaseProcess.start

    def refuse(process):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
    with qtbot.waitSignal(group.died):
        client.ask(Echo("lost"))
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start)
    group.restart()
    client.ask(Echo("served"))
    qtbot.waitUntil(lambda: "served" in client.got)


def test_closing_leaves_no_process(group, qtbot):
    with qtbot.waitSignal(group.progressed):
        Client(group).ask(Sleep("forever", stubborn=True))
    pid = group.pid
    group.close()  # waits two seconds at most, which a busy machine may exceed
    qtbot.waitUntil(lambda: not psutil.pid_exists(pid))


def test_an_idle_process_adds_notices_until_the_next_job(group, qtbot):
    """The next job cancels them, they begin again after it, and a bug in them ends nothing."""
    client, noticed = Client(group), []
    group.noticed.connect(noticed.append)
    client.ask(Annotate())
    for number in (1, 2, 3):
        qtbot.waitUntil(lambda number=number: noticed == [Remark(begun) for begun in range(1, number + 1)])
        assert group.pending == ()
        client.ask(Echo(number))
        qtbot.waitUntil(lambda number=number: client.got[1:] == [*range(1, number + 1)])
