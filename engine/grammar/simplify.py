"""Simplification of a grammar: removes empty languages and lookarounds with a constant value.

A lookaround whose position decides it is removed: `^` is true at the start of the
text and false after a character. In most patterns this removes all anchors, and
then the automaton needs no lookahead.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from engine.grammar.analysis import productive_rules
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.nodes import (
    EMPTY,
    NEVER,
    Chars,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
    parts,
)
from engine.source import checkpoint

_SURROGATES = (0xD800, 0xDFFF)  # no UTF-8 text holds one


def simplify(node: Node) -> Node:
    """Return a node that is equivalent in a full match, without `Never` inside or lookarounds of constant value."""
    return _Simplifier().simplify(node, at_start=True, at_end=True)


def simplify_grammar(grammar: Grammar) -> Grammar:
    """Return an equivalent grammar with each rule simplified; a rule that matches nothing becomes `Never`."""
    nodes = {rule.name: rule.node for rule in grammar.rules}
    is_single = len(nodes) == 1 and not any(isinstance(part, RuleReference) for part in parts(nodes[grammar.start]))
    edge = True if is_single else None
    simplifier = _Simplifier()
    nodes = {name: simplifier.simplify(node, edge, edge) for name, node in nodes.items()}
    if is_single:
        return _with_nodes(grammar, nodes)  # `simplify` has already found that it matches nothing
    dead = set(nodes) - productive_rules(_with_nodes(grammar, nodes))
    for name, node in nodes.items() if dead else ():
        if name in dead:
            nodes[name] = NEVER
        elif any(isinstance(part, RuleReference) and part.name in dead for part in parts(node)):
            nodes[name] = _Simplifier().simplify(_without(node, dead), None, None)
    return _with_nodes(grammar, nodes)


def _with_nodes(grammar: Grammar, nodes: Mapping[str, Node]) -> Grammar:
    return Grammar(tuple(Rule(rule.name, nodes[rule.name], rule.span) for rule in grammar.rules), grammar.start)


def _without(node: Node, dead: set[str]) -> Node:
    match node:
        case RuleReference():
            return NEVER if node.name in dead else node
        case Sequence():
            return Sequence(tuple([_without(item, dead) for item in node.items]), node.span)
        case Choice():
            return Choice(tuple([_without(item, dead) for item in node.alternatives]), node.span)
        case Repeat():
            return Repeat(_without(node.node, dead), node.minimum, node.maximum, node.span)
        case _:
            return node


class _Simplifier:
    """A simplifier, which caches the lengths of nodes: without that, nested groups would take quadratic time."""

    def __init__(self) -> None:
        self._lengths: dict[int, tuple[int, int]] = {}  # by identity: the caller keeps the nodes alive

    def simplify(self, node: Node, at_start: bool | None, at_end: bool | None) -> Node:
        """Simplify a node.

        Args:
            node: the node.
            at_start: whether it begins at the start of the text; None if that is not known.
            at_end: whether it ends at the end of the text; None if that is not known.
        """
        checkpoint()
        match node:
            case Empty() | Never() | RuleReference() | TokenSet():
                return node
            case Chars():
                return _without_surrogates(node)
            case Sequence():
                return self._sequence(node, at_start, at_end)
            case Choice():
                return self._choice(node, at_start, at_end)
            case Repeat():
                return self._repeat(node, at_start, at_end)
            case Lookaround():
                return self._lookaround(node, at_start, at_end)

    def _sequence(self, node: Sequence, at_start: bool | None, at_end: bool | None) -> Node:
        lengths = [self._length(item) for item in node.items]
        ends: list[bool | None] = []
        end = at_end
        for shortest, longest in reversed(lengths):
            ends.append(end)
            end = _beside(end, shortest, longest)
        ends.reverse()
        items: list[Node] = []
        start = at_start
        for item, item_end, (shortest, longest) in zip(node.items, ends, lengths, strict=True):
            simple = self.simplify(item, start, item_end)
            if isinstance(simple, Never):
                return NEVER
            if isinstance(simple, Sequence):
                items += simple.items
            elif not isinstance(simple, Empty):
                items.append(simple)
            start = _beside(start, shortest, longest)
        if not items:
            return EMPTY
        return items[0] if len(items) == 1 else Sequence(tuple(items), node.span)

    def _choice(self, node: Choice, at_start: bool | None, at_end: bool | None) -> Node:
        alternatives: list[Node] = []
        for alternative in node.alternatives:
            simple = self.simplify(alternative, at_start, at_end)
            if isinstance(simple, Choice):
                alternatives += simple.alternatives
            elif not isinstance(simple, Never):
                alternatives.append(simple)
        if not alternatives:
            return NEVER
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives), node.span)

    def _repeat(self, node: Repeat, at_start: bool | None, at_end: bool | None) -> Node:
        if node.maximum == 0:
            return EMPTY
        once = node.maximum == 1
        inner = self.simplify(
            node.node,
            at_start if once or at_start is False else None,
            at_end if once or at_end is False else None,
        )
        if isinstance(inner, Never):
            return EMPTY if node.minimum == 0 else NEVER
        if isinstance(inner, Empty):
            return EMPTY
        if (node.minimum, node.maximum) == (1, 1):
            return inner
        return Repeat(inner, node.minimum, node.maximum, node.span)

    def _lookaround(self, node: Lookaround, at_start: bool | None, at_end: bool | None) -> Node:
        # The inner text begins (ahead) or ends (behind) at this position; where its other end is, is not known.
        inner = self.simplify(node.node, at_start if node.ahead else None, None if node.ahead else at_end)
        edge = at_end if node.ahead else at_start
        holds: bool | None = None
        if isinstance(inner, Never):
            holds = False
        elif matches_empty(inner, None, None) is True:
            holds = True
        elif edge is True:
            holds = matches_empty(inner, at_start if node.ahead else True, True if node.ahead else at_end)
        elif edge is False and isinstance(inner, Chars) and inner.set == EVERY_SCALAR:
            holds = True
        if holds is None:
            return Lookaround(inner, node.ahead, node.negated, node.span)
        return EMPTY if holds != node.negated else NEVER

    def _length(self, node: Node) -> tuple[int, int]:
        """Return the minimum and maximum length of a match, each as 0 or 1 (1 for "one or more")."""
        checkpoint()
        match node:
            case Empty() | Never() | Lookaround():
                return 0, 0
            case Chars() | TokenSet():
                return 1, 1
            case RuleReference():
                return 0, 1
        known = self._lengths.get(id(node))
        if known is None:
            known = self._lengths[id(node)] = self._length_of_parts(node)
        return known

    def _length_of_parts(self, node: Sequence | Choice | Repeat) -> tuple[int, int]:
        match node:
            case Sequence():
                lengths = [self._length(item) for item in node.items]
                return max((s for s, _ in lengths), default=0), max((g for _, g in lengths), default=0)
            case Choice():
                lengths = [self._length(item) for item in node.alternatives]
                return min((s for s, _ in lengths), default=0), max((g for _, g in lengths), default=0)
            case Repeat():
                shortest, longest = self._length(node.node)
                return (0 if node.minimum == 0 else shortest), (0 if node.maximum == 0 else longest)


def _without_surrogates(node: Chars) -> Node:
    ranges = node.set.ranges
    if ranges and ranges[-1][1] < _SURROGATES[0]:
        return node
    chars = node.set.scalars()
    return Chars(chars, node.span) if chars else NEVER


def _beside(edge: bool | None, shortest: int, longest: int) -> bool | None:
    """Return whether a position is at the edge of the text if an item of that length lies between it and `edge`."""
    checkpoint()
    if shortest > 0:
        return False
    return edge if longest == 0 or edge is False else None


def matches_empty(node: Node, at_start: bool | None, at_end: bool | None) -> bool | None:
    """Return whether the node matches the empty string at a position; None if its context decides.

    Args:
        node: the node.
        at_start: whether the position is the start of the text; None if that is not known.
        at_end: whether the position is the end of the text; None if that is not known.
    """
    return _EmptinessAt(at_start, at_end).of(node)


class Emptiness:
    """A cache of whether nodes match the empty string, independent of their position.

    Args:
        nullable: the rules that match the empty string.
    """

    def __init__(self, nullable: Container[str] = ()) -> None:
        self._nullable = nullable
        self._known: dict[int, bool | None] = {}  # by identity: the caller keeps the nodes alive

    def of(self, node: Node) -> bool | None:
        """Return whether a node matches the empty string; None if its context decides."""
        checkpoint()
        match node:
            case Empty():
                return True
            case Never() | Chars() | TokenSet():
                return False
            case RuleReference():
                return node.name in self._nullable
        if id(node) not in self._known:
            self._known[id(node)] = self._of_parts(node)
        return self._known[id(node)]

    def _of_parts(self, node: Sequence | Choice | Repeat | Lookaround) -> bool | None:
        match node:
            case Sequence():
                return _all([self.of(item) for item in node.items])
            case Choice():
                return _any([self.of(item) for item in node.alternatives])
            case Repeat():
                return True if node.minimum == 0 else self.of(node.node)
            case Lookaround():
                return None if self.of(node.node) is not True else not node.negated


class _EmptinessAt(Emptiness):
    """A variant of `Emptiness` for a position that is known to be, or not to be, at an edge of the text."""

    def __init__(self, at_start: bool | None, at_end: bool | None) -> None:
        super().__init__()
        self._at_start, self._at_end = at_start, at_end

    def _of_parts(self, node: Sequence | Choice | Repeat | Lookaround) -> bool | None:
        if not isinstance(node, Lookaround):
            return super()._of_parts(node)
        anywhere = super()._of_parts(node)
        if anywhere is None and (self._at_end if node.ahead else self._at_start) is True:
            inner = self.of(node.node)
            return None if inner is None else inner != node.negated
        return anywhere


def _all(verdicts: list[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _any(verdicts: list[bool | None]) -> bool | None:
    if True in verdicts:
        return True
    return None if None in verdicts else False
