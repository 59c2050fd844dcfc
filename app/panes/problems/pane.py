"""The problems pane: every finding about the grammar, in source order, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStackedWidget, QTableView, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import command
from app.display_text import unmarked
from app.models.findings import ICONS, kind_text, sign_of, sign_text
from app.models.rows import rest_of_row
from app.theme import Role
from app.theme.icons import icon
from app.theme.labels import Label, plain_text
from app.widgets.keyboard import delegate_focus
from engine.diagnosis.fixes import Fix, fixes
from engine.source import Diagnostic, Severity, SourceText, Span

_COLUMNS = ("severity", "location", "message", "hint", "fix")
SEVERITY, LOCATION, MESSAGE, HINT, FIX = range(len(_COLUMNS))
_MAX_FIXED_LENGTH = 30_000  # code points; in a longer text, computing the fixes of all visible rows takes too long

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_SHARES = {HINT: 0.3, FIX: 0.25}  # of the width that severity and location leave


class ProblemsModel(QAbstractTableModel):
    """A model with one row for each finding."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._findings: tuple[Diagnostic, ...] = ()
        self._source = SourceText("")
        self._fixes: dict[int, tuple[Fix, ...]] = {}

    def show(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        """Replace the findings."""
        self.beginResetModel()
        self._findings = tuple(sorted(diagnostics, key=lambda finding: (finding.span, finding.code)))
        self._source = source
        self._fixes = {}
        self.endResetModel()

    def finding(self, row: int) -> Diagnostic:
        """Return the finding of a row."""
        return self._findings[row]

    def fixes(self, row: int) -> tuple[Fix, ...]:
        """Return the fixes of the finding of a row, computed when the row is first shown."""
        if len(self._source.text) > _MAX_FIXED_LENGTH:
            return ()
        if row not in self._fixes:
            self._fixes[row] = fixes(self._source.text, self._findings[row])
        return self._fixes[row]

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of findings."""
        return 0 if parent.isValid() else len(self._findings)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(_COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the titles."""
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        is_titled = SEVERITY < section < len(_COLUMNS)
        return ui_text(f"problems.pane.column.{_COLUMNS[section]}") if is_titled else ""

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the texts, the severity's icon, the fix as a link, and the code or all fixes as a tooltip."""
        if not index.isValid():
            return None
        finding = self._findings[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._fix(index.row()) if index.column() == FIX else self._text(finding, index.column())
        if role == Qt.ItemDataRole.ForegroundRole and index.column() == FIX:
            return theme.colour(Role.ACCENT)
        if role == Qt.ItemDataRole.DecorationRole and index.column() == SEVERITY:
            return icon(*ICONS[sign_of(finding)])
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == FIX:
            return plain_text(unmarked("\n".join(fix.title for fix in self.fixes(index.row())))) or None
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and index.column() == SEVERITY:
            return rest_of_row(index)
        if role == Qt.ItemDataRole.ToolTipRole:
            text = f"{kind_text(finding)}: {finding.message}\n{finding.hint}\n{finding.code}"
            return plain_text(unmarked(text.replace("\n\n", "\n")))
        return None

    def _fix(self, row: int) -> str:
        available = self.fixes(row)
        if not available:
            return ""
        first = unmarked(available[0].title)
        if len(available) == 1:
            return first
        return ui_text("problems.pane.more_fixes", fix=first, count=len(available) - 1)

    def _text(self, finding: Diagnostic, column: int) -> str:
        if column == SEVERITY:
            return sign_text(sign_of(finding))
        if column == LOCATION:
            line, column = self._source.line_column(finding.span.start)
            return f"{line}:{column}"
        return unmarked(finding.message if column == MESSAGE else finding.hint)


class ProblemsPane(QWidget):
    """Lists the problems.

    Signals:
        activated: the span of a finding that was clicked, entered, or reached by `go_to_next`.
        fix_wanted: a `Diagnostic` to fix.
    """

    activated = Signal(Span)
    fix_wanted = Signal(Diagnostic)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ProblemsModel(self)
        self.table = _Table()
        self.table.setModel(self.model)
        self._set_columns()
        self._nothing = Label(ui_text("problems.pane.empty"))
        self._nothing.setProperty("role", "empty")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.table)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        delegate_focus(self, self.table)
        self.table.clicked.connect(self._click)
        self.table.entered_by_key.connect(self._activate)

    def show_diagnostics(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        """List findings about a text."""
        self.model.show(diagnostics, source)
        self._stack.setCurrentWidget(self.table if diagnostics else self._nothing)

    @property
    def is_empty(self) -> bool:
        """Return whether there is no problem."""
        return self.model.rowCount() == 0

    @property
    def is_pressing(self) -> bool:
        """Return whether there is an error or a warning, not only hints."""
        rows = range(self.model.rowCount())
        return any(self.model.finding(row).severity is not Severity.HINT for row in rows)

    @command("edit.problem", "F8", place=(7, 1), repeats=True)
    def go_to_next(self) -> None:
        """Go to the finding after the current one, or to the first."""
        count = self.model.rowCount()
        if count:
            current = self.table.currentIndex()
            row = (current.row() + 1) % count if current.isValid() else 0
            self.table.setCurrentIndex(self.model.index(row, MESSAGE))
            self._activate(self.model.index(row, MESSAGE))

    def fix_current(self) -> None:
        """Fix the finding of the current row."""
        index = self.table.currentIndex()
        if index.isValid():
            self.fix_wanted.emit(self.model.finding(index.row()))

    def _click(self, index: QModelIndex) -> None:
        if index.column() == FIX and self.model.fixes(index.row()):
            self.fix_wanted.emit(self.model.finding(index.row()))
        else:
            self._activate(index)

    def _activate(self, index: QModelIndex) -> None:
        span: Span = self.model.finding(index.row()).span
        self.activated.emit(span)

    def _set_columns(self) -> None:
        metrics = QFontMetrics(theme.ui_font())
        header = self.table.horizontalHeader()
        widest = max(metrics.horizontalAdvance(sign_text(sign)) for sign in ICONS)
        self.table.setColumnWidth(SEVERITY, widest + 24 + 3 * theme.SPACE_S)
        self.table.setColumnWidth(LOCATION, metrics.horizontalAdvance("1000:1000") + 2 * theme.SPACE_S)
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)


class _Table(QTableView):
    """A table in which Return acts on the current row on every platform."""

    entered_by_key = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(ui_text("problems.pane.name"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width among the texts; the problem takes the rest, as the longest of them."""
        left = self.viewport().width() - self.columnWidth(SEVERITY) - self.columnWidth(LOCATION)
        for column, share in _SHARES.items():
            self.setColumnWidth(column, max(0, int(left * share)))
        super().resizeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the finding on Return or Enter."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self.entered_by_key.emit(self.currentIndex())
            return
        super().keyPressEvent(event)
