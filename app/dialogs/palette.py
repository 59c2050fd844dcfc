"""The command palette: type some characters of a command, press Return."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import Actions, native
from app.theme.plain_text import plain_text

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


class CommandPalette(QDialog):
    """Lists the commands that match, and runs the chosen one."""

    def __init__(self, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Command palette")
        self.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.setProperty("role", "popup")
        self._actions = actions
        self.field = QLineEdit()
        self.field.setPlaceholderText("Type a command")
        self.field.setAccessibleName("Command")
        self.field.setClearButtonEnabled(True)
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands")
        self.list.setItemDelegate(_CommandDelegate(self.list))
        self.list.setIconSize(QSize(_ICON, _ICON))
        self.list.itemActivated.connect(lambda _item: self._run())
        self.list.itemClicked.connect(lambda _item: self._run())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        self._filter("")
        self.resize(520, 380)
        corner = parent.mapToGlobal(parent.rect().center())
        self.move(corner.x() - self.width() // 2, parent.mapToGlobal(parent.rect().topLeft()).y() + 64)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Forward the arrow keys and Return of the field to the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self.list.setCurrentRow((self.list.currentRow() + step) % max(self.list.count(), 1))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.list.clear()
        blank = QPixmap(_ICON, _ICON)
        blank.fill(Qt.GlobalColor.transparent)
        for command, action in self._actions:
            title = f"{command.menu}: {command.text.rstrip('…')}"
            if action.isEnabled() and command.id != "edit.palette" and matches(text, title):
                keys = native(action.shortcut())
                item = QListWidgetItem(QIcon(blank) if action.icon().isNull() else action.icon(), title)
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}, {keys}" if keys else title)
                item.setData(_KEYS, keys)
                item.setToolTip(plain_text(command.tip))
                item.setData(_ACTION, action)
                self.list.addItem(item)
        if not self.list.count():
            nothing = QListWidgetItem("No command matches")
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)
        self.list.setCurrentRow(0)

    def _run(self) -> None:
        item = self.list.currentItem()
        self.accept()
        action: QAction | None = item.data(_ACTION) if item is not None else None
        if action is not None:
            action.trigger()


def matches(typed: str, title: str) -> bool:
    """Return whether the typed characters occur in the title in this order, ignoring spaces."""
    remaining = iter(title.lower())
    return all(character in remaining for character in typed.lower() if not character.isspace())
