"""The widgets of the automaton pane and their layout; the pane has the behaviour."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.view import GraphView, Minimap
from app.models.states import StatesModel
from app.models.token_groups import TokenGroupsModel
from app.panes.automaton.header import AutomatonHeader, Footer, states_table, token_table
from app.panes.automaton.hit_search import HitSearch
from app.panes.automaton.level_bar import LevelBar
from app.panes.automaton.stacks import StackPanel
from app.theme.labels import Label
from app.widgets.accessible_role import give_role
from app.widgets.banner import Banner
from app.widgets.close_on_escape import CloseOnEscape
from app.widgets.coverage_choice import CoverageChoice
from app.widgets.delegate_focus import delegate_focus
from app.widgets.find_bar import FindBar

_EMPTY = "No automaton yet.\nIt is drawn here as soon as the grammar compiles."
_LEGEND = (
    "Halo: the match stands here.  Band: the way it took.  Dashed band: what a token would take.\n"
    "Double line: may end.  Pile of cards: many states.  Dashed line: calls a rule.  +3: click for more."
)
_BODY_HEIGHT = 116
_SAVED, _SPLIT = "automaton", "automaton split"


class AutomatonView(QWidget):
    """The bars, the drawing, the tables, the stacks and the minimap."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene = AutomatonScene()
        self.view = GraphView(self._scene)
        self._scene.setParent(self.view)  # so that no scroll bar outlives the drawing that it moves
        self.footer = Footer(self.view)
        self.details = self.footer.details
        self.model, self.tokens_model = StatesModel(self), TokenGroupsModel(self)
        self.table, self.tokens_table = states_table(self.model), token_table(self.tokens_model)
        self.header = AutomatonHeader()
        self.levels = LevelBar()
        self.find_bar = FindBar("Find in the automaton", 'State, rule, byte or "text"', has_long_results=True)
        self.hits = HitSearch(self.find_bar)
        self.stacks = StackPanel()
        self.minimap = Minimap(self.view, self._scene)
        for drawn in (self.view, self.minimap):
            give_role(drawn, QAccessible.Role.Graphic)
        self._stale_banner, self._size_banner, self.coverage_banner = Banner("warning"), Banner("hint"), Banner("hint")
        self._empty = _empty_page(_EMPTY)
        self._map_is_offered = False
        self._pages = QStackedWidget()
        for page in (self._empty, self.view, self.table, self.tokens_table):
            self._pages.addWidget(page)
        delegate_focus(self, self.view, self.table, self.tokens_table)
        self._legend = _empty_page(_LEGEND)
        self._body = self._make_body()
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._pages)
        self._split.addWidget(self._body)
        self._split.setStretchFactor(0, 1)
        self._split.setSizes([600, _BODY_HEIGHT])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.header, self.levels, self.find_bar, self._stale_banner, self._size_banner):
            layout.addWidget(widget)
        self.coverage_choice = CoverageChoice()
        self.coverage_banner.add_control(self.coverage_choice)
        layout.addWidget(self.coverage_banner)
        layout.addWidget(self._split, 1)
        layout.addWidget(self.footer)
        self.footer.stacks_button.toggled.connect(lambda _on: self._show_body())
        self.footer.map_button.toggled.connect(lambda _on: self._show_body())
        self.footer.find_button.clicked.connect(self.find_bar.open_bar)
        self.find_bar.closed.connect(self._on_search_closed)
        CloseOnEscape(self, self.find_bar.isVisible, self.find_bar.close_bar)
        theme.themes.changed.connect(self._scene.recolour)
        self._show_body()

    @property
    def scene(self) -> AutomatonScene:
        """Return the scene of the drawing."""
        return self._scene

    def say_empty(self, text: str) -> None:
        """Set the text of the empty page; by default it says what will be there."""
        self._empty.setText(text or _EMPTY)

    def count_stacks(self) -> None:
        """Show the number of stacks on their button."""
        self.footer.count_stacks(self.stacks.count)

    def save(self) -> dict[str, bytes]:
        """Return whether the table and the stacks are shown, and the state of the splitter."""
        shown = [name for name, button in self._saved_buttons().items() if button.isChecked()]
        return {_SAVED: " ".join(shown).encode(), _SPLIT: bytes(self._split.saveState().data())}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Restore the saved state."""
        shown = saved.get(_SAVED, b"").decode(errors="replace").split()
        for name, button in self._saved_buttons().items():
            if name in shown:
                button.setChecked(True)  # not clicked: there is no automaton yet
        if state := saved.get(_SPLIT):
            self._split.restoreState(QByteArray(state))

    def _saved_buttons(self) -> dict[str, QAbstractButton]:
        return {"table": self.header.table_button, "stacks": self.footer.stacks_button}

    def offer_map(self, *, offered: bool) -> None:
        """Open the minimap for a large drawing, close it for a small one, unless the user decided otherwise."""
        if offered != self._map_is_offered:
            self._map_is_offered = offered
            self.footer.map_button.setChecked(offered)

    def _on_search_closed(self) -> None:
        page = self._pages.currentWidget()
        if page is not None:
            page.setFocus()

    def _make_body(self) -> QWidget:
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(1)
        row.addWidget(self.stacks, 1)
        row.addWidget(self._legend, 1)
        row.addWidget(self.minimap)
        return body

    def _show_body(self) -> None:
        has_stacks, has_map = self.footer.stacks_button.isChecked(), self.footer.map_button.isChecked()
        self.stacks.setVisible(has_stacks)
        self._legend.setVisible(not has_stacks)
        self.minimap.setVisible(has_map)
        self._body.setVisible(has_stacks or has_map)


def _empty_page(text: str) -> QLabel:
    label = Label(text, wraps=True)
    label.setProperty("role", "empty")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setMargin(theme.SPACE_L)
    return label
