"""The editor pane, with real keys and a real pointer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt
from PySide6.QtGui import QImage, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.catalogue import ui_text
from app.panes.editor.pane import EditorPane
from app.panes.editor.read_only_code import ReadOnlyCode
from app.theme import PALETTES
from engine.diagnosis.targets.findings import TargetDiagnostic, TargetFinding, as_diagnostics
from engine.notations import NOTATIONS
from engine.notations.editing import Edit
from engine.notations.lexing import LineTokens
from engine.source import Diagnostic, Severity, Span
from engine.targets import Effect, EvidenceSource

EFFECTS = (Effect.REFUSES, Effect.DROPS, Effect.APPROXIMATES, Effect.SLOWS)
WAVE = QTextCharFormat.UnderlineStyle.WaveUnderline


@pytest.fixture
def pane(qtbot: QtBot) -> EditorPane:
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.resize(500, 300)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def finding(start: int, end: int, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic("test", severity, Span(start, end), "Something is wrong", "Do it differently")


def marked(pane: EditorPane, style: QTextCharFormat.UnderlineStyle) -> list[str]:
    return [
        selection.cursor.selectedText()
        for selection in pane.edit.extraSelections()
        if selection.format.underlineStyle() == style
    ]


def test_typing_is_told(pane: EditorPane, qtbot: QtBot) -> None:
    with qtbot.waitSignal(pane.text_edited) as told:
        qtbot.keyClicks(pane.edit, "[a-z]+")
    assert told.args is not None
    assert pane.text() == "[a-z]+"


class Resizes(QObject):
    """Notes the length of the text whenever the part of an editor with the text gets another size."""

    def __init__(self, pane: EditorPane) -> None:
        super().__init__(pane)
        self._document = pane.edit.document()
        self.lengths: list[int] = []
        pane.edit.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.Resize:
            self.lengths.append(self._document.characterCount())
        return False


def test_a_long_line_is_laid_out_once_for_one_width(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_text("a\n" * 2_000)
    resizes = Resizes(pane)
    pane.set_text("ab" * 20_000)
    qtbot.wait(0)
    assert set(resizes.lengths) == {1}  # before it was there
    pane.set_text("a")
    assert not pane.edit.verticalScrollBar().isVisible()


def test_only_the_line_of_a_key_is_read_again_and_no_text_as_another_notation(
    pane: EditorPane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: dict[str, list[str]] = {"regex": [], "gbnf": []}

    def watch(notation: str) -> None:
        lex_line = type(NOTATIONS[notation]).lex_line

        def lex_and_note(self: object, line: str, state: int) -> LineTokens:
            read[notation].append(line)
            return lex_line(self, line, state)  # type: ignore[arg-type]

        monkeypatch.setattr(type(NOTATIONS[notation]), "lex_line", lex_and_note)

    watch("regex")
    watch("gbnf")
    pane.set_text("[a-z]+")
    pane.set_text('root ::= (x)\nx ::= "x"', notation="gbnf")
    assert "[a-z]+" not in read["gbnf"]
    assert not any("::=" in line for line in read["regex"])
    pane.edit.setFocus()
    pane.edit.moveCursor(QTextCursor.MoveOperation.EndOfBlock)
    assert pane.edit.bracket_pair()
    read["gbnf"].clear()
    qtbot.keyClicks(pane.edit, "?")
    assert read["gbnf"] == ["root ::= (x)?"]


def test_a_finding_about_the_whole_text_underlines_its_first_line(pane: EditorPane) -> None:
    text = '{\n  "type": "object"\n}'
    pane.set_text(text)
    pane.show_diagnostics((finding(0, len(text)),))
    assert marked(pane, WAVE) == ["{"]
    pane.set_text("[a-z]+")
    pane.show_diagnostics((finding(0, 6),))
    assert marked(pane, WAVE) == ["[a-z]+"]


def test_a_schema_on_one_long_line_is_offered_to_be_formatted(pane: EditorPane) -> None:
    pane.set_notation("json_schema")
    pane.set_text('{"enum": [' + '"a word", ' * 1_000 + '""]}')
    assert pane.line_hint.isVisible()
    pane.set_text('{"enum": [' + '\n"a word", ' * 1_000 + '""]}')
    assert not pane.line_hint.isVisible()


def test_a_finding_about_much_of_the_text_underlines_its_first_line(pane: EditorPane) -> None:
    text = "{\n" + '  "a": {\n' + "    \n" * 300 + "  }\n}"
    pane.set_text(text)
    pane.show_diagnostics((finding(text.index('"a"'), len(text) - 2),))
    assert marked(pane, WAVE) == ['"a": {']


def test_long_generated_text_is_highlighted_where_it_is_visible(qtbot: QtBot) -> None:
    view = ReadOnlyCode()
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    view.show_text('rule ::= "a word that makes it long"\n' * 2_000, "gbnf")
    is_coloured = [bool(view.document().findBlockByNumber(line).layout().formats()) for line in (0, 1_000)]
    assert is_coloured == [True, False]
    view.verticalScrollBar().setValue(1_000)
    assert view.document().findBlockByNumber(1_003).layout().formats()


def test_a_long_text_is_highlighted_where_it_is_visible(pane: EditorPane, qtbot: QtBot) -> None:
    def coloured(line: int) -> bool:
        return bool(pane.edit.document().findBlockByNumber(line).layout().formats())

    pane.set_notation("json_schema")
    pane.set_text("[\n" + '  {"const": "a word that makes it long"},\n' * 1_000 + "  {}\n]")
    assert coloured(1)
    assert not coloured(500)
    pane.edit.verticalScrollBar().setValue(500)
    assert all(coloured(line) for line in range(500, 510))
    pane.edit.select(Span(len(pane.text()), len(pane.text())))
    before = pane.edit.firstVisibleBlock().blockNumber()
    for _ in range(3):
        qtbot.keyClick(pane.edit, Qt.Key.Key_Backspace)
    assert coloured(before)
    pane.set_text("[true]")
    assert coloured(0)


def test_a_long_text_that_is_pasted_undone_and_repeated_is_highlighted_where_it_is_visible(pane: EditorPane) -> None:
    def coloured(line: int) -> bool:
        return bool(pane.edit.document().findBlockByNumber(line).layout().formats())

    pane.set_notation("json_schema")
    pane.set_text("[true]")
    pasted = QMimeData()
    pasted.setText("[\n" + '  {"const": "a word that makes it long"},\n' * 1_000 + "  {}\n]")
    pane.edit.insertFromMimeData(pasted)
    assert coloured(pane.edit.firstVisibleBlock().blockNumber() + 1)
    assert not coloured(500)
    pane.edit.undo()
    assert coloured(0)
    pane.edit.redo()
    assert coloured(pane.edit.firstVisibleBlock().blockNumber() + 1)
    assert not coloured(500)


def test_a_line_within_a_string_has_its_colour_wherever_the_view_begins(pane: EditorPane) -> None:
    def colours(line: int) -> set[str]:
        found = pane.edit.document().findBlockByNumber(line).layout().formats()
        return {run.format.foreground().color().name() for run in found}

    pane.set_notation("gbnf")
    pane.set_text('root ::= "a\n' + "b | c\n" * 200 + '" | d\n' + "e ::= f\n" * 200)
    pane.edit.verticalScrollBar().setValue(150)
    literal = theme.colour(theme.Role.SYNTAX_LITERAL).name()
    assert colours(150) == {literal}
    pane.edit.select(Span(9, 10))  # the quote
    pane.edit.insertPlainText("'")
    pane.edit.verticalScrollBar().setValue(150)
    assert colours(150) != {literal}


def test_a_search_knows_the_text_after_an_edit_at_once(pane: EditorPane) -> None:
    pane.set_text("ab ab ab")
    pane.find_replace.open(True)
    pane.find_bar.field.setText("ab")
    pane.edit.apply([Edit(Span(0, 0), "xx")])
    pane.find_replace.replacement.setText("c")
    pane.find_replace.replace_all()
    assert pane.text() == "xxc c c"
    pane.edit.undo()
    assert pane.text() == "xxab ab ab"


def test_setting_a_text_is_no_edit(pane: EditorPane, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(pane.text_edited):
        pane.set_text("a|b")
    assert pane.text() == "a|b"
    assert not pane.edit.document().isUndoAvailable()


def test_undo_takes_an_edit_back(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_text("a")
    pane.edit.selectAll()
    qtbot.keyClicks(pane.edit, "b")
    with qtbot.waitSignal(pane.text_edited):
        pane.edit.undo()
    assert pane.text() == "a"


def test_text_is_kept_to_the_letter(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_text("a\u00a0b\n😀")
    assert pane.text() == "a\u00a0b\n😀"
    qtbot.keyClick(pane.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert pane.text() == "\na\u00a0b\n😀"


def test_tab_leaves_the_editor(qtbot: QtBot) -> None:
    both = QWidget()
    qtbot.addWidget(both)
    layout = QVBoxLayout(both)
    pane, other = EditorPane(), QLineEdit()
    layout.addWidget(pane)
    layout.addWidget(other)
    both.show()
    qtbot.waitExposed(both)
    pane.edit.setFocus()
    qtbot.keyClick(pane.edit, Qt.Key.Key_Tab)
    assert not pane.edit.hasFocus()
    assert pane.text() == ""


def test_a_finding_is_underlined_beyond_wide_characters(pane: EditorPane) -> None:
    pane.set_text("😀😀(a")
    pane.show_diagnostics((finding(2, 3),))
    assert marked(pane, WAVE) == ["("]
    assert pane.edit.tip_at(2) == "Error: Something is wrong\nDo it differently"
    assert pane.edit.tip_at(3) == ""


@pytest.mark.parametrize(("text", "at", "expected"), [("ab", 2, "b"), ("ab", 1, "b"), ("a\nb", 1, "a"), ("", 0, "")])
def test_an_empty_span_is_seen_where_there_is_text(pane: EditorPane, text: str, at: int, expected: str) -> None:
    pane.set_text(text)
    pane.show_diagnostics((finding(at, at),))
    assert marked(pane, WAVE) == [expected]


def test_the_margin_tells_the_worst_of_a_line(pane: EditorPane) -> None:
    pane.set_text("ab\ncd")
    pane.show_diagnostics((finding(3, 4, Severity.HINT), finding(4, 5, Severity.ERROR), finding(0, 1, Severity.HINT)))
    assert pane.edit.sign_of_line(0) is Severity.HINT
    assert pane.edit.sign_of_line(1) is Severity.ERROR
    assert pane.edit.sign_of_line(2) is None
    assert pane.edit.tip_of_line(1).startswith("Hint")
    assert pane.edit.gutter.line_at(QPoint(2, pane.edit.point_of(3).y())) == 1


def for_target(start: int, end: int, effect: Effect = Effect.REFUSES) -> TargetDiagnostic:
    found = TargetFinding(
        "xgrammar",
        "0.2.8",
        effect,
        "pattern",
        "/pattern",
        Span(start, end),
        "It does otherwise",
        EvidenceSource.RUN,
        "xgrammar",
        "0.2.8",
        "2026-11-27",
    )
    return as_diagnostics((found,))[0]


def test_a_finding_for_the_target_has_another_line_another_sign_and_a_badge(pane: EditorPane) -> None:
    pane.set_text("abcd\nef\ngh")
    dropped = for_target(2, 3, Effect.DROPS)
    pane.show_diagnostics((for_target(0, 2), dropped, finding(5, 6), for_target(6, 7)))
    assert marked(pane, WAVE) == ["e"]
    assert sorted(marked(pane, QTextCharFormat.UnderlineStyle.DashDotLine)) == ["ab", "c", "f"]
    assert [pane.edit.sign_of_line(line) for line in range(3)] == [Effect.REFUSES, Severity.ERROR, None]
    badge = pane.edit.badge_of_line(0)
    assert badge is not None
    assert badge.effects == (Effect.REFUSES, Effect.DROPS)
    assert dropped.finding.evidence in badge.texts[0]
    assert dropped.finding.short_evidence in badge.texts[1]
    assert all(part in dropped.finding.evidence for part in ("xgrammar", "0.2.8", "2026-11-27"))
    assert badge.texts[-1] == ""
    assert pane.edit.badge_of_line(2) is None
    assert dropped.hint in pane.edit.tip_at(2)


def test_a_badge_is_as_long_as_there_is_room_and_goes_with_its_text(pane: EditorPane, qtbot: QtBot) -> None:
    widths = []
    character = pane.edit.fontMetrics().horizontalAdvance("a")
    for room in (300, 200, 90, 40, 20):
        pane.set_text("a" * ((pane.edit.viewport().width() - room) // character))
        pane.show_diagnostics((for_target(0, 1),))
        area = pane.edit.badge_area(0)
        assert area.right() <= pane.edit.viewport().width()
        widths.append(area.width())
    assert widths == sorted(set(widths), reverse=True)
    assert widths[-1] == 0
    pane.set_text("ab")
    pane.show_diagnostics((for_target(0, 1),))
    assert not pane.edit.badge_area(0).isEmpty()
    qtbot.keyClicks(pane.edit, "x")
    assert pane.edit.badge_area(0).isEmpty()


@pytest.mark.parametrize("name", sorted(PALETTES["standard"]))
def test_signs_and_badges_differ_without_any_colour(pane: EditorPane, qtbot: QtBot, qapp: QApplication, name) -> None:
    theme.apply(qapp, name)
    pane.set_text("ab")
    pane.resize(900, 200)
    shown = [finding(0, 1, severity) for severity in Severity] + [for_target(0, 1, one) for one in EFFECTS]
    pictures = []
    for one in shown:
        pane.show_diagnostics((one,))
        qtbot.turns()
        picture = pane.edit.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        pictures.append(bytes(picture.constBits()))
    theme.apply(qapp, "light")
    assert len(set(pictures)) == len(pictures)


def test_the_text_follows_the_live_position_until_the_user_scrolls_away(pane: EditorPane) -> None:
    pane.set_text("\n".join(f"{number:03}" for number in range(200)))
    bar, far = pane.edit.verticalScrollBar(), Span(4 * 150, 4 * 150 + 3)
    pane.show_live((far,))
    assert bar.value() == 0  # the user works in the text
    pane.show_live((Span(0, 3),))
    pane.edit.clearFocus()
    pane.show_live((far, Span(4 * 151, 4 * 151 + 3)))
    followed = bar.value()
    assert 130 < followed <= 150
    pane.show_live((Span(4 * 152, 4 * 152 + 3),))
    assert bar.value() == followed
    bar.setValue(20)
    pane.show_live((Span(4 * 160, 4 * 160 + 3),))
    assert bar.value() == 20


def test_a_live_span_has_a_ground_and_a_line(pane: EditorPane) -> None:
    pane.set_text("😀[a-z]+")
    pane.show_live((Span(1, 6),))
    assert marked(pane, QTextCharFormat.UnderlineStyle.SingleUnderline) == ["[a-z]"]
    (live,) = pane.edit.extraSelections()
    assert live.format.background().color() == theme.colour(theme.Role.LIVE_FILL)
    pane.show_live(())
    assert pane.edit.extraSelections() == []


def test_a_hovered_span_is_marked(pane: EditorPane) -> None:
    pane.set_text("abc")
    pane.show_hover((Span(1, 2), Span(9, 12)))  # the second is of a text that is gone
    assert marked(pane, QTextCharFormat.UnderlineStyle.DotLine) == ["b", ""]


def test_the_pointer_tells_its_code_point(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_text("a😀[b]\n")
    viewport, told = pane.edit.viewport(), []
    pane.offset_hovered.connect(told.append)
    for offset in (2, 3):
        qtbot.mouseMove(viewport, pane.edit.point_of(offset) + QPoint(3, 0))
    qtbot.mouseMove(viewport, QPoint(400, pane.edit.point_of(0).y()))
    assert told == [2, 3, -1]


def test_a_bracket_shows_its_partner(pane: EditorPane) -> None:
    pane.set_text("😀(a[)]b)")
    pane.edit.select(Span(1, 1))
    pane.edit.clearFocus()
    assert pane.edit.extraSelections() == []
    pane.edit.setFocus()
    bold = [s.cursor.position() for s in pane.edit.extraSelections() if s.format.fontWeight() == 700]
    assert bold == [3, 9]


def test_going_to_a_span_selects_it(pane: EditorPane) -> None:
    pane.set_text("😀ab")
    pane.go_to(Span(1, 3))
    assert pane.edit.textCursor().selectedText() == "ab"


def test_colours_follow_the_notation_and_the_theme(pane: EditorPane, qapp) -> None:
    pane.set_text("a+")

    def colours() -> set[str]:
        formats = pane.edit.document().firstBlock().layout().formats()
        return {run.format.foreground().color().name() for run in formats}

    light = colours()
    theme.apply(qapp, "dark")
    try:
        assert theme.colour(theme.Role.SYNTAX_QUANTIFIER).name() in colours() - light
    finally:
        theme.apply(qapp, "light")


def test_the_visible_part_of_a_very_long_line_of_json_is_highlighted(pane: EditorPane, qtbot: QtBot) -> None:
    def coloured() -> list[tuple[str, str]]:
        block = pane.edit.document().firstBlock()
        runs = block.layout().formats()
        texts = [block.text()[run.start : run.start + run.length] for run in runs]
        return [(text, run.format.foreground().color().name()) for text, run in zip(texts, runs, strict=True)]

    key, value = (theme.colour(role).name() for role in (theme.Role.SYNTAX_NAME, theme.Role.SYNTAX_CLASS))
    part = '{"key \\" here": "a value: \\\\"}, '
    pane.set_notation("json_schema")
    pane.set_text("[" + part * 2_000 + "]")
    assert 0 < len(coloured()) < 5_000
    pane.edit.verticalScrollBar().setValue(pane.edit.verticalScrollBar().maximum())
    pane.edit.select(Span(len(pane.text()) - 1, len(pane.text()) - 1))
    qtbot.keyClicks(pane.edit, "[")
    found = coloured()
    assert 0 < len(found) < 5_000
    assert found[-1][0] == "]"
    assert {colour for text, colour in found if text in {'"key ', ' here"'}} == {key}
    assert {colour for text, colour in found if text == '"a value: '} == {value}


def test_a_line_is_laid_out_once_for_each_key(pane: EditorPane, qtbot: QtBot) -> None:
    pane.set_notation("json_schema")
    pane.set_text('{"type": "string"}\n' * 3)
    seen: list[int] = []
    block = pane.edit.document().firstBlock()
    pane.edit.textChanged.connect(lambda: seen.append(len(block.layout().formats())))
    pane.edit.document().contentsChange.connect(lambda *_change: seen.append(len(block.layout().formats())))
    before = len(block.layout().formats())
    qtbot.keyClicks(pane.edit, "[")
    assert seen == [before + 1] * 2  # it has its colours before it is laid out


def test_a_very_long_line_is_taken_without_colours(pane: EditorPane, qtbot: QtBot) -> None:
    text = "[a-z]+" * 40_000

    def is_coloured() -> bool:
        return pane.edit.document().firstBlock().layout().formats() != []

    pane.set_text(text)
    assert pane.text() == text
    assert not is_coloured()
    pane.set_text("a+")
    qtbot.waitUntil(is_coloured)


def test_the_pane_names_and_colours_another_notation(qtbot: QtBot):
    pane = EditorPane()
    qtbot.addWidget(pane)
    pane.set_text('root ::= "a"')
    pane.set_notation("gbnf")
    assert pane.notation_label.text() == ui_text("common.notation.gbnf")
    assert "root ::=" in pane.edit.placeholderText()
    formats = pane.edit.document().begin().layout().formats()
    assert len(formats) > 1


def test_a_held_text_comes_back_with_its_undo_history_its_cursor_and_its_folds(pane, qtbot):
    edited = []
    pane.set_notation("json_schema")
    pane.set_text('{\n  "a": {\n    "b": 1\n  }\n}\n' + "\n" * 200, "first")
    pane.edit.setFocus()
    qtbot.keyClicks(pane.edit, "x")
    pane.edit.folding.fold(pane.edit.document().findBlockByNumber(1))
    pane.edit.select(Span(1, 3))
    pane.edit.verticalScrollBar().setValue(20)
    pane.text_edited.connect(edited.append)
    text, first = pane.edit.text(), pane.edit.hold()
    pane.set_text("[second]", "second")
    qtbot.keyClicks(pane.edit, "y")
    second = pane.edit.hold()
    assert (edited, first.scrolled) == (["y[second]"], 20)
    pane.edit.resume(first)
    assert (pane.edit.text(), pane.edit.selection, pane.edit.notation_choice) == (text, Span(1, 3), "first")
    assert (pane.edit.verticalScrollBar().value(), pane.edit.folding.has_folds) == (20, True)
    assert not pane.edit.document().findBlockByNumber(2).isVisible()
    pane.edit.undo()
    assert (pane.edit.text(), edited[1:]) == (text[1:], [text[1:]])
    pane.edit.hold()
    pane.edit.resume(second)
    pane.edit.undo()
    pane.edit.undo()
    assert (pane.edit.text(), edited[2:]) == ("[second]", ["[second]"])


def test_a_long_text_that_is_left_before_it_is_complete_is_not_held(pane):
    pane.set_notation("json_schema")
    pane.set_text("1,\n" * 20_000)
    assert pane.edit.hold() is None
    pane.set_text("2")
    assert pane.edit.text() == "2"
    assert pane.edit.document().isUndoRedoEnabled()
