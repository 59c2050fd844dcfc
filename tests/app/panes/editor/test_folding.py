"""Folding by indentation: keys, gutter and mark, what the cursor and edits do to folds, and long texts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextBlock
from pytestqt.qtbot import QtBot

from app.panes.editor.pane import EditorPane
from engine.source import Span

TEXT = '{\n  "a": {\n    "b": {\n      "c": 1\n    }\n  },\n\n  "d": 2\n}'


@pytest.fixture
def pane(qtbot: QtBot) -> EditorPane:
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.resize(500, 300)
    pane.set_notation("json_schema")
    pane.set_text(TEXT)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def shown(pane: EditorPane) -> list[int]:
    block, lines = pane.edit.document().firstBlock(), []
    while block.isValid():
        lines += [block.blockNumber()] if block.isVisible() else []
        block = block.next()
    return lines


def line(pane: EditorPane, number: int) -> QTextBlock:
    return pane.edit.document().findBlockByNumber(number)


def click_arrow(pane: EditorPane, qtbot: QtBot, number: int) -> None:
    gutter = pane.edit.gutter
    top = pane.edit.blockBoundingGeometry(line(pane, number)).translated(pane.edit.contentOffset()).top()
    qtbot.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(gutter.width() - 3, round(top) + 4))


def test_the_arrow_of_a_line_hides_what_is_indented_below_it(pane: EditorPane, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(pane.breakpoint_wanted):
        click_arrow(pane, qtbot, 1)
    assert shown(pane) == [0, 1, 5, 6, 7, 8]
    assert pane.text() == TEXT
    click_arrow(pane, qtbot, 5 if shown(pane)[2] == 1 else 1)
    assert shown(pane) == list(range(9))
    with qtbot.waitSignal(pane.breakpoint_wanted):
        click_arrow(pane, qtbot, 7)  # nothing to fold


def test_a_click_on_the_mark_unfolds(pane: EditorPane, qtbot: QtBot) -> None:
    pane.edit.folding.toggle(line(pane, 1))
    place = pane.edit.folding.mark_of(line(pane, 1))[1].center().toPoint()
    qtbot.mouseClick(pane.edit.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown(pane) == list(range(9))


def test_the_cursor_leaves_a_fold_and_shows_what_it_enters(pane: EditorPane) -> None:
    inner = TEXT.index('"c"')
    pane.edit.select(Span(inner, inner))
    pane.toggle_fold()
    assert shown(pane) == [0, 1, 2, 4, 5, 6, 7, 8]
    assert pane.edit.textCursor().blockNumber() == 2
    pane.edit.select(Span(inner, inner))
    assert shown(pane) == list(range(9))
    pane.fold_all()
    assert shown(pane) == [0, 1, 5, 6, 7, 8]
    pane.edit.bring_into_view(Span(inner, inner))
    assert line(pane, 3).isVisible()
    pane.fold_all()
    pane.unfold_all()
    assert shown(pane) == list(range(9))


def test_no_edit_loses_a_hidden_line(pane: EditorPane, qtbot: QtBot) -> None:
    pane.edit.setFocus()
    pane.edit.folding.toggle(line(pane, 0))
    assert shown(pane) == [0, 8]
    pane.edit.select(Span(1, 1))
    qtbot.keyClick(pane.edit, Qt.Key.Key_Return)
    assert line(pane, 1).isVisible()
    pane.edit.undo()
    pane.edit.select(Span(0, 1))
    qtbot.keyClick(pane.edit, Qt.Key.Key_Delete)
    qtbot.keyClick(pane.edit, Qt.Key.Key_Delete)
    assert pane.edit.document().firstBlock().isVisible()
    pane.set_text(TEXT)
    assert shown(pane) == list(range(9))


def test_a_text_that_ends_in_a_line_feed_folds_below_its_outermost_bracket(pane: EditorPane) -> None:
    pane.set_text(TEXT + "\n")
    pane.fold_all()
    assert shown(pane) == [0, 1, 5, 6, 7, 8, 9]


def test_a_long_text_is_folded_and_painted_between_events(pane: EditorPane, qtbot: QtBot) -> None:
    part = '  "key": {\n    "type": "string",\n    "maxLength": 20\n  },\n'
    pane.set_text("{\n" + part * 6_000 + "}")
    pane.edit.complete()
    pane.edit.moveCursor(pane.edit.textCursor().MoveOperation.End)
    pane.edit.moveCursor(pane.edit.textCursor().MoveOperation.Up)
    pane.edit.folding.toggle(line(pane, 0))
    assert line(pane, 23_990).isVisible()  # the rest follows
    qtbot.waitUntil(lambda: pane.edit.textCursor().blockNumber() == 0)
    assert not line(pane, 24_000).isVisible()
    assert pane.edit.folding.mark_of(line(pane, 0))[0]
    pane.grab()
    pane.edit.gutter.repaint()
    assert pane.edit.firstVisibleBlock().blockNumber() == 0
    assert line(pane, 24_001).isVisible()
    pane.unfold_all()
    pane.edit.insertPlainText("x")  # what is still hidden stays so, and can be unfolded
    assert line(pane, 1).isVisible()
    pane.unfold_all()
    qtbot.waitUntil(lambda: line(pane, 24_000).isVisible())
