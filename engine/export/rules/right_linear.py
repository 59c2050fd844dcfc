"""Conversion of an automaton whose edges carry nodes to an expression, and to rules where it is long.

The automaton is a system of equations, one for each state: X = label X' | … . Loops are solved by Arden's rule
(*Delayed-logic and finite-state machines*, 1961), and the rest refers only forward: a state that is needed once, or is
short, is inlined, any other becomes a rule. So the text is about as long as the automaton, while the usual elimination
of states may be exponential. Three shapes are recognised, since people write them so: an edge that may be skipped is
`x?`, edges that repeat are `x{m,n}`, a loop is `x*`.

Rejected: one rule for each state. It is exact and short, but nobody recognises that `a1 ::= "x" a2 | "y" a2` is a list
of options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from engine.export.rules.expressions import choice, depth, optional, repeat, sequence, size
from engine.grammar import EMPTY, Node
from engine.source import Limits

_SHORT: Final = 6
"""The largest size of an expression that is inlined wherever it is needed."""
_LONGEST_LOOP: Final = 4
"""The largest number of states of a cycle that is solved; a longer one stays a cycle of rules if permitted."""
_LONG: Final = 300
"""The largest size of an expression; a longer one becomes a rule."""
_DEEPEST: Final = 4
"""The largest nesting depth of groups; a deeper one becomes a rule."""

Edge: TypeAlias = tuple[Node, int]
Namer: TypeAlias = Callable[[int, Node | None], Node]
"""Makes a rule of a state and returns a reference to it; called first without a node if the rule is recursive."""


@dataclass(slots=True)
class System:
    """An automaton whose edges carry nodes.

    Attributes:
        accepting: for each state, whether the text may end there.
        edges: for each state, what it reads and the next state.
    """

    accepting: list[bool] = field(default_factory=list)
    edges: list[list[Edge]] = field(default_factory=list)

    def add(self, *, accepting: bool) -> int:
        """Add a state and return its number."""
        self.accepting.append(accepting)
        self.edges.append([])
        return len(self.edges) - 1

    def connect(self, source: int, label: Node, target: int) -> None:
        """Add an edge.

        Args:
            source: the state where it begins.
            label: the expression that it reads.
            target: the state where it ends.
        """
        self.edges[source].append((label, target))


@dataclass(slots=True)
class _Row:
    """An equation: one of `loops`, any number of times, then an edge; or the end, or a constant.

    Attributes:
        bound: whether it is part of a cycle that stays one.
    """

    accepting: bool
    edges: dict[Edge, None]
    loops: dict[Node, None] = field(default_factory=dict)
    constants: list[Node] = field(default_factory=list)
    bound: bool = False

    def all_edges(self, state: int) -> dict[Edge, None]:
        return {**self.edges, **{(label, state): None for label in self.loops}}

    @property
    def is_plain(self) -> bool:
        return not self.loops and not self.constants and not self.bound

    @property
    def loop(self) -> Node:
        return repeat(choice(*self.loops), 0, None)


def solve(system: System, start: int, namer: Namer, limits: Limits, *, loops_as_rules: bool) -> Node:
    """Return the language of a state.

    Args:
        system: the automaton. Every state should lead to its end.
        start: the state.
        namer: makes rules of states.
        limits: the limits of the result.
        loops_as_rules: whether a long cycle may stay one, as mutually recursive rules.

    Raises:
        LimitExceededError: a loop is too long to write.
    """
    return _Solver(system, namer, limits, loops_as_rules=loops_as_rules).solve(start)


class _Solver:
    def __init__(self, system: System, namer: Namer, limits: Limits, *, loops_as_rules: bool) -> None:
        self._system = system
        self._namer = namer
        self._limits = limits
        self._loops_as_rules = loops_as_rules
        self._class_of: dict[int, int] = {}
        self._rows: dict[int, _Row] = {}
        self._order: list[int] = []
        self._known: dict[object, int] = {}

    def solve(self, start: int) -> Node:
        for component in components(self._system.edges, start):
            self._enter(component)
        return _Writer(self._rows, self._order, self._namer).write(self._class_of[start])

    # ------------------------------------------------------------------ equations

    def _enter(self, component: list[int]) -> None:
        """Add the equations of a component; the components that it leads to are already solved."""
        system = self._system
        if len(component) > 1:
            self._enter_cycle(sorted(component))
            return
        state = component[0]
        others: dict[Edge, None] = {}
        loops: dict[Node, None] = {}
        for label, target in system.edges[state]:
            if target == state:
                loops[label] = None
            else:
                others[label, self._class_of[target]] = None
        accepting = system.accepting[state]
        # A state equals another if their equations are equal, and also if it equals that other's loop, entered.
        key = accepting, frozenset(others), frozenset(loops)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = state
            row = self._rows[state] = _Row(accepting, others, loops)
            self._known.setdefault((accepting, frozenset(row.all_edges(state)), frozenset()), state)
            self._order.append(state)
        self._class_of[state] = known

    def _enter_cycle(self, component: list[int]) -> None:
        system = self._system
        for state in component:
            self._class_of[state] = state
            edges = {(label, self._class_of.get(target, target)): None for label, target in system.edges[state]}
            self._rows[state] = _Row(system.accepting[state], edges)
        if self._loops_as_rules and len(component) > _LONGEST_LOOP:
            for state in component:
                self._rows[state].bound = True
            self._order += component
            return
        self._order += reversed(self._eliminate(component))

    def _eliminate(self, component: list[int]) -> list[int]:
        """Solve the states of a cycle in turn; each then refers only to later ones."""
        left, done = set(component), []
        written = 0
        while left:
            entering = dict.fromkeys(left, 0)
            for state in left:
                for _, target in self._rows[state].edges:
                    if target in left and target != state:
                        entering[target] += 1
            chosen = min(left, key=lambda s: (entering[s] * len(self._rows[s].edges), s))
            left.discard(chosen)
            done.append(chosen)
            row = self._rows[chosen] = _grouped(self._rows[chosen], chosen)
            for state in left:
                before = self._rows[state]
                if any(target == chosen for _, target in before.edges):
                    self._rows[state] = _substituted(before, chosen, row)
                    written += sum(size(label) for label, _ in self._rows[state].edges)
            self._limits.check("errors.limit.expression_parts", written, self._limits.threads * 10)
        return done


def _grouped(row: _Row, state: int) -> _Row:
    """Return the row with one edge for each target, and its loop separated."""
    by_target: dict[int, list[Node]] = {}
    for label, target in row.edges:
        by_target.setdefault(target, []).append(label)
    loops = dict.fromkeys(by_target.pop(state, ()))
    edges: dict[Edge, None] = {(choice(*labels), target): None for target, labels in by_target.items()}
    return _Row(row.accepting, edges, loops, row.constants)


def _substituted(row: _Row, gone: int, solved: _Row) -> _Row:
    """Substitute a solved equation into another."""
    ways = choice(*(label for label, target in row.edges if target == gone))
    before = sequence(ways, solved.loop)
    edges: dict[Edge, None] = {edge: None for edge in row.edges if edge[1] != gone}
    for label, target in solved.edges:
        edges[sequence(before, label), target] = None
    constants = list(row.constants)
    if solved.accepting:
        constants.append(before)
    constants += [sequence(before, constant) for constant in solved.constants]
    return _Row(row.accepting, edges, {}, constants)


# ---------------------------------------------------------------------- writing


class _Writer:
    """Writes equations that refer only to what is already written, except for the rules of a cycle."""

    def __init__(self, rows: dict[int, _Row], order: list[int], namer: Namer) -> None:
        self._rows = rows
        self._order = order
        self._namer = namer
        self._shapes: dict[int, _Shape] = {}
        self._uses: dict[int, int] = {}
        self._nodes: dict[int, Node] = {}

    def write(self, start: int) -> Node:
        self._find_shapes(start)
        for state in self._order:
            if state in self._shapes and self._rows[state].bound and state != start:
                self._nodes[state] = self._namer(state, None)
        if self._rows[start].bound:
            self._nodes[start] = self._namer(start, None)
        for state in self._order:
            if state not in self._shapes:
                continue
            node = self._shapes[state].write(self._nodes)
            if self._rows[state].bound:
                self._namer(state, node)
            elif state == start or self._is_written_out(state, node):
                self._nodes[state] = node
            else:
                self._nodes[state] = self._namer(state, node)
        return self._nodes[start]

    def _is_written_out(self, state: int, node: Node) -> bool:
        length = size(node)
        if length <= _SHORT:
            return True
        return self._uses[state] == 1 and length <= _LONG and depth(node) <= _DEEPEST

    def _find_shapes(self, start: int) -> None:
        """Find how each state is written, and how often it is then needed."""
        todo = [start]
        self._uses[start] = 1
        while todo:
            state = todo.pop()
            if state in self._shapes:
                continue
            shape = self._shapes[state] = _shape(self._rows, state)
            for target in shape.targets():
                self._uses[target] = self._uses.get(target, 0) + 1
                todo.append(target)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The form in which a state is written: a prefix, then one of some alternatives.

    Attributes:
        prefix: what is read first.
        ways: what each alternative reads, and the next state; None is the end.
    """

    prefix: Node
    ways: tuple[tuple[Node, int | None], ...]

    def targets(self) -> Iterable[int]:
        return dict.fromkeys(target for _, target in self.ways if target is not None)

    def write(self, nodes: dict[int, Node]) -> Node:
        by_target: dict[int | None, list[Node]] = {}
        for label, target in self.ways:
            by_target.setdefault(target, []).append(label)
        ended = by_target.pop(None, [])
        ways = [sequence(choice(*labels), nodes[target]) for target, labels in by_target.items() if target is not None]
        return sequence(self.prefix, choice(*ways, *ended))


