"""The dialog of a refactoring: the difference of the text, and the proof that the language is kept."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QHBoxLayout, QLineEdit, QProgressBar, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.dialogs.equivalence_dialog import DifferingText
from app.display_text import unmarked
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.banner import Banner, BannerSeverity
from app.widgets.difference_view import DifferenceView
from app.widgets.rich_text import bullets
from app.workers.protocol import Failed, Progress
from app.workers.requests.equivalence import CompareGrammars, GrammarsAnswer, RefactorAnswer, RefactorGrammar
from engine.refactoring.proof import ProofKind, proof_of, proof_sentence

_BAR = 4  # pixels
_DELAY_MS = 250  # of a name, which is typed letter by letter
_SEVERITIES: Mapping[ProofKind, BannerSeverity] = {
    ProofKind.AUTOMATA: "allowed",
    ProofKind.CONSTRUCTION: "allowed",
    ProofKind.BOUNDED: "warning",
    ProofKind.DIFFERENT: "error",
}


class RefactorDialog(QDialog):
    """Shows what a refactoring changes, and what is proved about it; applies it if the user says so.

    Args:
        title: the title of the refactoring's command.
        request: the refactoring, and the grammar with what is selected.
        makes_name: whether the refactoring makes something that gets a name.
        keeps_language: whether the language is the same by construction.
        parent: the window.

    Signals:
        rewrite_wanted(RefactorGrammar): refactor the grammar.
        comparison_wanted(CompareGrammars): compare the texts before and after.
        cancelled(): cancel the pending requests.
        chosen(RefactorAnswer): apply this.
    """

    rewrite_wanted = Signal(RefactorGrammar)
    comparison_wanted = Signal(CompareGrammars)
    cancelled = Signal()
    chosen = Signal(RefactorAnswer)

    def __init__(
        self,
        title: str,
        request: RefactorGrammar,
        *,
        makes_name: bool,
        keeps_language: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._request = request
        self._keeps_language = keeps_language
        self._answer: RefactorAnswer | None = None
        self._proof: ProofKind | None = None  # None while it is unknown
        self._comparison: CompareGrammars | None = None  # the pending one
        self._timer = delayed(self, _DELAY_MS, self.begin)
        self.setObjectName("refactor")
        self.setWindowTitle(title)
        self.resize(820, 520)
        self.name = QLineEdit()
        self.name.setObjectName("name")
        self.name.setAccessibleName(ui_text("dialogs.refactor.name"))
        self.name.setVisible(makes_name)
        self.name.textEdited.connect(lambda _text: self._timer.start())
        self._name_label = Label(ui_text("dialogs.refactor.name"))
        self._name_label.setVisible(makes_name)
        self.difference = DifferenceView()
        self.difference.setAccessibleName(ui_text("dialogs.refactor.difference"))
        self.difference.setPlaceholderText(ui_text("dialogs.refactor.no_difference"))
        self.notes = Label(wraps=True, is_html=True)
        self.verdict = Banner()
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.rows = tuple(
            DifferingText(ui_text(f"dialogs.refactor.{name}"), can_keep=False) for name in ("removed", "added")
        )
        self.stop_button = push_button(ui_text("dialogs.refactor.stop"), clicked=self.stop)
        self.cancel_button = push_button(ui_text("common.button.cancel"), clicked=self.reject)
        self.accept_button = push_button(role="primary", clicked=self.accept)
        self.accept_button.setDefault(True)
        self._lay_out()
        self._show_state()

    @property
    def is_comparing(self) -> bool:
        """Return whether the comparison is in progress."""
        return self._comparison is not None

    def begin(self) -> None:
        """Request the rewrite with the name in the field."""
        self._timer.stop()
        self.cancelled.emit()
        self._comparison = None
        self._request = self._request.named(self.name.text().strip())
        self.rewrite_wanted.emit(self._request)

    def show_rewrite(self, answer: RefactorAnswer) -> None:
        """Show a rewrite, and request the comparison; or why there is none."""
        if answer.request != self._request:
            return
        self._answer, self._proof = None if answer.error else answer, None
        self.difference.show_lines(answer.difference)
        self.notes.setText(bullets(answer.notes))
        self.notes.setVisible(bool(answer.notes))
        for row in self.rows:
            row.show_text(None)
        if answer.error:
            self.verdict.show_message(unmarked(answer.error), severity="warning")
        else:
            if not self.name.text():
                self.name.setText(answer.name)
                self.name.selectAll()
            self.verdict.show_message(ui_text("dialogs.equivalence.comparing"), severity="hint")
            self._comparison = CompareGrammars(answer.request.compiled, answer.compiled)
            self.comparison_wanted.emit(self._comparison)
        self._show_state()

    def show_progress(self, progress: Progress) -> None:
        """Show how far the comparison is."""
        if self.is_comparing:
            self.bar.setRange(0, progress.total or 0)
            self.bar.setValue(progress.done)

    def show_comparison(self, answer: GrammarsAnswer) -> None:
        """Show what the comparison proves."""
        if answer.request != self._comparison:
            return
        self._comparison = None
        compared = answer.comparison
        if compared is None:
            self._answer = None
            self.verdict.show_message(unmarked(answer.error), severity="error")
        else:
            self._proof = proof_of(compared, keeps_language=self._keeps_language)
            sentence = proof_sentence(compared, keeps_language=self._keeps_language)
            self.verdict.show_message(sentence, severity=_SEVERITIES[self._proof])
            for row, text in zip(self.rows, (compared.only_first, compared.only_second), strict=True):
                row.show_text(text)
        self._show_state()

    def show_failure(self, failed: Failed) -> None:
        """Show that a worker hit a bug, so that there will be no answer."""
        self._comparison = self._answer = None
        self.verdict.show_message(ui_text("common.internal_error", summary=failed.summary), severity="error")
        self._show_state()

    def stop(self) -> None:
        """Stop the comparison: without it, nothing is proved."""
        self.cancelled.emit()
        self._comparison = None
        key = "stopped_by_construction" if self._keeps_language else "stopped"
        self.verdict.show_message(ui_text(f"dialogs.refactor.{key}"), severity="warning")
        self._show_state()

    def accept(self) -> None:
        """Apply the refactoring, if it may be applied."""
        if self._answer is not None and self.accept_button.isEnabled():
            self.cancelled.emit()
            super().accept()
            self.chosen.emit(self._answer)

    def reject(self) -> None:
        """Close the dialog without a change."""
        self.cancelled.emit()
        super().reject()

    def _show_state(self) -> None:
        """Enable what can be done: nothing is applied while its proof is still being looked for."""
        self.bar.setVisible(self.is_comparing)
        self.stop_button.setVisible(self.is_comparing)
        is_known = self._keeps_language if self._proof is None else self._proof.is_proof
        is_plain = is_known or self._answer is None
        self.accept_button.setText(ui_text(f"dialogs.refactor.{'apply' if is_plain else 'apply_anyway'}"))
        self.accept_button.setEnabled(self._answer is not None and (self._keeps_language or not self.is_comparing))

    def _lay_out(self) -> None:
        well = QFrame()
        well.setProperty("role", "well")
        inner = QVBoxLayout(well)
        inner.setContentsMargins(2, 2, 2, 2)
        inner.addWidget(self.difference)
        head, grid, buttons = QHBoxLayout(), QGridLayout(), QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        layout.addLayout(head)
        layout.addWidget(well, 1)
        layout.addWidget(self.notes)
        layout.addWidget(self.bar)
        layout.addWidget(self.verdict)
        layout.addLayout(grid)
        layout.addLayout(buttons)
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self._name_label)
        head.addWidget(self.name)
        head.addStretch()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setColumnStretch(1, 1)
        for at, row in enumerate(self.rows):
            for column, widget in enumerate(row.widgets):
                grid.addWidget(widget, at, column)
        buttons.setSpacing(theme.SPACE_S)
        buttons.addWidget(self.stop_button)
        buttons.addStretch()
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.accept_button)
