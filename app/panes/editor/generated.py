"""The generated GBNF beside the grammar's text: the input for llama.cpp, each rule linked to its source.

Choosing a rule highlights the source span of its schema with the keyword; the cursor in the schema highlights its
rules. Both use the same list of spans, which comes with the text. While the grammar's text differs from the one that
was converted, the links are off: the spans would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGraphicsOpacityEffect,
    QHBoxLayout,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.panes.editor.read_only_code import ReadOnlyCode
from app.theme.buttons import icon_button, push_button
from app.theme.labels import Label, plain_text
from app.workers.requests.judge import GenerateAnswer, GeneratedRule
from engine.notations import NOTATIONS
from engine.source import Span

_SPELLINGS = ("plain", "any")
_STALE_OPACITY = 0.55


class GeneratedPage(QWidget):
    """Shows the generated text.

    Args:
        source: returns the current text of the grammar.

    Signals:
        wanted(spelling): generate the text with this spelling; empty to stop.
        spans_hovered(spans): the source spans of the hovered rule, or of the chosen one.
        span_chosen(span): scroll to this source span.
        span_entered(span): go to this source span.
    """

    wanted = Signal(str)
    spans_hovered = Signal(tuple)
    span_chosen = Signal(Span)
    span_entered = Signal(Span)

    def __init__(self, source: Callable[[], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._source_text = ""
        self._rules: tuple[GeneratedRule, ...] = ()
        self._error_span: Span | None = None
        self._chosen: tuple[Span, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._is_watched = False
        self.summary = Label()
        self.summary.setProperty("role", "muted")
        self.spelling = QComboBox()
        self.spelling.setAccessibleName(ui_text("editor.generated.spelling"))
        for row, value in enumerate(_SPELLINGS):
            self.spelling.addItem(ui_text(f"editor.generated.{value}.label"), value)
            tip = ui_text(f"editor.generated.{value}.tip")
            self.spelling.setItemData(row, plain_text(tip), Qt.ItemDataRole.ToolTipRole)
        self.spelling.currentIndexChanged.connect(self._on_spelling)
        self.copy_button = icon_button("ph.copy", ui_text("editor.generated.copy"), clicked=self.copy)
        self.text = ReadOnlyCode()
        self.text.setAccessibleName(ui_text("editor.generated.name"))
        self.text.chosen.connect(self._on_chosen)
        self.text.hovered.connect(self._on_hovered)
        self.text.entered.connect(self._on_entered)
        self._stale_effect = QGraphicsOpacityEffect(self.text, opacity=_STALE_OPACITY)
        self._stale_effect.setEnabled(False)
        self.text.setGraphicsEffect(self._stale_effect)
        self.message = Label()
        self.message.setWordWrap(True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setProperty("role", "muted")
        self.source_button = push_button(ui_text("common.button.show_in_grammar"), clicked=self._go_to_error)
        self._lay_out()
        self._show_message(ui_text("editor.generated.waiting"))

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        bar.setSpacing(theme.SPACE_S)
        instead = QFrame()
        instead.setProperty("role", "panel")
        column = QVBoxLayout(instead)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_S)
        column.addStretch()
        column.addWidget(self.message)
        column.addWidget(self.source_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()
        self._instead = instead
        self.stack = QStackedWidget()
        self.stack.addWidget(self.text)
        self.stack.addWidget(instead)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        bar.addWidget(self.summary, 1)
        bar.addWidget(self.spelling)
        bar.addWidget(self.copy_button)
        layout.addWidget(self.stack, 1)

    # --- contents -----------------------------------------------------------------------------------------------------

    def set_watched(self, is_watched: bool) -> None:
        """Set whether the page is visible: only then is the text generated."""
        if is_watched != self._is_watched:
            self._is_watched = is_watched
            self.wanted.emit(self.spelling.currentData() if is_watched else "")
            if not is_watched:
                self._choose_spans(())

    def set_notation(self, notation: str) -> None:
        """Show the options that apply to a notation."""
        self.spelling.setVisible(NOTATIONS[notation].describes_json)

    def forget(self) -> None:
        """Clear the page for another document."""
        self._rules, self._error_span = (), None
        self._show_message(ui_text("editor.generated.waiting"))

    def set_stale(self, reason: str) -> None:
        """Show that the text belongs to an older grammar, and why; empty if it is current."""
        self._stale_effect.setEnabled(bool(reason))
        if reason:
            self.text.highlight(())
            self._choose_spans(())
        if reason and self.stack.currentWidget() is self.text:
            self.summary.setText(ui_text("editor.generated.stale", reason=reason))
        elif reason:
            self._show_message(ui_text("editor.generated.none", reason=reason))
        elif self._rules:
            self._show_summary()

    def show_answer(self, answer: GenerateAnswer, source: str) -> None:
        """Show a text that was generated from `source`, or why there is none."""
        self._source_text, self._rules, self._error_span = source, answer.rules, answer.error_span
        self._notes = answer.notes
        if answer.error:
            self._show_message(answer.error)
            return
        self._stale_effect.setEnabled(False)
        self.text.show_text(answer.text, "gbnf")
        self.copy_button.setEnabled(True)
        self.stack.setCurrentWidget(self.text)
        self._show_summary()

    def copy(self) -> None:
        """Copy the text to the clipboard."""
        QGuiApplication.clipboard().setText(self.text.text())

    def _show_summary(self) -> None:
        key = "stricter" if self._notes else "same"
        self.summary.setText(ui_text(f"editor.generated.{key}", count=len(self._rules)))
        self.summary.setToolTip(plain_text("\n".join(f"{note[:1].upper()}{note[1:]}." for note in self._notes)))

    def _show_message(self, sentence: str) -> None:
        self.message.setText(unmarked(sentence))
        self.source_button.setVisible(self._error_span is not None)
        self.summary.setText("")
        self.copy_button.setEnabled(False)
        self.stack.setCurrentWidget(self._instead)

    # --- links --------------------------------------------------------------------------------------------------------

    @property
    def is_joined(self) -> bool:
        """Return whether the spans are valid for the current text."""
        return bool(self._rules) and self._source() == self._source_text

    def show_source_offset(self, offset: int) -> None:
        """Highlight the rules of the innermost schema at the cursor that has any."""
        spans = self.rules_at(offset)
        self.text.highlight(spans)
        if spans and not self.text.hasFocus():
            self.text.bring_into_view(spans[0])

    def rules_at(self, offset: int) -> tuple[Span, ...]:
        """Return the spans of the rules that belong to a code point of the grammar's text."""
        if not self.is_joined or self.stack.currentWidget() is not self.text:
            return ()
        around = {span for rule in self._rules for span in rule.source_spans if span.start <= offset <= span.end}
        if not around:
            return ()
        inner = min(around, key=lambda span: span.end - span.start)
        return tuple(rule.span for rule in self._rules if inner in rule.source_spans)

    def _rule_at(self, offset: int) -> GeneratedRule | None:
        if not self.is_joined or offset < 0:
            return None
        return next((rule for rule in self._rules if rule.span.start <= offset <= rule.span.end), None)

    def _on_hovered(self, offset: int) -> None:
        rule = self._rule_at(offset)
        self.text.point_at((rule.span,) if rule is not None and rule.source_spans else ())
        self.spans_hovered.emit(rule.source_spans if rule is not None else self._chosen if self.is_joined else ())

    def _on_chosen(self, offset: int) -> None:
        rule = self._rule_at(offset)
        self._choose_spans(rule.source_spans if rule is not None else ())
        if rule is not None and rule.source_spans:
            self.span_chosen.emit(rule.source_spans[0])
            self.text.highlight((rule.span,))

    def _on_entered(self, offset: int) -> None:
        rule = self._rule_at(offset)
        if rule is not None and rule.source_spans:
            self.span_entered.emit(rule.source_spans[0])

    def _choose_spans(self, spans: tuple[Span, ...]) -> None:
        self._chosen = spans
        self.spans_hovered.emit(spans)

    def _go_to_error(self) -> None:
        if self._error_span is not None:
            self.span_entered.emit(self._error_span)

    def _on_spelling(self) -> None:
        if self._is_watched:
            self.summary.setText(ui_text("editor.generated.waiting"))
            self.wanted.emit(self.spelling.currentData())
