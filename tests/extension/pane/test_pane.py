"""A pane of an extension has a tab, is built when it is shown, and is bound to the session."""

import pytest
from PySide6.QtWidgets import QLabel

from tests.extension.windows import RUN, window

__all__ = ["window"]


@pytest.mark.parametrize("way", RUN)
def test_it_is_shown(window, qtbot, way):
    bottom = window.dock_layout.bottom
    assert bottom.tabText(bottom.count() - 1) == "Words"
    assert window.findChild(QLabel, "words") is None
    window.session.document.set_text("a b c")
    RUN[way](window, qtbot, "view.words")
    pane = window.findChild(QLabel, "words")
    assert bottom.currentWidget() is pane
    assert pane.text() == "3"
    window.session.document.set_text("a b")
    assert pane.text() == "2"
