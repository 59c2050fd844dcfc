"""Searches an automaton: a state by number, a rule by name, states that read a byte or a class, a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.commands import command
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.view import GraphView
from app.graph.layout.types import EdgeKey
from app.graph.match.folding import Chart
from app.panes.automaton.levels import Levels
from app.panes.automaton.navigation import Navigation
from app.panes.automaton.view_state import ViewState
from app.widgets.find_bar import FindBar
from engine.decoding.debugging.breakpoints import StateName

MOST_HITS = 500
_HEX = re.compile(r"(?:0x|\\x)([0-9a-fA-F]{2})")
_ESCAPES = {r"\n": b"\n", r"\t": b"\t", r"\r": b"\r", "␣": b" ", "↵": b"\n"}
_CLASS = re.compile(r"(?:\[(?P<inner>[^\]]+)\]|(?P<bare>(?:[^\s-]-[^\s-])+))", re.DOTALL)
_PART = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_ASCII = 0x7F

CodePoints = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result.

    Attributes:
        description: what it is, such as `state 3 reads "x"`.
        state: a state of the rule, if there is one, otherwise of the drawing; None for a whole rule.
        rule: a rule or region; empty for a state without one.
        in_part: whether the state belongs to the automaton over bytes, which may not be shown now.
    """

    description: str
    state: int | None = None
    rule: str = ""
    in_part: bool = False


class AutomatonSearch(QObject):
    """Searches for the text of a find bar, highlights the hits, and steps through them.

    Attributes:
        hits: the results, the most likely first.

    Signals:
        state_found(int): the state of the current hit is drawn.
        listed(str): there are other hits; a title for their list.

    Args:
        bar: the find bar.
        navigation: shows the rule or the neighbourhood of a hit that is not drawn.
        view: the view of the drawing.
        scene: the drawing.
    """

    state_found = Signal(int)
    listed = Signal(str)

    def __init__(self, bar: FindBar, navigation: Navigation, view: GraphView, scene: AutomatonScene) -> None:
        super().__init__(bar)
        self._bar, self._navigation, self._view, self._scene = bar, navigation, view, scene
        self.hits: Sequence[Hit] = ()
        self._current = -1
        self._pending: int | None = None  # the state to go to, which is not drawn yet
        bar.text_changed.connect(self._search)
        bar.step_requested.connect(self._step)

    @command("automaton.find", "Ctrl+Shift+F", place=(1, 1), icon="ph.magnifying-glass", context="background")
    def open(self) -> None:
        """Open the find bar."""
        if self._navigation.levels is not None:
            self._bar.open_bar()

    def forget(self) -> None:
        """Do not go to the pending state, since the user is elsewhere."""
        self._pending = None

    def go_to_state(self, name: StateName) -> None:
        """Go to a state of the automaton or to a rule, wherever it is drawn."""
        rule, state = name
        self._go_to(Hit("", None if state < 0 else state, rule, in_part=not rule))

    def go_to_pending_state(self) -> None:
        """Report the pending state, as soon as it is drawn."""
        if self._pending is None or self._navigation.wanted is not None or self._scene.box(self._pending) is None:
            return
        state, self._pending = self._pending, None
        self.state_found.emit(state)

    def _search(self, text: str) -> None:
        levels = self._navigation.levels
        self.hits = find(levels, self._navigation.view, text) if levels is not None else ()
        self._current = -1
        self._show_result()
        numbers = {number for hit in self.hits if (number := self._number_of(hit)) is not None}
        drawn = {number for number in numbers if self._scene.box(number) is not None}
        self._scene.set_highlighted(drawn)
        if self.hits and (first := self._number_of(self.hits[0])) in drawn:
            self._view.follow(first)
        self.listed.emit(ui_text("automaton.lists.hits", count=len(self.hits), text=text))

    def show_hit(self, number: int) -> None:
        """Go to a hit."""
        self._current = number - 1
        self._step(1)

    def _show_result(self) -> None:
        """Show the first hit in the bar; Return goes to it."""
        self._bar.set_can_step(can_step=bool(self.hits))
        if not self._bar.text():
            self._bar.set_result("")
        elif not self.hits:
            self._bar.set_result(ui_text("common.find.nothing"))
        else:
            first = self.hits[0].description
            total = len(self.hits)
            self._bar.set_result(
                ui_text("automaton.find.found", first=first, total=total) if total > 1 else first, first
            )

    def _step(self, step: int) -> None:
        if not self.hits:
            return
        is_first_step_back = self._current < 0 and step < 0
        self._current = len(self.hits) - 1 if is_first_step_back else (self._current + step) % len(self.hits)
        hit = self.hits[self._current]
        position = ui_text(
            "automaton.find.position", hit=hit.description, number=self._current + 1, total=len(self.hits)
        )
        self._bar.set_result(position, hit.description)
        self._go_to(hit)

    def _go_to(self, hit: Hit) -> None:
        navigation = self._navigation
        if hit.state is None:
            navigation.show_rule(hit.rule)
            return
        if self._number_of(hit) is None:
            if hit.rule:
                navigation.show_rule(hit.rule)
                self._bar.field.setFocus()  # Return goes to the next hit
            else:
                navigation.go_to(replace(navigation.view, centre=hit.state, tokens=None, opened=()))
        state = self._number_of(hit)
        if state is not None and self._scene.box(state) is None and navigation.wanted is None:
            navigation.go_to(replace(navigation.view, centre=state, opened=()))
        self._pending = state
        self.go_to_pending_state()

    def _number_of(self, hit: Hit) -> int | None:
        """Return the number of a hit in the current view; None if it is not shown."""
        navigation = self._navigation
        if navigation.levels is None or hit.state is None:
            return None
        if hit.rule:
            number = navigation.levels.number_of(navigation.view, hit.rule, hit.state)
        else:
            number = None if hit.in_part and not navigation.shows_part else hit.state
        return None if number is None else self._drawn_state(number)

    def _drawn_state(self, state: int) -> int:
        """Return the drawn state for a state: the start of the text that it is inside of, if that is one edge."""
        drawn = self._navigation.drawn
        automaton = self._navigation.automaton
        return state if automaton is None or drawn is None else automaton.node(state, is_folded=drawn.is_folded)


