"""How the output and the candidates share the height."""

from __future__ import annotations

import pytest
from decode_views import position, trace, view
from event_loop import turns
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSplitterHandle

from app import theme
from app.panes.generation.output import OutputSplitter
from app.panes.generation.pane import GenerationPane

LOW, HIGH = 460, 900


@pytest.fixture(params=["plain", "dressed"])
def pane(request, qtbot):
    made = GenerationPane()
    if request.param == "dressed":  # as in the window
        theme.apply_font(made)
    qtbot.addWidget(made)
    made.resize(500, LOW)
    made.show()
    qtbot.waitExposed(made)
    return made


def show(pane, tokens: int) -> None:
    pane.show_view(view(trace((b"token",) * tokens), position(output=b"token" * tokens)))
    turns()


def lines(pane) -> float:
    chips = pane.output.chips
    return chips.height() / chips.minimumSizeHint().height()


def test_in_a_low_window_the_output_gets_the_lines_of_its_chips(pane):
    show(pane, 2)
    assert lines(pane) < 1.2
    show(pane, 15)
    assert 1.5 < lines(pane) < 3
    division = pane.findChild(OutputSplitter)
    show(pane, 500)
    assert pane.output.height() <= max(division.height() * 0.26, pane.output.minimumSizeHint().height())
    show(pane, 2)
    assert lines(pane) < 1.2


def test_in_a_high_window_three_lines_are_kept_from_the_start(pane):
    pane.resize(500, HIGH)
    show(pane, 2)
    before = pane.output.height()
    assert lines(pane) > 2.4
    show(pane, 15)
    assert pane.output.height() == before


def test_in_a_very_low_window_the_candidates_get_the_lines(pane, qtbot):
    show(pane, 2)
    output, table = pane.output, pane.candidates.table
    assert output.chips.y() > output.title.geometry().bottom()
    pane.resize(500, 330)
    qtbot.waitUntil(lambda: abs(output.chips.geometry().center().y() - output.title.geometry().center().y()) < 4)
    assert not output.tally.isVisible()
    assert output.title.toolTip() == "2 tokens"
    lines = table.viewport().height() / table.verticalHeader().defaultSectionSize()
    assert lines > 2
    qtbot.mouseClick(output.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "tokentoken"
    pane.resize(500, LOW)
    qtbot.waitUntil(lambda: output.chips.y() > output.title.geometry().bottom())
    assert output.tally.isVisible()


def test_a_splitter_that_the_user_moved_stays(pane):
    show(pane, 2)
    handle = pane.findChild(OutputSplitter).handle(1)
    assert isinstance(handle, QSplitterHandle)
    start = QPoint(40, 0)
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(handle, start + QPoint(0, 40))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=start + QPoint(0, 40))
    drawn = pane.output.height()
    assert lines(pane) > 1.5
    show(pane, 3)
    assert pane.output.height() == drawn
