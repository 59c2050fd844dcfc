"""A pane, shown."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState


@pytest.fixture
def pane(qtbot: QtBot) -> AutomatonPane:
    pane = AutomatonPane()
    pane.begin(ViewState(merges=False))  # each state is a node; `test_merging` has what is drawn by default
    qtbot.addWidget(pane)
    pane.resize(700, 700)
    pane.show()
    qtbot.waitExposed(pane)
    return pane
