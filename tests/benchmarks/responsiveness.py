"""How soon the window answers, and how long it ever stands still: milliseconds, in a whole window with its workers.

    python tests/benchmarks/responsiveness.py [runs]

Latencies are medians of `runs`: from a key in the editor to the painted squiggle, and from Step to the painted chip.
Standstills are the longest one of each kind of work, less what the machine took for others. The model is one of the
tests', which costs nothing, and the window is painted offscreen.
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from model_doubles import decode_handler  # noqa: E402 - after the path to it
from PySide6.QtCore import QEvent, QEventLoop, QObject  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import QApplication, QWidget  # noqa: E402
from watchdog import Watchdog  # noqa: E402

from app import theme  # noqa: E402
from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart  # noqa: E402
from app.session import Groups, Session  # noqa: E402
from app.session.compiling import DEBOUNCE_MS  # noqa: E402
from app.settings import Settings  # noqa: E402
from app.window.main_window import MainWindow  # noqa: E402

LARGE = "[ab]*a[ab]{10}"  # 2,048 states
LARGE_UTF8 = "(?:[é-ü]|x)*[é-ü](?:[é-ü]|x){9}"  # 1,536 states, a third of them within characters
TOKENS = (300, 1_000)


class Desk:
    """A window, and what to wait for in it."""

    def __init__(self, folder: Path, app: QApplication) -> None:
        self.app = app
        theme.apply(app, "light")
        self.document = Document(Autosave(folder / "autosave"))
        self.session = Session(self.document, Groups(decode_handler=decode_handler))
        self.window = MainWindow(self.session, Settings(folder / "preferences.json"))
        self.window.resize(1600, 1000)
        self.window.show()
        self.session.start()

    def open(self, text: str) -> None:
        """Show another document, and wait until it can be stepped and is drawn."""
        grammar, model = GrammarPart(text=text), ModelPart("letters")
        self.document.replace(DocumentFile(grammar=grammar, model=model, max_tokens=2_000))
        self.until(lambda: self.session.decoding.view.grammar_revision == self.document.revision)
        self.until(lambda: not self.session.step_refusal)
        QTest.qWait(600)

    def until(self, condition: Callable[[], bool]) -> None:
        """Let the window work until something is so."""
        end = time.monotonic() + 120
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("what was waited for did not come")
            self.app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
            time.sleep(0.0002)


class Paints(QObject):
    """Counts the paints of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Let it pass, and count it."""
        self.count += event.type() == QEvent.Type.Paint
        return False


def key_to_squiggle(desk: Desk, runs: int) -> float:
    """From a key that breaks the pattern to the paint with its squiggle."""
    desk.open("[A-Z]+: [a-z]+")
    edit = desk.window.panes.editor.edit
    edit.setFocus()
    paints, found = Paints(edit.viewport()), []
    diagnosed = desk.session.compiling.diagnosed
    diagnosed.connect(lambda findings, _source: found.append((len(findings), paints.count)))
    times = []
    for _ in range(runs):
        found.clear()
        begun = time.perf_counter()
        QTest.keyClicks(edit, "(")
        desk.until(lambda: bool(found) and found[-1][0] > 0 and paints.count > found[-1][1])
        times.append((time.perf_counter() - begun) * 1000)
        edit.undo()
        desk.until(lambda: found[-1][0] == 0)
        QTest.qWait(100)
    return statistics.median(times)


def step_to_chip(desk: Desk, runs: int) -> float:
    """From Step to the paint with its chip."""
    desk.open("[a-z]*")
    paints, seen = Paints(desk.window.panes.generation.output.chips.viewport()), []
    desk.session.decoding.viewed.connect(lambda view: seen.append((len(view.trace.path), paints.count)))
    times = []
    for taken in range(runs):
        begun = time.perf_counter()
        desk.window.commands["run.step"].trigger()
        desk.until(lambda: bool(seen) and seen[-1][0] > taken and paints.count > seen[-1][1])  # noqa: B023 - run at once
        times.append((time.perf_counter() - begun) * 1000)
        QTest.qWait(50)
    return statistics.median(times)


def standstill(work: Callable[[], None]) -> float:
    """The longest time that the event loop stood still during some work."""
    watchdog = Watchdog()
    watchdog.start()
    work()
    watchdog.stop()
    return watchdog.longest_ms


def draw(desk: Desk, text: str) -> None:
    """Edit the grammar, and wait until its automaton is drawn."""
    answers: list[object] = []
    heard = desk.session.compiling.laid_out.connect(answers.append)
    desk.document.set_text(text)
    desk.until(lambda: bool(answers))
    QTest.qWait(200)
    desk.session.compiling.laid_out.disconnect(heard)


def run(desk: Desk) -> None:
    """Run to the end."""
    desk.session.decoding.run()
    desk.until(lambda: not desk.session.decoding.is_running)


def main() -> None:
    """Print the figures."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    app = QApplication([])
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), app)
        desk.open("a")
        gc.freeze()  # as the window does once it stands
        say("key to squiggle", key_to_squiggle(desk, runs), f"of which {DEBOUNCE_MS} are the wait for further keys")
        say("step to chip", step_to_chip(desk, runs))
        for text in (LARGE, LARGE_UTF8):
            desk.open("a")
            took = standstill(lambda: draw(desk, text))  # noqa: B023 - run at once
            drawn = desk.session.compiling.good
            assert drawn is not None
            say(f"standstill, {len(drawn.dfa.states):,} states arrive", took)
        for tokens in TOKENS:
            desk.open(f"[a-z]{{{tokens}}}")
            say(f"standstill, {tokens:,} tokens run", standstill(lambda: run(desk)))
        say("standstill, another theme", standstill(lambda: theme.apply(app, "dark")))
        desk.window.close_without_asking()


def say(what: str, milliseconds: float, remark: str = "") -> None:
    """Print a figure."""
    print(f"{what:<40} {milliseconds:6.0f} ms  {remark}".rstrip(), flush=True)  # noqa: T201 - a script for people


if __name__ == "__main__":
    main()
