"""Tabs whose pages are built when they are first looked at.

Half of a window's widgets stand on pages that most sessions never open, and a widget
costs more than its making: every new style sheet dresses all of them, seen or not.
So a page is a promise until somebody opens it, or needs it for another reason.

Rejected: building such pages in idle moments after the first paint. The first window
is as quick, but the theme and every start still pay for pages that nobody sees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QTabWidget, QWidget

Built = TypeVar("Built", bound=QWidget)


class Lazy(Generic[Built]):
    """A widget that is made when it is first asked for.

    Attributes:
        built: the widget; None as long as nobody has asked for it. What comes before then need not be told to it: who
            makes it tells it how things stand.
    """

    def __init__(self, make: Callable[[], Built]) -> None:
        self._make = make
        self._waiting: list[Callable[[Built], None]] = []
        self.built: Built | None = None

    def get(self) -> Built:
        """The widget, made now unless it is there."""
        if self.built is None:
            self.built = self._make()
            for take in self._waiting:
                take(self.built)
            self._waiting.clear()
        return self.built

    def when_built(self, take: Callable[[Built], None]) -> None:
        """Have the widget handed over once it is made, which may be at once."""
        if self.built is not None:
            take(self.built)
        else:
            self._waiting.append(take)


class LazyTabs(QTabWidget):
    """Tabs, some of which hold a place until they are opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self._late: dict[QWidget, Callable[[], QWidget]] = {}
        self.currentChanged.connect(self._open)

    def add_late(self, page: Lazy[Built], title: str) -> None:
        """Add a tab for a page that is still to be made."""
        if page.built is not None:
            self.addTab(page.built, title)
            return
        place = QWidget()
        self._late[place] = page.get
        self.addTab(place, title)
        page.when_built(lambda built: self._put(built, place))

    def _open(self, index: int) -> None:
        place = self.widget(index)
        if place in self._late:
            self._late[place]()

    def _put(self, page: QWidget, place: QWidget) -> None:
        """Put a page where its place was held; nobody is told, for to them it is the same tab."""
        del self._late[place]
        index = self.indexOf(place)
        was_current = index == self.currentIndex()
        with QSignalBlocker(self):
            self.insertTab(index, page, self.tabText(index))
            self.removeTab(index + 1)
            if was_current:
                self.setCurrentIndex(index)
        place.deleteLater()
