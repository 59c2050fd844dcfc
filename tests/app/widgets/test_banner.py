"""One message with its severity, its button and its close button."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.catalogue import ui_text
from app.session import Notification
from app.widgets.banner import Banner
from app.window.banner import BannerStack

LEFT = Qt.MouseButton.LeftButton


def announced(severity: str, message: str) -> str:
    return ui_text("widgets.banner.announcement", severity=ui_text(f"common.severity.{severity}"), message=message)


@pytest.fixture
def banner(qtbot, qwidget):
    made = Banner("warning", closable=True)
    QVBoxLayout(qwidget).addWidget(made)
    qwidget.show()
    return made


@pytest.fixture
def qwidget(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


def test_a_banner_is_hidden_until_it_has_a_message(banner):
    assert banner.isHidden()
    banner.set_text("The file changed")
    assert banner.isVisible()
    assert (banner.text(), banner.accessibleName()) == ("The file changed", announced("warning", "The file changed"))
    assert banner.detail_label.isHidden()
    assert banner.button.isHidden()
    assert not banner.has_action
    banner.set_text("")
    assert banner.isHidden()


def test_a_message_has_its_own_severity_and_detail(banner):
    banner.show_message("It did not load", "No such file", severity="error")
    assert banner.property("severity") == "error"
    assert banner.detail_label.text() == "No such file"
    assert banner.accessibleName() == announced("error", "It did not load No such file")
    banner.set_text("The file changed")
    assert banner.property("severity") == "warning"


def test_the_button_hides_the_banner_and_acts(qtbot, banner):
    done = []
    banner.accepted.connect(lambda: done.append("accepted"))
    banner.dismissed.connect(lambda: done.append("dismissed"))
    banner.show_message("The file changed", button="Reload", action=lambda: done.append(banner.isHidden()))
    assert banner.has_action
    qtbot.mouseClick(banner.button, LEFT)
    assert done == ["accepted", True]
    banner.set_text("The file changed")
    qtbot.mouseClick(banner.close_button, LEFT)
    assert done == ["accepted", True, "dismissed"]
    assert banner.isHidden()


def test_tab_goes_through_the_controls_from_left_to_right(banner):
    first, second = QPushButton("First"), QPushButton("Second")
    banner.add_control(first)
    banner.add_control(second)
    banner.show_message("The file changed", button="Reload")
    following, order = first, []
    for _ in range(4):
        order.append(following)
        following = following.nextInFocusChain()
    assert order == [first, second, banner.button, banner.close_button]


def test_a_banner_leaves_the_focus_where_it_is(qtbot, qwidget):
    """A part that is shown before it has a parent opens as a window, and takes the focus from the user's."""
    stack, field = BannerStack(), QLineEdit()
    layout = QVBoxLayout(qwidget)
    for widget in (stack, field):
        layout.addWidget(widget)
    qwidget.show()
    qwidget.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    stack.show_notification(Notification("window", "Recovered", "Details", button="Save", other_button="Discard"))
    QApplication.processEvents()
    assert QApplication.focusWidget() is field
