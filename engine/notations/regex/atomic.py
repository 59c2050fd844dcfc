"""Atomic groups and possessive quantifiers, where they define a set of strings.

Both prevent backtracking: of all matches from some position, only the first one in the matcher's order counts. Where
the text ahead decides which one that is, the order is not needed:

- an expression that can end at only one position, wherever it begins, is atomic already: no string of it is a proper
  prefix of another;
- `X*+` is `X*` where no X follows, since each X is the first match; so are `X++` and `X?+`, and with counts, as many as
  possible;
- of `A|B`, B counts where A does not match;
- of `AB`, where A has a single end, the first match of B.

Everything else is refused: in `(?>a*[ab])` the end of `a*` depends on what follows it, and where X may be empty,
matchers differ.

Rejected: running the matcher's order in the automaton, with ranked threads. Every state would become a list, while a
mask needs sets.
"""

from __future__ import annotations

from typing import Final

from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.grammar import EMPTY, Chars, Choice, Empty, Lookaround, Never, Node, Repeat, Sequence
from engine.grammar.simplify import matches_empty, simplify
from engine.source import LimitExceededError, Limits, Span

_DEEPEST: Final = 100
_FEW: Final = Limits(configurations=500, threads=1_000)


class Atomics:
    """The known properties of the nodes of one pattern."""

    def __init__(self) -> None:
        # By identity: equal nodes may be written differently. Storing the nodes keeps their identities valid.
        self._lazy: dict[int, Node] = {}
        self._single: dict[int, Node] = {}

    def note_lazy(self, node: Node) -> None:
        """Record that a repetition is lazy."""
        self._lazy[id(node)] = node

    def group(self, node: Node) -> Node | None:
        """Return the first match of a node; None if it is no set of strings."""
        return self._first(node, 0)

    def repeated(self, node: Node, minimum: int, maximum: int | None, span: Span) -> Node | None:
        """Return the possessive repetition of a node; None if it is no set of strings.

        Args:
            node: the repeated node.
            minimum: the smallest count.
            maximum: the largest count; None for any number.
            span: the span of the repetition.
        """
        return self._most(node, minimum, maximum, span, 0)

    # ------------------------------------------------------------------ the first match

    def _first(self, node: Node, depth: int) -> Node | None:
        if self._is_single(node):
            return node
        found: Node | None = None
        if depth < _DEEPEST:
            match node:
                case Sequence():
                    last = self._first(node.items[-1], depth + 1)
                    if last is not None and all(map(self._is_single, node.items[:-1])):
                        found = Sequence((*node.items[:-1], last), node.span)
                case Choice():
                    found = self._first_of(node, depth)
                case Repeat() if id(node) not in self._lazy:
                    found = self._most(node.node, node.minimum, node.maximum, node.span, depth)
                case Repeat():
                    found = self._fewest(node, depth)
                case _:
                    pass
        return None if found is None else self._noted(found)

    def _first_of(self, node: Choice, depth: int) -> Node | None:
        alternatives: list[Node] = []
        before: list[Node] = []
        for alternative in node.alternatives:
            first = self._first(alternative, depth + 1)
            if first is None:
                return None
            alternatives.append(Sequence((*before, first), alternative.span) if before else first)
            before.append(Lookaround(alternative, ahead=True, negated=True, span=alternative.span))
        return Choice(tuple(alternatives), node.span)

    def _most(self, node: Node, minimum: int, maximum: int | None, span: Span, depth: int) -> Node | None:
        """Return the greedy repetition.

        With two or more required, a matcher could backtrack to an earlier one that has several ends.
        """
        one = self._first(node, depth + 1)
        if one is None or _may_be_empty(node) or (minimum > 1 and not self._is_single(node)):
            return None
        no_more = Lookaround(node, ahead=True, negated=True, span=span)
        if maximum is None:
            return self._noted(Sequence((Repeat(one, minimum, None, span), no_more), span))
        all_of_them = Repeat(one, maximum, maximum, span)
        if minimum == maximum:
            return self._noted(all_of_them)
        fewer = Sequence((Repeat(one, minimum, maximum - 1, span), no_more), span) if maximum > 1 else no_more
        return self._noted(Choice((fewer, all_of_them), span))

    def _fewest(self, node: Repeat, depth: int) -> Node | None:
        if node.minimum == 0:
            return EMPTY
        one = self._first(node.node, depth + 1)
        if one is None or (node.minimum > 1 and not self._is_single(node.node)):
            return None
        return Repeat(one, node.minimum, node.minimum, node.span)

    # ------------------------------------------------------------------ a single end

    def _noted(self, node: Node) -> Node:
        self._single[id(node)] = node
        return node

    def _is_single(self, node: Node) -> bool:
        """Return whether a node ends at one position at most, wherever it begins."""
        if isinstance(node, Chars | Empty | Never | Lookaround) or id(node) in self._single:
            return True
        if isinstance(node, Sequence) and all(map(self._is_single, node.items)):
            return True
        single = _is_prefix_free(node)
        if single:
            self._noted(node)
        return single


def _is_prefix_free(node: Node) -> bool:
    """Return whether no string of a node is a proper prefix of another, with all conditions ignored."""
    stripped = _without_conditions(node, 0)
    if stripped is None:
        return False
    try:
        automaton = LazyAutomaton(assemble(simplify(stripped), _FEW), _FEW)
        state = 1
        while state < automaton.size:
            row = automaton.row(state)
            if automaton.accepts(state) and any(following != DEAD for following in row):
                return False
            state += 1
    except LimitExceededError:
        return False
    return True


def _may_be_empty(node: Node) -> bool:
    """Return whether a node may match nothing if its conditions hold."""
    stripped = _without_conditions(node, 0)
    return stripped is None or bool(matches_empty(stripped, True, None))


def _without_conditions(node: Node, depth: int) -> Node | None:
    """Return a node with every lookaround removed, which matches a superset; None if it is nested too deeply."""
    if depth > _DEEPEST:
        return None
    match node:
        case Lookaround():
            return EMPTY
        case Sequence() | Choice():
            items = node.items if isinstance(node, Sequence) else node.alternatives
            parts = [_without_conditions(item, depth + 1) for item in items]
            known = tuple(part for part in parts if part is not None)
            if len(known) < len(parts):
                return None
            return Sequence(known) if isinstance(node, Sequence) else Choice(known)
        case Repeat():
            inner = _without_conditions(node.node, depth + 1)
            return None if inner is None else Repeat(inner, node.minimum, node.maximum)
        case _:
            return node
