"""Conditions on one string, run side by side: products of automata over its JSON spelling.

A pattern, a format, a length and a list of names are an automaton each, and what
a schema says of a string is a boolean formula over them. A state of the product
is what is left of that formula: a condition that cannot hold any more is false,
one that cannot fail any more is true, and what no longer matters is gone. So
a conjunction of a dozen patterns costs a dozen table lookups per step, and
whether any string satisfies all is a search over the states of the tables.

After Owens, Reppy and Turon, *Regular-expression derivatives re-examined*, JFP
19(2), 2009, whose derivatives of a boolean combination have the same form; but
the leaves are table states instead of expressions. Rejected: conditions as
look-aheads of one nondeterministic program. Every thread then carries the states
of all the others as obligations, and a search over them took a second where this
takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from engine.automata.byte_classes import ByteClasses
from engine.automata.json.formula import All, Among, Constant, Formula, Length, Not, Some, Text, span_of
from engine.automata.json.strings.conditions import Component, Components, component
from engine.automata.json.strings.letters import Letters, common_letters
from engine.automata.liveness import SearchedTable
from engine.automata.runtime import DEAD
from engine.automata.table import LazyTable
from engine.grammar import Chars, Choice, Empty, Look, Never, Node, Repeat, Sequence
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.nodes import parts
from engine.grammar.simplify import simplify
from engine.source import Limits, Span

Residual: TypeAlias = Any
"""What is left of a formula: a boolean, or `(LEAF, component, state)`, `(_NOT, it)`, `(_ALL or _SOME, them)`."""

LEAF, _NOT, _ALL, _SOME = range(4)
_SOON: Final = 100
_MANY: Final = 1_000_000
"""There are more characters than that, and more strings of every format."""


def is_plainly_inhabited(formula: Formula) -> bool:
    """Whether it is clear at a glance that some string satisfies a formula."""
    match formula:
        case Constant():
            return formula.value
        case Text():
            return formula.shared or _is_plain(simplify(formula.node))
        case Length():
            return formula.most is None or formula.least <= formula.most
        case Among():
            return any(isinstance(value, str) for value in formula.values)
        case Some():
            return any(is_plainly_inhabited(item) for item in formula.items)
        case Not():
            return isinstance(formula.item, Among)
        case All():
            return _is_plainly_met(formula.items)
        case _:
            return False


def _is_plainly_met(conditions: tuple[Formula, ...]) -> bool:
    """Whether it is clear at a glance that some string meets lengths, and one pattern or what is left out."""
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
    excluded = [other.item for other in others if isinstance(other, Not) and isinstance(other.item, Among)]
    left_out = sum(len(each.values) for each in excluded)
    texts = [other for other in others if not (isinstance(other, Not) and isinstance(other.item, Among))]
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
    """Whether a node without conditions matches ever longer strings."""
    endless = (part for part in parts(node) if isinstance(part, Repeat) and part.maximum is None)
    return any(isinstance(part, Chars) for repeat in endless for part in parts(repeat.node))


def _shortest(node: Node) -> int:
    """How many characters a node without conditions takes at least."""
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


def longest_completion(node: Node) -> int | None:
    """So many characters at most complete a match that has begun; None where conditions decide."""
    match node:
        case Chars():
            return 1
        case Sequence() | Choice():
            items = node.items if isinstance(node, Sequence) else node.alternatives
            lengths = [longest_completion(item) for item in items]
            return None if None in lengths else sum(length for length in lengths if length is not None)
        case Repeat():
            length = longest_completion(node.node)
            return None if length is None else (node.minimum + 1) * length
        case Empty():
            return 0
        case _:
            return None


def _is_plain(node: Node) -> bool:
    """Whether a node has neither conditions nor parts that nothing matches."""
    return all(
        not isinstance(part, Look | Never) and (not isinstance(part, Chars) or bool(part.set & EVERY_SCALAR))
        for part in parts(node)
    )


class TooManyLettersError(Exception):
    """Conditions tell more characters apart than there may be letters."""


def begin(
    formula: Formula, limits: Limits, known: Components, *, by_letters: bool
) -> tuple[Residual, list[Component], list[Formula]]:
    """What is to be satisfied at the start of a string, the automata in question, and the conditions they stand for.

    Raises:
        TooManyLettersError: they do not read letters.
    """
    formulas: list[Formula] = []
    components: list[Component] = []

    def find(part: Text | Length | Among) -> Residual:
        automaton = component(part, limits, known, by_letters=by_letters)
        if automaton is None:
            raise TooManyLettersError
        components.append(automaton)
        formulas.append(part)
        return _leaf(automaton, len(components) - 1, automaton.start)

    return _begin(formula, find), components, formulas


def _begin(part: Formula, find: Callable[[Text | Length | Among], Residual]) -> Residual:
    match part:
        case Constant():
            return part.value
        case Not():
            return _negated(_begin(part.item, find))
        case All() | Some():
            return _joined(_ALL if isinstance(part, All) else _SOME, [_begin(item, find) for item in part.items])
        case Text() | Length() | Among():
            return find(part)
        case _:
            raise AssertionError(part)


class TextProduct(SearchedTable[tuple[int, Residual]]):
    """The `Runtime` of a boolean formula over conditions; a state is one of any string, and what is left to satisfy.

    Attributes:
        letters: what it reads; None for bytes.
    """

    def __init__(
        self,
        every: LazyTable[Any] | None,
        components: list[Component],
        formulas: list[Formula],
        residual: Residual,
        limits: Limits,
    ) -> None:
        """Begin.

        Args:
            every: every string, by bytes; None where conditions read letters.
            components: the conditions.
            formulas: what they stand for.
            residual: what is left of the formula at the start.
            limits: how much may be searched.

        Raises:
            TooManyLettersError: together, they tell too many apart.
        """
        self._every = every
        self._components = components
        self._formulas = formulas
        self.letters: Letters | None = None
        if every is None:
            common = common_letters([each.letters for each in components if each.letters is not None])
            if common is None:
                raise TooManyLettersError
            self.letters, parts_of = common
            of_byte = [each.classes.of_byte for each in components]
            self._classes_of = [
                (0, *(table[letter] for table, letter in zip(of_byte, letters, strict=True))) for letters in parts_of
            ]
            classes = self.letters.classes
        else:
            classes, self._classes_of = _common_classes([table.classes for table in (every, *components)])
        super().__init__(classes, (DEAD, False), limits)
        self._live = [False]
        self._distances: dict[tuple[int, int], int] = {}
        start = self._intern((1 if every is None else every.start, residual))
        self.start = start if self._is_live(start) else DEAD

    def is_free(self, configuration: int) -> bool:
        """Whether every string that goes on from here is accepted."""
        return self._keys[configuration][1] is True

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Where the conditions that are still open stand."""
        found: set[Span] = set()
        todo = [self._keys[configuration][1]]
        while todo:
            residual = todo.pop()
            if isinstance(residual, bool):
                continue
            if residual[0] == LEAF:
                found.add(span_of(self._formulas[residual[1]]))
            elif residual[0] == _NOT:
                todo.append(residual[1])
            else:
                todo += residual[1]
        return tuple(sorted(found))

    # ------------------------------------------------------------------ steps

    def _step(self, configuration: int, byte_class: int) -> int:
        place, residual = self._keys[configuration]
        classes = self._classes_of[byte_class]
        if self._every is not None:
            place = self._every.step(place, classes[0])
            if place == DEAD:
                return DEAD
        residual = self._after(residual, classes)
        return DEAD if residual is False else self._intern((place, residual))

    def _after(self, residual: Residual, classes: tuple[int, ...]) -> Residual:
        if residual is True:
            return True
        tag, first = residual[0], residual[1]
        if tag == LEAF:
            return _leaf(self._components[first], first, self._components[first].step(residual[2], classes[first + 1]))
        if tag == _NOT:
            return _negated(self._after(first, classes))
        return _joined(tag, (self._after(each, classes) for each in first))

    def _is_accepting(self, key: tuple[int, Residual]) -> bool:
        return (self._every is None or self._every.accepts(key[0])) and self._holds(key[1])

    def _holds(self, residual: Residual) -> bool:
        if isinstance(residual, bool):
            return residual
        tag, first = residual[0], residual[1]
        if tag == LEAF:
            holds: bool = self._components[first].accepts(residual[2])
            return holds
        if tag == _NOT:
            return not self._holds(first)
        return (all if tag == _ALL else any)(self._holds(each) for each in first)

    # ------------------------------------------------------------------ liveness

    def _is_plainly_live(self, configuration: int) -> bool | None:
        if self.accepting[configuration]:
            return True
        return True if _lives(self._keys[configuration][1]) else None

    def _urgency(self, configuration: int, order: int) -> tuple[int, int]:
        """The fewest bytes to go, over all conditions; among equals what was found first.

        Most searches end at once; until then, how many conditions do not hold yet is told faster.
        """
        residual = self._keys[configuration][1]
        if order > _SOON:
            return self._distance(residual), order
        conditions = residual[1] if residual is not True and residual[0] == _ALL else (residual,)
        return sum(not self._holds(each) for each in conditions), order

    def _distance(self, residual: Residual) -> int:
        """An estimate of the bytes to go."""
        if isinstance(residual, bool):
            return 0
        tag, first = residual[0], residual[1]
        if tag == LEAF:
            key = (first, residual[2])
            known = self._distances.get(key)
            if known is None:
                known = self._distances[key] = self._components[first].remaining(residual[2]).at_least or 0
            return known
        if tag == _NOT:
            return 0 if self._holds(residual) else 1
        return (sum if tag == _ALL else min)([self._distance(each) for each in first])


