"""The switch of the target in a whole window: what it marks, what it stores, and what it says of an opened document."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QInputDialog

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.panes.problems.pane import FIX, SEVERITY
from engine.diagnosis.targets.findings import TargetDiagnostic
from engine.document.codec import decode, encode
from engine.targets import ENGINES, Effect, EngineRecord, engine_record

SCHEMA = '{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}'
LISTED = '{"type": "array",\n "items": [{"type": "integer"}]}'
LOOKAHEAD = "(?=.*[0-9])[a-z0-9]+"


@pytest.fixture(autouse=True)
def nothing_is_installed(monkeypatch):
    """Hide installed engines, which differ between machines."""
    monkeypatch.setattr(EngineRecord, "installed_version", "")


def open_grammar(desk, notation: str, text: str, target: str = "", version: str = "") -> None:
    desk.session.start()
    part = GrammarPart(notation, text, target=target, target_version=version)
    desk.document.replace(DocumentFile(grammar=part, model=ModelPart("letters")))
    desk.wait(lambda: desk.session.compiling.last_good is not None)


def findings(desk) -> list[TargetDiagnostic]:
    return [one for one in desk.panes.editor.edit.current_diagnostics if isinstance(one, TargetDiagnostic)]


def choose_by_keys(desk, engine: str) -> None:
    """Open the menu by its key, go to an engine, and press Return."""
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    desk.activate()
    desk.panes.editor.edit.setFocus()
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_I, control | shift)
    menu = desk.window.toolbar.target_menu
    desk.wait(menu.isVisible)
    name = engine_record(engine).engine if engine else ui_text("window.target.standard")
    for _ in menu.actions():
        if menu.activeAction() is not None and menu.activeAction().text() == name:
            break
        desk.qtbot.keyClick(menu, Qt.Key.Key_Down)
    assert menu.activeAction().text() == name
    desk.qtbot.keyClick(menu, Qt.Key.Key_Return)
    desk.wait(lambda: not menu.isVisible())


def press(desk, key: Qt.Key) -> None:
    desk.qtbot.keyClick(desk.panes.editor.edit, key, Qt.KeyboardModifier.ControlModifier)


def target_of(desk) -> tuple[str, str]:
    grammar = desk.document.content.grammar
    return grammar.target, grammar.target_version


def test_a_target_marks_the_keyword_itself_and_the_standard_marks_nothing(desk):
    open_grammar(desk, "json_schema", SCHEMA)
    revision = desk.document.revision
    assert desk.window.toolbar.target_button.text().startswith(ui_text("window.target.standard"))
    choose_by_keys(desk, "llama.cpp")
    desk.wait(lambda: bool(findings(desk)))
    (found,) = findings(desk)
    assert found.finding.effect is Effect.DROPS
    assert SCHEMA[found.span.start : found.span.end] == '"uniqueItems"'
    assert target_of(desk) == ("llama.cpp", engine_record("llama.cpp").version)
    assert desk.document.is_modified
    assert desk.document.revision == revision, "nothing is compiled again"
    assert desk.panes.editor.edit.sign_of_line(0) is Effect.DROPS
    assert engine_record("llama.cpp").version in desk.window.toolbar.target_button.text()
    choose_by_keys(desk, "")
    desk.wait(lambda: not findings(desk))
    assert target_of(desk) == ("", "")


def test_a_change_of_the_target_is_a_step_of_undo(desk):
    open_grammar(desk, "json_schema", SCHEMA)
    choose_by_keys(desk, "xgrammar")
    choose_by_keys(desk, "llguidance")
    desk.qtbot.keyClicks(desk.panes.editor.edit, " ")
    press(desk, Qt.Key.Key_Z)
    assert target_of(desk) == ("llguidance", engine_record("llguidance").version)
    press(desk, Qt.Key.Key_Z)
    assert target_of(desk) == ("xgrammar", engine_record("xgrammar").version)
    assert desk.window.toolbar.target_button.text().startswith(engine_record("xgrammar").engine)
    press(desk, Qt.Key.Key_Z)
    assert target_of(desk) == ("", "")


def test_an_edit_is_examined_again_and_a_conversion_keeps_the_target(desk):
    open_grammar(desk, "json_schema", SCHEMA, "llguidance", "1.9.1")
    desk.wait(lambda: bool(findings(desk)))
    desk.panes.editor.edit.setFocus()
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClicks(desk.panes.editor.edit, "  ")
    desk.wait(lambda: [one.span.start for one in findings(desk)] == [SCHEMA.index('"uniqueItems"') + 2])
    desk.window.notation_menu.choose_whitespace("compact")
    assert target_of(desk) == ("llguidance", "1.9.1")


def test_the_key_of_quick_fixes_applies_the_rewrite(desk):
    open_grammar(desk, "json_schema", LISTED, "xgrammar", "0.2.8")
    desk.wait(lambda: any(one.finding.rewrite for one in findings(desk)))
    edit = desk.panes.editor.edit
    found = next(one for one in findings(desk) if one.finding.rewrite)
    assert found.finding.rewrite.title
    edit.select(found.span)
    edit.setFocus()
    press(desk, Qt.Key.Key_Period)
    desk.wait(lambda: '"prefixItems"' in desk.panes.editor.text())
    desk.wait(lambda: not any(one.finding.keyword == "items" for one in findings(desk)))
    press(desk, Qt.Key.Key_Z)
    assert desk.panes.editor.text() == LISTED


def test_a_look_ahead_has_a_rewrite_in_the_list_of_problems(desk):
    open_grammar(desk, "regex", LOOKAHEAD, "xgrammar", "0.2.8")
    desk.wait(lambda: any(one.finding.rewrite for one in findings(desk)))
    problems = desk.panes.problems
    rows = range(problems.model.rowCount())
    row = next(row for row in rows if isinstance(problems.model.finding(row), TargetDiagnostic))
    assert problems.model.index(row, SEVERITY).data() == ui_text("common.fragment.effect.refuses").capitalize()
    desk.window.reveal(problems)
    place = problems.table.visualRect(problems.model.index(row, FIX)).center()
    desk.qtbot.mouseClick(problems.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    desk.wait(lambda: "(?=" not in desk.panes.editor.text())
    desk.wait(lambda: not findings(desk))


def test_another_version_is_entered_and_its_treatments_are_marked(desk):
    open_grammar(desk, "json_schema", '{"type": "string", "pattern": "a"}', "llama.cpp", "b11549")
    desk.wait(lambda: [one.finding.effect for one in findings(desk)] == [Effect.DROPS])
    desk.window.target_menu.fill()
    other = desk.window.target_menu.version_menu.actions()[-1]
    other.trigger()
    dialog = desk.window.findChild(QInputDialog)
    dialog.setTextValue("b10034")
    desk.qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert target_of(desk) == ("llama.cpp", "b10034")
    desk.wait(lambda: [one.finding.effect for one in findings(desk)] == [Effect.REFUSES])
    desk.window.target_menu.fill()
    checked = [action.text() for action in desk.window.target_menu.version_menu.actions() if action.isChecked()]
    assert checked == ["b10034"]


def test_a_service_has_no_versions(desk):
    open_grammar(desk, "json_schema", SCHEMA, "openai")
    desk.window.target_menu.fill()
    assert not desk.window.target_menu.version_menu.isEnabled()
    names = [action.text() for action in desk.window.toolbar.target_menu.actions()]
    assert names[1 : 1 + len(ENGINES)] == [engine_record(engine).engine for engine in ENGINES]


def test_a_document_remembers_its_target(desk, tmp_path):
    open_grammar(desk, "json_schema", SCHEMA)
    choose_by_keys(desk, "vllm")
    path = tmp_path / "a.turnstile"
    desk.document.save(path)
    grammar = decode(path.read_bytes(), "a").grammar
    assert (grammar.target, grammar.target_version) == ("vllm", engine_record("vllm").version)
    desk.document.replace(DocumentFile())
    assert target_of(desk) == ("", "")
    desk.document.open(path)
    desk.wait(lambda: bool(findings(desk)))
    assert target_of(desk) == ("vllm", engine_record("vllm").version)


def test_another_installed_version_is_said_once_and_taken_over(desk, monkeypatch):
    monkeypatch.setattr(EngineRecord, "installed_version", "0.3.1")
    open_grammar(desk, "json_schema", SCHEMA, "xgrammar", "0.2.8")
    (banner,) = desk.window.banners.banners
    engine = engine_record("xgrammar").engine
    assert banner.notification.text == ui_text(
        "window.target.differs", engine=engine, version="0.2.8", installed="0.3.1"
    )
    desk.qtbot.mouseClick(banner.button, Qt.MouseButton.LeftButton)
    assert target_of(desk) == ("xgrammar", "0.3.1")
    assert desk.window.banners.banners == []
    open_grammar(desk, "json_schema", SCHEMA, "xgrammar", "0.3.1")
    assert desk.window.banners.banners == []


def test_a_chosen_target_has_the_installed_version_and_ends_the_warning(desk, monkeypatch):
    monkeypatch.setattr(EngineRecord, "installed_version", "0.3.1")
    open_grammar(desk, "json_schema", SCHEMA, "xgrammar", "0.2.8")
    assert len(desk.window.banners.banners) == 1
    choose_by_keys(desk, "llguidance")
    assert target_of(desk) == ("llguidance", "0.3.1")
    assert desk.window.banners.banners == []


def test_a_target_without_data_is_kept_and_said(desk):
    open_grammar(desk, "json_schema", SCHEMA, "another-engine", "1")
    (banner,) = desk.window.banners.banners
    assert banner.notification.text == ui_text("window.target.unknown", target="another-engine")
    assert decode(encode(desk.document.content), "a").grammar.target == "another-engine"
    desk.qtbot.mouseClick(banner.button, Qt.MouseButton.LeftButton)
    assert target_of(desk) == ("", "")


def test_another_tokenizer_is_said_when_a_document_is_opened(desk):
    desk.open("a+b")
    desk.wait(lambda: desk.document.content.model.vocabulary_fingerprint != "")
    model = desk.document.content.model
    desk.document.replace(DocumentFile(grammar=GrammarPart("regex", "a+c"), model=model))
    desk.wait(desk.is_ready)
    assert desk.window.banners.banners == []
    other = ModelPart(model.spec, model.name, model.fingerprint, "another fingerprint")
    desk.document.replace(DocumentFile(grammar=GrammarPart("regex", "a+d"), model=other))
    desk.wait(lambda: bool(desk.window.banners.banners))
    (banner,) = desk.window.banners.banners
    assert banner.notification.text == ui_text("session.notification.tokenizer_differs", name=model.name)
    assert desk.document.content.model == model


def test_the_badge_has_a_tip(desk):
    open_grammar(desk, "json_schema", SCHEMA, "llama.cpp", "0.5.0")
    desk.wait(lambda: bool(findings(desk)))
    edit = desk.panes.editor.edit
    area = edit.badge_area(0)
    assert not area.isEmpty()
    assert edit.offset_at(area.center().toPoint()) == -1
    assert edit.tip_under(area.center().toPoint()) == edit.tip_of_line(0)
    assert edit.tip_under(area.topRight().toPoint() + QPoint(20, 2)) == ""
