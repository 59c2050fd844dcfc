"""Conversion of a lazy automaton to a complete one, or to the part around a configuration."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.dfa.minimise import equivalence_classes
from engine.source import CancelToken, LimitExceededError, Span, checkpoint

_CHECK_EVERY = 64


def minimal_dfa(automaton: ByteAutomaton, limit: int, cancel: CancelToken | None = None) -> ByteDfa:
    """Return the minimal automaton, its states in breadth-first order from the start.

    Args:
        automaton: the lazy automaton.
        limit: the most configurations before minimisation.
        cancel: reports progress and cancels.

    Raises:
        LimitExceededError: more than `limit` configurations are reachable.
        CancelledError: `cancel` was used.
    """
    if automaton.start == DEAD:
        return ByteDfa(None, (), ())
    numbers, rows = _explore(automaton, limit, cancel)
    spans_of_states: list[tuple[Span, ...]] = []
    for configuration in numbers:
        if cancel is not None:
            cancel.check()
        spans_of_states.append(automaton.spans(configuration))
    merged = merge_equivalent(
        rows,
        [bool(automaton.accepting[configuration]) for configuration in numbers],
        spans_of_states,
        lambda state, byte_class: automaton.edge_spans(numbers[state], byte_class),
        cancel,
    )
    edges = tuple(
        DfaEdge(source, target, _ranges(automaton, byte_classes), spans)
        for (source, target, _), (byte_classes, spans) in sorted(merged.edges.items())
    )
    return ByteDfa(0, merged.states, edges)


class Merged(NamedTuple):
    """A minimised automaton.

    Attributes:
        states: the states, in the order of their first members.
        edges: by source, target and kind of symbol: the symbols, and the source locations that read them.
    """

    states: tuple[DfaState, ...]
    edges: dict[tuple[int, int, int], tuple[list[int], tuple[Span, ...]]]


def merge_equivalent(
    rows: Sequence[Sequence[int]],
    accepting: Sequence[bool],
    spans: Sequence[Iterable[Span]],
    edge_spans: Callable[[int, int], Iterable[Span]],
    cancel: CancelToken | None = None,
    kind: Callable[[int], int] = lambda _: 0,
) -> Merged:
    """Minimise a deterministic automaton whose states are numbered breadth first, so that the result is canonical.

    Args:
        rows: for each state the target by symbol, -1 for none.
        accepting: whether each state accepts.
        spans: the source locations of each state.
        edge_spans: returns the source locations that read a symbol in a state.
        cancel: checked now and then.
        kind: returns the kind of a symbol; symbols of one kind share an edge.
    """
    blocks = equivalence_classes(rows, accepting, cancel)
    representative: dict[int, int] = {}
    for state, block in enumerate(blocks):
        representative.setdefault(block, state)  # blocks are numbered by first occurrence
    united: list[set[Span]] = [set() for _ in representative]
    symbols: dict[tuple[int, int, int], list[int]] = {}
    read: dict[tuple[int, int, int], set[Span]] = {}
    for state, row in enumerate(rows):
        checkpoint(4 + len(row) // 2)
        block = blocks[state]
        united[block].update(spans[state])
        for symbol, target in enumerate(row):
            if target >= 0:
                edge = block, blocks[target], kind(symbol)
                read.setdefault(edge, set()).update(edge_spans(state, symbol))
                if representative[block] == state:
                    symbols.setdefault(edge, []).append(symbol)
    states = tuple(
        DfaState(block, accepting[state], tuple(sorted(united[block]))) for block, state in representative.items()
    )
    return Merged(states, {edge: (found, tuple(sorted(read[edge]))) for edge, found in symbols.items()})


def _explore(automaton: ByteAutomaton, limit: int, cancel: CancelToken | None) -> tuple[list[int], list[list[int]]]:
    """Return all configurations, breadth first, and their rows over the same numbering (-1: dead)."""
    numbers = [automaton.start]
    index = {automaton.start: 0}
    rows: list[list[int]] = []
    while len(rows) < len(numbers):
        if cancel is not None and len(rows) % _CHECK_EVERY == 0:
            cancel.report("progress.determinising", len(rows))
        checkpoint(4 + len(automaton.classes) // 4)
        configuration = numbers[len(rows)]
        row = []
        for target in automaton.row(configuration):
            if target != DEAD and target not in index:
                if len(numbers) == limit:
                    raise LimitExceededError("errors.limit.automaton_states", given=limit + 1, limit=limit)
                index[target] = len(numbers)
                numbers.append(target)
            row.append(index.get(target, -1))
        rows.append(row)
    return numbers, rows


def neighbourhood(automaton: ByteAutomaton, centre: int, radius: int, limit: int) -> ByteDfa:
    """Return the configurations within `radius` edges of a configuration, not minimised.

    Args:
        automaton: the lazy automaton.
        centre: the configuration; it is the start of the result.
        radius: the most edges from it.
        limit: the most configurations.
    """
    numbers, depth = [centre], {centre: 0}
    queue = deque(numbers)
    targets: dict[int, dict[int, list[int]]] = {}
    boundary: set[int] = set()
    while queue:
        configuration = queue.popleft()
        if depth[configuration] == radius:
            boundary.add(configuration)
            continue
        for byte_class, target in enumerate(automaton.row(configuration)):
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


def _ranges(automaton: ByteAutomaton, byte_classes: Iterable[int]) -> ByteRanges:
    return join_ranges(automaton.classes.ranges[c] for c in byte_classes)
