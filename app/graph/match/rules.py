"""A grammar's rules as charts: each by itself, all of them together, and the call graph.

They are computed in the worker process, so that the window has nothing to compute. An edge of a chart may be taken by
bytes, by calls and by tokens at once: there is one edge for each pair of states, with all of these in its label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from app.graph.layout.types import EdgeKey
from app.graph.match.chains import fold_texts
from app.graph.match.counters import merge_chart
from app.graph.match.folding import Chart, FoldedAutomaton, fold_characters
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.labels import call_label, token_label
from engine.source import SourceText, Span, checkpoint

if TYPE_CHECKING:
    from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton

Value = TypeVar("Value")

EPSILON = "ε"
"""The label of an edge that reads nothing."""

COMBINED_AT_FIRST = 40
"""Up to this many states, all rules are drawn side by side from the start."""

MOST_COMBINED = 2_000
"""Up to this many on demand."""

MOST_UNFOLDED = 2_000
"""States of a chart with unfolded calls: the pane draws no more of any automaton."""

CallPath: TypeAlias = tuple[tuple[int, int, int], ...]
"""A call within calls: for each, the rule that it is in, and the states of that rule before and after it."""


class InlinedState(NamedTuple):
    """A state of a called rule that is drawn in place of the call: the rule, its number there, and the call."""

    rule: int
    state: int
    path: CallPath


@dataclass(frozen=True, slots=True)
class Unfolding:
    """Rule calls to unfold in a drawing.

    Attributes:
        rule: the number of the drawn rule; None for all of them side by side.
        paths: the calls to replace by what they call.
        merges: whether counters are nodes and forced runs are edges.
    """

    rule: int | None
    paths: tuple[CallPath, ...]
    merges: bool


@dataclass(frozen=True, slots=True)
class UnfoldedCalls:
    """A drawing with unfolded calls.

    Attributes:
        chart: the drawing.
        inlined: the last states of the chart, which are those of called rules.
        too_large: the calls that are not unfolded, since the drawing would have too many states.
    """

    chart: Chart
    inlined: tuple[InlinedState, ...]
    too_large: tuple[CallPath, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleCharts:
    """The charts of one grammar.

    Attributes:
        names: of the rules, the start rule first.
        rules: one chart for each.
        overview: a state for each rule, and an edge to each rule that it calls.
        combined: all rules side by side; None if they are too large even on demand.
        first_states: the state in `combined` that each rule begins with.
        notes: the texts of the grammar that the charts omit, one sentence each; empty if they show all.
    """

    names: tuple[str, ...]
    rules: tuple[Chart, ...]
    overview: Chart
    combined: Chart | None
    first_states: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def opens_combined(self, *, merges: bool) -> bool:
        """Return whether all rules are small enough to be drawn side by side from the start."""
        drawn = (chart.merged or chart if merges else chart for chart in self.rules)
        return sum(chart.size for chart in drawn) <= COMBINED_AT_FIRST

    def chart(self, number: int | None, *, merges: bool) -> Chart:
        """Return the chart of a rule, or of all rules side by side.

        Args:
            number: of the rule; None for all of them.
            merges: whether counters are nodes and forced runs are edges.
        """
        chart = self.combined if number is None else self.rules[number]
        assert chart is not None
        return chart.merged or chart if merges else chart

    @property
    def size(self) -> int:
        """Return the number of states of all rules that are not folded away."""
        return sum(chart.size for chart in self.rules)


def rule_charts(
    automata: RuleAutomata,
    notes: tuple[str, ...] = (),
    *,
    folds_texts: bool = False,
    source: SourceText | None = None,
    merges: bool = True,
) -> RuleCharts:
    """Compute the charts of a grammar's rules.

    Args:
        automata: of the rules.
        notes: what they omit, one sentence each.
        folds_texts: whether a run of single characters is one edge.
        source: the text of the grammar, for the conditions of edges that read nothing.
        merges: whether charts with counters as nodes and forced runs as edges are prepared, too.
    """
    rules = tuple(_chart(rule, automata, source, folds_texts=folds_texts) for rule in automata.rules)
    if merges:
        rules = tuple(map(_with_merged, rules))
    names = tuple(rule.name for rule in automata.rules)
    firsts = [0]
    for chart in rules:
        firsts.append(firsts[-1] + len(chart.dfa.states))
    found = RuleCharts(names, rules, _overview(automata, rules), None, tuple(firsts[:-1]), notes)
    if found.size > MOST_COMBINED:
        return found
    combined = _together(found)
    return replace(found, combined=_with_merged(combined) if merges else combined)


def _chart(rule: RuleAutomaton, automata: RuleAutomata, source: SourceText | None, *, folds_texts: bool) -> Chart:
    words: defaultdict[EdgeKey, list[str]] = defaultdict(list)
    calls: defaultdict[EdgeKey, list[int]] = defaultdict(list)
    spans: defaultdict[EdgeKey, set[Span]] = defaultdict(set)
    for call in rule.calls:
        key = call.source, call.target
        words[key].append(call_label(call.rule))
        calls[key].append(automata.numbers[call.rule])
        spans[key].update(call.spans)
    for taken in rule.tokens:
        words[taken.source, taken.target].append(token_label(taken.tokens))
        spans[taken.source, taken.target].add(taken.tokens.span)
    for epsilon in rule.epsilons:
        key, condition = (epsilon.source, epsilon.target), epsilon.condition
        excerpt = source.excerpt(condition) if source is not None and condition is not None else ""
        words[key].append(f"{EPSILON} {excerpt}".strip())
        spans[key].update((condition,) if condition is not None else ())
    folded = fold_characters(rule.dfa)
    if folded is not None:
        folded = FoldedAutomaton(folded.inner, _with_edges(folded.edges, spans), folded.characters)
    dfa = ByteDfa(0, rule.dfa.states, _with_edges(rule.dfa.edges, spans))
    return Chart(
        dfa,
        fold_texts(dfa, folded, words.keys()) if folds_texts else folded,
        words={key: tuple(labels) for key, labels in words.items()},
        calls={key: tuple(called) for key, called in calls.items()},
    )


def _with_merged(chart: Chart) -> Chart:
    return replace(chart, merged=merge_chart(chart))


def unfold_calls(rules: RuleCharts, wanted: Unfolding) -> UnfoldedCalls:
    """Replace calls by what they call: the states of the called rule, with edges that read nothing to and from them.

    Args:
        rules: the charts of the grammar.
        wanted: the drawing, and the calls to replace in it; those that are not there are ignored.
    """
    base = rules.chart(wanted.rule, merges=wanted.merges)
    firsts = dict(enumerate(rules.first_states)) if wanted.rule is None else {wanted.rule: 0}
    copies: dict[tuple[CallPath, int], int] = {((), rule): first for rule, first in firsts.items()}
    inlined: list[InlinedState] = []
    too_large: dict[CallPath, None] = {}
    chart = replace(base, names=base.names or tuple(map(str, range(len(base.dfa.states)))), merged=None)
    for path in sorted(filter(None, wanted.paths), key=len):
        checkpoint()
        rule, source, target = path[-1]
        first = copies.get((path[:-1], rule))
        key = (-1, -1) if first is None else (first + source, first + target)
        for called in dict.fromkeys(chart.calls.get(key, ())):
            copy = rules.chart(called, merges=wanted.merges)
            if len(chart.dfa.states) + len(copy.dfa.states) > MOST_UNFOLDED:
                too_large[path] = None
                continue
            copies[path, called] = len(chart.dfa.states)
            chart = _with_copy(chart, key, copy, called, rules.names[called])
            inlined += (InlinedState(called, state.id, path) for state in copy.dfa.states)
    return UnfoldedCalls(chart, tuple(inlined), tuple(too_large))


def _with_copy(chart: Chart, key: EdgeKey, called: Chart, number: int, name: str) -> Chart:
    """Return a chart in which a copy of a rule replaces one of the calls of an edge."""
    by = len(chart.dfa.states)
    calls = {edge: numbers for edge, numbers in chart.calls.items() if edge != key}
    words = {edge: texts for edge, texts in chart.words.items() if edge != key}
    if others := tuple(one for one in chart.calls[key] if one != number):
        calls[key] = others
    if kept := tuple(text for text in chart.words.get(key, ()) if text != call_label(name)):
        words[key] = kept
    node_of = called.fold.node_of if called.fold is not None else {}
    start, ends = called.dfa.start or 0, [state.id for state in called.dfa.states if state.accepting]
    links = [(key[0], by + start), *((by + end, key[1]) for end in ends)]
    nodes = [(key[0], by + node_of.get(start, start)), *((by + node_of.get(end, end), key[1]) for end in ends)]
    words |= {(a + by, b + by): texts for (a, b), texts in called.words.items()}
    words |= dict.fromkeys((*links, *nodes), (EPSILON,))
    calls |= {(a + by, b + by): numbers for (a, b), numbers in called.calls.items()}

    def joined(
        own: tuple[DfaEdge, ...], more: tuple[DfaEdge, ...], characters: Collection[EdgeKey], ends: Sequence[EdgeKey]
    ) -> tuple[DfaEdge, ...]:
        stay = (
            edge
            for edge in own
            if (edge.source, edge.target) != key or edge.ranges or key in words or key in characters
        )
        added = (DfaEdge(*link, ()) for link in dict.fromkeys(ends))
        return tuple(sorted((*stay, *_shifted(more, by), *added), key=_ends_of))

    states = (*chart.dfa.states, *(DfaState(by + state.id, False, state.spans) for state in called.dfa.states))
    return replace(
        chart,
        dfa=ByteDfa(chart.dfa.start, states, joined(chart.dfa.edges, called.dfa.edges, (), links)),
        fold=_joined_folds(chart, called, by, partial(joined, ends=nodes)),
        names=(
            *chart.names,
            *(f"{name} {called.names[at] if called.names else at}" for at in range(len(called.dfa.states))),
        ),
        words=words,
        calls=calls,
        groups=tuple(
            (title, (*members, *range(by, len(states))) if key[0] in members else members)
            for title, members in chart.groups
        ),
    )


def _joined_folds(
    chart: Chart, called: Chart, by: int, joined: Callable[..., tuple[DfaEdge, ...]]
) -> FoldedAutomaton | None:
    """Return the fold of a chart with a copy of another one, whose states have numbers from `by`."""
    if chart.fold is None and called.fold is None:
        return None
    own, more = (one.fold or FoldedAutomaton(frozenset(), one.dfa.edges, {}) for one in (chart, called))

    def moved(found: Mapping[EdgeKey, Value]) -> dict[EdgeKey, Value]:
        return {(a + by, b + by): value for (a, b), value in found.items()}

    return FoldedAutomaton(
        own.inner | {state + by for state in more.inner},
        joined(own.edges, more.edges, {*own.characters, *own.texts}),
        {**own.characters, **moved(more.characters)},
        {**own.texts, **moved(more.texts)},
        {**own.within, **{state + by: (a + by, b + by) for state, (a, b) in more.within.items()}},
        {**own.node_of, **{state + by: node + by for state, node in more.node_of.items()}},
        {**own.counters, **{state + by: name for state, name in more.counters.items()}},
    )


def _ends_of(edge: DfaEdge) -> EdgeKey:
    return edge.source, edge.target


def _with_edges(edges: tuple[DfaEdge, ...], spans: Mapping[EdgeKey, set[Span]]) -> tuple[DfaEdge, ...]:
    """Return the edges with additional ones that no byte takes."""
    found = {(edge.source, edge.target): edge for edge in edges}
    for (source, target), more in spans.items():
        edge = found.get((source, target), DfaEdge(source, target, ()))
        found[source, target] = DfaEdge(source, target, edge.ranges, tuple(sorted({*edge.spans, *more})))
    return tuple(found[key] for key in sorted(found))


def _overview(automata: RuleAutomata, rules: tuple[Chart, ...]) -> Chart:
    states = tuple(DfaState(number, False, (rule.span,)) for number, rule in enumerate(automata.rules))
    spans: defaultdict[EdgeKey, set[Span]] = defaultdict(set)
    for number, rule in enumerate(automata.rules):
        for call in rule.calls:
            spans[number, automata.numbers[call.rule]].update(call.spans)
    return Chart(
        ByteDfa(0 if states else None, states, _with_edges((), spans)),
        names=tuple(rule.name for rule in automata.rules),
        calls={key: (key[1],) for key in spans},
        sizes=tuple(chart.size for chart in rules),
    )


def _together(charts: RuleCharts) -> Chart:
    states: list[DfaState] = []
    edges: list[DfaEdge] = []
    folded: list[DfaEdge] = []
    inner: set[int] = set()
    characters: dict[EdgeKey, tuple[tuple[int, int], ...]] = {}
    texts: dict[EdgeKey, tuple[str, ...]] = {}
    within: dict[int, EdgeKey] = {}
    names: list[str] = []
    words: dict[EdgeKey, tuple[str, ...]] = {}
    calls: dict[EdgeKey, tuple[int, ...]] = {}
    groups = []
    for name, chart, first in zip(charts.names, charts.rules, charts.first_states, strict=True):
        states += [DfaState(first + state.id, state.accepting, state.spans) for state in chart.dfa.states]
        edges += _shifted(chart.dfa.edges, first)
        folded += _shifted(chart.dfa.edges if chart.fold is None else chart.fold.edges, first)
        if chart.fold is not None:
            inner |= {first + state for state in chart.fold.inner}
            characters |= {(a + first, b + first): points for (a, b), points in chart.fold.characters.items()}
            texts |= {(a + first, b + first): labels for (a, b), labels in chart.fold.texts.items()}
            within |= {state + first: (a + first, b + first) for state, (a, b) in chart.fold.within.items()}
        names += [str(state.id) for state in chart.dfa.states]
        words |= {(a + first, b + first): labels for (a, b), labels in chart.words.items()}
        calls |= {(a + first, b + first): called for (a, b), called in chart.calls.items()}
        groups.append((name, tuple(range(first, first + len(chart.dfa.states)))))
    return Chart(
        ByteDfa(0 if states else None, tuple(states), tuple(edges)),
        FoldedAutomaton(frozenset(inner), tuple(folded), characters, texts, within) if inner else None,
        tuple(names),
        words,
        calls,
        tuple(groups),
    )


def _shifted(edges: tuple[DfaEdge, ...], by: int) -> list[DfaEdge]:
    return [DfaEdge(edge.source + by, edge.target + by, edge.ranges, edge.spans) for edge in edges]