def _common_classes(tables: list[ByteClasses]) -> tuple[ByteClasses, list[tuple[int, ...]]]:
    """The coarsest classes that are finer than all of these, and of each the classes that it is part of."""
    numbers: dict[tuple[int, ...], int] = {}
    of_byte = bytes(
        [numbers.setdefault(key, len(numbers)) for key in zip(*(table.of_byte for table in tables), strict=True)]
    )
    ranges: list[list[tuple[int, int]]] = [[] for _ in numbers]
    start = 0
    for end in range(1, 257):
        if end == 256 or of_byte[end] != of_byte[start]:
            ranges[of_byte[start]].append((start, end - 1))
            start = end
    return ByteClasses(of_byte, tuple(r[0][0] for r in ranges), tuple(map(tuple, ranges))), list(numbers)


def _leaf(automaton: Component, number: int, state: int) -> Residual:
    if state == DEAD:
        return False
    return True if automaton.is_free(state) else (LEAF, number, state)


def _negated(residual: Residual) -> Residual:
    return not residual if isinstance(residual, bool) else (_NOT, residual)


def _joined(tag: int, residuals: Iterable[Residual]) -> Residual:
    ending = tag == _SOME
    left: dict[Residual, None] = {}
    for residual in residuals:
        if residual is ending:
            return ending
        if not isinstance(residual, bool):
            left[residual] = None
    if len(left) < 2:
        return next(iter(left), not ending)
    return tag, tuple(left)


def _lives(residual: Residual) -> bool:
    """Whether it is clear that something satisfies what is left: states of components are live by construction."""
    if isinstance(residual, bool):
        return residual
    return residual[0] == LEAF or (residual[0] == _SOME and any(_lives(each) for each in residual[1]))
