"""The command palette: type some characters of a command, press Return."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import Command, Commands, menu_title, native
from app.theme.labels import plain_text
from app.widgets.filter_dialog import FilterDialog

_ACTION = Qt.ItemDataRole.UserRole
_KEYS = Qt.ItemDataRole.UserRole + 1
_ROW = 28
_ICON = 18


class _CommandDelegate(QStyledItemDelegate):
    """A command on the left, its keys on the right, all rows of the same height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the row's own width, and the common height."""
        return QSize(super().sizeHint(option, index).width(), _ROW)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint the keys over a plain item."""
        super().paint(painter, option, index)
        painter.setPen(theme.colour(theme.Role.MUTED))
        box = option.rect.adjusted(0, 0, -theme.SPACE_M, 0)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, index.data(_KEYS) or "")


class CommandPalette(FilterDialog):
    """Lists the commands that match, and runs the chosen one."""

    def __init__(self, actions: Commands, parent: QWidget) -> None:
        self.list = QListWidget()
        super().__init__(
            ui_text("commands.edit.palette.title").rstrip("…"),
            self.list,
            ui_text("dialogs.palette.hint"),
            field_name=ui_text("dialogs.palette.field"),
            parent=parent,
        )
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.setProperty("role", "popup")
        self._actions = actions
        self.list.setAccessibleName(ui_text("dialogs.palette.list"))
        self.list.setItemDelegate(_CommandDelegate(self.list))
        self.list.setIconSize(QSize(_ICON, _ICON))
        self.list.itemActivated.connect(lambda _item: self.accept())
        self.list.itemClicked.connect(lambda _item: self.accept())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self.apply_filter("")
        self.resize(520, 380)
        corner = parent.mapToGlobal(parent.rect().center())
        self.move(corner.x() - self.width() // 2, parent.mapToGlobal(parent.rect().topLeft()).y() + 64)

    def apply_filter(self, text: str) -> None:
        """List the enabled commands whose title has the text, then other matching titles, then matching synonyms."""
        self.list.clear()
        enabled = [
            (command, action)
            for command, action in self._actions
            if action.isEnabled() and command.id != "edit.palette"
        ]
        by_title = [matches(text, _full_title(command)) for command, _ in enabled]
        typed = text.casefold().strip()
        by_synonym = [any(typed in word for word in command.synonyms) for command, _ in enabled]
        titles = [pair for pair, is_match in zip(enabled, by_title, strict=True) if is_match]
        for command, action in sorted(titles, key=lambda pair: typed not in _full_title(pair[0]).casefold()):
            self._add(command, action)
        for (command, action), is_match, is_synonym in zip(enabled, by_title, by_synonym, strict=True):
            if is_synonym and not is_match:
                self._add(command, action)
        if not self.list.count():
            nothing = QListWidgetItem(ui_text("dialogs.palette.empty"))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)
        self.list.setCurrentRow(0)

    def _add(self, command: Command, action: QAction) -> None:
        blank = QPixmap(_ICON, _ICON)
        blank.fill(Qt.GlobalColor.transparent)
        title, keys = _full_title(command), native(action.shortcut())
        item = QListWidgetItem(QIcon(blank) if action.icon().isNull() else action.icon(), title)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}, {keys}" if keys else title)
        item.setData(_KEYS, keys)
        item.setToolTip(plain_text(command.tip))
        item.setData(_ACTION, action)
        self.list.addItem(item)

    def accept(self) -> None:
        """Close the palette and run the selected command."""
        item = self.list.currentItem()
        super().accept()
        action: QAction | None = item.data(_ACTION) if item is not None else None
        if action is not None:
            action.trigger()


def _full_title(command: Command) -> str:
    return f"{menu_title(command.menu)}: {command.title.rstrip('…')}"


def matches(typed: str, title: str) -> bool:
    """Return whether the typed characters occur in the title in this order, ignoring spaces."""
    remaining = iter(title.lower())
    return all(character in remaining for character in typed.lower() if not character.isspace())
