"""Work that comes back: what was open, all of it, and files that are dropped or listed as recent."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from catalogue_texts import shows
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox

from app.catalogue import ui_text
from app.dialogs.intake_dialog import IntakeDialog
from app.document import DocumentFile, GrammarPart, ModelPart, last_document
from app.document import file as document_file
from app.panes.automaton.levels import Level
from app.theme.mnemonics import without_mnemonic
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import SamplerSettings
from engine.document.content import ExpectedText

GBNF = 'root ::= "x" inner "z"\ninner ::= "(" inner ")" | [bc]{1,3}\n'


@pytest.fixture
def reopened(desk, qtbot, tmp_path, qapp) -> Iterator:
    """Closes the window as a user does, and opens another on the same home."""
    windows = []

    def reopen(*, begins: bool = True):
        (windows or [desk])[-1].window.close()
        windows.append(type(desk)(qtbot, tmp_path, qapp))
        if begins:
            windows[-1].window.begin()
        return windows[-1]

    yield reopen
    for window in windows:
        window.close()


def rich(desk) -> None:
    """Work with something of everything in it."""
    desk.session.start()
    desk.document.replace(DocumentFile(title="Rich", grammar=GrammarPart("gbnf", GBNF), model=ModelPart("letters")))
    desk.wait(lambda: not desk.session.step_refusal)
    decoding = desk.session.decoding
    desk.window.commands["run.step"].trigger()
    desk.wait(lambda: desk.output == b"x")
    decoding.set_prompt("Write: ")
    desk.wait(lambda: len(desk.document.content.archived) == 1)
    decoding.set_sampler(SamplerSettings(temperature=0.5, seed=4))
    decoding.set_max_tokens(30)
    decoding.set_pipeline(PipelineSettings(suppress=("c",)))
    desk.wait(lambda: desk.document.content.pipeline.suppress == ("c",))
    for text in (b"x", b"x("):
        desk.window.commands["run.step"].trigger() if text == b"x" else desk.panes.generation.token_taken.emit(8)
        desk.wait(lambda text=text: desk.output == text)
    desk.window.commands["run.back"].trigger()
    # A remembered position comes ahead of the answer, and a token that is chosen before the answer is not taken.
    desk.wait(lambda: desk.output == b"x" and not desk.session.worker_pool.decode.pending)
    desk.panes.generation.token_taken.emit(ord("b") - 0x20)
    desk.wait(lambda: desk.output == b"xb")
    desk.session.test_runs.set_texts((ExpectedText("xbz"), ExpectedText("xz", accepts=False)))
    edit = desk.panes.editor.edit
    edit.setFocus()
    cursor = edit.textCursor()
    cursor.setPosition(GBNF.index("inner ::="))
    edit.setTextCursor(cursor)
    desk.qtbot.keyClick(edit, Qt.Key.Key_F9)
    desk.wait(lambda: bool(desk.document.content.breakpoints))
    automaton = desk.panes.automaton
    automaton.navigation.show_rule("inner")
    automaton.navigation.turn()


def test_all_of_a_session_comes_back(desk, reopened, tmp_path):
    rich(desk)
    path = tmp_path / "rich.turnstile"
    desk.document.save(path)
    desk.window.commands["run.back"].trigger()  # steps and looking around are no edits, and come back all the same
    desk.wait(lambda: desk.output == b"x")
    left = desk.document.content
    assert not desk.document.is_modified
    again = reopened()
    assert again.document.path == path
    assert not again.document.is_modified
    again.wait(lambda: not again.session.step_refusal and again.output == b"x")
    assert again.document.content == left
    assert [field for field in ("archived", "test_strings", "breakpoints") if not getattr(left, field)] == []
    # All of it is seen, too.
    panes = again.panes
    assert panes.editor.text() == GBNF
    assert panes.generation.budget.value() == 30
    assert len(again.session.decoding.view.trace.nodes) == 3
    assert panes.generation.output.branches.isVisible()
    again.wait(lambda: panes["tests"].view.built is not None and panes.view("tests").model.rowCount() == 2)
    assert [row.name for row in again.window.panes.view("breakpoints").model.rows] == ["inner"]
    levels, view = panes.automaton.navigation.levels, panes.automaton.navigation.view
    assert (levels.level(view), view.rule, view.downwards) == (Level.ONE, "inner", True)


def test_work_without_a_file_comes_back_unless_it_was_thrown_away(desk, reopened, monkeypatch):
    desk.open("a{9}")
    desk.window.commands["run.step"].trigger()
    desk.wait(lambda: desk.output == b"a")
    again = reopened()
    again.wait(lambda: again.output == b"a")
    assert again.document.content.grammar.text == "a{9}"
    again.panes.editor.edit.setFocus()
    again.qtbot.keyClicks(again.panes.editor.edit, "x")
    monkeypatch.setattr(QMessageBox, "question", lambda *_args: QMessageBox.StandardButton.Discard)
    third = reopened()
    assert third.document.content.grammar.text == r"[A-Z]+: [a-z]+\n", "a first start's example"
    assert not third.document.is_modified


def test_a_file_that_is_newer_wins_and_one_that_is_gone_is_told(desk, reopened, tmp_path):
    path = tmp_path / "work.turnstile"
    document_file.write_document(path, DocumentFile(grammar=GrammarPart(text="old"), model=ModelPart("letters")))
    desk.session.start()
    assert desk.window.files.open(path)
    desk.window.close()
    document_file.write_document(path, DocumentFile(grammar=GrammarPart(text="new"), model=ModelPart("letters")))
    later = last_document.read(desk.settings.session_path).saved_at + 5
    os.utime(path, (later, later))
    again = reopened()
    assert again.document.content.grammar.text == "new"
    assert again.document.path == path
    again.window.close()
    path.unlink()
    third = reopened()
    told = [banner.notification.text for banner in third.window.banners.banners]
    assert ui_text("window.files.moved", name="work.turnstile") in told
    assert (third.document.content.grammar.text, third.document.path) == ("new", None)
    assert third.document.is_modified


def test_a_window_that_showed_nothing_leaves_nothing(desk, reopened):
    again = reopened(begins=False)
    assert last_document.read(again.settings.session_path) is None


def test_the_windows_layout_comes_back(desk, reopened):
    desk.window.resize(1500, 900)
    desk.window.dock_layout.columns.setSizes([500, 500, 500])
    desk.wait(lambda: desk.window.dock_layout.columns.sizes()[0] > 450)
    sizes = desk.window.dock_layout.columns.sizes()
    again = reopened(begins=False)
    assert again.settings.preferences.geometry
    again.window.resize(1500, 900)
    again.wait(lambda: again.window.dock_layout.columns.sizes() == sizes)


# --- files -----------------------------------------------------------------------------------------------------------


def drop(widget, path) -> bool:
    """Drag a file over a widget and let it go; whether it was taken."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, button, nothing = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), copy, data, button, nothing)
    QApplication.sendEvent(widget, enter)
    if enter.isAccepted():
        QApplication.sendEvent(widget, QDropEvent(QPointF(5, 5), copy, data, button, nothing))
    return enter.isAccepted()


