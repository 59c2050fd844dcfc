"""The layout of the panes in the window.

Wide: editor, automaton and generation side by side. Narrow (below 1400 px): editor and automaton become tabs, since
three panes of 400 px are too narrow for each. Below them are tabs that can be collapsed. The panes themselves are only
moved, never built twice.
"""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QTabWidget, QVBoxLayout, QWidget

from app.catalogue import ui_text
from app.commands import command
from app.delays import delayed
from app.panes.problems.pane import ProblemsPane
from app.settings import Settings
from app.storage import is_small_number
from app.widgets.keyboard import delegates_focus
from app.widgets.lazy import Built, Lazy, LazyTabs

NARROW_BELOW = 1400
_WIDE_SHARES = (28, 36, 36)
_BOTTOM_HEIGHT, _LOW_BOTTOM_HEIGHT = 210, 160  # of the bottom panel, in a high window and in a low one
_HIGH_FROM = 800
_ROOMY_SHARE, _LOW_ROOMY_SHARE = 0.4, 0.33  # of the height, for a page with two tables side by side
_BOTTOM = "bottom"
_LEAST_PAGE = 64  # of a bottom page, so that one row is readable
_FOLD_DELAY_MS = 700
_NO_MAXIMUM = 16_777_215  # Qt's QWIDGETSIZE_MAX, which PySide does not export


