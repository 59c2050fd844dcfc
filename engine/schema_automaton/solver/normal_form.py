"""Projection of formulas to one JSON type, and their disjunctive normal form.

Once the first byte of a value shows its type, assertions about other types hold
trivially, references are replaced by definitions, and `enum` keeps only the values of
the type. The projected formula mentions this type alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Final, TypeAlias

from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    EnumValues,
    ExactlyOne,
    Formula,
    Items,
    LocatedFormula,
    Location,
    Not,
    Or,
    PropertyConstraint,
    Ref,
    TypeIn,
    is_compound,
)
from engine.schema_automaton.formula.values import EVERY_TYPE, ArrayValue, JsonType, ObjectValue, Value, json_type_of
from engine.source import Limits, checkpoint

_FEW: Final = 8
Conjunction: TypeAlias = tuple[Formula, ...]
"""Assertions and negated ones, in the order of the source; over objects also residual formulas (see `residual`)."""

Judge: TypeAlias = Callable[[Conjunction], bool | None]
"""Returns whether nothing satisfies a conjunction; None for a yes that rests on a check in progress."""


class TypeProjector:
    """The projection of the formulas of one arena to JSON types."""

    def __init__(self, arena: Arena, limits: Limits) -> None:
        self._arena = arena
        self._limits = limits
        self._known: dict[tuple[Formula, JsonType], Formula] = {}
        self._kinds: dict[Formula, frozenset[JsonType]] = {}
        self._structures: dict[tuple[Value, bool], Formula] = {}

    # ------------------------------------------------------------------ one kind

    def project(self, formula: Formula, kind: JsonType) -> Formula:
        """Return the formula for values of one type, without references and assertions about other types."""
        atom = formula.item if isinstance(formula, Not) else formula
        if isinstance(atom, LocatedFormula) and atom.about is not None:
            return formula if atom.about is kind else self._arena.constant(atom is formula)
        key = (formula, kind)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._project(formula, kind)
        return known

    def _project(self, formula: Formula, kind: JsonType) -> Formula:
        checkpoint()
        arena = self._arena
        match formula:
            case Constant():
                return formula
            case And():
                items = self._project_each(formula.items, kind, arena.false)
                return formula if items == formula.items else arena.all_of(items)
            case Or():
                return self.any_of(self._project_each(formula.items, kind, arena.true))
            case ExactlyOne():
                return arena.exactly_one([self.project(item, kind) for item in formula.items])
            case Ref():
                definition = arena.definitions[formula.number]
                assert definition is not None
                return self.project(definition, kind)
            case Not():
                return self._negated(self.project(formula.item, kind))
            case TypeIn():
                return arena.constant(kind in formula.types)
            case EnumValues():
                return self._project_enum(formula, kind)
            case _:
                raise AssertionError(formula)

    def types(self, formula: Formula) -> frozenset[JsonType]:
        """Return the types of values that may satisfy a formula: a superset of those that do."""
        atom = formula.item if isinstance(formula, Not) else formula
        if isinstance(atom, LocatedFormula) and atom.about is not None:
            return EVERY_TYPE
        known = self._kinds.get(formula)
        if known is None:
            known = self._kinds[formula] = self._kinds_of(formula)
        return known

    def _kinds_of(self, formula: Formula) -> frozenset[JsonType]:
        match formula:
            case And():
                kinds = EVERY_TYPE
                for item in formula.items:
                    of_item = self.types(item)
                    if of_item is not EVERY_TYPE:
                        kinds &= of_item
                return kinds
            case Or() | ExactlyOne():
                return frozenset().union(*map(self.types, formula.items))
            case Ref():
                definition = self._arena.definitions[formula.number]
                assert definition is not None
                return self.types(definition)
            case TypeIn():
                return formula.types
            case Not(item=TypeIn(types=types)):
                return EVERY_TYPE - types
            case EnumValues():
                return frozenset(map(json_type_of, formula.values))
            case _:
                return EVERY_TYPE if formula is not self._arena.false else frozenset()

    def _project_each(self, items: tuple[Formula, ...], kind: JsonType, ending: Formula) -> tuple[Formula, ...]:
        """Project the items to a type; return the absorbing item alone if there is one."""
        if len(items) > _FEW:
            checkpoint(len(items))
        found: list[Formula] = []
        for item in items:
            special = self.project(item, kind)
            if special is ending:
                return (ending,)
            found.append(special)
        return tuple(found)

    def any_of(self, items: Iterable[Formula]) -> Formula:
        """Return the disjunction, with all assertions about one name, or one index, merged into one.

        A name identifies one member at most. So "no such member satisfies A, or some such member satisfies B" is
        "such a member satisfies not A, or B"; many alternatives that differ in one member only become one.
        """
        arena = self._arena
        whole = arena.any_of(items)
        if not isinstance(whole, Or):
            return whole
        groups: dict[object, list[Formula]] = {}
        for item in whole.items:
            groups.setdefault(_one_part(item) or item, []).append(item)
        if len(groups) == len(whole.items):
            return whole
        return arena.any_of(group[0] if len(group) == 1 else self._merge(group) for group in groups.values())

    def _merge(self, group: list[Formula]) -> Formula:
        arena = self._arena
        values = []
        for item in group:
            atom = item.item if isinstance(item, Not) else item
            assert isinstance(atom, PropertyConstraint | Items)
            same = atom
            values.append(arena.negate(atom.value) if isinstance(item, Not) else atom.value)
        needed = all(isinstance(item, Not) for item in group)
        value = arena.any_of(values)
        stated = arena.negate(value) if needed else value
        if isinstance(same, PropertyConstraint):
            declares = any(isinstance(item, PropertyConstraint) and item.declares for item in group)
            whole = arena.every_property(same.keys, stated, same.location, declares=declares)
        else:
            whole = arena.items(same.first, same.end, stated, same.location)
        return arena.negate(whole) if needed else whole

    def _negated(self, special: Formula) -> Formula:
        """Return the negation of a projected formula."""
        negated = self._arena.negate(special)
        return self.any_of(negated.items) if isinstance(negated, Or) else negated

    def _project_enum(self, formula: EnumValues, kind: JsonType) -> Formula:
        arena = self._arena
        values = [value for value in formula.values if json_type_of(value) is kind]
        if kind is JsonType.NUMBER or kind is JsonType.STRING:
            every = len(values) == len(formula.values)
            return formula if every else arena.enum(values, formula.location, seen=formula.seen)
        if kind is JsonType.ARRAY or kind is JsonType.OBJECT:
            return arena.any_of(self._structure(value, formula.location, seen=formula.seen) for value in values)
        return arena.constant(bool(values))

    def _structure(self, value: Value, location: Location, *, seen: bool) -> Formula:
        """Return a formula for the arrays or objects that equal a value, made of assertions about its parts."""
        known = self._structures.get((value, seen))
        if known is None:
            known = self._structures[value, seen] = self._write_structure(value, location, seen=seen)
        return known

    def _write_structure(self, value: Value, location: Location, *, seen: bool) -> Formula:
        arena = self._arena
        if isinstance(value, ArrayValue):
            goals = [arena.enum((item,), location, seen=seen) for item in value.items]
            items = [arena.items(i, i + 1, goal, location) for i, goal in enumerate(goals)]
            return arena.all_of([arena.item_count(len(items), len(items), location), *items])
        assert isinstance(value, ObjectValue)
        members = dict(value.members)
        parts: list[Formula] = []
        for name in value.order:
            key, item = arena.enum((name,), location), arena.enum((members[name],), location, seen=seen)
            parts.append(arena.every_property(key, item, location, declares=True))
            parts.append(arena.some_property(key, arena.true, location))
        others = arena.negate(arena.enum(value.order, location)) if value.order else arena.true
        return arena.all_of([*parts, arena.every_property(others, arena.false, location)])

    # ------------------------------------------------------------------ alternatives

    def alternatives(self, formula: Formula, judge: Judge) -> list[Conjunction]:
        """Return a projected formula as a disjunction of conjunctions.

        Args:
            formula: the formula.
            judge: tells which conjunctions nothing satisfies; they are pruned.

        Raises:
            LimitExceededError: there are too many.
        """
        return [one for one in self._alternatives(formula, judge, ()) if judge(one) is False]

    def _alternatives(self, formula: Formula, judge: Judge, known: Conjunction) -> list[Conjunction]:
        """Return `alternatives` without the final pruning.

        `known` holds in any case; it rules out most branches of a choice.
        """
        match formula:
            case Constant():
                return [()] if formula.value else []
            case And():
                return self._product(formula.items, judge, known)
            case Or():
                found = [one for item in formula.items for one in self._alternatives(item, judge, known)]
                return _without_covered(found)
            case ExactlyOne():
                return self._exactly_one(formula.items, judge, known)
            case Not(item=ExactlyOne(items=items)):
                # None of them holds, or at least two do.
                arena = self._arena
                pairs = [arena.all_of((items[i], items[j])) for i, j in self._overlaps(items, judge, known)]
                none = arena.all_of(self._negated(one) for one in items)
                return self._alternatives(self.any_of([none, *pairs]), judge, known)
            case _:
                return [(formula,)]

    def _product(self, items: tuple[Formula, ...], judge: Judge, known: Conjunction) -> list[Conjunction]:
        if not any(map(is_compound, items)):
            return [items]
        # Plain assertions come first, then choices: that keeps the product small. But the order of
        # the source is the order of properties, so each alternative is sorted back.
        position = {item: i for i, item in enumerate(items)}
        choices = [item for item in items if is_compound(item)]
        plain = tuple(item for item in items if item not in choices)
        known = _joined(known, plain)
        found: list[tuple[tuple[int, Conjunction], ...]] = [tuple((position[item], (item,)) for item in plain)]
        choices.sort(key=lambda item: (self._is_about_members(item), len(getattr(item, "items", ()))))
        conditions = [item for item in choices if self._is_about_members(item)]
        if len(conditions) > 1 and prod(map(_alternative_count, conditions)) > TOO_MANY:
            choices = [item for item in choices if item not in conditions]
            found = [(*found[0], *((position[kept], (kept,)) for kept in conditions))]
            conditions = []
        few = found
        for item in choices:
            if conditions and item is conditions[0]:
                few = found
            parts = self._alternatives(item, judge, known)
            if len(parts) == 1:
                found = [(*one, (position[item], parts[0])) for one in found]
            else:
                checkpoint(len(found) * (1 + len(parts)))
                found = [
                    alternative for one in found for alternative in self._choose(one, position[item], parts, judge)
                ]
                found = _uncovered(found)
            if len(found) > MOST_ALTERNATIVES and len(conditions) > 1 and item in conditions:
                # There are too many: all of them stay unexpanded, as conditions on the whole object.
                found = [(*one, *((position[kept], (kept,)) for kept in conditions)) for one in few]
                break
            self._limits.check("errors.limit.schema_alternatives", len(found), self._limits.threads, "threads")
        return _without_covered([_flat(one) for one in found])

    def _is_about_members(self, formula: Formula) -> bool:
        """Return whether a formula contains assertions about members and no others."""
        match formula:
            case And() | Or() | ExactlyOne():
                return all(map(self._is_about_members, formula.items))
            case Not():
                return self._is_about_members(formula.item)
            case _:
                return isinstance(formula, PropertyConstraint | Constant)

    def _choose(
        self, one: tuple[tuple[int, Conjunction], ...], position: int, parts: list[Conjunction], judge: Judge
    ) -> list[tuple[tuple[int, Conjunction], ...]]:
        """Return a conjunction extended by each part of a choice; unchanged if it implies one of them."""
        arena, whole = self._arena, _flat(one)
        checkpoint(2 * len(whole) + len(parts))
        known = set(whole)
        for part in parts:
            if all(
                literal in known or (not arena.is_doubtful(literal) and judge(_joined(whole, (arena.negate(literal),))))
                for literal in part
            ):
                return [one]
        extended = [(*one, (position, part)) for part in parts]
        return [alternative for alternative in extended if judge(_flat(alternative)) is False]

    def _exactly_one(self, items: tuple[Formula, ...], judge: Judge, known: Conjunction) -> list[Conjunction]:
        arena = self._arena
        overlap: list[list[int]] = [[] for _ in items]
        for i, j in self._overlaps(items, judge, known):
            overlap[i].append(j)
            overlap[j].append(i)
        found: list[Conjunction] = []
        for i, item in enumerate(items):
            checkpoint(1 + len(overlap[i]))
            others = [self._negated(items[j]) for j in overlap[i]]
            found += self._alternatives(arena.all_of([item, *others]), judge, known)
        return _without_covered(found)

    def _overlaps(self, items: tuple[Formula, ...], judge: Judge, known: Conjunction) -> list[tuple[int, int]]:
        """Return the pairs of items that some value may satisfy together, given what is already known of it."""
        each = [
            [(one, MemberTags(one, self._arena)) for one in self._alternatives(item, judge, known)] for item in items
        ]
        checkpoint(len(items) ** 2)
        return [
            (i, j)
            for i, mine in enumerate(each)
            for j in range(i)
            if any(
                not tags.exclude(others) and not judge(self._certain(_joined(known, one, other)))
                for one, tags in mine
                for other, others in each[j]
            )
        ]

    def _certain(self, conjunction: Conjunction) -> Conjunction:
        """Return a conjunction without the literals that depend on a language that is not known exactly."""
        return tuple(literal for literal in conjunction if not self._arena.is_doubtful(literal))


class MemberTags:
    """The members by which conjunctions about objects obviously exclude each other.

    Attributes:
        values: the values that a member may have, by its name.
        required: the names of members that must exist.
        names: all names that members may have; None for no such list.
    """

    def __init__(self, conjunction: Conjunction, arena: Arena) -> None:
        self.values: dict[str, frozenset[Value]] = {}
        self.required: set[str] = set()
        self.names: frozenset[Value] | None = None
        for item in conjunction:
            atom = item.item if isinstance(item, Not) else item
            if not isinstance(atom, PropertyConstraint):
                continue
            if item is atom and atom.value is arena.false and isinstance(atom.keys, Not):
                others = atom.keys.item
                self.names = others.members if isinstance(others, EnumValues) else self.names
            if not isinstance(atom.keys, EnumValues):
                continue
            if isinstance(item, Not):
                if len(atom.keys.values) == 1:
                    self.required.add(str(atom.keys.values[0]))
                continue
            listed = _listed(atom.value, arena)
            if listed is not None:
                self.values.update((str(name), listed) for name in atom.keys.values)

    def exclude(self, other: MemberTags) -> bool:
        """Return whether a member that must exist may not, or would need a value of two lists that share none."""
        if (self.names is not None and not other.required <= self.names) or (
            other.names is not None and not self.required <= other.names
        ):
            return True
        return any(
            (name in self.required or name in other.required) and values.isdisjoint(other.values[name])
            for name, values in self.values.items()
            if name in other.values
        )


def _listed(formula: Formula, arena: Arena, depth: int = 4) -> frozenset[Value] | None:
    """Return a list that has all values which satisfy a formula; None if this is not obvious."""
    if isinstance(formula, EnumValues):
        return formula.members
    if not depth or not isinstance(formula, And | Ref):
        return None
    parts = formula.items if isinstance(formula, And) else (arena.definitions[formula.number],)
    lists = (_listed(part, arena, depth - 1) for part in parts if part is not None)
    return next((listed for listed in lists if listed is not None), None)


def _alternative_count(formula: Formula) -> int:
    """Return an approximate upper bound of the number of alternatives of a formula."""
    match formula:
        case And():
            return min(prod(map(_alternative_count, formula.items)), TOO_MANY)
        case Or() | ExactlyOne():
            return min(sum(map(_alternative_count, formula.items)), TOO_MANY)
        case Not(item=ExactlyOne(items=items)):
            return min(len(items) ** 2, TOO_MANY)
        case _:
            return 1


def _one_part(item: Formula) -> object:
    """Return a key that assertions about the same member, or the same item, share; None for other formulas."""
    atom = item.item if isinstance(item, Not) else item
    if isinstance(atom, PropertyConstraint) and isinstance(atom.keys, EnumValues) and len(atom.keys.values) == 1:
        return atom.keys
    if isinstance(atom, Items) and atom.end == atom.first + 1:
        return Items, atom.first
    return None


def _joined(*conjunctions: Conjunction) -> Conjunction:
    checkpoint(1 + sum(map(len, conjunctions)) // 4)
    return tuple(dict.fromkeys(literal for one in conjunctions for literal in one))


def _flat(parts: tuple[tuple[int, Conjunction], ...]) -> Conjunction:
    joined: dict[Formula, None] = {}
    for _, part in sorted(parts, key=lambda p: p[0]):
        joined.update(dict.fromkeys(part))
    return tuple(joined)


def _uncovered(
    found: list[tuple[tuple[int, Conjunction], ...]],
) -> list[tuple[tuple[int, Conjunction], ...]]:
    checkpoint(len(found) ** 2 // 4 if len(found) <= _MOST_COMPARED else len(found))
    by_content = {frozenset(_flat(one)): one for one in reversed(found)}
    if len(by_content) <= _MOST_COMPARED:
        sets = list(by_content)
        by_content = {mine: by_content[mine] for mine in sets if not any(other < mine for other in sets)}
    return list(by_content.values())[::-1]


_MOST_COMPARED = 400
MOST_ALTERNATIVES = 30  # alternatives of an object that are expanded before the rest becomes a condition
TOO_MANY = 5_000  # if there are more, none is expanded


def _without_covered(found: list[Conjunction]) -> list[Conjunction]:
    """Return the conjunctions without those that contain another one."""
    if len(found) < 2 or len(found) > _MOST_COMPARED:
        return list({frozenset(one): one for one in found}.values())
    sets = [frozenset(one) for one in found]
    checkpoint(len(found) ** 2 // 4)
    kept = []
    for i, mine in enumerate(sets):
        covered = any(other < mine or (other == mine and j < i) for j, other in enumerate(sets) if j != i)
        if not covered:
            kept.append(found[i])
    return kept
