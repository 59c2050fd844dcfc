"""Pages below a text, in tabs that can be collapsed.

Collapsed, only the tab bar is visible, and the text has the remaining height. A click on a tab expands it, a click on
the current one collapses all. A page may be a `Lazy`, which is built when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.catalogue import ui_text
from app.storage import is_small_number
from app.widgets.lazy import Lazy

_SHARE = 0.45  # of the height, for a page that opens
_LEAST = 120  # of a page, so that a few rows are readable
_SAVED = "editor pages"
_NO_MAXIMUM = 16_777_215  # Qt's QWIDGETSIZE_MAX, which PySide does not export

Page: TypeAlias = "QWidget | Lazy[Any]"


class Pages(QSplitter):
    """A text above pages in tabs.

    Signals:
        shown(widget): another page is visible now; None if they are collapsed.
    """

    shown = Signal(QWidget)

    def __init__(self, text: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._is_open = False
        self._height: int | None = None  # as set by the user
        self._holders: dict[Page, QWidget] = {}
        self._last_shown: QWidget | None = None
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName(ui_text("editor.header.pages"))
        self.tabs.hide()  # until there is a page
        stacked = self.tabs.findChild(QStackedWidget)
        assert isinstance(stacked, QStackedWidget)
        self._stacked = stacked
        self.setChildrenCollapsible(False)
        self.addWidget(text)
        self.addWidget(self.tabs)
        self.setStretchFactor(0, 1)
        self.splitterMoved.connect(lambda _place, _index: self._store_height())
        self.tabs.tabBarClicked.connect(self._on_click)
        self.tabs.currentChanged.connect(lambda _index: self._emit_shown())

    @property
    def current(self) -> QWidget | None:
        """Return the visible page; None if the pages are collapsed."""
        page = self._page_at(self.tabs.currentIndex())
        return _widget(page) if page is not None and self._is_open else None

    def add_page(self, page: Page, title: str) -> None:
        """Add a tab, which the user can open."""
        holder = QWidget()
        layout = QVBoxLayout(holder)
        layout.setContentsMargins(0, 0, 0, 0)
        self._holders[page] = holder
        if isinstance(page, Lazy):
            page.when_built(layout.addWidget)
        else:
            layout.addWidget(page)
        self.tabs.addTab(holder, title)
        self.tabs.show()
        self._update_height()

    def set_page_visible(self, page: Page, is_visible: bool) -> None:
        """Show or hide a tab; hiding the open page collapses the pages."""
        index = self.tabs.indexOf(self._holders[page])
        if not is_visible and self._is_open and self.tabs.currentIndex() == index:
            self.collapse()
        self.tabs.setTabVisible(index, is_visible)

    def open(self, page: Page) -> None:
        """Expand a page."""
        self._is_open = True
        self.tabs.setCurrentWidget(self._holders[page])
        self._update_height()
        self._emit_shown()

    def collapse(self) -> None:
        """Collapse the pages."""
        self._is_open = False
        self._update_height()
        self._emit_shown()

    def toggle(self, page: Page) -> None:
        """Expand a page, or collapse it if it is visible."""
        if self._is_open and self.tabs.currentWidget() is self._holders[page]:
            self.collapse()
        else:
            self.open(page)

    def save(self) -> dict[str, bytes]:
        """Return the open page, and its height as set by the user."""
        title = self.tabs.tabText(self.tabs.currentIndex()) if self._is_open else ""
        return {_SAVED: f"{title}\n{self._height or 0}".encode()}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open the saved page, if there is one with that title."""
        title, _, height = saved.get(_SAVED, b"").decode(errors="replace").partition("\n")
        self._height = int(height) if is_small_number(height) and int(height) else None
        for page, holder in self._holders.items():
            index = self.tabs.indexOf(holder)
            if title and self.tabs.tabText(index) == title and self.tabs.isTabVisible(index):
                self.open(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep collapsed pages collapsed, and a page at its height."""
        super().resizeEvent(event)
        self._update_height()

    def _page_at(self, index: int) -> Page | None:
        holder = self.tabs.widget(index)
        return next((page for page, stacked in self._holders.items() if stacked is holder), None)

    def _on_click(self, index: int) -> None:
        page = self._page_at(index)
        if page is not None:
            self.toggle(page)

    def _update_height(self) -> None:
        bar = self.tabs.tabBar().sizeHint().height()
        self._stacked.setVisible(self._is_open)  # otherwise Tab would reach invisible widgets
        if self._is_open:
            self.tabs.setMaximumHeight(_NO_MAXIMUM)
            self.tabs.setMinimumHeight(bar + _LEAST)
            height = max(self._height or int(self.height() * _SHARE), bar + _LEAST)
        else:
            self.tabs.setMinimumHeight(bar)
            self.tabs.setMaximumHeight(bar)
            height = bar
        self.setSizes([max(self.height() - height, 0), height])

    def _store_height(self) -> None:
        if self._is_open:
            self._height = self.tabs.height()

    def _emit_shown(self) -> None:
        current = self.current
        if current is not self._last_shown:
            self._last_shown = current
            self.shown.emit(current)


def _widget(page: Page) -> QWidget | None:
    return page.get() if isinstance(page, Lazy) else page
