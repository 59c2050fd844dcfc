"""The progress line of the command line: on a terminal only, at most once per pause, and gone at the end."""

from __future__ import annotations

import io

import pytest

from engine.cli import output
from engine.cli.output import PAUSE_S, ProgressLine
from engine.source import CancelledError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(output.time, "monotonic", lambda: now[0])
    return now


def test_a_terminal_shows_each_stage_over_the_last_and_nothing_at_the_end(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with ProgressLine() as cancel:
        cancel.report("writing rules", 1, 2000)
        cancel.report("writing rules", 2, 2000)  # within the pause
        clock[0] += 2 * PAUSE_S
        cancel.report("states of rules", 1500)
        assert terminal.getvalue() == "\r\x1b[Kwriting rules: 1 of 2,000\r\x1b[Kstates of rules: 1,500"
    assert terminal.getvalue().endswith("1,500\r\x1b[K")


def test_the_line_goes_when_the_work_is_cancelled(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    def work():
        with ProgressLine() as cancel:
            cancel.report("drawing", 1)
            cancel.cancel()
            cancel.check()

    with pytest.raises(CancelledError):
        work()
    assert terminal.getvalue().endswith("drawing: 1\r\x1b[K")


def test_a_file_gets_no_progress(monkeypatch, clock):
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    with ProgressLine() as cancel:
        cancel.report("writing rules", 1, 2)
    assert file.getvalue() == ""


def test_work_without_a_report_leaves_the_terminal_alone(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with ProgressLine():
        pass
    assert terminal.getvalue() == ""
