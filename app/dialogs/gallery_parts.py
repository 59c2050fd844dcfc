"""The parts of the gallery: the delegate of its lists, and the view of an example."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.display_text import count, in_line
from app.document.gallery import NOTATIONS, Example
from app.panes.editor.highlighter import Highlighter
from app.panes.editor.tokenisers import TOKENISERS
from app.panes.editor.tokens import plain
from app.theme.labels import Label
from app.theme.plain_text import plain_text

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
        self.source.setAccessibleName("Grammar of the example")
        self.source.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.source.setTabChangesFocus(True)
        self.prompt = _label("muted")
        self._tests_title = _label("heading")
        self.tests = QListWidget()
        self.tests.setProperty("role", "field")
        self.tests.setAccessibleName("Tests of the example")
        self.tests.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.tests.setUniformItemSizes(True)
        self.tests.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tests.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._highlighter = Highlighter(self.source.document(), plain)
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
        self.about.setText(f"{example.category} · {NOTATIONS[example.notation]} · model {example.model.capitalize()}")
        self.description.setText(example.description)
        # Clear the text first, or the new colours would be applied to the old text.
        self.source.setPlainText("")
        self._highlighter.set_tokeniser(TOKENISERS[example.notation])
        self.source.setPlainText(example.source.rstrip("\n"))
        prompt = in_line(example.prompt.encode())
        self.prompt.setText(f"Prompt: {prompt}" if prompt else "No prompt")
        expected = example.document().test_strings
        self._tests_title.setText(f"{count(len(expected), 'test')}")
        self.tests.clear()
        for one in expected:
            text = in_line(one.text.encode()) or "(empty)"
            item = QListWidgetItem(f"{'✓' if one.accepts else '✗'}  {text}")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{'accept' if one.accepts else 'refuse'} {text}")
            item.setToolTip(plain_text(f"Should be {'accepted' if one.accepts else 'refused'}"))
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
        for item in map(self.tests.item, range(self.tests.count())):
            item.setForeground(theme.colour(theme.Role.ALLOWED if item.data(_ACCEPTS) else theme.Role.FORBIDDEN))


def _label(role: str) -> QLabel:
    label = Label(wraps=True)
    if role:
        label.setProperty("role", role)
    return label
