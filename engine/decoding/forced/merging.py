"""Forced runs of a drawn automaton, by bytes and by tokens, and the automaton with the states inside them merged.

A state is *forced* if the text may not end there and exactly one byte may come. Decoding skips runs of such states: a
run continues through a state with several incoming edges, since the text after it is known anyway. A drawing cannot do
that without repeating the text for each incoming edge, so the *merged* automaton keeps such a state: it has the same
language, and one edge for each run between the kept states ("naive merging" of the same source as the package).

By tokens hardly anything is forced: where `name` must come, `n`, `na` and `name` may, and with a vocabulary that has
all bytes only the last byte of a run has one token. That is why runs are found by bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.labels import class_label
from engine.source import checkpoint
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from engine.vocabulary import Trie, Vocabulary


@dataclass(frozen=True, slots=True)
class ForcedRun:
    """A text that must come.

    Attributes:
        state: the state where it begins: the start, or a state after a choice.
        target: the state after it, where there is a choice or the text may end.
        data: its bytes. If a character is decided only by its last byte, the run includes the character without that
            byte.
    """

    state: int
    target: int
    data: bytes

    @property
    def text(self) -> str:
        """The complete characters of the run."""
        return self.data.decode("utf-8", "ignore")


@dataclass(frozen=True, slots=True)
class MergedEdge:
    """A byte, and everything that must follow it.

    Attributes:
        source, target: states of the original automaton.
        ranges: the first byte.
        rest: the bytes after it.
        through: the states that were merged into the edge.
    """

    source: int
    target: int
    ranges: ByteRanges
    rest: bytes
    through: tuple[int, ...]

    @property
    def label(self) -> str:
        """The edge's label: `{"name":␣"`, or `[23]0`."""
        first, last = self.ranges[0]
        if len(self.ranges) == 1 and first == last:
            return visible(bytes((first,)) + self.rest)
        return class_label(self.ranges) + (visible(self.rest) if self.rest else "")


@dataclass(frozen=True, slots=True)
class MergedAutomaton:
    """An automaton whose forced runs are edges; its language is that of the original.

    Attributes:
        start: the first state; None if the language is empty.
        states: the ids of the remaining states, ascending; they are ids of the original.
        accepting: the states where the text may end.
        edges: sorted by source, then by first byte.
        states_before, edges_before: the number of reachable states and edges of the original.
    """

    start: int | None
    states: tuple[int, ...]
    accepting: frozenset[int]
    edges: tuple[MergedEdge, ...]
    states_before: int
    edges_before: int

    def accepts(self, data: bytes) -> bool:
        """Return whether the bytes are a complete match."""
        at, position = self.start, 0
        while at is not None and position < len(data):
            matching = next(
                (edge for edge in self.edges if edge.source == at and _contains(edge.ranges, data[position])), None
            )
            if matching is None or not data.startswith(matching.rest, position + 1):
                return False
            at, position = matching.target, position + 1 + len(matching.rest)
        return at is not None and at in self.accepting


def forced_steps(dfa: ByteDfa) -> Mapping[int, tuple[int, int]]:
    """Return, for each forced state, the byte that must come and the next state."""
    outgoing: dict[int, list[DfaEdge]] = {}
    for edge in dfa.edges:
        outgoing.setdefault(edge.source, []).append(edge)
    return {
        state: (edges[0].ranges[0][0], edges[0].target)
        for state, edges in outgoing.items()
        if len(edges) == 1 and _single(edges[0].ranges) and _is_inside(dfa, state)
    }


def forced_runs(dfa: ByteDfa) -> tuple[ForcedRun, ...]:
    """Return the longest runs, from the start or after a choice to the next choice, by the state where they begin."""
    steps = forced_steps(dfa)
    begins = {edge.target for edge in dfa.edges if edge.source not in steps}
    if dfa.start is not None:
        begins.add(dfa.start)
    found = []
    for state in sorted(begins & steps.keys()):
        data, at, seen = bytearray(), state, set[int]()
        while at in steps and at not in seen:  # a cycle of forced states would never end
            checkpoint()
            seen.add(at)
            byte, at = steps[at]
            data.append(byte)
        found.append(ForcedRun(state, at, bytes(data)))
    return tuple(found)


