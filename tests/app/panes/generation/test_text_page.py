"""The output as plain text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decode_views import position, step, trace, view
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor

from app import theme
from app.panes.generation.text_page import TextPage
from engine.decoding.values import ArchivedBranch


@pytest.fixture
def page(pane):
    pane.pages.setCurrentWidget(next(pane.pages.widget(index) for index in range(pane.pages.count()) if index == 1))
    assert isinstance(pane.pages.currentWidget(), TextPage)
    return pane.pages.currentWidget()


def show(pane, *tokens, **fields):
    pane.show_view(view(trace(tokens), replace(position(output=b"".join(tokens)), **fields)))


def marked(page, role):
    """Return the texts with the colour or the background of a role."""
    colour = theme.colour(role)
    return [
        one.cursor.selectedText()
        for one in page.extraSelections()
        if one.cursor.hasSelection() and colour in (one.format.foreground().color(), one.format.background().color())
    ]


def test_it_grows_with_the_output_and_keeps_a_selection(pane, page):
    show(pane, b"caf\xc3", b"\xa9 ", b"\xf0\x9f\x98\x80")
    assert page.toPlainText() == "café 😀"
    cursor = page.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.Start)
    cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 4)
    page.setTextCursor(cursor)
    show(pane, b"caf\xc3", b"\xa9 ", b"\xf0\x9f\x98\x80", b"!")
    assert page.toPlainText() == "café 😀!"
    assert page.textCursor().selectedText() == "café"
    show(pane, b"tea")
    assert page.toPlainText() == "tea"


def test_it_is_up_to_date_when_it_is_opened_again(pane, page):
    pane.pages.setCurrentIndex(0)
    show(pane, b"later")
    pane.pages.setCurrentWidget(page)
    assert page.toPlainText() == "later"


@pytest.mark.parametrize(("offset", "index"), [(0, 0), (2, 0), (3, 1), (5, 2), (7, 3)])
def test_return_goes_to_the_step_of_a_token(qtbot, pane, page, offset, index):
    show(pane, b"caf\xc3", b"\xa9 ", b"\xf0\x9f\x98\x80", b"!")
    cursor = page.textCursor()
    cursor.setPosition(offset)
    page.setTextCursor(cursor)
    with qtbot.waitSignal(pane.node_clicked) as clicked:
        qtbot.keyClick(page, Qt.Key.Key_Return)
    assert clicked.args == [pane.output.shown.tokens[index][0]]


def test_a_double_click_goes_to_the_step(qtbot, pane, page):
    show(pane, b"one ", b"two")
    cursor = page.textCursor()
    cursor.setPosition(5)
    with qtbot.waitSignal(pane.node_clicked) as clicked:
        qtbot.mouseDClick(page.viewport(), Qt.MouseButton.LeftButton, pos=page.cursorRect(cursor).center())
    assert clicked.args == [pane.output.shown.tokens[1][0]]


def test_the_first_token_that_is_not_allowed_is_marked(pane, page):
    show(pane, b"one ", b"two", b" three", broken_at=1)
    assert marked(page, theme.Role.ERROR_FILL) == ["two"]


def test_an_archived_output_is_read_and_not_continued(qtbot, pane, page):
    show(pane, b"now")
    archived = ArchivedBranch("", "", (step(b"then "), step(b"and there")))
    pane.show_archived((archived,))
    pane.output.read(archived)
    assert page.toPlainText() == "then and there"
    with qtbot.assertNotEmitted(pane.node_clicked):
        qtbot.keyClick(page, Qt.Key.Key_Return)
