"""A command of an extension is in its menu, has its keys, is in the palette, and says why it cannot run."""

import pytest

from tests.extension.windows import RUN, window

__all__ = ["window"]


@pytest.mark.parametrize("way", RUN)
def test_it_runs(window, qtbot, way):
    window.session.document.set_text("ab")
    RUN[way](window, qtbot, "shout.text")
    assert window.session.document.content.grammar.text == "AB"


def test_it_says_why_it_cannot_run(window):
    window.session.document.set_text("")
    action = window.commands["shout.text"]
    assert not action.isEnabled()
    assert action.toolTip() == "There is no text"
