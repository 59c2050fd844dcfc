"""How the panes share the window.

Wide: editor, automaton and generation side by side. Narrow (below 1400 px):
editor and automaton become tabs, since three panes of 400 px serve none of
them. Underneath, tabs that fold away. The panes themselves only move; they are
never built twice.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QTabWidget, QVBoxLayout, QWidget

NARROW_BELOW = 1400
_WIDE_SHARES = (28, 36, 36)
_BOTTOM_HEIGHT = 210


class Arrangement(QWidget):
    """The three panes above the bottom tabs.

    Signals:
        bottom_toggled(is open): the bottom tabs were folded or unfolded.
    """

    bottom_toggled = Signal(bool)

    def __init__(self, editor: QWidget, automaton: QWidget, generation: QWidget) -> None:
        super().__init__()
        self._editor, self._automaton, self._generation = editor, automaton, generation
        self._is_narrow: bool | None = None
        self._places: dict[str, bytes] = {}
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._across = QSplitter(Qt.Orientation.Horizontal)
        self._across.setChildrenCollapsible(False)
        self.bottom = QTabWidget()
        self.bottom.setDocumentMode(True)
        self.bottom.setMinimumHeight(96)
        self.bottom.tabBarClicked.connect(self._on_tab_clicked)
        self._down = QSplitter(Qt.Orientation.Vertical)
        self._down.setChildrenCollapsible(False)
        self._down.addWidget(self._across)
        self._down.addWidget(self.bottom)
        self._down.setStretchFactor(0, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._down)
        for pane, width in ((editor, 300), (automaton, 360), (generation, 400)):
            pane.setMinimumWidth(width)
        self._arrange(is_narrow=False)

    @property
    def is_narrow(self) -> bool:
        """Whether editor and automaton are tabs."""
        return bool(self._is_narrow)

    @property
    def bottom_is_open(self) -> bool:
        """Whether the bottom tabs show a page."""
        return self.bottom.maximumHeight() > self.bottom.tabBar().sizeHint().height()

    def add_bottom(self, page: QWidget, title: str) -> None:
        """Add a tab underneath."""
        self.bottom.addTab(page, title)

    def set_bottom_title(self, page: QWidget, title: str) -> None:
        """Rename a tab underneath."""
        self.bottom.setTabText(self.bottom.indexOf(page), title)

    def open_bottom(self, is_open: bool) -> None:
        """Fold or unfold the bottom tabs."""
        if is_open == self.bottom_is_open:
            return
        if is_open:
            self.bottom.setMaximumHeight(16_777_215)
            self.bottom.setMinimumHeight(96)
            total = sum(self._down.sizes())
            self._down.setSizes([max(total - _BOTTOM_HEIGHT, 0), _BOTTOM_HEIGHT])
        else:
            height = self.bottom.tabBar().sizeHint().height()
            self.bottom.setMinimumHeight(height)
            self.bottom.setMaximumHeight(height)
        self.bottom_toggled.emit(is_open)

    def reveal(self, pane: QWidget) -> None:
        """Bring a pane to where it can be seen, and the keys to it."""
        if self.bottom.indexOf(pane) >= 0:
            self.open_bottom(True)
            self.bottom.setCurrentWidget(pane)
        elif self._tabs.indexOf(pane) >= 0:
            self._tabs.setCurrentWidget(pane)
        target = pane.focusProxy() or next((w for w in pane.findChildren(QWidget) if _takes_keys(w)), pane)
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def save(self) -> dict[str, bytes]:
        """The splitters' places, by name."""
        name = "narrow" if self._is_narrow else "wide"
        return {name: bytes(self._across.saveState().data()), "down": bytes(self._down.saveState().data())}

    def restore(self, places: dict[str, bytes]) -> None:
        """Put the splitters where they were."""
        self._places = places
        self._restore_across()
        if "down" in places:
            self._down.restoreState(QByteArray(places["down"]))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange anew where the width asks for it."""
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW_BELOW
        if is_narrow != self._is_narrow:
            self._arrange(is_narrow=is_narrow)

    def _arrange(self, *, is_narrow: bool) -> None:
        self._is_narrow = is_narrow
        if is_narrow:
            self._tabs.addTab(self._editor, "Grammar")
            self._tabs.addTab(self._automaton, "Automaton")
            panes: tuple[QWidget, ...] = (self._tabs, self._generation)
        else:
            panes = (self._editor, self._automaton, self._generation)
        for index, pane in enumerate(panes):
            self._across.insertWidget(index, pane)
            pane.show()
        if not is_narrow:
            self._tabs.setParent(None)
        shares = (50, 50) if is_narrow else _WIDE_SHARES
        self._across.setSizes([share * 100 for share in shares])
        for index, share in enumerate(shares):
            self._across.setStretchFactor(index, share)
        self._restore_across()

    def _restore_across(self) -> None:
        state = self._places.get("narrow" if self._is_narrow else "wide")
        if state:
            self._across.restoreState(QByteArray(state))

    def _on_tab_clicked(self, index: int) -> None:
        is_current = index == self.bottom.currentIndex()
        self.open_bottom(not (is_current and self.bottom_is_open))


def _takes_keys(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisibleTo(widget.window())
