"""Branches for macOS and Windows, with fakes: keys, display, child processes, long names, upper and lower case."""

import subprocess
import sys
from pathlib import Path

import pytest

from app import storage
from app.document import file
from app.entry import opens_window
from app.main import has_display
from engine.source import processes

TAKEN_BY_MACOS = {"Ctrl+H", "Ctrl+Space", "Ctrl+Tab", "Ctrl+Shift+3", "Ctrl+Shift+4", "Ctrl+Shift+5", "F11"}
"""Keys that never reach a window there; `Ctrl` is ⌘."""


def test_every_command_has_a_key_that_macos_leaves_to_the_window():
    lines = (Path(__file__).parent / "accessibility" / "menus.txt").read_text("utf-8").splitlines()  # all commands
    commands = [line.split(" | ") for line in lines if " | " in line]
    assert [name for name, *keys in commands if set(keys) <= TAKEN_BY_MACOS] == []


@pytest.mark.parametrize(("module", "name", "value"), [("sys", "platform", "darwin"), ("os", "name", "nt")])
def test_macos_and_windows_always_have_a_display(monkeypatch, module, name, value):
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(variable, raising=False)
    with monkeypatch.context() as changed:
        changed.setattr(f"app.main.{module}.{name}", value)
        found = has_display()
    assert found


@pytest.fixture
def started(monkeypatch):
    """The command line and the options of the child processes that are started; none is."""
    seen = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: seen.append((command, options)))
    return seen


def test_a_child_opens_no_console_on_windows(monkeypatch, started):
    monkeypatch.setattr(subprocess, "CREATE_NO_WINDOW", 0x08000000, raising=False)
    processes.start_python(["-c", "pass"])
    assert started[0][1]["creationflags"] == 0x08000000


def test_a_child_of_a_bundle_is_the_program_itself(monkeypatch, started):
    monkeypatch.setattr(sys, "executable", "/opt/turnstile/turnstile")
    processes.start_python(["script.py", "word"])
    assert started[0][0] == ["/opt/turnstile/turnstile", "-P", "script.py", "word"]


def test_without_limits_of_the_system_nothing_is_limited(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    processes.limit_memory(1)
    assert processes.resident_bytes() is None


def test_case_does_not_matter_in_the_names_of_files():
    assert opens_window(["C:\\Users\\ANN\\WORK.TURNSTILE"])
    assert file.is_document(Path("WORK.TURNSTILE"))
    assert file.is_grammar(Path("RULES.GBNF"))


def test_a_long_name_is_short_enough_for_every_file_system(tmp_path):
    path = tmp_path / f"{'n' * 240}.json"
    storage.write_atomically(path, b"{")
    assert storage.set_aside(path)
    (aside,) = tmp_path.iterdir()
    assert len(aside.name) < 140