class DockLayout(QWidget):
    """The three panes above the bottom panel.

    Attributes:
        columns: the splitter of the panes.
        bottom: the tabs of the bottom panel.

    Signals:
        bottom_toggled(is open): the bottom panel was collapsed or expanded.
        bottom_chosen(is open): the user collapsed or expanded it.
    """

    bottom_toggled = Signal(bool)
    bottom_chosen = Signal(bool)

    def __init__(self, editor: QWidget, automaton: QWidget, generation: QWidget) -> None:
        super().__init__()
        self._editor, self._automaton, self._generation = editor, automaton, generation
        self._is_narrow: bool | None = None
        self._bottom_is_open = self._bottom_is_roomy = False
        self._bottom_height: int | None = None  # as set by the user
        self._saved_states: dict[str, bytes] = {}
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self.columns = QSplitter(Qt.Orientation.Horizontal)
        self.columns.setChildrenCollapsible(False)
        self.bottom = LazyTabs()
        self.bottom.tabBarClicked.connect(self._on_tab_clicked)
        self.bottom.currentChanged.connect(lambda _index: self._size_bottom())
        self._rows = QSplitter(Qt.Orientation.Vertical)
        self._rows.setChildrenCollapsible(False)
        self._rows.addWidget(self.columns)
        self._rows.addWidget(self.bottom)
        self._rows.setStretchFactor(0, 1)
        self._rows.splitterMoved.connect(lambda _place, _index: self._store_bottom_height())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._rows)
        for pane, width in ((editor, 300), (automaton, 360), (generation, 400)):
            pane.setMinimumWidth(width)
        self._arrange(is_narrow=False)

    @property
    def is_narrow(self) -> bool:
        """Return whether editor and automaton are tabs."""
        return bool(self._is_narrow)

    @property
    def bottom_is_open(self) -> bool:
        """Return whether the bottom panel shows a page."""
        return self._bottom_is_open

    def add_bottom(self, page: Built | Lazy[Built], title: str) -> None:
        """Add a tab to the bottom panel."""
        if isinstance(page, Lazy):
            self.bottom.add_lazy(page, title)
        else:
            self.bottom.addTab(page, title)

    def set_bottom_title(self, page: QWidget, title: str) -> None:
        """Rename a tab of the bottom panel."""
        self.bottom.setTabText(self.bottom.indexOf(page), title)

    def open_bottom(self, is_open: bool) -> None:
        """Collapse or expand the bottom panel."""
        if is_open != self._bottom_is_open:
            self._bottom_is_open = is_open
            self._size_bottom()
            self.bottom_toggled.emit(is_open)

    @command("view.bottom", "Ctrl+J", place=(1, 13), checked=lambda self: self.bottom_is_open)
    def toggle_bottom(self) -> None:
        """Collapse or expand the bottom panel, as the user's choice."""
        self.open_bottom(not self.bottom_is_open)
        self.bottom_chosen.emit(self.bottom_is_open)

    def reveal(self, pane: QWidget) -> None:
        """Make a pane visible and give it the focus."""
        if self.bottom.indexOf(pane) >= 0:
            self.open_bottom(True)
            self.bottom.setCurrentWidget(pane)
        inner: QWidget | None = pane
        while inner is not None and inner is not self:
            tabs = inner.parentWidget()
            page_of = tabs.parentWidget() if tabs is not None else None
            if isinstance(page_of, QTabWidget):
                page_of.setCurrentWidget(inner)
            elif isinstance(tabs, QStackedWidget):
                tabs.setCurrentWidget(inner)
            inner = tabs
        target = pane
        if not delegates_focus(pane):
            target = next((w for w in pane.findChildren(QWidget) if _accepts_focus(w)), pane)
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def save(self) -> dict[str, bytes]:
        """Return the splitters' states by name, and the open tab and height of the bottom panel."""
        bottom = f"{self.bottom.currentIndex()} {int(self._bottom_is_open)} {self._bottom_height or 0}"
        columns = bytes(self.columns.saveState().data())
        return {"narrow" if self._is_narrow else "wide": columns, _BOTTOM: bottom.encode()}

    def restore(self, saved: dict[str, bytes]) -> None:
        """Restore the splitters."""
        self._saved_states = saved
        self._restore_columns()
        numbers = saved.get(_BOTTOM, b"").decode(errors="replace").split()
        if len(numbers) != 3 or not all(map(is_small_number, numbers)):
            return
        index, is_open, height = map(int, numbers)
        self._bottom_height = height or None
        if is_open and index < self.bottom.count():
            self.bottom.setCurrentIndex(index)
            self.open_bottom(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Switch between wide and narrow if the width requires it."""
        super().resizeEvent(event)
        is_narrow = event.size().width() < NARROW_BELOW
        if is_narrow != self._is_narrow:
            self._arrange(is_narrow=is_narrow)
        self._size_bottom()

    def _arrange(self, *, is_narrow: bool) -> None:
        self._is_narrow = is_narrow
        if is_narrow:
            self._tabs.addTab(self._editor, ui_text("commands.view.editor.title"))
            self._tabs.addTab(self._automaton, ui_text("commands.view.automaton.title"))
            panes: tuple[QWidget, ...] = (self._tabs, self._generation)
        else:
            panes = (self._editor, self._automaton, self._generation)
        for index, pane in enumerate(panes):
            self.columns.insertWidget(index, pane)
            pane.show()
        if not is_narrow:
            self._tabs.setParent(None)
        shares = (50, 50) if is_narrow else _WIDE_SHARES
        self.columns.setSizes([share * 100 for share in shares])
        for index, share in enumerate(shares):
            self.columns.setStretchFactor(index, share)
        self._restore_columns()

    def _size_bottom(self) -> None:
        """Set the height of the bottom panel: that of the tab bar alone if it is collapsed."""
        collapsed_height = self.bottom.tabBar().sizeHint().height()
        if self._bottom_is_open:
            self.bottom.setMaximumHeight(_NO_MAXIMUM)
            self.bottom.setMinimumHeight(collapsed_height + _LEAST_PAGE)
        else:
            self.bottom.setMinimumHeight(collapsed_height)
            self.bottom.setMaximumHeight(collapsed_height)
        is_high = self.height() >= _HIGH_FROM
        default = _BOTTOM_HEIGHT if is_high else _LOW_BOTTOM_HEIGHT
        page = self.bottom.currentWidget()
        # It grows for a page that needs it, and shrinks for none: the panes above stay where they are.
        is_roomy = self._bottom_is_roomy or (page is not None and bool(page.property("roomy")))
        self._bottom_is_roomy = self._bottom_is_open and is_roomy
        if self._bottom_is_roomy:
            default = max(default, round(self.height() * (_ROOMY_SHARE if is_high else _LOW_ROOMY_SHARE)))
        height = (self._bottom_height or default) if self._bottom_is_open else collapsed_height
        self._rows.setSizes([max(self._rows.height() - height, 0), height])

    def _store_bottom_height(self) -> None:
        if self._bottom_is_open:
            self._bottom_height = self.bottom.height()

    def _restore_columns(self) -> None:
        state = self._saved_states.get("narrow" if self._is_narrow else "wide")
        if state:
            self.columns.restoreState(QByteArray(state))

    def _on_tab_clicked(self, index: int) -> None:
        if index == self.bottom.currentIndex() or not self.bottom_is_open:
            self.toggle_bottom()


class ProblemFolding(QObject):
    """Expands the bottom panel for errors and warnings, and collapses it without any.

    The panel does not move at once, since half-typed patterns are often invalid. A panel that the user collapsed stays
    collapsed.

    Args:
        layout: the panel.
        problems: the page with the problems.
        settings: whether the user collapsed the panel.

    Signals:
        decided(): the panel was expanded, collapsed, or left as it is.
    """

    decided = Signal()

    def __init__(self, layout: DockLayout, problems: ProblemsPane, settings: Settings) -> None:
        super().__init__(layout)
        self._layout, self._problems, self._settings = layout, problems, settings
        self._opened_for_problem = False  # not by the user
        self._timer = delayed(self, _FOLD_DELAY_MS, self.decide)

    @property
    def is_scheduled(self) -> bool:
        """Return whether the panel may still move by itself."""
        return self._timer.isActive()

    def schedule(self) -> None:
        """Decide once the problems have not changed for a moment."""
        self._timer.start()

    def decide(self) -> None:
        """Expand the panel for errors and warnings, unless the user collapsed it; collapse it without any.

        The tab's title shows the number of hints: in a low window they are not worth the candidates' space.
        """
        layout, problems = self._layout, self._problems
        if not layout.bottom_is_open or layout.bottom.currentWidget() is problems:  # keep a tab that the user reads
            is_read = layout.bottom_is_open and not self._opened_for_problem and not problems.is_empty
            is_open = self._settings.preferences.bottom_open and (problems.is_pressing or is_read)
            if is_open:
                layout.bottom.setCurrentWidget(problems)
            self._opened_for_problem = is_open and not is_read
            layout.open_bottom(is_open)
        self.decided.emit()


def _accepts_focus(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisibleTo(widget.window())
