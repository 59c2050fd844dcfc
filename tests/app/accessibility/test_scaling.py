"""Large fonts and scaled screens: nothing that is said is cut off, and the window is as sharp as the screen."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from app import theme
from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart

ROOT = Path(__file__).parents[3]
SMALL = (1280, 720)  # pixels of a laptop, or of a large screen at 200%
OPENERS = (
    "file.gallery",
    "file.export",
    "edit.palette",
    "edit.convert",
    "run.until",
    "run.processors",
    "tests.check",
    "help.keys",
)
PAGES = ("view.tests", "view.timeline", "view.breakpoints", "view.baseline", "view.generation")


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


@pytest.fixture
def with_font(monkeypatch):
    """A function that has the desktop ask for letters of another size."""
    app = QApplication.instance()

    def choose(points: float) -> None:
        def large(size_offset=0.0, was=theme.ui_font):
            font = was()
            font.setPointSizeF(points + size_offset)
            return font

        monkeypatch.setattr(theme, "ui_font", large)
        theme.apply(app, "light")

    yield choose
    monkeypatch.undo()
    theme.apply(app, "light")


@pytest.mark.parametrize("points", [9.0, 13.0])
def test_no_text_is_cut_off(desk, with_font, points):
    with_font(points)
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[ab]{2,5}c"), model=ModelPart("letters")))
    desk.settle()
    desk.window.commands["run.step"].trigger()
    desk.settle()
    for size in ((1600, 1000), SMALL):
        desk.window.resize(*size)
        for page in PAGES:
            desk.window.commands[page].trigger()
            desk.qtbot.turns()
            assert (size, page, cut_off(desk.window)) == (size, page, [])


@pytest.mark.parametrize("points", [9.0, 13.0])
def test_what_opens_over_the_window_fits_a_small_screen(desk, with_font, points):
    with_font(points)
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[ab]{2,5}c"), model=ModelPart("letters")))
    desk.settle()
    desk.window.resize(*SMALL)
    opened = []
    for command_id in OPENERS:
        desk.window.commands[command_id].trigger()
        desk.qtbot.turns()
        for top in QApplication.topLevelWidgets():
            if top is not desk.window and top.isVisible() and top.windowType() is not Qt.WindowType.ToolTip:
                opened.append(command_id)
                assert (command_id, top.width() <= SMALL[0], top.height() <= SMALL[1]) == (command_id, True, True)
                assert (command_id, cut_off(top)) == (command_id, [])
                top.close()
        desk.settle()
    desk.window.panes.generation.sampler.click()
    popover = desk.window.panes.generation.sampler.popover
    assert cut_off(popover) == []
    popover.close()
    assert sorted(set(opened)) == sorted(OPENERS)


@pytest.mark.parametrize(("points", "rows"), [(9.0, 6), (13.0, 4)])
def test_candidates_can_be_read_on_a_laptop_beside_the_tests(desk, with_font, points, rows):
    with_font(points)
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[a-z]{2,5}c"), model=ModelPart("letters")))
    desk.settle()
    desk.window.resize(*SMALL)
    for _ in range(3):
        desk.window.commands["run.step"].trigger()
        desk.settle()
    for greeting in desk.window.banners.banners:
        greeting.close_button.click()
    desk.wait(lambda: not desk.window.problem_folding.is_scheduled, "the bottom tabs have folded by themselves")
    table = desk.window.panes.generation.candidates.table
    for page in ("view.problems", "view.tests", "view.timeline", "view.breakpoints"):
        desk.window.commands[page].trigger()
        desk.qtbot.turns()
        assert desk.window.dock_layout.bottom_is_open
        desk.wait(lambda: table.viewport().height() >= rows * table.verticalHeader().defaultSectionSize(), page)


def is_elided(label: QLabel) -> bool:
    return label.isVisible() and label.fontMetrics().horizontalAdvance(label.text()) > label.contentsRect().width()


@pytest.mark.parametrize("points", [9.0, 13.0])
def test_the_status_bar_leaves_out_what_is_least_telling(desk, with_font, points):
    with_font(points)
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[a-z]{2,5}c"), model=ModelPart("letters")))
    desk.settle()
    line = desk.window.status_line
    for width, total in product((1280, 1000, 900), (None, 269_000_000)):
        desk.window.resize(width, 720)
        line.show_activity("Loading smollm2 · fetching weights" if total else "", 24_000_000, total)
        desk.wait(lambda: not any(map(is_elided, line.findChildren(QLabel))), "nothing is cut")
        labels = [label for label in line.findChildren(QLabel) if label.isVisible()]
        assert labels[-2 if total else -1].text().startswith(ui_text("window.status.no_end"))
        said = " · ".join(label.text() for label in labels)
        facts = labels[0].parentWidget().parentWidget()
        for full in line.texts[:3]:
            assert full in said or full in facts.toolTip()


@pytest.mark.slow
def test_the_window_is_as_sharp_as_the_screen(tmp_path):
    """At twice the size, too: there `test_main` plays the session."""
    scale = 1.5
    picture = tmp_path / "window.png"
    command = [sys.executable, "-m", "app.main", "--screenshot", str(picture), "--size", "1280x720"]
    told = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "QT_SCALE_FACTOR": str(scale), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    drawn = QImage(str(picture))
    assert (drawn.width(), drawn.height()) == (round(1280 * scale), round(720 * scale))
