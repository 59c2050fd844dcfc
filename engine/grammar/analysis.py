"""What a grammar's rules are to one another: reached, productive, nullable, left recursive.

Productivity and nullability are least fixpoints of and/or conditions. Each
condition counts what it still waits for and wakes its parent once, so both are
linear in the grammar (Dowling and Gallier, *Linear-time algorithms for testing
the satisfiability of propositional Horn formulae*, 1984). Left recursion is a
cycle among the rules that may stand at a rule's left corner; its components
are Tarjan's (1972), walked with a list rather than by recursion.

Rejected: asking every rule again until nothing changes. It is shorter, and
quadratic where a thousand rules wait for each other in the wrong order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from engine.grammar.nodes import (
    Chars,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.source import checkpoint

_Leaf: TypeAlias = Empty | Never | Chars | TokenSet
_OfLeaf: TypeAlias = Callable[[_Leaf], bool]
_Name = TypeVar("_Name", str, int)
_LEAVES = (Empty, Never, Chars, TokenSet)
_SURROGATES = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class _Truth:
    """Of which rules and nodes something holds; nodes within rules by identity, leaves by a function."""

    names: frozenset[str]
    ids: frozenset[int]
    of_leaf: _OfLeaf

    def holds(self, node: Node) -> bool:
        return self.of_leaf(node) if isinstance(node, _LEAVES) else id(node) in self.ids


@dataclass(frozen=True, slots=True)
class Cycle:
    """Rules that come back to the first of them.

    Attributes:
        references: one after the other; the last names the rule that holds the first.
        hidden: something that may be empty stands before one of them.
    """

    references: tuple[RuleReference, ...]
    hidden: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The rules in order, the first again at the end."""
        return (self.references[-1].name, *(reference.name for reference in self.references))


def references(node: Node) -> Iterator[RuleReference]:
    """The references within a node, in source order."""
    todo: list[Node] = [node]
    while todo:
        checkpoint()
        part = todo.pop()
        if isinstance(part, RuleReference):
            yield part
        else:
            todo.extend(reversed(_children(part)))


def reachable_rules(grammar: Grammar) -> frozenset[str]:
    """The rules that the start rule uses, itself included."""
    nodes = _nodes(grammar)
    seen = {grammar.start}
    todo = [grammar.start]
    while todo:
        for reference in references(nodes[todo.pop()]):
            if reference.name not in seen:
                seen.add(reference.name)
                todo.append(reference.name)
    return frozenset(seen)


def productive_rules(grammar: Grammar) -> frozenset[str]:
    """The rules that match some text, or some tokens."""
    return _least(_nodes(grammar), _may_match).names


def nullable_rules(grammar: Grammar) -> frozenset[str]:
    """The rules that may match the empty text; a condition is taken to hold."""
    return _least(_nodes(grammar), _may_be_empty).names


def blockers(grammar: Grammar) -> dict[str, Node]:
    """For each rule that matches nothing, in source order, what stands in its way.

    That is a reference to another such rule or to itself, or a part that is
    empty by itself. Following the references ends in such a part or in a cycle.
    """
    nodes = _nodes(grammar)
    productive = _least(nodes, _may_match)
    return {name: _blocker(node, productive) for name, node in nodes.items() if name not in productive.names}


def left_recursion(grammar: Grammar) -> tuple[Cycle, ...]:
    """One shortest cycle for every set of rules that are left recursive through each other, in source order."""
    nodes = _nodes(grammar)
    nullable = _least(nodes, _may_be_empty)
    corners = {name: _left_corner(node, nullable) for name, node in nodes.items()}
    order = {name: number for number, name in enumerate(nodes)}
    targets = {name: [reference.name for reference, _ in found] for name, found in corners.items()}
    cycles = []
    for component in components(targets):
        first = min(component, key=order.__getitem__)
        if len(component) > 1 or first in targets[first]:
            cycles.append((order[first], _shortest(first, frozenset(component), corners)))
    return tuple(cycle for _, cycle in sorted(cycles, key=lambda pair: pair[0]))


def components(targets: Mapping[_Name, Iterable[_Name]]) -> list[list[_Name]]:
    """The strongly connected components of a graph, those that lead nowhere else first."""
    index: dict[_Name, int] = {}
    low: dict[_Name, int] = {}
    opened: list[_Name] = []
    is_open: set[_Name] = set()
    found: list[list[_Name]] = []
    walk: list[tuple[_Name, Iterator[_Name]]] = []

    def enter(name: _Name) -> None:
        index[name] = low[name] = len(index)
        opened.append(name)
        is_open.add(name)
        walk.append((name, iter(targets[name])))

    for root in targets:
        if root not in index:
            enter(root)
        while walk:
            checkpoint()
            name, rest = walk[-1]
            unseen = None
            for target in rest:
                if target not in index:
                    unseen = target
                    break
                if target in is_open:
                    low[name] = min(low[name], index[target])
            if unseen is not None:
                enter(unseen)
                continue
            walk.pop()
            if walk:
                low[walk[-1][0]] = min(low[walk[-1][0]], low[name])
            if low[name] == index[name]:
                component = [opened.pop()]
                while component[-1] != name:
                    component.append(opened.pop())
                is_open.difference_update(component)
                found.append(component)
    return found


