"""The list of completions, with real keys and a real pointer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.panes.editor.pane import EditorPane
from tests.app.panes.editor.marked_texts import write


def labels(pane: EditorPane) -> list[str]:
    return [proposal.label for proposal in pane.completer.proposals]


def press(pane: EditorPane, key: Qt.Key) -> None:
    """A key, where the keys go while a list is open."""
    QTest.keyClick(pane.completer.list if pane.completer.list.isVisible() else pane.edit, key)


def test_rule_names_come_while_typing(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", 'root ::= ¦\nitem ::= "a"\nother ::= "b"')
    qtbot.keyClicks(pane.edit, "it")
    assert labels(pane) == ["item"]
    press(pane, Qt.Key.Key_Return)
    assert pane.text().startswith("root ::= item\n")
    assert not pane.completer.list.isVisible()
    pane.edit.undo()
    assert pane.text().startswith("root ::= it\n")


def test_arrows_choose_and_tab_takes(pane: EditorPane) -> None:
    write(pane, "json_schema", '{"type": "string", "properties": {"a": {"type": "¦"}}}')
    pane.completer.open()
    assert labels(pane)[:3] == ["object", "array", "string"]
    press(pane, Qt.Key.Key_Down)
    press(pane, Qt.Key.Key_Tab)
    assert '"a": {"type": "array"}' in pane.text()


def test_a_click_takes(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "json_schema", '{"$defs": {"a": {}, "b": {}}, "$ref": "¦"}')
    pane.completer.open()
    assert labels(pane) == ["#", "#/$defs/a", "#/$defs/b"]
    shown = pane.completer.list
    place = shown.visualRect(shown.model().index(2, 0)).center()
    qtbot.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert pane.text().endswith('"$ref": "#/$defs/b"}')


def test_the_cursor_goes_into_what_a_keyword_needs(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "json_schema", "{¦}")
    qtbot.keyClicks(pane.edit, '"prop')
    assert labels(pane)[0] == "properties"
    press(pane, Qt.Key.Key_Return)
    assert pane.text() == '{"properties": {}}'
    assert pane.edit.caret == len('{"properties": {')


def test_typing_on_narrows_the_list_and_escape_closes_it(pane: EditorPane) -> None:
    write(pane, "regex", "a¦")
    QTest.keyClicks(pane.edit, "\\")
    assert "\\d" in labels(pane)
    QTest.keyClicks(pane.completer.list, "p")
    assert labels(pane) == ["\\p{L}", "\\p{Lu}", "\\p{N}"]
    press(pane, Qt.Key.Key_Escape)
    assert pane.text() == "a\\p"
    write(pane, "gbnf", 'root ::= ¦\nitem ::= "a"\nitems ::= "b"')
    QTest.keyClicks(pane.edit, "it")
    assert labels(pane) == ["item", "items"]
    QTest.keyClicks(pane.completer.list, "ems")
    assert not pane.completer.list.isVisible()  # it is written out


def test_a_keyword_asks_for_its_value(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "json_schema", "{¦}")
    qtbot.keyClicks(pane.edit, '"typ')
    press(pane, Qt.Key.Key_Return)
    assert labels(pane)[0] == "object"
    press(pane, Qt.Key.Key_Return)
    assert pane.text() == '{"type": "object"}'


def test_a_long_text_is_not_read_at_every_key(pane: EditorPane, qtbot: QtBot) -> None:
    write(pane, "gbnf", "root ::= ¦\n" + "# a comment\n" * 6_000)
    qtbot.keyClicks(pane.edit, "ro")
    pane.completer.open()
    assert labels(pane) == []


def test_nothing_known_opens_no_list(pane: EditorPane) -> None:
    write(pane, "json_schema", '{"enum": [{"¦": 1}]}')
    pane.completer.open()
    assert not pane.completer.list.isVisible()
