"""The pane as a user meets it: values in, clicks and keys, signals out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decode_views import MODEL, WHY, position, step, trace, view
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from app import theme
from app.catalogue import ui_text
from app.panes.generation.pane import GenerationPane
from app.workers.requests.decode import DecodeView
from engine.decoding.values import ArchivedBranch, Chat, Finish, SamplerSettings

LEFT = Qt.MouseButton.LeftButton


def test_a_chip_goes_to_its_step(qtbot, pane):
    pane.show_view(view(trace((b"a", b"b", b"c"))))
    with qtbot.waitSignal(pane.node_clicked) as gone:
        qtbot.mouseClick(pane.output.chips.viewport(), LEFT, pos=pane.output.chips.rect_of(0).center().toPoint())
    assert gone.args == [0]


def test_the_output_can_be_copied(qtbot, pane):
    pane.show_view(view(trace((b"a", b" b")), position(output=b"a b")))
    qtbot.mouseClick(pane.output.copy, LEFT)
    assert QGuiApplication.clipboard().text() == "a b"


def test_a_finished_output(pane):
    pane.show_view(view(trace((b"a",)), position((), output=b"a", finish=Finish.STOP, accepting=True)))
    pane.set_refusal(ui_text("session.refusal.complete"))
    assert pane.headline.text == ui_text("generation.headline.finished.complete").replace("*", "")
    assert pane.candidates.search.isHidden()


def test_a_pane_without_a_model_says_so(qtbot):
    pane = GenerationPane()
    qtbot.addWidget(pane)
    assert pane.headline.text == ui_text("generation.pane.no_model")
    pane.set_refusal(ui_text("session.refusal.model_loading"))
    pane.show_view(DecodeView())
    assert pane.headline.text == ui_text("session.refusal.model_loading")


def test_a_chat_shows_where_the_model_has_a_template(pane):
    pane.show_view(replace(view(), prompt=Chat((("user", "Hello"),))))
    assert not pane.prompt.as_chat.isHidden()
    pane.show_view(replace(view(), model=replace(MODEL, has_chat=False), prompt=""))
    assert pane.prompt.as_chat.isHidden()


def test_the_sampler_is_reported(qtbot, pane):
    with qtbot.waitSignal(pane.sampler_edited) as edited:
        pane.sampler.popover.seed.setValue(5)
    assert edited.args == [SamplerSettings(seed=5)]


def test_the_budget_is_reported_and_shown(qtbot, pane):
    budget = pane.budget
    with qtbot.waitSignal(pane.budget_edited) as edited:
        budget.selectAll()
        qtbot.keyClicks(budget, "12")
        qtbot.keyClick(budget, Qt.Key.Key_Return)
    assert edited.args == [12]
    with qtbot.assertNotEmitted(pane.budget_edited):
        pane.show_view(replace(view(), max_tokens=200_000))
    assert budget.value() == 200_000


def test_a_budget_that_is_being_typed_stays(qtbot, pane):
    budget = pane.budget
    budget.selectAll()
    qtbot.keyClicks(budget, "12")
    pane.show_view(replace(view(), max_tokens=99))
    assert "12" in budget.lineEdit().text()


FORMER = ArchivedBranch("A model", "hi", (step(b"x"), step(b"yz", by="user")))


def test_an_earlier_output_is_opened_and_closed(qtbot, pane):
    pane.show_view(view(trace((b"a",))))
    pane.show_archived((FORMER,))
    (button,) = pane.output.branches.buttons
    assert ui_text("generation.branches.click_archived") in button.toolTip()
    qtbot.mouseClick(button, LEFT)
    assert [chip.text for chip in pane.output.chips.chips] == ["x", "yz"]
    branch = ui_text("generation.branches.prompt", model="A model", prompt="hi")
    tokens = ui_text("common.count.tokens", count=2)
    assert pane.output.tally.text() == ui_text("generation.output.read_only", tokens=tokens, branch=branch)
    pane.output.copy.click()
    assert QGuiApplication.clipboard().text() == "xyz"
    with qtbot.assertNotEmitted(pane.node_clicked):
        qtbot.mouseClick(pane.output.chips.viewport(), LEFT, pos=pane.output.chips.rect_of(0).center().toPoint())
    pane.output.resume.click()
    assert [chip.text for chip in pane.output.chips.chips] == ["a"]
    assert pane.output.title.text() == ui_text("common.word.output")


def test_a_step_ends_reading(pane):
    pane.show_view(view(trace((b"a",))))
    pane.show_archived((FORMER,))
    pane.output.read(FORMER)
    pane.show_view(view(trace((b"a",))))
    assert not pane.output.resume.isHidden()
    pane.show_view(view(trace((b"a", b"b"))))
    assert pane.output.resume.isHidden()
    assert len(pane.output.chips.chips) == 2


def test_another_document_takes_its_earlier_outputs_along(pane):
    pane.show_archived((FORMER,))
    pane.output.read(FORMER)
    pane.show_archived(())
    assert pane.output.branches.isHidden()
    assert pane.output.title.text() == ui_text("common.word.output")


def test_a_refused_request_is_shown_until_the_next_one_succeeds(pane):
    pane.show_view(replace(view(), error="The prompt holds é, which this model does not know"))
    assert pane.banner.isVisible()
    pane.show_view(view())
    assert pane.banner.isHidden()


def test_a_refused_prompt_stays_to_be_corrected(qtbot, pane):
    pane.prompt.text.setPlainText("é")
    pane.commit_prompt()
    pane.show_view(replace(view(), error="The prompt holds é"))
    assert pane.prompt.prompt() == "é"


def test_a_refusal_does_not_replace_a_banner_with_a_button(qtbot, pane):
    pressed = []
    pane.show_banner("SmolLM2 did not load", "No network", button="Try again", action=lambda: pressed.append(1))
    pane.show_view(replace(view(), error="No network"))
    qtbot.mouseClick(pane.banner.button, LEFT)
    assert pressed == [1]
    assert pane.banner.isHidden()


def test_a_banner_can_be_dismissed(qtbot, pane):
    pane.show_banner("Press Step. Click a struck-through token to see why it is masked.", severity="hint")
    with qtbot.waitSignal(pane.banner.dismissed):
        qtbot.mouseClick(pane.banner.close_button, LEFT)
    assert pane.banner.isHidden()


def test_loading_a_model_shows_its_progress_and_can_be_cancelled(qtbot, pane):
    pane.show_loading("Fetching SmolLM2", 45_300_000, 98_000_000)
    assert pane.loading.text == "Fetching SmolLM2 · 45 of 98 MB"
    button = pane.loading.findChild(QPushButton)
    with qtbot.waitSignal(pane.loading_cancelled):
        qtbot.mouseClick(button, LEFT)
    pane.show_loading("Reading", 3, 10)
    assert pane.loading.text == "Reading · 3 of 10"
    pane.show_loading("")
    assert pane.loading.isHidden()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_it_paints_in_both_themes(qapp, pane, name):
    before = theme.current().name
    theme.apply(qapp, name)
    pane.show_view(view(trace((b"a", b"\n", b"c"), illegal=(2,), forced=(1,)), position(output=b"a\nc")))
    pane.show_why(WHY)
    image = pane.grab().toImage()
    assert image.pixelColor(2, image.height() - 2) == theme.colour(theme.Role.PANEL)
    theme.apply(qapp, before)
