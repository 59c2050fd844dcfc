"""From the lazy runtime to a whole automaton, or to a part of one around a configuration."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.automata.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.minimise import equivalence_classes
from engine.automata.runtime import DEAD, Runtime
from engine.source import CancelToken, LimitExceededError, Span

_CHECK_EVERY = 64


def minimal_dfa(automaton: Runtime, limit: int, cancel: CancelToken | None = None) -> ByteDfa:
    """The minimal automaton, its states in breadth-first order from the start.

    Raises:
        LimitExceededError: more than `limit` configurations can be reached.
        CancelledError: `cancel` was used.
    """
    if automaton.start == DEAD:
        return ByteDfa(None, (), ())
    numbers, rows = _explore(automaton, limit, cancel)
    accepting = [bool(automaton.accepting[c]) for c in numbers]
    blocks = equivalence_classes(rows, accepting, cancel)
    representative: dict[int, int] = {}
    for state, block in enumerate(blocks):
        representative.setdefault(block, state)
    # `_explore` goes breadth first and blocks are numbered by first occurrence, so the numbering is canonical.
    spans: list[set[Span]] = [set() for _ in representative]
    groups: dict[tuple[int, int], list[int]] = {}
    edge_spans: dict[tuple[int, int], set[Span]] = {}
    for state, configuration in enumerate(numbers):
        block = blocks[state]
        spans[block].update(automaton.spans(configuration))
        for byte_class, target in enumerate(rows[state]):
            if target >= 0:
                pair = (block, blocks[target])
                edge_spans.setdefault(pair, set()).update(automaton.edge_spans(configuration, byte_class))
                if representative[block] == state:
                    groups.setdefault(pair, []).append(byte_class)
    states = tuple(
        DfaState(block, accepting[state], tuple(sorted(spans[block]))) for block, state in representative.items()
    )
    edges = tuple(
        DfaEdge(*pair, _ranges(automaton, byte_classes), tuple(sorted(edge_spans[pair])))
        for pair, byte_classes in sorted(groups.items())
    )
    return ByteDfa(0, states, edges)


def _explore(automaton: Runtime, limit: int, cancel: CancelToken | None) -> tuple[list[int], list[list[int]]]:
    """All configurations, breadth first, and their rows over the same numbering (-1: dead)."""
    numbers = [automaton.start]
    index = {automaton.start: 0}
    rows: list[list[int]] = []
    while len(rows) < len(numbers):
        if cancel is not None and len(rows) % _CHECK_EVERY == 0:
            cancel.report("determinising", len(rows))
        configuration = numbers[len(rows)]
        automaton.fill_row(configuration)
        row = []
        for target in automaton.rows[configuration].tolist():
            if target != DEAD and target not in index:
                if len(numbers) == limit:
                    raise LimitExceededError("states of the automaton", given=limit + 1, limit=limit)
                index[target] = len(numbers)
                numbers.append(target)
            row.append(index.get(target, -1))
        rows.append(row)
    return numbers, rows


def neighbourhood(automaton: Runtime, centre: int, radius: int, limit: int) -> ByteDfa:
    """The configurations within `radius` edges of `centre`, which is the start of the result; not minimal."""
    numbers, depth = [centre], {centre: 0}
    queue = deque(numbers)
    targets: dict[int, dict[int, list[int]]] = {}
    boundary: set[int] = set()
    while queue:
        configuration = queue.popleft()
        if depth[configuration] == radius:
            boundary.add(configuration)
            continue
        automaton.fill_row(configuration)
        for byte_class, target in enumerate(automaton.rows[configuration].tolist()):
            if target == DEAD:
                continue
            if target not in depth:
                if len(numbers) == limit:
                    boundary.add(configuration)
                    continue
                depth[target] = depth[configuration] + 1
                numbers.append(target)
                queue.append(target)
            targets.setdefault(configuration, {}).setdefault(target, []).append(byte_class)
    index = {configuration: i for i, configuration in enumerate(numbers)}
    states = tuple(DfaState(i, bool(automaton.accepting[c]), automaton.spans(c)) for i, c in enumerate(numbers))
    edges = [
        DfaEdge(
            index[source],
            index[target],
            _ranges(automaton, byte_classes),
            tuple(sorted({s for c in byte_classes for s in automaton.edge_spans(source, c)})),
        )
        for source, row in targets.items()
        for target, byte_classes in row.items()
    ]
    edges.sort(key=lambda edge: (edge.source, edge.target))
    return ByteDfa(0, states, tuple(edges), frozenset(index[c] for c in boundary))


def _ranges(automaton: Runtime, byte_classes: Iterable[int]) -> ByteRanges:
    return join_ranges(automaton.classes.ranges[c] for c in byte_classes)
