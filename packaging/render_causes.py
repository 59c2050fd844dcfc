"""Draws the output check for every cause of the manual's page of causes, in light and dark, to be looked at.

    .venv/bin/python packaging/render_causes.py FOLDER

The window has real workers and the bundled model with a token for every byte. The pictures are not committed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S, SETTLED_TURNS, TURN_MS = 60, 40, 10


def turn() -> None:
    """Let the event loop run; only briefly, since a wait of Qt keeps Python's other threads from running."""
    from PySide6.QtTest import QTest

    QTest.qWait(TURN_MS)


def wait(condition: Callable[[], bool]) -> None:
    """Let the event loop run until the condition holds, and then until the dialog has settled."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("a dialog did not come to the state to be drawn")
        turn()
    for _ in range(SETTLED_TURNS):
        turn()


def main(folder: Path) -> None:
    """Draw them all, and print the cause, the seconds and the sentence of each."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
    from app.session import Session, WorkerPool
    from app.settings import BYTE_MODEL, Settings
    from app.window.main_window import MainWindow
    from engine.diagnosis.failures.diagnosis import Cause
    from resources.manual.write_causes import example_case

    app = QApplication(sys.argv[:1])
    folder.mkdir(parents=True, exist_ok=True)
    for look in ("light", "dark"):
        theme.apply(app, look)
        with tempfile.TemporaryDirectory() as home:
            document = Document(Autosave(Path(home, "autosave")), app)
            window = MainWindow(Session(document, WorkerPool(app), app), Settings(Path(home, "preferences.json")))
            window.resize(1280, 720)
            window.show()
            window.begin(None)
            for cause in Cause:
                case = example_case(cause)
                if case is None or not case.constraints:
                    continue
                grammar = GrammarPart(case.constraints[0].notation, case.constraints[0].text)
                start = time.monotonic()
                document.replace(DocumentFile(title=cause, grammar=grammar, model=ModelPart(spec=BYTE_MODEL)))
                window.output_check.check_case(case)
                dialog = window.output_check.open()
                wait(dialog.cause.isVisible)
                dialog.grab().save(str(folder / f"{cause}-{look}.png"))
                print(f"{dialog.cause.text()} {time.monotonic() - start:.2f} s: {dialog.sentence}")
                dialog.reject()
            window.close_without_asking()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
