"""The names, colours, comments and bookmarks that a user gave to states, and how they find their states after an edit.

A state is found again by its description (`StateNote`): where both its path and its place lead to the same state, or
its place alone, it is that state, and the description is renewed, so that it survives the next edit, too. Where only
the path exists, since the part of the grammar there was rewritten, the note stays with the state that the same text
leads to, and keeps its description until the place is there again. Otherwise the note is listed as one without a state.
"""

from __future__ import annotations

from collections import defaultdict

import msgspec
from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.display_text import in_line
from app.graph.draw.scene import AutomatonScene
from app.graph.match.folding import Chart
from app.models.states import StatesModel
from app.panes.automaton.levels import Levels
from app.panes.automaton.navigation import Navigation
from app.theme import Role
from engine.decoding.debugging.breakpoints import StateName
from engine.document.content import PathStep, StateNote
from engine.source import SourceText

_MOST_STEPS = 100


class StateNotes(QObject):
    """The notes of a document, and the states of the current grammar that they belong to.

    Attributes:
        notes: all notes.
        lost: the notes whose states the current grammar does not have.

    Signals:
        changed(notes): the user changed a note, or an edit moved one.
        shown(): other notes are attached, or the same to other states.
    """

    changed = Signal(tuple)
    shown = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.notes: tuple[StateNote, ...] = ()
        self.lost: tuple[StateNote, ...] = ()
        self._at: dict[StateName, StateNote] = {}
        self._finder: _StateFinder | None = None
        self._past: list[tuple[StateNote, ...]] = []
        self._future: list[tuple[StateNote, ...]] = []

    # --- contents ----------------------------------------------------------------------------------------------------

    def restart(self, notes: tuple[StateNote, ...]) -> None:
        """Set the notes of another document."""
        self._past, self._future = [], []
        self.notes, self._at, self.lost, self._finder = notes, {}, (), None

    def set_notes(self, notes: tuple[StateNote, ...]) -> None:
        """Set changed notes."""
        if notes != self.notes:
            self.notes = notes
            self._attach()

    def attach(self, levels: Levels) -> None:
        """Find the states of the notes in the automaton of another grammar."""
        self._finder = _StateFinder(levels)
        self._attach()

    def detach(self) -> None:
        """Forget the automaton; the notes stay."""
        self._finder, self._at, self.lost = None, {}, ()

    def _attach(self) -> None:
        if self._finder is None:
            return
        self._at, lost, renewed = {}, [], []
        for note in self.notes:
            name, described = self._finder.find(note)
            renewed.append(described)
            if name is None or name in self._at:
                lost.append(note)
            else:
                self._at[name] = described
        self.lost = tuple(lost)
        if tuple(renewed) != self.notes:
            self.notes = tuple(renewed)
            self.changed.emit(self.notes)
        self.shown.emit()

    @property
    def attached(self) -> tuple[tuple[StateName, StateNote], ...]:
        """Return the notes with a state."""
        return tuple(self._at.items())

    def note(self, name: StateName) -> StateNote:
        """Return the note about a state; an empty one if there is none."""
        if name in self._at:
            return self._at[name]
        return StateNote() if self._finder is None else self._finder.describe(name)

    # --- changes -----------------------------------------------------------------------------------------------------

    def change(self, name: StateName, note: StateNote) -> None:
        """Replace the note about a state, as one step of undo; an empty note is removed."""
        before = self._at.get(name)
        others = tuple(one for one in self.notes if one is not before and one != before)
        self._apply(others if note.is_empty else (*others, note))

    def remove(self, note: StateNote) -> None:
        """Remove a note, as one step of undo."""
        self._apply(tuple(one for one in self.notes if one != note))

    def move(self, note: StateNote, name: StateName) -> None:
        """Attach a note to another state, as one step of undo."""
        if self._finder is not None:
            described = self._finder.describe(name)
            kept = {field: getattr(note, field) for field in ("name", "colour", "comment", "is_bookmarked")}
            moved = msgspec.structs.replace(described, **kept)
            self._apply(tuple(moved if one == note else one for one in self.notes if one != self._at.get(name)))

    def _apply(self, notes: tuple[StateNote, ...]) -> None:
        if notes != self.notes:
            self._past = [*self._past, self.notes][-_MOST_STEPS:]
            self._future = []
            self._set(notes)

    def _set(self, notes: tuple[StateNote, ...]) -> None:
        self.notes = notes
        self._attach()
        self.changed.emit(self.notes)

    @property
    def has_history(self) -> bool:
        """Return whether there is a change of a note to undo or to redo."""
        return bool(self._past or self._future)

    def undo(self) -> None:
        """Undo the last change of a note."""
        if self._past:
            self._future.append(self.notes)
            self._set(self._past.pop())

    def redo(self) -> None:
        """Redo the last change that was undone."""
        if self._future:
            self._past.append(self.notes)
            self._set(self._future.pop())

    # --- showing -----------------------------------------------------------------------------------------------------

    def names(self, navigation: Navigation) -> dict[int, str]:
        """Return the names of the states of the current view."""
        return {state: note.name for state, note in self._here(navigation).items() if note.name}

    def show(self, navigation: Navigation, scene: AutomatonScene, model: StatesModel) -> None:
        """Mark the states of the current view.

        Args:
            navigation: has the view.
            scene: the drawing.
            model: the table.
        """
        here = self._here(navigation)
        model.set_notes({state: note_text(note) for state, note in here.items()})
        drawn = here if navigation.is_current else {}
        scene.set_notes(
            {state: Role(f"note-{note.colour}") for state, note in drawn.items() if note.colour},
            [state for state, note in drawn.items() if note.is_bookmarked],
            [state for state, note in drawn.items() if note.comment],
        )

    def _here(self, navigation: Navigation) -> dict[int, StateNote]:
        levels = navigation.levels
        if levels is None or navigation.automaton is None:
            return {}
        found = ((levels.shown_state(navigation.view, name), note) for name, note in self._at.items())
        return {state: note for state, note in found if state is not None}


