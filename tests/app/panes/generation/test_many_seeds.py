"""Many seeds in one go."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decode_views import view
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.models.outcomes import OutcomeColumn
from app.workers.requests.decode import DecodeView, ManyAnswer
from engine.decoding.values import Finish, SampleOutcome, SamplerSettings

LEFT = Qt.MouseButton.LeftButton


def test_many_seeds(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    pane.many.count.setValue(2)
    with qtbot.waitSignal(pane.many_wanted) as wanted:
        qtbot.mouseClick(pane.many.sample, LEFT)
    assert wanted.args == [2]
    outcomes = (SampleOutcome(0, "ab", Finish.STOP, True, 2), SampleOutcome(1, "a", Finish.LENGTH, False, 9))
    pane.show_many(ManyAnswer(outcomes[:1], 2, done=False))
    assert pane.many.cancel.isVisible()
    pane.show_many(ManyAnswer(outcomes, 2, done=True))
    assert pane.many.summary.text() == "2 outputs · 1 finished · 1 match · 2 distinct"
    assert pane.many.cancel.isHidden()


def test_many_seeds_can_be_cancelled(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    qtbot.mouseClick(pane.many.sample, LEFT)
    with qtbot.waitSignal(pane.many_cancelled):
        qtbot.mouseClick(pane.many.cancel, LEFT)
    assert pane.many.sample.isVisible()


def test_many_seeds_end_with_a_refusal_or_a_lost_worker(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    for ending in (replace(view(), error="The prompt is too long"), DecodeView()):
        qtbot.mouseClick(pane.many.sample, LEFT)
        assert pane.many.cancel.isVisible()
        with qtbot.assertNotEmitted(pane.many_cancelled):
            pane.show_view(ending)
        assert pane.many.sample.isVisible()


def test_outputs_can_be_copied(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    pane.show_many(ManyAnswer((SampleOutcome(0, "a b", Finish.STOP, True, 2),), 1, done=True))
    pane.many.table.selectRow(0)
    qtbot.keyClick(pane.many.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "a b"


@pytest.mark.parametrize("how", ["double click", "return", "button"])
def test_an_output_can_be_opened(qtbot, pane, how):
    many = pane.many
    pane.pages.setCurrentWidget(many)
    qtbot.mouseClick(many.sample, LEFT)
    outcomes = SampleOutcome(7, "ab", Finish.STOP, True, 2, 0.25), SampleOutcome(8, "a", Finish.LENGTH, False, 9)
    pane.show_many(ManyAnswer(outcomes, 2, done=True))
    assert not many.open_button.isEnabled()
    cell = many.table.visualRect(many.model.index(1, OutcomeColumn.TEXT)).center()
    qtbot.mouseClick(many.table.viewport(), LEFT, pos=cell)
    with qtbot.waitSignal(pane.seed_opened) as opened:
        if how == "double click":
            qtbot.mouseDClick(many.table.viewport(), LEFT, pos=cell)
        elif how == "return":
            qtbot.keyClick(many.table, Qt.Key.Key_Return)
        else:
            qtbot.mouseClick(many.open_button, LEFT)
    assert opened.args == [8]


def test_an_output_of_other_settings_cannot_be_opened(qtbot, pane):
    many = pane.many
    pane.pages.setCurrentWidget(many)
    qtbot.mouseClick(many.sample, LEFT)
    pane.show_many(ManyAnswer((SampleOutcome(7, "ab", Finish.STOP, True, 2),), 1, done=True))
    many.table.selectRow(0)
    pane.show_view(replace(view(), sampler=SamplerSettings(seed=5)))
    assert many.open_button.isEnabled()
    pane.show_view(replace(view(), sampler=SamplerSettings(temperature=0.5)))
    assert not many.open_button.isEnabled()
    with qtbot.assertNotEmitted(pane.seed_opened):
        qtbot.keyClick(many.table, Qt.Key.Key_Return)


def test_nothing_is_sampled_or_opened_while_the_grammar_is_refused(qtbot, pane):
    many = pane.many
    pane.pages.setCurrentWidget(many)
    qtbot.mouseClick(many.sample, LEFT)
    pane.show_many(ManyAnswer((SampleOutcome(7, "ab", Finish.STOP, True, 2),), 1, done=True))
    many.table.selectRow(0)
    assert many.open_button.isEnabled()
    pane.set_sampling_refusal("The pattern is not valid")
    assert not many.sample.isEnabled()
    assert not many.open_button.isEnabled()
    assert many.open_button.toolTip() == "The pattern is not valid"
    pane.set_sampling_refusal("")
    assert many.open_button.isEnabled()
