"""Tool tips name the keys of the command table, and show the texts of grammars, models and files as they are."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QComboBox, QHeaderView, QLabel, QWidget

from app.commands import KEYS_OF, LOCAL_KEYS, declared_commands, keys_of
from app.document import DocumentFile, GrammarPart, ModelPart
from app.document import file as document_file
from app.theme.labels import plain_text
from engine.document.content import ExpectedText

APP = Path(__file__).resolve().parents[3] / "app"
DECLARING = ("command", "local_key", "_switch", "_chips", "PaneSpec")  # calls that contain keys
TAG = "<img src='file:///nowhere.png'>"
_KEY = re.compile(r"(?:\b(?:Ctrl|Shift|Alt|Meta)\+|\((?:Esc|Return|Backspace|Del|Delete|Insert|F\d+|[/T])\)|\bCtrl\b)")


def open_everything(desk) -> list[QWidget]:
    """Build what is built late, and open the dialogs that can be open beside the window."""
    window = desk.window
    for command_id in ("view.tests", "view.timeline", "view.breakpoints", "view.forced", "view.probabilities"):
        window.commands[command_id].trigger()
    for command_id in ("view.baseline", "view.problems", "view.explanation", "view.reference", "automaton.stacks"):
        window.commands[command_id].trigger()
    window.commands["view.gbnf"].trigger()
    window.commands["edit.replace"].trigger()
    window.commands["automaton.find"].trigger()
    opened = []
    for command_id in (
        "help.keys",
        "file.gallery",
        "file.export",
        "run.processors",
        "run.until",
        "edit.palette",
        "edit.convert",
        "tests.check",
        "help.tour",
    ):
        window.commands[command_id].trigger()
        QApplication.processEvents()
        opened += [widget for widget in QApplication.topLevelWidgets() if widget.isVisible() and widget not in opened]
    return list(dict.fromkeys([window, *opened]))


def close(windows: list[QWidget]) -> None:
    for window in windows[1:]:
        window.close()


def widgets_of(windows: list[QWidget]) -> Iterator[QWidget]:
    for window in windows:
        yield window
        yield from window.findChildren(QWidget)


def models_of(widget: QWidget) -> Iterator[QAbstractItemModel]:
    if isinstance(widget, QAbstractItemView | QComboBox) and not isinstance(widget, QHeaderView):
        yield widget.model()


def columns(model: QAbstractItemModel, parent: QModelIndex) -> int:
    """Count columns; of a list, Qt keeps the method to itself."""
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)


def cells(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[QModelIndex]:
    parent = parent or QModelIndex()
    for row in range(model.rowCount(parent)):
        for column in range(columns(model, parent)):
            index = model.index(row, column, parent)
            yield index
            if column == 0:
                yield from cells(model, index)


def texts_of(windows: list[QWidget]) -> Iterator[tuple[str, str]]:
    """Every text that Qt may show in a tip, with where it comes from."""
    roles = (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.StatusTipRole, Qt.ItemDataRole.WhatsThisRole)
    for widget in widgets_of(windows):
        place = f"{type(widget).__name__} {widget.objectName()} {widget.accessibleName()}"
        yield from ((place, text) for text in (widget.toolTip(), widget.statusTip(), widget.whatsThis()))
        for action in (*widget.actions(), *widget.findChildren(QAction)):
            yield from ((f"{place} {action.text()}", text) for text in (action.toolTip(), action.statusTip()))
        for model in models_of(widget):
            found = [(index, index.data(role)) for index in cells(model) for role in roles]
            yield from ((f"{place} {index.row()},{index.column()}", text) for index, text in found if text)
            for way in (Qt.Orientation.Horizontal, Qt.Orientation.Vertical):
                count = (
                    columns(model, QModelIndex()) if way is Qt.Orientation.Horizontal else model.rowCount(QModelIndex())
                )
                tips = (model.headerData(section, way, role) for section in range(count) for role in roles)
                yield from ((f"{place} header", text) for text in tips if isinstance(text, str))


# --- keys ------------------------------------------------------------------------------------------------------------


def test_every_key_in_a_tip_is_that_of_its_command(desk):
    desk.open('root ::= item+\nitem ::= "x" | "y"', notation="gbnf")
    windows = open_everything(desk)
    checked = 0
    for widget in widgets_of(windows):
        named = widget.property(KEYS_OF)
        if named is not None and widget.toolTip().endswith(")"):
            assert widget.toolTip().endswith(f"({plain_text(keys_of(named))})"), widget.toolTip()
            checked += 1
        elif widget.objectName().startswith("button:"):
            action = desk.window.commands[widget.objectName().removeprefix("button:")]
            assert widget.toolTip() == action.toolTip()
        else:
            assert not _KEY.search(widget.toolTip()), widget.toolTip()
    close(windows)
    assert checked > 15


def test_every_command_tells_its_first_key(desk):
    for command, action in desk.window.commands:
        if command.id != "run.step" and action.isEnabled():
            assert action.toolTip() == f"{command.tip} ({keys_of(command.id)})"


def test_keys_are_written_in_declarations_alone():
    """A key that is typed into a text is wrong as soon as the command has another one, and always on macOS."""
    found = []
    for path in sorted(APP.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        declared = {
            id(argument)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DECLARING
            for argument in ast.walk(node)
        }
        exempt = docstrings | declared
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in exempt
            if is_text and _KEY.search(str(node.value)):
                found.append(f"{path.relative_to(APP)}:{node.lineno}: {node.value!r}")
    assert found == []


def test_local_keys_are_keys_of_no_command_but_esc_and_differ_within_a_widget(desk):
    close(open_everything(desk))  # some are declared with the first use of a widget
    local = LOCAL_KEYS
    assert {"find.close", "candidates.take", "breakpoints.remove", "tour.end"} <= local.keys()
    assert [name for name, keys in local.items() if QKeySequence(keys).isEmpty()] == []
    assert local.keys() & {command.id for command in declared_commands()} == set()
    commands = {keys for command in declared_commands() for keys in command.keys}
    # Esc closes what has the focus, and stops a run elsewhere; F2 renames what has the focus, and a rule elsewhere.
    assert set(local.values()) & commands <= {"Esc", "F2"}
    used = [(name.partition(".")[0], keys) for name, keys in local.items()]
    assert len(used) == len(set(used))


def test_the_buttons_of_the_graph_do_what_their_keys_do(desk):
    desk.open("(a|b|c|d)*e")
    view, footer = desk.panes.automaton.view, desk.panes.automaton.footer
    desk.wait(lambda: desk.panes.automaton.scene.diagram is not None)
    view.setFocus()
    for button, command_id in (
        (footer.in_button, "automaton.zoom_in"),
        (footer.out_button, "automaton.zoom_out"),
        (footer.fit_button, "automaton.fit"),
    ):
        view.go_home()
        button.click()
        by_button = view.zoom
        view.go_home()
        first, second = QKeySequence(keys(command_id)).toString().split(", ")
        desk.qtbot.keySequence(view, QKeySequence(f"{first}, {second}"))
        desk.wait(lambda wanted=by_button: view.zoom == pytest.approx(wanted))


def keys(command_id: str) -> str:
    return next(command.keys[0] for command in declared_commands() if command.id == command_id)


# --- texts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [TAG, "<b>bold</b>", "a<b>c", "&lt;", "x &lt;b>", "<!DOCTYPE html>", "<?xml?><b>", "<a/>", " <p>", "< b>", "<!b>"],
)
def test_qt_takes_no_text_for_html(text):
    assert GuiQt.mightBeRichText(text), "else the case proves nothing"
    shown = plain_text(text)
    assert not GuiQt.mightBeRichText(shown)
    assert shown.replace("\N{WORD JOINER}", "") == text


@pytest.mark.parametrize("text", ["", "x < y", "a & b", '"<think>"', "[<>]"])
def test_what_qt_takes_for_plain_text_stays_as_it_is(text):
    assert plain_text(text) == text


def test_no_tip_shows_a_text_as_html(desk, tmp_path):
    pointer = TAG.replace("/", "~1")
    schema = {
        "title": TAG,
        "description": TAG,
        "type": "object",
        TAG: 1,
        "required": [TAG],
        "properties": {TAG: {"$ref": f"#/$defs/{pointer}"}, "b": {"const": TAG}},
        "$defs": {TAG: {"type": "string"}},
    }
    path = tmp_path / "<b>bold<b>.turnstile"
    document = DocumentFile(
        title=TAG,
        grammar=GrammarPart("json_schema", json.dumps(schema)),
        model=ModelPart(TAG),
        prompt=TAG,
        test_strings=(ExpectedText(TAG), ExpectedText(f'{{"{TAG}": ""}}')),
    )
    document_file.write_document(path, document)
    desk.session.start()
    assert desk.window.files.open(path)
    desk.wait(lambda: not desk.session.step_refusal)
    for number in range(1, 4):
        desk.window.commands["run.step"].trigger()
        desk.wait(lambda number=number: len(desk.session.decoding.view.trace.path) == number)
    desk.window.commands["run.back"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.index == 2)
    desk.session.decoding.set_prompt(f"{TAG}{TAG}")
    desk.wait(lambda: len(desk.document.content.archived) == 1)
    desk.session.decoding.queries.look_up(TAG, desk.panes.generation.show_lookup)
    windows = open_everything(desk)
    desk.wait(lambda: desk.panes.view("tests").model.rowCount() > 0)
    seen = list(texts_of(windows))
    assert any(TAG[5:] in text for _, text in seen), "else nothing was tested"
    assert [found for found in seen if GuiQt.mightBeRichText(found[1]) and "<qt>" not in found[1]] == []
    assert [found for found in seen if "<qt>" in found[1] and TAG in found[1]] == [], "what is HTML on purpose escapes"
    close(windows)


def test_no_label_guesses_whether_its_text_is_html(desk):
    desk.open('root ::= item+\nitem ::= "x" | "y"', notation="gbnf")
    windows = open_everything(desk)
    guessing = [
        f"{type(label.parentWidget()).__name__}: {label.text()}"
        for window in windows
        for label in window.findChildren(QLabel)
        if label.textFormat() == Qt.TextFormat.AutoText and label.objectName() != "qt_msgbox_label"
    ]
    close(windows)
    assert guessing == []


def test_a_question_shows_the_title_as_it_is(desk, monkeypatch):
    asked = []
    monkeypatch.setattr("app.window.files.QMessageBox.question", lambda *given: asked.append(given[2]))
    desk.document.replace(DocumentFile(title="<b>bold</b>"), modified=True)
    assert not desk.window.files.may_leave()
    assert not GuiQt.mightBeRichText(asked[0])
    assert "bold" in asked[0]
