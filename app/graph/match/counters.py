"""Folds counted repetitions of a drawing into one node each: `item{0,300}`, `[0-9]{8}`, `(,‹value›){0,99}`.

An automaton has a state for each count, and all of them look alike: the same step leads from one to the next, and the
same edges lead out. They are recognised by that alone, so that a counter is one node in every notation, in a rule as in
a whole automaton. A state that is no count of its own, because it only continues what one step began, is joined with
its neighbours first; alternatives that meet again are one step, also if one of them leaves a part out (`ab?c`), and a
state that may be repeated is a part of it (`ab*c`). An optional last part (`ab?`) begins the next step as well, so it
is drawn as its first, and once more at the end: `a(b?a){0,8}b?`.

A counter is entered at its first count only, and all counts from the minimum on have the same ways out, so the node and
its edges say exactly what is allowed, except for the number.

Rejected: folding by the spans of states, as `regions` does. The rules of a JSON Schema are generated, and have none.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeAlias, TypeVar

from app.graph.layout.types import EdgeKey
from app.graph.match.chains import fold_forced_runs
from app.graph.match.folding import MOST_EDGES, Chart, FoldedAutomaton, edge_label
from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.source import Span

COUNTS_FROM = 8
"""A repetition of fewer steps stays as it is."""

_LONGEST_STEP = 64  # edges, one after the other
_LONGEST_PERIOD = 4
_MOST_WAYS_IN = 4  # of a state that several alternatives of a step share
_LONGEST_NAME = 22
_LABEL_WIDTH = 14

Atom: TypeAlias = tuple[ByteRanges, tuple[tuple[int, int], ...], tuple[str, ...]]
Value = TypeVar("Value")
Step: TypeAlias = frozenset[tuple["Part", ...]]  # alternatives; each is a sequence
Part: TypeAlias = "int | Step | _Loop"  # a numbered atom, a step, or one that may be repeated


@dataclass(frozen=True, slots=True)
class _Loop:
    step: Step


@dataclass(frozen=True, slots=True)
class _Counter:
    """A counter: the states of its counts, those within its steps, and its bounds."""

    counts: tuple[int, ...]
    within: frozenset[int]
    step: str
    minimum: int
    after: str

    @property
    def name(self) -> str:
        most = len(self.counts) - 1
        bounds = (f"{{{most}}}" if self.minimum == most else f"{{{self.minimum},{most}}}") + self.after
        room = _LONGEST_NAME - len(bounds)
        return (self.step if len(self.step) <= room else self.step[: room - 1] + "…") + bounds


@dataclass(slots=True)
class _Steps:
    """A chart as steps between states, and the states that were joined within each.

    Attributes:
        accepting: the states in which the text may end.
        kept: the states that are never joined.
        loops: the steps from a state to itself, which are not in `out` and `into`.
        after: the steps that may come before every way out of a state.
        tails: the states within those.
    """

    accepting: frozenset[int]
    kept: set[int]
    atoms: dict[Atom, int] = field(default_factory=dict)
    out: defaultdict[int, dict[int, Step]] = field(default_factory=lambda: defaultdict(dict))
    into: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    loops: dict[int, Step] = field(default_factory=dict)
    after: dict[int, Step] = field(default_factory=dict)
    tails: dict[int, frozenset[int]] = field(default_factory=dict)
    within: defaultdict[EdgeKey, frozenset[int]] = field(default_factory=lambda: defaultdict(frozenset))

    def add_edge(self, chart: Chart, edge: DfaEdge) -> None:
        key, fold = (edge.source, edge.target), chart.fold
        texts = (*(fold.texts.get(key, ()) if fold else ()), *chart.words.get(key, ()))
        atom = edge.ranges, fold.characters.get(key, ()) if fold else (), texts
        self.add(*key, frozenset(((self.atoms.setdefault(atom, len(self.atoms)),),)))

    def add(self, source: int, target: int, step: Step) -> None:
        if source == target:
            self.loops[source] = self.loops.get(source, frozenset()) | step
            return
        self.out[source][target] = self.out[source].get(target, frozenset()) | step
        self.into[target].add(source)

    def passes(self, state: int, *, joins_equal: bool = True) -> bool:
        """Return whether a state only continues a step: it has one way in and another one out."""
        if not len(self.into.get(state, ())) == len(self.out.get(state, ())) == 1:
            return False
        ((source, target),) = ((s, t) for s in self.into[state] for t in self.out[state])
        is_count = not joins_equal and self._repeats(source, state, target)
        return source != target and not is_count and not self._is_last_count(source, state, target)

    def parts_after(self, state: int) -> list[int]:
        """Return the states within the parts after a state beside which there is another: nothing, or one as plain."""
        runs = [self._run(target) for target in self.out[state]]
        ends = Counter(run[-1] for run in runs)
        return [
            inner
            for *run, end in runs
            if ends[end] > 1
            and (len(run) == 1 or (len(self.into[end]) <= _MOST_WAYS_IN and not self._repeats_run([state, *run])))
            for inner in run
        ]

    def choice_before(self, state: int) -> int:
        """Return the last state before a state that leaves a choice, or the state itself."""
        for _ in range(_LONGEST_STEP):
            if state in self.kept or not self.passes(state):
                break
            (state,) = self.into[state]
        return state

    def _repeats_run(self, run: Sequence[int]) -> bool:
        """Return whether a run begins after one with the same steps, like the last count of a counter."""
        before = [run[0]]
        while len(before) < len(run) and len(self.into[before[0]]) == 1:
            before[:0] = self.into[before[0]]
        return [self.out[a][b] for a, b in pairwise(before)] == [self.out[a][b] for a, b in pairwise(run)]

    def _run(self, state: int) -> list[int]:
        """Return the states from one on as long as each leaves no choice, and the first that does."""
        run = [state]
        while len(run) <= _LONGEST_STEP and run[-1] not in self.kept and self.passes(run[-1]):
            run += self.out[run[-1]]
        return run

    def is_after(self, state: int) -> bool:
        """Return whether a state has the ways out of the one before it: what is between them can be left out."""
        if len(self.into[state]) != 1 or state in self.loops or state in self.kept:
            return False
        (source,) = self.into[state]
        ways = {target: step for target, step in self.out[source].items() if target != state}
        is_count = any(self.out[before].get(source) == self.out[source][state] for before in self.into[source])
        is_new = source not in self.accepting and source not in self.after
        return bool(ways) and ways == self.out[state] and is_new and not is_count

    def join_after(self, state: int) -> tuple[int, ...]:
        """Join a state that `is_after` with each of its ways out; return the ends."""
        (source,) = self.into[state]
        step = self.after[source] = self.out[source].pop(state)
        before = self.tails[source] = self.within.pop((source, state), frozenset()) | {state}
        targets = tuple(self.out[state])
        for target in targets:
            self.within[source, target] |= self.within.pop((state, target), frozenset()) | before
            self.into[target].discard(state)
            self.add(source, target, frozenset(((*_parts(step), *_parts(self.out[state][target])),)))
        del self.out[state], self.into[state]
        return source, *targets

    def is_shared(self, state: int) -> bool:
        """Return whether a state only continues a few alternatives of a step; the last of many counts does more."""
        if state in self.kept or len(self.out.get(state, ())) != 1 or not 1 < len(self.into[state]) <= _MOST_WAYS_IN:
            return False
        (target,) = self.out[state]
        return target not in self.into[state] and len(self.into[target]) <= COUNTS_FROM

    def _is_last_count(self, source: int, state: int, target: int) -> bool:
        """Return whether a state can be left out like the last count of a counter, not like an optional part."""
        if not self.out[state][target] & self.out[source].get(target, frozenset()):
            return False
        step = self.out[source][state]
        return any(self.out[before].get(source) == step for before in self.into[source]) or not self.into[source]

    def _repeats(self, source: int, state: int, target: int) -> bool:
        """Return whether a state is a count between two equal steps, or before two."""
        step = self.out[state][target]
        is_repeated = step == self.out[source][state] or step in self.out.get(target, {}).values()
        return is_repeated and not self.is_text(_parts(step))

    def is_text(self, parts: Iterable[Part]) -> bool:
        """Return whether parts are a character each."""
        atoms = list(self.atoms)
        return all(isinstance(part, int) and _is_character(atoms[part]) for part in parts)

    def text_of(self, step: Step, *, is_part: bool) -> str:
        """Return a step as text; in brackets if it is a part of a longer one, and needs them."""
        text = self._optional_text(step) or "|".join(sorted(map(self._sequence_text, step)))
        is_single = len(step) == 1 and len(_parts(step)) == 1 and (len(text) == 1 or text[0] in "[‹<")
        return f"({text})" if is_part and not is_single else text

    def _sequence_text(self, parts: Sequence[Part]) -> str:
        """Return a sequence as text: `aa*` is `a+`."""
        texts: list[str] = []
        for before, part in zip((None, *parts), parts, strict=False):
            if isinstance(part, _Loop) and before is not None and _parts(part.step) == (before,):
                texts.append("+")
            elif isinstance(part, _Loop):
                texts.append(self.text_of(part.step, is_part=True) + "*")
            elif isinstance(part, int):
                texts.append(_atom_text(list(self.atoms)[part]))
            else:
                texts.append(self._optional_text(part) or self.text_of(part, is_part=True))
        return "".join(texts)

    def _optional_text(self, step: Step) -> str:
        """Return the text of a step that may leave a first or a last part out; empty if it is something else."""
        if len(step) != 2:
            return ""
        short, long = sorted(step, key=len)
        more = len(long) - len(short)
        for part, rest, is_first in ((long[:more], long[more:], True), (long[-more:], long[:-more], False)):
            if more and rest == short:
                is_run = len(part) == 2 and isinstance(part[1], _Loop) and _parts(part[1].step) == part[:1]
                optional = (
                    self._sequence_text(part[1:]) if is_run else self.text_of(frozenset((part,)), is_part=True) + "?"
                )
                return optional + self._sequence_text(rest) if is_first else self._sequence_text(rest) + optional
        return ""

    def join(self, state: int) -> tuple[int, ...]:
        """Join a state's ways in with its way out; return the ends, none if a step would be too long."""
        (target,) = self.out[state]
        sources = sorted(self.into[state])
        loop = (_Loop(self.loops[state]),) if state in self.loops else ()
        rest = *loop, *_parts(self.out[state][target])
        steps = {source: (*_parts(self.out[source][state]), *rest) for source in sources}
        if max(map(len, steps.values())) > _LONGEST_STEP:
            return ()
        after = self.within.pop((state, target), frozenset()) | {state}
        self.into[target].discard(state)
        for source, parts in steps.items():
            self.within[source, target] |= self.within.pop((source, state), frozenset()) | after
            del self.out[source][state]
            self.add(source, target, frozenset((parts,)))
        del self.out[state], self.into[state]
        self.loops.pop(state, None)
        return *sources, target


