"""A window in a process of its own that is typed into, or runs, without a pause, and says what it has got.

Every line of its output is one JSON value: the time on the system's monotonic clock, the text of the grammar, the
prompt as it is typed, and how many tokens there are. Whoever started it ends it as a test needs. With `recover` it
prints what is there after the start, and ends.
"""

# ruff: noqa: T201 - its output is what tests read

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TypedDict

ROOT = Path(__file__).resolve().parents[2]


class State(TypedDict):
    """What the window has got."""

    at: float
    text: str
    prompt: str
    tokens: int
    pipeline: list[str]
    banners: list[str]


def start(home: Path, what: str, *arguments: str) -> subprocess.Popen[str]:
    """Start the window; `what` is `type`, `prompt`, `run`, `pipeline`, `still` or `recover`."""
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")
    environment = {**os.environ, **{name: str(home) for name in names}, "QT_QPA_PLATFORM": "offscreen"}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(Path(__file__).parent)))
    command = [sys.executable, __file__, what, *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE)


def read(process: subprocess.Popen[str]) -> State:
    """Read the next line of a window."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the window ended with {process.wait()}"
    state: State = json.loads(line)
    return state


def kill(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> list[State]:
    """Send a signal, wait for the end, and return what the window said that was not read yet."""
    process.send_signal(number)
    assert process.stdout is not None
    rest = process.stdout.read()
    process.wait()
    process.stdout.close()
    return [json.loads(line) for line in rest.splitlines() if line.endswith("}")]


def recovered(home: Path, *arguments: str) -> State:
    """Start the window anew and return what it shows."""
    process = start(home, "recover", *arguments)
    state = read(process)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait() == 0
    return state


def main(what: str, path: str = "") -> int:  # noqa: PLR0915 - the composition of a whole window
    """Be the window."""
    from model_doubles import decode_handler
    from PySide6.QtCore import QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
    from app.jobs import GarbageCollector
    from app.session import Session, WorkerPool
    from app.settings import Settings
    from app.window.main_window import MainWindow
    from app.window.process_end import ProcessEnd
    from engine.decoding.pipeline_settings import PipelineSettings

    app = QApplication([])
    GarbageCollector(app)
    document = Document(Autosave())
    session = Session(document, WorkerPool(decode_handler=decode_handler))
    window = MainWindow(session, Settings())
    count, asked = iter(range(10**9)), list[str]()

    def say() -> None:
        box = window.panes.generation.prompt
        state: dict[str, Any] = {
            "at": time.monotonic(),
            "text": document.content.grammar.text,
            "prompt": box.prompt() if what == "prompt" else document.content.prompt,
            "tokens": len(document.content.trace.path),
            "pipeline": asked or list(document.content.pipeline.suppress),
            "banners": [banner.notification.text for banner in window.banners.banners],
        }
        print(json.dumps(state), flush=True)

    def act() -> None:
        match what:
            case "type":
                QTest.keyClicks(window.panes.editor.edit, "a")
            case "prompt":
                QTest.keyClicks(window.panes.generation.prompt.text, "a")
            case "pipeline":
                asked[:] = [f"a{next(count)}"]
                session.decoding.set_pipeline(PipelineSettings(suppress=tuple(asked)))
            case "run" if not session.decoding.is_running and not session.step_refusal:
                session.decoding.run()
        say()

    def begin() -> None:
        session.start()
        window.begin(Path(path) if path else None)
        if what == "recover":
            app.processEvents()
            say()
            window.close_without_asking()
            return
        if not path:
            grammar = GrammarPart("regex", "[a-z ]*")
            content = DocumentFile(title="Driven", grammar=grammar, model=ModelPart("endless"), max_tokens=100_000)
            document.replace(content)
        if what == "prompt":
            window.panes.generation.prompt.fold.setChecked(True)
        timer.start()

    timer = QTimer(interval=20)
    timer.timeout.connect(act)

    def end(name: str) -> None:
        timer.stop()  # what is typed after the signal is not at issue
        window.end(name)

    ProcessEnd(app, end, window.prepare_for_session_end)
    window.painted.connect(begin)
    window.show()
    return app.exec()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
