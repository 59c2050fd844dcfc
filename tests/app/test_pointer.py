"""The pointer of tests does not depend on where an earlier test left it."""

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QWidget


class Heard(QObject):
    """Collects the places of moves."""

    def __init__(self, widget):
        super().__init__(widget)
        self.places = []
        widget.installEventFilter(self)

    def eventFilter(self, _watched, event):  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.MouseMove:
            self.places.append(event.position().toPoint())
        return False


def test_a_widget_gets_a_move_where_the_pointer_is_already_and_below_another_window(qtbot):
    widget, above = QWidget(), QWidget()
    for one in (widget, above):
        qtbot.addWidget(one)
        one.setMouseTracking(True)
        one.setGeometry(100, 100, 200, 200)
        one.show()
        qtbot.waitExposed(one)
    heard, place = Heard(widget), QPoint(50, 60)
    for _ in range(2):
        QCursor.setPos(widget.mapToGlobal(place))
        qtbot.turns()
        heard.places.clear()
        qtbot.mouseMove(widget, place)
        assert heard.places[-1:] == [place]
        above.hide()
