"""The gallery: examples by category, filtered by typing, each with its grammar and its tests.

The text field has the focus: typing filters, the arrow keys move in the list of matches, Return opens one. Rejected: a
card for each example, with its grammar on it. Of fifty, two fit in the window at a time.

Every test has a tick, also one whose text is refused as it should be: that all of them pass is tested for each release.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import in_line
from app.document.gallery import CATEGORIES, Example, category_title, examples
from app.panes.editor.highlighter import Highlighter
from app.theme.buttons import push_button
from app.theme.icons import icon
from app.theme.labels import Label, plain_text
from app.widgets.filter_dialog import FilterDialog
from engine.notations import NOTATIONS
from engine.notations.lexing import plain_line

COUNT = Qt.ItemDataRole.UserRole
_ACCEPTS = Qt.ItemDataRole.UserRole  # of a test: whether it should be accepted
_ROW = 28
_LEAST_TESTS, _MOST_TESTS = 3, 6  # visible rows of the list of tests
_Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """A text on the left, elided if it is too long, and a short muted text on the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the same height for all rows."""
        return QSize(0, max(_ROW, QFontMetrics(option.font).height() + theme.SPACE_S))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the background, then both texts."""
        style = option.widget.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        box = option.rect.adjusted(theme.SPACE_S, 0, -theme.SPACE_S, 0)
        right_text = str(index.data(COUNT) or "")
        metrics = QFontMetrics(option.font)
        vertical = Qt.AlignmentFlag.AlignVCenter
        painter.save()
        painter.setPen(theme.colour(theme.Role.MUTED))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | vertical, right_text)
        available = box.width() - metrics.horizontalAdvance(right_text) - theme.SPACE_S
        painter.setPen(theme.colour(theme.Role.MUTED if right_text == "0" else theme.Role.TEXT))
        text = metrics.elidedText(str(index.data(Qt.ItemDataRole.DisplayRole)), Qt.TextElideMode.ElideRight, available)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | vertical, text)
        painter.restore()


class ExampleView(QWidget):
    """Shows an example: its description, grammar, prompt and tests."""

    def __init__(self) -> None:
        super().__init__()
        self.title = _label("title")
        self.about = _label("muted")
        self.description = _label("")
        self.source = QPlainTextEdit(readOnly=True)
        self.source.setProperty("role", "field")
        self.source.setAccessibleName(ui_text("dialogs.gallery.grammar"))
        self.source.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.source.setTabChangesFocus(True)
        self.prompt = _label("muted")
        self._tests_title = _label("heading")
        self.tests = QListWidget()
        self.tests.setProperty("role", "field")
        self.tests.setAccessibleName(ui_text("dialogs.gallery.tests_list"))
        self.tests.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.tests.setUniformItemSizes(True)
        self.tests.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tests.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._highlighter = Highlighter(self.source, plain_line)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        for widget in (self.title, self.about, self.description):
            layout.addWidget(widget)
        layout.addWidget(self.source, 1)
        for below in (self.prompt, self._tests_title, self.tests):
            layout.addWidget(below)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_example(self, example: Example) -> None:
        """Show another example."""
        self.title.setText(example.title)
        notation, model = example.notation_title, example.model.capitalize()
        self.about.setText(
            ui_text(
                "dialogs.gallery.example", category=category_title(example.category), notation=notation, model=model
            )
        )
        self.description.setText(example.description)
        self._highlighter.set_lexer(NOTATIONS[example.notation].lex_line)
        self.source.setPlainText(example.source.rstrip("\n"))
        prompt = in_line(example.prompt.encode())
        self.prompt.setText(
            ui_text("dialogs.gallery.prompt", prompt=prompt) if prompt else ui_text("dialogs.gallery.no_prompt")
        )
        expected = example.document().test_strings
        self._tests_title.setText(ui_text("dialogs.gallery.tests", count=len(expected)))
        self.tests.clear()
        for one in expected:
            text = in_line(one.text.encode()) or ui_text("common.word.empty")
            expectation = "accepted" if one.accepts else "refused"
            word = ui_text(f"test_strings.table.fragment.{expectation}")
            item = QListWidgetItem(f"{word}  {text}")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{word} {text}")
            item.setIcon(icon("ph.check-circle-fill", theme.Role.ALLOWED))
            item.setToolTip(plain_text(ui_text(f"dialogs.gallery.{expectation}_tip")))
            item.setData(_ACCEPTS, one.accepts)
            self.tests.addItem(item)
        self._colour_tests()
        rows = min(max(len(expected), _LEAST_TESTS), _MOST_TESTS)
        row = self.tests.sizeHintForRow(0) if expected else QFontMetrics(self.tests.font()).height()
        self.tests.setFixedHeight(rows * row + 2 * theme.SPACE_S)

    def _apply_theme(self) -> None:
        self.source.setFont(theme.mono_font())
        self.tests.setFont(theme.mono_font())
        self._highlighter.recolour()
        self._colour_tests()

    def _colour_tests(self) -> None:
        """Show refused texts muted; red would look like a failure."""
        for item in map(self.tests.item, range(self.tests.count())):
            item.setForeground(theme.colour(theme.Role.TEXT if item.data(_ACCEPTS) else theme.Role.MUTED))


