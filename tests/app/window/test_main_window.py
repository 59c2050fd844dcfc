import os
import signal
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from app.catalogue import ui_text
from app.commands import declared_commands
from app.document import DocumentFile, GrammarPart, ModelPart
from app.jobs import group
from app.window.dock_layout import DockLayout
from app.workers.protocol import sentence
from engine.decoding.values import Finish, StepOrigin
from engine.models.source import ModelError

A = ord("a") - 0x20


def click(desk, command_id):
    desk.qtbot.mouseClick(
        desk.window.toolbar.findChild(type(desk.window.toolbar.step_button), f"button:{command_id}"),
        Qt.MouseButton.LeftButton,
    )


def test_typing_recompiles_and_draws(desk):
    desk.open("a+b")
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClicks(edit, "c")
    desk.wait(lambda: desk.session.compiling.last_good.request.text == "a+bc")
    assert desk.session.compiling.last_good.dfa.accepts(b"abc")
    assert desk.window.isWindowModified()
    desk.wait(lambda: "4 states" in desk.window.status_line.texts[0])


def test_step_back_and_restart_by_mouse(desk):
    desk.open("a{5}")
    click(desk, "run.step")
    desk.wait(lambda: len(desk.output) == 1)
    click(desk, "run.step")
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 2)
    click(desk, "run.back")
    desk.wait(lambda: desk.session.decoding.view.position.index == 1)
    click(desk, "run.restart")
    desk.wait(lambda: desk.output == b"")
    assert not desk.window.commands["run.back"].isEnabled()


def test_a_step_does_not_run_ahead_of_the_prompt(desk):
    desk.open("a{5}")
    prompt = desk.panes.generation.prompt
    prompt.fold.setChecked(True)
    desk.qtbot.keyClicks(prompt.text, "Paul")
    click(desk, "run.step")
    desk.wait(lambda: desk.output == b"a")
    assert desk.session.decoding.view.prompt == "Paul"


def test_after_an_ended_output_nothing_is_sampled_from_a_grammar_with_an_error(desk):
    desk.open("a")
    desk.activate()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_F5)
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.STOP)
    desk.wait(lambda: not desk.session.decoding.is_running)
    pane = desk.panes.generation
    assert pane.many.sample.isEnabled()
    desk.document.set_text("a(")
    desk.wait(lambda: not pane.many.sample.isEnabled())
    desk.document.set_text("a")
    desk.wait(pane.many.sample.isEnabled)


def test_one_of_many_outputs_is_generated_again_as_the_trace(desk):
    desk.open("[a-z]{3}")
    pane = desk.panes.generation
    pane.pages.setCurrentWidget(pane.many)
    pane.many.count.setValue(3)
    pane.many.sample.click()
    desk.wait(lambda: len(pane.many.model.outcomes) == 3 and pane.many.sample.isVisibleTo(pane))
    outcome = pane.many.model.outcomes[2]
    pane.many.table.selectRow(2)
    desk.qtbot.keyClick(pane.many.table, Qt.Key.Key_Return)
    desk.wait(lambda: desk.output == outcome.text.encode() and not desk.session.decoding.is_running)
    steps = [node.step for node in desk.session.decoding.view.trace.nodes]
    assert [step.origin for step in steps] == [StepOrigin.SAMPLER] * outcome.tokens


def test_step_and_run_by_key(desk):
    desk.open("a{3}")
    desk.activate()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    desk.wait(lambda: desk.output == b"a")
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_F5)
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.STOP)
    desk.wait(lambda: not desk.session.decoding.is_running)
    assert not desk.window.commands["run.step"].isEnabled()
    assert "complete" in desk.window.commands["run.step"].toolTip()


def test_a_broken_pattern_disables_the_step_and_says_why(desk):
    desk.open("a+b")
    desk.panes.editor.edit.selectAll()
    desk.qtbot.keyClicks(desk.panes.editor.edit, "a+b(")
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Delete)  # the bracket that closes it
    desk.wait(lambda: desk.session.compiling.stale_reason != "")
    assert not desk.window.commands["run.step"].isEnabled()
    assert "error" in desk.window.commands["run.step"].toolTip()
    assert desk.window.status_line.texts[0] == ui_text("session.stale.errors", count=1)
    desk.wait(lambda: desk.window.dock_layout.bottom_is_open)
    assert desk.window.dock_layout.bottom.tabText(0) == "Problems (1)"
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Backspace)
    desk.wait(desk.window.commands["run.step"].isEnabled)
    desk.wait(lambda: not desk.window.dock_layout.bottom_is_open)


