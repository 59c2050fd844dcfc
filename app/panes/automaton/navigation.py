"""Where the user is in an automaton: the chosen view with its history, the match, and the selected state.

`Navigation` is what the parts of the pane share; it has no widgets. `StateSelection` connects the pointer, the arrow
keys and the rows of the table with the selected state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from enum import Enum, auto

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTableView

from app.catalogue import ui_text
from app.commands import command
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.view import GraphView, state_towards
from app.graph.layout.types import METHODS, EdgeKey
from app.models.states import StatesModel
from app.panes.automaton.drawing import Automaton, Drawing
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.view_state import LIVE_STATE, History, ViewState
from app.widgets.accessibility import announce
from app.widgets.elided_label import ElidedLabel
from engine.automata.rtn.rule_positions import RulePositions
from engine.decoding.debugging.breakpoints import StateName


class ViewChange(Enum):
    """How a view differs from the one before."""

    TARGETS = auto()  # it has some more targets: the zoom and the position stay
    RULE = auto()  # another rule or region is open: the selected state is not part of it
    OTHER = auto()


def _has_layout(navigation: Navigation, method: str) -> bool:
    """Return whether a layout is the chosen or the drawn one: the automatic one is marked with what it has chosen."""
    return method == navigation.method if method and navigation.method in METHODS else method == navigation.view.method


class Navigation(QObject):
    """The state of the pane: one grammar's automaton, the view of it, and the match.

    Attributes:
        minimal: the minimal automaton with its folded forms; None for none.
        nfa: the nondeterministic automaton; None if it is not known, or cannot be drawn.
        nfa_positions: the states of the match in that; None while unknown.
        automaton: what the current view shows of it.
        drawn: the current drawing, which may be that of an earlier view until a layout arrives.
        wanted: the drawing whose layout is pending.
        selected: the selected state of `automaton`.
        chosen: the selected edge, or the edges on the paths that the user asked for; `ends` are the ends of the paths.
        states: the live states of the complete automaton.
        positions: the rule positions of the match; None while unknown.
        output: the text of the match.
        method: the layout of the current drawing; `boxes` if each rule has its own, empty before the first one.
        live: the live states of `automaton`.
        waiting: its additional highlighted edges: open calls.

    Signals:
        view_changed(ViewChange): another view is chosen.
        selection_changed(): another state or edge is selected.
    """

    view_changed = Signal(ViewChange)
    selection_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.minimal: Levels | None = None
        self.nfa: Levels | None = None
        self.nfa_positions: RulePositions | None = None
        self.automaton: Automaton | None = None
        self.drawn: Drawing | None = None
        self.wanted: Drawing | None = None
        self._selected: int | None = None
        self.chosen: frozenset[EdgeKey] = frozenset()
        self.ends: tuple[int, ...] = ()
        self.states: frozenset[int] = frozenset()
        self.positions: RulePositions | None = None
        self.output = b""
        self.method = ""
        self.live: frozenset[int] = frozenset()
        self.waiting: frozenset[EdgeKey] = frozenset()
        self.history = History()

    def clear(self) -> None:
        """Forget the automaton, the match and the history."""
        self.minimal = self.nfa = self.automaton = self.drawn = self.wanted = self.selected = None
        self.positions = self.nfa_positions = None
        self.states = self.live = frozenset()
        self.waiting, self.output, self.method = frozenset(), b"", ""
        self.history = History()
        self.choose(())

    # --- contents ----------------------------------------------------------------------------------------------------

    @property
    def levels(self) -> Levels | None:
        """Return the automaton that the view is of; the minimal one while the chosen one is not known."""
        return self.nfa if self.view.nfa and self.nfa is not None else self.minimal

    @property
    def selected(self) -> int | None:
        """Return the selected state."""
        return self._selected

    @selected.setter
    def selected(self, state: int | None) -> None:
        if state != self._selected:
            self._selected = state
            self.selection_changed.emit()

    def choose(self, edges: Collection[EdgeKey], ends: tuple[int, ...] = ()) -> None:
        """Select an edge, or the edges of some paths; without an edge, none."""
        if (frozenset(edges), ends) != (self.chosen, self.ends):
            self.chosen, self.ends = frozenset(edges), ends
            self.selection_changed.emit()

    @property
    def selected_edge(self) -> EdgeKey | None:
        """Return the selected edge; None if there is none."""
        return next(iter(self.chosen)) if len(self.chosen) == 1 and not self.ends else None

    @property
    def view(self) -> ViewState:
        """Return the current view."""
        return self.history.current

    @property
    def is_current(self) -> bool:
        """Return whether the drawing is that of the current view's automaton."""
        return self.drawn is not None and self.drawn.automaton is self.automaton

    @property
    def shows_part(self) -> bool:
        """Return whether states of the automaton over bytes are shown."""
        return self.levels is not None and self.automaton is self.levels.part_as(self.view)

    @property
    def drawn_live_states(self) -> frozenset[int]:
        """Return the live states, with the first state of a text that the match is inside of."""
        return frozenset() if self.automaton is None else self.automaton.around(self.live, self.view)

    @property
    def selected_state(self) -> StateName | None:
        """Return the selected state as breakpoints identify it (see `Levels.state_name`); None if there is none."""
        if self.levels is None or self.selected is None:
            return None
        return self.levels.state_name(self.view, self.selected)

    @property
    def named_refusal(self) -> str:
        """Return why the selected state can have no breakpoint, note or text: there is none, or it has no number."""
        if self.selected is None:
            return ui_text("automaton.refusal.no_state")
        if self.selected_state is not None:
            return ""
        is_nfa = self.levels is not None and self.levels.is_nfa
        return ui_text("automaton.refusal.nfa" if is_nfa else "automaton.refusal.no_number")

    def update_automaton(self) -> bool:
        """Set the automaton of the current view; return whether it changed."""
        automaton = None if self.levels is None else self.levels.automaton(self.view)
        if automaton is self.automaton:
            return False
        self.automaton = automaton
        self.live, self.waiting = frozenset(), frozenset()
        self.choose(())
        return True

    def update_live(self) -> None:
        """Compute the live states of the current view."""
        levels = self.levels
        if levels is not None and self.automaton is not None:
            states, positions = self.states, self.positions
            if levels.is_nfa:
                positions = self.nfa_positions
                states = frozenset(state for _, state in positions.reading) if positions is not None else frozenset()
            live, self.waiting = levels.live(self.view, states, positions)
            self.live = frozenset(state for state in live if 0 <= state < len(self.automaton.dfa.states))

    def anchor(self, drawn: Collection[int]) -> int | None:
        """Return the state that the user looks at: the centre, a live one, the selected one, or the start.

        Args:
            drawn: the drawn states and stubs.
        """
        if self.view.centre is not None and self.shows_part:
            return self.view.centre
        if drawn_live := self.drawn_live_states & frozenset(drawn):
            return min(drawn_live)
        if self.selected is not None:
            return self.selected
        start = None if self.automaton is None else self.automaton.dfa.start
        return start if start in drawn else min((state for state in drawn if state >= 0), default=None)

    # --- views -------------------------------------------------------------------------------------------------------

    def go_to(self, view: ViewState, change: ViewChange = ViewChange.OTHER) -> None:
        """Show another view of the same grammar."""
        self.history.go_to(view)
        self.view_changed.emit(change)

    @command("automaton.map", "Ctrl+M, Home", place=(2, 1), arguments=(Level.MAP,))
    @command("automaton.live", "Ctrl+M, L", place=(2, 2), arguments=(Level.PART,))
    @command("automaton.tokens", "Ctrl+M, K", place=(2, 3), context="state", arguments=(Level.TOKENS,))
    def go_to_level(self, level: Level) -> None:
        """Go to a level of detail."""
        if self.levels is None:
            return
        view = replace(self.view, tokens=None, centre=None, opened=())
        if level is Level.MAP:
            view = replace(view, follows=False, rule=None)
        elif level is Level.PART:
            view = replace(view, follows=bool(self.levels.names), nfa=False)
        elif level is Level.TOKENS:
            self.show_tokens_of(self.selected)
            return
        self.go_to(view)

    def show_tokens_of(self, state: int | None) -> None:
        """Show the targets of a state's tokens; of the live one by default, or if the state has no number."""
        if self.levels is None:
            return
        is_numbered = self.levels.rules is None and self.levels.is_whole and self.shows_part and not self.levels.is_nfa
        known = state if is_numbered and state is not None and state not in self.states else LIVE_STATE
        self.go_to(replace(self.view, tokens=known, nfa=False))

    def show_rule(self, rule: str | None) -> None:
        """Open a rule or a region, or show all of them."""
        if self.levels is None or not self.levels.names:
            return
        view = replace(self.view, rule=rule, follows=False, tokens=None, centre=None, opened=(), unfolded=())
        if rule is not None and self.levels.regions is not None:
            view = replace(view, draws_all=False)
        if view != self.view:
            self.go_to(view, ViewChange.RULE)

    def open(self, state: int | None, edge: EdgeKey | None, group: int | None) -> None:
        """Open the target of an element: a rule, a region, the tokens of a state.

        Args:
            state: the state, if the element is one; by default the selected state.
            edge: the edge, if the element is one.
            group: the group, if the element is in one.
        """
        if self.levels is None:
            return
        if QGuiApplication.keyboardModifiers() == Qt.KeyboardModifier.ShiftModifier and self.toggle_call(state, edge):
            return
        if state is None and edge is None and group is None:
            state = self.selected
        rule = self.levels.rule_at(self.view, state, edge, group)
        if rule is not None:
            self.show_rule(rule)
        elif state is not None and self.shows_part:
            self.show_tokens_of(state)

    def toggle_call(self, state: int | None, edge: EdgeKey | None) -> bool:
        """Draw the called rule in place of a call, or the call again; return whether the element is one of these.

        Args:
            state: the state, if the element is one.
            edge: the edge, if the element is one.
        """
        unfolded = None if self.levels is None else self.levels.toggled_call(self.view, state, edge)
        if unfolded is not None:
            self.go_to(replace(self.view, unfolded=unfolded))
        return unfolded is not None

    def open_stub(self, state: int) -> None:
        """Draw the targets of a state, too."""
        if self.drawn is not None and state not in self.drawn.automaton.dfa.boundary:
            self.go_to(replace(self.view, opened=(*self.view.opened, state)), ViewChange.TARGETS)

    @command("automaton.collapse", "Ctrl+M, Down", place=(2, 7))
    def collapse(self) -> None:
        """Close the opened stubs and the unfolded calls; if there are none, go up."""
        if self.view.opened or self.view.unfolded:
            self.go_to(replace(self.view, opened=(), unfolded=()))
        else:
            self.go_up()

    @command("automaton.up", "Ctrl+M, Up", place=(2, 4))
    def go_up(self) -> None:
        """Go one level up: from tokens to states, from a part or a rule to the map."""
        view = self.view
        if view.tokens is not None:
            self.go_to(replace(view, tokens=None))
        elif view.centre is not None or view.opened:
            self.go_to(replace(view, centre=None, opened=()))
        elif view.follows:
            self.go_to(replace(view, follows=False))
        else:
            self.show_rule(None)

    @command("automaton.back", "Ctrl+M, Left", place=(2, 5))
    def go_back(self) -> None:
        """Show the previous view."""
        if self.history.can_go_back:
            self.history.back()
            self.view_changed.emit(ViewChange.OTHER)

    @command("automaton.forward", "Ctrl+M, Right", place=(2, 6))
    def go_forward(self) -> None:
        """Show the view that the user went back from."""
        if self.history.can_go_forward:
            self.history.forward()
            self.view_changed.emit(ViewChange.OTHER)

    def set_draws_all(self, on: bool) -> None:
        """Draw every state, or an overview or a part again."""
        self.go_to(replace(self.view, draws_all=on, rule=None, follows=False, centre=None, opened=(), tokens=None))

    def set_draws_bytes(self, on: bool) -> None:
        """Draw each byte, or characters and texts again."""
        self.go_to(replace(self.view, draws_bytes=on))

    def set_nfa(self, on: bool) -> None:
        """Draw the nondeterministic automaton, or the minimal one again."""
        self.go_to(replace(self.view, nfa=on, centre=None, opened=(), unfolded=(), tokens=None, follows=False))

    def set_merges(self, on: bool) -> None:
        """Draw counters as nodes and forced runs as edges, or all of their states again."""
        self.go_to(replace(self.view, merges=on, draws_bytes=False))

    @command(
        "automaton.layout",
        "Ctrl+M, 1",
        place=(5, 1),
        context="background",
        arguments=("",),
        checked=_has_layout,
    )
    @command(
        "automaton.layout_dot",
        "Ctrl+M, 2",
        place=(5, 2),
        context="background",
        arguments=("dot",),
        checked=_has_layout,
    )
    @command(
        "automaton.layout_sugiyama",
        "Ctrl+M, 3",
        place=(5, 3),
        context="background",
        arguments=("sugiyama",),
        checked=_has_layout,
    )
    @command(
        "automaton.layout_layered",
        "Ctrl+M, 4",
        place=(5, 4),
        context="background",
        arguments=("layered",),
        checked=_has_layout,
    )
    def choose_layout(self, method: str, *, downwards: bool | None = None) -> None:
        """Choose a layout method and a direction, without an entry in the history.

        Args:
            method: one of `METHODS`; empty for the best one.
            downwards: whether the drawing runs from top to bottom; None for the current direction.
        """
        turned = self.view.downwards if downwards is None else downwards
        self.history.amend(replace(self.view, method=method, downwards=turned))
        self.view_changed.emit(ViewChange.OTHER)

    @command(
        "automaton.turn", "Ctrl+M, D", place=(5, 5), context="background", checked=lambda self: self.view.downwards
    )
    def turn(self) -> None:
        """Toggle between left to right and top to bottom."""
        self.choose_layout(self.view.method, downwards=not self.view.downwards)