def merge_forced(dfa: ByteDfa) -> MergedAutomaton:
    """Replace each run of forced states that have a single incoming edge by one edge."""
    if dfa.start is None:
        return MergedAutomaton(None, (), frozenset(), (), 0, 0)
    steps = forced_steps(dfa)
    reached = _reachable(dfa)
    edges = [edge for edge in dfa.edges if edge.source in reached]
    incoming = Counter(edge.target for edge in edges)
    inner = {state for state in steps if incoming[state] == 1 and state != dfa.start}
    merged = [_extended(edge, steps, inner) for edge in edges if edge.source not in inner]
    kept = tuple(sorted(reached - inner))
    return MergedAutomaton(
        dfa.start,
        kept,
        frozenset(state for state in kept if dfa.states[state].accepting),
        tuple(sorted(merged, key=lambda edge: (edge.source, edge.ranges))),
        len(reached),
        len(edges),
    )


def forced_tokens(dfa: ByteDfa, vocabulary: Vocabulary) -> dict[int, tuple[int, int]]:
    """Return, for each state with exactly one allowed token and no end, that token's id and the next state.

    Two ids with the same bytes are two tokens.
    """
    found: dict[int, tuple[int, int]] = {}
    for state in dfa.states:
        checkpoint()
        if not state.accepting and state.id not in dfa.boundary:
            walk = tokens_from(dfa, vocabulary.trie, state.id)
            only = next(walk, None)
            if only is not None and next(walk, None) is None:
                found[state.id] = only
    return found


def token_runs(forced: Mapping[int, tuple[int, int]], start: int | None) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Return the longest runs of forced tokens: the first state and the ids of each.

    Args:
        forced: the result of `forced_tokens`.
        start: the first state, where a run begins whatever leads to it.
    """
    inner = {target for _, target in forced.values()} - {start}
    found = []
    for begin in sorted(forced.keys() - inner):
        ids, at, seen = list[int](), begin, set[int]()
        while at in forced and at not in seen:
            seen.add(at)
            token_id, at = forced[at]
            ids.append(token_id)
        found.append((begin, tuple(ids)))
    return tuple(found)


def tokens_from(dfa: ByteDfa, trie: Trie, state: int) -> Iterator[tuple[int, int]]:
    """Yield the tokens that may come at a state, each with the next state.

    The walk of the byte trie is lazy, so a caller learns early whether there is one token or more.

    Args:
        dfa: the automaton.
        trie: the trie of the vocabulary.
        state: the state before the tokens.
    """
    byte, start, ids = trie.byte.data, trie.token_start.data, trie.token_ids.data
    for node, after in trie.walk(state, lambda before, node: dfa.step(before, byte[node])):
        for token_id in ids[start[node] : start[node + 1]]:
            yield token_id, after


def _is_inside(dfa: ByteDfa, state: int) -> bool:
    """Return whether a text can neither end at a state nor continue to a state that was not drawn."""
    return not dfa.states[state].accepting and state not in dfa.boundary


def _single(ranges: ByteRanges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _contains(ranges: ByteRanges, byte: int) -> bool:
    return any(first <= byte <= last for first, last in ranges)


def _extended(edge: DfaEdge, steps: Mapping[int, tuple[int, int]], inner: set[int]) -> MergedEdge:
    rest, through, at = bytearray(), list[int](), edge.target
    while at in inner:
        through.append(at)
        byte, at = steps[at]
        rest.append(byte)
    return MergedEdge(edge.source, at, edge.ranges, bytes(rest), tuple(through))


def _reachable(dfa: ByteDfa) -> set[int]:
    targets: dict[int, list[int]] = {}
    for edge in dfa.edges:
        targets.setdefault(edge.source, []).append(edge.target)
    assert dfa.start is not None
    reached, waiting = {dfa.start}, [dfa.start]
    while waiting:
        new = set(targets.get(waiting.pop(), ())) - reached
        reached |= new
        waiting.extend(new)
    return reached
