"""The quick reference in the pane: listed by the notation, filtered, written by a double click or by keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from app import theme
from app.catalogue import ui_text
from app.panes.editor.pane import EditorPane
from app.panes.editor.reference import ReferencePage
from app.widgets.rich_text import code
from engine.compile import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.reference import ReferenceGroup
from engine.source import Span


@pytest.fixture
def pane(qtbot: QtBot) -> EditorPane:
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.resize(600, 700)
    pane.show()
    qtbot.waitExposed(pane)
    pane.set_notation("regex")
    pane.set_text("ab")
    pane.reference.get().show_groups(groups("regex"))
    pane.toggle_reference()
    qtbot.waitUntil(pane.reference.get().tree.isVisible)
    return pane


def listed(page: ReferencePage) -> list[str]:
    """The forms that can be seen."""
    model = page.tree.model()
    headings = [model.index(row, 0) for row in range(model.rowCount())]
    return [model.index(row, 0, heading).data() for heading in headings for row in range(model.rowCount(heading))]


def row(page: ReferencePage, form: str) -> QModelIndex:
    model = page.tree.model()
    for at in range(model.rowCount()):
        heading = model.index(at, 0)
        for inner in range(model.rowCount(heading)):
            if model.index(inner, 0, heading).data() == form:
                return model.index(inner, 0, heading)
    raise AssertionError(form)


def groups(notation: str, text: str = "", **options: str) -> tuple[ReferenceGroup, ...]:
    return NOTATIONS[notation].reference(text, CompileOptions(**options))  # type: ignore[arg-type]


def forms(notation: str, text: str = "", **options: str) -> list[str]:
    return [entry.form for group in groups(notation, text, **options) for entry in group.entries]


def test_it_lists_the_groups_that_it_is_given(pane) -> None:
    page = pane.reference.get()
    assert listed(page) == forms("regex")
    for notation, options in (("regex", {"dialect": "ecma"}), ("gbnf", {}), ("json_schema", {})):
        page.show_groups(groups(notation, **options))
        assert listed(page) == forms(notation, **options)


def test_a_double_click_writes_at_the_cursor(pane, qtbot) -> None:
    page = pane.reference.get()
    pane.edit.select(Span(1, 1))
    index = row(page, r"\d")
    page.tree.scrollTo(index)
    place = page.tree.visualRect(index).center()
    qtbot.mouseClick(page.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(page.tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert pane.text() == r"a\db"
    assert pane.edit.caret == 3
    assert pane.edit.hasFocus()
    pane.edit.undo()
    assert pane.text() == "ab"


def test_a_form_goes_around_what_is_selected(pane, qtbot) -> None:
    page = pane.reference.get()
    pane.edit.select(Span(0, 2))
    page.tree.setFocus()
    page.tree.setCurrentIndex(row(page, "(?:…)"))
    qtbot.keyClick(page.tree, Qt.Key.Key_Return)
    assert (pane.text(), pane.edit.caret) == ("(?:ab)", 5)


def test_it_is_filtered_and_written_by_keys_alone(pane, qtbot) -> None:
    page = pane.reference.get()
    assert page.field.hasFocus()
    qtbot.keyClicks(page.field, "followed")
    assert listed(page) == ["(?=…)", "(?!…)"]
    qtbot.keyClick(page.field, Qt.Key.Key_Down)
    qtbot.keyClick(page.tree, Qt.Key.Key_Down)
    qtbot.keyClick(page.tree, Qt.Key.Key_Return)
    assert pane.text() == "(?!)ab"
    assert pane.edit.caret == 3
    page.field.setFocus()
    qtbot.keyClick(page.field, Qt.Key.Key_Escape)
    assert listed(page) == forms("regex")
    qtbot.keyClicks(page.field, "ESCAPES")  # a heading keeps what it holds
    assert r"\n" in listed(page)
    assert r"\d" not in listed(page)
    qtbot.keyClicks(page.field, "zzz")
    assert listed(page) == []
    qtbot.keyClick(page.field, Qt.Key.Key_Return)
    assert pane.text() == "(?!)ab"


def test_the_current_row_has_an_example(pane) -> None:
    page = pane.reference.get()
    assert page.example_label.text() == ui_text("editor.reference.hint")
    page.tree.setCurrentIndex(row(page, "{3}"))
    assert "a{3}" in page.example_label.text()
    assert "aaa" in page.example_label.text()


def test_another_theme_keeps_the_list(pane) -> None:
    page = pane.reference.get()
    theme.themes.changed.emit()
    assert listed(page) == forms("regex")


def test_it_says_that_nothing_has_what_is_typed(pane, qtbot) -> None:
    page = pane.reference.get()
    qtbot.keyClicks(page.field, "zzz")
    assert listed(page) == []
    assert page.example_label.text() == ui_text("editor.reference.none", text=code("zzz"))
    page.field.clear()
    assert "zzz" not in page.example_label.text()
    assert listed(page) == forms("regex")
