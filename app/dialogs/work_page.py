"""A page of work on request: a button that starts and cancels it, its progress, and a table of results."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QStackedLayout,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import capitalised, ui_text
from app.models.rows import RowsModel
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.elided_label import ElidedLabel
from app.workers.protocol import Progress

_BAR = 4  # pixels
_ROW_HEIGHT = 25
_LEAST_HEIGHT = 4 * _ROW_HEIGHT  # pixels: the titles and three rows


class WorkPage(QWidget):
    """A page with a button that starts work, its progress, a sentence, and a table.

    Args:
        area: the table of its texts in `dialogs` of the catalogue: `run`, `run_tip`, `teaching` and `table`.
        model: the model of the table.

    Signals:
        cancelled(): the user cancels the work.
    """

    cancelled = Signal()

    def __init__(self, area: str, model: RowsModel) -> None:
        super().__init__()
        self._area = area
        self._is_running = False
        self.model = model
        self.run_button = push_button(self._text("run"), self._text("run_tip"), clicked=self._on_run)
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.bar.hide()
        self.summary = ElidedLabel(fills=True)
        self.controls = QHBoxLayout()
        self.controls.setSpacing(theme.SPACE_S)
        self.hint = Label(self._text("teaching"), wraps=True)
        self.hint.setProperty("role", "muted")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.hint.setMargin(theme.SPACE_S)
        self.hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table = _table(model, self._text("table"))
        well = QFrame()
        well.setProperty("role", "well")
        self._stack = QStackedLayout(well)
        self._stack.setContentsMargins(2, 2, 2, 2)
        self._stack.addWidget(self.hint)
        self._stack.addWidget(self.table)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.column.setSpacing(theme.SPACE_XS)
        self.column.addLayout(self.controls)
        self.controls.addWidget(self.run_button)
        self.controls.addWidget(self.summary, 1)
        self.column.addWidget(self.bar)
        self.column.addWidget(well, 1)

    @property
    def is_running(self) -> bool:
        """Return whether the work is in progress."""
        return self._is_running

    def start(self) -> None:
        """Start the work."""
        raise NotImplementedError

    def show_progress(self, progress: Progress) -> None:
        """Show how far the work is."""
        if not self._is_running:
            return
        self.bar.setRange(0, progress.total or 0)
        self.bar.setValue(progress.done)
        key, fields = "open", {"what": capitalised(progress.what), "done": progress.done}
        if progress.total:
            key, fields = "of", {**fields, "total": progress.total}
        self.summary.set_text(ui_text(f"dialogs.check.progress.{key}", **fields))

    def clear(self, hint: str = "") -> None:
        """Drop the result: it belongs to another output or grammar."""
        if self._is_running:
            self.cancelled.emit()
        self._set_running(is_running=False)
        self._show_hint(hint or self._text("teaching"))

    def _on_run(self) -> None:
        if self._is_running:
            self.cancelled.emit()
        else:
            self.start()

    def _set_running(self, *, is_running: bool) -> None:
        self._is_running = is_running
        self.bar.setRange(0, 0)
        self.bar.setVisible(is_running)
        self.run_button.setText(ui_text("common.button.cancel") if is_running else self._text("run"))
        if is_running:
            self.summary.set_text("")

    def _show_hint(self, text: str) -> None:
        self.summary.set_text("")
        self.hint.setText(text)
        self.model.show_rows(())
        self._stack.setCurrentWidget(self.hint)

    def _show_table(self) -> None:
        self._stack.setCurrentWidget(self.table)

    def _text(self, name: str) -> str:
        return ui_text(f"dialogs.{self._area}.{name}")


def _table(model: RowsModel, name: str) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    table.setMinimumHeight(_LEAST_HEIGHT)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(max(_ROW_HEIGHT, QFontMetrics(theme.ui_font()).height() + 8))
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    header.setStretchLastSection(True)
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    return table
