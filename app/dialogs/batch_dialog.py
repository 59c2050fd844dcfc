"""Requests and responses of a log as a table: the cause of each, the allowed mass and the worst token.

The rows come while they are judged. It stays open beside the window, so that one request after another can be opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QComboBox, QDialog, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.dialogs.work_page import WorkPage
from app.display_text import unmarked
from app.models.rows import RowsModel
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.workers.protocol import Progress
from app.workers.requests.batches import BatchAnswer
from engine.diagnosis.batch.rows import BatchRow, cause_text
from engine.diagnosis.failures.diagnosis import Cause

MOST_ROWS = 10_000
"""The number of rows that the window keeps: more of them cannot be sorted between two frames."""
_WIDTHS = (150, 170, 80, 120, 190)  # pixels
_UNLIKELY = 0.01
_SMALL_MASS = 0.1

SortKey = Callable[[BatchRow], Any]


def _number(value: float | None) -> tuple[bool, float]:
    """Return the key of a number by which unknown ones come last."""
    return value is None, value or 0.0


class BatchModel(RowsModel):
    """One row for each request, sorted and filtered.

    Attributes:
        found: all rows, in the order in which they came.
        left_out: the number of rows beyond those that are kept.
        causes: the number of rows of each cause.
    """

    names = ("name", "cause", "finish", "mass", "worst", "sentence")
    titles = tuple(ui_text(f"dialogs.batch.column.{name}") for name in names)
    tips = tuple(ui_text(f"dialogs.batch.tip.{name}") for name in names)
    numbers: frozenset[int] = frozenset()
    keys: ClassVar[dict[str, SortKey]] = {
        "cause": lambda row: (row.cause_text, row.detail),
        "finish": lambda row: row.finish,
        "mass": lambda row: _number(None if row.mass is None else row.mass.most),
        "worst": lambda row: _number(None if row.worst is None else row.worst.p),
        "sentence": lambda row: row.sentence,
    }

    def __init__(self) -> None:
        super().__init__()
        self.found: list[BatchRow] = []
        self.left_out = 0
        self.causes: Counter[Cause | None] = Counter()
        self._words: tuple[str, ...] = ()
        self._cause: str | None = None
        self._sorted_by: tuple[str, bool] = ("name", False)

    def clear(self) -> None:
        """Remove all rows."""
        self.found, self.left_out, self.causes = [], 0, Counter()
        self.show_rows(())

    def add(self, rows: tuple[BatchRow, ...]) -> None:
        """Add rows as they are judged."""
        self.causes.update(row.cause for row in rows)
        kept = rows[: max(0, MOST_ROWS - len(self.found))]
        self.left_out += len(rows) - len(kept)
        self.found += kept
        shown = tuple(row for row in kept if self._is_shown(row))
        if self._sorted_by != ("name", False):
            self._show()
        elif shown:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(shown) - 1)
            self.rows = (*self.rows, *shown)
            self.endInsertRows()

    def filter(self, text: str, cause: str | None) -> None:
        """Show the rows that have all words of a text.

        Args:
            text: the text.
            cause: the name of a cause, which they must have; None for any.
        """
        self._words, self._cause = tuple(text.casefold().split()), cause
        self._show()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; the first one has the order in which the rows came."""
        self._sorted_by = self.names[max(column, 0)], order is Qt.SortOrder.DescendingOrder
        self._show()

    def _show(self) -> None:
        shown = [row for row in self.found if self._is_shown(row)]
        name, is_backwards = self._sorted_by
        if name in self.keys:
            shown.sort(key=self.keys[name], reverse=is_backwards)
        elif is_backwards:
            shown.reverse()
        self.show_rows(tuple(shown))

    def _is_shown(self, row: BatchRow) -> bool:
        if self._cause is not None and row.cause_text != self._cause:
            return False
        if not self._words:
            return True
        text = f"{row.name} {row.place} {row.cause_text} {row.detail} {row.finish} {row.sentence}".casefold()
        return all(word in text for word in self._words)

    def text(self, row: BatchRow, column: int) -> str:
        """Return the text of a cell; unknown numbers are empty."""
        name = self.names[column]
        match name:
            case "cause":
                detail = ui_text("dialogs.check.cause", cause=row.cause_text, detail=row.detail)
                return detail if row.detail else row.cause_text
            case "finish":
                return str(row.finish)
            case "mass":
                return "" if row.mass is None else row.mass.text
            case "worst":
                return "" if row.worst is None else row.worst.text
        return unmarked(str(getattr(row, name)))

    def tip(self, row: BatchRow, column: int) -> str:
        """Return the place of a name, and why the mass behind a mask is unknown."""
        match self.names[column]:
            case "name":
                return row.place
            case "mass" if row.is_masked:
                return ui_text("dialogs.batch.masked")
        return self.text(row, column)

    def look(self, row: BatchRow, column: int, role: int) -> object:
        """Return the colour of causes and of small numbers."""
        return self._colour(row, self.names[column]) if role == Qt.ItemDataRole.ForegroundRole else None

    @staticmethod
    def _colour(row: BatchRow, name: str) -> object:
        if name == "cause":
            known = {Cause.COMPLETE: theme.Role.ALLOWED, Cause.UNKNOWN: theme.Role.MUTED, None: theme.Role.MUTED}
            return theme.colour(known.get(row.cause, theme.Role.ERROR))
        if name == "worst" and row.worst is not None and row.worst.p < _UNLIKELY:
            return theme.colour(theme.Role.WARNING)
        if name == "mass" and row.mass is not None and row.mass.most < _SMALL_MASS:
            return theme.colour(theme.Role.WARNING)
        return theme.colour(theme.Role.MUTED) if name == "finish" else None


