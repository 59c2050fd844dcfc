"""Draws the pictures of the README: the real window with real workers, offscreen, in light and dark.

    .venv/bin/python packaging/render_screenshots.py [FOLDER]

Three states: the first one, a broken pattern (the last good automaton stays,
greyed), and SmolLM2 mid-step, which is fetched once if it is not there yet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from real_window import ROOT, real_windows
from real_window import wait as wait_and_settle

PICTURES = ROOT / "resources" / "screenshots"
SIZE = (1600, 1000)
SETTLE_MS = 1_500  # the drawing's layout, and the problems that unfold a little later
RECORD = r'\{"name": "[A-Z][a-z]{1,15}", "age": ([1-9]|[1-9][0-9]|1[01][0-9])\}'
PROMPT = "A character named Paul, aged 20, as JSON:"
STEPS = 7

if TYPE_CHECKING:
    from app.window.main_window import MainWindow


def wait(condition: Callable[[], bool]) -> None:
    """Let the window live until the condition holds."""
    wait_and_settle(condition, SETTLE_MS)


def first(window: MainWindow) -> None:
    """Three steps with the character model."""
    window.begin(None)
    decoding = window.session.decoding
    wait(lambda: len(decoding.view.trace.path) >= 3)


def broken(window: MainWindow) -> None:
    """The same, with a bracket deleted."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    edit = window.panes.editor.edit
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_End)
    for _ in range(3):
        QTest.keyClick(edit, Qt.Key.Key_Left)
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    wait(lambda: bool(window.session.compiling.stale_reason))


def smollm2(window: MainWindow) -> None:
    """A record, some tokens in."""
    from app.document import DocumentFile, GrammarPart, ModelPart

    session = window.session
    document = DocumentFile(
        title="A JSON record", grammar=GrammarPart(text=RECORD), model=ModelPart("smollm2"), prompt=PROMPT
    )
    session.document.replace(document)
    decoding = session.decoding
    wait(lambda: bool(decoding.view.model and decoding.view.model.spec == "smollm2" and not session.step_refusal))
    for taken in range(STEPS):
        decoding.step()
        wait(lambda taken=taken: len(decoding.view.trace.path) > taken)  # type: ignore[misc]


def main(folder: Path) -> None:
    """Draw all states in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    for look, window in real_windows(*SIZE):
        for state in (first, broken, smollm2):
            state(window)
            picture = folder / f"{state.__name__}-{look}.png"
            window.grab().save(str(picture))
            print(picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
