"""The tabs of the open documents, above all that shows one of them; hidden while there is one document."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QSignalBlocker, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QTabBar

from app.catalogue import ui_text
from app.commands import DECLARED, command, set_tip
from app.document import Document, OpenDocument
from app.theme.buttons import close_button
from app.theme.labels import plain_text
from app.theme.mnemonics import add_mnemonics

_SEVERAL = 2
_CROSS = 18
_MODIFIED_SIGN = " •"


def _single(tabs: DocumentTabs, _step: int = 0) -> str:
    return "" if tabs.count() >= _SEVERAL else ui_text("window.tabs.single")


class DocumentTabs(QTabBar):
    """A tab for each open document.

    A click shows it, the middle button or the cross closes it, and it can be dragged to another place.

    Args:
        document: the open documents.
        close: closes one of them, unless the user would lose work.
    """

    def __init__(self, document: Document, close: Callable[[OpenDocument], object]) -> None:
        super().__init__()
        self._document, self._close = document, close
        self.setObjectName("documents")
        self.setAccessibleName(ui_text("window.tabs.name"))
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.currentChanged.connect(self._show_at)
        self.tabMoved.connect(lambda before, after: document.move(document.documents[before], after))
        document.documents_changed.connect(self._follow)
        document.title_changed.connect(self._follow)
        self._follow()

    @command("view.next_document", "Ctrl+PgDown", "Ctrl+Tab", place=(7, 1), arguments=(1,), refusal=_single)
    @command("view.previous_document", "Ctrl+PgUp", "Ctrl+Shift+Tab", place=(7, 2), arguments=(-1,), refusal=_single)
    def go(self, step: int) -> None:
        """Show the next document (1), or the one before (-1); the first follows the last."""
        self._show_at((self.currentIndex() + step) % self.count())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Close a tab with the middle button."""
        super().mouseReleaseEvent(event)
        index = self.tabAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.MiddleButton and index >= 0:
            self._close(self._document.documents[index])

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show what can be done with a tab."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        index = self.tabAt(event.pos()) if by_mouse else self.currentIndex()
        if index >= 0:
            below = self.mapToGlobal(self.tabRect(index).bottomLeft())
            self._make_menu(self._document.documents[index]).popup(event.globalPos() if by_mouse else below)

    def changeEvent(self, event: QEvent) -> None:
        """Fit the tabs to another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._follow()

    def _make_menu(self, one: OpenDocument) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName("document-menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(ui_text("common.button.close"), lambda: self._close(one))
        others = menu.addAction(ui_text("window.tabs.close_others"), partial(self._close_others, one))
        others.setEnabled(self.count() >= _SEVERAL)
        menu.addSeparator()
        copy = menu.addAction(
            ui_text("window.tabs.copy_path"), lambda: QGuiApplication.clipboard().setText(str(one.path))
        )
        copy.setEnabled(one.path is not None)
        add_mnemonics(menu)
        return menu

    def _close_others(self, kept: OpenDocument) -> None:
        for one in self._document.documents:
            if one is not kept and not self._close(one):
                return

    def _show_at(self, index: int) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and focused is not self:
            focused.clearFocus()  # a row that is being edited is stored in the document that it belongs to
        self._document.show(self._document.documents[index])

    def _follow(self) -> None:
        documents = self._document.documents
        with QSignalBlocker(self):
            while self.count() > len(documents):
                self.removeTab(self.count() - 1)
            while self.count() < len(documents):
                self._add_tab()
            for index, one in enumerate(documents):
                self._show_title(index, one)
            self.setCurrentIndex(documents.index(self._document.shown))
        self.setVisible(len(documents) >= _SEVERAL)

    def _add_tab(self) -> None:
        button = close_button(ui_text("common.button.close"))
        button.setFixedSize(_CROSS, _CROSS)
        set_tip(button, DECLARED["file.close"].tip, "file.close")
        button.clicked.connect(lambda: self._close(self._document.documents[self._index_of(button)]))
        self.setTabButton(self.addTab(""), QTabBar.ButtonPosition.RightSide, button)

    def _index_of(self, button: object) -> int:
        right = QTabBar.ButtonPosition.RightSide
        return next(index for index in range(self.count()) if self.tabButton(index, right) is button)

    def _show_title(self, index: int, one: OpenDocument) -> None:
        text = f"{one.title}{_MODIFIED_SIGN if one.is_modified else ''}".replace("&", "&&")
        spoken = ui_text("window.toolbar.modified", title=one.title) if one.is_modified else one.title
        where = str(one.path) if one.path is not None else ui_text("window.tabs.no_file")
        if (text, where) != (self.tabText(index), self.tabData(index)):
            self.setTabText(index, text)
            self.setTabData(index, where)
            self.setAccessibleTabName(index, spoken)
            self.setTabToolTip(index, plain_text(f"{spoken}\n{where}"))
