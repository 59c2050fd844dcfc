from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPushButton

from app.dialogs.licences_dialog import LicencesDialog


def test_the_licences_of_all_parts_are_read_and_found_by_typing(desk, qtbot):
    desk.window.commands["help.about"].trigger()
    box = desk.window.findChild(QMessageBox)
    QTest.mouseClick(box.findChild(QPushButton, "licences"), Qt.MouseButton.LeftButton)
    dialog = desk.window.findChild(LicencesDialog)
    QTest.keyClicks(dialog.field, "torch apache")
    qtbot.waitUntil(lambda: dialog.table.rowCount() > 0)
    rows = [row for row in range(dialog.table.rowCount()) if not dialog.table.isRowHidden(row)]
    assert "torch" in [dialog.text_at(row, 0) for row in rows]
    assert all("apache" in dialog.text_at(row, 2).casefold() for row in rows)
    names = [dialog.text_at(row, 0) for row in range(dialog.table.rowCount())]
    dialog.table.selectRow(names.index("torch"))
    assert "copyright" in dialog.text.toPlainText().casefold()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