def test_escape_ends_many_seeds(desk):
    desk.open("[a-z]*")
    many = desk.panes.generation.many
    many.count.setValue(10_000)
    many.sample.click()
    desk.wait(lambda: many.model.rowCount() > 0)
    desk.window.commands["run.cancel"].trigger()
    desk.wait(lambda: many.summary.text().startswith("Cancelled"))
    assert many.sample.isVisibleTo(many)


def test_the_budget_in_the_header_ends_a_run_and_is_saved(desk, tmp_path):
    desk.open("a{9}")
    budget = desk.panes.generation.budget
    assert budget.isVisible()
    budget.setValue(2)
    desk.wait(lambda: desk.session.decoding.view.max_tokens == 2)
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: "raise it" in desk.window.commands["run.step"].toolTip())
    assert desk.output == b"aa"
    desk.document.save(tmp_path / "a.turnstile")
    desk.open("a{9}")
    assert budget.value() == 256
    desk.document.open(tmp_path / "a.turnstile")
    desk.wait(lambda: desk.output == b"aa")
    assert budget.value() == 2


def test_an_earlier_output_stands_among_the_branches_and_in_the_file(desk, tmp_path):
    desk.open("a{9}")
    click(desk, "run.step")
    desk.wait(lambda: desk.output == b"a")
    desk.session.decoding.set_prompt("hi")
    output = desk.panes.generation.output
    desk.wait(lambda: len(output.branches.buttons) == 1)
    assert desk.output == b""
    desk.document.save(tmp_path / "a.turnstile")
    desk.open("b")
    assert output.branches.isHidden()
    desk.document.open(tmp_path / "a.turnstile")
    desk.wait(lambda: [button.text() for button in output.branches.buttons] == ["no prompt: a"])


def test_a_folded_bottom_stays_folded(desk):
    desk.open("a+b")
    desk.window.dock_layout.open_bottom(True)
    desk.window.commands["view.bottom"].trigger()
    assert not desk.window.dock_layout.bottom_is_open
    assert desk.settings.preferences.bottom_open is False


def test_the_bottom_grows_for_a_page_that_needs_it_and_keeps_its_height(qtbot):
    layout = DockLayout(QWidget(), QWidget(), QWidget())
    qtbot.addWidget(layout)
    layout.resize(1280, 640)
    low, roomy = QWidget(), QWidget()
    roomy.setProperty("roomy", True)
    for page in (low, roomy):
        layout.add_bottom(page, "page")
    layout.show()
    layout.reveal(low)
    before = layout.bottom.height()
    layout.reveal(roomy)
    grown = layout.bottom.height()
    assert grown > before
    layout.reveal(low)
    assert layout.bottom.height() == grown
    layout.toggle_bottom()
    layout.reveal(low)
    assert layout.bottom.height() == before


def test_hints_are_told_in_the_tab_and_unfold_nothing(desk):
    desk.session.start()
    bottom, edit = desk.window.dock_layout, desk.panes.editor.edit
    folded = []
    desk.window.problem_folding.decided.connect(lambda: folded.append("looked"))
    hinted = GrammarPart(notation="gbnf", text='root ::= more\nmore ::= more "a" | "b"\n')
    desk.document.replace(DocumentFile(grammar=hinted, model=ModelPart("letters")))
    desk.wait(lambda: bottom.bottom.tabText(0).startswith("Problems ("))
    assert not desk.panes.problems.is_pressing
    desk.wait(lambda: bool(folded))
    assert not bottom.bottom_is_open
    edit.setPlainText(hinted.text + "more")
    desk.wait(lambda: bottom.bottom_is_open)
    edit.setPlainText(hinted.text)
    desk.wait(lambda: not bottom.bottom_is_open)
    bottom.reveal(desk.panes.problems)  # whoever reads the hints keeps them
    edit.setPlainText(hinted.text + " ")
    before = len(folded)
    desk.wait(lambda: len(folded) > before)
    assert bottom.bottom_is_open