class BatchPage(WorkPage):
    """The table of requests.

    Signals:
        wanted(paths): judge the requests of these files.
        row_chosen(): a row was double-clicked, or Return was pressed on it.
    """

    wanted = Signal(tuple)
    row_chosen = Signal()

    def __init__(self) -> None:
        self.rows = BatchModel()
        super().__init__("batch", self.rows)
        self.paths: tuple[Path, ...] = ()
        self.run_button.setEnabled(False)
        self.field = QLineEdit(placeholderText=ui_text("dialogs.batch.filter"), clearButtonEnabled=True)
        self.field.setAccessibleName(ui_text("dialogs.batch.filter"))
        self.field.setMinimumWidth(180)
        self.causes = QComboBox()
        self.causes.setAccessibleName(ui_text("dialogs.batch.cause"))
        self.causes.setToolTip(ui_text("dialogs.batch.cause"))
        self.causes.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.controls.addWidget(self.causes)
        self.controls.addWidget(self.field)
        self.field.textChanged.connect(self._filter)
        self.causes.activated.connect(self._filter)
        header = self.table.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        self.table.setSortingEnabled(True)
        for column, width in enumerate(_WIDTHS):
            self.table.setColumnWidth(column, width)
        self.table.doubleClicked.connect(lambda _index: self.row_chosen.emit())
        self._show_causes()

    @property
    def chosen(self) -> BatchRow | None:
        """Return the selected row; None without one."""
        at = self.table.currentIndex().row()
        return self.model.rows[at] if 0 <= at < len(self.model.rows) else None

    def open(self, paths: tuple[Path, ...]) -> None:
        """Judge the requests of some files in place of the present ones."""
        if self._is_running:
            self.cancelled.emit()
            self._set_running(is_running=False)
        self.paths = paths
        self.run_button.setEnabled(True)
        self.start()

    def start(self) -> None:
        """Judge the requests from the beginning."""
        if not self._is_running and self.paths:
            self._set_running(is_running=True)
            self.rows.clear()
            self._show_causes()
            self._show_table()
            self.wanted.emit(self.paths)

    def show_answer(self, answer: BatchAnswer) -> None:
        """Add rows, or show why there are none."""
        if not self._is_running:
            return
        self.rows.add(answer.rows)
        self._show_causes()
        if answer.is_complete:
            self._set_running(is_running=False)
            self._show_end(answer.error)
        elif answer.total:
            self.show_progress(Progress(self._counts(), answer.done, answer.total))

    def show_stopped(self) -> None:
        """Show that the user stopped the work; the rows stay."""
        if self._is_running:
            self._set_running(is_running=False)
            self._show_end("")

    def show_progress(self, progress: Progress) -> None:
        """Show how much was read, and the counts so far."""
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * progress.done / (progress.total or 1)))
        self.summary.set_text(progress.what)

    def _show_end(self, error: str) -> None:
        if not self.rows.found:
            self._show_hint(error or ui_text("dialogs.batch.nothing"))
        self.summary.set_text(error or (self._counts() if self.rows.found else ""))
        if self.rows.found and self.chosen is None:
            self.table.selectRow(0)
        announce(self, self.summary.text() or self.hint.text())

    def _counts(self) -> str:
        """Return the number of requests, and of each cause."""
        total = sum(self.rows.causes.values())
        parts = [
            ui_text("dialogs.batch.fragment.count", count=count, cause=cause_text(cause))
            for cause, count in self.rows.causes.most_common()
        ]
        text = ui_text("dialogs.batch.counts", count=total, causes=", ".join(parts))
        if self.rows.left_out:
            text = ui_text("dialogs.batch.left_out", counts=text, count=self.rows.left_out)
        return text

    def _show_causes(self) -> None:
        """Offer the causes that there are as filters."""
        names = sorted(cause_text(cause) for cause in self.rows.causes)
        if [self.causes.itemText(at) for at in range(1, self.causes.count())] == names and self.causes.count():
            return
        chosen = self.causes.currentText()
        self.causes.clear()
        self.causes.addItems([ui_text("dialogs.batch.all_causes"), *names])
        self.causes.setCurrentIndex(max(0, self.causes.findText(chosen)))

    def _filter(self) -> None:
        chosen = self.causes.currentText() if self.causes.currentIndex() > 0 else None
        self.rows.filter(self.field.text(), chosen)


