"""A field for what to find, what was found, and buttons that step through it."""

import pytest
from PySide6.QtCore import Qt

from app.widgets.find_bar import FindBar

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def make(qtbot):
    def made(**options) -> FindBar:
        bar = FindBar("Find in the text", **options)
        qtbot.addWidget(bar)
        return bar

    return made


def test_it_opens_with_its_text_and_closes_with_esc(make, qtbot):
    bar, searched, closed = make(), [], []
    assert bar.isHidden()
    assert bar.field.accessibleName() == "Find in the text"
    bar.field.setText("a")
    bar.text_changed.connect(searched.append)
    bar.closed.connect(lambda: closed.append(True))
    bar.open_bar()
    assert (bar.isVisible(), searched) == (True, ["a"])
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    bar.close_bar()
    assert (bar.isHidden(), closed) == (True, [True])


def test_keys_and_buttons_step(make, qtbot):
    bar, steps = make(), []
    bar.step_requested.connect(steps.append)
    bar.open_bar()
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    for button in (bar.next_button, bar.previous_button):
        qtbot.mouseClick(button, LEFT)  # disabled: nothing was found
    bar.set_can_step(can_step=True)
    for button in (bar.next_button, bar.previous_button):
        qtbot.mouseClick(button, LEFT)
    assert steps == [1, -1, 1, -1]


def test_a_permanent_bar_stays_and_reports_esc_and_down(make, qtbot):
    reported = []
    bar = make(is_permanent=True, on_down=lambda: reported.append("down"))
    bar.escaped.connect(lambda: reported.append("escaped"))
    bar.show()
    assert bar.close_button.isHidden()
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert (bar.isVisible(), reported) == (True, ["down", "escaped"])
