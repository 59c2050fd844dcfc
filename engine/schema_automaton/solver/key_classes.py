"""Key classes: the keys of an object that are not mentioned by name, grouped by the assertions that apply to them.

Every assertion about a set of keys splits the other keys in two; the parts that are
left after all assertions are the key classes. Empty parts are dropped at once, so many
patterns that exclude each other give few classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.schema_automaton.formula.nodes import Formula, Not
from engine.schema_automaton.solver.string_solver import StringSolver
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.source import Span, checkpoint


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
    _samples: list[str] = field(default_factory=list)

    def language(self, strings: StringSolver, used: frozenset[str]) -> TextLanguage:
        """Return the language of the keys of this class that are not used yet."""
        language = self._languages.get(used)
        if language is None:
            language = self._languages[used] = strings.language(self._without(strings, used))
        return language

    def has_keys(self, strings: StringSolver) -> bool:
        """Return whether the class contains a key that is not one of the names."""
        return self.keys is strings.arena.true or self.language(strings, frozenset()).start is not None

    def witness(self, strings: StringSolver, used: frozenset[str]) -> str | None:
        """Return one key of the class that is not used yet; None if there is none."""
        if self.keys is strings.arena.true:
            taken = {*self.names, *used}
            checkpoint(1 + len(taken) // 4)
            return next(key for key in (f"x{i}" for i in range(len(taken) + 1)) if key not in taken)
        if len(used) >= len(self._samples):
            self._samples = self.language(strings, frozenset()).some_strings(2 * len(used) + 2)
        sample = next((key for key in self._samples if key not in used), None)
        if sample is not None:
            return sample
        if used not in self._witnesses:
            self._witnesses[used] = next(iter(self.language(strings, used).some_strings(1)), None)
        return self._witnesses[used]

    def _without(self, strings: StringSolver, used: frozenset[str]) -> Formula:
        checkpoint(1 + len(self.names) + len(used))
        excluded = [name for name in sorted({*self.names, *used}) if strings.holds(self.keys, name)]
        if not excluded:
            return self.keys
        arena = strings.arena
        return arena.all_of((self.keys, arena.negate(arena.enum(excluded, Span(0, 0)))))


def find_key_classes(
    strings: StringSolver,
    names: tuple[str, ...],
    every: list[tuple[Formula, Formula]],
    exists_constraints: list[tuple[Formula, Formula]],
) -> tuple[tuple[KeyClass, ...], bool]:
    """Compute the key classes of an object.

    Args:
        strings: decides formulas over keys.
        names: the names that assertions mention.
        every: the universal assertions: keys, and what their values must satisfy.
        exists_constraints: the existential assertions: keys, and what one of their values must satisfy.

    Returns:
        The classes, and whether every key that is not a name is in one of them.
    """
    arena = strings.arena
    conditions: dict[Formula, list[tuple[Formula, int]]] = {}
    for keys, value in every:
        conditions.setdefault(arena.elsewhere(keys), []).append((value, 0))
    for number, (keys, _) in enumerate(exists_constraints):
        conditions.setdefault(arena.elsewhere(keys), []).append((arena.true, 1 << number))
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
            both = arena.all_of((old, goal))
            any_key = any_key and both is not arena.false
            inside = (
                strings.witnesses.verdict(arena.all_of((*parts, keys)))  # only to keep the class as it is
                if both is arena.false
                else _inhabited(strings, (*parts, keys))
            )
            outside = keys is not arena.true and _inhabited(strings, (*parts, arena.negate(keys)))
            if inside and both is not arena.false:
                common = (*_open_parts(strings, parts, keys), keys) if outside else parts
                split.append((common, both, bits | mask))
            if outside:  # where no key of the class is among these keys, it stays as it is
                split.append((parts if inside is False else (*parts, arena.negate(keys)), old, bits))
        classes = split
        strings.limits.check("errors.limit.key_sets", len(classes), 2000)
    merged: dict[tuple[Formula, int], list[Formula]] = {}
    for parts, goal, bits in classes:
        merged.setdefault((goal, bits), []).append(arena.all_of(parts))
    found = tuple(KeyClass(arena.any_of(parts), names, goal, bits) for (goal, bits), parts in merged.items())
    return found, any_key


def _open_parts(strings: StringSolver, parts: tuple[Formula, ...], keys: Formula) -> list[Formula]:
    """Return the conditions of a class without the negated ones that all keys of a set obviously satisfy."""
    verdict = strings.witnesses.verdict
    return [
        part
        for part in parts
        if not (isinstance(part, Not) and verdict(strings.arena.all_of((part.item, keys))) is False)
    ]


def _inhabited(strings: StringSolver, parts: tuple[Formula, ...]) -> bool:
    formula = strings.arena.all_of(parts)
    if formula is strings.arena.true:
        return True
    return strings.language(formula).start is not None
