from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.dialogs.palette import CommandPalette, matches


def test_the_palette_finds_and_runs_a_command(desk):
    desk.open("a{3}")
    palette = CommandPalette(desk.window.commands, desk.window)
    palette.show()
    desk.qtbot.keyClicks(palette.field, "rnstp")
    assert palette.list.item(0).text().startswith("Run: Step")
    desk.qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    desk.wait(lambda: desk.output == b"a")


def test_the_palette_says_when_nothing_matches(desk):
    palette = CommandPalette(desk.window.commands, desk.window)
    palette.field.setText("zzz")
    assert palette.list.item(0).text() == ui_text("dialogs.palette.empty")
    desk.qtbot.keyClick(palette.field, Qt.Key.Key_Return)


def test_letters_match_in_order():
    assert matches("rst", "Run: Step")
    assert matches("run step", "Run: Step")
    assert not matches("tsr", "Run: Step")
