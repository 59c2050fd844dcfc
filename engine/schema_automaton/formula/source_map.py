"""Which of equal assertions is meant where a match stands.

Equal assertions are one formula, so that what is known about one is known about
all, and two properties with the same `maximum` share their states. A formula has
the place of the first that said it; where else it was said the arena notes down.
Which of these places is meant is told by what the value is read for: that is a
goal on the stack, made of definitions, and each schema of the source is one.

Rejected: assertions that differ where only their places do. Nothing would be
shared any more between the properties of a schema that repeats itself. A path
beside each frame: frames that are alike but for it would be as many as paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import (
    And,
    ExactlyOne,
    Formula,
    Located,
    MultipleOf,
    Not,
    Or,
    Ref,
    span_at,
    span_of,
)
from engine.schema_automaton.pushdown.frames import Root
from engine.schema_automaton.solver.array_machine import ArrayState, ArrayTransition
from engine.schema_automaton.solver.object_machine import ObjectState, ObjectTransition
from engine.schema_automaton.string_languages.language import EnumLanguage, TextLanguage
from engine.source import Span


class SourceMap:
    """The places of assertions that a schema makes more than once."""

    def __init__(self, arena: Arena) -> None:
        self._definitions = arena.definitions
        self._of_definition = [-1 if isinstance(place, Span) else next(place.way_up) for place in arena.places]
        self._numbers = frozenset(self._of_definition)
        self._said: dict[Span, list[Located]] = {}
        for first, places in arena.duplicate_locations():
            self._said.setdefault(span_at(first), []).extend(places)

    def resolve(self, spans: Iterable[Span], goals: Iterable[Formula]) -> Iterator[Span]:
        """The places of assertions that a value is read with.

        Args:
            spans: where they, or their equals, were first said.
            goals: what the value is read for.
        """
        schemas: frozenset[int] | None = None
        for span in spans:
            said = self._said.get(span)
            if said is None:
                yield span
                continue
            if schemas is None:
                schemas = self._schemas(goals)
            here = [place for place in said if self._is_in(place, schemas)]
            here = here or [place for place in said if next(place.way_up) in schemas]  # said by the schema as a whole
            yield from (place.span for place in here) if here else (span,)

    def _schemas(self, goals: Iterable[Formula]) -> frozenset[int]:
        """The schemas that must hold, or not, for a value to satisfy goals: by their numbers in the source."""
        todo, seen, found = list(goals), set[Formula](), set[int]()
        while todo:
            match todo.pop():
                case Ref() as sub if sub not in seen:
                    seen.add(sub)
                    found.add(self._of_definition[sub.number])
                    definition = self._definitions[sub.number]
                    todo += () if definition is None else (definition,)
                case Not() as negation:
                    todo.append(negation.item)
                case And() | Or() | ExactlyOne() as whole if whole not in seen:
                    seen.add(whole)
                    todo += whole.items
                case _:
                    pass
        return frozenset(found)

    def _is_in(self, place: Located, schemas: frozenset[int]) -> bool:
        """Whether a place is directly in one of these schemas."""
        _, *above = place.way_up
        return next((each for each in above if each in self._numbers), -1) in schemas


def spans_of(place: Any, goals: list[Formula]) -> tuple[Iterable[Span], list[Formula]]:
    """Where a place of a level is said, and what for: `goals`, or what the value is read for that comes next."""
    match place:
        case ArrayState() | ObjectState():
            return place.case.spans, goals
        case ArrayTransition() | ObjectTransition():
            spans = _goal_spans(place.goal)
            return (spans, [place.goal]) if spans else (place.place.case.spans, goals)
        case TextLanguage() | EnumLanguage():
            return place.places, goals
        case Root():
            return _goal_spans(place.goal), [place.goal]
        case _:
            return (), goals


def _goal_spans(goal: Formula) -> set[Span]:
    """The assertions that a value meets at once; not those of definitions, which may refer to one another."""
    if isinstance(goal, And | Or | ExactlyOne):
        return {span for item in goal.items for span in _goal_spans(item)}
    if isinstance(goal, MultipleOf) and goal.written:
        return set()  # one for all integers; the kinds beside it have a place of their own
    span = span_of(goal)
    return {span} if span.end else set()
