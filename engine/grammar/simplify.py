"""What a grammar comes to once the impossible and the certain are taken out.

Empty languages vanish, and a condition whose place decides it goes: `^` where
nothing can precede is true, behind a character it is false. Most patterns that
people write have all their anchors removed here, and then nothing in the
automaton waits for the future.
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
    """An equivalent node under a full match: no `Never` inside, no condition that its place decides."""
    return _Simplifier().simplify(node, at_start=True, at_end=True)


def simplify_grammar(grammar: Grammar) -> Grammar:
    """An equivalent grammar: `simplify` for each rule, and a rule that matches nothing is `Never`."""
    nodes = {rule.name: rule.node for rule in grammar.rules}
    alone = len(nodes) == 1 and not any(isinstance(part, RuleReference) for part in parts(nodes[grammar.start]))
    edge = True if alone else None
    simplifier = _Simplifier()
    nodes = {name: simplifier.simplify(node, edge, edge) for name, node in nodes.items()}
    if alone:
        return _with_nodes(grammar, nodes)  # what matches nothing is `Never` by now
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
    """Remembers the lengths of nodes, or each level of a nested group would ask all levels below."""

    def __init__(self) -> None:
        self._lengths: dict[int, tuple[int, int]] = {}  # by identity: whoever asks keeps the nodes

    def simplify(self, node: Node, at_start: bool | None, at_end: bool | None) -> Node:
        """`at_start`: nothing precedes (True), something does (False), or either (None); likewise `at_end`."""
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
                return self._look(node, at_start, at_end)

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

    def _look(self, node: Lookaround, at_start: bool | None, at_end: bool | None) -> Node:
        # What is looked at begins (ahead) or ends (behind) here and runs into unknown text beyond.
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
        """The least and the greatest length, each as 0 or 1 (1 stands for "one or more")."""
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
    """Whether the edge of the text is reached, seen from beyond something of that length."""
    checkpoint()
    if shortest > 0:
        return False
    return edge if longest == 0 or edge is False else None


def matches_empty(node: Node, at_start: bool | None, at_end: bool | None) -> bool | None:
    """Whether the node matches the empty string here; None where its surroundings decide."""
    return _EmptinessHere(at_start, at_end).of(node)


class Emptiness:
    """Whether nodes match the empty string, wherever they stand; each is asked once, however deep they are nested.

    Args:
        nullable: the rules that match it.
    """

    def __init__(self, nullable: Container[str] = ()) -> None:
        self._nullable = nullable
        self._known: dict[int, bool | None] = {}  # by identity: whoever asks keeps the nodes

    def of(self, node: Node) -> bool | None:
        """The verdict; None where the surroundings of the node decide."""
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


class _EmptinessHere(Emptiness):
    """The same where it is known what stands around."""

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
