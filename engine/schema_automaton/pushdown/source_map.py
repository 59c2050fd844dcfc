"""Source locations of interned assertions, resolved by the goal that a value is read for.

Equal assertions are one formula, so that results are shared, and two properties with
the same `maximum` share their states. A formula has the location of its first
occurrence; the arena records the locations of the other occurrences. Which one applies
follows from the goal of the value, which is on the stack: a goal refers to
definitions, and each schema of the source is a definition.

Rejected: distinguishing assertions by their locations. Nothing would be shared any
more between the properties of a schema that repeats itself. A path beside each
frame: there would be as many frames as paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import (
    And,
    EnumValues,
    ExactlyOne,
    Formula,
    Located,
    Maximum,
    Minimum,
    MultipleOf,
    Not,
    Or,
    Ref,
    TypeIn,
    span_of,
    span_of_location,
)
from engine.schema_automaton.pushdown.frames import Root
from engine.schema_automaton.solver.array_machine import ArrayState, ArrayTransition
from engine.schema_automaton.solver.object_machine import ObjectState, ObjectTransition
from engine.schema_automaton.string_languages.language import EnumLanguage, TextLanguage
from engine.source import Span

_DECISIVE: Final = (TypeIn, EnumValues, Minimum, Maximum)
"""The assertions that decide how a value may begin."""


class SourceMap:
    """The source locations of assertions that a schema makes more than once."""

    def __init__(self, arena: Arena) -> None:
        self._definitions = arena.definitions
        self._of_definition = [
            -1 if isinstance(location, Span) else next(location.ancestors) for location in arena.definition_locations
        ]
        self._numbers = frozenset(self._of_definition)
        self._duplicates: dict[Span, list[Located]] = {}
        for first, locations in arena.duplicate_locations():
            self._duplicates.setdefault(span_of_location(first), []).extend(locations)

    def resolve(self, spans: Iterable[Span], goals: Iterable[Formula]) -> Iterator[Span]:
        """Yield the source locations of the assertions that a value is read with.

        Args:
            spans: the first locations of the assertions.
            goals: the formulas that the value has to satisfy.
        """
        schemas: frozenset[int] | None = None
        for span in spans:
            candidates = self._duplicates.get(span)
            if candidates is None:
                yield span
                continue
            if schemas is None:
                schemas = self._schemas_of(goals)
            here = [location for location in candidates if self._is_in(location, schemas)]
            if not here:  # made by the schema as a whole
                here = [location for location in candidates if next(location.ancestors) in schemas]
            yield from (location.span for location in here) if here else (span,)

    def _schemas_of(self, goals: Iterable[Formula]) -> frozenset[int]:
        """Return the numbers of the schemas that decide whether a value satisfies the goals."""
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

    def _is_in(self, location: Located, schemas: frozenset[int]) -> bool:
        """Return whether a location is directly in one of these schemas, not in a schema nested in one."""
        _, *above = location.ancestors
        return next((each for each in above if each in self._numbers), -1) in schemas


def spans_of(
    alternative: Any, goals: list[Formula], definitions: Sequence[Formula | None]
) -> tuple[Iterable[Span], list[Formula]]:
    """Return the first source locations of an alternative of a frame, and the goals that resolve them.

    Args:
        alternative: an alternative of a frame (see `frames.Alternative`).
        goals: the goals of the value that contains it.
        definitions: the definitions of the arena.

    Returns:
        The locations, and `goals` or, where the next value is meant, the goal of that value.
    """
    match alternative:
        case ArrayState() | ObjectState():
            return alternative.machine.spans, goals
        case ArrayTransition() | ObjectTransition():
            decisive, others = _decisive_spans(alternative.goal, definitions)
            spans = decisive or others
            return (spans, [alternative.goal]) if spans else (alternative.state.machine.spans, goals)
        case TextLanguage() | EnumLanguage():
            return alternative.locations, goals
        case Root():
            return _decisive_spans(alternative.goal, definitions)[0], [alternative.goal]
        case _:
            return (), goals


def _decisive_spans(goal: Formula, definitions: Sequence[Formula | None]) -> tuple[set[Span], set[Span]]:
    """Return the locations of the assertions that decide how a value may begin, and those of all others.

    Definitions are followed.
    """
    todo, seen = [goal], set[Ref]()
    decisive, others = set[Span](), set[Span]()
    while todo:
        part = todo.pop()
        match part:
            case Ref():
                definition = definitions[part.number]
                if definition is not None and part not in seen:
                    seen.add(part)
                    todo.append(definition)
            case And() | Or() | ExactlyOne():
                todo += part.items
            case MultipleOf(written=True):
                pass  # one formula for all integers; the type assertion beside it has its own location
            case _:
                atom = part.item if isinstance(part, Not) else part
                (decisive if isinstance(atom, _DECISIVE) else others).add(span_of(part))
    return {span for span in decisive if span.end}, {span for span in others if span.end}
