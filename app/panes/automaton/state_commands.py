"""The commands on a state or an edge: the *State* menu, which is also the context menu of the drawing.

The commands act on the selected state or edge. A right click selects what is under the pointer; the menu key opens the
menu of what is selected.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.catalogue import ui_text
from app.commands import Handler, command
from app.display_text import in_line, state_label
from app.graph.layout.types import EdgeKey
from app.pane_spec import PaneContext
from app.panes.automaton.navigation import Navigation
from app.panes.automaton.pane import AutomatonPane
from engine.decoding.debugging.breakpoints import StateName
from engine.decoding.debugging.run_until import Goal, RunUntil

_STATE, _EDGE, _BACKGROUND = "state", "edge", "background"  # the names of the context menus


def _on_edge(name: str, keys: str, place: tuple[int, int]) -> Callable[[Handler], Handler]:
    """Declare a command that needs a selected edge."""
    return command(
        f"state.{name}", f"Ctrl+M, {keys}", place=place, context=_EDGE, refusal=lambda self: self.edge_refusal
    )


class StateCommands(QObject):
    """Handles the commands of the selected state or edge, and opens the context menus.

    Args:
        view: the pane.
        context: the session and the commands of the window.
    """

    def __init__(self, view: AutomatonPane, context: PaneContext) -> None:
        super().__init__(view)
        self._pane, self._session, self._commands = view, context.session, context.commands
        self._menus = {name: QMenu(view) for name in (_STATE, _EDGE, _BACKGROUND)}
        view.view.menu_requested.connect(self._open_menu)
        view.table.menu_requested.connect(self._open_table_menu)
        context.commands.add(self, self._navigation.selection_changed)

    @property
    def _navigation(self) -> Navigation:
        return self._pane.navigation

    # --- menus -------------------------------------------------------------------------------------------------------

    def fill_menus(self) -> None:
        """Fill the context menus, once all commands have their handlers."""
        commands = self._commands
        commands.fill(self._menus[_STATE], lambda one: _STATE in (one.menu, one.context))
        commands.fill(self._menus[_EDGE], lambda one: one.context == _EDGE)
        commands.fill(self._menus[_BACKGROUND], lambda one: one.context == _BACKGROUND)

    def menu(self, state: int | None, edge: EdgeKey | None) -> QMenu:
        """Return the menu of an element."""
        return self._menus[_STATE if state is not None else _BACKGROUND if edge is None else _EDGE]

    def _open_menu(self, state: int | None, edge: EdgeKey | None, position: QPoint) -> None:
        if state is not None:
            self._pane.selection.select(state)
        elif edge is not None and self._navigation.selected_edge != edge:
            self._pane.selection.select_edge(edge)
        self.menu(state, edge).popup(position)

    def _open_table_menu(self, row: int, position: QPoint) -> None:
        self._pane.selection.select(row)
        self.menu(row if row >= 0 else None, None).popup(position)

    # --- refusals ----------------------------------------------------------------------------------------------------

    @property
    def state_refusal(self) -> str:
        """Return why there is no state to act on."""
        return "" if self._navigation.selected is not None else ui_text("automaton.refusal.no_state")

    @property
    def edge_refusal(self) -> str:
        """Return why there is no edge to act on."""
        return "" if self._navigation.selected_edge is not None else ui_text("automaton.refusal.no_edge")

    @property
    def element_refusal(self) -> str:
        """Return why there is nothing to act on."""
        return self.state_refusal and self.edge_refusal and ui_text("automaton.refusal.no_element")

    @property
    def named_refusal(self) -> str:
        """Return why there is no state with a number that lasts."""
        return self._navigation.named_refusal

    @property
    def run_refusal(self) -> str:
        """Return why no run can stop at the selected state."""
        name = self._navigation.selected_state
        if self.named_refusal or name is None:
            return self.named_refusal
        return ui_text("automaton.refusal.rule") if name[1] < 0 else self._session.step_refusal

    # --- source and runs ---------------------------------------------------------------------------------------------

    @command(
        "state.source",
        "Ctrl+M, Return",
        place=(1, 1),
        icon="ph.arrow-square-out",
        context=_EDGE,
        refusal=lambda self: self.element_refusal,
    )
    def _go_to_source(self) -> None:
        """Select in the editor what the selected state or edge reads."""
        navigation, drawn = self._navigation, self._navigation.drawn
        element = navigation.selected if navigation.selected is not None else navigation.selected_edge
        spans = drawn.spans(element) if drawn is not None and navigation.is_current else ()
        if spans:
            self._session.links.span_chosen.emit(spans[0])
        else:
            self._pane.selection.say(ui_text("automaton.say.no_source"))

    @command("state.run_here", "Ctrl+M, F5", place=(1, 2), refusal=lambda self: self.run_refusal)
    def _run_here(self) -> None:
        """Run until the match reaches the selected state."""
        name = self._named
        self._session.debugging.run_until(RunUntil(Goal.STATE, name=name[0], state=name[1], label=state_label(name)))

    # --- texts -------------------------------------------------------------------------------------------------------

    @command("state.copy_text", "Ctrl+M, X", place=(2, 1), refusal=lambda self: self.named_refusal)
    def _copy_text(self) -> None:
        """Copy a shortest text that leads to the selected state."""
        levels = self._navigation.levels
        text = None if levels is None else levels.text_to(self._named)
        if text is None:
            self._pane.selection.say(ui_text("automaton.say.no_text"))
            return
        QGuiApplication.clipboard().setText(text.decode("utf-8", "backslashreplace"))
        self._pane.selection.say(
            ui_text("automaton.say.copied", text=in_line(text)) if text else ui_text("automaton.say.empty_text")
        )

    @command("state.add_test", "Ctrl+M, U", place=(2, 2), refusal=lambda self: self.named_refusal)
    def _add_test(self) -> None:
        """Add a text that passes the selected state to the test strings."""
        levels = self._navigation.levels
        text = None if levels is None else levels.text_through(self._named)
        try:
            written = None if text is None else text.decode()
        except UnicodeDecodeError:
            written = None
        if written is None:
            self._pane.selection.say(ui_text("automaton.say.no_text"))
            return
        self._session.test_runs.add_text(written)
        self._pane.selection.say(ui_text("automaton.say.added", text=in_line(written.encode())))

    @property
    def _named(self) -> StateName:
        """Return the selected state as breakpoints identify it; the commands that need it are refused without one."""
        name = self._navigation.selected_state
        assert name is not None
        return name

    @property
    def call_refusal(self) -> str:
        """Return why there is no call to unfold or to fold."""
        navigation, levels = self._navigation, self._navigation.levels
        element = navigation.selected, navigation.selected_edge
        is_call = levels is not None and levels.toggled_call(navigation.view, *element) is not None
        return "" if is_call else ui_text("automaton.refusal.no_call")

    @command("state.unfold", "Ctrl+M, R", place=(4, 4), context=_EDGE, refusal=lambda self: self.call_refusal)
    def _unfold(self) -> None:
        """Draw the called rule in place of the selected call, or the call again."""
        navigation, before = self._navigation, len(self._navigation.view.unfolded)
        navigation.toggle_call(navigation.selected, navigation.selected_edge)
        if len(navigation.view.unfolded) < before:  # what is unfolded is said once it is drawn
            self._pane.selection.say(ui_text("automaton.say.folded"))

    @_on_edge("before", "PgUp", (4, 1))
    def _go_before(self) -> None:
        """Select the state that the selected edge begins at."""
        self._go_to_end(0)

    @_on_edge("after", "PgDown", (4, 2))
    def _go_after(self) -> None:
        """Select the state that the selected edge leads to."""
        self._go_to_end(1)

    def _go_to_end(self, end: int) -> None:
        edge = self._navigation.selected_edge
        if edge is not None:
            self._pane.selection.go_to(edge[end])

    @_on_edge("copy_label", "Y", (4, 3))
    def _copy_label(self) -> None:
        """Copy the label of the selected edge."""
        edge, drawn = self._navigation.selected_edge, self._navigation.drawn
        if edge is not None and drawn is not None:
            QGuiApplication.clipboard().setText(drawn.label(edge))
