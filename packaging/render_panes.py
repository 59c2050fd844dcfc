"""Draws the manual's picture of each pane: the real window with real workers, offscreen, in the light theme.

    .venv/bin/python packaging/render_panes.py [FOLDER]

The model is a bundled one, so the pictures come out alike everywhere but for the fonts. Look at them before they are
committed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from real_window import ROOT, real_windows, wait

PICTURES: Final = ROOT / "resources" / "manual" / "pictures"
SIZE: Final = (1280, 900)
SETTLE_MS: Final = 3_000
STEPS: Final = 14
BOTTOM_HEIGHT: Final = 340
PROMPT: Final = "A character named Paul, aged 20, as JSON:\n"
SCHEMA: Final = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "weapon": {"enum": ["sword", "bow", "crossbow"]},
    },
    "required": ["name", "age", "weapon"],
    "additionalProperties": False,
}

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.window.main_window import MainWindow


def prepare(window: MainWindow) -> None:
    """Open a schema with a model, test strings and a sample, and take some steps."""
    from app.document import DocumentFile, GrammarPart, ModelPart
    from engine.document.content import ExpectedText

    complete = '{"name": "Ada", "age": 36, "weapon": "bow"}'
    document = DocumentFile(
        title="A person",
        grammar=GrammarPart("json_schema", json.dumps(SCHEMA, indent=2)),
        model=ModelPart("records"),
        prompt=PROMPT,
        test_strings=(
            ExpectedText(complete),
            ExpectedText('{"name": "Ada", "age": 136, "weapon": "bow"}', accepts=False),
            ExpectedText('{"name": "Ada"}'),
        ),
        sample=f'{complete}\n{{"name": "Ada", "age": 36, "weapon": "axe"}}\n',
    )
    window.session.document.replace(document)
    decoding = window.session.decoding
    wait(lambda: not window.session.step_refusal, SETTLE_MS)
    for taken in range(STEPS):
        decoding.step()
        wait(lambda taken=taken: len(decoding.view.trace.path) > taken, 0)  # type: ignore[misc]


def enlarge_bottom(window: MainWindow) -> None:
    """Give the bottom panel room for what it shows."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QSplitter

    for splitter in window.dock_layout.findChildren(QSplitter, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if splitter.orientation() == Qt.Orientation.Vertical:
            splitter.setSizes([splitter.height() - BOTTOM_HEIGHT, BOTTOM_HEIGHT])


def compare_engines(view: QWidget) -> None:
    """Press *Compare* of the pane *Engines*, and wait until it can be pressed again."""
    from PySide6.QtWidgets import QPushButton

    button = view.findChild(QPushButton, "engines-compare")
    if button is not None and button.isEnabled():
        before = button.text()
        button.click()
        wait(lambda: button.isEnabled() and button.text() == before, SETTLE_MS)


def main(folder: Path) -> None:
    """Draw each pane."""
    from app.pane_spec import Area

    folder.mkdir(parents=True, exist_ok=True)
    for _, window in real_windows(*SIZE, looks=("light",)):
        prepare(window)
        for spec in window.panes.specs:
            view = window.panes.view(spec.id)
            window.reveal(view)
            if spec.area is Area.BOTTOM:
                enlarge_bottom(window)
            wait(lambda: True, SETTLE_MS)
            compare_engines(view)
            picture = folder / f"{spec.id}.png"
            view.grab().save(str(picture))
            print(picture)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
