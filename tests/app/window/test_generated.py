"""The generated GBNF beside a schema, in a whole window: each rule leads to its keyword, and back."""

from __future__ import annotations

import pytest
from catalogue_texts import shows
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.panes.editor.generated import GeneratedPage
from engine.compile import compile_grammar

SCHEMA = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "minLength": 2},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}}
  },
  "required": ["name"],
  "additionalProperties": false
}"""


def open_page(desk, notation: str = "json_schema", text: str = SCHEMA) -> GeneratedPage:
    """Show a document, and click on the tab of the page."""
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(notation, text), model=ModelPart("letters")))
    tabs = desk.panes.editor.pages.tabs
    index = next(index for index in range(tabs.count()) if tabs.tabText(index) == ui_text("presenters.as_gbnf"))
    desk.qtbot.mouseClick(tabs.tabBar(), Qt.MouseButton.LeftButton, pos=tabs.tabBar().tabRect(index).center())
    page = desk.panes["editor"].generated.get()
    desk.wait(lambda: desk.session.compiling.last_good is not None)
    desk.wait(lambda: bool(page.text.text()) or page.message.text().startswith("/"))
    return page


def summary_of(page: GeneratedPage, kind: str) -> str:
    return ui_text(f"editor.generated.{kind}", count=page.text.text().count(" ::= "))


def rule_of(page: GeneratedPage, name: str):
    line = page.text.text().index(f"\n{name} ::= ") + 1
    return line, page.text.text().index("\n", line)


def click_on(desk, page: GeneratedPage, name: str) -> None:
    cursor = QTextCursor(page.text.document())
    cursor.setPosition(rule_of(page, name)[0] + 1)
    page.text.setTextCursor(cursor)
    page.text.ensureCursorVisible()
    place = page.text.cursorRect(cursor).center() + QPoint(2, 0)
    desk.qtbot.mouseClick(page.text.viewport(), Qt.MouseButton.LeftButton, pos=place)


def lit(edit) -> list[str]:
    """The texts that are marked."""
    return [selection.cursor.selectedText() for selection in edit.extraSelections()]


def move_to(desk, text: str) -> None:
    """Click into the schema."""
    edit = desk.panes.editor.edit
    cursor = QTextCursor(edit.document())
    cursor.setPosition(SCHEMA.index(text) + 1)
    desk.qtbot.mouseClick(edit.viewport(), Qt.MouseButton.LeftButton, pos=edit.cursorRect(cursor).center())
    assert desk.panes.editor.cursor_offset == SCHEMA.index(text) + 1


def test_a_rule_leads_to_its_keyword_and_the_cursor_to_its_rules(desk):
    page = open_page(desk)
    schema = compile_grammar("json_schema", SCHEMA)
    assert compile_grammar("gbnf", page.text.text()).fullmatch('{"name": "ab"}') == schema.fullmatch('{"name": "ab"}')
    assert page.summary.text() == summary_of(page, "stricter")
    assert shows(page.summary.toolTip(), "export.note.fragment.plain")
    click_on(desk, page, "tags-item")
    assert '"items": {"enum": ["a", "b"]}' in lit(desk.panes.editor.edit)
    assert [text for text in lit(page.text) if text.startswith("tags-item ::= ")]
    move_to(desk, '"minLength"')
    assert any(text.startswith("name ::= ") for text in lit(page.text))
    move_to(desk, '"b"')
    assert [text.split(" ")[0] for text in lit(page.text)] == ["tags-item"]
    click_on(desk, page, "name")
    desk.qtbot.keyClick(page.text, Qt.Key.Key_Return)
    assert desk.panes.editor.edit.textCursor().selectedText() == '"name": {"type": "string", "minLength": 2}'
    assert desk.panes.editor.edit.hasFocus()


def test_it_follows_the_text_and_keeps_the_last_that_compiled(desk):
    page = open_page(desk)
    move_to(desk, "2}")
    desk.qtbot.keyClicks(desk.panes.editor.edit, "7")
    desk.wait(lambda: "char{27,}" in page.text.text())
    assert page.is_joined
    desk.qtbot.keyClicks(desk.panes.editor.edit, ",")
    stale = ui_text("editor.generated.stale", reason=ui_text("session.stale.errors", count=1))
    desk.wait(lambda: page.summary.text() == stale)
    assert "char{27,}" in page.text.text()
    assert not page.is_joined
    desk.qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == page.text.text()
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Backspace)
    desk.wait(lambda: page.summary.text() == summary_of(page, "stricter"))


def test_every_spelling_has_the_same_texts(desk):
    page = open_page(desk)
    page.spelling.setFocus()
    desk.qtbot.keyClick(page.spelling, Qt.Key.Key_Down)
    desk.wait(lambda: page.summary.text() == summary_of(page, "same"))
    spelled = '{"n\\u0061me": "ab"}'
    assert not compile_grammar("gbnf", page.text.text()).fullmatch(spelled)
    desk.window.notation_menu.choose_escapes("any")
    desk.wait(lambda: "char-a" in page.text.text())
    assert compile_grammar("gbnf", page.text.text()).fullmatch(spelled)


def test_what_cannot_be_written_says_why_and_where(desk):
    page = open_page(desk, text='{"uniqueItems": true}')
    assert shows(page.message.text(), "diagnostics.export-not-context-free.message", where="/uniqueItems")
    assert page.message.isVisible()
    desk.qtbot.mouseClick(page.source_button, Qt.MouseButton.LeftButton)
    assert desk.panes.editor.edit.textCursor().selectedText() == "true"


@pytest.mark.parametrize(("notation", "is_offered"), [("regex", True), ("gbnf", False), ("json_schema", True)])
def test_it_is_offered_where_there_is_something_to_write(desk, notation, is_offered):
    texts = {"regex": "[ab]+", "gbnf": 'root ::= "a"', "json_schema": "{}"}
    desk.document.replace(DocumentFile(grammar=GrammarPart(notation, texts[notation])))
    tabs = desk.panes.editor.pages.tabs
    index = next(index for index in range(tabs.count()) if tabs.tabText(index) == ui_text("presenters.as_gbnf"))
    assert tabs.isTabVisible(index) == is_offered


def test_nothing_is_written_while_nobody_looks(desk):
    page = open_page(desk, "regex", "[ab]+c")
    assert "root ::= [ab]+" in page.text.text()
    assert not page.spelling.isVisible()
    desk.panes.editor.pages.collapse()
    desk.panes.editor.edit.setFocus()
    desk.qtbot.keyClicks(desk.panes.editor.edit, "x")
    desk.wait(lambda: desk.session.compiling.last_good.request.text == "x[ab]+c")
    assert not desk.session.worker_pool.judge.pending
    desk.window.commands["view.gbnf"].trigger()
    desk.wait(lambda: page.text.text() == 'root ::= "x" [ab]+ "c"\n')
    desk.window.commands["view.gbnf"].trigger()
    assert desk.panes.editor.pages.current is None
