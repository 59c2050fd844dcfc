"""Analyses of the rules of a grammar: reachable, productive, nullable and left recursive rules.

Productivity and nullability are least fixpoints of and/or conditions. Each
condition counts the operands it still waits for and wakes its parents once, so
both analyses are linear in the grammar (Dowling and Gallier, *Linear-time
algorithms for testing the satisfiability of propositional Horn formulae*, 1984).
Left recursion is a cycle in the graph of left corners. Its strongly connected
components are found with Tarjan's algorithm (1972), iteratively.

Rejected: evaluating all rules again until nothing changes. It is shorter, but
quadratic if a thousand rules depend on each other in the wrong order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
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
    children,
)
from engine.source import checkpoint

_Leaf: TypeAlias = Empty | Never | Chars | TokenSet
LeafPredicate: TypeAlias = Callable[[_Leaf], bool]
"""A property of a leaf."""
_Vertex = TypeVar("_Vertex", str, int)
LEAVES = (Empty, Never, Chars, TokenSet)
"""The nodes without others in them."""
_SURROGATES = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """The rules and nodes for which a property holds: inner nodes by identity, leaves by a predicate."""

    names: frozenset[str]
    ids: AbstractSet[int]
    of_leaf: LeafPredicate

    def holds(self, node: Node) -> bool:
        return self.of_leaf(node) if isinstance(node, LEAVES) else id(node) in self.ids


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle of left recursive rules.

    Attributes:
        references: the references of the cycle in order; the last one names the rule that contains the first one.
        hidden: whether a nullable item precedes one of the references (hidden left recursion).
    """

    references: tuple[RuleReference, ...]
    hidden: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the rules in order; the first one is repeated at the end."""
        return (self.references[-1].name, *(reference.name for reference in self.references))


def references(node: Node) -> Iterator[RuleReference]:
    """Yield the rule references in a node, in source order."""
    todo: list[Node] = [node]
    while todo:
        part = todo.pop()
        if isinstance(part, RuleReference):
            yield part
        elif inner := children(part):
            checkpoint(len(inner))
            todo.extend(child for child in reversed(inner) if not isinstance(child, Chars))


def reachable_rules(grammar: Grammar) -> frozenset[str]:
    """Return the rules that the start rule uses, directly or not, and the start rule."""
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
    """Return the rules that match some text or some tokens."""
    return _least_fixpoint(_nodes(grammar), may_match).names


def nullable_rules(grammar: Grammar) -> frozenset[str]:
    """Return the rules that may match the empty text, assuming that every lookaround holds."""
    return _least_fixpoint(_nodes(grammar), may_be_empty).names


def blockers(grammar: Grammar) -> dict[str, Node]:
    """Return for each rule that matches nothing, in source order, the node that prevents a match.

    The node is a reference to another such rule or to the rule itself, or a node that
    matches nothing by itself. Following the references ends at such a node or in a cycle.
    """
    nodes = _nodes(grammar)
    productive = _least_fixpoint(nodes, may_match)
    return {name: _blocker(node, productive) for name, node in nodes.items() if name not in productive.names}


def left_recursion(grammar: Grammar) -> tuple[Cycle, ...]:
    """Return one shortest cycle for every set of mutually left recursive rules, in source order."""
    nodes = _nodes(grammar)
    nullable = _least_fixpoint(nodes, may_be_empty)
    corners = {name: _left_corner(node, nullable) for name, node in nodes.items()}
    order = {name: number for number, name in enumerate(nodes)}
    targets = {name: [reference.name for reference, _ in found] for name, found in corners.items()}
    cycles = []
    for component in components(targets):
        first = min(component, key=order.__getitem__)
        if len(component) > 1 or first in targets[first]:
            cycles.append((order[first], _shortest_cycle(first, frozenset(component), corners)))
    return tuple(cycle for _, cycle in sorted(cycles, key=lambda pair: pair[0]))


def components(targets: Mapping[_Vertex, Iterable[_Vertex]]) -> list[list[_Vertex]]:
    """Return the strongly connected components of a graph in reverse topological order."""
    index: dict[_Vertex, int] = {}
    low: dict[_Vertex, int] = {}
    stack: list[_Vertex] = []
    on_stack: set[_Vertex] = set()
    found: list[list[_Vertex]] = []
    frames: list[tuple[_Vertex, Iterator[_Vertex]]] = []

    def enter(name: _Vertex) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        on_stack.add(name)
        frames.append((name, iter(targets[name])))

    for root in targets:
        if root not in index:
            enter(root)
        while frames:
            checkpoint()
            name, targets_left = frames[-1]
            unseen = None
            for target in targets_left:
                if target not in index:
                    unseen = target
                    break
                if target in on_stack:
                    low[name] = min(low[name], index[target])
            if unseen is not None:
                enter(unseen)
                continue
            frames.pop()
            if frames:
                low[frames[-1][0]] = min(low[frames[-1][0]], low[name])
            if low[name] == index[name]:
                component = [stack.pop()]
                while component[-1] != name:
                    component.append(stack.pop())
                on_stack.difference_update(component)
                found.append(component)
    return found


def _nodes(grammar: Grammar) -> dict[str, Node]:
    return {rule.name: rule.node for rule in grammar.rules}


def may_match(leaf: _Leaf) -> bool:
    """Return whether a leaf matches some text or a token."""
    checkpoint()
    if isinstance(leaf, Chars):
        ranges = leaf.set.ranges
        return bool(ranges) and (ranges[0][0] < _SURROGATES[0] or ranges[-1][1] > _SURROGATES[1])
    return not isinstance(leaf, Never)


def may_be_empty(leaf: _Leaf) -> bool:
    """Return whether a leaf matches the empty text."""
    checkpoint()
    return isinstance(leaf, Empty)


def _least_fixpoint(nodes: Mapping[str, Node], of_leaf: LeafPredicate) -> _Verdicts:
    """Compute the least fixpoint of a property for all nodes, given its value for the leaves.

    A sequence needs all of its items, a choice one of them, a reference its rule, and a
    repetition its node unless its minimum is 0; a lookaround always holds.
    """
    waiting: dict[int, int] = {}
    parents: dict[int, list[int]] = {}  # node -> the nodes that contain it
    users: dict[str, list[int]] = {}  # rule name -> the references to it
    owners: dict[int, list[str]] = {}  # node of a rule -> the names of rules with this node
    ready: list[int] = []
    todo: list[Node] = []
    for name, node in nodes.items():
        owners.setdefault(id(node), []).append(name)
        todo.append(node)
    while todo:
        checkpoint()
        node = todo.pop()
        node_id = id(node)
        if node_id in waiting:
            continue
        inner = [child for child in children(node) if not isinstance(child, LEAVES)]
        waiting[node_id] = _needed(node, len(inner), of_leaf)
        if not waiting[node_id]:
            ready.append(node_id)
        if isinstance(node, RuleReference):
            users.setdefault(node.name, []).append(node_id)
        for child in inner:
            parents.setdefault(id(child), []).append(node_id)
        todo += inner
    names: set[str] = set()
    known = set(ready)
    while ready:
        checkpoint()
        node_id = ready.pop()
        to_wake = list(parents.get(node_id, ()))
        for name in owners.get(node_id, ()):
            names.add(name)
            to_wake += users.get(name, ())
        for parent in to_wake:
            waiting[parent] -= 1
            if waiting[parent] == 0:
                known.add(parent)
                ready.append(parent)
    return _Verdicts(frozenset(names), frozenset(known), of_leaf)


def _needed(node: Node, inner: int, of_leaf: LeafPredicate) -> int:
    """Return how many inner children (or, for a reference, rules) a node waits for; -1 if it can never hold."""
    match node:
        case Sequence():
            return inner if all(of_leaf(item) for item in node.items if isinstance(item, LEAVES)) else -1
        case Choice():
            if any(of_leaf(item) for item in node.alternatives if isinstance(item, LEAVES)):
                return 0
            return 1 if inner else -1
        case Repeat():
            if node.minimum == 0:
                return 0
            return 1 if inner else _needed(node.node, 0, of_leaf)
        case Lookaround():
            return 0
        case RuleReference():
            return 1
        case _:
            return 0 if of_leaf(node) else -1


def _blocker(node: Node, productive: _Verdicts) -> Node:
    while not isinstance(node, RuleReference) and children(node):
        node = next(child for child in children(node) if not productive.holds(child))
    return node


def _left_corner(node: Node, nullable: _Verdicts) -> list[tuple[RuleReference, bool]]:
    """Return the references that a node may begin with, each with whether nullable items precede it."""
    found: list[tuple[RuleReference, bool]] = []
    todo = [(node, False)]
    while todo:
        checkpoint()
        part, hidden = todo.pop()
        match part:
            case RuleReference():
                found.append((part, hidden))
            case Sequence():
                beginnings = []
                for item in part.items:
                    beginnings.append((item, hidden))
                    if not nullable.holds(item):
                        break
                    hidden = hidden or not isinstance(item, Empty)
                todo += reversed(beginnings)
            case _:
                todo += [(child, hidden) for child in reversed(children(part))]
    return found


def left_corner_names(node: Node, nullable: frozenset[str]) -> frozenset[str]:
    """Return the rules that a node may begin with.

    Args:
        node: the node of a rule.
        nullable: the rules in it that may match the empty text.
    """
    inner, todo = list[Node](), [node]
    while todo:
        part = todo.pop()
        inner.append(part)
        todo += [one for one in children(part) if not isinstance(one, LEAVES)]
    verdicts = _Verdicts(nullable, empty := set[int](), may_be_empty)
    for part in reversed(inner):
        checkpoint()
        match part:
            case RuleReference():
                holds = part.name in nullable
            case Sequence():
                holds = all(map(verdicts.holds, part.items))
            case Choice():
                holds = any(map(verdicts.holds, part.alternatives))
            case Repeat():
                holds = part.minimum == 0 or verdicts.holds(part.node)
            case _:
                holds = isinstance(part, Lookaround) or verdicts.holds(part)
        if holds:
            empty.add(id(part))
    return frozenset(reference.name for reference, _hidden in _left_corner(node, verdicts))


def _shortest_cycle(
    start: str, members: frozenset[str], corners: Mapping[str, list[tuple[RuleReference, bool]]]
) -> Cycle:
    came_from: dict[str, tuple[str, RuleReference, bool]] = {}
    queue = deque([start])
    while start not in came_from:
        checkpoint()
        name = queue.popleft()
        for reference, hidden in corners[name]:
            if reference.name in members and reference.name not in came_from:
                came_from[reference.name] = (name, reference, hidden)
                queue.append(reference.name)
    path: list[RuleReference] = []
    is_hidden = False
    name = start
    while not path or name != start:
        name, reference, hidden = came_from[name]
        path.append(reference)
        is_hidden = is_hidden or hidden
    return Cycle(tuple(reversed(path)), is_hidden)
