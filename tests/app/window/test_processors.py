"""The processors, used as a user uses them: in the window, with real workers."""

import json
import os
import signal

import pytest
from catalogue_texts import shows
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.document.gallery import examples
from app.panes.generation.processors_format import summary
from engine.decoding.pipeline_settings import PipelineSettings, ZoneSettings
from engine.decoding.stage_texts import stage_title
from engine.decoding.stages import STAGES
from engine.decoding.values import Finish, SamplerSettings

AGE = json.dumps(
    {
        "type": "object",
        "properties": {"age": {"type": "integer"}},
        "required": ["age"],
        "additionalProperties": False,
    }
)
A, E = ord("a") - 0x20, ord("e") - 0x20


def open_dialog(desk):
    processors = desk.panes.generation.processors
    QTest.mouseClick(processors.button, Qt.MouseButton.LeftButton)
    desk.qtbot.waitExposed(processors.dialog)
    return processors.dialog


def row_of(dialog, stage):
    return dialog.stages.visualItemRect(dialog.stages.item(dialog.order.index(stage)))


def switch(dialog, stage):
    row = row_of(dialog, stage)
    QTest.mouseClick(dialog.stages.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(row.left() + 16, row.center().y()))


def choose(dialog, stage):
    row = row_of(dialog, stage)
    at = QPoint(row.right() - 30, row.center().y())
    QTest.mouseClick(dialog.stages.viewport(), Qt.MouseButton.LeftButton, pos=at)


def in_force(desk):
    return desk.session.decoding.view.pipeline


def run_to_end(desk):
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.finish is not None)
    return desk.session.decoding.view.position


