"""Large fonts and scaled screens: nothing that is said is cut off, and the window is as sharp as the screen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from app import theme
from app.document import DocumentFile, GrammarPart, ModelPart

ROOT = Path(__file__).parents[3]
PAGES = ("view.tests", "view.timeline", "view.breakpoints", "view.twin", "view.generation")


def cut_off(top: QWidget) -> list[str]:
    """Buttons and one-line labels that are narrower than their text, but for those that shorten it themselves."""
    found = []
    for widget in top.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QAbstractButton | QLabel) or not widget.text():
            continue
        shortens = type(widget).__name__ in ("ElidedLabel", "SamplerButton") or widget.property("elided")
        wraps = isinstance(widget, QLabel) and widget.wordWrap()
        if shortens or wraps or widget.minimumSizeHint().width() == 0:
            continue
        if widget.width() < widget.sizeHint().width() - 2:
            found.append(f"{type(widget).__name__} {widget.text()!r}: {widget.width()} of {widget.sizeHint().width()}")
    return found


@pytest.mark.parametrize("points", [9.0, 13.0])
@pytest.mark.parametrize("size", [(1600, 1000), (1280, 720)], ids=str)
def test_no_text_is_cut_off(desk, monkeypatch, points, size):
    app = QApplication.instance()

    def large(size_offset=0.0, was=theme.ui_font):
        font = was()
        font.setPointSizeF(points + size_offset)
        return font

    monkeypatch.setattr(theme, "ui_font", large)
    theme.apply(app, "light")
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[ab]{2,5}c"), model=ModelPart("letters")))
    desk.settle()
    desk.window.commands["run.step"].trigger()
    desk.settle()
    desk.window.resize(*size)
    for page in PAGES:
        desk.window.commands[page].trigger()
        desk.qtbot.wait(30)
        assert (page, cut_off(desk.window)) == (page, [])
    monkeypatch.undo()
    theme.apply(app, "light")


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.5, 2.0])
def test_the_window_is_as_sharp_as_the_screen(tmp_path, scale):
    picture = tmp_path / "window.png"
    command = [sys.executable, "-m", "app.main", "--screenshot", str(picture), "--size", "1280x720"]
    told = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "QT_SCALE_FACTOR": str(scale), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    drawn = QImage(str(picture))
    assert (drawn.width(), drawn.height()) == (round(1280 * scale), round(720 * scale))
