"""The search for the smallest grammar on which an engine or a server still fails."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import capitalised, ui_text
from app.display_text import unmarked
from app.panes.editor.read_only_code import ReadOnlyCode
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.widgets.banner import Banner
from app.widgets.elided_label import ElidedLabel
from app.widgets.rich_text import prose
from app.workers.protocol import Progress
from app.workers.requests.engines import EngineList, SmallestAnswer
from engine.source import Span

_BAR = 4  # pixels
_LONGEST_SHOWN = 160  # characters of a message
_KINDS = frozenset(("refuses", "crashes", "too-slow", "too-strict", "too-loose"))


@dataclass(frozen=True, slots=True)
class ReduceTarget:
    """The engine or the server that fails on the grammar.

    Attributes:
        engine: the name of an installed engine; empty for a server.
        server: the address of a server.
        model: its model; empty for the first one.
        key: its key.
        uses_tests: whether the engine judges the test strings of the document in place of generated texts.
    """

    engine: str = ""
    server: str = ""
    model: str = ""
    key: str = field(default="", repr=False)
    uses_tests: bool = False


class ReduceDialog(QDialog):
    """Asks what fails, and shows the reduced grammar.

    Args:
        tests: the number of test strings of the document.
        parent: the window.

    Signals:
        wanted(ReduceTarget): begin to search.
        cancelled(): stop.
        span_wanted(Span): show this span of the grammar.
    """

    wanted = Signal(ReduceTarget)
    cancelled = Signal()
    span_wanted = Signal(Span)

    def __init__(self, tests: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: SmallestAnswer | None = None
        self._is_running = False
        self.setWindowTitle(ui_text("dialogs.reduce.title"))
        self.resize(820, 620)
        self.by_engine = QRadioButton(ui_text("dialogs.reduce.engine"))
        self.by_server = QRadioButton(ui_text("dialogs.reduce.server"))
        self._choices = QGridLayout()
        self.engine = QComboBox()
        self.texts = QComboBox()
        self.address, self.model, self.key = QLineEdit(), QLineEdit(), QLineEdit()
        self.run_button = push_button(ui_text("common.button.find"), ui_text("dialogs.reduce.run_tip"), role="primary")
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.status = ElidedLabel(fills=True)
        self.verdict = Banner(is_html=True)
        self.grammar = ReadOnlyCode()
        self.place_button = push_button(ui_text("common.button.show_in_grammar"))
        self.copy_button = push_button(ui_text("dialogs.reduce.copy"), ui_text("dialogs.reduce.copy_tip"))
        self._set_up(tests)
        self._lay_out()
        self._enable()

    @property
    def answer(self) -> SmallestAnswer | None:
        """Return the result that is shown; None if there is none yet."""
        return self._answer

    @property
    def is_running(self) -> bool:
        """Return whether the search is in progress."""
        return self._is_running

    def show_engines(self, found: EngineList) -> None:
        """Offer the installed engines; without one, choose the server."""
        self.engine.clear()
        for name, version in found.engines:
            self.engine.addItem(f"{name} {version}".rstrip(), name)
        has_engine = bool(found.engines)
        if not has_engine:
            self.engine.addItem(ui_text("dialogs.reduce.no_engine"), "")
        self.by_engine.setEnabled(has_engine)
        self.texts.setVisible(has_engine)
        self._choices.addWidget(self.engine, 0, 1, 1, 1 if has_engine else 3)
        (self.by_engine if has_engine else self.by_server).setChecked(True)
        self._enable()

    def show_progress(self, progress: Progress) -> None:
        """Show how many candidates were checked."""
        if self._is_running:
            text = ui_text("dialogs.check.progress.open", what=capitalised(progress.what), done=progress.done)
            self.status.set_text(text)

    def show_answer(self, answer: SmallestAnswer) -> None:
        """Show the reduced grammar, or why there is none."""
        if not self._is_running:
            return
        self._is_running = False
        self._answer = answer
        self.status.set_text("")
        self.grammar.show_text(answer.text, answer.request.compiled.notation)
        if answer.error:
            self.verdict.show_message(prose(answer.error), severity="warning", accessible_text=answer.error)
        else:
            title = ui_text("dialogs.reduce.not_reduced")
            if answer.part:
                title = ui_text("dialogs.reduce.guilty", part=answer.part)
            detail = self._failure(answer)
            spoken = unmarked(f"{title}. {detail}")
            self.verdict.show_message(prose(title), prose(detail), severity="error", accessible_text=spoken)
            before, after = len(answer.request.compiled.text.encode()), len(answer.text.encode())
            size = ui_text("cli.reduce.result", before=before, after=after, count=answer.checks)
            self.status.set_text(size)
        announce(self, unmarked(self.verdict.title_label.accessibleName()))
        self._enable()

    def _failure(self, answer: SmallestAnswer) -> str:
        shown = answer.shown if len(answer.shown) <= _LONGEST_SHOWN else f"{answer.shown[: _LONGEST_SHOWN - 1]}…"
        shown = shown.replace("`", "'")
        if answer.kind in _KINDS:
            failure = ui_text(f"dialogs.reduce.fragment.{answer.kind.replace('-', '_')}", shown=shown)
        else:
            failure = ui_text("dialogs.reduce.fragment.other", kind=answer.kind, shown=shown)
        name = answer.request.engine or ui_text("dialogs.reduce.server")
        return ui_text("dialogs.reduce.shown", name=name, failure=failure)

    def _on_run(self) -> None:
        if self._is_running:
            self.cancelled.emit()
            return
        if self.by_engine.isChecked():
            uses_tests = bool(self.texts.currentIndex())
            target = ReduceTarget(engine=str(self.engine.currentData() or ""), uses_tests=uses_tests)
        else:
            server = self.address.text().strip()
            target = ReduceTarget(server=server, model=self.model.text().strip(), key=self.key.text().strip())
        if not (target.engine or target.server):
            self.status.set_text(ui_text("dialogs.reduce.no_address"))
            self.address.setFocus()
            return
        self._answer, self._is_running = None, True
        self.verdict.set_text("")
        self.status.set_text(ui_text("dialogs.reduce.searching"))
        self._enable()
        self.wanted.emit(target)

    def _enable(self) -> None:
        by_engine, found = self.by_engine.isChecked(), self._answer
        for choice in (self.engine, self.texts):
            choice.setEnabled(by_engine and not self._is_running)
        for edit in (self.address, self.model, self.key):
            edit.setEnabled(not by_engine and not self._is_running)
        self.run_button.setText(ui_text("common.button.cancel" if self._is_running else "common.button.find"))
        self.bar.setVisible(self._is_running)
        self.place_button.setEnabled(found is not None and found.span is not None)
        self.copy_button.setEnabled(found is not None and bool(found.text))

    def _show_place(self) -> None:
        if self._answer is not None and self._answer.span is not None:
            self.span_wanted.emit(self._answer.span)

    def _copy(self) -> None:
        if self._answer is not None:
            lines = [unmarked(self._failure(self._answer)), self._answer.part, self._answer.text]
            QGuiApplication.clipboard().setText("\n".join(filter(None, lines)))

    def _set_up(self, tests: int) -> None:
        buttons = QButtonGroup(self)
        for button in (self.by_engine, self.by_server):
            buttons.addButton(button)
        self.by_engine.setChecked(True)
        self.by_engine.toggled.connect(lambda _checked: self._enable())
        self.engine.setAccessibleName(ui_text("dialogs.check.engines.column.engine"))
        self.texts.setAccessibleName(ui_text("dialogs.reduce.texts"))
        self.texts.setToolTip(ui_text("dialogs.reduce.texts"))
        self.texts.addItem(ui_text("dialogs.reduce.generated"))
        if tests:
            self.texts.addItem(ui_text("dialogs.reduce.own_tests", count=tests))
        for edit, name in ((self.address, "address"), (self.model, "model"), (self.key, "key")):
            edit.setAccessibleName(ui_text(f"dialogs.reduce.{name}"))
            edit.setPlaceholderText(ui_text(f"dialogs.reduce.{name}_hint"))
            edit.returnPressed.connect(self._on_run)
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setToolTip(ui_text("dialogs.reduce.key_tip"))
        self.bar.setFixedHeight(_BAR)
        self.grammar.setAccessibleName(ui_text("dialogs.reduce.result"))
        self.grammar.setPlaceholderText(ui_text("dialogs.reduce.result_hint"))
        self.run_button.clicked.connect(self._on_run)
        self.place_button.clicked.connect(self._show_place)
        self.copy_button.clicked.connect(self._copy)

    def _lay_out(self) -> None:
        about = Label(ui_text("dialogs.reduce.about"), wraps=True)
        about.setProperty("role", "muted")
        well = QFrame()
        well.setProperty("role", "well")
        inner = QVBoxLayout(well)
        inner.setContentsMargins(2, 2, 2, 2)
        inner.addWidget(self.grammar)
        grid, work, buttons = self._choices, QHBoxLayout(), QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(about)
        layout.addLayout(grid)
        layout.addLayout(work)
        layout.addWidget(self.bar)
        layout.addWidget(self.verdict)
        layout.addWidget(well, 1)
        layout.addLayout(buttons)
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(theme.SPACE_XS)
        grid.addWidget(self.by_engine, 0, 0)
        grid.addWidget(self.engine, 0, 1)
        grid.addWidget(self.texts, 0, 2, 1, 2)
        grid.addWidget(self.by_server, 1, 0)
        for column, edit in enumerate((self.address, self.model, self.key), 1):
            grid.addWidget(edit, 1, column)
        for column, stretch in ((1, 2), (2, 1), (3, 1)):
            grid.setColumnStretch(column, stretch)
        work.setSpacing(theme.SPACE_S)
        work.addWidget(self.run_button)
        work.addWidget(self.status, 1)
        buttons.addWidget(self.place_button)
        buttons.addWidget(self.copy_button)
        buttons.addStretch()
        close = push_button(ui_text("common.button.close"))
        close.clicked.connect(self.reject)
        buttons.addWidget(close)