def test_hovering_a_state_marks_its_source_and_the_other_way_round(desk, monkeypatch):
    desk.open("a+b")
    marked = []
    monkeypatch.setattr(desk.panes.editor.edit, "show_hover", marked.append)
    dfa = desk.session.compiling.last_good.dfa
    desk.panes.automaton.spans_hovered.emit(dfa.states[dfa.start].spans)
    assert marked == [dfa.states[dfa.start].spans]


def test_the_status_tells_what_is_allowed(desk):
    desk.open("a+b")
    desk.wait(lambda: desk.window.status_line.texts[1] != "")
    _, allowed, end, _ = desk.window.status_line.texts
    assert allowed.startswith("2 of 98 allowed · mask ")
    assert end.startswith(ui_text("window.status.no_end_expects", expected="“a”"))


def test_a_killed_model_process_is_a_banner_and_comes_back(desk):
    desk.open("a+b")
    click(desk, "run.step")
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 1)
    before = desk.output
    os.kill(desk.session.worker_pool.decode.pid, signal.SIGKILL)
    desk.wait(lambda: any("restarted" in banner.notification.text for banner in desk.window.banners.banners))
    desk.wait(lambda: desk.output == before and not desk.session.step_refusal)


def test_a_process_that_dies_twice_has_a_restart_button(desk, monkeypatch):
    monkeypatch.setattr(group, "time", SimpleNamespace(monotonic=lambda: 100.0))  # both deaths come at one moment
    desk.open("a+b")
    for _ in range(2):
        desk.wait(lambda: desk.session.worker_pool.compile.pid is not None)
        with desk.qtbot.waitSignal(desk.session.notification_raised):
            os.kill(desk.session.worker_pool.compile.pid, signal.SIGKILL)
    banner = desk.window.banners.banners[-1]
    assert banner.notification.button == "Restart"
    with desk.qtbot.waitSignal(desk.session.compiling.compiled):
        banner.notification.action()


def test_a_model_that_fails_is_a_banner_in_its_pane(desk):
    desk.open("a+b")
    failure = sentence(ModelError("errors.models.silent_pip"))
    desk.window.model_menu.open("broken")
    desk.wait(lambda: desk.panes.generation.banner.detail_label.text().startswith(failure))
    assert desk.panes.generation.banner.isVisible()
    assert desk.window.toolbar.model_button.text().startswith("Letters")
    desk.window.model_menu.open("endless")
    desk.wait(lambda: not desk.panes.generation.banner.isVisible())


def test_a_prompt_that_the_model_cannot_spell_stops_the_steps_and_says_why(desk):
    desk.open("a+b")
    desk.session.decoding.set_prompt("é")
    desk.wait(lambda: not desk.window.commands["run.step"].isEnabled())
    assert "é" in desk.window.commands["run.step"].toolTip()
    assert desk.document.content.prompt == "é"


def test_the_first_run_takes_three_steps_and_greets_until_the_user_steps(desk):
    desk.window.begin()
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 3)
    assert desk.document.content.grammar.text == r"[A-Z]+: [a-z]+\n"
    assert desk.window.focusWidget() is desk.window.toolbar.step_button
    assert desk.window.welcome.is_shown
    assert desk.window.banners.banners == []
    desk.wait(lambda: not desk.session.step_refusal)
    desk.qtbot.mouseClick(desk.window.toolbar.step_button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 4)
    assert desk.panes.generation.isVisible()
    assert desk.settings.preferences.welcomed


def test_the_editor_has_the_focus_until_there_is_a_step_to_take(desk):
    desk.window.begin()
    assert desk.window.focusWidget() is desk.panes.editor.edit


def test_who_types_while_the_model_loads_stays_in_the_editor(desk):
    desk.window.begin()
    edit = desk.panes.editor.edit
    desk.wait(lambda: edit.toPlainText() != "")
    desk.qtbot.keyClicks(edit, "b")
    desk.wait(lambda: not desk.session.step_refusal)
    assert desk.window.focusWidget() is edit


def test_a_grammar_that_no_text_matches_is_not_blamed_on_the_vocabulary(desk):
    desk.open("a+b")
    desk.document.set_text(r"a(?!)")
    desk.wait(lambda: ui_text("common.grammar.no_text") in desk.panes.generation.headline.text)
    desk.wait(lambda: "No text matches" in desk.window.commands["run.step"].toolTip())
    assert "vocabulary" not in desk.panes.generation.headline.text
    desk.document.set_text("a+b")
    desk.wait(lambda: "allowed" in desk.panes.generation.headline.text)


