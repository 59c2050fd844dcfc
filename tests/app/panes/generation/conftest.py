"""A whole generation pane, shown and ready to be stepped."""

from __future__ import annotations

import pytest
from decode_views import view

from app.panes.generation.pane import GenerationPane


@pytest.fixture
def pane(qtbot):
    pane = GenerationPane()
    qtbot.addWidget(pane)
    pane.resize(520, 800)
    pane.show_view(view())
    pane.set_refusal("")
    pane.show()
    return pane
