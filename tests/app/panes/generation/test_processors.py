from dataclasses import replace

import pytest
from decode_views import view
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.panes.generation.processors_button import Processors
from app.panes.generation.processors_format import summary
from app.workers.requests.decode import DecodeView, PipelineRefused, RefusedStage
from engine.decoding.pipeline_settings import (
    Afterwards,
    PipelineSettings,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.stage_texts import stage_title
from engine.decoding.stages import STAGES

FULL = PipelineSettings(
    order=("suppress", *(name for name in STAGES.names if name != "suppress")),
    zones=ZoneSettings("</think>", "", "\n", Afterwards.AGAIN, required=False),
    budget=True,
    static="LOWER{2}",
    pattern="UPPER+",
    table=TableSettings(((1, 1, 1),), 1),
    suppress=("e", " x"),
    suppress_ids=(5,),
    bias=(("the", 2.0),),
)


@pytest.fixture
def processors(qtbot, qwidget):
    return Processors(qwidget)


@pytest.fixture
def qwidget(qtbot):
    from PySide6.QtWidgets import QHBoxLayout, QWidget

    widget = QWidget()
    QHBoxLayout(widget)
    qtbot.addWidget(widget)
    widget.show()
    return widget


@pytest.fixture
def dialog(qtbot, processors, qwidget):
    qwidget.layout().addWidget(processors.button)
    QTest.mouseClick(processors.button, Qt.MouseButton.LeftButton)
    qtbot.waitExposed(processors.dialog)
    return processors.dialog


def switch(dialog, stage):
    """Click the check box of a stage."""
    box = dialog.stages.visualItemRect(next(dialog.stages.item(i) for i, s in enumerate(dialog.order) if s == stage))
    QTest.mouseClick(dialog.stages.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box.left() + 16, box.center().y()))


def choose(dialog, stage):
    box = dialog.stages.visualItemRect(next(dialog.stages.item(i) for i, s in enumerate(dialog.order) if s == stage))
    at = QPoint(box.right() - 30, box.center().y())
    QTest.mouseClick(dialog.stages.viewport(), Qt.MouseButton.LeftButton, pos=at)


def bias_error():
    """Return the beginning of the message about an unreadable first line of the biases."""
    reason = ui_text("generation.unreadable.fragment.bias")
    line = ui_text("generation.unreadable.fragment.line", number=1, reason=reason)
    return f"{stage_title('bias')}: {line}"


def problem(state, stage, reason):
    return ui_text(f"generation.processors.problem.{state}", stage=stage_title(stage), reason=reason)


def tick(box):
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


def test_the_chip_says_what_is_on_and_hides_where_nothing_is(processors):
    processors.show_view(DecodeView())
    assert not processors.chip.text()
    processors.show_view(replace(view(), pipeline=PipelineSettings(budget=True, suppress=("e",))))
    assert processors.chip.text() == summary(PipelineSettings(budget=True, suppress=("e",)))
    assert processors.chip.text() in processors.chip.accessibleName()
    processors.show_view(replace(view(), pipeline_error="They do not fit"))
    assert processors.chip.text().startswith("!")
    assert processors.chip.toolTip() == "They do not fit"