def _nodes(grammar: Grammar) -> dict[str, Node]:
    return {rule.name: rule.node for rule in grammar.rules}


def _children(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence():
            return node.items
        case Choice():
            return node.alternatives
        case Repeat() | Lookaround():
            return (node.node,)
        case _:
            return ()


def _may_match(leaf: _Leaf) -> bool:
    checkpoint()
    if isinstance(leaf, Chars):
        ranges = leaf.set.ranges
        return bool(ranges) and (ranges[0][0] < _SURROGATES[0] or ranges[-1][1] > _SURROGATES[1])
    return not isinstance(leaf, Never)


def _may_be_empty(leaf: _Leaf) -> bool:
    checkpoint()
    return isinstance(leaf, Empty)


def _least(nodes: Mapping[str, Node], of_leaf: _OfLeaf) -> _Truth:
    """The least truth of every node, given that of the leaves.

    A sequence needs all of its items, a choice one, a reference its rule, and a
    repetition its node unless it may be left out; a condition is taken to hold.
    """
    waiting: dict[int, int] = {}
    parents: dict[int, list[int]] = {}  # of a node, whom it wakes
    users: dict[str, list[int]] = {}  # of a rule's name
    owners: dict[int, list[str]] = {}  # of a rule's node
    true: list[int] = []
    todo: list[Node] = []
    for name, node in nodes.items():
        owners.setdefault(id(node), []).append(name)
        todo.append(node)
    while todo:
        checkpoint()
        node = todo.pop()
        own = id(node)
        if own in waiting:
            continue
        within = [child for child in _children(node) if not isinstance(child, _LEAVES)]
        waiting[own] = _needed(node, len(within), of_leaf)
        if not waiting[own]:
            true.append(own)
        if isinstance(node, RuleReference):
            users.setdefault(node.name, []).append(own)
        for child in within:
            parents.setdefault(id(child), []).append(own)
        todo += within
    names: set[str] = set()
    known = set(true)
    while true:
        checkpoint()
        own = true.pop()
        woken = list(parents.get(own, ()))
        for name in owners.get(own, ()):
            names.add(name)
            woken += users.get(name, ())
        for above in woken:
            waiting[above] -= 1
            if waiting[above] == 0:
                known.add(above)
                true.append(above)
    return _Truth(frozenset(names), frozenset(known), of_leaf)


def _needed(node: Node, within: int, of_leaf: _OfLeaf) -> int:
    """For how many of its children that are no leaves, or for a reference of its rule, a node waits; -1: for ever."""
    match node:
        case Sequence():
            return within if all(of_leaf(item) for item in node.items if isinstance(item, _LEAVES)) else -1
        case Choice():
            if any(of_leaf(item) for item in node.alternatives if isinstance(item, _LEAVES)):
                return 0
            return 1 if within else -1
        case Repeat():
            if node.minimum == 0:
                return 0
            return 1 if within else _needed(node.node, 0, of_leaf)
        case Lookaround():
            return 0
        case RuleReference():
            return 1
        case _:
            return 0 if of_leaf(node) else -1


def _blocker(node: Node, productive: _Truth) -> Node:
    while not isinstance(node, RuleReference) and _children(node):
        node = next(child for child in _children(node) if not productive.holds(child))
    return node


def _left_corner(node: Node, nullable: _Truth) -> list[tuple[RuleReference, bool]]:
    """The references that a node may begin with, and whether something that may be empty stands before."""
    found: list[tuple[RuleReference, bool]] = []
    todo = [(node, False)]
    while todo:
        checkpoint()
        part, hidden = todo.pop()
        match part:
            case RuleReference():
                found.append((part, hidden))
            case Sequence():
                ahead = []
                for item in part.items:
                    ahead.append((item, hidden))
                    if not nullable.holds(item):
                        break
                    hidden = hidden or not isinstance(item, Empty)
                todo += reversed(ahead)
            case _:
                todo += [(child, hidden) for child in reversed(_children(part))]
    return found


def _shortest(start: str, within: frozenset[str], corners: Mapping[str, list[tuple[RuleReference, bool]]]) -> Cycle:
    came: dict[str, tuple[str, RuleReference, bool]] = {}
    queue = deque([start])
    while start not in came:
        checkpoint()
        name = queue.popleft()
        for reference, hidden in corners[name]:
            if reference.name in within and reference.name not in came:
                came[reference.name] = (name, reference, hidden)
                queue.append(reference.name)
    way: list[RuleReference] = []
    is_hidden = False
    name = start
    while not way or name != start:
        name, reference, hidden = came[name]
        way.append(reference)
        is_hidden = is_hidden or hidden
    return Cycle(tuple(reversed(way)), is_hidden)