def merge_chart(chart: Chart) -> Chart | None:
    """Return a chart with each counter as one node and each forced run as one edge; None if it has neither."""
    counted = fold_counters(chart)
    base = counted or chart
    texts = base.fold.texts if base.fold is not None else {}
    fold = fold_forced_runs(base.dfa, base.fold, {*base.words, *texts})
    return counted if fold is None else replace(base, fold=fold)


def merge(dfa: ByteDfa, fold: FoldedAutomaton | None) -> FoldedAutomaton | None:
    """Fold the counters and the forced runs of an automaton; None if it has neither.

    Args:
        dfa: the automaton.
        fold: the automaton over characters; None if it does not differ.
    """
    merged = merge_chart(Chart(dfa, fold))
    return None if merged is None else merged.fold


def fold_counters(chart: Chart) -> Chart | None:
    """Return a chart with each counter as one node, the state of its first count; None if there is no counter."""
    edges = chart.edges
    if not COUNTS_FROM <= len(edges) <= MOST_EDGES:
        return None
    fixed = {state.id for state in chart.dfa.states if state.accepting} | chart.dfa.boundary | {chart.dfa.start or 0}
    fixed.update(states[0] for _, states in chart.groups)
    # Two equal steps in a row are two counts, as in `[ab]{2,9}`, or parts of one, as in `([0-9]{2},){0,9}`.
    found = [_counters_with(chart, edges, fixed, least) for least in (2, COUNTS_FROM)]
    best = max(found, key=lambda counters: sum(len(counter.counts) + len(counter.within) for counter in counters))
    return _folded(chart, best) if best else None


