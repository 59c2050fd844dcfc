"""The export dialog over a real window with worker processes: by its list, its buttons and its keys."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox

from app.catalogue import ui_text
from app.dialogs.export_dialog import ExportDialog
from app.document import DocumentFile, GrammarPart, ModelPart
from app.workers.exporting import export
from app.workers.protocol import Failed
from app.workers.requests.compile import CompileRequest
from app.workers.requests.export import (
    ExportAnswer,
    ExportEntry,
    ExportList,
    ExportOptionsMessage,
    ExportRequest,
    PreviewFile,
)
from engine.compile import CompileOptions, compile_grammar
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

NESTED = 'root ::= "(" root ")" | "a"'


def opened(desk) -> ExportDialog:
    dialog = desk.window.exporting.open()
    desk.wait(lambda: not dialog.is_waiting)
    return dialog


def click(desk, dialog: ExportDialog, name: str) -> None:
    """Click a target in the list and wait for what comes."""
    row = next(
        row for row in range(dialog.targets.count()) if dialog.targets.item(row).data(Qt.ItemDataRole.UserRole) == name
    )
    item = dialog.targets.item(row)
    dialog.targets.scrollToItem(item)
    place = dialog.targets.visualItemRect(item).center()
    desk.qtbot.mouseClick(dialog.targets.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert dialog.target == name
    desk.wait(lambda: not dialog.is_waiting)


def press(desk, button) -> None:
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def open_gbnf(desk, text: str, notation: str = "gbnf") -> None:
    desk.session.start()
    desk.document.replace(
        DocumentFile(title="A nest", grammar=GrammarPart(text=text, notation=notation), model=ModelPart("letters"))
    )
    desk.wait(
        lambda: desk.session.compiling.last_good is not None and desk.session.compiling.last_good.request.text == text
    )
    desk.wait(lambda: desk.session.decoding.view.model is not None and not desk.session.step_refusal)


def test_targets_are_listed_in_groups_and_previewed(desk):
    desk.open("a+b")
    dialog = opened(desk)
    shown = [dialog.targets.item(row).text() for row in range(dialog.targets.count())]
    groups = [shown.index(ui_text(f"export.group.{group}")) for group in ("elsewhere", "text", "picture")]
    assert groups == sorted(groups)
    assert dialog.target == "json"
    assert "turnstile-token-index" in dialog.preview.text.toPlainText()
    click(desk, dialog, "gbnf")
    assert 'root ::= "a"+ "b"' in dialog.preview.text.toPlainText()
    assert dialog.note.text().endswith(" bytes")
    click(desk, dialog, "dot")
    assert "digraph grammar" in dialog.preview.text.toPlainText()
    dialog.close()


def test_a_file_is_chosen_written_and_checked(desk, tmp_path, monkeypatch):
    desk.open("a+b")
    dialog = opened(desk)
    click(desk, dialog, "lark")
    path = tmp_path / "a.lark"
    asked = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: asked.append(given[2]) or (str(path), ""))
    press(desk, dialog.write_button)
    assert not dialog.write_button.isEnabled()
    desk.wait(lambda: not dialog.is_waiting)
    assert asked[0].endswith(".lark")
    assert dialog.verdict.isVisible()
    assert dialog.verdict.text().startswith("Wrote a.lark, ")
    assert shows(dialog.verdict.text(), "export.checked.walks")
    assert "START:" in path.read_text()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    press(desk, dialog.write_button)
    assert not dialog.is_waiting
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "none" / "a.lark"), ""))
    press(desk, dialog.write_button)
    desk.wait(lambda: not dialog.is_waiting)
    assert "No such file or directory" in dialog.verdict.text()
    assert dialog.verdict.property("severity") == "error"
    dialog.close()


def test_a_folder_shows_its_files_and_is_written(desk, tmp_path, monkeypatch):
    desk.open("a+b")
    dialog = opened(desk)
    click(desk, dialog, "requests")
    assert dialog.write_button.text() == ui_text("dialogs.export.write_folder")
    assert dialog.options.name.isVisible()
    files = [dialog.preview.files.item(row).text() for row in range(dialog.preview.files.count())]
    assert files[:2] == ["README.md", "llama-server.json"]
    place = dialog.preview.files.visualItemRect(dialog.preview.files.item(2)).center()
    desk.qtbot.mouseClick(dialog.preview.files.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert "structured_outputs" in dialog.preview.text.toPlainText()
    dialog.options.model.setFocus()
    desk.qtbot.keyClicks(dialog.options.model, "my/model")
    desk.wait(lambda: "my/model" in dialog.preview.text.toPlainText())
    assert dialog.preview.files.currentItem().text() == "vllm.json"
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(out))
    press(desk, dialog.write_button)
    desk.wait(lambda: not dialog.is_waiting)
    (folder,) = out.iterdir()
    assert folder.name.endswith("-requests")
    assert json.loads((folder / "vllm.json").read_text())["model"] == "my/model"
    assert " files, " in dialog.verdict.text()
    dialog.close()


def test_a_name_that_cannot_be_is_told(desk):
    desk.open("a+b")
    dialog = opened(desk)
    click(desk, dialog, "requests")
    dialog.options.name.selectAll()
    desk.qtbot.keyClicks(dialog.options.name, "Not A Name")
    desk.wait(lambda: dialog.note.text() == ui_text("dialogs.export.option.name_error") and not dialog.is_waiting)
    assert not dialog.write_button.isEnabled()
    dialog.options.name.selectAll()
    desk.qtbot.keyClicks(dialog.options.name, "good")
    desk.wait(lambda: dialog.write_button.isEnabled() and not dialog.is_waiting)
    dialog.close()


def test_what_does_not_fit_says_why_and_a_depth_mends_it(desk):
    open_gbnf(desk, NESTED)
    dialog = opened(desk)
    click(desk, dialog, "regex")
    assert shows(dialog.preview.message.text(), "export.refusal.fragment.nests_without_bound")
    assert dialog.targets.currentItem().toolTip().startswith("Its rules nest")
    assert dialog.targets.currentItem().font().italic()
    assert not dialog.write_button.isEnabled()
    dialog.options.recursion.setFocus()
    desk.qtbot.keyClick(dialog.options.recursion, Qt.Key.Key_Up)
    desk.qtbot.keyClick(dialog.options.recursion, Qt.Key.Key_Up)
    desk.wait(
        lambda: (
            dialog.preview.text.toPlainText() == "(?:\\((?:\\(a\\)|a)\\)|a)\n"
            or "a" in dialog.preview.text.toPlainText()
        )
    )
    desk.wait(lambda: dialog.write_button.isEnabled() and not dialog.is_waiting)
    assert shows(dialog.notes.text(), "export.note.fragment.cut", depth=2)
    dialog.close()


def test_a_schema_that_nests_is_greyed_before_anybody_asks_for_it(desk):
    open_gbnf(desk, '{"type": "array", "items": {"$ref": "#"}}', "json_schema")
    dialog = opened(desk)
    for name in ("safetensors", "bumblebee"):
        click(desk, dialog, name)
        assert not dialog.write_button.isEnabled()
        assert ui_text("export.refusal.fragment.rules_nest") in dialog.preview.message.text()
    click(desk, dialog, "json")
    assert dialog.write_button.isEnabled()
    dialog.close()


def test_an_open_schema_fits_more_targets_once_it_is_closed(desk):
    open_gbnf(desk, '{"type": "object", "properties": {"a": {"enum": [1]}}}', "json_schema")
    dialog = opened(desk)
    click(desk, dialog, "gbnf")
    assert dialog.close_objects.isHidden()
    click(desk, dialog, "regex")
    assert shows(dialog.preview.message.text().lower(), "export.refusal.fragment.open_objects")
    press(desk, dialog.close_objects)
    assert desk.document.content.grammar.additional == "closed"
    desk.wait(lambda: dialog.write_button.isEnabled() and not dialog.is_waiting and dialog.target == "regex")
    assert dialog.close_objects.isHidden()
    assert '"a"' in dialog.preview.text.toPlainText()
    dialog.close()


def test_a_picture_is_shown(desk, tmp_path):
    desk.open("a+b")
    dialog = opened(desk)
    click(desk, dialog, "svg")
    assert dialog.preview.currentWidget() is dialog.preview.picture
    drawn = dialog.preview.picture.label.pixmap()
    assert drawn.width() > 200
    dialog.resize(700, 500)
    assert dialog.preview.picture.label.pixmap().width() <= dialog.preview.width()
    picture = dialog.preview.picture
    desk.qtbot.mouseClick(picture.viewport(), Qt.MouseButton.LeftButton)
    assert picture.label.pixmap().width() == picture.full_size.width()
    desk.qtbot.mouseClick(picture.viewport(), Qt.MouseButton.LeftButton)
    assert picture.label.pixmap().width() <= picture.viewport().width()
    dialog.write(str(tmp_path / "a.svg"))
    desk.wait(lambda: not dialog.is_waiting)
    assert "nodes and" in dialog.verdict.text()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    dialog.close()


def test_a_long_export_is_cancelled_and_another_one_works(desk, tmp_path):
    desk.open("([a-z]{1,30}x){12}")
    dialog = desk.window.exporting.open()
    desk.wait(lambda: dialog.targets.count() > 0)  # the preview of the first target takes long too: nobody waits for it
    click(desk, dialog, "gbnf")
    dialog.targets.choose("jflap")
    assert dialog.is_waiting
    assert dialog.cancel_button.isVisible()
    press(desk, dialog.cancel_button)
    assert not dialog.is_waiting
    assert "cancelled" in dialog.preview.message.text()
    click(desk, dialog, "ebnf")
    assert "root ::=" in dialog.preview.text.toPlainText()
    dialog.write(str(tmp_path / "a.ebnf"))
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert not dialog.is_waiting
    assert dialog.verdict.text() == ui_text("dialogs.export.cancelled")
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_an_export_that_waits_says_for_what(desk):
    desk.open("[a-z]*")
    desk.session.decoding.sample_many(10_000)
    dialog = desk.window.exporting.open()
    desk.wait(lambda: dialog.note.text() == ui_text("dialogs.export.waits_for_samples"))
    desk.session.decoding.queries.cancel_sampling()
    desk.wait(lambda: "turnstile-token-index" in dialog.preview.text.toPlainText())
    dialog.close()


def test_without_a_model_what_needs_none_is_offered(desk):
    desk.session.start()
    desk.document.replace(DocumentFile(grammar=GrammarPart(text="[a-z]*"), model=ModelPart("slow")))
    desk.wait(
        lambda: (
            desk.session.compiling.last_good is not None and desk.session.compiling.last_good.request.text == "[a-z]*"
        )
    )
    dialog = opened(desk)
    assert dialog.target == "gbnf"
    assert "root ::= [a-z]*" in dialog.preview.text.toPlainText()
    click(desk, dialog, "vllm")
    assert "needs a model" in dialog.preview.message.text()
    dialog.close()
    desk.session.decoding.cancel_model()


# without a window


ENTRY = ExportEntry(
    "gbnf",
    "GBNF",
    "About.",
    "Text",
    ".gbnf",
    is_folder=False,
    supported_options=("spelling",),
    needs_model=False,
    refusal="",
)


@pytest.fixture
def alone(qtbot) -> ExportDialog:
    dialog = ExportDialog("x")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.begin()
    return dialog


def test_a_late_answer_is_dropped(alone, qtbot):
    asked = []
    alone.wanted.connect(lambda *given: asked.append(given))
    alone.show_list(ExportList((ENTRY,)))
    assert [given[:3] for given in asked] == [("gbnf", "", ExportOptionsMessage(name="x"))]
    number = asked[0][3]
    alone.show_answer(ExportAnswer("gbnf", "", number - 1, files=(PreviewFile("a", 3, "old"),)))
    assert alone.is_waiting
    alone.show_answer(ExportAnswer("gbnf", "", number, files=(PreviewFile("a", 3, "new"),)))
    assert alone.preview.text.toPlainText() == "new"
    alone.show_list(ExportList((), "late"))
    assert alone.preview.text.toPlainText() == "new"


def test_what_fails_is_told(alone):
    alone.show_list(ExportList((ENTRY,)))
    alone.show_failure(Failed("it broke", ""))
    assert not alone.is_waiting
    assert "it broke" in alone.verdict.text()
    alone.begin()
    alone.show_list(ExportList((), ui_text("workers.no_grammar")))
    assert alone.preview.message.text() == ui_text("workers.no_grammar")


def test_a_file_that_is_no_text_says_so(alone):
    asked = []
    alone.wanted.connect(lambda *given: asked.append(given))
    alone.show_list(ExportList((ENTRY,)))
    alone.show_answer(ExportAnswer("gbnf", "", asked[0][3], files=(PreviewFile("a", 9, ""),)))
    assert alone.preview.text.toPlainText() == ui_text("dialogs.export.preview.not_text")


def test_a_file_that_would_be_large_shows_its_size_in_the_place_of_a_preview(alone):
    asked = []
    alone.wanted.connect(lambda *given: asked.append(given))
    alone.show_list(ExportList((ENTRY,)))
    estimate = "about 56 MB are expected (10,000,000 transitions)"
    alone.show_answer(ExportAnswer("gbnf", "", asked[0][3], estimate=estimate))
    assert "About 56 MB are expected" in alone.preview.message.text()
    assert "About 56 MB are expected" in alone.note.text()
    assert not alone.is_waiting
    assert alone.write_button.isEnabled()


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        (
            {"estimate": ui_text("export.report.fragment.forecast", size=56, transitions=10), "is_large": True},
            "About 56 MB are expected",
        ),
        ({"files": (PreviewFile("a", 56_000_000, "x"),), "is_large": True}, "56,000,000 bytes"),
        ({"files": (PreviewFile("a", 56, "x"),)}, ""),
    ],
)
def test_a_large_file_is_written_only_if_the_user_agrees(alone, monkeypatch, tmp_path, answer, size):
    requests, questions = [], []
    alone.wanted.connect(lambda *given: requests.append(given))
    alone.show_list(ExportList((ENTRY,)))
    alone.show_answer(ExportAnswer("gbnf", "", requests[0][3], **answer))
    path = str(tmp_path / "out.gbnf")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_given: (path, ""))
    reply = QMessageBox.StandardButton.Cancel
    monkeypatch.setattr(QMessageBox, "question", lambda *given: questions.append(given[2]) or reply)
    alone.write_button.click()
    assert [given[1] for given in requests] == ([""] if size else ["", path])
    assert [size in question for question in questions] == ([True] if size else [])
    if size:
        reply = QMessageBox.StandardButton.Save
        alone.write_button.click()
        assert [given[1] for given in requests] == ["", path]


def test_a_preview_tells_whether_its_file_is_large(monkeypatch):
    compiled = compile_grammar("regex", "[a-z]{9}")
    request = ExportRequest(CompileRequest(1, "regex", "[a-z]{9}", CompileOptions()), "gbnf")
    assert not export(request, compiled, None, CancelToken()).is_large
    monkeypatch.setattr("engine.export.target.LARGE", 10)
    assert export(request, compiled, None, CancelToken()).is_large


def test_a_large_export_is_not_made_for_its_preview(monkeypatch):
    monkeypatch.setattr("engine.export.target.LARGE", 100)
    compiled = compile_grammar("regex", "[a-z]{9}")
    vocabulary = Vocabulary([bytes([byte]) for byte in range(256)], [])
    request = CompileRequest(1, "regex", "[a-z]{9}", CompileOptions())
    for target in ("json", "safetensors"):
        answer = export(ExportRequest(request, target), compiled, vocabulary, CancelToken())
        assert answer.estimate == ui_text("export.report.fragment.forecast", size=0, transitions=234)
        assert (answer.files, answer.error) == ((), "")
