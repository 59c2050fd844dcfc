"""A pane, shown."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.panes.automaton.pane import AutomatonPane


@pytest.fixture
def pane(qtbot: QtBot) -> AutomatonPane:
    pane = AutomatonPane()
    qtbot.addWidget(pane)
    pane.resize(700, 700)
    pane.show()
    qtbot.waitExposed(pane)
    return pane