def _counters_with(chart: Chart, edges: Iterable[DfaEdge], fixed: set[int], least: int) -> list[_Counter]:
    """Return the counters, if so many equal steps in a row, without a choice, are counts."""
    steps = _Steps(frozenset(state.id for state in chart.dfa.states if state.accepting), {*fixed})
    for edge in edges:
        steps.add_edge(chart, edge)
    steps.kept |= _period_ends(steps, least)
    _join_parts(steps)
    steps.kept |= _period_ends(steps, least)
    pending = deque(state for state in [*steps.out] if state not in steps.kept)
    while pending:
        state = pending.popleft()  # those nearer to the start first, so that the last count finds the one before it
        if state in steps.out and state not in steps.kept and steps.passes(state, joins_equal=least == COUNTS_FROM):
            pending.extendleft(reversed(steps.join(state)))
    return list(_counters(steps, chart))


def _join_parts(steps: _Steps) -> None:
    """Join what is optional in a step, and what its alternatives share; first what has fewer ways in."""
    pending = deque(steps.out)
    shared = [(len(steps.into[state]), state) for state in [*steps.out] if steps.is_shared(state)]
    heapify(shared)
    while pending or shared:
        if pending:
            state = pending.popleft()
            found = [] if state not in steps.out else [one for one in [*steps.out[state]] if steps.is_after(one)]
            ends = [end for one in found if steps.is_after(one) for end in steps.join_after(one)]
            for inner in steps.parts_after(state) if state in steps.out else ():
                ends += steps.join(inner)
        else:
            state = heappop(shared)[1]
            ends = [*steps.join(state)] if steps.is_shared(state) else []
        for end in dict.fromkeys(ends):
            pending.append(steps.choice_before(end))
            if steps.is_shared(end):
                heappush(shared, (len(steps.into[end]), end))


