"""A fast test for formulas over strings that are obviously satisfiable, before any automaton is built for them.

Most schemas use plain patterns, lengths and lists of names, which have strings. Where
the test fails, a search over the product automaton decides.
"""

from __future__ import annotations

from typing import Final

from engine.grammar import Chars, Choice, Lookaround, Never, Node, Repeat, Sequence
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.nodes import parts
from engine.grammar.simplify import simplify
from engine.schema_automaton.formula.nodes import And, Constant, EnumValues, Formula, Length, Not, Or, Text

_MANY: Final = 1_000_000
"""A number below that of all characters, and of the strings of every format."""


def is_plainly_inhabited(formula: Formula) -> bool:
    """Return whether some string obviously satisfies a formula."""
    match formula:
        case Constant():
            return formula.value
        case Text():
            return formula.shared or _is_plain(simplify(formula.node))
        case Length():
            return formula.most is None or formula.least <= formula.most
        case EnumValues():
            return any(isinstance(value, str) for value in formula.values)
        case Or():
            return any(is_plainly_inhabited(item) for item in formula.items)
        case Not():
            return isinstance(formula.item, EnumValues)
        case And():
            return _is_plainly_met(formula.items)
        case _:
            return False


def _is_plainly_met(conditions: tuple[Formula, ...]) -> bool:
    """Return whether some string obviously satisfies lengths, excluded values and at most one pattern."""
    least, most = 0, None
    others: list[Formula] = []
    for condition in conditions:
        if isinstance(condition, Length):
            least = max(least, condition.least)
            most = condition.most if most is None else most if condition.most is None else min(most, condition.most)
        else:
            others.append(condition)
    if most is not None and least > most:
        return False
    excluded = [other.item for other in others if isinstance(other, Not) and isinstance(other.item, EnumValues)]
    left_out = sum(len(each.values) for each in excluded)
    texts = [other for other in others if not (isinstance(other, Not) and isinstance(other.item, EnumValues))]
    if not texts:
        return not left_out or most is None or (most > 0 and left_out < _MANY)
    text = texts[0]
    if len(texts) > 1 or not isinstance(text, Text):
        return False
    if text.shared:
        return (least, most) == (0, None) and left_out < _MANY
    node = simplify(text.node)
    if not _is_plain(node):
        return False
    if left_out:
        return most is None and _is_endless(node)
    shortest = _shortest(node)
    return least <= shortest and (most is None or shortest <= most)


def _is_endless(node: Node) -> bool:
    """Return whether a node without assertions matches strings of unbounded length."""
    endless = (part for part in parts(node) if isinstance(part, Repeat) and part.maximum is None)
    return any(isinstance(part, Chars) for repeat in endless for part in parts(repeat.node))


def _shortest(node: Node) -> int:
    """Return the least number of characters that a node without assertions matches."""
    match node:
        case Chars():
            return 1
        case Sequence():
            return sum(map(_shortest, node.items))
        case Choice():
            return min(map(_shortest, node.alternatives), default=0)
        case Repeat():
            return node.minimum * _shortest(node.node)
        case _:
            return 0


def _is_plain(node: Node) -> bool:
    """Return whether a node has neither assertions nor parts that match nothing."""
    return all(
        not isinstance(part, Lookaround | Never) and (not isinstance(part, Chars) or bool(part.set & EVERY_SCALAR))
        for part in parts(node)
    )
