"""The gallery: examples by category, filtered by typing, each with its grammar and its tests.

The text field has the focus: typing filters, the arrow keys move in the list of matches, Return opens one. Rejected: a
card for each example, with its grammar on it. Of fifty, two fit in the window at a time.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.dialogs.gallery_parts import COUNT, ExampleView, RowDelegate
from app.display_text import count
from app.document.gallery import CATEGORIES, NOTATIONS, Example, examples
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.widgets.filter_dialog import FilterDialog

_ALL = "All examples"
_CATEGORIES_WIDTH, _LIST_WIDTH = 184, 328


class GalleryDialog(FilterDialog):
    """A dialog to choose an example.

    Signals:
        opened(Example): the user opens this example.
    """

    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.list = _list("Examples", _LIST_WIDTH)
        super().__init__("Gallery", self.list, "Filter by words, such as tool, date or gbnf", parent=parent)
        self.resize(1080, 640)
        self._examples = examples()
        self._shown: tuple[Example, ...] = ()
        self.categories = _list("Categories", _CATEGORIES_WIDTH)
        self.preview = ExampleView()
        self.nothing = Label(wraps=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.nothing.setProperty("role", "muted")
        self.clear_button = push_button("Clear the filter")
        self.open_button = push_button("Open example", role="primary")
        self.open_button.setDefault(True)
        self.cancel_button = push_button("Cancel")
        for category in (_ALL, *CATEGORIES):
            self.categories.addItem(QListWidgetItem(category))
        self._lay_out()
        self._connect()
        self.categories.setCurrentRow(0)
        self.field.setFocus()

    @property
    def chosen(self) -> Example | None:
        """Return the selected example; None if none matches the filter."""
        row = self.list.currentRow()
        return self._shown[row] if 0 <= row < len(self._shown) else None

    def accept(self) -> None:
        """Open the selected example; without one, do nothing."""
        example = self.chosen
        if example is not None:
            super().accept()
            self.opened.emit(example)

    # --- building -----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        title = Label("Start from an example")
        title.setProperty("role", "title")
        hint = Label("It opens as a new document, with its tests, and the model and the sampler that show it best.")
        hint.setProperty("role", "muted")
        self._right = QStackedWidget()
        self._right.addWidget(self.preview)
        self._right.addWidget(self._empty_page())
        columns = QHBoxLayout()
        columns.setSpacing(theme.SPACE_M)
        self.told = Label()
        self.told.setProperty("role", "muted")
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        for widget in (title, hint, self.field):
            layout.addWidget(widget)
        layout.addLayout(columns, 1)
        columns.addWidget(self.categories)
        columns.addWidget(self.list)
        columns.addWidget(self._right, 1)
        layout.addLayout(buttons)
        buttons.addWidget(self.told, 1)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.open_button)

    def _empty_page(self) -> QWidget:
        page = QFrame()
        page.setProperty("role", "card")
        column = QVBoxLayout(page)
        column.setSpacing(theme.SPACE_S)
        column.addStretch()
        column.addWidget(self.nothing)
        column.addWidget(self.clear_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()
        return page

    def _connect(self) -> None:
        self.categories.currentRowChanged.connect(lambda _row: self._update_list())
        self.list.currentRowChanged.connect(lambda _row: self._show())
        self.list.itemDoubleClicked.connect(lambda _item: self.accept())
        self.clear_button.clicked.connect(self._clear_filter)
        self.open_button.clicked.connect(self.accept)
        self.cancel_button.clicked.connect(self.reject)

    # --- choosing -----------------------------------------------------------------------------------------------------

    def apply_filter(self, _text: str) -> None:
        """Update the counts; if the current category has no match and others do, show all."""
        self._update_list()
        if not self._shown and self.categories.currentRow() > 0 and any(map(self._matches, self._examples)):
            self.categories.setCurrentRow(0)

    def _clear_filter(self) -> None:
        self.field.clear()
        self.field.setFocus()

    def _matches(self, example: Example) -> bool:
        return example.has(self.field.text())

    def _update_list(self) -> None:
        """List the matches in the category; the selection is kept if possible."""
        before = self.chosen
        matches = tuple(filter(self._matches, self._examples))
        row = self.categories.currentRow()
        for number, category in enumerate((_ALL, *CATEGORIES)):
            matching = sum(number == 0 or example.category == category for example in matches)
            item = self.categories.item(number)
            item.setData(COUNT, f"{matching}")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{category}, {count(matching, 'example')}")
        shown = tuple(example for example in matches if row <= 0 or example.category == CATEGORIES[row - 1])
        was_blocked = self.list.blockSignals(True)
        self._shown = shown
        self.list.clear()
        for example in shown:
            item = QListWidgetItem(example.title)
            item.setData(COUNT, NOTATIONS[example.notation])
            about = f"{example.title}, {NOTATIONS[example.notation]}: {example.description}"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, about)
            item.setToolTip(plain_text(example.description))
            self.list.addItem(item)
        self.list.setCurrentRow(shown.index(before) if before in shown else 0)
        self.list.blockSignals(was_blocked)
        self._show()

    def _show(self) -> None:
        example = self.chosen
        self.open_button.setEnabled(example is not None)
        if example is None:
            self.nothing.setText(f"No example has “{self.field.text().strip()}”.")
            self._right.setCurrentIndex(1)
        else:
            self.preview.show_example(example)
            self._right.setCurrentIndex(0)
        keys = " · ↑ ↓ to walk, Return to open" if self._shown else ""
        self.told.setText(f"{count(len(self._shown), 'example')}{keys}")


def _list(name: str, width: int) -> QListWidget:
    items = QListWidget()
    items.setAccessibleName(name)
    items.setProperty("role", "field")
    items.setFixedWidth(width)
    items.setItemDelegate(RowDelegate(items))
    items.setUniformItemSizes(True)
    items.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return items