def test_think_then_json(real_desk):
    desk = real_desk
    desk.session.start()
    content = DocumentFile(
        grammar=GrammarPart("json_schema", AGE),
        model=ModelPart("records"),
        prompt="A character named Paul, as JSON:",
        sampler=SamplerSettings(seed=3),
        max_tokens=40,
    )
    desk.document.replace(content)
    desk.wait(lambda: not desk.session.step_refusal)
    dialog = open_dialog(desk)
    tick = dialog.fields.widget_of("zones").is_partial
    QTest.mouseClick(tick, Qt.MouseButton.LeftButton, pos=QPoint(8, tick.height() // 2))
    QTest.keyClicks(dialog.fields.widget_of("zones").after, "</think>")
    switch(dialog, "budget")
    wanted = PipelineSettings(zones=ZoneSettings(after="</think>"), budget=True)
    desk.wait(lambda: in_force(desk) == wanted)
    assert desk.panes.generation.processors.chip.text() == summary(wanted)
    headline = desk.panes.generation.headline
    assert "in the free text · budget: " in headline.text
    assert desk.session.compiling.last_good is not None
    position = run_to_end(desk)
    assert position.finish is Finish.STOP
    _thought, trigger, answer = position.output.partition(b"</think>")
    assert trigger
    assert isinstance(json.loads(answer)["age"], int)
    assert position.grammar_text == answer
    assert desk.document.content.pipeline == wanted
    assert desk.document.is_modified


@pytest.mark.parametrize("tokens", [40, 26])
def test_within_the_budget_steps_with_pauses_and_a_run_write_the_same(real_desk, tokens):
    desk = real_desk
    desk.session.start()
    sheet = next(one for one in examples() if "strength" in one.source).document()
    desk.document.replace(replace(sheet, max_tokens=tokens, sampler=SamplerSettings(seed=0)))
    desk.wait(desk.is_ready)
    desk.window.commands["run.complete"].trigger()
    desk.wait(lambda: in_force(desk).budget)
    decoding = desk.session.decoding
    for number in range(1, tokens + 1):
        QTest.qWait(number % 4 * 15)  # the background work between two steps is in another state each time
        desk.window.commands["run.step"].trigger()
        desk.wait(lambda number=number: decoding.view.position.index == number)
        if decoding.view.position.finish is not None:
            break
    stepped = decoding.view.position
    desk.window.commands["run.restart"].trigger()
    desk.wait(lambda: not desk.output)
    assert stepped.finish is Finish.STOP
    assert run_to_end(desk).output == stepped.output


def test_no_e_is_written_by_the_character_model(real_desk):
    desk = real_desk
    desk.session.start()
    desk.document.replace(
        DocumentFile(grammar=GrammarPart(text="[A-Za-z ]{30}"), model=ModelPart("shakespeare"), max_tokens=100)
    )
    desk.wait(lambda: not desk.session.step_refusal)
    dialog = open_dialog(desk)
    choose(dialog, "suppress")
    QTest.keyClicks(dialog.fields.widget_of("suppress"), "e")
    desk.wait(lambda: in_force(desk).suppress == ("e",))
    position = run_to_end(desk)
    assert len(position.output) == 30
    assert b"e" not in position.output


def test_within_the_budget_the_output_is_complete_and_without_it_is_not(desk):
    desk.open("[a-z]*;")
    desk.session.decoding.set_max_tokens(6)
    desk.wait(lambda: desk.session.decoding.view.max_tokens == 6)
    assert run_to_end(desk).finish is Finish.LENGTH
    desk.window.commands["run.complete"].trigger()
    desk.wait(lambda: in_force(desk).budget)
    assert desk.window.commands["run.complete"].isChecked()
    desk.window.commands["run.restart"].trigger()
    desk.wait(lambda: not desk.output)
    desk.wait(lambda: "6 left; " in desk.panes.generation.headline.text)
    position = run_to_end(desk)
    assert position.finish is Finish.STOP
    assert position.output.endswith(b";")


def test_the_order_is_seen_and_changed(desk):
    desk.open("[a-z]+")
    dialog = open_dialog(desk)
    choose(dialog, "suppress")
    QTest.keyClicks(dialog.fields.widget_of("suppress"), "e")
    desk.wait(lambda: in_force(desk).suppress == ("e",))
    stages = [effect.name for effect in desk.session.decoding.view.position.stages]
    assert stages.index("grammar") < stages.index("suppress")
    dialog.stages.setFocus()
    for _ in range(5):
        QTest.keyClick(dialog.stages, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    desk.wait(lambda: in_force(desk).order[0] == "suppress")
    stages = [effect.name for effect in desk.session.decoding.view.position.stages]
    assert stages.index("suppress") < stages.index("grammar")
    assert ui_text("generation.processors.fragment.custom_order") in desk.panes.generation.processors.chip.text()
    desk.window.commands["run.processors_reset"].trigger()
    desk.wait(lambda: in_force(desk) == PipelineSettings())
    assert dialog.order == STAGES.names
    assert not desk.panes.generation.processors.chip.isVisible()


def test_a_pattern_that_cannot_be_read_is_refused_in_the_dialog(desk):
    desk.open("[a-z]+")
    dialog = open_dialog(desk)
    choose(dialog, "pattern")
    QTest.keyClicks(dialog.fields.widget_of("pattern"), "UPER")
    desk.wait(lambda: "unknown class uper" in dialog.fields.error_of("pattern").text().lower())
    assert in_force(desk) == PipelineSettings()
    assert desk.document.content.pipeline == PipelineSettings()
    dialog.fields.widget_of("pattern").clear()
    QTest.keyClicks(dialog.fields.widget_of("pattern"), "LOWER+")
    desk.wait(lambda: in_force(desk).pattern == "LOWER+")
    assert not dialog.fields.error_of("pattern").isVisible()


def test_one_stage_that_is_not_valid_keeps_no_other_from_being_in_force(desk):
    """Type into two fields what is not valid, use a switch, close the dialog, and reset."""
    desk.open("[a-z]+")
    dialog = open_dialog(desk)
    choose(dialog, "pattern")
    QTest.keyClicks(dialog.fields.widget_of("pattern"), "UPER")
    choose(dialog, "static")
    QTest.keyClicks(dialog.fields.widget_of("static"), " ")
    switch(dialog, "budget")
    desk.wait(lambda: in_force(desk) == PipelineSettings(budget=True))
    assert desk.document.content.pipeline == PipelineSettings(budget=True)
    desk.wait(lambda: set(dialog.problems) == {"pattern", "static"})
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    notice = desk.panes.generation.processors.notice
    assert notice.isVisible()
    assert "unknown class UPER" in notice.detail_label.text()
    assert ui_text("generation.stage.static.name") in notice.text()
    desk.window.commands["run.step"].trigger()
    desk.wait(lambda: bool(desk.output))
    assert notice.isVisible()
    QTest.mouseClick(notice.button, Qt.MouseButton.LeftButton)
    desk.wait(dialog.isVisible)
    assert {dialog.fields.widget_of("static").text(), dialog.fields.widget_of("pattern").text()} == {" ", "UPER"}
    dialog.close()
    desk.window.commands["run.processors_reset"].trigger()
    desk.wait(lambda: in_force(desk) == PipelineSettings())
    assert not notice.isVisible()
    assert not desk.panes.generation.processors.chip.isVisible()
    assert not dialog.fields.widget_of("pattern").text()


def test_only_a_draft_that_is_not_valid_can_be_reset_too(desk):
    desk.open("[a-z]+")
    dialog = open_dialog(desk)
    choose(dialog, "bias")
    QTest.keyClicks(dialog.fields.widget_of("bias"), "the +2")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert desk.window.commands["run.processors_reset"].isEnabled()
    desk.activate()
    QTest.keyClick(desk.window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(desk.window, Qt.Key.Key_R)
    assert not dialog.problems
    assert not desk.window.commands["run.processors_reset"].isEnabled()


def test_why_tells_of_the_stage(desk):
    desk.open("[a-z]+")
    desk.session.decoding.set_pipeline(PipelineSettings(suppress=("e",)))
    desk.wait(lambda: bool(in_force(desk).suppress))
    generation = desk.panes.generation
    generation.why_wanted.emit(E)
    desk.wait(generation.why.isVisible)
    shown = " ".join(label.text() for label in generation.why.findChildren(type(generation.why.title)))
    assert ui_text("generation.why.fragment.masked") in shown
    removed, _, _ = ui_text("generation.why.removed", stage=stage_title("suppress"), reason="\0").partition("\0")
    assert removed in shown


def test_a_dead_end_names_the_empty_stage(desk):
    desk.open("[a-z]+")
    desk.session.decoding.set_pipeline(PipelineSettings(pattern="DIGIT"))
    desk.wait(lambda: in_force(desk).pattern == "DIGIT")
    desk.wait(lambda: stage_title("pattern") in desk.session.step_refusal)
    assert stage_title("pattern") in desk.panes.generation.headline.text


def test_the_automaton_follows_the_text_that_the_grammar_read(desk):
    desk.open("a+b")
    live = []
    desk.session.live_changed.connect(lambda states, _spans: live.append(states))
    desk.session.decoding.set_pipeline(PipelineSettings(zones=ZoneSettings(after="#")))
    desk.wait(lambda: in_force(desk).zones is not None)
    assert live[-1] == frozenset()  # free text: the grammar does not rule
    for count, char in enumerate("ab#a", 1):
        desk.panes.generation.token_taken.emit(ord(char) - 0x20)
        desk.wait(lambda count=count: desk.output == b"ab#a"[:count])
    drawn = desk.session.compiling.last_good.dfa
    desk.wait(lambda: live[-1] == frozenset({drawn.run(b"a")}))


def test_stages_survive_a_saved_document_and_the_death_of_the_process(desk, tmp_path):
    desk.open("[a-z]+")
    settings = PipelineSettings(suppress=("e",), bias=(("a", 3.0),))
    desk.session.decoding.set_pipeline(settings)
    desk.wait(lambda: desk.document.content.pipeline == settings)
    desk.document.save(tmp_path / "a.turnstile")
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="b"), model=ModelPart("letters")))
    desk.wait(lambda: not desk.session.step_refusal and in_force(desk) == PipelineSettings())
    desk.document.open(tmp_path / "a.turnstile")
    desk.wait(lambda: not desk.session.step_refusal and in_force(desk) == settings)
    view = desk.session.decoding.view
    assert not next(one for one in view.position.candidates if one.token_id == E).allowed
    with desk.qtbot.waitSignal(desk.session.notification_raised):
        os.kill(desk.session.worker_pool.decode.pid, signal.SIGKILL)
    desk.wait(lambda: not desk.session.step_refusal)
    assert in_force(desk) == settings
    view = desk.session.decoding.view
    assert not next(one for one in view.position.candidates if one.token_id == E).allowed


def test_stages_that_do_not_fit_a_document_s_model_are_said_and_can_be_reset(desk):
    desk.session.start()
    odd = PipelineSettings(zones=ZoneSettings(after_token="<think>"))
    desk.document.replace(
        DocumentFile(grammar=GrammarPart(text="a"), model=ModelPart("letters"), pipeline=odd),
    )
    desk.wait(lambda: "<think>" in desk.session.step_refusal)
    assert desk.panes.generation.processors.chip.text().startswith("!")
    dialog = open_dialog(desk)
    assert "<think>" in dialog.message.text()
    QTest.mouseClick(dialog.reset, Qt.MouseButton.LeftButton)
    desk.wait(lambda: not desk.session.step_refusal)
    assert desk.document.content.pipeline == PipelineSettings()


@pytest.mark.parametrize("command", ["run.processors", "run.complete", "run.processors_reset"])
def test_every_command_has_keys_and_a_menu_entry(desk, command):
    action = desk.window.commands[command]
    assert action.shortcuts()
    assert action in [one for menu in desk.window.menuBar().actions() for one in menu.menu().actions()]


def test_another_zone_with_a_grammar_of_its_own(desk):
    desk.open("[0-9]{2}")
    desk.window.commands["run.processors"].trigger()
    dialog = desk.panes.generation.processors.dialog
    fields = dialog.fields.widget_of("zones")
    QTest.mouseClick(fields.is_partial, Qt.MouseButton.LeftButton, pos=QPoint(8, fields.is_partial.height() // 2))
    QTest.keyClicks(fields.after, "n=")
    QTest.mouseClick(fields.add, Qt.MouseButton.LeftButton)
    (other,) = fields.others
    QTest.keyClicks(other.after, "w=")
    QTest.keyClicks(other.text, "[xy")
    desk.wait(
        lambda: shows(
            dialog.fields.error_of("grammar").text(), "errors.decoding.zones.compile", number=2, line=1, column=1
        )
    )
    QTest.keyClicks(other.text, "]z")
    desk.wait(lambda: in_force(desk).zones is not None and len(in_force(desk).zones.others) == 1)
    assert not dialog.fields.error_of("grammar").text()
    assert desk.document.content.pipeline.zones.others[0].text == "[xy]z"
    for char in "w=":
        output = desk.output
        desk.session.decoding.take(ord(char) - 0x20)
        desk.wait(lambda output=output: desk.output != output)
    position = desk.session.decoding.view.position
    assert position.parts == ("zone 2",)
    assert position.allowed == 2
    assert position.grammar_text is None  # the drawn grammar has no say here
