"""The map of a schema in a whole window: shown at first if the schema is large, joined with text, match and drawing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication

from app.models.schema_rows import NAME
from app.panes.automaton.schema_map import SchemaMapPage
from engine.notations.schema_map import NO_ROW
from engine.source import Span

PARTS = {f"part{number}": {"type": "object", "properties": {"id": {"type": "integer"}}} for number in range(60)}
LARGE = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 9}},
        **{f"key{number}": {"$ref": f"#/$defs/part{number}"} for number in range(60)},
        "self": {"$ref": "#"},
    },
    "required": ["tags"],
    "additionalProperties": False,
    "$defs": PARTS,
}
TEXT = json.dumps(LARGE, indent=1)
SMALL = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


def page_of(desk) -> SchemaMapPage:
    return desk.panes.automaton.schema_page.get()


@pytest.fixture
def page(desk) -> SchemaMapPage:
    desk.open(TEXT, notation="json_schema")
    desk.wait(lambda: desk.panes.automaton.header.shows_schema_map)
    return page_of(desk)


def name_at(index: QModelIndex) -> str:
    return str(index.data()).strip("○● *")


def row_named(page: SchemaMapPage, name: str) -> QModelIndex:
    assert page.model.map is not None
    return page.model.index_of(page.model.map.names.index(name))


def click(desk, page: SchemaMapPage, index: QModelIndex, *, twice: bool = False) -> None:
    page.tree.scrollTo(index)
    place = page.tree.visualRect(index).center()
    desk.qtbot.mouseClick(page.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    if twice:
        desk.qtbot.mouseDClick(page.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)


def marked(desk) -> list[str]:
    return [one.cursor.selectedText() for one in desk.panes.editor.edit.extraSelections()]


def test_a_large_schema_opens_with_its_map_and_a_small_one_with_its_drawing(desk, page) -> None:
    assert page.isVisible()
    if folder := os.environ.get("SCHEMA_MAP_PICTURES"):
        desk.window.resize(1280, 720)
        QApplication.processEvents()
        desk.window.grab().save(str(Path(folder) / "window.png"))
    desk.open(SMALL, notation="json_schema")
    header = desk.panes.automaton.header
    desk.wait(lambda: header.schema_map_button.isVisible() and not header.shows_schema_map)
    desk.qtbot.mouseClick(header.schema_map_button, Qt.MouseButton.LeftButton)
    assert page.isVisible()
    assert name_at(page.model.index(0, NAME, page.model.index(0, NAME))) == "a"
    desk.open("a+")
    desk.wait(lambda: not header.schema_map_button.isVisible() and not page.isVisible())


def rows_and_text_lead_to_each_other(desk, page) -> None:
    click(desk, page, row_named(page, "tags"))
    assert any(text.startswith('"tags"') for text in marked(desk))
    assert page.tree.hasFocus()
    desk.qtbot.keyClick(page.tree, Qt.Key.Key_Return)
    edit = desk.panes.editor.edit
    assert edit.hasFocus()
    assert edit.caret == TEXT.index('"tags"')
    edit.select(Span(TEXT.index('"part7"') + 1, TEXT.index('"part7"') + 1))
    assert name_at(page.tree.currentIndex()) == "part7"


def a_reference_is_followed_and_unfolds_in_itself(desk, page) -> None:
    page.tree.setFocus()
    page.tree.setCurrentIndex(row_named(page, "self"))
    desk.qtbot.keyClick(page.tree, Qt.Key.Key_Right)
    inner = page.model.index(0, NAME, page.tree.currentIndex())
    assert name_at(inner) == "tags"
    again = page.model.index(page.model.rowCount(page.tree.currentIndex()) - 2, NAME, page.tree.currentIndex())
    assert page.model.hasChildren(again)
    page.tree.setCurrentIndex(row_named(page, "key9"))
    desk.qtbot.keyClick(page.tree, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert name_at(page.tree.currentIndex()) == "part9"
    click(desk, page, row_named(page, "key8"), twice=True)
    assert name_at(page.tree.currentIndex()) == "part8"


def test_the_match_is_marked_and_followed(desk, page) -> None:
    settled: list[tuple[Span, ...]] = []
    desk.session.live_states.settled.connect(lambda _states, spans: settled.append(spans))
    for taken in range(1, 4):
        settled.clear()
        desk.window.commands["run.step"].trigger()
        desk.wait(lambda: len(desk.session.decoding.view.trace.path) == taken and bool(settled))  # noqa: B023
        assert page.model.map is not None
        assert page.model.live == {page.model.map.at(span.start) for span in settled[-1]}
    assert page.model.live
    assert not page.tree.visualRect(page.model.index_of(min(page.model.live))).isEmpty()
    assert page.where.text()


def words_filter_the_rows_and_escape_shows_all_again(desk, page) -> None:
    count = page.model.rowCount()
    desk.qtbot.keyClicks(page.find_bar.field, "string 9")
    assert [name_at(page.model.index(row, NAME)) for row in range(page.model.rowCount())] == ["tags › items"]
    desk.qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Return)
    assert any("maxLength" in text for text in marked(desk))
    desk.qtbot.keyClick(page.find_bar.field, Qt.Key.Key_Escape)
    assert page.model.rowCount() == count
    assert name_at(page.tree.currentIndex()) == "items"


def an_edit_keeps_what_is_expanded_and_selected(desk, page) -> None:
    index = row_named(page, "part3")
    page.tree.setCurrentIndex(index)
    page.tree.expand(index)
    before = page.model.map
    desk.document.set_text(TEXT.replace('"part3": {', '"part3": {\n "properties": {"more": true},', 1))
    desk.wait(lambda: page.model.map is not before)
    assert name_at(page.tree.currentIndex()) == "part3"
    assert page.tree.isExpanded(row_named(page, "part3"))


def a_row_is_shown_in_the_drawing(desk, page) -> None:
    page.tree.setCurrentIndex(row_named(page, "part5"))
    assert page.current_row != NO_ROW
    page.drawing_wanted.emit(page.current_row)
    assert not desk.panes.automaton.header.shows_schema_map
    desk.window.commands["automaton.schema_map"].trigger()
    assert page.isVisible()


def pointers_are_copied_and_rows_are_spoken_with_their_signs(desk, page) -> None:
    index = row_named(page, "tags")
    page.tree.setCurrentIndex(index)
    page.tree.setFocus()
    keys = QKeySequence(QKeySequence.StandardKey.Copy)[0]
    desk.qtbot.keyClick(page.tree, keys.key(), keys.keyboardModifiers())
    assert QApplication.clipboard().text() == "#/properties/tags"
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert {"tags", "array"} <= set(spoken.replace(",", " ").split())
    assert "*" not in spoken
    desk.qtbot.mouseMove(page.tree.viewport(), page.tree.visualRect(index).center() + QPoint(1, 0))


def test_a_map_is_joined_with_the_text_and_searched(desk, page) -> None:
    pointers_are_copied_and_rows_are_spoken_with_their_signs(desk, page)
    rows_and_text_lead_to_each_other(desk, page)
    a_reference_is_followed_and_unfolds_in_itself(desk, page)
    words_filter_the_rows_and_escape_shows_all_again(desk, page)
    an_edit_keeps_what_is_expanded_and_selected(desk, page)
    a_row_is_shown_in_the_drawing(desk, page)
