"""The formula AST: what a JSON value must satisfy, as a boolean formula over a few kinds of assertion.

Every keyword of JSON Schema is lowered to these nodes. `properties` and its relatives
become `PropertyConstraint` (all members whose key is in a set satisfy a formula), and
`required` is the negation of a `PropertyConstraint`; a set of keys is itself a formula
over strings. So `not` needs no table of complements: a negation moves down to an
assertion, and there it is a `Not` node.

Formulas are made by an `Arena` (see there), so that equal formulas are one object.
A recursive schema is a `Ref` to a numbered definition. As in JSON Schema, an
assertion about one type of value holds for values of every other type.

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
    """A part of a source text that computes its location on demand."""

    @property
    def span(self) -> Span:
        """Return the location in the source."""

    @property
    def ancestors(self) -> Iterator[int]:
        """Iterate over the numbers of the enclosing parts in the source, from the innermost up to the root.

        The first number is that of the part itself, or of the part that contains it.
        """


Location: TypeAlias = Span | Located
"""The source location of an assertion. Most are never needed, so a location may be computed lazily."""


def span_of_location(location: Location) -> Span:
    """Return a location as a span."""
    return location if isinstance(location, Span) else location.span


_T = TypeVar("_T")


@dataclass_transform(eq_default=False, frozen_default=True)
def _node(cls: type[_T]) -> type[_T]:
    """Declare a node that is compared by identity.

    It is frozen for mypy only: at run time that would double the cost of a node.
    """
    return dataclass(slots=True, eq=False)(cls)


def _base(cls: type[_T]) -> type[_T]:
    """Mark the base of nodes: for mypyc, decorated classes are ordinary classes and may only inherit from such."""
    return cls


@_base
class LocatedFormula:
    """An assertion, which has a source location.

    Attributes:
        about: the JSON type that it constrains; None if it tells types apart (`TypeIn`, `EnumValues`).
    """

    __slots__ = ()

    about: ClassVar[JsonType | None] = None
    location: Location

    @property
    def span(self) -> Span:
        """Return the location in the source."""
        return span_of_location(self.location)


@_node
class Constant:
    """A formula that is always true, or always false."""

    value: bool


@_node
class And:
    """A conjunction: every item holds. The order is that of the source, since the order of properties follows it."""

    items: tuple[Formula, ...]


@_node
class Or:
    """A disjunction: at least one item holds."""

    items: tuple[Formula, ...]


@_node
class ExactlyOne:
    """A formula that holds if one item holds and the others do not (`oneOf`)."""

    items: tuple[Formula, ...]


@_node
class Not:
    """A negation: the assertion, or the definition, does not hold."""

    item: Formula


@_node
class Ref:
    """A reference to the definition with a number."""

    number: int


@_node
class TypeIn(LocatedFormula):
    """An assertion that the value is of one of these JSON types."""

    types: frozenset[JsonType]
    location: Location


@_node
class Minimum(LocatedFormula):
    """A lower bound: a number is at least (strictly: more than) this."""

    about: ClassVar = JsonType.NUMBER
    value: Fraction
    strict: bool
    location: Location


@_node
class Maximum(LocatedFormula):
    """An upper bound: a number is at most (strictly: less than) this."""

    about: ClassVar = JsonType.NUMBER
    value: Fraction
    strict: bool
    location: Location


@_node
class MultipleOf(LocatedFormula):
    """An assertion that a number is an integer times `value`, which is positive.

    Attributes:
        written: the number must also be written without fraction and exponent (`type: integer`). The negation
            constrains the value alone.
    """

    about: ClassVar = JsonType.NUMBER
    value: Fraction
    written: bool
    location: Location


@_node
class Length(LocatedFormula):
    """An assertion about the number of characters of a string."""

    about: ClassVar = JsonType.STRING
    least: int
    most: int | None
    location: Location


@_node
class Text(LocatedFormula):
    """An assertion that the whole string is in the language of a grammar node.

    Attributes:
        make: returns the node; some nodes take long to build.
        key: identifies the language.
        shared: whether every grammar gets the very same node; its language is then known to be non-empty.
    """

    about: ClassVar = JsonType.STRING
    make: Callable[[], Node]
    key: object
    shared: bool
    location: Location

    @property
    def node(self) -> Node:
        """Return the node."""
        return self.make()


@_node
class EnumValues(LocatedFormula):
    """An assertion that the value equals one of these.

    Attributes:
        seen: whether the values are the earlier items of an array with `uniqueItems`. To differ from those does not
            constrain how a string is encoded.
    """

    values: tuple[Value, ...]
    members: frozenset[Value]
    location: Location
    seen: bool = False


@_node
class PropertyConstraint(LocatedFormula):
    """An assertion that all members of an object whose key is in `keys`, a formula over strings, satisfy `value`.

    Attributes:
        declares: whether a name in `keys` has a position in the order of properties.
        begins: whether a name in `keys` without a position may also come before all names that have one.
    """

    about: ClassVar = JsonType.OBJECT
    keys: Formula
    value: Formula
    declares: bool
    location: Location
    begins: bool = False


@_node
class MemberCount(LocatedFormula):
    """An assertion about the number of members of an object."""

    about: ClassVar = JsonType.OBJECT
    least: int
    most: int | None
    location: Location


@_node
class Items(LocatedFormula):
    """An assertion that all items of an array from index `first` up to `end` (None: no end) satisfy `value`."""

    about: ClassVar = JsonType.ARRAY
    first: int
    end: int | None
    value: Formula
    location: Location


@_node
class ItemCount(LocatedFormula):
    """An assertion about the number of items of an array."""

    about: ClassVar = JsonType.ARRAY
    least: int
    most: int | None
    location: Location


@_node
class Contains(LocatedFormula):
    """An assertion about the number of items of an array that satisfy `value`."""

    about: ClassVar = JsonType.ARRAY
    value: Formula
    least: int
    most: int | None
    location: Location


@_node
class UniqueItems(LocatedFormula):
    """An assertion that no two items of an array are equal."""

    about: ClassVar = JsonType.ARRAY
    location: Location


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
    """Yield a formula, its parts and the definitions that it refers to, each once."""
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


def holds_for_string(formula: Formula, text: str, judge: Callable[[Formula, str], bool]) -> bool:
    """Return whether a string satisfies a formula over strings.

    Args:
        formula: the formula.
        text: the string.
        judge: decides about the parts that need an automaton, and about `ExactlyOne`.
    """
    match formula:
        case Constant():
            return formula.value
        case Length():
            return formula.least <= len(text) and (formula.most is None or len(text) <= formula.most)
        case EnumValues():
            return text in formula.members
        case Not():
            return not holds_for_string(formula.item, text, judge)
        case And():
            return all(holds_for_string(item, text, judge) for item in formula.items)
        case Or():
            return any(holds_for_string(item, text, judge) for item in formula.items)
        case _:
            return judge(formula, text)


def span_of(literal: Formula) -> Span:
    """Return the location of an assertion, or of a negated one."""
    atom = literal.item if isinstance(literal, Not) else literal
    return atom.span if isinstance(atom, LocatedFormula) else Span(0, 0)


_COMPOUND: Final = frozenset((And, Or, ExactlyOne))


def is_compound(formula: Formula) -> bool:
    """Return whether a formula is a connective, not an assertion or a negated one."""
    return (formula.item if isinstance(formula, Not) else formula).__class__ in _COMPOUND


def sorted_spans(literals: Iterable[Formula]) -> tuple[Span, ...]:
    """Return the locations of assertions, sorted and without duplicates."""
    return tuple(sorted({span_of(literal) for literal in literals}))