def test_the_first_key_of_a_newcomer_is_a_step(desk):
    desk.window.begin()
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 3)
    desk.qtbot.keyClick(desk.window.toolbar.step_button, Qt.Key.Key_Space)
    desk.wait(lambda: len(desk.session.decoding.view.trace.path) == 4)


def test_documents_are_saved_and_opened(desk, tmp_path):
    desk.open("a+b")
    path = tmp_path / "work.turnstile"
    desk.document.set_text("a+bc")
    desk.document.save(path)
    assert not desk.window.isWindowModified()
    desk.open("x")
    assert desk.window.files.open(path)
    assert desk.panes.editor.text() == "a+bc"
    assert desk.window.windowTitle().startswith("work")
    assert desk.settings.preferences.recent == [str(path)]


def test_a_file_that_is_no_document_is_a_banner_and_costs_nothing(desk, tmp_path):
    desk.open("a+b")
    bad = tmp_path / "bad.turnstile"
    bad.write_text("{")
    assert not desk.window.files.open(bad)
    assert "bad.turnstile" in desk.window.banners.banners[-1].notification.text
    assert desk.document.content.grammar.text == "a+b"


@pytest.mark.parametrize(
    ("choice", "leaves"),
    [(QMessageBox.StandardButton.Discard, True), (QMessageBox.StandardButton.Cancel, False)],
)
def test_unsaved_work_is_asked_about(desk, monkeypatch, choice, leaves):
    desk.document.set_text("precious")
    monkeypatch.setattr(QMessageBox, "question", lambda *_args: choice)
    assert desk.window.files.may_leave() is leaves
    assert desk.window.close() is leaves


def test_a_narrow_window_has_tabs_and_a_wide_one_has_not(desk):
    dock_layout = desk.window.dock_layout
    assert not dock_layout.is_narrow
    desk.window.resize(1200, 800)
    desk.wait(lambda: dock_layout.is_narrow)
    desk.window.commands["view.automaton"].trigger()
    assert desk.panes.automaton.isVisible()
    assert not desk.panes.editor.isVisible()
    desk.window.resize(1600, 1000)
    desk.wait(lambda: desk.panes.editor.isVisible() and desk.panes.automaton.isVisible())


@pytest.mark.parametrize("name", ["dark", "light"])
def test_themes_are_chosen_and_remembered(desk, name):
    desk.window.commands[f"view.{name}"].trigger()
    assert desk.settings.preferences.theme == name
    assert [n for n in ("light", "dark", "system") if desk.window.commands[f"view.{n}"].isChecked()] == [name]


def test_no_two_commands_share_a_key():
    keys = [key for command in declared_commands() for key in command.keys]
    assert len(keys) == len(set(keys))


def test_the_layout_is_remembered(desk, tmp_path):
    desk.window.dock_layout.columns.setSizes([500, 500, 600])
    sizes = desk.window.dock_layout.columns.sizes()
    desk.window.close_without_asking()
    assert "wide" in desk.settings.preferences.splitters
    desk.window.dock_layout.columns.setSizes([300, 600, 700])
    desk.window.dock_layout.restore(desk.settings.preferences.splitters)
    assert desk.window.dock_layout.columns.sizes() == sizes


@pytest.mark.parametrize(
    ("entry", "file", "spec"),
    [
        ("open_tokenizer", "/some/tokenizer.json", "uniform:/some/tokenizer.json"),
        ("open_gguf", "/some/model.gguf", "/some/model.gguf"),
        ("open_llama_cpp", "/some/model.gguf", "llama.cpp:/some/model.gguf"),
    ],
)
def test_a_file_is_opened_from_the_model_menu(desk, monkeypatch, entry, file, spec):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (file, ""))
    opened = []
    monkeypatch.setattr(desk.session.decoding, "open_model", opened.append)
    menu = QMenu()
    desk.window.model_menu.fill(menu)
    next(action for action in menu.actions() if action.text() == ui_text(f"window.model.{entry}")).trigger()
    assert opened == [spec]


def test_when_the_text_is_complete_the_focus_does_not_wander_to_export(desk):
    desk.open("ab")
    step = desk.window.toolbar.step_button
    step.setFocus()
    assert desk.window.focusWidget() is step
    desk.window.commands["run.run"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.STOP and not step.isEnabled())
    assert not desk.window.toolbar.isAncestorOf(desk.window.focusWidget() or desk.window)