@pytest.mark.parametrize("on_text", [True, False])
def test_a_grammar_that_is_dropped_is_a_new_document(desk, tmp_path, on_text):
    desk.open("a+b")
    path = tmp_path / "arithmetic.gbnf"
    path.write_text('root ::= "1" ("+" "1")*\n')
    assert drop(desk.panes.editor.edit.viewport() if on_text else desk.window, path)
    assert desk.document.content.grammar == GrammarPart("gbnf", 'root ::= "1" ("+" "1")*\n')
    assert desk.panes.editor.text() == 'root ::= "1" ("+" "1")*\n'
    assert desk.window.windowTitle().startswith("arithmetic")
    assert desk.document.content.model.spec == "letters"
    desk.wait(lambda: not desk.session.step_refusal)


def test_a_document_that_is_dropped_opens_and_the_intake_reads_other_files(desk, tmp_path, monkeypatch):
    desk.open("a+b")
    path = tmp_path / "work.turnstile"
    document_file.write_document(path, DocumentFile(grammar=GrammarPart(text="c+")))
    assert drop(desk.panes.editor.edit.viewport(), path)
    assert (desk.document.path, desk.panes.editor.text()) == (path, "c+")
    other = tmp_path / "picture.png"
    other.write_bytes(b"\x89PNG")
    assert drop(desk.window, other)
    desk.wait(lambda: desk.window.findChild(IntakeDialog) is not None)
    desk.window.findChild(IntakeDialog).reject()
    assert desk.panes.editor.text() == "c+"
    desk.panes.editor.edit.setFocus()
    desk.qtbot.keyClicks(desk.panes.editor.edit, "x")
    monkeypatch.setattr(QMessageBox, "question", lambda *_args: QMessageBox.StandardButton.Cancel)
    assert drop(desk.window, path)
    assert desk.panes.editor.text() == "xc+", "unsaved work is asked about"


def test_text_that_is_dropped_is_text(desk):
    data = QMimeData()
    data.setText("x")
    desk.open("a+b")
    edit = desk.panes.editor.edit
    copy, button, nothing = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(edit.viewport(), QDragEnterEvent(QPoint(5, 5), copy, data, button, nothing))
    place = QPointF(edit.cursorRect().center())
    QApplication.sendEvent(edit.viewport(), QDropEvent(place, copy, data, button, nothing))
    assert "x" in desk.document.content.grammar.text