def _is_character(atom: Atom) -> bool:
    """Return whether an atom is one character, so that a run of it is a text."""
    ranges, points, texts = atom
    taken = *ranges, *points
    return not texts and len(taken) == 1 and taken[0][0] == taken[0][1]


def _parts(step: Step) -> tuple[Part, ...]:
    return next(iter(step)) if len(step) == 1 else (step,)


def _period_ends(steps: _Steps, least: int) -> set[int]:
    """Return the ends of equal parts of chains without a choice: `[0-9]{8}` has no other sign of its counts."""
    found: set[int] = set()
    linear = {state for state in [*steps.out] if state not in steps.kept and steps.passes(state)}
    for first in [*steps.out]:
        for target in [] if first in linear else [*steps.out[first]]:
            chain = [first, target]
            while chain[-1] in linear:
                chain += steps.out[chain[-1]]
            found |= _ends_in(steps, [(steps.out[a][b], steps.loops.get(b)) for a, b in pairwise(chain)], chain, least)
    return found


def _ends_in(steps: _Steps, labels: Sequence[tuple[Step, Step | None]], states: Sequence[int], least: int) -> set[int]:
    """Return the ends of so many equal parts of a chain, or more.

    Args:
        steps: the steps.
        labels: of each edge of the chain, the step and what may be repeated after it.
        states: of the chain, one more.
        least: the number of parts.
    """
    found: set[int] = set()
    at = 0
    while at < len(labels):
        for period in range(1, _LONGEST_PERIOD + 1):
            end = at + period
            while end < len(labels) and labels[end] == labels[end - period]:
                end += 1
            count = (end - at) // period
            if count >= least:
                if not all(loop is None and steps.is_text(_parts(step)) for step, loop in labels[at : at + period]):
                    found.update(states[at : at + count * period + 1 : period])
                at += count * period - 1
                break
        at += 1
    return found


def _counters(steps: _Steps, chart: Chart) -> Iterator[_Counter]:
    taken: set[int] = set()
    for first in [state.id for state in chart.dfa.states if state.id in steps.out]:
        for target, step in [] if first in taken else [*steps.out[first].items()]:
            counter = _counter(steps, chart, first, target, step)
            if counter is not None and taken.isdisjoint(counter.counts):
                taken.update(counter.counts)
                yield counter
                break


