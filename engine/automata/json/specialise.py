"""A formula as it stands for values of one kind, and as a disjunction of conjunctions.

Once the first byte of a value has told its kind, assertions about other kinds
hold by themselves, definitions are written out, and `enum` splits into the
values of the kind. What is left mentions this kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeAlias

from engine.automata.json.formula import (
    All,
    Among,
    Arena,
    Constant,
    Contains,
    Distinct,
    ExactlyOne,
    Formula,
    ItemCount,
    Items,
    Kinds,
    Least,
    Length,
    MemberCount,
    Members,
    Most,
    MultipleOf,
    Not,
    Some,
    Sub,
    Text,
)
from engine.automata.json.values import ArrayValue, Kind, ObjectValue, Value, kind_of
from engine.source import Limits, Span

Conjunction: TypeAlias = tuple[Formula, ...]
"""Assertions and negated ones, in the order of the source."""

Judge: TypeAlias = Callable[[Conjunction], bool | None]
"""Whether nothing satisfies a conjunction; None where it seems so, but rests on a goal that is still in question."""

_KIND_OF: dict[type, Kind] = {
    Least: Kind.NUMBER,
    Most: Kind.NUMBER,
    MultipleOf: Kind.NUMBER,
    Length: Kind.STRING,
    Text: Kind.STRING,
    Members: Kind.OBJECT,
    MemberCount: Kind.OBJECT,
    Items: Kind.ARRAY,
    ItemCount: Kind.ARRAY,
    Contains: Kind.ARRAY,
    Distinct: Kind.ARRAY,
}


class Specialiser:
    """Formulas of one arena, kind by kind."""

    def __init__(self, arena: Arena, limits: Limits) -> None:
        self._arena = arena
        self._limits = limits
        self._known: dict[tuple[Formula, Kind], Formula] = {}
        self._structures: dict[Value, Formula] = {}

    # ------------------------------------------------------------------ one kind

    def specialise(self, formula: Formula, kind: Kind) -> Formula:
        """The formula for values of one kind: no definition, no assertion about another kind."""
        key = (formula, kind)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._specialise(formula, kind)
        return known

    def _specialise(self, formula: Formula, kind: Kind) -> Formula:
        arena = self._arena
        match formula:
            case Constant():
                return formula
            case All():
                return arena.all_of(self._each(formula.items, kind, arena.false))
            case Some():
                return self.any_of(self._each(formula.items, kind, arena.true))
            case ExactlyOne():
                return arena.exactly_one([self.specialise(item, kind) for item in formula.items])
            case Sub():
                definition = arena.definitions[formula.number]
                assert definition is not None
                return self.specialise(definition, kind)
            case Not():
                return self._negated(self.specialise(formula.item, kind))
            case Kinds():
                return arena.constant(kind in formula.kinds)
            case Among():
                return self._among(formula, kind)
            case _:
                return formula if _KIND_OF[type(formula)] is kind else arena.true

    def _each(self, items: tuple[Formula, ...], kind: Kind, ending: Formula) -> Iterator[Formula]:
        for item in items:
            special = self.specialise(item, kind)
            yield special
            if special is ending:
                return

    def any_of(self, items: Iterable[Formula]) -> Formula:
        """The disjunction, where all that is said of one name, or of one index, is said at once.

        A name stands for one member at most. So "no such member satisfies A, or there is one that satisfies B" is
        "such a member satisfies not A, or B"; many alternatives that only differ in one member become one.
        """
        arena = self._arena
        whole = arena.any_of(items)
        if not isinstance(whole, Some):
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
            assert isinstance(atom, Members | Items)
            same = atom
            values.append(arena.negate(atom.value) if isinstance(item, Not) else atom.value)
        needed = all(isinstance(item, Not) for item in group)
        value = arena.any_of(values)
        stated = arena.negate(value) if needed else value
        if isinstance(same, Members):
            declares = any(isinstance(item, Members) and item.declares for item in group)
            whole = arena.members(same.keys, stated, same.span, declares=declares)
        else:
            whole = arena.items(same.first, same.end, stated, same.span)
        return arena.negate(whole) if needed else whole

    def _negated(self, special: Formula) -> Formula:
        """The negation of a specialised formula."""
        negated = self._arena.negate(special)
        return self.any_of(negated.items) if isinstance(negated, Some) else negated

    def _among(self, formula: Among, kind: Kind) -> Formula:
        arena = self._arena
        values = [value for value in formula.values if kind_of(value) is kind]
        if kind is Kind.NUMBER or kind is Kind.STRING:
            return arena.among(values, formula.span)
        if kind is Kind.ARRAY or kind is Kind.OBJECT:
            return arena.any_of(self._structure(value, formula.span) for value in values)
        return arena.constant(bool(values))

    def _structure(self, value: Value, span: Span) -> Formula:
        """An array or object that equals a value, said by its parts."""
        known = self._structures.get(value)
        if known is None:
            known = self._structures[value] = self._write_structure(value, span)
        return known

    def _write_structure(self, value: Value, span: Span) -> Formula:
        arena = self._arena
        if isinstance(value, ArrayValue):
            items = [arena.items(i, i + 1, arena.among((item,), span), span) for i, item in enumerate(value.items)]
            return arena.all_of([arena.item_count(len(items), len(items), span), *items])
        assert isinstance(value, ObjectValue)
        members = dict(value.members)
        parts: list[Formula] = []
        for name in value.order:
            key, item = arena.among((name,), span), arena.among((members[name],), span)
            parts.append(arena.members(key, item, span, declares=True))
            parts.append(arena.some_member(key, arena.true, span))
        others = arena.negate(arena.among(value.order, span)) if value.order else arena.true
        return arena.all_of([*parts, arena.members(others, arena.false, span)])

    # ------------------------------------------------------------------ alternatives

    def alternatives(self, formula: Formula, judge: Judge) -> list[Conjunction]:
        """A specialised formula as a disjunction; `judge` prunes what nothing satisfies.

        Raises:
            LimitExceededError: there are too many.
        """
        return [one for one in self._alternatives(formula, judge) if judge(one) is False]

    def _alternatives(self, formula: Formula, judge: Judge) -> list[Conjunction]:
        match formula:
            case Constant():
                return [()] if formula.value else []
            case All():
                return self._product(formula.items, judge)
            case Some():
                found = [one for item in formula.items for one in self._alternatives(item, judge)]
                return _without_covered(found)
            case ExactlyOne():
                return self._exactly_one(formula.items, judge)
            case Not(item=ExactlyOne(items=items)):
                # None of them, or two at least.
                arena = self._arena
                pairs = [arena.all_of((items[i], items[j])) for i, j in self._overlaps(items, judge)]
                none = arena.all_of(self._negated(one) for one in items)
                return self._alternatives(self.any_of([none, *pairs]), judge)
            case _:
                return [(formula,)]

    def _product(self, items: tuple[Formula, ...], judge: Judge) -> list[Conjunction]:
        # What decides first keeps the product small: plain assertions, then choices; but the order of
        # the source is the order of properties, so each alternative is sorted back.
        place = {item: i for i, item in enumerate(items)}
        choices = [item for item in items if _is_choice(item)]
        found: list[tuple[tuple[int, Conjunction], ...]] = [
            tuple((place[item], (item,)) for item in items if item not in choices)
        ]
        for item in sorted(choices, key=lambda item: len(getattr(item, "items", ()))):
            parts = self._alternatives(item, judge)
            if len(parts) == 1:
                found = [(*one, (place[item], parts[0])) for one in found]
            else:
                found = [way for one in found for way in self._choose(one, place[item], parts, judge)]
                found = _uncovered(found)
            self._limits.check("alternatives of a schema", len(found), self._limits.threads)
        return _without_covered([_flat(one) for one in found])

    def _choose(
        self, one: tuple[tuple[int, Conjunction], ...], place: int, parts: list[Conjunction], judge: Judge
    ) -> list[tuple[tuple[int, Conjunction], ...]]:
        """A conjunction with each part of a choice; itself, where it implies one of them."""
        arena, whole = self._arena, _flat(one)
        known = set(whole)
        for part in parts:
            if all(literal in known or judge(_joined(whole, (arena.negate(literal),))) for literal in part):
                return [one]
        ways = [(*one, (place, part)) for part in parts]
        return [way for way in ways if judge(_flat(way)) is False]

    def _exactly_one(self, items: tuple[Formula, ...], judge: Judge) -> list[Conjunction]:
        arena = self._arena
        overlap: list[list[int]] = [[] for _ in items]
        for i, j in self._overlaps(items, judge):
            overlap[i].append(j)
            overlap[j].append(i)
        found: list[Conjunction] = []
        for i, item in enumerate(items):
            others = [self._negated(items[j]) for j in overlap[i]]
            found += self._alternatives(arena.all_of([item, *others]), judge)
        return _without_covered(found)

    def _overlaps(self, items: tuple[Formula, ...], judge: Judge) -> list[tuple[int, int]]:
        """The pairs that something may satisfy together."""
        each = [self._alternatives(item, judge) for item in items]
        return [
            (i, j)
            for i, mine in enumerate(each)
            for j in range(i)
            if any(not judge(_joined(one, other)) for one in mine for other in each[j])
        ]


def _is_choice(item: Formula) -> bool:
    return isinstance(item.item if isinstance(item, Not) else item, All | Some | ExactlyOne)


def _one_part(item: Formula) -> object:
    """What tells assertions about one member, or one item, from those about others; None for the rest."""
    atom = item.item if isinstance(item, Not) else item
    if isinstance(atom, Members) and isinstance(atom.keys, Among) and len(atom.keys.values) == 1:
        return atom.keys
    if isinstance(atom, Items) and atom.end == atom.first + 1:
        return Items, atom.first
    return None


def _joined(one: Conjunction, other: Conjunction) -> Conjunction:
    return tuple(dict.fromkeys((*one, *other)))


def _flat(parts: tuple[tuple[int, Conjunction], ...]) -> Conjunction:
    joined: dict[Formula, None] = {}
    for _, part in sorted(parts, key=lambda p: p[0]):
        joined.update(dict.fromkeys(part))
    return tuple(joined)


def _uncovered(
    found: list[tuple[tuple[int, Conjunction], ...]],
) -> list[tuple[tuple[int, Conjunction], ...]]:
    by_content = {frozenset(_flat(one)): one for one in reversed(found)}
    if len(by_content) <= _MOST_COMPARED:
        sets = list(by_content)
        by_content = {mine: by_content[mine] for mine in sets if not any(other < mine for other in sets)}
    return list(by_content.values())[::-1]


_MOST_COMPARED = 400


def _without_covered(found: list[Conjunction]) -> list[Conjunction]:
    """Without what says all that another says, and more."""
    if len(found) < 2 or len(found) > _MOST_COMPARED:
        return list({frozenset(one): one for one in found}.values())
    sets = [frozenset(one) for one in found]
    kept = []
    for i, mine in enumerate(sets):
        covered = any(other < mine or (other == mine and j < i) for j, other in enumerate(sets) if j != i)
        if not covered:
            kept.append(found[i])
    return kept


class NumberRange:
    """What a conjunction over numbers comes to: one range, and what is left out of it."""

    __slots__ = ("excluded", "least", "least_strict", "most", "most_strict", "multiples", "not_multiples", "written")

    def __init__(self) -> None:
        self.least: Fraction | None = None
        self.most: Fraction | None = None
        self.least_strict = self.most_strict = False
        self.multiples: list[Fraction] = []
        self.not_multiples: list[Fraction] = []
        self.excluded: set[Fraction] = set()
        self.written = False

    def add(self, literal: Formula) -> None:
        """Narrow it by one assertion, or negated one; `Among` is not added but negated."""
        negated = isinstance(literal, Not)
        atom = literal.item if isinstance(literal, Not) else literal
        match atom:
            case Least() if not negated:
                self._at_least(atom.value, atom.strict)
            case Least():
                self._at_most(atom.value, not atom.strict)
            case Most() if not negated:
                self._at_most(atom.value, atom.strict)
            case Most():
                self._at_least(atom.value, not atom.strict)
            case MultipleOf() if not negated:
                self.multiples.append(atom.value)
                self.written = self.written or atom.written
            case MultipleOf():
                self.not_multiples.append(atom.value)
            case Among() if negated:
                self.excluded |= {value for value in atom.values if isinstance(value, Fraction)}
            case _:
                raise AssertionError(atom)

    def _at_least(self, value: Fraction, strict: bool) -> None:
        if self.least is None or (value, strict) > (self.least, self.least_strict):
            self.least, self.least_strict = value, strict

    def _at_most(self, value: Fraction, strict: bool) -> None:
        if self.most is None or (value, not strict) < (self.most, not self.most_strict):
            self.most, self.most_strict = value, strict

    def within(self, value: Fraction) -> bool:
        """Whether a value lies between the bounds."""
        if self.least is not None and (value < self.least or (self.least_strict and value == self.least)):
            return False
        return self.most is None or value < self.most or (value == self.most and not self.most_strict)

    def holds(self, value: Fraction) -> bool:
        """Whether a value is in it."""
        return (
            self.within(value)
            and value not in self.excluded
            and all((value / one).denominator == 1 for one in self.multiples)
            and all((value / one).denominator != 1 for one in self.not_multiples)
        )
