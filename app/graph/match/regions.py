"""Folds a pattern's automaton into the parts of its text, as an overview.

A region is a group, a counted repetition, or a run of characters: a node of the pattern's tree with all states that
read inside it. The tree is cut where the states are, largest part first, as long as the overview stays readable. A
counted repetition of one character stays one box whatever its count: its thousand states differ only by a number.

If the match may be in two parts at once, as in `a*b`, the state belongs to the earlier one; or to the later one, if
that distinguishes more parts.

Rejected: folding by graph structure (components, chains). The result has no names, and the user's names are those of
the text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import Chart, FoldedAutomaton, edge_label
from engine.automata.byte_classes import join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.grammar import nodes
from engine.source import SourceText, Span

MOST_REGIONS = 40
FOLDED_BEYOND = 60
"""A smaller automaton is not folded."""

_COUNTS_FROM = 8
_FEW, _SMALL = 6, 20  # with so few regions even a small part is opened; a part with at most `_SMALL` states is small
_LONGEST_NAME = 22
_LONGEST_LABEL = 40
_END = "end"


@dataclass(frozen=True, slots=True)
class AutomatonRegions:
    """The overview of an automaton.

    Attributes:
        chart: a state for each region, and an edge where a byte leads from one to another.
        of_state: the region of each state of the automaton.
    """

    chart: Chart
    of_state: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the regions: their source text, made unique."""
        return self.chart.names

    def states(self, region: int) -> frozenset[int]:
        """Return the states of a region."""
        return frozenset(state for state, found in enumerate(self.of_state) if found == region)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the pattern: a node, or consecutive characters."""

    span: Span
    node: nodes.Node | None = None

    def parts(self) -> tuple[_Part, ...]:
        """Return its components; nothing for a smallest part."""
        match self.node:
            case nodes.Sequence(items=items):
                return tuple(_character_runs(items))
            case nodes.Choice(alternatives=alternatives):
                return tuple(_Part(node.span, node) for node in alternatives)
            case nodes.Repeat(node=node):
                inner = _Part(node.span, node)
                return inner.parts() or (inner,)
        return ()

    @property
    def is_counter(self) -> bool:
        """Return whether it is a repetition whose states are counts."""
        node = self.node
        return isinstance(node, nodes.Repeat) and max(node.minimum, node.maximum or 0) >= _COUNTS_FROM

    @property
    def repeats_one(self) -> bool:
        """Return whether it repeats one character."""
        return isinstance(self.node, nodes.Repeat) and isinstance(self.node.node, nodes.Chars)


def regions_of(
    dfa: ByteDfa, fold: FoldedAutomaton | None, root: nodes.Node, source: SourceText
) -> AutomatonRegions | None:
    """Fold an automaton by the tree of its pattern.

    Args:
        dfa: the automaton.
        fold: the automaton over characters; None if it does not differ.
        root: the tree of the pattern.
        source: the pattern.

    Returns:
        None if it is small enough, or its parts cannot be distinguished.
    """
    drawn = len(dfa.states) - (len(fold.inner) if fold is not None else 0)
    if drawn <= FOLDED_BEYOND:
        return None
    parts = _cut(dfa, _Part(root.span, root))
    of_state = _assign_states(dfa, parts)
    for edge in dfa.edges if fold is not None else ():
        if fold is not None and edge.target in fold.inner:
            of_state[edge.target] = of_state[
                edge.source
            ]  # a state inside a character belongs to the region where that begins
    used = sorted(set(of_state))
    number = {region: at for at, region in enumerate(used)}
    spans = [parts[region].span if region < len(parts) else None for region in used]
    names = _unique([_END if span is None else _name(source, span) for span in spans])
    regions = tuple(number[region] for region in of_state)
    return AutomatonRegions(_chart(dfa, fold, regions, spans, names), regions)


def _cut(dfa: ByteDfa, root: _Part) -> list[_Part]:
    """Return the parts of the overview, in the order of the text."""
    parts = [root]
    closed: set[tuple[Span, type]] = set()  # parts that are not opened further
    while True:
        sizes = Counter(_assign_states(dfa, parts))
        at = next((at for at, size in sizes.most_common() if _can_open(parts, at, size, closed)), None)
        if at is None:
            return parts
        part = parts[at]
        components = part.parts()
        if len(parts) - 1 + len(components) <= MOST_REGIONS:
            parts[at : at + 1] = components
        if parts[at] == part or not components:
            closed.add((part.span, type(part.node)))


def _can_open(parts: Sequence[_Part], at: int, size: int, closed: set[tuple[Span, type]]) -> bool:
    """Return whether a part is replaced by its components."""
    if at == len(parts) or size == 1 or (parts[at].span, type(parts[at].node)) in closed:
        return False
    part = parts[at]
    if part.repeats_one or (part.is_counter and len(parts) > 1):
        return False
    return bool(part.parts()) and (size > _SMALL or len(parts) < _FEW)


def _character_runs(items: Iterable[nodes.Node]) -> Iterator[_Part]:
    """Yield the items of a sequence, with consecutive characters as one."""
    begin: Span | None = None
    end = 0
    for item in items:
        if _is_single_character(item):
            begin, end = begin or item.span, item.span.end
            continue
        if begin is not None:
            yield _Part(Span(begin.start, end))
            begin = None
        if not isinstance(item, nodes.Empty | nodes.Lookaround):
            yield _Part(item.span, item)
    if begin is not None:
        yield _Part(Span(begin.start, end))


def _is_single_character(node: nodes.Node) -> bool:
    if not isinstance(node, nodes.Chars) or len(node.set.ranges) != 1:
        return False
    ((first, last),) = node.set.ranges
    return first == last


def _assign_states(dfa: ByteDfa, parts: Sequence[_Part]) -> list[int]:
    """Return the part of each state, `len(parts)` for those that read nothing."""
    of_span: dict[Span, int | None] = {}

    def part_of(span: Span) -> int | None:
        if span not in of_span:
            found = (at for at, part in enumerate(parts) if part.span.start <= span.start and span.end <= part.span.end)
            of_span[span] = next(found, None)
        return of_span[span]

    candidates = [sorted({at for span in state.spans if (at := part_of(span)) is not None}) for state in dfa.states]
    first = [found[0] if found else len(parts) for found in candidates]
    last = [found[-1] if found else len(parts) for found in candidates]
    found = last if len(set(last)) > len(set(first)) else first
    before: defaultdict[int, set[int]] = defaultdict(set)
    for edge in dfa.edges:
        before[edge.target].add(found[edge.source])
    for state, at in enumerate(found):
        only = next(iter(before[state])) if len(before[state]) == 1 else at
        if at == len(parts) and only < at and parts[only].is_counter:
            found[state] = only  # the last count of a counter that nothing follows
    return found


def _chart(
    dfa: ByteDfa,
    fold: FoldedAutomaton | None,
    of_state: Sequence[int],
    spans: Sequence[Span | None],
    names: Sequence[str],
) -> Chart:
    ranges: defaultdict[EdgeKey, list[tuple[int, int]]] = defaultdict(list)
    points: defaultdict[EdgeKey, list[tuple[int, int]]] = defaultdict(list)
    read: defaultdict[EdgeKey, set[Span]] = defaultdict(set)
    characters: Mapping[EdgeKey, Sequence[tuple[int, int]]] = fold.characters if fold is not None else {}
    for edge in dfa.edges if fold is None else fold.edges:
        key = of_state[edge.source], of_state[edge.target]
        if key[0] != key[1]:
            ranges[key] += edge.ranges
            points[key] += characters.get((edge.source, edge.target), ())
            read[key].update(edge.spans)
    keys = sorted(read)
    inner = fold.inner if fold is not None else frozenset()
    sizes = Counter(region for state, region in enumerate(of_state) if state not in inner)
    accepting = {of_state[state.id] for state in dfa.states if state.accepting}
    states = tuple(
        DfaState(region, region in accepting, () if span is None else (span,)) for region, span in enumerate(spans)
    )
    start = None if dfa.start is None else of_state[dfa.start]
    return Chart(
        ByteDfa(start, states, tuple(DfaEdge(*key, (), tuple(sorted(read[key]))) for key in keys)),
        names=tuple(names),
        words={key: (_label(ranges[key], points[key]),) for key in keys},
        sizes=tuple(sizes[region] for region in range(len(states))),
    )


def _label(ranges: Iterable[tuple[int, int]], points: Iterable[tuple[int, int]]) -> str:
    return edge_label(join_ranges([tuple(ranges)]), join_ranges([tuple(points)]), _LONGEST_LABEL)


def _name(source: SourceText, span: Span) -> str:
    text = source.excerpt(span).replace("\n", "↵")
    body = text.strip(" ")
    begin = len(text) - len(text.lstrip(" "))
    shown = "␣" * begin + body + "␣" * (len(text) - begin - len(body))
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Make names unique by a number."""
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(unique)
