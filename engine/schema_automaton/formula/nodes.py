"""What a JSON value must satisfy: a boolean formula over a few kinds of assertion.

Every keyword of JSON Schema comes down to these. `properties` and its kin are
`PropertyConstraint` (all members whose key is in a set satisfy a formula), and `required`
is the negation of such a one; a set of keys is itself a formula over strings.
So `not` needs no table of complements: a negation moves down to an assertion,
and there it is a flag.

Formulas are made by an `Arena` (see there), so that equal ones are one object.
A recursive schema is a `Ref`, which names a definition. An assertion about one
kind of value holds for every other kind, as in JSON Schema.

After Attouche et al., *Witness Generation for JSON Schema*, VLDB 2022, whose
algebra has the same shape. Rejected: a schema class for each draft, since each
pair of keywords would then need a rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Protocol, TypeAlias, TypeVar, dataclass_transform

from engine.grammar import Node
from engine.schema_automaton.formula.values import JsonType, Value
from engine.source import Span, checkpoint


class Located(Protocol):
    """A part of a source, which looks up its place when it is asked."""

    @property
    def span(self) -> Span:
        """The place."""

    @property
    def way_up(self) -> Iterator[int]:
        """Its number in the source, or that of what holds it, and those of all that hold that, up to the root's."""


Place: TypeAlias = Span | Located
"""Where an assertion stands. Most are never asked, so a place may be looked up late."""


def span_at(place: Place) -> Span:
    """A place as a span."""
    return place if isinstance(place, Span) else place.span


_T = TypeVar("_T")


@dataclass_transform(eq_default=False, frozen_default=True)
def _value(one: type[_T]) -> type[_T]:
    """A value that is compared by identity. mypy holds it frozen; at run time that would double what one costs."""
    return dataclass(slots=True, eq=False)(one)


class LocatedFormula:
    """An assertion, which has a place.

    Attributes:
        about: the kind of values that it is about; None where it tells kinds apart.
    """

    __slots__ = ()

    about: ClassVar[JsonType | None] = None
    place: Place

    @property
    def span(self) -> Span:
        """Where it stands."""
        return span_at(self.place)


@_value
class Constant:
    """Always true, or always false."""

    value: bool


@_value
class And:
    """Every item holds; the order is that of the source, since the order of properties follows it."""

    items: tuple[Formula, ...]


@_value
class Or:
    """At least one item holds."""

    items: tuple[Formula, ...]


@_value
class ExactlyOne:
    """One item holds and the others do not."""

    items: tuple[Formula, ...]


@_value
class Not:
    """The assertion, or the definition, does not hold."""

    item: Formula


@_value
class Ref:
    """Whatever the definition of that number says."""

    number: int


@_value
class TypeIn(LocatedFormula):
    """The value is of one of these kinds."""

    kinds: frozenset[JsonType]
    place: Place


@_value
class Minimum(LocatedFormula):
    """A number is at least (strictly: more than) this."""

    about: ClassVar = JsonType.NUMBER
    value: Fraction
    strict: bool
    place: Place


@_value
class Maximum(LocatedFormula):
    """A number is at most (strictly: less than) this."""

    about: ClassVar = JsonType.NUMBER
    value: Fraction
    strict: bool
    place: Place


@_value
class MultipleOf(LocatedFormula):
    """A number is an integer times this, which is positive.

    Attributes:
        written: it must be written without fraction and exponent as well (`type: integer`). Its negation is about the
            value alone.
    """

    about: ClassVar = JsonType.NUMBER
    value: Fraction
    written: bool
    place: Place


@_value
class Length(LocatedFormula):
    """A string has so many characters."""

    about: ClassVar = JsonType.STRING
    least: int
    most: int | None
    place: Place


@_value
class Text(LocatedFormula):
    """A string is, as a whole, in the language of a node.

    Attributes:
        make: gives the node, which some take long to build.
        key: tells one language from another.
        shared: whether every grammar is given the very same node; it has strings then.
    """

    about: ClassVar = JsonType.STRING
    make: Callable[[], Node]
    key: object
    shared: bool
    place: Place

    @property
    def node(self) -> Node:
        """The node."""
        return self.make()


@_value
class EnumValues(LocatedFormula):
    """The value equals one of these.

    Attributes:
        seen: whether they are the earlier items of an array whose items must differ. To differ from those does not
            constrain how a string is spelled.
    """

    values: tuple[Value, ...]
    members: frozenset[Value]
    place: Place
    seen: bool = False


@_value
class PropertyConstraint(LocatedFormula):
    """All members of an object whose key is in `keys`, a formula over strings, satisfy `value`.

    Attributes:
        declares: whether a name in `keys` takes a place in the order of properties.
        begins: whether a name in `keys` without such a place may come ahead of them all as well.
    """

    about: ClassVar = JsonType.OBJECT
    keys: Formula
    value: Formula
    declares: bool
    place: Place
    begins: bool = False


@_value
class MemberCount(LocatedFormula):
    """An object has so many members."""

    about: ClassVar = JsonType.OBJECT
    least: int
    most: int | None
    place: Place


@_value
class Items(LocatedFormula):
    """All items of an array from index `first` up to `end` (without end: None) satisfy `value`."""

    about: ClassVar = JsonType.ARRAY
    first: int
    end: int | None
    value: Formula
    place: Place


@_value
class ItemCount(LocatedFormula):
    """An array has so many items."""

    about: ClassVar = JsonType.ARRAY
    least: int
    most: int | None
    place: Place


@_value
class Contains(LocatedFormula):
    """So many items of an array satisfy `value`."""

    about: ClassVar = JsonType.ARRAY
    value: Formula
    least: int
    most: int | None
    place: Place


@_value
class UniqueItems(LocatedFormula):
    """No two items of an array are equal."""

    about: ClassVar = JsonType.ARRAY
    place: Place


Assertion: TypeAlias = (
    TypeIn
    | Minimum
    | Maximum
    | MultipleOf
    | Length
    | Text
    | EnumValues
    | PropertyConstraint
    | MemberCount
    | Items
    | ItemCount
    | Contains
    | UniqueItems
)
Formula: TypeAlias = Constant | And | Or | ExactlyOne | Not | Ref | Assertion


def parts_of(formula: Formula, definitions: Sequence[Formula | None]) -> Iterator[Formula]:
    """A formula, what it is made of, and what the definitions say that it refers to; each once."""
    seen, todo = {formula}, [formula]
    while todo:
        part = todo.pop()
        checkpoint()
        yield part
        below: tuple[Formula | None, ...] = ()
        match part:
            case And() | Or() | ExactlyOne():
                below = part.items
            case Not():
                below = (part.item,)
            case Ref():
                below = (definitions[part.number],)
            case PropertyConstraint():
                below = (part.keys, part.value)
            case Items() | Contains():
                below = (part.value,)
        for each in below:
            if each is not None and each not in seen:
                seen.add(each)
                todo.append(each)


def span_of(literal: Formula) -> Span:
    """The place of an assertion, or of a negated one."""
    atom = literal.item if isinstance(literal, Not) else literal
    return atom.span if isinstance(atom, LocatedFormula) else Span(0, 0)


_COMPOUND: Final = frozenset((And, Or, ExactlyOne))


def is_compound(formula: Formula) -> bool:
    """Whether a formula is made of others, and no assertion or negated one."""
    return (formula.item if isinstance(formula, Not) else formula).__class__ in _COMPOUND


def sorted_spans(literals: Iterable[Formula]) -> tuple[Span, ...]:
    """The places of some assertions."""
    return tuple(sorted({span_of(literal) for literal in literals}))
