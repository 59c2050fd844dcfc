"""Several documents in tabs, with the mouse and the keys: opened, shown, moved, closed, left and recovered."""

from __future__ import annotations

import shutil

import pytest
from catalogue_texts import shows
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QTabBar

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.document import file as document_file
from app.theme.mnemonics import without_mnemonic
from tests.app.window.conftest import Desk

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def saved(tmp_path, name: str, text: str):
    path = tmp_path / f"{name}.turnstile"
    document_file.write_document(path, DocumentFile(grammar=GrammarPart("regex", text), model=ModelPart("letters")))
    return path


@pytest.fixture
def three(desk, tmp_path) -> Desk:
    """A window with three files in tabs, the last of which is shown."""
    desk.session.start()
    for name, text in (("one", "a{3}"), ("two", "b{3}"), ("three", "c{3}")):
        assert desk.window.files.open(saved(tmp_path, name, text))
    desk.wait(desk.is_ready)
    return desk


def titles(desk) -> list[str]:
    return [desk.window.tabs.tabText(index) for index in range(desk.window.tabs.count())]


def click(desk, index: int, button=LEFT) -> None:
    desk.qtbot.mouseClick(desk.window.tabs, button, pos=desk.window.tabs.tabRect(index).center())


def press(desk, key, modifier=CTRL) -> None:
    desk.qtbot.keyClick(QApplication.focusWidget() or desk.window, key, modifier)


def text_of(desk) -> str:
    return desk.panes.editor.text()


def answers(monkeypatch, *given) -> list:
    asked, left = [], list(given)
    monkeypatch.setattr(QMessageBox, "question", lambda *told: asked.append(told[2]) or left.pop(0))
    return asked


def test_a_document_gets_a_tab_unless_nobody_has_touched_the_shown_one(desk, tmp_path):
    tabs, files = desk.window.tabs, desk.window.files
    desk.session.start()
    desk.window.commands["file.new"].trigger()
    assert (desk.document.revision, tabs.isVisible()) == (1, False)
    one = saved(tmp_path, "one", "a{3}")
    assert files.open(one)
    assert (titles(desk), tabs.isVisible()) == (["one"], False)
    assert files.open(saved(tmp_path, "two", "b{3}"))
    assert (titles(desk), tabs.isVisible(), tabs.currentIndex()) == (["one", "two"], True, 1)
    assert files.open(one)
    assert (titles(desk), tabs.currentIndex(), text_of(desk)) == (["one", "two"], 0, "a{3}")
    desk.window.commands["file.new"].trigger()
    assert (titles(desk)[1], tabs.currentIndex(), text_of(desk)) == (ui_text("window.recovery.untitled"), 1, "")
    assert str(one) in tabs.tabToolTip(0)


def test_the_mouse_and_the_keys_go_from_tab_to_tab(three):
    click(three, 0)
    assert (three.document.title, text_of(three)) == ("one", "a{3}")
    for key, modifiers, expected in (
        (Qt.Key.Key_PageDown, CTRL, "two"),
        (Qt.Key.Key_Tab, CTRL, "three"),
        (Qt.Key.Key_Tab, CTRL, "one"),
        (Qt.Key.Key_PageUp, CTRL, "three"),
        (Qt.Key.Key_Backtab, CTRL | SHIFT, "two"),
    ):
        press(three, key, modifiers)
        assert three.document.title == expected
        assert three.window.tabs.currentIndex() == ["one", "two", "three"].index(expected)
    assert three.panes.editor.edit.hasFocus()


def test_each_tab_keeps_its_text_its_undo_history_its_cursor_and_its_trace(three):
    click(three, 0)
    three.wait(three.is_ready)
    three.qtbot.keyClick(three.panes.editor.edit, Qt.Key.Key_End)
    three.qtbot.keyClicks(three.panes.editor.edit, "x")
    three.wait(three.is_ready)
    three.window.commands["run.step"].trigger()
    three.wait(lambda: three.output == b"a")
    trace = three.document.content.trace
    assert titles(three) == ["one •", "two", "three"]
    click(three, 1)
    assert (text_of(three), three.document.is_modified) == ("b{3}", False)
    assert three.session.decoding.view.trace.nodes == ()
    press(three, Qt.Key.Key_Z)
    assert text_of(three) == "b{3}", "the undo history is that of the tab"
    three.wait(three.is_ready)
    click(three, 0)
    assert (text_of(three), three.panes.editor.edit.caret) == ("a{3}x", 5)
    assert three.session.decoding.view.trace == trace
    assert len(three.panes.generation.output.chips.chips) == 1
    three.wait(lambda: three.output == b"a" and three.is_ready())
    press(three, Qt.Key.Key_Z)
    assert text_of(three) == "a{3}"