def _counter(steps: _Steps, chart: Chart, first: int, target: int, step: Step) -> _Counter | None:
    """Return the counter that begins with a step; None if it counts too little."""

    def ways_out(state: int, without: int | None) -> frozenset[object]:
        """Return the ways out of a count; that the text may end there is one of them."""
        ways: set[object] = {item for item in steps.out.get(state, {}).items() if item[0] != without}
        if ways and state in steps.after:
            ways.add(steps.after[state])
        return frozenset(ways | {True} if chart.dfa.states[state].accepting else ways)

    counts, ways, minimum = [first], frozenset[object](), -1
    following: int | None = target
    loop = steps.loops.get(target)
    if first in steps.loops:
        return None
    while (
        following is not None
        and steps.into[following] == {counts[-1]}
        and steps.loops.get(following) == loop
        and following not in chart.dfa.boundary
    ):
        its = ways_out(counts[-1], following)
        if its != ways:
            if ways:
                return None if len(counts) <= COUNTS_FROM else _made(steps, counts[:-1], step, minimum, loop)
            ways, minimum = its, len(counts) - 1
        if following == first:
            return None  # a cycle that nothing leads into and no text leaves
        counts.append(following)
        following = next((to for to, its in steps.out.get(counts[-1], {}).items() if its == step), None)
    if ways and ways_out(counts[-1], following) != ways:
        counts.pop()
    return _made(steps, counts, step, minimum, loop) if len(counts) > COUNTS_FROM else None


def _made(steps: _Steps, counts: Sequence[int], step: Step, minimum: int, loop: Step | None) -> _Counter | None:
    if minimum < 0 and len(step) == 1 and steps.is_text(_parts(step)):
        return None  # a text that repeats itself
    step = step if loop is None else frozenset(((*_parts(step), _Loop(loop)),))
    after = steps.after.get(counts[minimum])
    within = frozenset[int]().union(*(steps.within[pair] for pair in pairwise(counts)))
    within = within.union(*(steps.tails.get(count, ()) for count in counts))
    return _Counter(
        tuple(counts),
        within,
        steps.text_of(step, is_part=True),
        minimum if minimum >= 0 else len(counts) - 1,
        "" if after is None else f"{steps.text_of(after, is_part=True)}?",
    )


def _folded(chart: Chart, counters: Iterable[_Counter]) -> Chart:
    node_of: dict[int, int] = {}
    names: dict[int, str] = {}
    for counter in counters:
        first, *others = counter.counts
        node_of |= dict.fromkeys((*others, *counter.within), first)
        names[first] = counter.name

    def drawn(key: EdgeKey) -> EdgeKey | None:
        """Return the edge of the drawing that has an edge; None within a counter."""
        source, target = (node_of.get(state, state) for state in key)
        return None if source == target and key[1] in node_of else (source, target)

    ranges: defaultdict[EdgeKey, list[ByteRanges]] = defaultdict(list)
    spans: defaultdict[EdgeKey, set[Span]] = defaultdict(set)
    for edge in chart.edges:
        if (key := drawn((edge.source, edge.target))) is not None:
            ranges[key].append(edge.ranges)
            spans[key].update(edge.spans)
    edges = tuple(DfaEdge(*key, join_ranges(ranges[key]), tuple(sorted(spans[key]))) for key in sorted(ranges))

    def moved(of_edges: Mapping[EdgeKey, tuple[Value, ...]]) -> dict[EdgeKey, tuple[Value, ...]]:
        found: defaultdict[EdgeKey, dict[Value, None]] = defaultdict(dict)
        for before, values in of_edges.items():
            if (key := drawn(before)) is not None:
                found[key] |= dict.fromkeys(values)
        return {key: tuple(values) for key, values in found.items()}

    known = chart.fold or FoldedAutomaton(frozenset(), (), {})
    within: dict[int, EdgeKey] = {}
    for state, before in known.within.items():
        if (key := drawn(before)) is not None:
            within[state] = key
        else:
            node_of[state] = node_of.get(before[0], before[0])
    fold = FoldedAutomaton(
        known.inner | node_of.keys(),
        edges,
        {key: join_ranges([points]) for key, points in moved(known.characters).items()},
        moved(known.texts),
        within,
        node_of,
        names,
    )
    # Those of the edges within a counter stay, for a drawing of each byte.
    return replace(
        chart, fold=fold, words={**chart.words, **moved(chart.words)}, calls={**chart.calls, **moved(chart.calls)}
    )


def _atom_text(atom: Atom) -> str:
    ranges, points, texts = atom
    taken = [*texts]
    if ranges or points:
        taken.insert(0, edge_label(ranges, points, _LABEL_WIDTH))
    return taken[0] if len(taken) == 1 else f"({'|'.join(taken)})"
