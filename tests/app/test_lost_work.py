"""Windows in processes of their own that are killed at their work, and what the next start shows."""

import signal
from pathlib import Path

import pytest
from catalogue_texts import shows
from driven_window import kill, read, recovered, start

from app.document import DocumentFile, GrammarPart
from engine.document.codec import encode

pytestmark = pytest.mark.slow

# what the window does without a pause → what must be in the autosave before it stops
WORK = {
    "type": lambda state: len(state["text"]) > 20,
    "prompt": lambda state: len(state["prompt"]) > 20,
    "run": lambda state: state["tokens"] > 20,
    "pipeline": lambda state: bool(state["pipeline"]),
}
LARGEST = {"type": "text", "prompt": "prompt", "run": "tokens", "pipeline": "pipeline"}


def autosaves(home: Path) -> list[Path]:
    return list(home.rglob("*.autosave"))


def work_until_saved(home, what):
    """Let a window work, until it has saved something while it went on; return it and what it had when it began to."""
    window = start(home, what)
    try:
        state = read(window)
        while not WORK[what](state):
            state = read(window)
        # Once more after this state: an autosave that waited for a pause would never come. The next one may have been
        # begun before the state, so it takes two.
        for _ in range(2):
            saved = {file.stat().st_mtime_ns for file in autosaves(home)}
            while {file.stat().st_mtime_ns for file in autosaves(home)} <= saved:
                read(window)
    except BaseException:
        kill(window)
        raise
    return window, state


@pytest.mark.parametrize("what", WORK)
def test_work_that_never_pauses_survives_kill_9(tmp_path, what):
    window, state = work_until_saved(tmp_path, what)
    kill(window)
    after, key = recovered(tmp_path), LARGEST[what]
    assert len(after[key]) >= len(state[key]) if what != "run" else after[key] >= state[key]
    assert any(shows(banner, "window.recovery.crashed") and "“Driven”" in banner for banner in after["banners"])
    assert what != "run" or any(f"with {after['tokens']} tokens" in banner for banner in after["banners"])


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signals")
@pytest.mark.parametrize(("what", "name"), [("type", "SIGTERM"), ("run", "SIGINT"), ("prompt", "SIGHUP")])
def test_a_signal_saves_everything_and_ends_cleanly(tmp_path, what, name):
    number = signal.Signals[name]
    previous = signal.signal(number, signal.SIG_DFL)  # a run of tests in the background is started without SIGINT
    try:
        window = start(tmp_path, what)
    finally:
        signal.signal(number, previous)
    state = read(window)
    while not WORK[what](state):
        state = read(window)
    states = [state, *kill(window, number)]
    assert window.returncode == 128 + number
    after = recovered(tmp_path)
    saved, reported = after[LARGEST[what]], states[-1][LARGEST[what]]
    assert saved >= reported if what == "run" else saved == reported  # a run may step once more behind its last report
    assert any(shows(banner, "window.recovery.signalled", signal=name) for banner in after["banners"]) or (
        what == "run"  # steps are no edit: they come back with what was open last, and there is nothing to say
    )
    assert autosaves(tmp_path) == []


def test_a_signal_that_was_ignored_at_the_start_stays_ignored(tmp_path):
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        window = start(tmp_path, "still")
    finally:
        signal.signal(signal.SIGINT, previous)
    read(window)
    window.send_signal(signal.SIGINT)
    for _ in range(10):
        read(window)
    kill(window, signal.SIGTERM)
    assert window.returncode == 128 + signal.SIGTERM


def test_the_file_that_is_asked_for_is_opened_and_recovered_work_is_offered(tmp_path):
    window, state = work_until_saved(tmp_path, "type")
    kill(window)
    asked = tmp_path / "asked.turnstile"
    asked.write_bytes(encode(DocumentFile(grammar=GrammarPart("regex", "asked for"))))
    shown = recovered(tmp_path, str(asked))
    assert shown["text"] == "asked for"
    assert any(shows(banner, "window.recovery.offered") and "“Driven”" in banner for banner in shown["banners"])
    later = recovered(tmp_path)  # nobody decided about it
    assert len(later["text"]) >= len(state["text"])
