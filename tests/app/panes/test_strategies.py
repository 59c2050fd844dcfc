"""The pane that compares strategies."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app import theme
from app.catalogue import ui_text
from app.panes.strategies.pane import StrategiesPane
from app.workers.protocol import Progress
from app.workers.requests.strategies import (
    ComparedText,
    ParticleRun,
    ParticleStep,
    StrategiesComparison,
    StrategyFigures,
    TreeAnswer,
)
from engine.decoding.strategies.found_texts import FoundText, FoundTexts, Measure

FIGURES = (
    StrategyFigures("local", 0.405, 0.345, is_of_strategy=True, p_grammar=0.0014, tries=50, accepted=50, calls=37),
    StrategyFigures("cars", None, 0.05, p_grammar=0.0013, tries=92, accepted=50, calls=37, seconds=0.8),
    StrategyFigures("lookahead", why_not="It nests."),
)
TEXTS = (
    ComparedText(b"11111", (1, 1, 1, 1, 1, 2), 0.56, (0.33, 0.55, 0.0)),
    ComparedText(b"00000", (0, 0, 0, 0, 0, 2), 0.0, (0.063, 0.0, 0.0)),
)
PARTICLES = ParticleRun(
    "smc",
    (
        ParticleStep((0, 1, 1), ("0", "1", "1"), (0.05, 0.475, 0.475)),
        ParticleStep((0, 1, 0), ("0", "1", "0"), (0.01, 0.69, 0.3), (1, 1, 2)),
        ParticleStep((1, 0, 1), ("1", "0", "1"), (0.4, 0.3, 0.3)),
        ParticleStep((-1, 1, -1), ("", "1", ""), (0.4, 0.3, 0.3)),
    ),
)
ANSWER = StrategiesComparison(FIGURES, TEXTS, 2, 0.00132, particles=(PARTICLES,), done=True)
FOUND = FoundTexts(
    (
        FoundText(b"11111", (1, 1, 1, 1, 1, 2), 1, 0.0007, 0.33, (0.55, 0.57)),
        FoundText(b"11101", (1, 1, 1, 0, 1, 2), 2, 0.0002, 0.035, (0.13, 0.14)),
    ),
    (0.0012, 0.0013),
    0.3,
    31,
    is_complete=True,
)


@pytest.fixture
def whole(qtbot):
    pane = StrategiesPane()
    qtbot.addWidget(pane)
    pane.resize(1280, 240)
    pane.show()
    return pane


@pytest.fixture
def pane(whole):
    return whole.comparison


def cells(table, row):
    return [table.item(row, column).text() for column in range(table.columnCount())]


def press(pane):
    QTest.mouseClick(pane.run_button, Qt.MouseButton.LeftButton)


def test_picked_strategies_are_compared_with_a_number_of_samples_or_of_calls(qtbot, pane):
    with qtbot.waitSignal(pane.wanted) as wanted:
        press(pane)
    assert wanted.args == [pane.picked, 50, None]
    assert len(pane.picked) >= 2
    pane.list.setFocus()
    pane.list.setCurrentRow(1)
    QTest.keyClick(pane.list, Qt.Key.Key_Space)
    assert "greedy" in pane.picked
    pane.limit.setCurrentIndex(1)
    with qtbot.waitSignal(pane.wanted) as wanted:
        press(pane)
    assert wanted.args == [pane.picked, 50, 50]


def test_nothing_is_compared_without_a_strategy_or_a_model(pane):
    pane.set_refusal("No model.")
    assert not pane.run_button.isEnabled()
    pane.set_refusal("")
    assert pane.run_button.isEnabled()
    for row in range(pane.list.count()):
        pane.list.item(row).setCheckState(Qt.CheckState.Unchecked)
    assert not pane.run_button.isEnabled()


def test_numbers_and_shares_are_listed_and_a_double_click_opens_a_text(qtbot, pane):
    pane.show_answer(ANSWER)
    assert cells(pane.figures, 0)[1:3] == ["0.405", "0.345"]
    assert cells(pane.figures, 1)[1] == "–"
    assert cells(pane.figures, 2)[1:] == ["–"] * 6
    assert pane.figures.item(2, 0).toolTip() == "It nests."
    assert cells(pane.texts, 0)[0] == "11111"
    assert pane.texts.columnCount() == 2 + len(FIGURES)
    centre = pane.texts.visualItemRect(pane.texts.item(1, 0)).center()
    viewport = pane.texts.viewport()
    with qtbot.waitSignal(pane.opened) as opened:
        QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=centre)
        QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=centre)
    assert opened.args == [TEXTS[1].ids]


def test_the_button_cancels_while_texts_are_drawn_and_what_was_drawn_stays(qtbot, pane):
    pane.begin()
    pane.show_answer(Progress("CARS", 1, 3))
    assert pane.bar.isVisible()
    assert (pane.bar.value(), pane.bar.maximum()) == (1, 3)
    pane.show_answer(StrategiesComparison(FIGURES[:1], TEXTS[:1], 1))
    with qtbot.waitSignal(pane.cancelled):
        press(pane)
    pane.stop("Cancelled.")
    assert not pane.bar.isVisible()
    assert pane.figures.rowCount() == 1
    assert pane.run_button.text() == ui_text("strategies.pane.compare")


def test_results_of_another_grammar_are_forgotten(pane):
    pane.show_answer(ANSWER)
    pane.forget()
    assert pane.texts.rowCount() == pane.figures.rowCount() == 0


def test_particles_are_drawn_and_open_up_to_a_column(qtbot, whole, pane):
    pane.show_answer(ANSWER)
    whole.tabs.setCurrentIndex(1)
    view = whole.particles.view
    ground = theme.colour(theme.Role.PANEL)
    picture = view.viewport().grab().toImage()
    assert any(picture.pixelColor(x, y) != ground for x in range(0, 300, 7) for y in range(30, 120, 7))
    centre = view.box_of(2, 0).center().toPoint()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert view.current == (2, 0)
    assert PARTICLES.path_of(2, 0) == [1, 1, 0]  # it continues the second one
    with qtbot.waitSignal(view.opened) as opened:
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=centre)
    assert opened.args == [(1, 1, 1)]


def test_keys_go_to_particles_and_open_them(qtbot, whole, pane):
    pane.show_answer(ANSWER)
    whole.tabs.setCurrentIndex(1)
    view = whole.particles.view
    view.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left):
        QTest.keyClick(view, key)
    assert view.current == (0, 1)
    assert "1" in view.accessibleDescription()
    QTest.keyClick(view, Qt.Key.Key_End)
    with qtbot.waitSignal(view.opened) as opened:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert opened.args == [(1,)]
    assert view.describe(1, 0) != view.describe(1, 1)
    pane.forget()
    assert view.current == (-1, -1)


def test_the_search_lists_texts_with_three_probabilities_and_opens_them(qtbot, whole):
    page = whole.tree
    whole.tabs.setCurrentIndex(2)
    page.mass.setValue(2)
    page.measure.setCurrentIndex(1)
    with qtbot.waitSignal(page.wanted) as wanted:
        press(page)
    assert wanted.args[0] is Measure.LOCAL
    assert wanted.args[1] == pytest.approx(0.02)
    page.begin()
    page.show_answer(TreeAnswer(FOUND, done=False))
    assert page.bar.isVisible()
    page.show_answer(TreeAnswer(FOUND, done=True))
    assert not page.bar.isVisible()
    assert "31" in page.summary.text()
    assert cells(page.texts, 1)[0] == "11101"
    assert cells(page.texts, 1)[4] == "2"
    page.texts.setFocus()
    page.texts.setCurrentCell(1, 0)
    with qtbot.waitSignal(page.opened) as opened:
        QTest.keyClick(page.texts, Qt.Key.Key_Return)
    assert opened.args == [FOUND.texts[1].ids]
    page.forget()
    assert page.texts.rowCount() == 0