def _shape(rows: dict[int, _Row], state: int) -> _Shape:
    row = rows[state]
    if row.is_plain:
        run = _run(rows, state)
        if run is not None:
            return run
        for target in _skippable(rows, state):
            kept = rows[target].all_edges(target)
            skipped = choice(*(edge[0] for edge in row.edges if edge not in kept))
            return _Shape(optional(skipped), ((EMPTY, target),))
    ends = [*row.constants, *([EMPTY] if row.accepting else [])]
    ways: list[tuple[Node, int | None]] = [*row.edges, *((end, None) for end in ends)]
    return _Shape(row.loop, tuple(ways))


def _skippable(rows: dict[int, _Row], state: int) -> Iterable[int]:
    """Yield the states that differ from this one only in edges to them, which were taken or skipped."""
    row = rows[state]
    targets = sorted({target for _, target in row.edges}, key=lambda t: -len(rows[t].edges))
    for target in targets[:3]:
        other = rows[target]
        if other.accepting is not row.accepting or other.constants or other.bound:
            continue
        edges = other.all_edges(target)
        if len(edges) < len(row.edges) and all(edge in row.edges for edge in edges):
            more = [edge for edge in row.edges if edge not in edges]
            if all(edge[1] == target for edge in more):
                yield target


def _run(rows: dict[int, _Row], start: int) -> _Shape | None:
    """Return a chain of equal edges without a choice as a count."""
    row = rows[start]
    if len(row.edges) != 1:
        return None
    ((label, target),) = row.edges
    count = 1
    while True:
        following = rows[target]
        if not following.is_plain or following.accepting is not row.accepting or len(following.edges) != 1:
            break
        ((next_label, next_target),) = following.edges
        if next_label != label:
            break
        count, target = count + 1, next_target
    last = rows[target]
    if not row.accepting:
        return _Shape(repeat(label, count, count), ((EMPTY, target),))
    if last.accepting and last.is_plain and not last.edges:
        return _Shape(repeat(label, 0, count), ((EMPTY, None),))
    return _Shape(EMPTY, ((repeat(label, count, count), target), (repeat(label, 0, count - 1), None)))


def components(edges: list[list[Edge]], start: int) -> list[list[int]]:
    """Return the reachable strongly connected components, in reverse topological order.

    Tarjan, *Depth-first search and linear graph algorithms*, 1972; without recursion.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    work: list[tuple[int, int]] = [(start, 0)]
    while work:
        state, at = work.pop()
        if at == 0:
            index[state] = low[state] = len(index)
            stack.append(state)
            on_stack.add(state)
        row = edges[state]
        while at < len(row):
            target = row[at][1]
            at += 1
            if target not in index:
                work += [(state, at), (target, 0)]
                break
            if target in on_stack:
                low[state] = min(low[state], index[target])
        else:
            if low[state] == index[state]:
                component: list[int] = []
                while not component or component[-1] != state:
                    component.append(stack.pop())
                    on_stack.discard(component[-1])
                found.append(component)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[state])
    return found