def _label(role: str) -> QLabel:
    label = Label(wraps=True)
    if role:
        label.setProperty("role", role)
    return label


_CATEGORIES_WIDTH, _LIST_WIDTH = 184, 328


class GalleryDialog(FilterDialog):
    """A dialog to choose an example.

    Signals:
        opened(Example): the user opens this example.
    """

    opened = Signal(Example)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.list = _list(ui_text("dialogs.gallery.list"), _LIST_WIDTH)
        super().__init__(ui_text("dialogs.gallery.title"), self.list, ui_text("dialogs.gallery.hint"), parent=parent)
        self.resize(1080, 640)
        self._examples = examples()
        self._shown: tuple[Example, ...] = ()
        self.categories = _list(ui_text("dialogs.gallery.categories"), _CATEGORIES_WIDTH)
        self.preview = ExampleView()
        self.nothing = Label(wraps=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.nothing.setProperty("role", "muted")
        self.clear_button = push_button(ui_text("common.button.clear_filter"), clicked=self._clear_filter)
        self.open_button = push_button(ui_text("dialogs.gallery.open"), role="primary", clicked=self.accept)
        self.open_button.setDefault(True)
        self.cancel_button = push_button(ui_text("common.button.cancel"), clicked=self.reject)
        for category in (ui_text("dialogs.gallery.all"), *map(category_title, CATEGORIES)):
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
        title = Label(ui_text("dialogs.gallery.heading"))
        title.setProperty("role", "title")
        hint = Label(ui_text("dialogs.gallery.about"))
        hint.setProperty("role", "muted")
        self._right = QStackedWidget()
        self._right.addWidget(self.preview)
        self._right.addWidget(self._empty_page())
        columns = QHBoxLayout()
        columns.setSpacing(theme.SPACE_M)
        self.count_label = Label()
        self.count_label.setProperty("role", "muted")
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
        buttons.addWidget(self.count_label, 1)
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

    # --- choosing -----------------------------------------------------------------------------------------------------

    def apply_filter(self, _text: str) -> None:
        """Update the counts; if the current category has no match and others do, show all.

        The best match is selected, unless the selected one is as good.
        """
        self._update_list()
        if not self._shown and self.categories.currentRow() > 0 and any(map(self._matches, self._examples)):
            self.categories.setCurrentRow(0)

    def _clear_filter(self) -> None:
        self.field.clear()
        self.field.setFocus()

    def _matches(self, example: Example) -> bool:
        return example.rank(self.field.text()) > 0

    def _update_list(self) -> None:
        """List the matches in the category; the selection is kept if possible."""
        before = self.chosen
        words = self.field.text()
        ranks = {example.title: example.rank(words) for example in self._examples}
        matches = sorted(filter(self._matches, self._examples), key=lambda one: -ranks[one.title])
        row = self.categories.currentRow()
        for number, category in enumerate(("", *CATEGORIES)):
            matching = sum(example.category == category for example in matches) if category else len(matches)
            title = category_title(category) if category else ui_text("dialogs.gallery.all")
            item = self.categories.item(number)
            item.setData(COUNT, f"{matching}")
            item.setData(
                Qt.ItemDataRole.AccessibleTextRole,
                ui_text("dialogs.gallery.category_name", category=title, count=matching),
            )
        shown = tuple(example for example in matches if row <= 0 or example.category == CATEGORIES[row - 1])
        was_blocked = self.list.blockSignals(True)
        self._shown = shown
        self.list.clear()
        for example in shown:
            item = QListWidgetItem(example.title)
            item.setData(COUNT, example.notation_title)
            about = f"{example.title}, {example.notation_title}: {example.description}"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, about)
            item.setToolTip(plain_text(example.description))
            self.list.addItem(item)
        is_kept = before in shown and ranks[before.title] == ranks[shown[0].title]
        self.list.setCurrentRow(shown.index(before) if is_kept else 0)
        self.list.blockSignals(was_blocked)
        self._show()

    def _show(self) -> None:
        example = self.chosen
        self.open_button.setEnabled(example is not None)
        if example is None:
            self.nothing.setText(ui_text("dialogs.gallery.none", filter=self.field.text().strip()))
            self._right.setCurrentIndex(1)
        else:
            self.preview.show_example(example)
            self._right.setCurrentIndex(0)
        shown = len(self._shown)
        self.count_label.setText(
            ui_text("dialogs.gallery.count", count=shown) if shown else ui_text("dialogs.gallery.count_none")
        )


def _list(name: str, width: int) -> QListWidget:
    items = QListWidget()
    items.setAccessibleName(name)
    items.setProperty("role", "field")
    items.setFixedWidth(width)
    items.setItemDelegate(RowDelegate(items))
    items.setUniformItemSizes(True)
    items.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return items
