"""What a random user does. Each action goes through real keys and clicks where there are any.

An action may find nothing to do. What it promises beyond the invariants (a step
takes one token, a redo brings the text back, a reopened document stands where it
stood) it checks itself, once everything has settled.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QToolButton, QWidget

from app.document import DocumentFile, GrammarPart, ModelPart
from app.document.gallery import examples
from app.window.notation_menu import ADDITIONAL, ESCAPES, WHITESPACE, notation_choices
from app.window.panes import PANES
from tests.app.user.invariants import reread
from tests.app.user.own_window import OwnWindow

Action = Callable[[OwnWindow, random.Random], None]
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier

GRAMMARS = {
    "regex": ("[ab]{2,5}c?", "(ab|cd)+", "[A-Z]+: [a-z]+\\n", "a*", ".{3}", "x|yy|zzz", "(?:[0-9]{1,3}\\.){3}[0-9]+"),
    "gbnf": (
        'root ::= item ("," item)*\nitem ::= [a-c]+ | "(" root ")"',
        'root ::= "a" root "b" | "c"',
        'root ::= root "+" term | term\nterm ::= [0-9]{1,2}',
    ),
    "json_schema": (
        '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}',
        '{"enum": ["yes", "no", null]}',
        '{"type": "array", "items": {"type": "boolean"}, "maxItems": 3}',
    ),
}
TYPED = "ab(c)[d-f]{2}*+?|\\.^$ \"':=,<>\n{}09é"
LATE_PANES = (
    *(f"view.{pane.id}" for pane in PANES),
    "view.baseline",
    "view.explanation",
    "view.reference",
    "view.gbnf",
)
SERVERS = os.environ.get("RANDOM_USER_SERVER", "").split()
"""The addresses of servers to attach to, such as `python tests/support/llama_double.py` prints."""

# What leaves the walk (it has its own actions for that), or waits for a person.
LEFT_OUT = {"file.quit", "file.open", "run.workers"}


def type_something(desk: OwnWindow, rng: random.Random) -> None:
    edit = desk.window.panes.editor.edit
    _into_the_editor(desk)
    for _ in range(rng.randint(0, 12)):
        desk.key(rng.choice([Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Up]))
    for character in rng.choices(TYPED, k=rng.randint(1, 5)):
        if character == "\n":
            desk.key(Qt.Key.Key_Return)
        else:
            desk.type_in(edit, character)


def open_late_panes(desk: OwnWindow, rng: random.Random) -> None:
    """Open all panes that are built when they are first seen, in any order, without waiting for anything."""
    for name in rng.sample(LATE_PANES, len(LATE_PANES)):
        desk.window.commands[name].trigger()


def delete_something(desk: OwnWindow, rng: random.Random) -> None:
    _into_the_editor(desk)
    for _ in range(rng.randint(1, 4)):
        desk.key(rng.choice([Qt.Key.Key_Backspace, Qt.Key.Key_Delete]))


def mend(desk: OwnWindow, rng: random.Random) -> None:
    """Write a grammar of the notation in place of the text."""
    edit = desk.window.panes.editor.edit
    _into_the_editor(desk)
    edit.selectAll()
    QApplication.clipboard().setText(rng.choice(GRAMMARS[desk.document.content.grammar.notation]))
    edit.paste()
    desk.settle()
    if not desk.session.compiling.stale_reason:
        assert desk.session.compiling.last_good is not None


def undo_and_redo(desk: OwnWindow, rng: random.Random) -> None:
    """Undo as often as one likes; the same number of redos brings the text back."""
    _into_the_editor(desk)
    before, undos = desk.document.content.grammar, rng.randint(1, 4)
    for _ in range(undos):
        desk.window.commands["edit.undo"].trigger()
    if rng.random() < 0.3:
        desk.settle()
    if rng.random() < 0.6:
        for _ in range(undos):  # fewer, where there was less to undo
            if desk.document.content.grammar != before:
                desk.window.commands["edit.redo"].trigger()
        assert desk.document.content.grammar == before, (undos, desk.document.content.grammar, before)


def step(desk: OwnWindow, rng: random.Random) -> None:
    session = desk.session
    refusal, before = session.step_refusal, session.decoding.view.position
    if rng.random() < 0.5:
        desk.click(desk.window.toolbar.step_button)
    else:
        desk.window.commands["run.step"].trigger()
    desk.settle()
    after = session.decoding.view.position
    if refusal:
        assert after == before
    else:
        assert before is not None
        assert after is not None
        assert after.index > before.index  # by more than one where forced runs are taken in one go
        assert after.output.startswith(before.output)


def step_and_back(desk: OwnWindow, rng: random.Random) -> None:
    """Back undoes a step, whatever is known about it."""
    if desk.session.step_refusal:
        return
    before = desk.session.decoding.view.position
    assert before is not None
    desk.window.commands["run.step"].trigger()
    desk.settle()
    stepped = desk.session.decoding.view.position
    assert stepped is not None
    for _ in range(stepped.index - before.index):
        desk.window.commands["run.back"].trigger()
        desk.settle()
    after = desk.session.decoding.view.position
    assert after is not None
    assert (after.output, after.index, after.allowed) == (before.output, before.index, before.allowed)


def back(desk: OwnWindow, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 3)):
        desk.window.commands["run.back"].trigger()


def restart(desk: OwnWindow, rng: random.Random) -> None:
    if desk.window.commands["run.restart"].isEnabled():
        desk.window.commands["run.restart"].trigger()
        desk.settle()
        position = desk.session.decoding.view.position
        assert position is None or position.index == 0


def pick_a_candidate(desk: OwnWindow, rng: random.Random) -> None:
    """Click a row: an allowed token is taken, a forbidden one explained."""
    generation = desk.window.panes.generation
    generation.pages.setCurrentIndex(0)
    table = rng.choice([generation.candidates.table, generation.candidates.ends])
    rows = table.candidates.rowCount()
    if not rows or not table.isVisible():
        return
    row = rng.randrange(min(rows, 12))
    candidate = table.candidates.candidate(row)
    before = desk.session.decoding.view.position
    assert candidate is not None
    assert before is not None
    can_take = candidate.allowed and not desk.session.step_refusal
    index = table.candidates.index(row, 1)
    after = before
    for _ in range(2):  # a click that Qt takes for the second half of a double click is none; the next one is
        if after.index == before.index:
            table.scrollTo(index)
            desk.click(table.viewport(), table.visualRect(index).center())
            desk.settle()
            position = desk.session.decoding.view.position
            assert position is not None
            after = position
        if not can_take:
            break
    assert (after.index > before.index) == can_take, candidate
    if can_take:
        assert after.output.startswith(before.output + (candidate.token or b""))


def force(desk: OwnWindow, rng: random.Random) -> None:
    """Force a token that the grammar does not allow."""
    generation = desk.window.panes.generation
    generation.pages.setCurrentIndex(0)
    table = generation.candidates.table
    rows = [row for row in range(table.candidates.rowCount()) if not table.candidates.candidate(row).allowed]
    if rows:
        table.setFocus()
        table.choose(rng.choice(rows))
        desk.key(Qt.Key.Key_Return, SHIFT)


def look_up(desk: OwnWindow, rng: random.Random) -> None:
    """Search the vocabulary, and clear the search again."""
    search = desk.window.panes.generation.candidates.search
    if not search.isVisible():
        return
    search.setFocus()
    QTest.keyClicks(search, rng.choice(["a", "#3", '"ab"', "\\x41", "nothing like it", "\\", '"']))
    QTest.qWait(200)
    desk.settle()
    desk.key(Qt.Key.Key_Escape)


def go_along_the_chips(desk: OwnWindow, rng: random.Random) -> None:
    chips = desk.window.panes.generation.output.chips
    if not chips.chips:
        return
    index = rng.randrange(len(chips.chips))
    chips.reveal_chip(index)
    if rng.random() < 0.5:
        desk.click(chips.viewport(), chips.rect_of(index).center().toPoint())
    else:
        chips.setFocus()
        desk.key(rng.choice([Qt.Key.Key_Left, Qt.Key.Key_Right]))


def take_a_branch(desk: OwnWindow, rng: random.Random) -> None:
    output = desk.window.panes.generation.output
    if output.branches.buttons and output.branches.isVisible():
        desk.click(rng.choice(output.branches.buttons))
    if output.resume.isVisible() and rng.random() < 0.7:
        desk.click(output.resume)


def run_and_pause(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.commands["run.run"].trigger()
    QTest.qWait(rng.randint(0, 300))
    if desk.session.decoding.is_running:
        desk.window.commands["run.run"].trigger()
        assert not desk.session.decoding.is_running


def run_to_the_end(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.panes.generation.budget.setValue(rng.randint(1, 30))
    desk.window.commands[rng.choice(["run.run", "run.over", "run.out"])].trigger()


def choose_a_notation(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.notation_menu.choose(rng.choice(notation_choices()).name)


def choose_white_space(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.notation_menu.choose_whitespace(rng.choice(list(WHITESPACE)))


def choose_options_of_a_schema(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.notation_menu.choose_escapes(rng.choice(list(ESCAPES)))
    desk.window.notation_menu.choose_additional(rng.choice(list(ADDITIONAL)))


def choose_a_model(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.model_menu.open(rng.choice(["letters", "endless", "broken", *SERVERS]))


def write_a_prompt(desk: OwnWindow, rng: random.Random) -> None:
    prompt = desk.window.panes.generation.prompt
    prompt.fold.setChecked(True)
    if prompt.text.isVisible():
        prompt.text.setFocus()
        desk.type_in(prompt.text, rng.choice(["hi", "é", " ", "a"]))
        if rng.random() < 0.4:
            prompt.text.clear()
        prompt.commit()
    prompt.fold.setChecked(rng.random() < 0.3)


def change_the_sampler(desk: OwnWindow, rng: random.Random) -> None:
    sampler = desk.document.content.sampler
    changed = replace(sampler, temperature=rng.choice([0.0, 1.0, 2.0]), seed=rng.randrange(9), top_k=rng.choice([0, 2]))
    desk.window.panes.generation.sampler_edited.emit(changed)


def write_a_test(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.commands["tests.add"].trigger()
    field = QApplication.focusWidget()
    if field is not None:
        QTest.keyClicks(field, rng.choice(["ab", "", "x", '{"a": 1}']))
        desk.key(Qt.Key.Key_Return)
        QTest.qWait(0)  # the table takes the text over with the next turn of the loop
    desk.window.panes.view("tests").add_text(rng.choice(["ab", "abc", "no", "true"]), accepts=rng.random() < 0.5)


def set_a_breakpoint(desk: OwnWindow, rng: random.Random) -> None:
    if rng.random() < 0.5:
        _into_the_editor(desk)
    else:
        desk.window.commands["view.automaton"].trigger()
        desk.key(rng.choice([Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Tab]))
    desk.window.commands["run.breakpoint"].trigger()


def any_command(desk: OwnWindow, rng: random.Random) -> None:
    """Any row of the command table, twice where it switches something on."""
    _, action = rng.choice([pair for pair in desk.window.commands if pair[0].id not in LEFT_OUT])
    if action.isEnabled():
        action.trigger()
        if action.isCheckable() and rng.random() < 0.5:
            desk.settle()
            action.trigger()


def any_button(desk: OwnWindow, rng: random.Random) -> None:
    """Any button that can be seen."""
    window = desk.window
    buttons = [*window.findChildren(QPushButton), *window.findChildren(QToolButton)]
    free = [
        button
        for button in buttons
        if button.isVisible() and button.isEnabled() and not getattr(button, "menu", lambda: None)()
    ]
    if free:
        desk.click(rng.choice(free))


def walk_with_tab(desk: OwnWindow, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 20)):
        desk.key(Qt.Key.Key_Tab, rng.choice([Qt.KeyboardModifier.NoModifier, SHIFT]))
    if not isinstance(QApplication.focusWidget(), (QPushButton, QToolButton)):
        desk.key(rng.choice([Qt.Key.Key_Space, Qt.Key.Key_Down, Qt.Key.Key_Escape, Qt.Key.Key_Home]))


def resize(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.resize(*rng.choice([(1280, 720), (1600, 1000), (960, 600), (1920, 1080)]))


def open_an_example(desk: OwnWindow, rng: random.Random) -> None:
    desk.document.replace(rng.choice(examples()).document())


def begin_anew(desk: OwnWindow, rng: random.Random) -> None:
    notation = rng.choice(list(GRAMMARS))
    text = rng.choice(GRAMMARS[notation])
    desk.document.replace(DocumentFile(grammar=GrammarPart(notation, text), model=ModelPart("letters")))


def open_a_tab(desk: OwnWindow, rng: random.Random) -> None:
    """Open a document beside the others, of which there are a few at most."""
    notation = rng.choice(list(GRAMMARS))
    content = DocumentFile(grammar=GrammarPart(notation, rng.choice(GRAMMARS[notation])), model=ModelPart("letters"))
    if len(desk.document.documents) < 4:
        desk.document.begin(content, beside=True)


def go_to_tabs(desk: OwnWindow, rng: random.Random) -> None:
    """Go from tab to tab, waiting for nothing, and back: text and trace are as they were left."""
    document, tabs = desk.document, desk.window.tabs
    left, before, history = document.shown, document.content, desk.window.panes.editor.edit.document()
    for _ in range(rng.randint(1, 4)):
        if len(document.documents) > 1:
            desk.click(tabs, tabs.tabRect(rng.randrange(tabs.count())).center())
    document.show(left)
    desk.settle()
    assert document.content.grammar == before.grammar
    assert document.content.trace.path == before.trace.path
    assert desk.window.panes.editor.edit.document() is history


def close_a_tab(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.files.close_one(rng.choice(desk.document.documents))


def save_and_read(desk: OwnWindow, rng: random.Random) -> None:
    desk.document.save(desk.file)
    desk.settle()
    assert not desk.document.is_modified
    assert reread(desk.document.content) == desk.document.content


def save_and_reopen(desk: OwnWindow, rng: random.Random) -> None:
    """Close the window and open another one on the file: it stands where the first one stood."""
    desk.document.save(desk.file)
    before, view = desk.document.content, desk.session.decoding.view
    was_restorable = view.model is not None and not view.error and not desk.session.decoding.awaits_restore
    desk.close()
    desk.open(desk.file)
    desk.settle()
    after = desk.document.content
    assert after.grammar == before.grammar
    assert after.test_strings == before.test_strings
    assert after.prompt == before.prompt
    if was_restorable and not desk.session.compiling.stale_reason:
        tokens = [[node.step.token_id for node in content.trace.nodes] for content in (before, after)]
        assert tokens[0] == tokens[1]


def kill_a_worker(desk: OwnWindow, rng: random.Random) -> None:
    """The process of a group dies; the group is started anew, or offers to be."""
    groups = [group for group in desk.session.worker_pool if group.pid is not None]
    if not groups:
        return
    group = rng.choice(groups)
    pid = group.pid
    assert pid is not None
    deaths: list[object] = []
    group.died.connect(lambda *args: deaths.append(args))
    os.kill(pid, signal.SIGKILL)
    desk.wait(lambda: bool(deaths), f"the death of {group.name} is noticed")
    for banner in desk.window.banners.banners:
        if banner.notification.button == "Restart":
            banner.button.click()


def restart_workers(desk: OwnWindow, rng: random.Random) -> None:
    desk.window.commands["run.workers"].trigger()


def _into_the_editor(desk: OwnWindow) -> None:
    desk.window.commands["view.editor"].trigger()
    desk.window.panes.editor.edit.setFocus()


def leave_dialogs(desk: OwnWindow, rng: random.Random) -> None:
    """Whatever opened is looked at, clicked at random, and left with Escape."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    presses = 3
    while (dialog := _open_dialog()) is not None:
        free = [button for button in dialog.findChildren(QPushButton) if button.isVisible() and button.isEnabled()]
        if presses > 0 and free and rng.random() < 0.7:
            presses -= 1
            rng.choice(free).click()
            QTest.qWait(30)
        else:
            dialog.reject()
            QTest.qWait(10)


