"""Widgets and tabs that are built when they are first shown.

Half of a window's widgets are on pages that most sessions never open, and a widget costs more than its creation: every
new style sheet is applied to all of them, visible or not. So a page is created only when the user opens it, or other
code needs it.

Rejected: building such pages in idle time after the first paint. The first window is as fast, but theme changes and
every start still pay for hidden pages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QTabWidget, QWidget

Built = TypeVar("Built", bound=QWidget)


class Lazy(Generic[Built]):
    """A widget that is created on first use.

    Attributes:
        built: the widget; None before its first use. Earlier events need not be forwarded to it: its factory sets its
            initial state.
    """

    def __init__(self, make: Callable[[], Built]) -> None:
        self._make = make
        self._callbacks: list[Callable[[Built], None]] = []
        self.built: Built | None = None

    def get(self) -> Built:
        """Return the widget; create it if necessary."""
        if self.built is None:
            self.built = self._make()
            for take in self._callbacks:
                take(self.built)
            self._callbacks.clear()
        return self.built

    def when_built(self, take: Callable[[Built], None]) -> None:
        """Call a function with the widget once it is created, which may be at once."""
        if self.built is not None:
            take(self.built)
        else:
            self._callbacks.append(take)


class LazyTabs(QTabWidget):
    """Tabs whose pages may be placeholders until they are opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self._factories: dict[QWidget, Callable[[], QWidget]] = {}
        self.currentChanged.connect(self._open)

    def add_lazy(self, page: Lazy[Built], title: str) -> None:
        """Add a tab for a page that is built when it is opened."""
        if page.built is not None:
            self.addTab(page.built, title)
            return
        placeholder = QWidget()
        self._factories[placeholder] = page.get
        self.addTab(placeholder, title)
        page.when_built(lambda built: self._replace(built, placeholder))

    def _open(self, index: int) -> None:
        placeholder = self.widget(index)
        if placeholder in self._factories:
            self._factories[placeholder]()

    def _replace(self, page: QWidget, placeholder: QWidget) -> None:
        """Replace a placeholder by its page without signals, since it is the same tab for others."""
        del self._factories[placeholder]
        index = self.indexOf(placeholder)
        was_current = index == self.currentIndex()
        with QSignalBlocker(self):
            self.insertTab(index, page, self.tabText(index))
            self.removeTab(index + 1)
            if was_current:
                self.setCurrentIndex(index)
        placeholder.deleteLater()
