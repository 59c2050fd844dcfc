from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.commands import declared_commands
from app.dialogs.keys_dialog import KeysDialog


def shown(dialog):
    rows = [row for row in range(dialog.table.rowCount()) if not dialog.table.isRowHidden(row)]
    return [dialog.text_at(row, 1) for row in rows]


def test_every_command_is_listed_and_found_by_typing(desk):
    desk.window.commands["help.keys"].trigger()
    dialog = desk.window.findChild(KeysDialog)
    assert dialog.table.rowCount() == len(declared_commands())
    assert dialog.height() <= 720
    QTest.keyClicks(dialog.field, "ctrl+k output")
    assert shown(dialog) == [ui_text("commands.tests.check.title").removesuffix("…")]
    dialog.field.clear()
    QTest.keyClicks(dialog.field, "step")
    before = dialog.table.currentRow()
    QTest.keyClick(dialog.field, Qt.Key.Key_Down)
    assert dialog.table.currentRow() > before
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
