"""Pages under a text, in tabs that fold away: what is told about the text while it is written.

Folded, only the tab bar is there, and the text has all the height. A click on a
tab unfolds it, a click on the current one folds all. A page may be a promise
(`Lazy`), which is kept when somebody opens it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.storage import is_small_number
from app.widgets.lazy import Lazy

_SHARE = 0.45  # of the height, for a page that opens
_LEAST = 120  # of a page, so that a few rows of it can be read
_SAVED = "editor pages"
_NO_MAXIMUM = 16_777_215  # Qt's QWIDGETSIZE_MAX, which PySide does not export

Page: TypeAlias = "QWidget | Lazy[Any]"


class Pages(QSplitter):
    """A text above pages in tabs.

    Signals:
        shown(widget): another page can be seen now; None where they are folded away.
    """

    shown = Signal(object)

    def __init__(self, text: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._is_open = False
        self._height: int | None = None  # as the user drew it
        self._places: dict[Page, QWidget] = {}
        self._told: QWidget | None = None
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("About the grammar")
        self.tabs.hide()  # until there is a page
        held = self.tabs.findChild(QStackedWidget)
        assert isinstance(held, QStackedWidget)
        self._held = held
        self.setChildrenCollapsible(False)
        self.addWidget(text)
        self.addWidget(self.tabs)
        self.setStretchFactor(0, 1)
        self.splitterMoved.connect(lambda _place, _index: self._note_height())
        self.tabs.tabBarClicked.connect(self._on_click)
        self.tabs.currentChanged.connect(lambda _index: self._tell())

    @property
    def current(self) -> QWidget | None:
        """The page that can be seen; None while they are folded."""
        page = self._page_at(self.tabs.currentIndex())
        return _widget(page) if page is not None and self._is_open else None

    def add_page(self, page: Page, title: str) -> None:
        """Add a tab; it opens when somebody wants to see it."""
        place = QWidget()
        layout = QVBoxLayout(place)
        layout.setContentsMargins(0, 0, 0, 0)
        self._places[page] = place
        if isinstance(page, Lazy):
            page.when_built(layout.addWidget)
        else:
            layout.addWidget(page)
        self.tabs.addTab(place, title)
        self.tabs.show()
        self._size()

    def set_page_visible(self, page: Page, is_visible: bool) -> None:
        """Offer a page, or do not: where the page that is open goes, the pages fold."""
        index = self.tabs.indexOf(self._places[page])
        if not is_visible and self._is_open and self.tabs.currentIndex() == index:
            self.fold()
        self.tabs.setTabVisible(index, is_visible)

    def open(self, page: Page) -> None:
        """Unfold a page."""
        self._is_open = True
        self.tabs.setCurrentWidget(self._places[page])
        self._size()
        self._tell()

    def fold(self) -> None:
        """Leave all the height to the text."""
        self._is_open = False
        self._size()
        self._tell()

    def toggle(self, page: Page) -> None:
        """Unfold a page, or fold it where it is the one that can be seen."""
        if self._is_open and self.tabs.currentWidget() is self._places[page]:
            self.fold()
        else:
            self.open(page)

    def save(self) -> dict[str, bytes]:
        """Which page is open, and how high the user drew it."""
        title = self.tabs.tabText(self.tabs.currentIndex()) if self._is_open else ""
        return {_SAVED: f"{title}\n{self._height or 0}".encode()}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open the page that was open, if there is one of that title."""
        title, _, height = saved.get(_SAVED, b"").decode(errors="replace").partition("\n")
        self._height = int(height) if is_small_number(height) and int(height) else None
        for page, place in self._places.items():
            index = self.tabs.indexOf(place)
            if title and self.tabs.tabText(index) == title and self.tabs.isTabVisible(index):
                self.open(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep what is folded folded, and a page at its height."""
        super().resizeEvent(event)
        self._size()

    def _page_at(self, index: int) -> Page | None:
        place = self.tabs.widget(index)
        return next((page for page, held in self._places.items() if held is place), None)

    def _on_click(self, index: int) -> None:
        page = self._page_at(index)
        if page is not None:
            self.toggle(page)

    def _size(self) -> None:
        bar = self.tabs.tabBar().sizeHint().height()
        self._held.setVisible(self._is_open)  # else Tab would lead to what nobody sees
        if self._is_open:
            self.tabs.setMaximumHeight(_NO_MAXIMUM)
            self.tabs.setMinimumHeight(bar + _LEAST)
            height = max(self._height or int(self.height() * _SHARE), bar + _LEAST)
        else:
            self.tabs.setMinimumHeight(bar)
            self.tabs.setMaximumHeight(bar)
            height = bar
        self.setSizes([max(self.height() - height, 0), height])

    def _note_height(self) -> None:
        if self._is_open:
            self._height = self.tabs.height()

    def _tell(self) -> None:
        current = self.current
        if current is not self._told:
            self._told = current
            self.shown.emit(current)


def _widget(page: Page) -> QWidget | None:
    return page.get() if isinstance(page, Lazy) else page