def test_recent_files_open_from_their_menu(desk, tmp_path):
    for name in ("one", "two"):
        path = tmp_path / f"{name}.turnstile"
        document_file.write_document(path, DocumentFile(grammar=GrammarPart(text=name)))
        assert desk.window.files.open(path)
    menu = QMenu()
    desk.window.files.fill_recent(menu)
    assert [without_mnemonic(action.text()) for action in menu.actions()] == ["two", "one"]
    menu.actions()[1].trigger()
    assert desk.panes.editor.text() == "one"
    assert desk.window.files.close_one(desk.document.documents[1])
    (tmp_path / "two.turnstile").unlink()
    desk.window.files.fill_recent(menu)
    menu.actions()[1].trigger()
    assert "two.turnstile cannot be read" in desk.window.banners.banners[-1].notification.text
    desk.window.files.fill_recent(menu)
    assert [without_mnemonic(action.text()) for action in menu.actions()] == ["one"], (
        "what is gone is not offered again"
    )


def test_another_model_makes_the_trace_a_branch_to_be_read(desk):
    desk.open("a{9}")
    desk.window.commands["run.step"].trigger()
    desk.wait(lambda: desk.output == b"a")
    desk.window.model_menu.open("endless")
    desk.wait(lambda: desk.session.decoding.view.model.spec == "endless" and not desk.session.step_refusal)
    (branch,) = desk.document.content.archived
    assert (branch.model, [step.token for step in branch.steps]) == ("Letters", [b"a"])
    assert desk.output == b""
    (button,) = desk.panes.generation.output.branches.buttons
    assert button.text().endswith(": a")
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert desk.output == b"", "it is read, not stood on"


def test_what_is_open_in_the_panes_stays_so(desk, reopened):
    desk.open("a{2,9}b")
    window, automaton = desk.window, desk.panes.automaton
    click = lambda button: desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)  # noqa: E731 - said nine times
    click(automaton.header.table_button)
    click(automaton.footer.stacks_button)
    desk.qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    bar = window.dock_layout.bottom.tabBar()
    desk.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(2).center())
    assert window.dock_layout.bottom_is_open
    click(automaton.header.merge_button)
    beside = desk.panes.generation.pages.tabBar()
    desk.qtbot.mouseClick(beside, Qt.MouseButton.LeftButton, pos=beside.tabRect(beside.count() - 1).center())
    again = reopened()
    again.wait(lambda: not again.session.step_refusal and again.session.compiling.last_good is not None)
    panes, dock_layout = again.panes, again.window.dock_layout
    again.wait(panes.automaton.table.isVisible)
    assert panes.automaton.stacks.isVisible()
    assert panes.editor.pages.current is panes.editor.reference.built is not None
    assert dock_layout.bottom_is_open
    assert dock_layout.bottom.tabText(dock_layout.bottom.currentIndex()).startswith("Timeline")
    assert not panes.automaton.header.merge_button.isChecked()
    assert panes.view("probabilities").isVisible()


def test_places_from_another_version_are_passed_over(desk):
    for value in (b"", b"x 1 2", b"1 1", b"99 1 0", b"\xff"):
        desk.window.dock_layout.restore({"bottom": value})
        desk.panes.restore({"generation": value, "automaton": value, "automaton split": value})
    assert not desk.window.dock_layout.bottom_is_open


def test_what_another_window_wrote_is_not_replaced_unasked(desk, tmp_path, monkeypatch):
    path = tmp_path / "shared.turnstile"
    desk.open("ab")
    desk.document.save(path)
    asked = []
    choice = QMessageBox.StandardButton.Cancel
    monkeypatch.setattr(QMessageBox, "question", lambda *told: asked.append(told[2]) or choice)
    desk.qtbot.keyClicks(desk.panes.editor.edit, "c")
    save = desk.window.commands["file.save"]
    save.trigger()
    save.trigger()
    assert not asked, "its own file"
    theirs = DocumentFile(grammar=GrammarPart(text="theirs"), model=ModelPart("letters"))
    document_file.write_document(path, theirs)
    desk.qtbot.keyClicks(desk.panes.editor.edit, "d")
    save.trigger()
    assert shows(asked[0], "window.files.changed_text", name="shared.turnstile")
    assert document_file.read_document(path) == theirs
    assert desk.document.is_modified
    choice = QMessageBox.StandardButton.Save
    save.trigger()
    assert document_file.read_document(path).grammar.text == desk.panes.editor.text()
    assert not desk.document.is_changed_outside
    path.unlink()
    save.trigger()
    assert path.exists(), "a file that is gone is written anew"
    assert len(asked) == 2