def find(levels: Levels, view: ViewState, text: str) -> tuple[Hit, ...]:
    """Search an automaton, the most likely interpretation first.

    A number is a state. `"…"` is a text: the state that it leads to, and the states that it is read from. One
    character, or `0x41`, is a byte: the states that read it. `a-z`, or `[a-z_]`, is a class: the states that read all
    of it. Anything else is a part of a rule's name, or a text.

    Args:
        levels: the automaton.
        view: the current view.
        text: the search text.

    Returns:
        at most `MOST_HITS` hits.
    """
    wanted = text.strip() or text
    if not wanted:
        return ()
    numbered = _numbered(levels, view, int(wanted)) if wanted.isdecimal() else []
    hits = list(numbered)
    quoted = len(wanted) > 2 and wanted[0] == wanted[-1] == '"'
    if not quoted:
        folded = wanted.casefold()
        named = [name for name in levels.names if folded in name.casefold()]
        named.sort(key=lambda name: (name.casefold() != folded, not name.casefold().startswith(folded)))
        hits += [Hit(_map_title(levels, name), rule=name) for name in named]
    data = _bytes(wanted[1:-1] if quoted else wanted)
    hits += _find_target(levels, data)
    if len(data) == 1 and not quoted:
        hits += _find_readers(levels, view, data[0])
    else:
        if not quoted and (found := _class(wanted)):
            hits += _find_class_readers(levels, view, found, wanted)
        hits += () if numbered else _find_sources(levels, view, data)
    return tuple(dict.fromkeys(hits))[:MOST_HITS]