def _open_dialog() -> QDialog | None:
    tops: list[QWidget] = QApplication.topLevelWidgets()
    return next((top for top in tops if isinstance(top, QDialog) and top.isVisible()), None)


WEIGHTED: tuple[tuple[int, Action], ...] = (
    (10, type_something),
    (4, delete_something),
    (8, mend),
    (6, undo_and_redo),
    (12, step),
    (4, step_and_back),
    (4, back),
    (2, restart),
    (12, pick_a_candidate),
    (4, force),
    (3, look_up),
    (8, go_along_the_chips),
    (6, take_a_branch),
    (4, run_and_pause),
    (4, run_to_the_end),
    (5, choose_a_notation),
    (2, choose_white_space),
    (1, choose_options_of_a_schema),
    (3, choose_a_model),
    (4, write_a_prompt),
    (3, change_the_sampler),
    (4, write_a_test),
    (4, set_a_breakpoint),
    (12, any_command),
    (8, any_button),
    (3, walk_with_tab),
    (2, resize),
    (3, open_an_example),
    (3, begin_anew),
    (3, open_a_tab),
    (4, go_to_tabs),
    (2, close_a_tab),
    (3, save_and_read),
    (1, save_and_reopen),
    (1, kill_a_worker),
    (1, restart_workers),
)