def note_text(note: StateNote) -> str:
    """Return the colour, the bookmark and the comment of a note; its name is shown elsewhere."""
    parts = [
        ui_text(f"automaton.notes.colour.{note.colour}") if note.colour else "",
        ui_text("automaton.notes.bookmark") if note.is_bookmarked else "",
    ]
    return "\n".join(filter(None, (" · ".join(filter(None, parts)), note.comment)))


def place_text(note: StateNote) -> str:
    """Return where a state is in the grammar, for a note without a state."""
    path = "".join(f"‹{step.rule}›" if step.rule else in_line(step.text) for step in note.path)
    return ui_text("automaton.notes.fragment.after", rule=note.rule, text=path).strip()


class _StateFinder:
    """Describes and finds the states of one grammar's automaton."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._alike: dict[str, dict[tuple[str, ...], list[int]]] = {}  # by rule and text, the states in their order

    def describe(self, name: StateName) -> StateNote:
        """Return an empty note about a state."""
        rule, state = name
        if state < 0:
            return StateNote(rule=rule, is_rule=True)
        steps = self._levels.steps_to(name) or ()
        chart = self._chart(rule)
        path = tuple(
            PathStep(text=one) if isinstance(one, bytes) else PathStep(rule=self._levels.names[one]) for one in steps
        )
        if chart is None:
            return StateNote(rule=rule, path=path)
        reads = _reads(chart, state, self._levels.source)
        alike = self._states(rule, chart).get(reads, [state])
        return StateNote(rule=rule, path=path, reads=reads, rank=alike.index(state), alike=len(alike))

    def find(self, note: StateNote) -> tuple[StateName | None, StateNote]:
        """Return the state of a note, None for none, and the note with a renewed description if it is certain."""
        if note.is_rule:
            return ((note.rule, -1) if note.rule in self._levels.names else None), note
        chart = self._chart(note.rule)
        if chart is None:
            return None, note
        followed = self._follow(chart, note.path)
        if followed is not None and _reads(chart, followed, self._levels.source) == note.reads:
            return (note.rule, followed), self._renewed(note, followed)
        alike = self._states(note.rule, chart).get(note.reads, []) if note.reads else []
        if len(alike) == note.alike and note.rank < len(alike):
            return (note.rule, alike[note.rank]), self._renewed(note, alike[note.rank])
        return (None if followed is None else (note.rule, followed)), note

    def _renewed(self, note: StateNote, state: int) -> StateNote:
        described = self.describe((note.rule, state))
        fields = {name: getattr(described, name) for name in ("path", "reads", "rank", "alike")}
        return msgspec.structs.replace(note, **fields)

    def _chart(self, rule: str) -> Chart | None:
        """Return the automaton that has the states of a rule; None if it is not known completely."""
        levels = self._levels
        if levels.rules is None:
            return levels.part.chart if not rule and levels.is_whole else None
        return levels.rules.rules[levels.names.index(rule)] if rule in levels.names else None

    def _follow(self, chart: Chart, path: tuple[PathStep, ...]) -> int | None:
        state = chart.dfa.start
        for step in path:
            if state is None:
                return None
            if not step.rule:
                state = chart.dfa.run(step.text, state)
                continue
            names = self._levels.names
            number = names.index(step.rule) if step.rule in names else -1
            state = next((key[1] for key, called in chart.calls.items() if key[0] == state and number in called), None)
        return state

    def _states(self, rule: str, chart: Chart) -> dict[tuple[str, ...], list[int]]:
        if rule not in self._alike:
            found: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
            for state in chart.dfa.states:
                found[_reads(chart, state.id, self._levels.source)].append(state.id)
            self._alike[rule] = found
        return self._alike[rule]


def _reads(chart: Chart, state: int, source: SourceText | None) -> tuple[str, ...]:
    spans = chart.dfa.states[state].spans
    return () if source is None else tuple(source.excerpt(span) for span in spans if span.end <= len(source.text))
