"""The output check: paste what a model wrote, and read in one sentence what is wrong with it.

It stays open beside the window, so that the user can fix the grammar meanwhile: every compile judges the output again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QRadioButton,
    QSizePolicy,
    QSpinBox,
    QTabWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import capitalised, ui_text
from app.dialogs.cause_dialog import CauseDialog
from app.dialogs.check_pages import EnginesPage, ScoresPage
from app.dialogs.diagnosis_view import SAYS_ALL, DiagnosisView, cause_name, details_of, severity_of
from app.display_text import shown, token_text, unmarked
from app.panes.editor.offsets import Offsets
from app.panes.generation.chip import Chip, ChipKind
from app.panes.generation.chip_view import ChipView
from app.pasting import read_response
from app.theme import Role
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.widgets.accessibility import announce
from app.widgets.banner import Banner, BannerSeverity
from app.widgets.clean_paste import without_secrets
from app.widgets.rich_text import prose
from app.workers.requests.decode import ReplayAnswer, ReplayQuestion
from app.workers.requests.engines import EnginesAnswer
from app.workers.requests.scoring import ScoreAnswer, ScoreRow
from engine.diagnosis.case import FailureCase
from engine.diagnosis.failures.diagnosis import Cause, Diagnosis, TextEdit, Violation, ViolationFix
from engine.diagnosis.intake.secrets import remove_secrets
from engine.diagnosis.verdicts.verdict import (
    ReplayedToken,
    ReplayedTokenState,
    Verdict,
    VerdictOutcome,
    parse_token_ids,
)
from engine.document.saved_traces import SavedTrace, read_saved_trace
from engine.source import EngineError, Span

_KINDS = {
    ReplayedTokenState.LEGAL: ChipKind.REPLAYED,
    ReplayedTokenState.END: ChipKind.REPLAYED,
    ReplayedTokenState.BEYOND: ChipKind.REPLAYED,
    ReplayedTokenState.ILLEGAL: ChipKind.ILLEGAL,
}


def chip(token: ReplayedToken, index: int) -> Chip:
    """Return a token of an output as a chip; it has no probabilities."""
    kind = ChipKind.FORCED if token.forced else _KINDS[token.state]
    return Chip(
        id=index,
        text=token_text(token.data, token.name, token.token_id or 0),
        kind=kind,
        p=None,
        is_name=bool(token.name),
        ahead=token.state is ReplayedTokenState.BEYOND,
        breaks=token.data.endswith(b"\n"),
        tip=partial(_tip, token, index),
    )


def _tip(token: ReplayedToken, index: int) -> str:
    state = "forced" if token.state is ReplayedTokenState.LEGAL and token.forced else token.state.name.lower()
    fields: dict[str, object] = {
        "number": index + 1,
        "byte": token.start,
        "text": token.name or shown(token.data),
        "state": ui_text(f"dialogs.check.token.{state}"),
    }
    if token.token_id is None:
        return ui_text("dialogs.check.token.tip", **fields)
    return ui_text("dialogs.check.token.tip_with_id", id=token.token_id, **fields)


def span_of(found: Verdict) -> tuple[Span, ...]:
    """Return the source spans that a verdict is about."""
    if found.failure is not None:
        return found.failure.spans
    at_end = next((circle for circle in found.loops if circle.at_end), None)
    return at_end.spans if at_end is not None else ()


def start_of_failure(found: Verdict) -> int:
    """Return the offset of the illegal character, in UTF-16 units."""
    start = found.legal
    while 0 < start < len(found.data) and 0x80 <= found.data[start] < 0xC0:
        start -= 1  # a continuation byte: mark its character
    return _units(found.data[:start])


def marks(found: Verdict, document: QTextDocument, *, as_ids: bool) -> list[QTextEdit.ExtraSelection]:
    """Return the highlights of a verdict in an output: skipped text, the illegal character, and the text after it.

    Args:
        found: the verdict.
        document: the text.
        as_ids: whether the text is token ids, in which no character is highlighted.
    """
    dead, beyond = QTextCharFormat(), QTextCharFormat()
    dead.setBackground(theme.colour(Role.ERROR_FILL))
    dead.setForeground(theme.colour(Role.ERROR))
    dead.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    dead.setUnderlineColor(theme.colour(Role.ERROR))
    beyond.setForeground(theme.colour(Role.MUTED))
    selections = []
    if found.skipped is not None:
        selections.append(_selection(document, 0, _units(found.data[: found.skipped[0]]), dead))
    if found.failure is not None and not as_ids:
        start = start_of_failure(found)
        selections.append(_selection(document, start, start + 1, dead))
        selections.append(_selection(document, start + 1, _units(found.data), beyond))
    return selections


def _selection(document: QTextDocument, first: int, last: int, format_: QTextCharFormat) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    end = document.characterCount() - 1
    cursor = QTextCursor(document)
    cursor.setPosition(min(first, end))
    cursor.setPosition(min(last, end), QTextCursor.MoveMode.KeepAnchor)
    selection.cursor = cursor
    selection.format = format_
    return selection


def _units(data: bytes) -> int:
    """Return the length of UTF-8 bytes in UTF-16 units, which Qt counts."""
    return len(data.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")) // 2


def _start(edit: TextEdit) -> int:
    return edit.start


_DELAY_MS = 200
_MOST_BUDGET = 1_000_000
_LARGEST_FILE = 4_000_000  # bytes
_FINISHES = ("", "length", "stop", "context")
_SEVERITIES: dict[VerdictOutcome, BannerSeverity] = {
    VerdictOutcome.COMPLETE: "allowed",
    VerdictOutcome.CUT_OFF: "warning",
    VerdictOutcome.LOOPS: "warning",
}


@dataclass(frozen=True, slots=True)
class ReplayDraft:
    """The contents of the dialog, restored when it is opened again."""

    text: str
    as_ids: bool
    budget: int
    finish: int
    saved: SavedTrace | None
    case: FailureCase | None


class OutputEdit(QPlainTextEdit):
    """An editor of an output that reports a text that is pasted over all of it; secrets are not pasted.

    Signals:
        pasted_over: the text.
        secrets_removed(int): so many were removed.
    """

    pasted_over = Signal(str)
    secrets_removed = Signal(int)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste without secrets, and report a text that replaced everything."""
        cursor = self.textCursor()
        replaces_all = cursor.selectionEnd() - cursor.selectionStart() == self.document().characterCount() - 1
        clean, removed = without_secrets(source)
        super().insertFromMimeData(clean)
        if removed:
            self.secrets_removed.emit(removed)
        if replaces_all and self.toPlainText():
            self.pasted_over.emit(self.toPlainText())


