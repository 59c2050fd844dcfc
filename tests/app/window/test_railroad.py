"""The railroad diagram in the window: it follows the cursor and the match, and is joined with the text both ways."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolButton

from app.graph.layout.railroad import RailroadDrawing
from app.panes.railroad.pane import RailroadPane
from app.panes.railroad.view import RailroadView

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
TEXT = 'root ::= item ("," item)*\nitem ::= [a-z]+ | "x" word\nword ::= "y"\n'


def center(view: RailroadView, key: str) -> QPoint:
    return view.rect_of(key).center().toPoint()


def key_of(view: RailroadView, label: str, number: int = 0) -> str:
    assert view.drawing is not None
    return [box.key for box in view.drawing.boxes if box.label == label][number]


def shows(view: RailroadView, name: str) -> bool:
    return isinstance(view.drawing, RailroadDrawing) and view.drawing.name == name


def test_the_diagram_and_the_text_lead_to_each_other(desk, tmp_path: Path) -> None:  # noqa: PLR0915 - one window
    desk.open(TEXT, notation="gbnf")
    QTest.keyClick(desk.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(desk.window, Qt.Key.Key_R)
    desk.wait(lambda: desk.window.findChild(RailroadPane) is not None)
    pane = desk.window.findChild(RailroadPane)
    view, edit, port = pane.view, desk.panes.editor.edit, pane.view.viewport()
    desk.wait(lambda: shows(view, "root"))
    assert QApplication.focusWidget() is view
    assert view.drawing.width <= view.width()

    # From the text to the diagram.
    edit.setFocus()
    position = edit.textCursor()
    position.setPosition(TEXT.index('"x"') + 1)
    edit.setTextCursor(position)
    desk.wait(lambda: shows(view, "item") and view.marks[0] == key_of(view, "x"))

    # A click goes to the source, a double click on a called rule to that rule.
    desk.qtbot.mouseClick(port, LEFT, pos=center(view, key_of(view, "[a-z]")))
    assert TEXT[edit.selection.start : edit.selection.end] == "[a-z]"
    desk.wait(lambda: view.marks[0] == key_of(view, "[a-z]"))
    left = view.rect_of(key_of(view, "word")).left()
    desk.qtbot.mouseDClick(port, LEFT, pos=QPoint(round(left) + 6, center(view, key_of(view, "word")).y()))
    desk.wait(lambda: shows(view, "word"))
    assert edit.caret == TEXT.index("word ::=")

    # Its sign unfolds it in place, with the mouse and with Space.
    position.setPosition(3)
    edit.setTextCursor(position)
    desk.wait(lambda: shows(view, "root"))
    call = key_of(view, "item")
    sign = QPoint(round(view.rect_of(call).right()) - 5, center(view, call).y())
    desk.qtbot.mouseClick(port, LEFT, pos=sign)
    desk.wait(lambda: any(box.label == "[a-z]" for box in view.drawing.boxes))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Space)
    desk.wait(lambda: all(box.label != "[a-z]" for box in view.drawing.boxes))

    # The arrows go from box to box, and say what it is.
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.current == key_of(view, ",")
    assert view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert TEXT[edit.selection.start : edit.selection.end] == '","'
    view.setFocus()
    here = center(view, view.current)
    by_key = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, here, port.mapToGlobal(here))
    QApplication.sendEvent(port, by_key)
    desk.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    QApplication.activePopupWidget().close()

    # It follows the match, whose box is marked.
    desk.qtbot.mouseClick(pane.findChild(QToolButton, "railroad-follow"), LEFT)
    desk.wait(lambda: shows(view, "item") and bool(view.marks[1]))

    # Pictures.
    presenter = desk.panes["railroad"]
    for suffix, start in ((".svg", b"<?xml"), (".png", b"\x89PNG")):
        presenter.save_to(tmp_path / f"rule{suffix}")
        assert (tmp_path / f"rule{suffix}").read_bytes().startswith(start)
    assert b"[a-z]" in (tmp_path / "rule.svg").read_bytes()

    # A text with an error keeps the last diagram, without links.
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, "root ::= (")
    QTest.keyClick(edit, Qt.Key.Key_Delete)  # the bracket that closes it
    desk.wait(lambda: bool(desk.session.compiling.stale_reason))
    assert shows(view, "item")
    desk.qtbot.mouseClick(port, LEFT, pos=center(view, key_of(view, "[a-z]")))
    assert edit.selection.start == edit.selection.end