def test_a_tab_is_dragged_to_another_place(three):
    tabs = three.window.tabs
    start, end = tabs.tabRect(2).center(), tabs.tabRect(0).center() - QPoint(tabs.tabRect(0).width() // 2 - 2, 0)
    QTest.mousePress(tabs, LEFT, pos=start)
    for step in range(1, 11):
        QTest.mouseMove(tabs, start + (end - start) * step / 10)
    QTest.mouseRelease(tabs, LEFT, pos=end)
    three.wait(lambda: titles(three) == ["three", "one", "two"])
    assert [one.title for one in three.document.documents] == ["three", "one", "two"]
    assert (three.document.title, tabs.currentIndex()) == ("three", 0)


def test_tabs_are_closed_and_unsaved_work_is_asked_about(three, monkeypatch):
    cancel, discard = QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Discard
    click(three, 1)
    three.qtbot.keyClicks(three.panes.editor.edit, "x")
    click(three, 0)
    asked = answers(monkeypatch, cancel, discard, cancel)
    click(three, 1, MIDDLE)
    assert shows(asked[0], "window.files.unsaved_text", title="two")
    assert (titles(three), three.document.title) == (["one", "two •", "three"], "two"), "it is shown to be asked about"
    three.qtbot.mouseClick(three.window.tabs.tabButton(1, QTabBar.ButtonPosition.RightSide), LEFT)
    assert (titles(three), three.document.title, len(asked)) == (["one", "three"], "three", 2)
    click(three, 0, MIDDLE)
    assert (titles(three), three.window.tabs.isVisible(), text_of(three)) == (["three"], False, "c{3}")
    press(three, Qt.Key.Key_W)
    assert (text_of(three), three.document.path, len(three.document.documents)) == ("", None, 1)
    three.qtbot.keyClicks(three.panes.editor.edit, "y")
    press(three, Qt.Key.Key_W)
    assert (text_of(three), len(asked)) == ("y", 3)


def test_the_menu_of_a_tab(three, tmp_path):
    def entries() -> dict[str, QAction]:
        place = three.window.tabs.tabRect(2).center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, three.window.tabs.mapToGlobal(place))
        QApplication.sendEvent(three.window.tabs, event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        return {without_mnemonic(action.text()): action for action in menu.actions()}

    entries()[ui_text("window.tabs.copy_path")].trigger()
    assert QApplication.clipboard().text() == str(tmp_path / "three.turnstile")
    QApplication.activePopupWidget().close()
    entries()[ui_text("window.tabs.close_others")].trigger()
    assert titles(three) == ["three"]


def test_closing_the_window_asks_about_each_tab(three, monkeypatch):
    for index in (0, 2):
        click(three, index)
        three.qtbot.keyClicks(three.panes.editor.edit, "x")
    discard, cancel = QMessageBox.StandardButton.Discard, QMessageBox.StandardButton.Cancel
    asked = answers(monkeypatch, discard, cancel, discard, discard)
    assert not three.window.close()
    assert titles(three) == ["one •", "two", "three •"], "nothing is closed yet"
    assert three.window.close()
    assert all(shows(asked[at], "window.files.unsaved_text", title=title) for at, title in ((2, "one"), (3, "three")))


@pytest.fixture
def next_start(three, qtbot, tmp_path, qapp):
    """Opens a window on the same home."""
    windows = []

    def start() -> Desk:
        windows.append(Desk(qtbot, tmp_path, qapp))
        windows[-1].window.begin()
        return windows[-1]

    yield start
    for window in windows:
        window.close()


def test_the_tabs_are_there_again_at_the_next_start(three, next_start, tmp_path):
    click(three, 1)
    three.wait(three.is_ready)
    three.window.commands["run.step"].trigger()
    three.wait(lambda: three.output == b"b")
    assert three.window.close()
    document_file.write_document(tmp_path / "one.turnstile", DocumentFile(grammar=GrammarPart("regex", "newer")))
    (tmp_path / "three.turnstile").unlink()
    again = next_start()
    assert (titles(again), again.document.title) == (["one", "two", ui_text("window.recovery.untitled") + " •"], "two")
    again.wait(lambda: again.output == b"b")
    click(again, 0)
    assert text_of(again) == "newer"


def test_all_tabs_are_recovered_after_a_crash(three, next_start, tmp_path):
    for index in (0, 2):
        click(three, index)
        three.qtbot.keyClicks(three.panes.editor.edit, "x")
    three.document.save_for_next_start("")
    shutil.copytree(tmp_path / "autosave", tmp_path / "killed")
    three.window.close_without_asking()
    for file in (tmp_path / "killed").glob("*.autosave"):
        shutil.move(file, tmp_path / "autosave")
    again = next_start()
    assert (titles(again), again.document.title) == (["one •", "two", "three •"], "three")
    (banner,) = again.window.banners.banners
    assert shows(banner.notification.text, "window.recovery.shown_with_others")
    assert text_of(again) == "xc{3}"
    click(again, 0)
    assert (text_of(again), again.document.path) == ("xa{3}", tmp_path / "one.turnstile")
    assert again.window.banners.banners == []
