"""Key classes: the keys of an object that are not mentioned by name, grouped by the assertions that apply to them.

Every assertion about a set of keys splits the other keys in two; the parts that are
left after all assertions are the key classes. Empty parts are dropped at once, so many
patterns that exclude each other give few classes.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.formula.nodes import And, EnumValues, Formula, Not, Or
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.source import Span, checkpoint

if TYPE_CHECKING:
    from engine.schema_automaton.formula.arena import Arena
    from engine.schema_automaton.solver.solver import SchemaSolver


def names_in(keys: Formula) -> Iterator[str]:
    """Yield the strings that a formula over keys mentions, in order."""
    todo = [keys]
    while todo:
        part = todo.pop()
        match part:
            case EnumValues():
                yield from (value for value in part.values if isinstance(value, str))
            case And() | Or():
                todo += reversed(part.items)
            case Not():
                todo.append(part.item)
            case _:
                pass


@dataclass(eq=False, slots=True)
class KeyClass:
    """A set of keys that no assertion distinguishes.

    Attributes:
        keys: the formula that they satisfy, apart from the names.
        names: the names of the object, which are not in the class.
        goal: what the values of such members must satisfy.
        exists_constraints: the existential assertions that such a member may satisfy, as a bit set.
    """

    keys: Formula
    names: tuple[str, ...]
    goal: Formula
    exists_constraints: int
    _languages: dict[frozenset[str], TextLanguage] = field(default_factory=dict)
    _witnesses: dict[frozenset[str], str | None] = field(default_factory=dict)

    def language(self, solver: SchemaSolver, used: frozenset[str]) -> TextLanguage:
        """Return the language of the keys of this class that are not used yet."""
        language = self._languages.get(used)
        if language is None:
            language = self._languages[used] = solver.text(self._without(solver, used))
        return language

    def has_keys(self, solver: SchemaSolver) -> bool:
        """Return whether the class contains a key that is not one of the names."""
        return self.keys is solver.arena.true or self.language(solver, frozenset()).start is not None

    def witness(self, solver: SchemaSolver, used: frozenset[str]) -> str | None:
        """Return one key of the class that is not used yet; None if there is none."""
        if self.keys is solver.arena.true:
            taken = {*self.names, *used}
            checkpoint(1 + len(taken) // 4)
            return next(key for key in (f"x{i}" for i in range(len(taken) + 1)) if key not in taken)
        if used not in self._witnesses:
            self._witnesses[used] = next(iter(some_strings(self.language(solver, used), 1)), None)
        return self._witnesses[used]

    def _without(self, solver: SchemaSolver, used: frozenset[str]) -> Formula:
        checkpoint(1 + len(self.names) + len(used))
        excluded = [name for name in sorted({*self.names, *used}) if solver.holds_string(self.keys, name)]
        if not excluded:
            return self.keys
        arena = solver.arena
        return arena.all_of((self.keys, arena.negate(arena.among(excluded, Span(0, 0)))))


def some_strings(language: TextLanguage, most: int) -> list[str]:
    """Return up to `most` strings of a language; at most one, found breadth first, if it has no encoded automaton."""
    if language.start is None:
        return []
    if language.spelled is not None:
        return language.spelled.some_strings(most)
    automaton = language.automaton
    bytes_of = automaton.classes.representatives
    predecessors: dict[int, tuple[int, int]] = {language.start: (DEAD, 0)}
    queue = deque([language.start])
    while queue:
        state = queue.popleft()
        checkpoint(automaton.n_classes)
        if language.accepts(state):
            encoded = bytearray()
            while state != language.start or encoded == b"":
                state, byte = predecessors[state]
                if state == DEAD:
                    break
                encoded.append(byte)
            return [str(json.loads(b'"' + bytes(reversed(encoded)) + b'"'))]
        for byte_class in range(automaton.n_classes):
            following = automaton.step(state, byte_class)
            if following != DEAD and following not in predecessors:
                predecessors[following] = (state, bytes_of[byte_class])
                queue.append(following)
    return []


def find_key_classes(
    solver: SchemaSolver,
    names: tuple[str, ...],
    every: list[tuple[Formula, Formula]],
    exists_constraints: list[tuple[Formula, Formula]],
) -> tuple[tuple[KeyClass, ...], bool]:
    """Compute the key classes of an object.

    Args:
        solver: the solver.
        names: the names that assertions mention.
        every: the universal assertions: keys, and what their values must satisfy.
        exists_constraints: the existential assertions: keys, and what one of their values must satisfy.

    Returns:
        The classes, and whether every key that is not a name is in one of them.
    """
    arena = solver.arena
    conditions: dict[Formula, list[tuple[Formula, int]]] = {}
    for keys, value in every:
        conditions.setdefault(elsewhere(arena, keys), []).append((value, 0))
    for number, (keys, _) in enumerate(exists_constraints):
        conditions.setdefault(elsewhere(arena, keys), []).append((arena.true, 1 << number))
    classes: list[tuple[tuple[Formula, ...], Formula, int]] = [((), arena.true, 0)]
    any_key = True
    for keys, effects in conditions.items():
        if keys is arena.false:
            continue
        goal = arena.all_of(value for value, _ in effects)
        mask = 0
        for _, bit in effects:
            mask |= bit
        split: list[tuple[tuple[Formula, ...], Formula, int]] = []
        checkpoint(16 * len(classes))
        for parts, old, bits in classes:
            split.append(((*parts, keys), arena.all_of((old, goal)), bits | mask))
            if keys is not arena.true:
                split.append(((*parts, arena.negate(keys)), old, bits))
        possible = [one for one in split if one[1] is not arena.false]
        any_key = any_key and len(possible) == len(split)
        classes = [one for one in possible if _inhabited(solver, one[0])]
        solver.limits.check("sets of keys that an object tells apart", len(classes), 2000)
    merged: dict[tuple[Formula, int], list[Formula]] = {}
    for parts, goal, bits in classes:
        merged.setdefault((goal, bits), []).append(arena.all_of(parts))
    found = tuple(KeyClass(arena.any_of(parts), names, goal, bits) for (goal, bits), parts in merged.items())
    return found, any_key


def _inhabited(solver: SchemaSolver, parts: tuple[Formula, ...]) -> bool:
    formula = solver.arena.all_of(parts)
    if formula is solver.arena.true:
        return True
    return solver.text(formula).start is not None


def elsewhere(arena: Arena, keys: Formula) -> Formula:
    """Restrict a formula over keys to the strings that it does not mention."""
    match keys:
        case EnumValues():
            return arena.false
        case Not():
            return arena.negate(elsewhere(arena, keys.item))
        case And():
            return arena.all_of(elsewhere(arena, item) for item in keys.items)
        case Or():
            return arena.any_of(elsewhere(arena, item) for item in keys.items)
        case _:
            return keys
