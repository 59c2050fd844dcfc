"""The dialog for another notation: convert the text, reinterpret it, or begin another document.

Each choice has a preview: a conversion with its losses, the text with its errors in the other notation, or the example
that a new document begins with. The worker converts and diagnoses; the dialog sends requests, waits, and drops late
answers.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QRadioButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.dialogs.equivalence_dialog import relation_name, shown_text
from app.dialogs.export_dialog import Options
from app.display_text import unmarked
from app.document import GrammarPart
from app.panes.editor.read_only_code import ReadOnlyCode
from app.pasting import NotationChoice, notation_choice_of, notation_choices
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.workers.protocol import Failed
from app.workers.requests.compile import CompileRequest
from app.workers.requests.equivalence import CompareGrammars, GrammarsAnswer
from app.workers.requests.judge import ConvertAnswer, ConvertRequest, ReadAnswer, ReadRequest
from engine.analysis.language_comparison import Relation
from engine.notations import NOTATIONS
from engine.source import Diagnostic, Severity, SourceText

_DELAY_MS = 250  # of options: a number is typed digit by digit
_LEFT_WIDTH = 210
_MOST_LISTED = 4


class ConversionChoice(StrEnum):
    """The choices of the dialog."""

    CONVERT = "convert"
    REINTERPRET = "reinterpret"
    NEW = "new"


class NotationDialog(QDialog):
    """Asks what to do with a text; `show_conversion`, `show_reading` and `show_failure` receive the results.

    Args:
        compiled: the current text with its options, as a request.
        grammar: the same as a part of the document.
        examples: by the name of a notation choice, the grammar that a new document begins with.
        target: the name of the initial notation choice; by default GBNF, or for GBNF the first other one.
        parent: the window.

    Signals:
        conversion_wanted(ConvertRequest), reading_wanted(ReadRequest): answer a request.
        comparison_wanted(CompareGrammars): compare the texts of a conversion with those of the original.
        cancelled(): cancel the pending requests.
        chosen(ConversionChoice, GrammarPart): the choice, and the resulting grammar.
    """

    conversion_wanted = Signal(ConvertRequest)
    reading_wanted = Signal(ReadRequest)
    comparison_wanted = Signal(CompareGrammars)
    cancelled = Signal()
    chosen = Signal(ConversionChoice, GrammarPart)

    def __init__(
        self,
        compiled: CompileRequest,
        grammar: GrammarPart,
        examples: dict[str, GrammarPart],
        target: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._compiled, self._grammar, self._examples = compiled, grammar, examples
        self._additional = grammar.additional
        self._number = 0
        self._is_pending = False
        self._converted: GrammarPart | None = None
        self.setObjectName("notation")
        self.setWindowTitle(ui_text("dialogs.notation.title"))
        self.setMinimumSize(720, 440)
        self.resize(980, 600)
        self._timer = delayed(self, _DELAY_MS, self._ask)
        self.target = QComboBox()
        self.target.setAccessibleName(ui_text("dialogs.notation.target"))
        for reading in notation_choices():
            if reading.notation.id != grammar.notation:
                self.target.addItem(reading.name)
                self.target.setItemData(self.target.count() - 1, plain_text(reading.tip), Qt.ItemDataRole.ToolTipRole)
        self.target.setCurrentText(target or "GBNF")
        self.choice_buttons = {
            choice: QRadioButton(ui_text(f"dialogs.notation.{choice}.button")) for choice in ConversionChoice
        }
        self._descriptions = {choice: _label() for choice in ConversionChoice}
        self.options = Options("grammar")
        self.heading = Label()
        self.heading.setProperty("role", "heading")
        self.text = ReadOnlyCode()
        self.text.setProperty("role", "field")
        self.text.setAccessibleName(ui_text("dialogs.notation.preview"))
        self.message = _label()
        self.message.setProperty("role", "empty")
        self.message.setProperty("framed", True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setMargin(theme.SPACE_L)
        self.preview = QStackedWidget()
        self.preview.addWidget(self.text)
        self.preview.addWidget(self.message)
        close, tip = ui_text("common.schema.close_objects"), ui_text("common.schema.close_objects_tip")
        self.close_objects = push_button(close, tip, role="outlined", clicked=self._close_objects)
        self.close_objects.hide()
        self.result_label = _label()
        self.comparison_label = Label(wraps=True)
        self._comparison: CompareGrammars | None = None  # the pending one
        self._build_buttons()
        self._lay_out()
        self.choice_buttons[ConversionChoice.CONVERT].setChecked(True)
        for button in self.choice_buttons.values():
            button.toggled.connect(lambda is_on: self._ask() if is_on else None)
        self.target.currentIndexChanged.connect(lambda _index: self._ask())
        self.options.changed.connect(self._ask_soon)

    def _build_buttons(self) -> None:
        self.note = _label()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(120)
        self.progress.setRange(0, 0)
        self.cancel_button = push_button(ui_text("common.button.cancel"), clicked=self.reject)
        self.accept_button = push_button(role="primary", clicked=self.accept)
        self.accept_button.setDefault(True)

    def _lay_out(self) -> None:
        title = Label(ui_text("dialogs.notation.from", notation=notation_choice_of(self._grammar).name))
        title.setProperty("role", "title")
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        left = QVBoxLayout()
        left.setSpacing(theme.SPACE_XS)
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_S)
        columns = QHBoxLayout()
        columns.setSpacing(theme.SPACE_L)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        layout.addLayout(head)
        head.addWidget(title)
        head.addWidget(self.target)
        head.addStretch()
        layout.addLayout(columns, 1)
        columns.addLayout(left)
        for choice in ConversionChoice:
            left.addWidget(self.choice_buttons[choice])
            self._descriptions[choice].setContentsMargins(theme.SPACE_L + theme.SPACE_XS, 0, 0, theme.SPACE_M)
            self._descriptions[choice].setFixedWidth(_LEFT_WIDTH)
            left.addWidget(self._descriptions[choice])
        left.addStretch()
        columns.addLayout(right, 1)
        right.addWidget(self.heading)
        right.addWidget(self.options)
        right.addWidget(self.preview, 1)
        right.addWidget(self.close_objects, 0, Qt.AlignmentFlag.AlignHCenter)
        right.addWidget(self.comparison_label)
        right.addWidget(self.result_label)
        layout.addLayout(buttons)
        buttons.addWidget(self.note, 1)
        for widget in (self.progress, self.cancel_button, self.accept_button):
            buttons.addWidget(widget)

    # --- requests -----------------------------------------------------------------------------------------------------

    @property
    def choice(self) -> ConversionChoice:
        """Return the current choice."""
        return next(choice for choice, button in self.choice_buttons.items() if button.isChecked())

    @property
    def reading(self) -> NotationChoice:
        """Return the chosen notation."""
        return next(reading for reading in notation_choices() if reading.name == self.target.currentText())

    @property
    def is_waiting(self) -> bool:
        """Return whether an answer is pending or a request is about to be sent."""
        return self._is_pending or self._timer.isActive()

    def begin(self) -> None:
        """Request the first preview."""
        self.choice_buttons[ConversionChoice.CONVERT].setFocus()
        self._ask()

    def accept(self) -> None:
        """Accept the choice, if its result is available."""
        if not self.accept_button.isEnabled():
            return
        grammar = self._outcome()
        if grammar is not None:
            super().accept()
            self.chosen.emit(self.choice, grammar)

    def reject(self) -> None:
        """Close the dialog without a change."""
        self.cancelled.emit()
        super().reject()

    def _outcome(self) -> GrammarPart | None:
        match self.choice:
            case ConversionChoice.CONVERT:
                return self._converted
            case ConversionChoice.REINTERPRET:
                return self.reading.of(self._grammar)
            case _:
                return self._examples.get(self.reading.name)

    def _close_objects(self) -> None:
        """Convert the schema with its objects restricted to their declared properties."""
        self._grammar = msgspec.structs.replace(self._grammar, additional="closed")
        self._compiled = replace(self._compiled, options=self._grammar.options)
        self._ask()

    def _ask_soon(self) -> None:
        """Drop the conversion after an option changed, and request another one shortly."""
        self._converted = None
        self._show_state()
        self._timer.start()

    def _ask(self) -> None:
        """Show the preview of the choice, or request it."""
        self._timer.stop()
        if self._is_pending or self._comparison is not None:
            self.cancelled.emit()
        self._number += 1
        self._show_comparison_text("")
        self._converted, self._is_pending = None, False
        self.close_objects.hide()
        choice, reading = self.choice, self.reading
        for other in ConversionChoice:
            about = ui_text(f"dialogs.notation.{other}.about", notation=reading.name)
            self._descriptions[other].setText(about)
            self.choice_buttons[other].setAccessibleDescription(about)
        fields = {"notation": reading.name} if choice is ConversionChoice.REINTERPRET else {}
        self.heading.setText(ui_text(f"dialogs.notation.{choice}.heading", **fields))
        self.accept_button.setText(ui_text(f"dialogs.notation.{choice}.button"))
        self.options.show_for(self._supported_options() if choice is ConversionChoice.CONVERT else ())
        self.note.setText("")
        match choice:
            case ConversionChoice.CONVERT:
                self._show("", reading.notation.id, "")
                self._ask_conversion(reading)
            case ConversionChoice.REINTERPRET:
                self._show(self._grammar.text, reading.notation.id, "")
                part = reading.of(self._grammar)
                request = CompileRequest(self._compiled.revision, part.notation, part.text, part.options)
                self._wait(ui_text("dialogs.notation.reading"))
                self.reading_wanted.emit(ReadRequest(request, self._number))
            case _:
                part = self._examples[reading.name]
                self._show(part.text, reading.notation.id, "")
        self._show_state()

    def _supported_options(self) -> tuple[str, ...]:
        is_flat = not self.reading.notation.has_named_rules
        spelling_option = ("spelling",) if NOTATIONS[self._grammar.notation].describes_json else ()
        depth_option = ("depth",) if is_flat and not NOTATIONS[self._grammar.notation].is_expression else ()
        return (*spelling_option, *depth_option)

    def _ask_conversion(self, reading: NotationChoice) -> None:
        options, takes = self.options.message(), self._supported_options()
        self._wait(ui_text("dialogs.notation.converting"))
        self.conversion_wanted.emit(
            ConvertRequest(
                self._compiled,
                reading.notation.id,
                reading.variant.options.get("dialect", "python"),
                options.spelling,
                options.depth if "depth" in takes else None,
                self._number,
            )
        )

    def _wait(self, sentence: str) -> None:
        self._is_pending = True
        self.note.setText(sentence)

    # --- answers ------------------------------------------------------------------------------------------------------

    def show_conversion(self, answer: ConvertAnswer) -> None:
        """Show a conversion, or why there is none."""
        if answer.number != self._number:
            return
        self._is_pending = False
        self.note.setText("")
        if answer.error:
            self._say(ui_text("dialogs.notation.failed", error=answer.error))
            self.close_objects.setVisible(answer.can_close)
        else:
            # The text itself expresses now that objects are closed.
            part = msgspec.structs.replace(self._grammar, text=answer.text, additional=self._additional)
            self._converted = self.reading.of(part)
            losses = [f"• {loss[:1].upper()}{loss[1:]}." for loss in answer.losses]
            heading = ui_text("dialogs.notation.lost" if losses else "dialogs.notation.nothing_lost")
            self._show(answer.text, self.reading.notation.id, "\n".join([heading, *losses, answer.checked]))
            if answer.compared is not None:
                self._comparison = CompareGrammars(self._compiled, answer.compared)
                self._show_comparison_text(ui_text("dialogs.equivalence.comparing"))
                self.comparison_wanted.emit(self._comparison)
        self._show_state()

    def show_comparison(self, answer: GrammarsAnswer) -> None:
        """Show whether the conversion has the same texts as the original."""
        if answer.request != self._comparison:
            return
        self._comparison = None
        compared = answer.comparison
        if compared is None:
            self._show_comparison_text(answer.error)
            return
        fields: dict[str, object] = {}
        relation = relation_name(compared)
        if compared.relation is Relation.UNKNOWN:
            fields["length"] = compared.length
        for name, text in (("removed", compared.only_first), ("added", compared.only_second)):
            if text is not None:
                fields[name] = shown_text(text)
        self._show_comparison_text(unmarked(ui_text(f"dialogs.equivalence.conversion.{relation}", **fields)))

    def _show_comparison_text(self, text: str) -> None:
        self.comparison_label.setText(text)
        self.comparison_label.setVisible(bool(text))

    def show_reading(self, answer: ReadAnswer) -> None:
        """Show the errors of the text in the other notation."""
        if answer.number != self._number:
            return
        self._is_pending = False
        self.note.setText("")
        self.result_label.setText(_findings(answer.diagnostics, self._grammar.text, self.reading.name))
        self._show_state()

    def show_failure(self, failed: Failed) -> None:
        """Show that a worker hit a bug, so that there will be no answer."""
        if self._comparison is not None:
            self._comparison = None
            self._show_comparison_text(ui_text("common.internal_error", summary=failed.summary))
        if self._is_pending:
            self._is_pending = False
            self.note.setText("")
            self._say(ui_text("common.internal_error", summary=failed.summary))
            self._show_state()

    def _show(self, text: str, notation: str, summary: str) -> None:
        self.text.show_text(text, notation)
        self.result_label.setText(unmarked(summary))
        self.preview.setCurrentWidget(self.text)

    def _say(self, sentence: str) -> None:
        """Show a message instead of a preview."""
        self.message.setText(unmarked(sentence))
        self.result_label.setText("")
        self.preview.setCurrentWidget(self.message)

    def _show_state(self) -> None:
        self.progress.setVisible(self._is_pending)
        self.accept_button.setEnabled(self._outcome() is not None)


def _findings(diagnostics: tuple[Diagnostic, ...], text: str, name: str) -> str:
    errors = [found for found in diagnostics if found.severity is Severity.ERROR]
    if not errors:
        return ui_text("dialogs.notation.no_error", notation=name)
    source = SourceText(text)
    lines = [
        f"• {line}:{column} {found.message[:1].upper()}{found.message[1:]}."
        for found in errors[:_MOST_LISTED]
        for line, column in [source.line_column(found.span.start)]
    ]
    hidden = len(errors) - _MOST_LISTED
    more = [f"• {ui_text('dialogs.notation.more', count=hidden)}"] if hidden > 0 else []
    heading = ui_text("dialogs.notation.errors", notation=name, count=len(errors))
    return unmarked("\n".join([heading, *lines, *more]))


def _label() -> QLabel:
    label = Label()
    label.setProperty("role", "muted")
    label.setWordWrap(True)
    return label
