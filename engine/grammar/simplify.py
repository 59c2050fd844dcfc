"""What a grammar comes to once the impossible and the certain are taken out.

Empty languages vanish, and a condition whose place decides it goes: `^` where
nothing can precede is true, behind a character it is false. Most patterns that
people write have all their anchors removed here, and then nothing in the
automaton waits for the future.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from engine.grammar.analysis import productive_rules
from engine.grammar.charset import CharSet
from engine.grammar.nodes import (
    EMPTY,
    NEVER,
    Chars,
    Choice,
    Empty,
    Grammar,
    Look,
    Never,
    Node,
    Reference,
    Repeat,
    Rule,
    Sequence,
    TokenSet,
    parts,
)

_EVERY_SCALAR = CharSet(((0, 0xD7FF), (0xE000, 0x10FFFF)))  # no UTF-8 text holds a surrogate


def simplify(node: Node) -> Node:
    """An equivalent node under a full match: no `Never` inside, no condition that its place decides."""
    return _simplify(node, at_start=True, at_end=True)


def simplify_grammar(grammar: Grammar) -> Grammar:
    """An equivalent grammar: `simplify` for each rule, and a rule that matches nothing is `Never`."""
    nodes = {rule.name: rule.node for rule in grammar.rules}
    alone = len(nodes) == 1 and not any(isinstance(part, Reference) for part in parts(nodes[grammar.start]))
    edge = True if alone else None
    nodes = {name: _simplify(node, edge, edge) for name, node in nodes.items()}
    dead = set(nodes) - productive_rules(_with_nodes(grammar, nodes))
    for name, node in nodes.items():
        if name in dead:
            nodes[name] = NEVER
        elif any(isinstance(part, Reference) and part.name in dead for part in parts(node)):
            nodes[name] = _simplify(_without(node, dead), None, None)
    return _with_nodes(grammar, nodes)


def _with_nodes(grammar: Grammar, nodes: Mapping[str, Node]) -> Grammar:
    return Grammar(tuple(Rule(rule.name, nodes[rule.name], rule.span) for rule in grammar.rules), grammar.start)


def _without(node: Node, dead: set[str]) -> Node:
    match node:
        case Reference():
            return NEVER if node.name in dead else node
        case Sequence():
            return Sequence(tuple([_without(item, dead) for item in node.items]), node.span)
        case Choice():
            return Choice(tuple([_without(item, dead) for item in node.alternatives]), node.span)
        case Repeat():
            return Repeat(_without(node.node, dead), node.minimum, node.maximum, node.span)
        case _:
            return node


def _simplify(node: Node, at_start: bool | None, at_end: bool | None) -> Node:
    """`at_start`: nothing precedes (True), something does (False), or either (None); likewise `at_end`."""
    match node:
        case Empty() | Never() | Reference() | TokenSet():
            return node
        case Chars():
            chars = node.set & _EVERY_SCALAR
            return Chars(chars, node.span) if chars else NEVER
        case Sequence():
            return _sequence(node, at_start, at_end)
        case Choice():
            return _choice(node, at_start, at_end)
        case Repeat():
            return _repeat(node, at_start, at_end)
        case Look():
            return _look(node, at_start, at_end)


def _sequence(node: Sequence, at_start: bool | None, at_end: bool | None) -> Node:
    lengths = [_length(item) for item in node.items]
    ends: list[bool | None] = []
    end = at_end
    for shortest, longest in reversed(lengths):
        ends.append(end)
        end = _beside(end, shortest, longest)
    ends.reverse()
    items: list[Node] = []
    start = at_start
    for item, item_end, (shortest, longest) in zip(node.items, ends, lengths, strict=True):
        simple = _simplify(item, start, item_end)
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


def _beside(edge: bool | None, shortest: int, longest: int) -> bool | None:
    """Whether the edge of the text is reached, seen from beyond something of that length."""
    if shortest > 0:
        return False
    return edge if longest == 0 or edge is False else None


def _choice(node: Choice, at_start: bool | None, at_end: bool | None) -> Node:
    alternatives: list[Node] = []
    for alternative in node.alternatives:
        simple = _simplify(alternative, at_start, at_end)
        if isinstance(simple, Choice):
            alternatives += simple.alternatives
        elif not isinstance(simple, Never):
            alternatives.append(simple)
    if not alternatives:
        return NEVER
    return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives), node.span)


def _repeat(node: Repeat, at_start: bool | None, at_end: bool | None) -> Node:
    if node.maximum == 0:
        return EMPTY
    once = node.maximum == 1
    inner = _simplify(
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


def _look(node: Look, at_start: bool | None, at_end: bool | None) -> Node:
    # What is looked at begins (ahead) or ends (behind) here and runs into unknown text beyond.
    inner = _simplify(node.node, at_start if node.ahead else None, None if node.ahead else at_end)
    edge = at_end if node.ahead else at_start
    holds: bool | None = None
    if isinstance(inner, Never):
        holds = False
    elif matches_empty(inner, None, None) is True:
        holds = True
    elif edge is True:
        holds = matches_empty(inner, at_start if node.ahead else True, True if node.ahead else at_end)
    elif edge is False and isinstance(inner, Chars) and inner.set == _EVERY_SCALAR:
        holds = True
    if holds is None:
        return Look(inner, node.ahead, node.negated, node.span)
    return EMPTY if holds != node.negated else NEVER


def matches_empty(node: Node, at_start: bool | None, at_end: bool | None, nullable: Container[str] = ()) -> bool | None:
    """Whether the node matches the empty string here, given the rules that do; None where its surroundings decide."""
    match node:
        case Empty():
            return True
        case Never() | Chars() | TokenSet():
            return False
        case Reference():
            return node.name in nullable
        case Sequence():
            return _all([matches_empty(item, at_start, at_end, nullable) for item in node.items])
        case Choice():
            return _any([matches_empty(item, at_start, at_end, nullable) for item in node.alternatives])
        case Repeat():
            return True if node.minimum == 0 else matches_empty(node.node, at_start, at_end, nullable)
        case Look():
            inner = matches_empty(node.node, None, None, nullable)
            if inner is not True and (at_end if node.ahead else at_start) is True:
                inner = matches_empty(node.node, at_start, at_end, nullable)
            elif inner is False:
                inner = None
            return None if inner is None else inner != node.negated


def _all(verdicts: list[bool | None]) -> bool | None:
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _any(verdicts: list[bool | None]) -> bool | None:
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _length(node: Node) -> tuple[int, int]:
    """The least and the greatest length, each as 0 or 1 (1 stands for "one or more")."""
    match node:
        case Empty() | Never() | Look():
            return 0, 0
        case Chars() | TokenSet():
            return 1, 1
        case Reference():
            return 0, 1
        case Sequence():
            lengths = [_length(item) for item in node.items]
            return max((s for s, _ in lengths), default=0), max((g for _, g in lengths), default=0)
        case Choice():
            lengths = [_length(item) for item in node.alternatives]
            return min((s for s, _ in lengths), default=0), max((g for _, g in lengths), default=0)
        case Repeat():
            shortest, longest = _length(node.node)
            return (0 if node.minimum == 0 else shortest), (0 if node.maximum == 0 else longest)
