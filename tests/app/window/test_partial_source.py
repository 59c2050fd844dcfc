"""A model whose server lists its best tokens only, in the whole window, by mouse and keys."""

from __future__ import annotations

import html
import re

import pytest
from catalogue_texts import shows
from model_doubles import LETTERS
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.models.candidates import CandidateColumn
from engine.decoding.values import StepOrigin


def rows(desk) -> list[str]:
    model = desk.panes.generation.candidates.table.candidates
    return [model.index(row, CandidateColumn.PROBABILITY).data() for row in range(model.rowCount())]


def press_step(desk) -> None:
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_F11)


def test_a_step_that_cannot_be_drawn_is_refused_and_a_click_takes_a_token(desk):
    desk.open("[a-z]{3}", "partial")
    table = desk.panes.generation.candidates.table
    desk.wait(lambda: "? → ?" in rows(desk))
    press_step(desk)
    banner = desk.panes.generation.banner
    size = len(LETTERS)
    desk.wait(lambda: shows(banner.text(), "errors.decoding.partial.draw", name="Partial", known=5, size=size))
    assert desk.output == b""
    row = table.candidates.row_of(LETTERS.index(b"q"))
    table.scrollTo(table.candidates.index(row, CandidateColumn.TOKEN))
    box = table.visualRect(table.candidates.index(row, CandidateColumn.TOKEN))
    desk.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=box.center())
    desk.wait(lambda: desk.output == b"q")
    (step,) = (node.step for node in desk.session.decoding.view.trace.nodes)
    assert step.p is None
    allowed = sum(1 for token in LETTERS if re.fullmatch(rb"[a-z]{1,3}", token or b""))
    # All are as probable as those that are known: no other mass is possible.
    assert step.z == pytest.approx(allowed / size, rel=1e-5)


def test_the_server_draws_and_the_step_says_so(desk):
    desk.open("[a-z]{3}", "drawing")
    press_step(desk)
    desk.wait(lambda: len(desk.output or b"") == 1)
    (node,) = desk.session.decoding.view.trace.nodes
    assert node.step.origin is StepOrigin.SOURCE
    (chip,) = desk.panes.generation.output.chips.chips
    assert html.escape(ui_text("generation.chip.origin.source")) in chip.tip()


def test_a_search_asks_for_an_unknown_token(desk):
    desk.open("[a-z]{3}", "drawing")
    desk.wait(lambda: "? → ?" in rows(desk))
    desk.qtbot.keyClicks(desk.panes.generation.candidates.search, '"~"')
    desk.wait(lambda: len(rows(desk)) == 1 and not rows(desk)[0].startswith("?"))
