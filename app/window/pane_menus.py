"""Context menus of the panes: copy the row under the pointer, and the commands that the pane declares.

A widget of a pane that has a menu of its own, such as a text or the drawing, keeps it. All others leave the request to
their pane, where it arrives.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QWidget

from app.catalogue import ui_text
from app.commands import Commands
from app.theme.mnemonics import add_mnemonics


def give_pane_menu(pane: QWidget, commands: Commands, ids: tuple[str, ...]) -> None:
    """Give a pane its context menu.

    Args:
        pane: the pane.
        commands: the commands of the window.
        ids: those in the menu of the pane.
    """
    _PaneMenu(pane, commands, ids)


class _PaneMenu(QObject):
    """Opens the context menu of one pane."""

    def __init__(self, pane: QWidget, commands: Commands, ids: tuple[str, ...]) -> None:
        super().__init__(pane)
        self._pane, self._commands, self._ids = pane, commands, ids
        pane.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Open the menu where nothing in the pane has one."""
        if not isinstance(event, QContextMenuEvent):
            return False
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        at = self._pane.childAt(event.pos()) if by_mouse else QApplication.focusWidget()
        view = _view_of(at, self._pane)
        index = QModelIndex()
        if view is not None:
            index = view.indexAt(view.viewport().mapFromGlobal(event.globalPos())) if by_mouse else view.currentIndex()
        menu = self._make_menu(index)
        if menu.isEmpty():
            menu.deleteLater()
            return False
        corner = view.viewport().mapToGlobal(view.visualRect(index).bottomLeft()) if view and index.isValid() else None
        menu.popup(event.globalPos() if by_mouse or corner is None else corner)
        return True

    def _make_menu(self, index: QModelIndex) -> QMenu:
        menu = QMenu(self._pane)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        if text := _row_text(index):
            menu.addAction(ui_text("window.pane_menu.copy"), lambda: QGuiApplication.clipboard().setText(text))
            menu.addSeparator()
        menu.addActions([self._commands[command_id] for command_id in self._ids])
        add_mnemonics(menu)
        return menu


def _view_of(widget: QWidget | None, pane: QWidget) -> QAbstractItemView | None:
    """Return the list, table or tree of a pane that a widget is in."""
    while widget is not None and widget is not pane:
        if isinstance(widget, QAbstractItemView):
            return widget
        widget = widget.parentWidget()
    return None


def _row_text(index: QModelIndex) -> str:
    """Return the texts of a row, with tabs between them; empty for an invalid index."""
    if not index.isValid():
        return ""
    model, above = index.model(), index.parent()
    cells = [index.siblingAtColumn(column).data() for column in range(model.columnCount(above))]
    return "\t".join(str(cell) for cell in cells if cell not in (None, "")).strip()
