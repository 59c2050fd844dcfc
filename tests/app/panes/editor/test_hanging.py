"""Wrapped lines go on below their own beginning."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest

from app.panes.editor.pane import EditorPane
from engine.source import Span

LONG = ", ".join(f'"word{number}"' for number in range(40))


def lines_of(pane: EditorPane, number: int) -> list[float]:
    """The left ends of the visual lines of a line, as they are painted."""
    pane.edit.viewport().repaint()
    layout = pane.edit.document().findBlockByNumber(number).layout()
    return [layout.lineAt(line).x() for line in range(layout.lineCount())]


def test_a_wrapped_line_hangs_below_its_indentation(pane: EditorPane) -> None:
    pane.set_notation("json_schema")
    pane.set_text(f'{{\n    "enum": [{LONG}]\n}}')
    first, *others = lines_of(pane, 1)
    advance = QFontMetricsF(pane.edit.font()).horizontalAdvance(" ")
    assert len(others) > 2
    assert [round((x - first) / advance) for x in others] == [6] * len(others)
    block = pane.edit.document().findBlockByNumber(1)
    assert block.lineCount() == len(others) + 1
    pane.edit.select(Span(20, 20))
    QTest.keyClicks(pane.edit, "x")
    assert [round((x - first) / advance) for x in lines_of(pane, 1)[1:]] == [6] * len(others)
    end = len(pane.text()) - 3
    assert pane.edit.offset_at(pane.edit.point_of(end)) == end
    below = pane.edit.blockBoundingGeometry(block.next()).top()
    assert below == pane.edit.blockBoundingGeometry(block).bottom()


def test_a_regular_expression_goes_on_at_the_left(pane: EditorPane) -> None:
    pane.set_notation("regex")
    pane.set_text("  " + "[a-z]" * 100)
    assert len(set(lines_of(pane, 0))) == 1


def test_a_line_that_is_indented_far_keeps_half_of_the_width(pane: EditorPane) -> None:
    pane.set_notation("json_schema")
    pane.set_text(" " * 60 + LONG)
    assert max(lines_of(pane, 0)) <= pane.edit.viewport().width() * 0.6