def test_settings_go_through_the_fields_unchanged(qtbot, processors, dialog):
    processors.show_view(replace(view(), pipeline=FULL))
    assert dialog.order == FULL.order
    QTest.mouseClick(dialog.down, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(processors.edited) as moved:
        pass
    assert replace(moved.args[0], order=FULL.order) == FULL


def test_a_trigger_is_typed(qtbot, processors, dialog):
    tick(dialog.fields.widget_of("zones").is_partial)
    assert dialog.fields.widget_of("zones").after.hasFocus()
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClicks(dialog.fields.widget_of("zones").after, "</think>")
    assert edited.args == [PipelineSettings(zones=ZoneSettings(after="</think>"))]
    after = ui_text("generation.zone.fragment.after", text="</think>")
    assert dialog.item_text("grammar") == f"{stage_title('grammar')} · {after}"


def test_a_switch_turns_a_stage_on(qtbot, processors, dialog):
    with qtbot.waitSignal(processors.edited) as edited:
        switch(dialog, "budget")
    assert edited.args == [PipelineSettings(budget=True)]
    with qtbot.waitSignal(processors.edited) as edited:
        switch(dialog, "budget")
    assert edited.args == [PipelineSettings()]


def test_typing_into_a_stage_turns_it_on_and_its_switch_keeps_the_text(qtbot, processors, dialog):
    choose(dialog, "suppress")
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClicks(dialog.fields.widget_of("suppress"), "e")
    assert edited.args == [PipelineSettings(suppress=("e",))]
    with qtbot.waitSignal(processors.edited) as edited:
        switch(dialog, "suppress")
    assert edited.args == [PipelineSettings()]
    with qtbot.waitSignal(processors.edited) as edited:
        switch(dialog, "suppress")
    assert edited.args == [PipelineSettings(suppress=("e",))]


def test_stages_move_by_keys_and_by_buttons(qtbot, processors, dialog):
    choose(dialog, "budget")
    dialog.stages.setFocus()
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClick(dialog.stages, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert edited.args[0].order[:2] == ("budget", "grammar")
    assert not dialog.up.isEnabled()
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.mouseClick(dialog.down, Qt.MouseButton.LeftButton)
    assert edited.args[0].order == STAGES.names


def test_a_dragged_stage_is_reported(qtbot, processors, dialog):
    model = dialog.stages.model()
    root = dialog.stages.rootIndex()
    with qtbot.waitSignal(processors.edited) as edited:
        assert model.moveRow(root, 5, root, 0)  # what the list does with a drop
    assert edited.args[0].order[:2] == ("suppress", "grammar")


def test_an_unreadable_stage_is_shown_at_once_and_not_sent(qtbot, processors, dialog):
    choose(dialog, "bias")
    with qtbot.assertNotEmitted(processors.edited, wait=400):
        QTest.keyClicks(dialog.fields.widget_of("bias"), "the +2")
    error = dialog.fields.error_of("bias")
    assert error.isVisible()
    assert error.text().startswith(bias_error())
    dialog.fields.widget_of("bias").clear()
    assert ui_text("generation.stage.bias.fragment.missing") in error.text()
    with qtbot.waitSignal(processors.edited):
        QTest.keyClicks(dialog.fields.widget_of("bias"), "the = +2")
    assert not error.isVisible()


def test_a_grammar_that_comes_again_needs_a_trigger(processors, dialog):
    tick(dialog.fields.widget_of("zones").is_partial)
    dialog.fields.widget_of("zones").then.setFocus()
    QTest.keyClick(dialog.fields.widget_of("zones").then, Qt.Key.Key_End)
    assert dialog.fields.widget_of("zones").then.currentIndex() == 2
    dialog.fields.widget_of("zones").then.activated.emit(2)
    assert dialog.fields.error_of("grammar").text().startswith(f"{stage_title('grammar')}: ")
    assert list(dialog.problems) == ["grammar"]


def test_a_refusal_is_shown_and_the_input_stays(qtbot, processors, dialog):
    choose(dialog, "pattern")
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClicks(dialog.fields.widget_of("pattern"), "UPER")
    processors.show_refusal(PipelineRefused(edited.args[0], "UPER is no class"))
    assert dialog.message.text() == ui_text("generation.processors.unchanged", reason="UPER is no class")
    processors.show_view(view())  # a step in between
    assert dialog.fields.widget_of("pattern").text() == "UPER"
    assert dialog.message.isVisible()


def test_the_answer_to_an_older_edit_does_not_overwrite_a_newer_one(qtbot, processors, dialog):
    choose(dialog, "pattern")
    with qtbot.waitSignal(processors.edited) as first:
        QTest.keyClicks(dialog.fields.widget_of("pattern"), "UPPER")
    with qtbot.waitSignal(processors.edited) as second:
        QTest.keyClicks(dialog.fields.widget_of("pattern"), "+")
    processors.show_view(replace(view(), pipeline=first.args[0]))
    assert dialog.fields.widget_of("pattern").text() == "UPPER+"
    processors.show_view(replace(view(), pipeline=second.args[0]))
    assert dialog.fields.widget_of("pattern").text() == "UPPER+"


def test_reset_goes_back_to_the_grammar_alone(qtbot, processors, dialog):
    processors.show_view(replace(view(), pipeline=FULL))
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.mouseClick(dialog.reset, Qt.MouseButton.LeftButton)
    assert edited.args == [PipelineSettings()]
    assert dialog.order == STAGES.names
    assert not dialog.fields.widget_of("pattern").text()


def test_what_was_typed_last_is_sent_when_the_dialog_closes(qtbot, processors, dialog):
    choose(dialog, "suppress")
    QTest.keyClicks(dialog.fields.widget_of("suppress"), "x")
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert edited.args[0].suppress == ("x",)
    assert not dialog.isVisible()


def test_every_field_and_button_has_a_name(dialog):
    from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit

    for kind in (QLineEdit, QPlainTextEdit, QComboBox):
        for field in dialog.findChildren(kind):
            if not field.objectName().startswith("qt_"):
                assert field.accessibleName(), field
    for button in dialog.findChildren(QAbstractButton):
        assert button.text() or button.accessibleName()


def test_an_unreadable_stage_does_not_hold_up_the_others(qtbot, processors, dialog):
    choose(dialog, "static")
    QTest.keyClicks(dialog.fields.widget_of("static"), "x")  # and so the stage is on
    dialog.fields.widget_of("static").clear()
    choose(dialog, "bias")
    QTest.keyClicks(dialog.fields.widget_of("bias"), "the +2")
    with qtbot.waitSignal(processors.edited) as edited:
        switch(dialog, "budget")
    assert edited.args == [PipelineSettings(budget=True)]
    assert list(dialog.problems) == ["static", "bias"]
    assert dialog.item_text("bias").startswith(f"✗ {stage_title('bias')}")
    assert dialog.fields.error_of("bias").text().startswith(bias_error())


def test_a_stage_that_cannot_be_read_any_more_stays_as_it_was(qtbot, processors, dialog):
    processors.show_view(replace(view(), pipeline=PipelineSettings(bias=(("the", 2.0),))))
    choose(dialog, "bias")
    dialog.fields.widget_of("bias").setPlainText("the = x")
    (reason,) = dialog.problems.values()
    assert dialog.fields.error_of("bias").text() == problem("kept", "bias", reason)
    with qtbot.waitSignal(processors.edited) as edited:
        switch(dialog, "budget")
    assert edited.args == [PipelineSettings(budget=True, bias=(("the", 2.0),))]


def test_a_stage_that_the_model_refuses_is_marked_and_the_others_are_in_force(qtbot, processors, dialog):
    switch(dialog, "budget")
    choose(dialog, "pattern")
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClicks(dialog.fields.widget_of("pattern"), "UPER")
    asked, in_force = edited.args[0], PipelineSettings(budget=True)
    stages = (RefusedStage("pattern", "UPER is no class"),)
    processors.show_refusal(PipelineRefused(asked, stages=stages, in_force=in_force))
    processors.show_view(replace(view(), pipeline=in_force))
    assert dialog.fields.error_of("pattern").text() == problem("off", "pattern", "UPER is no class")
    assert dialog.fields.widget_of("pattern").text() == "UPER"
    assert dialog.item_text("pattern").startswith(f"✗ {stage_title('pattern')}")
    processors.show_view(replace(view(), pipeline=replace(in_force, suppress=("e",))))  # from elsewhere
    assert dialog.fields.error_of("pattern").text() == problem("off", "pattern", "UPER is no class")
    assert dialog.fields.widget_of("suppress").toPlainText() == "e"
    switch(dialog, "pattern")
    assert not dialog.problems
    assert not dialog.fields.error_of("pattern").isVisible()


def test_a_refused_stage_is_tried_again_with_another_model(qtbot, processors, dialog):
    choose(dialog, "pattern")
    with qtbot.waitSignal(processors.edited) as edited:
        QTest.keyClicks(dialog.fields.widget_of("pattern"), "UPER")
    stages = (RefusedStage("pattern", "UPER is no class"),)
    processors.show_refusal(PipelineRefused(edited.args[0], stages=stages))
    processors.show_view(view())
    other = replace(view(), model=replace(view().model, vocabulary_fingerprint="another"))
    with qtbot.waitSignal(processors.edited) as again:
        processors.show_view(other)
    assert again.args == edited.args


@pytest.fixture
def noticed(qtbot, processors, dialog, qwidget):
    """The processors with a stage that cannot be read, their dialog closed."""
    qwidget.layout().addWidget(processors.notice)
    qwidget.layout().addWidget(processors.chip)
    choose(dialog, "bias")
    QTest.keyClicks(dialog.fields.widget_of("bias"), "the +2")
    assert not processors.notice.isVisible()  # the dialog says it
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    return processors


def test_an_invalid_stage_is_shown_while_the_dialog_is_closed(noticed):
    assert noticed.notice.isVisible()
    bias = stage_title("bias")
    assert noticed.notice.text() == ui_text("generation.processors.notice", stages=bias)
    assert noticed.notice.detail_label.text().startswith(bias_error())
    assert noticed.chip.isVisible()
    assert noticed.chip.text() == f"✗ {ui_text('generation.processors.invalid', stages=bias)}"
    assert bias_error() in noticed.chip.accessibleName()


def test_the_notice_opens_the_dialog_at_the_field(qtbot, noticed):
    QTest.mouseClick(noticed.notice.button, Qt.MouseButton.LeftButton)
    qtbot.waitExposed(noticed.dialog)
    assert noticed.dialog.fields.widget_of("bias").isVisible()
    assert noticed.dialog.fields.widget_of("bias").hasFocus()
    assert not noticed.notice.isVisible()
    noticed.dialog.close()
    assert noticed.notice.isVisible()


def test_reset_discards_what_cannot_be_read(noticed):
    noticed.reset()
    assert not noticed.problems
    assert not noticed.notice.isVisible()
    assert not noticed.chip.isVisible()
    assert not noticed.dialog.fields.widget_of("bias").toPlainText()


def test_another_document_does_not_inherit_what_was_typed(noticed):
    noticed.forget()
    assert not noticed.problems
    assert not noticed.notice.isVisible()


def test_a_step_does_not_summarise_the_processors_again(processors, monkeypatch):
    shown = []
    monkeypatch.setattr(
        "app.panes.generation.processors_button.summary", lambda settings: shown.append(settings) or summary(settings)
    )
    for _ in range(3):
        processors.show_view(replace(view(), pipeline=replace(FULL)))
    processors.show_view(replace(view(), pipeline=PipelineSettings(budget=True)))
    assert shown == [FULL, PipelineSettings(budget=True)]
    assert processors.button.toolTip() == ui_text(
        "generation.processors.tip", processors=processors.chip.accessibleName()
    )
