"""The comparison of the grammar with an earlier one: the lines that differ, and what the edit adds and removes."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import shown
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.widgets.banner import Banner, BannerSeverity
from app.widgets.difference_view import DifferenceView
from app.widgets.elided_label import ElidedLabel
from app.workers.protocol import Progress
from app.workers.requests.equivalence import GrammarsAnswer, TextsAnswer
from engine.analysis.language_comparison import LanguageComparison, Relation

_BAR = 4  # pixels
_SEVERITIES: Mapping[Relation, BannerSeverity] = {Relation.EQUAL: "allowed", Relation.UNKNOWN: "warning"}


def relation_name(comparison: LanguageComparison) -> str:
    """Return the name of the sentence about a comparison; what is known of an unequal one is in its name."""
    if comparison.relation is Relation.UNEQUAL:
        return "added" if comparison.only_first is None else "removed"
    return str(comparison.relation)


def shown_text(text: bytes | None) -> str:
    """Return a text in one line, with its invisible characters marked."""
    return shown(text) if text else ui_text("dialogs.equivalence.empty")


class EquivalenceDialog(QDialog):
    """Shows what the present grammar adds and removes, compared with an earlier one.

    Args:
        references: the names of the grammars to compare with.
        parent: the window.

    Signals:
        wanted(index): compare with this reference.
        cancelled(): stop.
        test_wanted(text): add this text to the test strings.
        keep_wanted(name): keep the present grammar as a version under this name.
        restore_wanted(index): make this reference the grammar.
        drop_wanted(index): drop this version.
    """

    wanted = Signal(int)
    cancelled = Signal()
    test_wanted = Signal(str)
    keep_wanted = Signal(str)
    restore_wanted = Signal(int)
    drop_wanted = Signal(int)

    def __init__(self, references: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._comparison: LanguageComparison | None = None
        self._is_running = False
        self.setObjectName("equivalence")
        self.setWindowTitle(ui_text("dialogs.equivalence.title"))
        self.resize(820, 560)
        self.reference = QComboBox()
        self.reference.addItems(references)
        self.reference.setAccessibleName(ui_text("dialogs.equivalence.reference"))
        self.verdict = Banner()
        self.verdict.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.status = ElidedLabel(fills=True)
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.run_button = push_button(clicked=self._on_run)
        self.rows = tuple(DifferingText(ui_text(f"dialogs.equivalence.{name}")) for name in ("removed", "added"))
        for row in self.rows:
            row.keep_button.clicked.connect(lambda _checked=False, row=row: self.test_wanted.emit(row.text))
        self._build_versions()
        self._lay_out()
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Return in the field keeps a version, and does nothing else
        self.reference.currentIndexChanged.connect(lambda _index: self.start())

    @property
    def is_running(self) -> bool:
        """Return whether the comparison is in progress."""
        return self._is_running

    def start(self) -> None:
        """Request the comparison; what is shown stays until its answer."""
        if self._is_running:
            self.cancelled.emit()
        self._set_running(is_running=True)
        self.status.set_text(ui_text("dialogs.equivalence.comparing"))
        self.wanted.emit(self.reference.currentIndex())

    def offer(self, references: tuple[str, ...]) -> None:
        """Replace the names of the grammars to compare with, keeping the choice if it is still there."""
        chosen = self.reference.currentText()
        with QSignalBlocker(self.reference):
            self.reference.clear()
            self.reference.addItems(references)
            self.reference.setCurrentIndex(max(0, self.reference.findText(chosen)))

    def choose(self, index: int) -> None:
        """Compare with a reference."""
        with QSignalBlocker(self.reference):
            self.reference.setCurrentIndex(index)
        self.start()

    def _build_versions(self) -> None:
        self.difference = DifferenceView()
        self.difference.setAccessibleName(ui_text("dialogs.refactor.difference"))
        self.difference.setPlaceholderText(ui_text("dialogs.equivalence.same_text"))
        self.name = QLineEdit()
        self.name.setObjectName("version_name")
        self.name.setAccessibleName(ui_text("dialogs.equivalence.version_name"))
        self.name.setPlaceholderText(ui_text("dialogs.equivalence.version_name"))
        self.name.returnPressed.connect(self._keep)
        self.keep_button = push_button(
            ui_text("dialogs.equivalence.keep"), ui_text("dialogs.equivalence.keep_version_tip"), clicked=self._keep
        )
        self.restore_button = push_button(
            ui_text("dialogs.equivalence.restore"),
            ui_text("dialogs.equivalence.restore_tip"),
            clicked=lambda: self.restore_wanted.emit(self.reference.currentIndex()),
        )
        self.drop_button = push_button(
            ui_text("dialogs.equivalence.drop"),
            ui_text("dialogs.equivalence.drop_tip"),
            clicked=lambda: self.drop_wanted.emit(self.reference.currentIndex()),
        )
        self.describe_reference(differs=False, is_version=False)

    def show_difference(self, answer: TextsAnswer) -> None:
        """Show the lines that differ."""
        self.difference.show_lines(answer.difference)

    def describe_reference(self, *, differs: bool, is_version: bool) -> None:
        """Enable restoring a reference that differs, and deleting one that is a version."""
        self.restore_button.setEnabled(differs)
        self.drop_button.setEnabled(is_version)

    def _keep(self) -> None:
        self.keep_wanted.emit(self.name.text().strip())
        self.name.clear()

    def show_progress(self, progress: Progress) -> None:
        """Show how many pairs were visited."""
        if self._is_running:
            self.bar.setRange(0, progress.total or 0)
            self.bar.setValue(progress.done)

    def show_answer(self, answer: GrammarsAnswer) -> None:
        """Show the comparison, or why there is none."""
        self._set_running(is_running=False)
        compared = answer.comparison
        for row, text in zip(
            self.rows, (compared.only_first, compared.only_second) if compared else (None, None), strict=True
        ):
            row.show_text(text)
        if compared is None:
            self.status.set_text("")
            self.verdict.show_message(answer.error, severity="warning")
        else:
            severity = _SEVERITIES.get(compared.relation, "hint")
            self.verdict.show_message(ui_text(f"dialogs.equivalence.edit.{relation_name(compared)}"), severity=severity)
            key = "exact" if compared.is_exact else "bounded"
            fields = {} if compared.length is None else {"length": compared.length}
            self.status.set_text(ui_text(f"dialogs.equivalence.{key}", count=compared.n_visited, **fields))
        announce(self, self.verdict.text())

    def show_lost(self, why: str) -> None:
        """Show why there will be no answer."""
        if self._is_running:
            self._set_running(is_running=False)
            self.status.set_text(why)

    def _on_run(self) -> None:
        if self._is_running:
            self._set_running(is_running=False)
            self.status.set_text(ui_text("dialogs.equivalence.stopped"))
            self.cancelled.emit()
        else:
            self.start()

    def _set_running(self, *, is_running: bool) -> None:
        self._is_running = is_running
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_running)
        self.run_button.setText(ui_text("common.button.cancel" if is_running else "dialogs.equivalence.again"))

    def _lay_out(self) -> None:
        head, grid, buttons = QHBoxLayout(), QGridLayout(), QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        well = QFrame()
        well.setProperty("role", "well")
        inner = QVBoxLayout(well)
        inner.setContentsMargins(2, 2, 2, 2)
        inner.addWidget(self.difference)
        keeping = QHBoxLayout()
        layout.addLayout(head)
        layout.addWidget(well, 1)
        layout.addWidget(self.bar)
        layout.addWidget(self.verdict)
        layout.addLayout(grid)
        layout.addLayout(keeping)
        layout.addLayout(buttons)
        keeping.setSpacing(theme.SPACE_S)
        keeping.addWidget(self.name, 1)
        keeping.addWidget(self.keep_button)
        head.setSpacing(theme.SPACE_S)
        head.addWidget(Label(ui_text("dialogs.equivalence.reference")))
        head.addWidget(self.reference)
        head.addWidget(self.restore_button)
        head.addWidget(self.drop_button)
        head.addStretch()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_S)
        grid.setColumnStretch(1, 1)
        for at, row in enumerate(self.rows):
            for column, widget in enumerate(row.widgets):
                grid.addWidget(widget, at, column)
        buttons.setSpacing(theme.SPACE_S)
        buttons.addWidget(self.status, 1)
        buttons.addWidget(self.run_button)
        buttons.addWidget(push_button(ui_text("common.button.close"), clicked=self.reject))


class DifferingText:
    """A row with a text that only one of two grammars has, and a button that adds it to the test strings.

    Args:
        name: what the text shows.
        can_keep: whether there is the button.
    """

    def __init__(self, name: str, *, can_keep: bool = True) -> None:
        self.text = ""
        self.name_label = Label(name)
        self.text_label = ElidedLabel(role="", fills=True)
        self.text_label.setFont(theme.mono_font())
        self.keep_button = push_button(ui_text("dialogs.check.keep_test"), ui_text("dialogs.equivalence.keep_tip"))
        buttons = (self.keep_button,) if can_keep else ()
        self.widgets: tuple[QWidget, ...] = (self.name_label, self.text_label, *buttons)
        self.show_text(None)

    def show_text(self, text: bytes | None) -> None:
        """Show a text; None hides the row."""
        for widget in self.widgets:
            widget.setVisible(text is not None)
        if text is not None:
            self.text = text.decode()
            self.text_label.set_text(shown_text(text))
