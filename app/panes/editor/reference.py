"""The quick reference of a notation's syntax; a double click inserts an entry at the cursor."""

from __future__ import annotations

import html

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLineEdit, QTreeView, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.theme import Role
from app.theme.labels import Label, plain_text
from app.widgets.keyboard import FieldKeys
from app.widgets.rich_text import code
from engine.notations.reference import ReferenceEntry, ReferenceGroup

_ENTRY = Qt.ItemDataRole.UserRole
_SEARCH_TEXT = Qt.ItemDataRole.UserRole + 1


class ReferencePage(QWidget):
    """Lists the syntax of a notation.

    Signals:
        chosen(text, caret): insert this text at the cursor, which then moves to an offset in it.
        focus_left: return the focus to the editor.
    """

    focus_left = Signal()
    chosen = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._groups: tuple[ReferenceGroup, ...] = ()
        self._width = 0  # of the column of forms, in pixels
        self._model = QStandardItemModel(self)
        self._proxy = QSortFilterProxyModel(self)
        self._proxy.setSourceModel(self._model)
        self._proxy.setRecursiveFilteringEnabled(True)
        self._proxy.setAutoAcceptChildRows(True)
        self._proxy.setFilterRole(_SEARCH_TEXT)
        self._proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.field = QLineEdit()
        self.field.setPlaceholderText(ui_text("editor.reference.filter_hint"))
        self.field.setAccessibleName(ui_text("editor.reference.filter"))
        self.field.setClearButtonEnabled(True)
        FieldKeys(self.field, lambda _step: self._choose(self.tree.currentIndex()), self._leave_field, self._go_down)
        self.tree = _Tree()
        self.tree.setModel(self._proxy)
        self.example_label = Label(is_html=True, wraps=True)
        self.example_label.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        self.example_label.setAccessibleName(ui_text("editor.reference.example_name"))
        head = QVBoxLayout()
        head.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        head.addWidget(self.field)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.example_label)
        self.setFocusProxy(self.field)
        self.field.textChanged.connect(self._filter)
        self.tree.entered_by_key.connect(self._choose)
        self.tree.doubleClicked.connect(self._choose)
        self.tree.selectionModel().currentChanged.connect(lambda index, _before: self._show_example(index))
        theme.themes.changed.connect(self._recolour)

    def show_groups(self, groups: tuple[ReferenceGroup, ...]) -> None:
        """List the constructs of a notation."""
        if groups != self._groups:
            self._groups = groups
            self._fill()

    def entry(self, index: QModelIndex) -> ReferenceEntry | None:
        """Return the entry of a row; None for a heading."""
        found = index.siblingAtColumn(0).data(_ENTRY)
        return found if isinstance(found, ReferenceEntry) else None

    def _fill(self) -> None:
        self._model.clear()
        mono, muted = theme.mono_font(), theme.colour(Role.MUTED)
        widest = max((len(entry.form) for group in self._groups for entry in group.entries), default=0)
        self._width = QFontMetrics(mono).horizontalAdvance("0") * (widest + 1) + 3 * theme.SPACE_L
        for group in self._groups:
            heading = QStandardItem(group.title)
            font = theme.ui_font()
            font.setBold(True)
            heading.setFont(font)
            heading.setData(group.title, _SEARCH_TEXT)
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            for entry in group.entries:
                form, meaning = QStandardItem(entry.form), QStandardItem(entry.meaning)
                form.setFont(mono)
                form.setData(entry, _ENTRY)
                form.setData(f"{entry.form} {entry.meaning} {group.title}", _SEARCH_TEXT)
                form.setData(f"{entry.form}: {entry.meaning}", Qt.ItemDataRole.AccessibleTextRole)
                meaning.setForeground(muted)
                meaning.setToolTip(plain_text(entry.meaning))
                heading.appendRow([form, meaning])
            self._model.appendRow([heading, QStandardItem()])
        self._filter(self.field.text())

    def _span(self) -> None:
        """Let headings span both columns, and expand all of them."""
        for row in range(self._proxy.rowCount()):
            self.tree.setFirstColumnSpanned(row, QModelIndex(), True)
        self.tree.expandAll()
        self.tree.setColumnWidth(0, self._width)

    def _filter(self, text: str) -> None:
        self._proxy.setFilterFixedString(text)
        self._span()
        first = self._proxy.index(0, 0)
        if text and first.isValid() and self._proxy.hasChildren(first):
            self.tree.setCurrentIndex(self._proxy.index(0, 0, first))
        elif text and not first.isValid():
            self.example_label.setText(ui_text("editor.reference.none", text=code(text)))
        elif not text:
            self._show_example(self.tree.currentIndex())

    def _choose(self, index: QModelIndex) -> None:
        entry = self.entry(index)
        if entry is not None:
            self.chosen.emit(entry.text, entry.caret)

    def _show_example(self, index: QModelIndex) -> None:
        """Show the example of a row; without one, a hint."""
        entry = self.entry(index) if index.isValid() else None
        if entry is None:
            self.example_label.setText(ui_text("editor.reference.hint"))
            return
        meaning, example = html.escape(entry.meaning), code(entry.example)
        if entry.takes:
            self.example_label.setText(
                ui_text("editor.reference.example_with_text", meaning=meaning, example=example, text=code(entry.takes))
            )
        else:
            self.example_label.setText(ui_text("editor.reference.example", meaning=meaning, example=example))

    def _go_down(self) -> None:
        self.tree.setFocus()
        if not self.tree.currentIndex().isValid():
            self.tree.setCurrentIndex(self._proxy.index(0, 0, self._proxy.index(0, 0)))

    def _leave_field(self) -> None:
        if self.field.text():
            self.field.clear()
        else:
            self.focus_left.emit()

    def _recolour(self) -> None:
        self._fill()


class _Tree(QTreeView):
    """A tree view in which Return acts on the current row on every platform."""

    entered_by_key = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(ui_text("editor.reference.name"))
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(theme.SPACE_M)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Insert the entry on Return or Enter."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.currentIndex().isValid():
            self.entered_by_key.emit(self.currentIndex())
            return
        super().keyPressEvent(event)
