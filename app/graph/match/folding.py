r"""Folds an automaton over bytes into one over characters for the drawing.

`.` alone takes eight byte edges and seven states in UTF-8 (RFC 3629), and `\p{L}` some three hundred; drawn like that,
no pattern beyond ASCII is readable. A fold keeps the states between characters and joins the paths from one to the
next, with the code points that take them. It concerns only the drawing: the automaton is unchanged, and if the match is
inside a character, the bytes are drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from app.catalogue import ui_text
from app.graph.layout.types import EdgeKey
from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.labels import byte_name, class_label, label
from engine.source import Span

CodePoints: TypeAlias = tuple[tuple[int, int], ...]  # inclusive, sorted, disjoint

MOST_EDGES = 5_000  # an automaton with more is not folded
_FEW_GAPS, _FEW_MISSING = 4, 70  # to write a set as its complement; letters and digits are 62
_BITS = 6
_LAST_ASCII = 0x7F
_LEADS = ((0xC2, 0xDF, 1, 0x1F), (0xE0, 0xEF, 2, 0x0F), (0xF0, 0xF4, 3, 0x07))  # first, last, more bytes, payload
_BEYOND_ASCII: CodePoints = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))


class _NotUtf8Error(Exception):
    """Bytes beyond ASCII are not used as UTF-8."""


@dataclass(frozen=True, slots=True)
class FoldedAutomaton:
    """An automaton over characters.

    Attributes:
        inner: the states inside a character or a text, which are folded away.
        edges: one for each pair of the other states; `ranges` has the single bytes that take it.
        characters: the code points beyond ASCII that take an edge.
        texts: the texts of two and more characters that take an edge; see `chains`.
        within: the edge for each inner state of such a text.
        node_of: the drawn state for each inner state of a counter; see `counters`.
        counters: the names of the counters, by the state that is drawn for each.
    """

    inner: frozenset[int]
    edges: tuple[DfaEdge, ...]
    characters: Mapping[EdgeKey, CodePoints]
    texts: Mapping[EdgeKey, tuple[str, ...]] = field(default_factory=dict)
    within: Mapping[int, EdgeKey] = field(default_factory=dict)
    node_of: Mapping[int, int] = field(default_factory=dict)
    counters: Mapping[int, str] = field(default_factory=dict)

    def path(self, states: Iterable[int]) -> frozenset[EdgeKey]:
        """Return the drawn edges that a sequence of states passes."""
        outer = [state for state in states if state in self.node_of or state not in self.inner]
        nodes = [(state, self.node_of.get(state, state)) for state in outer]
        return frozenset((a, b) for (_, a), (state, b) in pairwise(nodes) if a != b or state not in self.node_of)

    def label(self, edge: DfaEdge, width: int) -> str:
        """Return the label of an edge."""
        return edge_label(edge.ranges, self.characters.get((edge.source, edge.target), ()), width)


@dataclass(frozen=True, slots=True)
class Chart:
    """An automaton to draw.

    Attributes:
        dfa: its states and edges; an edge without bytes has no ranges.
        fold: the automaton over characters; None if it does not differ.
        names: of its states; if empty, their numbers are used.
        words: additional labels of an edge: calls and tokens.
        calls: the numbers of the rules that an edge calls.
        groups: the parts that are drawn in boxes: a title and the states.
        sizes: how many states each state represents; if empty, one each.
        merged: the same with counters as nodes and forced runs as edges; None if it has neither, or is not prepared.
    """

    dfa: ByteDfa
    fold: FoldedAutomaton | None = None
    names: tuple[str, ...] = ()
    words: Mapping[EdgeKey, tuple[str, ...]] = field(default_factory=dict)
    calls: Mapping[EdgeKey, tuple[int, ...]] = field(default_factory=dict)
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    sizes: tuple[int, ...] = ()
    merged: Chart | None = None

    @property
    def edges(self) -> tuple[DfaEdge, ...]:
        """Return the edges to draw."""
        return self.dfa.edges if self.fold is None else self.fold.edges

    @property
    def size(self) -> int:
        """Return the number of states that are not folded away."""
        return len(self.dfa.states) - (len(self.fold.inner) if self.fold is not None else 0)


def fold_characters(dfa: ByteDfa) -> FoldedAutomaton | None:
    """Fold the states inside characters; None if there are none, or if the bytes are not UTF-8."""
    if len(dfa.edges) > MOST_EDGES:
        return None
    folder = _Folder(dfa)
    if not folder.inner:
        return None
    try:
        return folder.fold()
    except _NotUtf8Error:
        return None


class _Folder:
    def __init__(self, dfa: ByteDfa) -> None:
        self._dfa = dfa
        self._out: defaultdict[int, list[DfaEdge]] = defaultdict(list)
        for edge in dfa.edges:
            self._out[edge.source].append(edge)
        outer = {state.id for state in dfa.states if state.accepting or not self._continues(state.id)}
        outer |= {edge.target for edge in dfa.edges if edge.ranges[0][0] < 0x80}
        outer |= dfa.boundary | {dfa.start if dfa.start is not None else -1}
        self.inner = frozenset(range(len(dfa.states))) - outer
        # For each inner state: the number of remaining bytes, and for each state after them, their payloads.
        self._tails: dict[int, tuple[int, dict[int, CodePoints]]] = {}

    def _continues(self, state: int) -> bool:
        edges = self._out[state]
        return bool(edges) and all(e.ranges[0][0] >= 0x80 and e.ranges[-1][1] <= 0xBF for e in edges)

    def fold(self) -> FoldedAutomaton:
        bytes_of: dict[EdgeKey, ByteRanges] = {}
        points: defaultdict[EdgeKey, list[tuple[int, int]]] = defaultdict(list)
        spans: defaultdict[EdgeKey, set[Span]] = defaultdict(set)
        for edge in self._dfa.edges:
            if edge.source in self.inner:
                continue
            if edge.target not in self.inner:
                if edge.ranges[-1][1] >= 0x80:
                    raise _NotUtf8Error
                bytes_of[edge.source, edge.target] = edge.ranges
                spans[edge.source, edge.target].update(edge.spans)
                continue
            for target, found in self._characters(edge):
                points[edge.source, target] += found
                spans[edge.source, target].update(edge.spans)
        keys = sorted(bytes_of.keys() | points.keys())
        edges = tuple(DfaEdge(*key, bytes_of.get(key, ()), tuple(sorted(spans[key]))) for key in keys)
        return FoldedAutomaton(self.inner, edges, {key: _merged(found) for key, found in points.items()})

    def _characters(self, edge: DfaEdge) -> Iterable[tuple[int, CodePoints]]:
        """Return the code points that begin with an edge, by the state after them."""
        more, tails = self._tail(edge.target)
        for first, last in edge.ranges:
            lead = next((lead for lead in _LEADS if lead[0] <= first and last <= lead[1] and lead[2] == more), None)
            if lead is None:
                # A range may contain leads of two lengths only if they have different targets.
                raise _NotUtf8Error
            payloads = ((first & lead[3], last & lead[3]),)
            for target, rest in tails.items():
                yield target, _joined(payloads, rest, more)

    def _tail(self, state: int) -> tuple[int, dict[int, CodePoints]]:
        if state in self._tails:
            return self._tails[state]
        self._tails[state] = (-9, {})  # a cycle is not UTF-8: its length will not match
        found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        lengths = set()
        for edge in self._out[state]:
            payloads = tuple((first & 0x3F, last & 0x3F) for first, last in edge.ranges)
            if edge.target not in self.inner:
                lengths.add(1)
                found[edge.target] += payloads
                continue
            more, tails = self._tail(edge.target)
            lengths.add(more + 1)
            for target, rest in tails.items():
                found[target] += _joined(payloads, rest, more)
        if len(lengths) != 1 or not 1 <= (length := lengths.pop()) <= 3:
            raise _NotUtf8Error
        self._tails[state] = (length, {target: _merged(ranges) for target, ranges in found.items()})
        return self._tails[state]


def _joined(high: Iterable[tuple[int, int]], low: CodePoints, more: int) -> CodePoints:
    """Return all numbers whose upper bits are in `high` and whose lower `6 × more` bits are in `low`."""
    size = 1 << (_BITS * more)
    if low == ((0, size - 1),):
        return tuple((first * size, last * size + size - 1) for first, last in high)
    return tuple(
        (upper * size + first, upper * size + last)
        for start, end in high
        for upper in range(start, end + 1)
        for first, last in low
    )


def _merged(ranges: Iterable[tuple[int, int]]) -> CodePoints:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def characters_label(ranges: ByteRanges, points: CodePoints, width: int) -> str:
    """Return the label of bytes and characters: `not "`, `a-z é`, `0-9 À-ÿ`, `0-9 non-ASCII`.

    Args:
        ranges: the bytes.
        points: the code points beyond ASCII.
        width: the maximum length.
    """
    if not points:
        return label(ranges, width)
    taken = _merged((*ranges, *points))
    missing = _gaps(taken)
    if len(missing) <= _FEW_GAPS and sum(last - first + 1 for first, last in missing) <= _FEW_MISSING:
        return _cut(["not", *map(_pair, missing)], width) if missing else ui_text("graph.label.fragment.any")
    if points == _BEYOND_ASCII:
        return _cut([label(ranges, width), "non-ASCII"], width)
    return _cut(map(_pair, taken), width)


def edge_label(ranges: ByteRanges, points: CodePoints, width: int) -> str:
    """Return the label of an edge: one character as it is, several as a class in brackets, since `cf` would be a text.

    Args:
        ranges: the bytes.
        points: the code points beyond ASCII.
        width: the maximum length.
    """
    text = characters_label(ranges, points, width)
    taken = *ranges, *points
    if (len(taken) == 1 and taken[0][0] == taken[0][1]) or text.startswith("any "):
        return text
    if points or ranges[-1][1] > _LAST_ASCII:
        return f"[{text.replace('not ', '^', 1)}]"
    return class_label(ranges, width)


def _gaps(taken: CodePoints) -> CodePoints:
    """Return the missing characters; surrogates are none."""
    gaps, following = [], 0
    for first, last in (*taken, (0x110000, 0x110000)):
        if following < first and (following, first - 1) != (0xD800, 0xDFFF):
            gaps.append((following, first - 1))
        following = last + 1
    return tuple(gaps)


def _cut(parts: Iterable[str], width: int) -> str:
    text = ""
    for part in parts:
        if len(text) + len(part) >= width:
            return text.strip() + "…"
        text += f" {part}"
    return text.strip()


def _pair(pair: tuple[int, int]) -> str:
    first, last = map(_shown, pair)
    return first if pair[0] == pair[1] else f"{first}-{last}"


def _shown(point: int) -> str:
    if point < 0x80:
        return byte_name(point)
    return chr(point) if chr(point).isprintable() else f"U+{point:04X}"
