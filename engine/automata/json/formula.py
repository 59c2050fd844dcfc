"""What a JSON value must satisfy: a boolean formula over a few kinds of assertion.

Every keyword of JSON Schema comes down to these. `properties` and its kin are
`Members` (all members whose key is in a set satisfy a formula), and `required`
is the negation of such a one; a set of keys is itself a formula over strings.
So `not` needs no table of complements: a negation moves down to an assertion,
and there it is a flag.

Formulas are interned in an arena, so equal ones are one object, and what is
found out about one is remembered by identity. A recursive schema is a `Sub`,
which names a definition. An assertion about one kind of value holds for every
other kind, as in JSON Schema.

After Attouche et al., *Witness Generation for JSON Schema*, VLDB 2022, whose
algebra has the same shape. Rejected: a schema class for each draft, since each
pair of keywords would then need a rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from engine.automata.json.values import Kind, Value
from engine.grammar import Node
from engine.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """Always true, or always false."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class All:
    """Every item holds; the order is that of the source, since the order of properties follows it."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Some:
    """At least one item holds."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ExactlyOne:
    """One item holds and the others do not."""

    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Not:
    """The assertion, or the definition, does not hold."""

    item: Formula


@dataclass(frozen=True, slots=True, eq=False)
class Sub:
    """Whatever the definition of that number says."""

    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """The value is of one of these kinds."""

    kinds: frozenset[Kind]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Least:
    """A number is at least (strictly: more than) this."""

    value: Fraction
    strict: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Most:
    """A number is at most (strictly: less than) this."""

    value: Fraction
    strict: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class MultipleOf:
    """A number is an integer times this, which is positive.

    Attributes:
        written: it must be written without fraction and exponent as well (`type: integer`). Its negation is about the
            value alone.
    """

    value: Fraction
    written: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Length:
    """A string has so many characters."""

    least: int
    most: int | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string is, as a whole, in the language of a node; `key` tells one language from another."""

    node: Node
    key: object
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """The value equals one of these."""

    values: tuple[Value, ...]
    members: frozenset[Value]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """All members of an object whose key is in `keys`, a formula over strings, satisfy `value`.

    Attributes:
        declares: whether a name in `keys` takes a place in the order of properties.
    """

    keys: Formula
    value: Formula
    declares: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class MemberCount:
    """An object has so many members."""

    least: int
    most: int | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """All items of an array from index `first` up to `end` (without end: None) satisfy `value`."""

    first: int
    end: int | None
    value: Formula
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class ItemCount:
    """An array has so many items."""

    least: int
    most: int | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Contains:
    """So many items of an array satisfy `value`."""

    value: Formula
    least: int
    most: int | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """No two items of an array are equal."""

    span: Span


Assertion: TypeAlias = (
    Kinds
    | Least
    | Most
    | MultipleOf
    | Length
    | Text
    | Among
    | Members
    | MemberCount
    | Items
    | ItemCount
    | Contains
    | Distinct
)
Formula: TypeAlias = Constant | All | Some | ExactlyOne | Not | Sub | Assertion


@dataclass(slots=True)
class Arena:
    """Where the formulas of one grammar live.

    Attributes:
        definitions: what `Sub` refers to, by number; None while it is being written.
        uses_distinct: whether some array may not have two equal items.
    """

    true: Constant = field(default_factory=lambda: Constant(True))
    false: Constant = field(default_factory=lambda: Constant(False))
    definitions: list[Formula | None] = field(default_factory=list)
    uses_distinct: bool = False
    _known: dict[object, Formula] = field(default_factory=dict)

    def constant(self, value: bool) -> Constant:
        """`true` or `false`."""
        return self.true if value else self.false

    def intern(self, key: tuple[object, ...], make: Callable[[], Formula]) -> Formula:
        """The formula of a key, made when it is first asked for."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = make()
        return known

    # ------------------------------------------------------------------ assertions

    def sub(self, number: int) -> Formula:
        """A reference to a definition."""
        return self.intern(("sub", number), lambda: Sub(number))

    def kinds(self, kinds: Iterable[Kind], span: Span) -> Formula:
        """The value is of one of these kinds."""
        these = frozenset(kinds)
        return self.intern(("kinds", these), lambda: Kinds(these, span)) if these else self.false

    def least(self, value: Fraction, strict: bool, span: Span) -> Formula:
        """A lower bound of numbers."""
        return self.intern(("least", value, strict), lambda: Least(value, strict, span))

    def most(self, value: Fraction, strict: bool, span: Span) -> Formula:
        """An upper bound of numbers."""
        return self.intern(("most", value, strict), lambda: Most(value, strict, span))

    def multiple_of(self, value: Fraction, span: Span, *, written: bool = False) -> Formula:
        """Numbers are multiples of this."""
        return self.intern(("multiple", value, written), lambda: MultipleOf(value, written, span))

    def length(self, least: int, most: int | None, span: Span) -> Formula:
        """The length of strings."""
        return self.intern(("length", least, most), lambda: Length(least, most, span))

    def text(self, node: Node, key: object, span: Span) -> Formula:
        """The language of strings."""
        return self.intern(("text", key), lambda: Text(node, key, span))

    def among(self, values: Iterable[Value], span: Span) -> Formula:
        """The value is one of these."""
        these = tuple(dict.fromkeys(values))
        if not these:
            return self.false
        return self.intern(("among", *these), lambda: Among(these, frozenset(these), span))

    def members(self, keys: Formula, value: Formula, span: Span, *, declares: bool = False) -> Formula:
        """All members with such a key."""
        if (value is self.true and not declares) or keys is self.false:
            return self.true
        return self.intern(("members", keys, value, declares), lambda: Members(keys, value, declares, span))

    def some_member(self, keys: Formula, value: Formula, span: Span) -> Formula:
        """Some member with such a key."""
        return self.negate(self.members(keys, self.negate(value), span))

    def member_count(self, least: int, most: int | None, span: Span) -> Formula:
        """How many members."""
        return self.intern(("member count", least, most), lambda: MemberCount(least, most, span))

    def items(self, first: int, end: int | None, value: Formula, span: Span) -> Formula:
        """All items of a range."""
        if value is self.true or (end is not None and end <= first):
            return self.true
        return self.intern(("items", first, end, value), lambda: Items(first, end, value, span))

    def item_count(self, least: int, most: int | None, span: Span) -> Formula:
        """How many items."""
        return self.intern(("item count", least, most), lambda: ItemCount(least, most, span))

    def contains(self, value: Formula, least: int, most: int | None, span: Span) -> Formula:
        """How many items satisfy a formula."""
        return self.intern(("contains", value, least, most), lambda: Contains(value, least, most, span))

    def distinct(self, span: Span) -> Formula:
        """No two items are equal."""
        self.uses_distinct = True
        return self.intern(("distinct",), lambda: Distinct(span))

    # ------------------------------------------------------------------ connectives

    def all_of(self, items: Iterable[Formula]) -> Formula:
        """The conjunction."""
        return self._join(items, All, self.true, self.false)

    def any_of(self, items: Iterable[Formula]) -> Formula:
        """The disjunction."""
        return self._join(items, Some, self.false, self.true)

    def _join(self, items: Iterable[Formula], kind: type[All | Some], neutral: Constant, ending: Constant) -> Formula:
        joined: dict[Formula, None] = {}
        for item in items:
            if item is ending:
                return ending
            if item is neutral:
                continue
            if isinstance(item, kind):
                joined.update(dict.fromkeys(item.items))
            else:
                joined[item] = None
        for item in joined:
            if isinstance(item, Not) and item.item in joined:
                return ending
        these = tuple(joined)
        if not these:
            return neutral
        if len(these) == 1:
            return these[0]
        return self.intern((kind, these), lambda: kind(these))

    def exactly_one(self, items: Iterable[Formula]) -> Formula:
        """One holds, the others do not; an item that stands there twice cannot be the one."""
        listed = list(items)
        these = [item for item in listed if item is not self.false]
        if these.count(self.true) > 1:
            return self.false
        if self.true in these:
            return self.all_of(self.negate(item) for item in these if item is not self.true)
        once = [item for item in these if these.count(item) == 1]
        twice = {item: None for item in these if these.count(item) > 1}
        never = [self.negate(item) for item in twice]
        if len(once) == 1:
            return self.all_of([*once, *never])
        if not once:
            return self.false
        key = tuple(once)
        return self.all_of([self.intern((ExactlyOne, key), lambda: ExactlyOne(key)), *never])

    def negate(self, item: Formula) -> Formula:
        """The negation, moved down as far as it goes."""
        match item:
            case Constant():
                return self.constant(not item.value)
            case Not():
                return item.item
            case All():
                return self.any_of(self.negate(part) for part in item.items)
            case Some():
                return self.all_of(self.negate(part) for part in item.items)
            case _:
                return self.intern((Not, item), lambda: Not(item))


def span_of(literal: Formula) -> Span:
    """The place of an assertion, or of a negated one."""
    atom = literal.item if isinstance(literal, Not) else literal
    span = getattr(atom, "span", None)
    return span if isinstance(span, Span) else Span(0, 0)