class ReplayDialog(QDialog):
    """Asks for a verdict on an output; `show_answer` receives the result.

    Args:
        title: the document's.
        parent: the window.

    Signals:
        checked(ReplayQuestion): request the diagnosis and the verdict on an output.
        opened(token ids): make the output the current trace.
        test_wanted(text): add the output to the test strings.
        span_wanted(Span): show this span of the grammar.
        schema_repair_wanted(ViolationFix): apply this repair to the grammar.
        score_wanted(ReplayQuestion, prompt, by_response): compute the probabilities of the output.
        engines_wanted(ReplayQuestion): ask other engines what they accept.
    """

    checked = Signal(ReplayQuestion)
    opened = Signal(tuple)
    test_wanted = Signal(str)
    span_wanted = Signal(Span)
    score_wanted = Signal(ReplayQuestion, str, bool)
    engines_wanted = Signal(ReplayQuestion)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._verdict: Verdict | None = None
        self._diagnosis: Diagnosis | None = None
        self._schema_spans: dict[str, Span] = {}  # of the JSON Pointers of the diagnosis
        self._case: FailureCase | None = None  # the request, response and log of the output, until the text is edited
        self._question: ReplayQuestion | None = None
        self._saved: SavedTrace | None = None  # the contents of a file, until the text is edited
        self._awaits_grammar = False  # whether the grammar was edited and has not compiled yet
        self._scored = b""  # the text whose probabilities are shown
        self.setWindowTitle(ui_text("dialogs.check.title", document=title))
        self.resize(880, 680)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self.check_again)
        self._build_verdict()
        self._build_question()
        self._build_tokens()
        self._build_buttons()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.verdict)
        layout.addWidget(self.details)
        layout.addWidget(self._options)
        layout.addWidget(self.text, 2)
        layout.addWidget(self.secrets)
        layout.addWidget(self.pages, 3)
        layout.addWidget(self._buttons)
        theme.themes.changed.connect(self._apply_theme)
        self._say(ui_text("dialogs.check.teaching"), "hint")
        self._show_buttons()
        self.text.setFocus()

    @property
    def draft(self) -> ReplayDraft:
        """Return the contents of the dialog."""
        ids, finish = self.as_ids.isChecked(), self.finish.currentIndex()
        return ReplayDraft(self.text.toPlainText(), ids, self.budget.value(), finish, self._saved, self._case)

    def resume(self, draft: ReplayDraft) -> None:
        """Restore earlier contents; the text is selected, so that pasting replaces it."""
        (self.as_ids if draft.as_ids else self.as_text).setChecked(True)
        self.budget.setValue(draft.budget)
        self.finish.setCurrentIndex(draft.finish)
        self.text.setPlainText(draft.text)
        self.text.selectAll()
        self._saved, self._case = draft.saved, draft.case
        self._offer_response()
        self.check_again()

    def show_case(self, case: FailureCase) -> None:
        """Check the output of a failed request; the grammar of the editor is used in place of the request's."""
        self.as_text.setChecked(True)
        self.budget.setValue(min(case.max_tokens or 0, _MOST_BUDGET))
        self.finish.setCurrentIndex(max(0, self.finish.findData(str(case.finish))))
        self.text.setPlainText((case.output or b"").decode("utf-8", "replace"))
        self._case = case
        self._offer_response()
        self.check_again()

    # --- requests -----------------------------------------------------------------------------------------------------

    def check_again(self, *_: object) -> None:
        """Request the verdict on the current output; a late answer to an older request is not shown."""
        self._timer.stop()
        self._awaits_grammar = False
        try:
            self._question = self._current_question()
        except EngineError as error:
            self._question = None
            self._clear_verdict()
            self._say(ui_text("dialogs.check.bad_ids", reason=error), "error")
            return
        if self._question is None:
            self._clear_verdict()
            self._say(ui_text("dialogs.check.teaching"), "hint")
        else:
            self._await_verdict()
            self.checked.emit(self._question)

    def show_grammar_changed(self) -> None:
        """Show that the verdict belongs to an older grammar: `check_again` follows once the new one compiled."""
        self._drop_results()
        if self._question is not None or self._timer.isActive():
            self._awaits_grammar = True
            self._await_verdict()

    def show_grammar_refused(self, why: str) -> None:
        """Show why there is no check after an edit of the grammar."""
        if self._awaits_grammar:
            self._clear_verdict()
            self._say(ui_text("dialogs.check.unchecked", reason=why), "warning")

    def _current_question(self) -> ReplayQuestion | None:
        text = self.text.toPlainText()
        budget = self.budget.value() or None
        finish = str(self.finish.currentData())
        if self.as_ids.isChecked():
            ids = parse_token_ids(text)
            return ReplayQuestion("", ids, None, budget, finish) if ids else None
        if self._saved is not None:
            return ReplayQuestion(text, None, self._saved, budget, finish or self._saved.finish)
        return ReplayQuestion(text, None, None, budget, finish, self._case) if text or self._case else None

    def _question_now(self) -> ReplayQuestion | None:
        """Return the question about the current text, even if it was just typed; None if there is nothing to check."""
        try:
            return self._current_question()
        except EngineError:
            return None

    def _ask_scores(self, prompt: str, by_response: bool) -> None:
        question = self._question_now()
        if question is None:
            self.scores.clear()
        else:
            self.score_wanted.emit(question, prompt, by_response)

    def _ask_engines(self) -> None:
        question = self._question_now()
        if question is None:
            self.engines.clear()
        else:
            self.engines_wanted.emit(question)

    def show_scores(self, answer: ScoreAnswer) -> None:
        """Show the probabilities of the output."""
        self._scored = answer.scored
        self.scores.show_answer(answer)
        announce(self, self.scores.summary.text() or self.scores.hint.text())

    def show_engines(self, answer: EnginesAnswer) -> None:
        """Show what other engines accept; if they differ, that is the cause."""
        is_awaited = self.engines.is_running
        self.engines.show_answer(answer)
        if is_awaited and answer.diagnosis is not None and self._diagnosis is not None:
            self._diagnosis = answer.diagnosis
            self._say(answer.diagnosis.sentence, severity_of(answer.diagnosis), answer.diagnosis)
            self._show_details()
        announce(self, self.engines.summary.text() or self.engines.hint.text())

    def show_model_changed(self) -> None:
        """Drop the probabilities of another model, and check the output again."""
        self._drop_scores()
        self.check_again()

    def _drop_results(self) -> None:
        """Drop the probabilities and the answers of engines: they are about another output or grammar."""
        self._drop_scores()
        self.engines.clear()

    def _drop_scores(self) -> None:
        """Drop the probabilities, or the request for them, and say so."""
        has_any = bool(self.scores.model.rows) or self.scores.is_running
        self.scores.clear(ui_text("dialogs.check.scores.outdated") if has_any else "")

    def _offer_response(self) -> None:
        self.scores.offer_response(is_known=self._case is not None and bool(self._case.scores))

    def _show_token(self, row: ScoreRow) -> None:
        """Select a scored token in the output."""
        data = self.text.toPlainText().encode("utf-8", "surrogatepass")
        if data == self._scored and not self.as_ids.isChecked():
            cursor = self.text.textCursor()
            cursor.setPosition(_units(data[: row.start]))
            cursor.setPosition(_units(data[: row.end]), QTextCursor.MoveMode.KeepAnchor)
            self.text.setTextCursor(cursor)

    def show_answer(self, answer: ReplayAnswer) -> None:
        """Show a diagnosis and a verdict."""
        if answer.question != self._question:
            return
        found, diagnosis = answer.verdict, answer.diagnosis
        self._verdict, self._diagnosis, self._schema_spans = found, diagnosis, answer.schema_spans
        if found is None:
            self._clear_verdict()
            self._diagnosis = diagnosis
        if diagnosis is not None:
            self._say(diagnosis.sentence, severity_of(diagnosis), diagnosis)
        elif found is not None:
            self._say(found.sentence, _SEVERITIES.get(found.outcome, "error"))
        else:
            self._say(answer.error, "error")
        announce(self, self.sentence)
        self._set_faded(False)
        self._show_details()
        if found is not None:
            self._show_tokens(found, answer.tokens_of)
        self._mark()
        self._show_buttons()

    # --- showing ------------------------------------------------------------------------------------------------------

    def _await_verdict(self) -> None:
        """Show at once that the verdict belongs to an older output, grammar or budget.

        The sentence disappears; details and tokens stay, faded, so that nothing moves while the user types.
        """
        self._verdict = self._diagnosis = None
        self._say(ui_text("dialogs.check.checking"), "hint")
        self.text.setExtraSelections([])  # their offsets belong to the older text
        if self.chips.chips:
            self.tokens_title.setText(ui_text("dialogs.check.tokens_before"))
        self._set_faded(True)
        self._show_buttons()

    def _set_faded(self, is_faded: bool) -> None:
        self.chips.setEnabled(not is_faded)
        self.chips.viewport().update()
        self.details.setEnabled(not is_faded)

    def _clear_verdict(self) -> None:
        self._verdict = self._diagnosis = None
        self._set_faded(False)
        self._show_details()
        self.chips.show_chips((), None)
        self._tokens_frame.show()
        self.tokens_title.setText(ui_text("common.word.tokens"))
        self.text.setExtraSelections([])
        self._show_buttons()

    def _say(self, sentence: str, severity: BannerSeverity, diagnosis: Diagnosis | None = None) -> None:
        self._sentence, self._severity = sentence, severity
        fix = "" if diagnosis is None or diagnosis.cause is Cause.COMPLETE else diagnosis.fix
        spoken = unmarked(f"{sentence} {fix}".strip())
        self.verdict.show_message(prose(sentence), prose(fix), severity=severity, accessible_text=spoken)
        self.cause.setVisible(diagnosis is not None)
        if diagnosis is not None:
            self.cause.setText(diagnosis.cause)
            name = cause_name(diagnosis.cause, diagnosis.detail)
            self.cause.setToolTip(plain_text(ui_text("dialogs.check.cause_tip", name=name)))
            self.cause.setAccessibleName(ui_text("dialogs.check.cause_name", name=name))

    @property
    def question(self) -> ReplayQuestion | None:
        """Return the last question; None if there is nothing to check."""
        return self._question

    @property
    def found(self) -> Verdict | None:
        """Return the verdict on what is shown; None while it is awaited, and if there is none."""
        return self._verdict

    @property
    def sentence(self) -> str:
        """Return the verdict as plain text."""
        return unmarked(self._sentence)

    def _show_details(self) -> None:
        verdict, diagnosis = self._verdict, self._diagnosis
        if diagnosis is not None and diagnosis.cause in SAYS_ALL:
            verdict = None
        notes = [] if verdict is None else list(verdict.notes)
        if diagnosis is None:
            self.details.show_details(notes)
            return
        is_measured = verdict is not None and verdict.outcome is VerdictOutcome.CUT_OFF and self.budget.value()
        is_illegal = verdict is not None and verdict.failure is not None and not diagnosis.violations
        if verdict is not None and (is_measured or is_illegal):
            notes.insert(0, verdict.sentence)
        self.details.show_details(details_of(diagnosis, notes), diagnosis.violations, self.text.toPlainText())
        if self.as_ids.isChecked():
            self.details.disable_positions()

    def _show_violation(self, violation: Violation) -> None:
        """Select a violation in the output, and its keyword in the grammar."""
        cursor = self.text.textCursor()
        units = Offsets(self.text.toPlainText())
        cursor.setPosition(units.to_utf16(violation.start))
        cursor.setPosition(units.to_utf16(violation.end), QTextCursor.MoveMode.KeepAnchor)
        self.text.setTextCursor(cursor)
        self.text.setFocus()
        span = None if violation.pointer is None else self._schema_spans.get(violation.pointer)
        if span is not None:
            self.span_wanted.emit(span)

    def _repair(self, fix: ViolationFix) -> None:
        """Apply a repair to the output, as one step of undo."""
        units = Offsets(self.text.toPlainText())
        cursor = self.text.textCursor()
        cursor.beginEditBlock()
        for edit in sorted(fix.edits, key=_start, reverse=True):
            cursor.setPosition(units.to_utf16(edit.start))
            cursor.setPosition(units.to_utf16(edit.end), QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(edit.new)
        cursor.endEditBlock()
        self.text.setFocus()

    def _show_tokens(self, found: Verdict, tokens_of: str) -> None:
        tokens_of = capitalised(tokens_of)
        self.chips.show_chips(tuple(chip(token, index) for index, token in enumerate(found.tokens)), None)
        self._tokens_frame.setVisible(bool(found.tokens))
        if found.tokens:
            number = sum(1 for token in found.tokens if token.data)
            if tokens_of:
                self.tokens_title.setText(ui_text("dialogs.check.tokens_of", count=number, model=tokens_of))
            else:
                self.tokens_title.setText(ui_text("dialogs.check.tokens_saved", count=number))
        elif tokens_of and found.data and found.outcome is not VerdictOutcome.GRAMMAR_ERROR:
            self.tokens_title.setText(ui_text("dialogs.check.no_tokens", model=tokens_of))
        else:
            self.tokens_title.setText(ui_text("dialogs.check.no_model"))
        if found.failure is not None and found.failure.place.token is not None:
            self.chips.reveal_chip(found.failure.place.token)

    def _mark(self) -> None:
        """Highlight the illegal character in the theme's colours, and scroll to it."""
        found = self._verdict
        if found is None:
            return
        self.text.setExtraSelections(marks(found, self.text.document(), as_ids=self.as_ids.isChecked()))
        if found.failure is not None and not self.as_ids.isChecked() and not self.text.hasFocus():
            cursor = self.text.textCursor()
            cursor.setPosition(min(start_of_failure(found), self.text.document().characterCount() - 1))
            self.text.setTextCursor(cursor)

    def _show_buttons(self) -> None:
        found = self._verdict
        is_judged = found is not None and found.outcome is not VerdictOutcome.GRAMMAR_ERROR
        tokens = found.tokens if found is not None else ()
        self.open_button.setEnabled(is_judged and bool(tokens) and all(one.token_id is not None for one in tokens))
        self.test_button.setEnabled(is_judged and not self.as_ids.isChecked())
        self.copy_button.setEnabled(found is not None or self._diagnosis is not None)
        self.place_button.setEnabled(self._place() is not None)

    def _place(self) -> Span | None:
        """Return the first part of the grammar that the verdict or the diagnosis is about."""
        if self._verdict is not None and (spans := span_of(self._verdict)):
            return spans[0]
        for place in () if self._diagnosis is None else self._diagnosis.places:
            if place.pointer is not None and place.pointer in self._schema_spans:
                return self._schema_spans[place.pointer]
            if place.offset is not None and not place.is_in_output:
                return Span(place.offset, place.offset + 1)
        return None

    def _on_typed(self) -> None:
        self._saved = self._case = None
        self._drop_results()
        self._offer_response()
        self._on_edited()

    def _take_response(self, text: str) -> bool:
        """Check the output of a server's response in place of its text; return whether the text is one."""
        case = read_response(text)
        if case is not None:
            self.show_case(case)
        return case is not None

    def _on_edited(self) -> None:
        """Request another verdict shortly: the one shown is outdated."""
        if not self.text.toPlainText():
            self.check_again()
            return
        self._await_verdict()
        self._timer.start()

    def read_file(self, path: Path) -> None:
        """Check the contents of a file: a saved trace with its tokens, or any text."""
        try:
            data = path.read_bytes()
        except OSError as error:
            self._say(ui_text("common.file.unreadable", name=path.name, reason=error.strerror or error), "error")
            return
        if len(data) > _LARGEST_FILE:
            sentence = ui_text("dialogs.check.too_large", name=path.name, bytes=len(data), limit=_LARGEST_FILE)
            self._say(sentence, "error")
            return
        self.as_text.setChecked(True)
        try:
            saved = read_saved_trace(data, path.name)
        except EngineError:
            text, removed = remove_secrets(data.decode("utf-8", "replace").removesuffix("\n"))
            self._report_secrets(removed)
            if self._take_response(text):
                return
            self.text.setPlainText(text)
        else:
            self.text.setPlainText(saved.text.decode("utf-8", "replace"))
            self._saved = saved
        self.check_again()

    def _report_secrets(self, count: int) -> None:
        """Say how many secrets the last text had, beside the options; none hides it."""
        self.secrets.setText(ui_text("window.notation.secrets", count=count) if count else "")
        self.secrets.setVisible(count > 0)

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, ui_text("dialogs.check.file_title"))
        dialog.setNameFilter(ui_text("dialogs.check.file_filter", patterns="*.txt *.json *.turnstile"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.read_file(Path(name)))
        dialog.open()

    # --- handlers of the buttons --------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._verdict is not None:
            self.opened.emit(tuple(token.token_id for token in self._verdict.tokens))
            self.accept()

    def _copy(self) -> None:
        found = self._diagnosis
        lines = [self.sentence]
        if found is not None:
            lines += [cause_name(found.cause, found.detail), unmarked(found.fix)]
            lines += [f"- {unmarked(one.sentence)}" for one in found.violations]
        lines += [f"- {line}" for line in self.details.lines]
        QGuiApplication.clipboard().setText("\n".join(filter(None, lines)))

    def _explain_cause(self) -> None:
        if self._diagnosis is not None:
            dialog = CauseDialog(self._diagnosis.cause, self)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def _show_place(self) -> None:
        span = self._place()
        if span is not None:
            self.span_wanted.emit(span)

    def _keep_as_test(self) -> None:
        self.test_wanted.emit(self.text.toPlainText())
        self.test_button.setEnabled(False)

    # --- building -----------------------------------------------------------------------------------------------------

    def _build_verdict(self) -> None:
        self.verdict = Banner(is_html=True)
        self.cause = push_button(role="badge", clicked=self._explain_cause)
        self.cause.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.verdict.add_control(self.cause)
        self.details = DiagnosisView()
        self.details.place_wanted.connect(self._show_violation)
        self.details.repair_wanted.connect(self._repair)
        self.schema_repair_wanted = self.details.schema_repair_wanted

    def _build_question(self) -> None:
        self.as_text = QRadioButton(ui_text("common.word.text"))
        self.as_text.setToolTip(ui_text("dialogs.check.as_text_tip"))
        self.as_ids = QRadioButton(ui_text("dialogs.check.as_ids"))
        self.as_ids.setToolTip(ui_text("dialogs.check.as_ids_tip"))
        self.as_text.setChecked(True)
        self._forms = QButtonGroup(self)
        self.budget = QSpinBox()
        self.budget.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.budget.setRange(0, _MOST_BUDGET)
        self.budget.setSpecialValueText(ui_text("dialogs.check.budget_unknown"))
        self.budget.setToolTip(ui_text("dialogs.check.budget_tip"))
        self.budget.setAccessibleName(ui_text("dialogs.check.budget_name"))
        self.finish = QComboBox()
        self.finish.setToolTip(ui_text("dialogs.check.finish_tip"))
        self.finish.setAccessibleName(ui_text("dialogs.check.finish_name"))
        for value in _FINISHES:
            self.finish.addItem(ui_text(f"dialogs.check.finish.{value or 'unknown'}"), value)
        self._options = QWidget()
        options = QHBoxLayout(self._options)
        options.setContentsMargins(0, 0, 0, 0)
        options.setSpacing(theme.SPACE_M)
        for button in (self.as_text, self.as_ids):
            self._forms.addButton(button)
            options.addWidget(button)
        tip = ui_text("dialogs.check.file_tip")
        self.file_button = push_button(ui_text("dialogs.check.file"), tip, role="link", clicked=self._choose_file)
        options.addWidget(self.file_button)
        options.addStretch()
        options.addWidget(Label(ui_text("dialogs.check.budget")))
        options.addWidget(self.budget)
        options.addWidget(self.finish)
        self.secrets = Label(wraps=True)
        self.secrets.setProperty("role", "muted")
        self.secrets.hide()
        self.text = OutputEdit()
        self.text.setProperty("role", "field")
        self.text.setFont(theme.mono_font())
        self.text.setPlaceholderText(ui_text("dialogs.check.text_hint"))
        self.text.setAccessibleName(ui_text("common.word.output"))
        self.text.setTabChangesFocus(True)
        self.text.textChanged.connect(self._on_typed)
        self.text.pasted_over.connect(self._take_response)
        self.text.secrets_removed.connect(self._report_secrets)
        toggled = [button.toggled for button in (self.as_text, self.as_ids)]
        for edited in (*toggled, self.budget.valueChanged, self.finish.currentIndexChanged):
            edited.connect(self._on_edited)

    def _build_tokens(self) -> None:
        self.tokens_title = Label(ui_text("common.word.tokens"))
        self.tokens_title.setProperty("role", "muted")
        self.chips = ChipView(ui_text("dialogs.check.tokens_hint"))
        self.chips.setAccessibleName(ui_text("dialogs.check.tokens_name"))
        self._tokens_frame = QFrame()
        self._tokens_frame.setProperty("role", "well")
        inner = QVBoxLayout(self._tokens_frame)
        inner.setContentsMargins(theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        inner.addWidget(self.chips)
        tokens = QWidget()
        column = QVBoxLayout(tokens)
        column.setContentsMargins(0, theme.SPACE_S, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.tokens_title)
        column.addWidget(self._tokens_frame, 1)
        column.addStretch()
        self.scores, self.engines = ScoresPage(), EnginesPage()
        self.scores.wanted.connect(self._ask_scores)
        self.scores.token_chosen.connect(self._show_token)
        self.engines.wanted.connect(self._ask_engines)
        self.pages = QTabWidget()
        self.pages.setAccessibleName(ui_text("dialogs.check.pages"))
        for page, name in ((tokens, "tokens"), (self.scores, "scores"), (self.engines, "engines")):
            self.pages.addTab(page, ui_text(f"dialogs.check.page.{name}"))

    def _build_buttons(self) -> None:
        self.place_button = push_button(
            ui_text("common.button.show_in_grammar"),
            ui_text("dialogs.check.show_place_tip"),
            clicked=self._show_place,
        )
        self.test_button = push_button(
            ui_text("dialogs.check.keep_test"), ui_text("dialogs.check.keep_test_tip"), clicked=self._keep_as_test
        )
        self.copy_button = push_button(
            ui_text("dialogs.check.copy"), ui_text("dialogs.check.copy_tip"), clicked=self._copy
        )
        tip = ui_text("dialogs.check.open_tip")
        self.open_button = push_button(ui_text("dialogs.check.open"), tip, role="primary", clicked=self._open)
        tip = ui_text("dialogs.check.close_tip")
        close = push_button(ui_text("common.button.close"), tip, clicked=self.reject)
        self._buttons = QWidget()
        buttons = QHBoxLayout(self._buttons)
        buttons.setContentsMargins(0, 0, 0, 0)
        for button in (self.place_button, self.test_button, self.copy_button):
            buttons.addWidget(button)
        buttons.addStretch()
        buttons.addWidget(close)
        buttons.addWidget(self.open_button)

    def _apply_theme(self) -> None:
        self._say(self._sentence, self._severity, self._diagnosis)
        self._show_details()
        self._mark()
