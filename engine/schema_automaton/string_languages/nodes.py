"""A formula over strings as one grammar node, for exporters that write it as text: conditions become look-aheads.

Matching uses `products` instead.
"""

from __future__ import annotations

from engine.grammar import EMPTY, NEVER, Chars, CharSet, Choice, Lookaround, Node, Repeat, Sequence
from engine.grammar.charset import EVERY_SCALAR
from engine.schema_automaton.formula.nodes import And, Constant, EnumValues, Formula, Length, Not, Or, Text
from engine.source import Span

_ANY = Chars(EVERY_SCALAR)
_END = Lookaround(_ANY, ahead=True, negated=True)
ANYTHING = Repeat(_ANY, 0, None)


def to_node(formula: Formula) -> Node:
    """Return a formula over strings as a node that matches the whole of a decoded string."""
    match formula:
        case Constant():
            return ANYTHING if formula.value else NEVER
        case Text():
            return formula.node
        case Length():
            return Repeat(Chars(EVERY_SCALAR, formula.span), formula.least, formula.most, formula.span)
        case EnumValues():
            return Choice(tuple(_literal(value, formula.span) for value in formula.values if isinstance(value, str)))
        case Or():
            return Choice(tuple(to_node(item) for item in formula.items))
        case Not():
            return Sequence((_whole(formula.item, negated=True), ANYTHING))
        case And():
            return _conjunction(formula.items)
        case _:
            raise AssertionError(formula)


def _conjunction(items: tuple[Formula, ...]) -> Node:
    least, most, span = 0, None, Span(0, 0)
    looks: list[Node] = []
    body: Formula | None = None
    for item in items:
        if isinstance(item, Length):
            least = max(least, item.least)
            most = item.most if most is None else most if item.most is None else min(most, item.most)
            span = item.span
        elif isinstance(item, Text | Or) and body is None:
            body = item
        else:
            looks.append(_whole(item.item, negated=True) if isinstance(item, Not) else _whole(item, negated=False))
    if most is not None and most < least:
        return NEVER
    counted = (least, most) != (0, None)
    if counted and body is not None:
        looks.append(_whole(body, negated=False))
    if counted:
        return Sequence((*looks, Repeat(Chars(EVERY_SCALAR, span), least, most, span)))
    return Sequence((*looks, ANYTHING if body is None else to_node(body)))


def _whole(formula: Formula, *, negated: bool) -> Node:
    return Lookaround(Sequence((to_node(formula), _END)), ahead=True, negated=negated)


def _literal(value: str, span: Span) -> Node:
    if not value:
        return EMPTY
    return Sequence(tuple(Chars(CharSet(((ord(c), ord(c)),)), span) for c in value))
