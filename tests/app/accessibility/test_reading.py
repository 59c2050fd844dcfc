"""What a screen reader finds in the window: a name for all that takes the keys, a text for every cell."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QDialog, QWidget

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from engine.document.content import ExpectedText

PAGES = (
    "view.problems",
    "view.tests",
    "view.timeline",
    "view.breakpoints",
    "view.probabilities",
    "view.baseline",
    "view.generation",
)
# What opens another dialog of the system's, or none.
NOT_OPENED = {
    *("file.open", "file.save_as", "file.share", "file.bundle"),
    *("automaton.save", "automaton.coverage_log", "run.until", "edit.rename"),
}


def name_of(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def described(widget: QWidget) -> str:
    parts = []
    above: QWidget | None = widget
    while above is not None:
        parts.append(type(above).__name__)
        above = above.parentWidget()
    return " < ".join(parts[:5])


def takes_keys(widget: QWidget) -> bool:
    is_inner = isinstance(widget.parentWidget(), QComboBox) or widget.focusProxy() is not None
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisible() and not is_inner


def nameless(top: QWidget) -> list[str]:
    return [
        described(widget) for widget in (top, *top.findChildren(QWidget)) if takes_keys(widget) and not name_of(widget)
    ]


def unreadable(top: QWidget) -> list[str]:
    """Views of which a row, or a column's title, says nothing."""
    found = []
    for view in top.findChildren(QAbstractItemView):
        model = view.model()
        if not view.isVisible() or not isinstance(model, QAbstractItemModel):
            continue
        for row in range(min(model.rowCount(), 12)):
            columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
            cells = [model.index(row, column) for column in range(columns)]
            said = [model.data(cell, Qt.ItemDataRole.AccessibleTextRole) or cell.data() for cell in cells]
            if not any(isinstance(text, str) and text for text in said):
                found.append(f"{described(view)} row {row}")
    return found


@pytest.fixture
def stepped(desk):
    """A window with a grammar, steps, a branch, a test and a breakpoint."""
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[ab]{2,5}c"), model=ModelPart("letters")))
    desk.document.set_expected_texts((ExpectedText("abc"), ExpectedText("x", accepts=False)))
    desk.settle()
    for _ in range(3):
        desk.window.commands["run.step"].trigger()
        desk.settle()
    desk.window.commands["run.back"].trigger()
    desk.settle()
    desk.window.panes.editor.edit.setFocus()
    desk.window.commands["run.breakpoint"].trigger()
    desk.settle()
    return desk


def test_whatever_takes_the_keys_has_a_name_and_every_row_a_text(stepped):
    window = stepped.window
    assert nameless(window) == []
    for page in PAGES:
        window.commands[page].trigger()
        stepped.settle()
        stepped.qtbot.turns()
        assert (page, nameless(window), unreadable(window)) == (page, [], [])


def test_a_broken_grammar_and_its_banner_too(stepped):
    edit = stepped.window.panes.editor.edit
    edit.setFocus()
    edit.selectAll()
    stepped.type_in(edit, "[ab(")
    stepped.settle()
    stepped.window.commands["view.problems"].trigger()
    stepped.window.model_menu.open("broken")
    stepped.settle()
    assert stepped.window.panes.generation.banner.isVisible()
    assert nameless(stepped.window) == []
    assert unreadable(stepped.window) == []


def test_the_unfolded_parts_of_the_panes_too(stepped):
    panes = stepped.window.panes
    panes.generation.prompt.fold.setChecked(True)
    panes.generation.prompt.sees.setChecked(True)
    panes.generation.explain_selected()
    for command in ("edit.replace", "automaton.find", "automaton.table", "automaton.stacks", "automaton.minimap"):
        stepped.window.commands[command].trigger()
        stepped.settle()
    stepped.qtbot.turns()
    assert nameless(stepped.window) == []
    assert unreadable(stepped.window) == []


def test_the_first_cell_of_a_row_tells_the_rest_of_it(stepped):
    """Who walks along rows with the arrows hears the first cell alone, with its description."""
    panes = stepped.window.panes
    stepped.window.commands["automaton.table"].trigger()
    stepped.window.commands["view.tests"].trigger()
    panes.view("tests").add_text("abc")
    stepped.settle()
    told = {}
    for table in (panes.generation.candidates.table, panes.automaton.table, panes.view("tests").table):
        first = table.model().index(0, 0)
        told[table.accessibleName()] = str(first.data(Qt.ItemDataRole.AccessibleDescriptionRole))
    assert told[ui_text("generation.candidates.name")].startswith(("allowed, Token ", "not allowed, Token "))
    assert ui_text("automaton.states.column.leads_to") in told[ui_text("automaton.states.name")]
    assert "Should be accepted, Text abc" in told[ui_text("test_strings.table.name")]


def test_every_dialog_too(stepped):
    window = stepped.window
    opened = []
    for command, action in window.commands:
        dialogs = command.title.endswith("…") or command.id in ("help.keys", "help.about")
        if command.id in NOT_OPENED or not dialogs or not action.isEnabled():
            continue
        action.trigger()
        stepped.qtbot.turns()
        for top in QApplication.topLevelWidgets():
            if isinstance(top, QDialog) and top.isVisible():
                opened.append(command.id)
                assert (command.id, nameless(top), unreadable(top)) == (command.id, [], [])
                assert top.windowTitle(), command.id
                top.reject()
        stepped.settle()
    assert len(opened) >= 6, opened


def test_tab_comes_to_everything_that_can_be_seen_and_back(stepped):
    window = stepped.window
    window.activateWindow()
    for size in ((1600, 1000), (1280, 720)):
        window.resize(*size)
        stepped.qtbot.turns()
        start = window.toolbar.document_button
        start.setFocus()
        assert start.hasFocus()
        reached = [start]
        for _ in range(200):
            stepped.key(Qt.Key.Key_Tab)
            widget = QApplication.focusWidget()
            if widget is start:
                break
            assert widget not in reached, f"Tab goes in circles at {described(widget)}, before it came to all"
            reached.append(widget)
        missed = [
            described(widget)
            for widget in window.findChildren(QWidget)
            if takes_keys(widget) and widget.isEnabled() and widget not in reached
        ]
        assert missed == []
        for _ in range(len(reached)):  # and the other way round
            stepped.key(Qt.Key.Key_Tab, Qt.KeyboardModifier.ShiftModifier)
        assert QApplication.focusWidget() is start


def test_what_is_drawn_is_no_filler_to_a_screen_reader(desk):
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[ab]+c"), model=ModelPart("letters")))
    desk.settle()
    desk.window.commands["run.step"].trigger()
    desk.settle()
    chips, graph = desk.window.panes.generation.output.chips, desk.window.panes.automaton.view
    told = {}
    for widget in (chips, graph, desk.window.panes.editor.edit):
        interface = QAccessible.queryAccessibleInterface(widget)
        told[interface.text(QAccessible.Text.Name)] = interface.role()
    assert told == {
        "Output": QAccessible.Role.List,
        ui_text("graph.view.name"): QAccessible.Role.Graphic,
        "Grammar": QAccessible.Role.EditableText,
    }
    assert described_as(chips) == chips.accessibleDescription() != ""


def described_as(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Description)