class BatchDialog(QDialog):
    """Shows the requests of a log, and opens one of them.

    Signals:
        check_wanted(BatchRow): check the output of this request.
        replay_wanted(BatchRow): step through its tokens.
    """

    check_wanted = Signal(BatchRow)
    replay_wanted = Signal(BatchRow)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(ui_text("dialogs.batch.title"))
        self.resize(1120, 560)
        self.setAcceptDrops(True)
        self.page = BatchPage()
        about = Label(ui_text("dialogs.batch.about"), wraps=True)
        about.setProperty("role", "muted")
        self.files_button = push_button(ui_text("dialogs.batch.files"), ui_text("dialogs.batch.files_tip"))
        self.folder_button = push_button(ui_text("dialogs.batch.folder"), ui_text("dialogs.batch.folder_tip"))
        self.check_button = push_button(ui_text("dialogs.batch.check"), ui_text("dialogs.batch.check_tip"))
        self.replay_button = push_button(
            ui_text("dialogs.batch.replay"), ui_text("dialogs.batch.replay_tip"), role="primary"
        )
        self.error = Label(wraps=True)
        self.error.setProperty("role", "muted")
        self.error.hide()
        close = push_button(ui_text("common.button.close"), clicked=self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        top, buttons = QHBoxLayout(), QHBoxLayout()
        layout.addLayout(top)
        top.addWidget(self.files_button)
        top.addWidget(self.folder_button)
        top.addWidget(about, 1)
        layout.addWidget(self.page, 1)
        layout.addWidget(self.error)
        layout.addLayout(buttons)
        buttons.addStretch()
        for button in (close, self.check_button, self.replay_button):
            buttons.addWidget(button)
        self.files_button.clicked.connect(self.choose_files)
        self.folder_button.clicked.connect(self.choose_folder)
        self.check_button.clicked.connect(self._check)
        self.replay_button.clicked.connect(self._replay)
        self.page.row_chosen.connect(self._check)
        self.page.table.selectionModel().currentChanged.connect(lambda *_: self._enable())
        self.page.rows.modelReset.connect(self._enable)
        self._enable()

    def show_error(self, text: str) -> None:
        """Show why a request could not be opened; an empty text hides it."""
        self.error.setText(text)
        self.error.setVisible(bool(text))
        if text:
            announce(self, text)

    def choose_files(self) -> None:
        """Ask for files."""
        dialog = self._file_dialog(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(
            [ui_text("dialogs.batch.patterns", patterns="*.jsonl *.ndjson *.log *.json"), ui_text("dialogs.batch.any")]
        )
        dialog.open()

    def choose_folder(self) -> None:
        """Ask for a folder."""
        self._file_dialog(QFileDialog.FileMode.Directory).open()

    def _file_dialog(self, mode: QFileDialog.FileMode) -> QFileDialog:
        dialog = QFileDialog(self, ui_text("dialogs.batch.choose"))
        dialog.setFileMode(mode)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(lambda names: self.page.open(tuple(map(Path, names))))
        return dialog

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files and folders."""
        if _paths_of(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Judge the requests of what is dropped."""
        if paths := _paths_of(event):
            event.acceptProposedAction()
            self.page.open(paths)

    def _check(self) -> None:
        if (row := self.page.chosen) is not None and row.cause is not None:
            self.check_wanted.emit(row)

    def _replay(self) -> None:
        if (row := self.page.chosen) is not None and row.cause is not None:
            self.replay_wanted.emit(row)

    def _enable(self) -> None:
        row = self.page.chosen
        self.check_button.setEnabled(row is not None and row.cause is not None)
        self.replay_button.setEnabled(row is not None and row.has_tokens)


def _paths_of(event: QDropEvent) -> tuple[Path, ...]:
    urls = event.mimeData().urls()
    return tuple(Path(url.toLocalFile()) for url in urls) if urls and all(url.isLocalFile() for url in urls) else ()
