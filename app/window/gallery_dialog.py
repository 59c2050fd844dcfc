"""The gallery: every example with its pattern and what there is to see in it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.document.gallery import Example, examples

_CARD_WIDTH = 648
_MOST_LINES = 6
_ITEM_PADDING = QSize(12, 8)  # what the style sheet puts around the items of every list


class GalleryDialog(QDialog):
    """Choose an example; `chosen` has it after `accepted`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Gallery")
        self.resize(720, 620)
        self._examples = examples()
        title = QLabel("Start from an example")
        title.setProperty("role", "title")
        hint = QLabel("It opens as a new document, with the model and the sampler that show it best.")
        hint.setProperty("role", "muted")
        self.list = QListWidget()
        self.list.setAccessibleName("Examples")
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.itemActivated.connect(lambda _item: self.accept())
        for example in self._examples:
            self._add(example)
        self.list.setCurrentRow(0)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.open_button = QPushButton("Open example")
        self.open_button.setProperty("role", "primary")
        self.open_button.setDefault(True)
        buttons.addButton(self.open_button, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        for widget in (title, hint, self.list, buttons):
            layout.addWidget(widget)
        self.list.setFocus()

    @property
    def chosen(self) -> Example:
        """The example that is selected."""
        return self._examples[self.list.currentRow()]

    def _add(self, example: Example) -> None:
        card = _card(example)
        item = QListWidgetItem()
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{example.title}: {example.description}")
        self.list.addItem(item)
        item.setSizeHint(card.size() + _ITEM_PADDING)
        self.list.setItemWidget(item, card)


def _beginning(source: str) -> str:
    """As many lines of a grammar as leave room for the other cards."""
    lines = source.rstrip().split("\n")
    return "\n".join(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "…"])


def _card(example: Example) -> QWidget:
    card = QFrame()
    heading = QLabel(example.title)
    heading.setProperty("role", "heading")
    pattern = QLabel(_beginning(example.source))
    pattern.setFont(theme.mono_font())
    pattern.setTextFormat(Qt.TextFormat.PlainText)
    description = QLabel(example.description)
    description.setProperty("role", "muted")
    description.setWordWrap(True)
    layout = QVBoxLayout(card)
    layout.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
    layout.setSpacing(theme.SPACE_XS)
    for label in (heading, pattern, description):
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout.addWidget(label)
    card.resize(_CARD_WIDTH, layout.totalHeightForWidth(_CARD_WIDTH))
    return card
