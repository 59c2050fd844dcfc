"""Conditions on one string, run side by side: products of automata over its JSON encoding.

A pattern, a format, a length and a list of names are an automaton each, and the
assertions about a string are a boolean formula over them. A state of the product is the
residual formula: a condition that cannot hold any more is false, one that cannot fail
any more is true, and what no longer matters is dropped. So a conjunction of a dozen
patterns costs a dozen table lookups per step, and whether any string satisfies all is a
search over the states of the tables.

After Owens, Reppy and Turon, *Regular-expression derivatives re-examined*, JFP
19(2), 2009, whose derivatives of a boolean combination have the same form; but
the leaves are table states instead of expressions. Rejected: conditions as
look-aheads of one nondeterministic program. Every thread then carries the states
of all the others as obligations, and a search over them took a second where this
takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final, TypeAlias

from engine.automata.byte_automaton import DEAD, MISS
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, LengthBound
from engine.automata.dfa.lazy_table import LazyTable
from engine.automata.dfa.searched_table import SearchedTable
from engine.schema_automaton.formula.nodes import And, Constant, EnumValues, Formula, Length, Not, Or, Text, span_of
from engine.schema_automaton.json_encoding.character_classes import CharacterClasses, common_refinement
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.conditions import (
    Component,
    Components,
    ConditionAutomaton,
    LengthAutomaton,
    ListedAutomaton,
    component,
)
from engine.schema_automaton.string_languages.tables import TableAutomaton
from engine.source import Limits, Span, check_cancelled, checkpoint

Residual: TypeAlias = Any
"""A residual formula: a boolean, or `(LEAF, component, state)`, `(_NOT, residual)`, `(_ALL or _SOME, residuals)`."""

LEAF, _NOT, _ALL, _SOME = range(4)
_SOON: Final = 100
_FURTHEST: Final = 256
"""The most characters that are read ahead to reach the least length of a string."""

_LONGER: Final = 8
"""The number of further characters that are read ahead to find strings that are not excluded."""

_WIDEST: Final = 64
"""The most states of a pattern that are followed side by side."""


class TooManyClassesError(Exception):
    """Conditions distinguish more characters than there may be character classes."""


def begin(
    formula: Formula, limits: Limits, escapes: Escapes, known: Components, *, by_characters: bool
) -> tuple[Residual, list[Component], list[Formula]]:
    """Start the automata of a formula over strings.

    Args:
        formula: the formula.
        limits: the limits of the automata.
        escapes: the escapes that strings may contain.
        known: the automata that exist already.
        by_characters: whether to use automata over character classes; otherwise over bytes.

    Returns:
        The residual formula at the start of a string, the automata, and the condition of each automaton.

    Raises:
        TooManyLettersError: a condition has no automaton over character classes.
    """
    parts = _Parts(limits, escapes, known, by_characters=by_characters)
    return parts.start(formula), parts.components, parts.formulas


class _Parts:
    """The parts of a formula at the start: an equal part is one object, so that a step computes it once.

    Attributes:
        components: the automata of the conditions.
        formulas: the conditions.
    """

    def __init__(self, limits: Limits, escapes: Escapes, known: Components, *, by_characters: bool) -> None:
        self.components: list[Component] = []
        self.formulas: list[Formula] = []
        self._component = partial(component, limits=limits, escapes=escapes, known=known, by_characters=by_characters)
        self._made: dict[Formula, Residual] = {}

    def start(self, part: Formula) -> Residual:
        """Return the residual formula of a part at the start."""
        if part not in self._made:
            self._made[part] = self._start(part)
        return self._made[part]

    def _start(self, part: Formula) -> Residual:
        match part:
            case Constant():
                return part.value
            case Not():
                return _negate(self.start(part.item))
            case And() | Or():
                return _join(_ALL if isinstance(part, And) else _SOME, [self.start(item) for item in part.items])
            case Text() | Length() | EnumValues():
                automaton = self._component(part)
                if automaton is None:
                    raise TooManyClassesError
                self.components.append(automaton)
                self.formulas.append(part)
                return _leaf(automaton, len(self.components) - 1, automaton.start)
            case _:
                raise AssertionError(part)


class TextProduct(SearchedTable[tuple[int, Residual]]):
    """A boolean formula over conditions; a state is that of any string, and the residual formula.

    Attributes:
        char_classes: the character classes; None if it reads bytes.
    """

    def __init__(
        self,
        every: LazyTable[Any] | None,
        components: list[Component],
        formulas: list[Formula],
        residual: Residual,
        limits: Limits,
    ) -> None:
        """Create the product.

        Args:
            every: the automaton of every string, by bytes; None if the conditions read character classes.
            components: the automata of the conditions.
            formulas: the conditions.
            residual: the residual formula at the start.
            limits: the limits of the search.

        Raises:
            TooManyLettersError: together, the conditions distinguish too many characters.
        """
        self._every = every
        self._components = components
        self._formulas = formulas
        self.char_classes: CharacterClasses | None = None
        if every is None:
            common = common_refinement([each.char_classes for each in components if each.char_classes is not None])
            if common is None:
                raise TooManyClassesError
            self.char_classes, parts_of = common
            of_byte = [each.classes.of_byte for each in components]
            columns = [
                [table[char_class] for char_class in char_classes]
                for table, char_classes in zip(of_byte, zip(*parts_of, strict=True), strict=True)
            ]
            self._classes_of = list(zip([0] * len(parts_of), *columns, strict=True))
            classes = self.char_classes.classes
        else:
            classes, self._classes_of = _common_classes([table.classes for table in (every, *components)])
        super().__init__(classes, (DEAD, False), limits)
        self._live = [False]
        self._distances: dict[tuple[int, int], int] = {}
        start = self._intern((1 if every is None else every.start, residual))
        self.start = start if self._is_live(start) else DEAD

    def is_free(self, configuration: int) -> bool:
        """Return whether every continuation of the string is accepted."""
        return self._keys[configuration][1] is True

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Return the source locations of the conditions that are still open."""
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

    def min_remaining(self, configuration: int, alphabet: Alphabet = None) -> LengthBound:
        """Return a lower bound of the bytes that complete a state, from the conditions that have to hold."""
        least = super().min_remaining(configuration, alphabet)
        if not least.at_least:
            return least
        check_cancelled()
        missing = self._missing(self._keys[configuration][1], alphabet)
        return LengthBound(None if missing is None else max(missing, least.at_least), exact=False)

    def _missing(self, residual: Residual, alphabet: Alphabet) -> int | None:
        if isinstance(residual, bool) or residual[0] == _NOT:
            return 0
        if residual[0] == LEAF:
            number, state = residual[1:]
            at_least: int | None = self._components[number].min_remaining(state, alphabet).at_least
            return at_least
        each = [self._missing(part, alphabet) for part in residual[1]]
        known = [missing for missing in each if missing is not None]
        if residual[0] == _ALL:
            return max(known) if len(known) == len(each) else None
        return min(known, default=None)

    # ------------------------------------------------------------------ steps

    def complete(self, state: int) -> None:
        """Compute a whole row; classes that lead all conditions to the same states are stepped once."""
        if (self.rows[state] == MISS).any():
            entries = [DEAD] * self.n_classes
            for group in self._grouped(state):
                following = self._follow(state, group[0])
                for byte_class in group:
                    entries[byte_class] = following
            self.rows[state] = entries

    def _successors(self, configuration: int) -> Iterable[int]:
        return (self._step(configuration, group[0]) for group in self._grouped(configuration))

    def _grouped(self, state: int) -> Iterable[list[int]]:
        """Group the classes that lead all conditions to the same states."""
        any_string, residual = self._keys[state]
        rows = [(0, self._every.row(any_string))] if self._every is not None else []
        rows += [(number + 1, self._components[number].row(at)) for number, at in _leaves(residual)]
        checkpoint(1 + (4 + len(self._classes_of) // 8) * len(rows))
        group: dict[tuple[int, ...], list[int]] = {}
        for byte_class, classes in enumerate(self._classes_of):
            group.setdefault(tuple([row[classes[at]] for at, row in rows]), []).append(byte_class)
        return group.values()

    def _step(self, configuration: int, byte_class: int) -> int:
        any_string, residual = self._keys[configuration]
        checkpoint(2 + 2 * _size(residual))
        check_cancelled()  # the nested conditions may be many more than the size
        classes = self._classes_of[byte_class]
        if self._every is not None:
            any_string = self._every.step(any_string, classes[0])
            if any_string == DEAD:
                return DEAD
        residual = self._after(residual, classes, {})
        return DEAD if residual is False else self._intern((any_string, residual))

    def _after(self, residual: Residual, classes: tuple[int, ...], known: dict[int, Residual]) -> Residual:
        """Return the residual formula after a character.

        Args:
            residual: the residual formula, or a part of it.
            classes: the class of the character in the automaton of each condition.
            known: the results for the parts so far, by the identity of the part.
        """
        if residual is True:
            return True
        after = known.get(id(residual))
        if after is None:
            tag, first = residual[0], residual[1]
            if tag == LEAF:
                automaton = self._components[first]
                after = _leaf(automaton, first, automaton.step(residual[2], classes[first + 1]))
            elif tag == _NOT:
                after = _negate(self._after(first, classes, known))
            else:
                after = _join(tag, (self._after(each, classes, known) for each in first))
            known[id(residual)] = after
        return after

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
        residual = self._keys[configuration][1]
        if _lives(residual):
            return True
        return None if self.char_classes is None else self._can_end_in_time(residual)

    def _can_end_in_time(self, residual: Residual) -> bool | None:
        """Return whether a pattern can end within bounds of the length, at a string that is not excluded.

        None if the residual formula has other conditions, or if this is not obvious.
        """
        parts = residual[1] if residual[0] == _ALL else (residual,)
        pattern, least, most, excluded = None, 0, None, 0
        for part in parts:
            leaf = part[1] if part[0] == _NOT else part
            if leaf[0] != LEAF:
                return None
            automaton = self._components[leaf[1]]
            if part[0] == _NOT:
                if not isinstance(automaton, ListedAutomaton):
                    return None
                excluded += automaton.count
            elif isinstance(automaton, LengthAutomaton):
                low, high = automaton.left(leaf[2])
                least = max(least, low)
                most = high if most is None else most if high is None else min(most, high)
            elif pattern is None and isinstance(automaton, ConditionAutomaton | TableAutomaton):
                pattern = automaton, leaf[2]
            else:
                return None
        if pattern is None or not pattern[0].has_exact_lengths or least > _FURTHEST:
            return None
        return _ends_within(*pattern, least, most, excluded)

    def _priority(self, configuration: int, order: int) -> tuple[int, int]:
        """Return the estimated number of bytes to go; ties are broken by order.

        Most searches end at once; until then, the number of conditions that do not hold yet is faster to compute.
        """
        residual = self._keys[configuration][1]
        checkpoint(1 + _size(residual))
        check_cancelled()
        if order > _SOON:
            return self._distance(residual), order
        conditions = residual[1] if residual is not True and residual[0] == _ALL else (residual,)
        return sum(not self._holds(each) for each in conditions), order

    def _distance(self, residual: Residual) -> int:
        """Estimate the number of bytes to go."""
        if isinstance(residual, bool):
            return 0
        tag, first = residual[0], residual[1]
        if tag == LEAF:
            key = (first, residual[2])
            known = self._distances.get(key)
            if known is None:
                known = self._distances[key] = self._components[first].min_remaining(residual[2]).at_least or 0
            return known
        if tag == _NOT:
            return 0 if self._holds(residual) else 1
        return (sum if tag == _ALL else min)([self._distance(each) for each in first])


def _ends_within(
    automaton: ConditionAutomaton | TableAutomaton, state: int, least: int, most: int | None, excluded: int
) -> bool | None:
    """Return whether more than `excluded` continuations of a state have a length in a range.

    None if fewer were found, but there may be others.

    Args:
        automaton: an automaton that knows the fewest characters to an end.
        state: the state.
        least: the least number of characters.
        most: the greatest number of characters; None for no bound.
        excluded: the number of continuations that do not count.
    """
    if most is not None and (least > most or automaton.characters(state) > most):
        return False
    paths = {state: 1}  # the number of continuations by classes so far that lead to each state; all of them differ
    checkpoint(8)
    for read in range(least + _LONGER):
        if read >= least:
            ending = [to for to in paths if most is None or automaton.characters(to) <= most - read]
            if sum(paths[to] for to in ending) > excluded:
                return True
            if not ending:
                return False if read == least else None
        following: dict[int, int] = {}
        for each, count in paths.items():
            for to in automaton.row(each):
                if to != DEAD:
                    following[to] = following.get(to, 0) + count
        checkpoint(1 + len(paths) * automaton.n_classes // 8)
        if len(following) > _WIDEST:
            return None
        paths = following
    return None


def _common_classes(tables: list[ByteClasses]) -> tuple[ByteClasses, list[tuple[int, ...]]]:
    """Return the coarsest common refinement of classes, and for each of its classes the classes it is part of."""
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


def _leaves(residual: Residual) -> Iterable[tuple[int, int]]:
    """Return the open conditions, each with its state, once."""
    found: dict[tuple[int, int], None] = {}
    todo, seen = [residual], set[int]()
    while todo:
        part = todo.pop()
        if isinstance(part, bool) or id(part) in seen:
            continue
        seen.add(id(part))
        if part[0] == LEAF:
            found[part[1], part[2]] = None
        elif part[0] == _NOT:
            todo.append(part[1])
        else:
            todo += part[1]
    return found


def _size(residual: Residual) -> int:
    """Estimate the work of one step over the open conditions; a condition that occurs again costs little."""
    if isinstance(residual, bool) or residual[0] in (LEAF, _NOT):
        return 1
    return len(residual[1]) + sum(len(part[1]) for part in residual[1] if part[0] in (_ALL, _SOME)) // 8


def _leaf(automaton: Component, number: int, state: int) -> Residual:
    if state == DEAD:
        return False
    return True if automaton.is_free(state) else (LEAF, number, state)


def _negate(residual: Residual) -> Residual:
    return not residual if isinstance(residual, bool) else (_NOT, residual)


def _join(tag: int, residuals: Iterable[Residual]) -> Residual:
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
    """Return whether a residual formula is obviously satisfiable: states of components are live by construction."""
    if isinstance(residual, bool):
        return residual
    return residual[0] == LEAF or (residual[0] == _SOME and any(_lives(each) for each in residual[1]))
