"""The dialog of a grammar from samples: samples on the left, the grammar that accepts all of them on the right."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.display_text import unmarked
from app.panes.editor.read_only_code import ReadOnlyCode
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.banner import Banner
from app.workers.protocol import Failed
from app.workers.requests.judge import InferAnswer, InferGrammar
from engine.notations import NOTATIONS

_DELAY_MS = 300  # of samples, which are typed or pasted
_FORMS = ("auto", "json", "json-lines", "lines", "whole")


class InferDialog(QDialog):
    """Asks for samples, and shows a grammar that accepts them.

    Signals:
        wanted(InferGrammar): infer a grammar.
        cancelled(): cancel the pending request.
        chosen(InferAnswer): use this grammar.
    """

    wanted = Signal(InferGrammar)
    cancelled = Signal()
    chosen = Signal(InferAnswer)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = ""
        self._request: InferGrammar | None = None  # the pending one
        self._answer: InferAnswer | None = None
        self._timer = delayed(self, _DELAY_MS, self._ask)
        self.setObjectName("infer")
        self.setWindowTitle(ui_text("dialogs.infer.title"))
        self.resize(980, 600)
        self.samples = QPlainTextEdit()
        self.samples.setObjectName("samples")
        self.samples.setFont(theme.mono_font())
        self.samples.setFrameShape(QFrame.Shape.NoFrame)
        self.samples.setTabChangesFocus(True)
        self.samples.document().setDocumentMargin(theme.SPACE_S)
        self.samples.setAccessibleName(ui_text("dialogs.infer.samples"))
        self.samples.setPlaceholderText(ui_text("dialogs.infer.placeholder"))
        self.form = QComboBox()
        self.form.setAccessibleName(ui_text("dialogs.infer.form_name"))
        for form in _FORMS:
            self.form.addItem(ui_text(f"dialogs.infer.form.{form.replace('-', '_')}"), form)
        self.notation = QComboBox()
        self.notation.setAccessibleName(ui_text("dialogs.infer.notation"))
        self.notation.addItem(ui_text("dialogs.infer.likely"), "")
        for notation in NOTATIONS.values():
            self.notation.addItem(notation.title, notation.id)
        self.file_button = push_button(ui_text("dialogs.infer.file"), clicked=self._choose_file)
        self.grammar = ReadOnlyCode()
        self.grammar.setAccessibleName(ui_text("dialogs.infer.grammar"))
        self.grammar.setPlaceholderText(ui_text("dialogs.infer.no_grammar"))
        self.verdict = Banner()
        self.accept_button = push_button(ui_text("dialogs.infer.use"), role="primary", clicked=self.accept)
        self.accept_button.setDefault(True)
        self._lay_out()
        self.samples.setFocus()
        self._forget()
        self.samples.textChanged.connect(self._on_typed)
        for choice in (self.form, self.notation):
            choice.currentIndexChanged.connect(lambda _index: self._ask())

    def open_path(self, path: str) -> None:
        """Take the samples of a file, which the worker reads."""
        self._path = ""
        self.samples.clear()
        self._path = path
        self.samples.setPlaceholderText(ui_text("dialogs.infer.from_file", name=Path(path).name))
        self._ask()

    def show_answer(self, answer: InferAnswer) -> None:
        """Show a grammar, or why there is none."""
        if answer.request != self._request:
            return
        self._request = None
        self._answer = None if answer.error else answer
        self.grammar.show_text(answer.text, answer.notation or next(iter(NOTATIONS)))
        if answer.error:
            self.verdict.show_message(unmarked(answer.error), severity="warning")
        else:
            accepted = ui_text("inference.note.accepted", count=answer.count)
            self.verdict.show_message(accepted, unmarked("\n".join(answer.notes)), severity="allowed")
        self.accept_button.setEnabled(self._answer is not None)

    def show_failure(self, failed: Failed) -> None:
        """Show that a worker hit a bug, so that there will be no answer."""
        self._forget()
        self.verdict.show_message(ui_text("common.internal_error", summary=failed.summary), severity="error")

    def accept(self) -> None:
        """Use the grammar, if there is one."""
        if self._answer is not None:
            super().accept()
            self.chosen.emit(self._answer)

    def _on_typed(self) -> None:
        """Forget the file and the grammar; infer again once the user pauses."""
        if self.samples.document().isEmpty() and self._path:
            return
        self._path = ""
        self.samples.setPlaceholderText(ui_text("dialogs.infer.placeholder"))
        self._forget()
        self._timer.start()

    def _forget(self) -> None:
        if self._request is not None:
            self.cancelled.emit()
        self._request = self._answer = None
        self.accept_button.setEnabled(False)

    def _ask(self) -> None:
        self._timer.stop()
        self._forget()
        text = self.samples.toPlainText()
        if not text.strip() and not self._path:
            self.grammar.show_text("", next(iter(NOTATIONS)))
            self.verdict.set_text("")
            return
        self._request = InferGrammar(text, str(self.notation.currentData()), str(self.form.currentData()), self._path)
        self.verdict.show_message(ui_text("dialogs.infer.inferring"), severity="hint")
        self.wanted.emit(self._request)

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, ui_text("dialogs.infer.file_title"))
        if path:
            self.open_path(path)

    def _lay_out(self) -> None:
        about = Label(ui_text("dialogs.infer.about"), wraps=True)
        about.setProperty("role", "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        sides, buttons = QHBoxLayout(), QHBoxLayout()
        layout.addWidget(about)
        layout.addLayout(sides, 1)
        layout.addWidget(self.verdict)
        layout.addLayout(buttons)
        sides.setSpacing(theme.SPACE_M)
        for widget, controls in ((self.samples, (self.form, self.file_button)), (self.grammar, (self.notation,))):
            well, column, row = QFrame(), QVBoxLayout(), QHBoxLayout()
            well.setProperty("role", "well")
            inner = QVBoxLayout(well)
            inner.setContentsMargins(2, 2, 2, 2)
            inner.addWidget(widget)
            sides.addLayout(column, 1)
            column.setSpacing(theme.SPACE_S)
            column.addLayout(row)
            column.addWidget(well, 1)
            row.setSpacing(theme.SPACE_S)
            for control in controls:
                row.addWidget(control)
            row.addStretch()
        buttons.setSpacing(theme.SPACE_S)
        buttons.addStretch()
        buttons.addWidget(push_button(ui_text("common.button.close"), clicked=self.reject))
        buttons.addWidget(self.accept_button)