def _map_title(levels: Levels, name: str) -> str:
    is_rule = levels.rules is not None
    return ui_text("common.fragment.rule" if is_rule else "automaton.find.fragment.region", name=name)


def _numbered(levels: Levels, view: ViewState, number: int) -> list[Hit]:
    if levels.rules is None and levels.is_whole and not levels.is_nfa:
        exists = number < len(levels.part.dfa.states)
        return [Hit(ui_text("automaton.find.fragment.state", name=number), number, in_part=True)] if exists else []
    automaton = levels.automaton(view)
    if automaton.noun != "state" or number >= len(automaton.dfa.states):
        return []
    named = [state for state in range(len(automaton.dfa.states)) if automaton.name(state).split()[-1] == str(number)]
    return [Hit(ui_text("automaton.find.fragment.state", name=automaton.name(state)), state) for state in named]


def _find_target(levels: Levels, data: bytes) -> list[Hit]:
    if levels.rules is not None or not levels.is_whole or levels.is_nfa:
        return []
    state = levels.part.dfa.run(data)
    if state is None:
        return []
    return [Hit(ui_text("automaton.find.target", text=_shown(data), state=state), state, in_part=True)]


def _find_sources(levels: Levels, view: ViewState, data: bytes) -> Iterator[Hit]:
    """Find the states that a text can be read from; of rules, those that read it without a call."""
    for rule, chart in levels.searched(view):
        for state in chart.dfa.states:
            if (rule or state.id != chart.dfa.start) and chart.dfa.run(data, state.id) is not None:
                yield _hit(levels, rule, chart, state.id, "reads_text", text=_shown(data))


def _find_readers(levels: Levels, view: ViewState, byte: int) -> Iterator[Hit]:
    for rule, chart in levels.searched(view):
        for edge in chart.dfa.edges:
            if any(first <= byte <= last for first, last in edge.ranges):
                yield _hit(levels, rule, chart, edge.source, "reads_it")


def _find_class_readers(levels: Levels, view: ViewState, wanted: CodePoints, text: str) -> list[Hit]:
    """Find the states that read all characters of a class; those with an edge for exactly these come first."""
    exact: list[Hit] = []
    others: list[Hit] = []
    for rule, chart in levels.searched(view):
        edges = chart.dfa.edges if chart.fold is None else chart.fold.edges
        for edge in edges:
            taken = _characters(chart, (edge.source, edge.target), edge.ranges)
            if all(any(a <= first and last <= b for a, b in taken) for first, last in wanted):
                hit = _hit(levels, rule, chart, edge.source, "reads", text=text)
                (exact if sorted(taken) == sorted(wanted) else others).append(hit)
    return exact + others


def _characters(chart: Chart, key: EdgeKey, ranges: CodePoints) -> CodePoints:
    """Return the characters that take an edge."""
    beyond = () if chart.fold is None else chart.fold.characters.get(key, ())
    return (*((first, min(last, _ASCII)) for first, last in ranges if first <= _ASCII), *beyond)


def _hit(levels: Levels, rule: str, chart: Chart, state: int, reads: str, **fields: str) -> Hit:
    name = f"{rule} {state}" if rule else chart.names[state] if chart.names else str(state)
    text = ui_text(f"automaton.find.fragment.{reads}", name=name, **fields)
    return Hit(text, state, rule) if rule else Hit(text, state, in_part=levels.is_whole)


def _class(text: str) -> CodePoints:
    """Return the characters of a class such as `a-z` or `[a-z_]`; none if a text is no class."""
    found = _CLASS.fullmatch(text)
    if found is None:
        return ()
    inner = _PART.finditer(found["inner"] or found["bare"])
    parts = [(ord(one[1] or one[3]), ord(one[2] or one[3])) for one in inner]
    return tuple(parts) if all(first <= last for first, last in parts) else ()


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _bytes(text: str) -> bytes:
    if found := _HEX.fullmatch(text):
        return bytes.fromhex(found[1])
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character.decode())
    return text.encode("utf-8", "replace")
