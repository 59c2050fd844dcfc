"""A text that changes moves nothing around it, unless another size is needed."""

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.widgets.stable_widget import StableWidget


class Requests(QObject):
    """Counts how often a widget is asked to lay itself out."""

    def __init__(self, widget):
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _watched, event):  # noqa: N802 - Qt's name
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.fixture
def shown(qtbot):
    window, label = QWidget(), QLabel("one")
    label.setWordWrap(True)
    steady = StableWidget.around(label)
    layout = QVBoxLayout(window)
    layout.addWidget(steady)
    layout.addStretch()
    window.resize(300, 400)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    label.setText("two")
    qtbot.turns()
    return window, steady, label


def test_another_text_of_the_same_size_is_no_news_outside(shown, qtbot):
    window, _, label = shown
    requests = Requests(window)
    label.setText("six")
    qtbot.turns()
    assert requests.count == 0


def test_a_text_that_needs_more_lines_gets_them(shown, qtbot):
    _, steady, label = shown
    before = steady.height()
    label.setText("many words " * 40)
    qtbot.waitUntil(lambda: steady.height() > before)
    assert steady.height() >= label.heightForWidth(label.width())
    assert label.size() == steady.size()


def test_what_takes_what_is_left_asks_for_no_width(qtbot):
    steady = StableWidget(takes_what_is_left=True)
    qtbot.addWidget(steady)
    QVBoxLayout(steady.inner).addWidget(QLabel("a long line"))
    assert steady.minimumSizeHint().width() == 0
    assert steady.minimumSizeHint().height() > 0
    assert not steady.hasHeightForWidth()
