"""An editor with the keys."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.panes.editor.pane import EditorPane


@pytest.fixture
def pane(qtbot: QtBot) -> EditorPane:
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.resize(600, 400)
    pane.show()
    qtbot.waitExposed(pane)
    pane.edit.setFocus()
    return pane