class StateSelection(QObject):
    """Selects states by the pointer, the arrow keys and the table, and shows the details of one.

    Attributes:
        allowed_text: returns the number of tokens that are allowed at the live state, and their mass; empty if unknown.
        members_text: returns how a state is made of states of the other automaton; empty if unknown.

    Signals:
        spans_hovered: the source spans of the hovered element; empty for none.

    Args:
        navigation: has the selected state.
        view: the view of the drawing.
        scene: the drawing.
        table: the table of states.
        details: receives one line about the hovered, selected or live state.
    """

    spans_hovered = Signal(tuple)

    def __init__(
        self, navigation: Navigation, view: GraphView, scene: AutomatonScene, table: QTableView, details: ElidedLabel
    ) -> None:
        super().__init__(navigation)
        self._navigation, self._view, self._scene, self._table = navigation, view, scene, table
        self._details = details
        self.allowed_text: Callable[[], str] = lambda: ""
        self.members_text: Callable[[int], str] = lambda _state: ""
        view.edge_tip = self._tip_of_edge
        view.state_tip = self._tip_of_state
        navigation.selection_changed.connect(lambda: scene.set_chosen(navigation.chosen, navigation.ends))
        view.hovered.connect(self._hover)
        view.state_clicked.connect(self.select)
        view.neighbour_requested.connect(self._select_neighbour)
        table.selectionModel().currentRowChanged.connect(self._select_row)

    def select(self, state: int) -> None:
        """Select a state, in the drawing and in the table; -1 for none."""
        selected = self._navigation.selected = state if state >= 0 else None
        self._navigation.choose(())
        self._scene.set_selected(selected)
        self.show_details()
        if selected is not None and self._view.hasFocus():
            announce(self._view, self._details.text())  # a drawing has no items that a screen reader could come to
        selection = self._table.selectionModel()
        if selected is None:
            selection.clear()
        elif self._table.currentIndex().row() != selected:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            selection.setCurrentIndex(self._table.model().index(selected, 0), flags)

    def select_edge(self, edge: EdgeKey) -> None:
        """Select an edge instead of a state."""
        self.select(-1)
        self._navigation.choose((edge,))
        if (text := self._tip_of_edge(edge)) and self._view.hasFocus():
            announce(self._view, text)

    def go_to(self, state: int) -> None:
        """Select a state and scroll to it."""
        self.select(state)
        self._view.follow(state)

    def say(self, text: str) -> None:
        """Say what a command did, or why it did nothing, in the line of details and to a screen reader."""
        self._details.set_text(text)
        announce(self._view, text)

    def show_details(self, hovered: int | None = None) -> None:
        """Show the details of the hovered state; by default of the selected one, or of a live one."""
        navigation, drawn = self._navigation, self._navigation.drawn
        state = navigation.selected if hovered is None else hovered
        if state is None and navigation.live and navigation.is_current:
            state = min(navigation.live)
        if drawn is None or state is None or state >= len(drawn.automaton.dfa.states):
            self._details.set_text(ui_text("automaton.details.hint") if navigation.automaton is not None else "")
            return
        model = self._table.model()
        parted = model.parted_text(state).replace("\n", "; ") if isinstance(model, StatesModel) else ""
        details = "  ·  ".join(
            filter(None, (drawn.details(state, is_live=state in navigation.live), self.members_text(state)))
        )
        self._details.set_text(f"◆ {parted}  ·  {details}" if parted else details)

    def _hover(self, target: int | EdgeKey | None) -> None:
        drawn = self._navigation.drawn
        if drawn is None:
            return
        state = target if isinstance(target, int) else None
        self._scene.set_hovered(state)
        self._scene.set_highlighted((), (target,) if isinstance(target, tuple) else ())
        self.show_details(state)
        self.spans_hovered.emit(drawn.spans(target))

    def _tip_of_edge(self, key: EdgeKey) -> str:
        """Return the card of an edge: its full label, which may be shortened in the drawing, its tokens, its target."""
        drawn, model = self._navigation.drawn, self._table.model()
        if drawn is None:
            return ""
        tokens = model.token_text(key) if isinstance(model, StatesModel) else ""
        counted = ui_text("automaton.card.tokens", tokens=tokens) if tokens else ""
        target = ui_text("automaton.card.target", state=drawn.automaton.name(key[1])) if key[1] >= 0 else ""
        return "\n".join(filter(None, (drawn.label(key), counted, target)))

    def _tip_of_state(self, state: int) -> str:
        """Return the card of a state: what it reads and allows, what is noted, and how the masks of engines differ."""
        navigation, drawn, model = self._navigation, self._navigation.drawn, self._table.model()
        if drawn is None or state >= len(drawn.automaton.dfa.states):
            return ""
        is_live = state in navigation.live
        lines = drawn.facts(state, is_live=is_live)
        if is_live and (allowed := self.allowed_text()):
            lines.append(ui_text("automaton.card.allowed", tokens=allowed))
        lines.append(self.members_text(state))
        if isinstance(model, StatesModel):
            lines += [model.note_text(state), model.parted_text(state)]
        return "\n".join(filter(None, lines))

    @property
    def refusal(self) -> str:
        """Return why there is nothing to describe."""
        navigation = self._navigation
        has_element = navigation.selected is not None or navigation.selected_edge is not None
        return "" if has_element else ui_text("automaton.refusal.no_element")

    @command("state.card", "Ctrl+M, F1", place=(1, 3), context="edge", refusal=lambda self: self.refusal)
    def show_card(self) -> None:
        """Show the card of the selected state or edge, and have it spoken."""
        state, edge = self._navigation.selected, self._navigation.selected_edge
        text = self._tip_of_state(state) if state is not None else "" if edge is None else self._tip_of_edge(edge)
        self._view.show_card(text, edge[0] if state is None and edge is not None else state)
        announce(self._view, text)

    def _select_neighbour(self, x: int, y: int) -> None:
        """Select the next state in a direction; the first key selects the live state."""
        navigation, drawn = self._navigation, self._navigation.drawn
        if drawn is None or navigation.automaton is None:
            return
        state = navigation.selected
        if state is None or self._scene.box(state) is None:
            found = min(navigation.live, default=navigation.automaton.dfa.start)
            state = found if found is not None and self._scene.box(found) is not None else None
        else:
            surroundings = navigation.automaton.surroundings(is_folded=drawn.is_folded)
            state = state_towards(self._scene.positioned.boxes, surroundings.neighbours(state), state, (x, y))
        if state is not None:
            self.go_to(state)

    def _select_row(self, row: QModelIndex) -> None:
        if not row.isValid() or row.row() == self._navigation.selected:
            return
        self.select(row.row())
        if self._navigation.automaton is not None and self._table.isVisible():
            self.spans_hovered.emit(self._navigation.automaton.dfa.states[row.row()].spans)
