"""The factory of the formulas of one grammar.

Formulas are interned, so equal formulas are one object, and results about a
formula are memoised by identity. A formula that is obviously true or false is
returned as that constant, so callers need not check for such cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from engine.grammar import Node
from engine.schema_automaton.formula.nodes import (
    And,
    Constant,
    Contains,
    EnumValues,
    ExactlyOne,
    Formula,
    ItemCount,
    Items,
    Length,
    Located,
    LocatedFormula,
    Location,
    Maximum,
    MemberCount,
    Minimum,
    MultipleOf,
    Not,
    Or,
    PropertyConstraint,
    Ref,
    Text,
    TypeIn,
    UniqueItems,
    parts_of,
)
from engine.schema_automaton.formula.values import JsonType, Value
from engine.source import Span, checkpoint

_JOINED_PER_CHECKPOINT: Final = 8  # formulas that are joined in the time of one checkpoint
_NOWHERE: Final = Span(0, 0)
"""The location of formulas that no source text states."""


@dataclass(slots=True)
class Arena:
    """The factory of the formulas of one grammar.

    Attributes:
        definitions: the formulas that `Ref` refers to, by number; None while a definition is being written.
        definition_locations: the source location of each definition.
        any_numbers: whether integers and listed numbers may be written in every form that JSON has.
        uses_distinct: whether some array may not have two equal items.
        has_choices: whether a formula was made that a value may satisfy in more than one way.
        is_written: whether all definitions are complete; until then, the locations of repeated assertions are kept.
    """

    true: Constant = field(default_factory=lambda: Constant(True))
    false: Constant = field(default_factory=lambda: Constant(False))
    definitions: list[Formula | None] = field(default_factory=list)
    definition_locations: list[Location] = field(default_factory=list)
    any_numbers: bool = False
    uses_distinct: bool = False
    has_choices: bool = False
    is_written: bool = False
    _interned: dict[object, Formula] = field(default_factory=dict)
    _duplicates: list[Formula] = field(default_factory=list)  # see `duplicate_locations`
    _duplicate_locations: list[Location] = field(default_factory=list)
    _outer: dict[Formula, Formula] = field(default_factory=dict)  # see `within`
    _inner: dict[Formula, Formula] = field(default_factory=dict)
    _doubtful: dict[Formula, bool] = field(default_factory=dict)

    def constant(self, value: bool) -> Constant:
        """Return the constant of a truth value."""
        return self.true if value else self.false

    def intern(self, key: tuple[object, ...], make: Callable[[], Formula], location: Location | None = None) -> Formula:
        """Return the formula of a key.

        Args:
            key: identifies the formula.
            make: makes it, if it does not exist yet.
            location: the source location of this occurrence.
        """
        checkpoint()
        known = self._interned.get(key)
        if known is None:
            known = self._interned[key] = make()
        elif location is not None and not self.is_written:
            self._note_duplicate(known, location)
        return known

    def _note_duplicate(self, known: Formula, location: Location) -> None:
        self._duplicates.append(known)
        self._duplicate_locations.append(location)

    def duplicate_locations(self) -> list[tuple[Location, list[Located]]]:
        """Return the locations of each assertion that was made more than once, each with the first location first."""
        locations: dict[LocatedFormula, dict[Located, None]] = {}
        for formula, location in zip(self._duplicates, self._duplicate_locations, strict=True):
            if (
                isinstance(formula, LocatedFormula)
                and not isinstance(location, Span)
                and not isinstance(formula.location, Span)
            ):
                locations.setdefault(formula, {formula.location: None})[location] = None
        return [(formula.location, list(each)) for formula, each in locations.items()]

    # ------------------------------------------------------------------ assertions

    def define(self, location: Location) -> Formula:
        """Return a reference to a new definition, which is not written yet."""
        reference = Ref(len(self.definitions))
        self.definitions.append(None)
        self.definition_locations.append(location)
        return reference

    def type_in(self, kinds: Iterable[JsonType], location: Location) -> Formula:
        """Assert that the value is of one of these JSON types."""
        these = frozenset(kinds)
        return self.intern(("kinds", these), lambda: TypeIn(these, location), location) if these else self.false

    def separate_type_in(self, kinds: frozenset[JsonType], location: Location) -> Formula:
        """Return a type assertion that is not interned: it represents a whole definition and has its own location."""
        return TypeIn(kinds, location)

    def minimum(self, value: Fraction, strict: bool, location: Location) -> Formula:
        """Assert a lower bound of numbers.

        Args:
            value: the bound.
            strict: whether the bound itself is excluded.
            location: the source location.
        """
        return self.intern(
            ("least", *value.as_integer_ratio(), strict), lambda: Minimum(value, strict, location), location
        )

    def maximum(self, value: Fraction, strict: bool, location: Location) -> Formula:
        """Assert an upper bound of numbers.

        Args:
            value: the bound.
            strict: whether the bound itself is excluded.
            location: the source location.
        """
        return self.intern(
            ("most", *value.as_integer_ratio(), strict), lambda: Maximum(value, strict, location), location
        )

    def multiple_of(self, value: Fraction, location: Location) -> Formula:
        """Assert that numbers are multiples of a value."""
        return self.intern(
            ("multiple", *value.as_integer_ratio(), False), lambda: MultipleOf(value, False, location), location
        )

    def written_whole(self, location: Location) -> Formula:
        """Assert that numbers are integers, written without fraction and exponent unless any form is allowed."""
        if self.any_numbers:
            return self.multiple_of(Fraction(1), location)
        return self.intern(("multiple", 1, 1, True), lambda: MultipleOf(Fraction(1), True, location), location)

    def length(self, least: int, most: int | None, location: Location) -> Formula:
        """Assert the length of strings, in characters; `most` is None for no upper bound.

        Args:
            least: the fewest characters.
            most: the most characters; None for no bound.
            location: the source location.
        """
        if most is not None and most < least:
            return self.false
        return self.intern(("length", least, most), lambda: Length(least, most, location), location)

    def text(self, make: Callable[[], Node], key: object, location: Location, *, shared: bool = False) -> Formula:
        """Assert that strings are in a language.

        Args:
            make: returns the grammar node of the language.
            key: identifies the language.
            location: the source location.
            shared: whether every grammar gets the very same node.
        """
        return self.intern(("text", key), lambda: Text(make, key, shared, location), location)

    def within(self, inner: Formula, outer: Formula) -> Formula:
        """Return a formula for a language between `inner` and `outer` that is not known exactly.

        A string of the language then has to be in `inner`, and a string outside of it has to be outside of `outer`;
        `negate` exchanges the two. So a string in between is neither, and nothing is accepted wrongly. An empty `inner`
        proves less than usual: the language itself may have strings.
        """
        self._outer[inner], self._inner[outer] = outer, inner
        return inner

    def widened(self, formula: Formula) -> Formula:
        """Return a formula over strings with each language that is not known exactly replaced by its outer bound."""
        if not self._outer:
            return formula
        match formula:
            case And():
                return self.all_of(self.widened(item) for item in formula.items)
            case Or():
                return self.any_of(self.widened(item) for item in formula.items)
            case Not(item=Text()) if formula.item in self._inner:
                return self._not(self._inner[formula.item])
            case _:
                return self._outer.get(formula, formula)

    def elsewhere(self, keys: Formula) -> Formula:
        """Restrict a formula over keys to the strings that it does not mention."""
        match keys:
            case EnumValues():
                return self.false
            case Not():
                return self.negate(self.elsewhere(keys.item))
            case And():
                return self.all_of(self.elsewhere(item) for item in keys.items)
            case Or():
                return self.any_of(self.elsewhere(item) for item in keys.items)
            case _:
                return keys

    def is_doubtful(self, formula: Formula) -> bool:
        """Return whether a formula contains a language that is not known exactly."""
        if not self._outer:
            return False
        known = self._doubtful.get(formula)
        if known is None:
            known = self._doubtful[formula] = any(
                part in self._outer or part in self._inner for part in parts_of(formula, self.definitions)
            )
        return known

    def enum(self, values: Iterable[Value], location: Location, *, seen: bool = False) -> Formula:
        """Assert that the value is one of these; `seen` as in `EnumValues`.

        Args:
            values: the values, in source order.
            location: the source location.
            seen: whether they are the earlier items of an array, see `EnumValues`.
        """
        these = tuple(dict.fromkeys(values))
        if not these:
            return self.false
        checkpoint(1 + len(these) // 4)
        name = "seen" if seen else "among"
        return self.intern((name, *these), lambda: EnumValues(these, frozenset(these), location, seen), location)

    def named(self, name: str, location: Location) -> Formula:
        """Assert that the string is this one."""
        key = ("among", name)
        known = self._interned.get(key)
        if known is None:
            known = self._interned[key] = EnumValues((name,), frozenset((name,)), location)
        elif not self.is_written:
            self._note_duplicate(known, location)
        return known

    def every_property(self, keys: Formula, value: Formula, location: Location, *, declares: bool = False) -> Formula:
        """Assert that the values of all members with such a key satisfy a formula.

        Args:
            keys: a formula over strings.
            value: what the values must satisfy.
            location: the source location.
            declares: whether the names in `keys` have a position in the order of properties.
        """
        if (value is self.true and not declares) or keys is self.false:
            return self.true
        key = (PropertyConstraint, keys, value, declares)
        known = self._interned.get(key)
        if known is None:
            known = self._interned[key] = PropertyConstraint(keys, value, declares, location)
        elif not self.is_written:
            self._note_duplicate(known, location)
        return known

    def may_begin(self, name: str) -> Formula:
        """Allow a member of this name before all declared ones. The result constrains no value."""
        return self.intern(
            ("begins", name), lambda: PropertyConstraint(self.named(name, _NOWHERE), self.true, False, _NOWHERE, True)
        )

    def some_property(self, keys: Formula, value: Formula, location: Location) -> Formula:
        """Assert that some member with such a key has a value that satisfies a formula.

        Args:
            keys: a formula over strings.
            value: what the member's value must satisfy.
            location: the source location.
        """
        return self.negate(self.every_property(keys, self.negate(value), location))

    def property_count(self, least: int, most: int | None, location: Location) -> Formula:
        """Assert the number of members. Two bounds are two assertions, since the negation of a bound is one bound.

        Args:
            least: the lower bound.
            most: the upper bound; None for none.
            location: the source location.
        """
        if most is not None and least:
            return self.all_of((self.property_count(least, None, location), self.property_count(0, most, location)))
        return self.intern(("member count", least, most), lambda: MemberCount(least, most, location), location)

    def items(self, first: int, end: int | None, value: Formula, location: Location) -> Formula:
        """Assert that the items with an index from `first` up to `end` (None: no end) satisfy a formula.

        Args:
            first: the first index.
            end: the index after the last one; None for no end.
            value: what the items must satisfy.
            location: the source location.
        """
        if value is self.true or (end is not None and end <= first):
            return self.true
        return self.intern(("items", first, end, value), lambda: Items(first, end, value, location), location)

    def item_count(self, least: int, most: int | None, location: Location) -> Formula:
        """Assert the number of items. Two bounds are two assertions, since the negation of a bound is one bound.

        Args:
            least: the lower bound.
            most: the upper bound; None for none.
            location: the source location.
        """
        if most is not None and least:
            return self.all_of((self.item_count(least, None, location), self.item_count(0, most, location)))
        return self.intern(("item count", least, most), lambda: ItemCount(least, most, location), location)

    def contains(self, value: Formula, least: int, most: int | None, location: Location) -> Formula:
        """Assert the number of items that satisfy a formula; two bounds are two assertions, as for counts.

        Args:
            value: what the counted items satisfy.
            least: the lower bound.
            most: the upper bound; None for none.
            location: the source location.
        """
        if most is not None and least:
            return self.all_of((self.contains(value, least, None, location), self.contains(value, 0, most, location)))
        return self.intern(("contains", value, least, most), lambda: Contains(value, least, most, location), location)

    def unique_items(self, location: Location) -> Formula:
        """Assert that no two items are equal."""
        self.uses_distinct = True
        return self.intern(("distinct",), lambda: UniqueItems(location), location)

    # ------------------------------------------------------------------ connectives

    def all_of(self, items: Iterable[Formula]) -> Formula:
        """Return the conjunction."""
        return self._join(items, And, self.true, self.false)

    def any_of(self, items: Iterable[Formula]) -> Formula:
        """Return the disjunction."""
        return self._join(items, Or, self.false, self.true)

    def about(self, kind: JsonType, item: Formula, location: Location) -> Formula:
        """Assert a formula of values of one JSON type; values of other types are not constrained.

        Args:
            kind: the JSON type.
            item: what its values must satisfy.
            location: the source location.
        """
        before = self.has_choices
        these = frozenset((kind,))
        guard = self.intern(("kinds", these), lambda: TypeIn(these, location))  # implied, so no duplicate location
        whole = self.any_of((self.negate(guard), item))
        self.has_choices = before  # a value of one type satisfies it in one way only
        return whole

    def _join(self, items: Iterable[Formula], kind: type[And | Or], neutral: Constant, ending: Constant) -> Formula:
        joined: dict[Formula, None] = {}
        for item in items:
            if item is neutral:
                continue
            if isinstance(item, kind):
                joined.update(dict.fromkeys(item.items))
            elif item is ending:
                return ending
            else:
                joined[item] = None
        if len(joined) < 2:
            return next(iter(joined), neutral)
        if len(joined) > _JOINED_PER_CHECKPOINT:
            checkpoint(len(joined) // _JOINED_PER_CHECKPOINT)
        these = tuple(joined)
        key = kind, these
        known = self._interned.get(key)
        if known is None:
            denied = [self.negate(item) for item in these if isinstance(item, Not)]
            known = kind(these) if joined.keys().isdisjoint(denied) else ending
            self.has_choices = self.has_choices or known.__class__ is Or
            self._interned[key] = known
        return known

    def exactly_one(self, items: Iterable[Formula]) -> Formula:
        """Return a formula that one item satisfies and the others do not; an item listed twice cannot be the one."""
        listed = list(items)
        these = [item for item in listed if item is not self.false]
        if these.count(self.true) > 1:
            return self.false
        if self.true in these:
            return self.all_of(self.negate(item) for item in these if item is not self.true)
        counts = Counter(these)
        once = [item for item in these if counts[item] == 1]
        twice = {item: None for item in these if counts[item] > 1}
        never = [self.negate(item) for item in twice]
        if len(once) == 1:
            return self.all_of([*once, *never])
        if not once:
            return self.false
        key, self.has_choices = tuple(once), True
        return self.all_of([self.intern((ExactlyOne, key), lambda: ExactlyOne(key)), *never])

    def negate(self, item: Formula) -> Formula:
        """Return the negation, moved down as far as possible."""
        match item:
            case Constant():
                return self.constant(not item.value)
            case Not():
                return self._inner.get(item.item, item.item)
            case And():
                checkpoint(1 + len(item.items))
                return self.any_of(self.negate(part) for part in item.items)
            case Or():
                checkpoint(1 + len(item.items))
                return self.all_of(self.negate(part) for part in item.items)
            case _:
                return self._not(self._outer.get(item, item))

    def _not(self, item: Formula) -> Formula:
        known = self._interned.get((Not, item))
        if known is None:
            known = self._interned[Not, item] = Not(item)
            self.has_choices = self.has_choices or isinstance(item, Ref | ExactlyOne)
        return known
