"""The transitions that lead to a state, and the paths from one state to another, listed below the drawing.

All edges on paths between the two states are highlighted, those of loops too. The list has the paths that pass no state
twice, since with loops there are endlessly many others; they are enumerated while the window stays responsive, up to a
limit. In a drawing of characters, merged runs or rules, the paths are those of what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QElapsedTimer, QObject
from PySide6.QtGui import QGuiApplication

from app.catalogue import ui_text
from app.commands import Handler, command
from app.delays import delayed
from app.display_text import in_line
from app.graph.draw.diagram import label_text
from app.graph.layout.types import EdgeKey
from app.graph.match.chart_texts import edges_between, simple_paths
from app.panes.automaton.drawing import Automaton
from app.panes.automaton.list_panel import ListAction, ListRow
from app.panes.automaton.pane import AutomatonPane

MOST_PATHS = 200
_SLICE_MS = 8
_MOST_LISTED = 500
_LONGEST = 80


def _on_state(name: str, keys: str, place: tuple[int, int]) -> Callable[[Handler], Handler]:
    """Declare a command that needs a selected state."""
    return command(f"state.{name}", f"Ctrl+M, {keys}", place=place, refusal=lambda self: self.refusal)


class PathLists(QObject):
    """Lists transitions and paths of the selected state.

    Args:
        view: the pane.
    """

    def __init__(self, view: AutomatonPane) -> None:
        super().__init__(view)
        self._pane, self._navigation = view, view.navigation
        self._start: tuple[Automaton, int] | None = None  # where the next paths begin
        self._ends = 0, 0
        self._paths: Iterator[tuple[int, ...] | None] = iter(())
        self._found: list[tuple[int, ...]] = []
        self._timer = delayed(self, 0, self._continue)
        view.lists.closed.connect(self._on_closed)

    @property
    def refusal(self) -> str:
        """Return why there is no state to act on."""
        is_shown = self._navigation.selected is not None and self._navigation.is_current
        return "" if is_shown else ui_text("automaton.refusal.no_state")

    @property
    def is_searching(self) -> bool:
        """Return whether more paths are being enumerated."""
        return self._timer.isActive()

    @_on_state("incoming", "I", (3, 1))
    def _list_incoming(self) -> None:
        """List the transitions that lead to the selected state."""
        state, automaton, is_folded = self._selected()
        entering = automaton.surroundings(is_folded=is_folded).entering(state)
        keys = [(edge.source, edge.target) for edge in entering]
        rows = [
            ListRow(
                f"{automaton.name(key[0])}  —  {self._label(key)}  →  {automaton.name(state)}",
                partial(self._show, (key,), ()),
                partial(self._pane.selection.go_to, key[0]),
            )
            for key in keys[:_MOST_LISTED]
        ]
        self._pane.lists.show_list(
            ui_text("automaton.lists.incoming", count=len(keys), state=automaton.name(state)), rows
        )
        self._pane.lists.focus_list()

    @_on_state("paths_from", "F", (3, 2))
    def _start_paths(self) -> None:
        """Let the next paths begin at the selected state."""
        state, automaton, _ = self._selected()
        self._start = automaton, state
        self._navigation.choose((), (state,))
        self._pane.selection.say(ui_text("automaton.say.paths_start", state=automaton.name(state)))

    @_on_state("paths_to", "O", (3, 3))
    def _list_paths(self) -> None:
        """List the paths to the selected state: from the chosen one, by default from the start."""
        target, automaton, is_folded = self._selected()
        source = self._start[1] if self._start is not None and self._start[0] is automaton else None
        if source is None:
            starts = (states[0] for _, states in automaton.chart.groups if target in states)
            source = next(starts, automaton.dfa.start)
        if source is None:
            return
        between = edges_between(automaton.surroundings(is_folded=is_folded).keys, source, target)
        copy = ListAction(ui_text("automaton.lists.copy.label"), ui_text("automaton.lists.copy.tip"), self._copy)
        self._pane.lists.show_list("", (), (copy,))
        self._paths, self._found, self._ends = simple_paths(between, source, target), [], (source, target)
        self._continue()
        self._pane.lists.list.setFocus()
        self._pane.lists.list.setCurrentRow(-1)  # Qt makes the first row of a list with the focus the current one
        self._show(between, self._ends)

    def _selected(self) -> tuple[int, Automaton, bool]:
        """Return the selected state, its automaton, and whether characters are drawn."""
        navigation = self._navigation
        assert navigation.selected is not None
        assert navigation.drawn is not None
        return navigation.selected, navigation.drawn.automaton, navigation.drawn.is_folded

    def _continue(self) -> None:
        """Enumerate paths until the time is up, and continue after pending events."""
        clock = QElapsedTimer()
        clock.start()
        before, is_done = len(self._found), False
        while clock.elapsed() < _SLICE_MS and len(self._found) < MOST_PATHS:
            path = next(self._paths, ())
            if path == ():
                is_done = True
                break
            if path is not None:
                self._found.append(path)
        self._pane.lists.add_rows([self._row(path) for path in self._found[before:]])
        is_limited = not is_done and len(self._found) >= MOST_PATHS
        self._pane.lists.set_title(self._title("first" if is_limited else "all" if is_done else "more"))
        if not is_done and not is_limited:
            self._timer.start()

    def _title(self, form: str) -> str:
        drawn = self._navigation.drawn
        source, target = (str(end) if drawn is None else drawn.automaton.name(end) for end in self._ends)
        if form == "all" and not self._found:
            return ui_text("automaton.lists.no_paths", source=source, target=target)
        return ui_text(f"automaton.lists.{form}_paths", count=len(self._found), source=source, target=target)

    def _row(self, path: tuple[int, ...]) -> ListRow:
        drawn = self._navigation.drawn
        names = path if drawn is None else [drawn.automaton.name(state) for state in path]
        keys = tuple(pairwise(path))
        text = self._text(path)
        shown = " ".join(map(self._label, keys)) if text is None else f"“{in_line(text)}”"
        states = " → ".join(map(str, names))
        return ListRow(f"{_shortened(shown)}  ·  {_shortened(states)}", partial(self._show, keys, (path[0], path[-1])))

    def _text(self, path: tuple[int, ...]) -> bytes | None:
        """Return a shortest text of a path; None if it has none, or if it is one of rules or regions."""
        levels, drawn, view = self._navigation.levels, self._navigation.drawn, self._navigation.view
        if levels is None or drawn is None:
            return None
        parts = [levels.edge_text(view, key, is_folded=drawn.is_folded) for key in pairwise(path)]
        known = [part for part in parts if part is not None]
        return b"".join(known) if len(known) == len(parts) else None

    def _label(self, key: EdgeKey) -> str:
        drawn = self._navigation.drawn
        return "" if drawn is None else " | ".join(map(label_text, drawn.label(key).split("\n")))

    def _show(self, edges: Collection[EdgeKey], ends: tuple[int, ...]) -> None:
        self._navigation.choose(edges, ends)

    def _copy(self, row: int) -> None:
        """Copy the text of a path."""
        text = self._text(self._found[row])
        if text is None:
            self._pane.selection.say(ui_text("automaton.say.no_text"))
            return
        QGuiApplication.clipboard().setText(text.decode("utf-8", "backslashreplace"))
        self._pane.selection.say(ui_text("automaton.say.copied", text=in_line(text)))

    def _on_closed(self) -> None:
        """Stop the search, and remove what it highlights."""
        self._timer.stop()
        self._navigation.choose(())


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST // 2] + " … " + text[-_LONGEST // 2 :]
