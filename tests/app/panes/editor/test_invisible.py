"""Invisible characters are marked in the editor, and named in its tool tips."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.panes.editor.pane import EditorPane

HIDDEN = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u3164", "\U000e0041"]


@pytest.mark.parametrize("character", HIDDEN, ids=ascii)
@pytest.mark.parametrize("before", ["a", "\U0001f600"], ids=["letter", "astral"])
def test_it_is_marked_and_named(pane: EditorPane, qtbot: QtBot, character: str, before: str) -> None:
    pane.set_text(f"{before}{character}b")
    qtbot.turns()
    marked = pane.edit.viewport().grab().toImage()
    place = pane.edit.point_of(1)
    warm = [
        (x, y)
        for x in range(max(0, place.x() - 4), place.x() + 5)
        for y in range(marked.height())
        if (colour := marked.pixelColor(x, y)).red() > colour.blue() + 60
    ]
    assert warm, "nothing is drawn where the character is"
    assert f"U+{ord(character):04X}" in pane.edit.tip_at(1)
    assert f"U+{ord(character):04X}" in pane.edit.tip_at(0)


def test_it_is_marked_in_a_long_line(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_text("\u200b" + "é" * 20_000)
    qtbot.turns()
    marked = pane.edit.viewport().grab().toImage()
    place = pane.edit.point_of(0)
    assert any(
        (colour := marked.pixelColor(place.x(), y)).red() > colour.blue() + 60
        for y in range(place.y() - 4, place.y() + 4)
    )


def test_ordinary_text_has_no_mark_and_no_tip(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_text("a b\u00a0c\tdé\u0301 漢字 \U0001f600")
    assert [pane.edit.tip_at(offset) for offset in range(len(pane.text()))] == [""] * len(pane.text())
