"""The heat of a drawing: how many texts use its states and edges, and what was lost there.

A drawn edge may represent several ones: the bytes of a character, a text, calls and bytes between the same two states,
all edges from one rule or region to another. A text uses it if it takes one of them from end to end, so what ends
within it is not counted; a state is used if an edge that touches it is. The numbers are exact while it is known which
texts use which edge, except where characters share inner states, so that a path of two texts looks like that of one:
there they are upper bounds. With too many texts, they are lower bounds.

What was lost at a step is that of the state before it and of the edge that it took. It is in no edge where several are
possible, nor in a state if the token began inside a character that several states read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeVar

from app.catalogue import ui_text
from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedAutomaton
from app.graph.match.regions import AutomatonRegions
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.view_state import ViewState
from engine.diagnosis.test_strings.values import TEXT_END, Coverage, LostMass
from engine.diagnosis.test_strings.values import EdgeKey as CoveredEdge

Key = TypeVar("Key", int, EdgeKey)


@dataclass(frozen=True, slots=True)
class Use:
    """How many texts use something.

    Attributes:
        least, most: bounds, which are equal if it is known.
        users: the texts that may use it, as bits; None if unknown.
    """

    least: int
    most: int
    users: int | None = None


def use_text(use: Use, total: int) -> str:
    """Return how many of all texts use something."""
    texts = ui_text("automaton.coverage.fragment.texts", count=total)
    if use.least == use.most:
        return ui_text("automaton.coverage.fragment.used", count=use.least, texts=texts)
    if use.least == 0:
        return ui_text("automaton.coverage.fragment.used_at_most", count=use.most, texts=texts)
    return ui_text("automaton.coverage.fragment.used_at_least", count=use.least, texts=texts)


class _Tally:
    """Counts the texts of a coverage."""

    def __init__(self, coverage: Coverage) -> None:
        self._total = coverage.followed
        of_weight: defaultdict[int, int] = defaultdict(int)
        for number, weight in enumerate(coverage.weights):
            of_weight[weight] |= 1 << number
        self._of_weight = dict(of_weight)

    def use(self, count: int, users: int | None) -> Use:
        """Return what so many texts use."""
        return Use(count, count, users if self._of_weight else None)

    def either(self, uses: Iterable[Use]) -> Use:
        """Return what a text uses if it uses one of several; there is one at least."""
        listed = list(uses)
        if len(listed) == 1:
            return listed[0]
        users = [one.users for one in listed]
        if any(one is None for one in users):
            return Use(max(one.least for one in listed), min(self._total, sum(one.most for one in listed)))
        both = reduce(int.__or__, (one for one in users if one is not None))
        count = self._count(both)
        is_exact = all(one.least == one.most for one in listed)
        return Use(count if is_exact else max(one.least for one in listed), count, both)

    def both(self, first: Use, second: Use) -> Use:
        """Return what a text uses if it takes two edges one after the other, where no other way leads on or in."""
        if first.users is None or second.users is None:
            return Use(min(first.least, second.least), min(first.most, second.most))
        users = first.users & second.users
        count = self._count(users)
        return Use(count, count, users)

    def _count(self, users: int) -> int:
        return sum(weight * (users & texts).bit_count() for weight, texts in self._of_weight.items())


@dataclass(frozen=True, slots=True)
class DrawnHeat:
    """The heat of the states and edges of a drawing; those that no text uses are missing.

    Attributes:
        states, edges: how many texts use each.
        lost_states: what was lost at the steps from each state.
        lost_edges: what was lost at the steps that took each edge first.
    """

    states: Mapping[int, Use]
    edges: Mapping[EdgeKey, Use]
    lost_states: Mapping[int, LostMass] = field(default_factory=dict)
    lost_edges: Mapping[EdgeKey, LostMass] = field(default_factory=dict)


def drawn_heat(levels: Levels, view: ViewState, coverage: Coverage, *, is_folded: bool) -> DrawnHeat | str:
    """Return the heat of a view, or a sentence if it is unknown.

    Args:
        levels: the automaton.
        view: the current view.
        coverage: the coverage.
        is_folded: whether characters are drawn instead of bytes.
    """
    level = levels.level(view)
    if coverage.reason:
        return ui_text("automaton.coverage.reason", reason=coverage.reason)
    if level is Level.TOKENS:
        return ui_text("automaton.coverage.tokens")
    if levels.is_nfa or view.unfolded:
        return ui_text("automaton.coverage.nfa" if levels.is_nfa else "automaton.coverage.unfolded")
    if levels.rules is not None and level is not Level.PART:
        if level is Level.MAP and not levels.is_side_by_side(view):
            return _heat_of_calls(levels.names, coverage)
        firsts, open_rules = levels.rule_offsets(view)
        folds = {rule: levels.rule_chart(rule, view).fold if is_folded else None for rule in open_rules}
        return _heat_of_rules(levels.names, folds, firsts, coverage)
    if not levels.is_whole:
        has_rules = levels.rules is not None
        return ui_text("automaton.coverage.part_of_rules" if has_rules else "automaton.coverage.part")
    uses = _transitions(coverage)
    if isinstance(uses, str):
        return uses
    lost = coverage.whole_lost if coverage.whole is not None else _of_rule(coverage.lost, 0)
    tally = _Tally(coverage)
    if levels.regions is not None and level is Level.MAP:
        return _heat_of_regions(levels.regions, uses, lost, tally)
    return _heat_of_states(uses, lost, levels.part_as(view).fold if is_folded else None, tally)


def _heat_of_calls(names: tuple[str, ...], coverage: Coverage) -> DrawnHeat | str:
    """Return the heat of whole rules, and of the calls between them."""
    if why_not := _reason_missing(names, coverage):
        return why_not
    number, tally = {name: at for at, name in enumerate(names)}, _Tally(coverage)
    calls: defaultdict[EdgeKey, list[Use]] = defaultdict(list)
    for row in coverage.edges:
        if row.covered and row.key.called:
            calls[row.key.rule, number[row.key.called]].append(tally.use(row.texts, coverage.users.get(row.key)))
    return DrawnHeat(
        {at: tally.use(row.texts, None) for at, row in enumerate(coverage.rules) if row.covered},
        {key: tally.either(uses) for key, uses in calls.items()},
        {at: row.lost for at, row in enumerate(coverage.rules) if row.lost.steps},
    )


def _heat_of_rules(
    names: tuple[str, ...], folds: Mapping[int, FoldedAutomaton | None], firsts: Sequence[int], coverage: Coverage
) -> DrawnHeat | str:
    """Return the heat of the states and edges of some rules.

    Args:
        names: of all rules.
        folds: how each of the rules is drawn, by its number.
        firsts: the number of each rule's first state in the drawing.
        coverage: the coverage.

    Returns:
        the heat, or a sentence if it is unknown.
    """
    if why_not := _reason_missing(names, coverage):
        return why_not
    tally = _Tally(coverage)
    of_rule: defaultdict[int, dict[EdgeKey, list[Use]]] = defaultdict(lambda: defaultdict(list))
    for row in coverage.edges:
        if row.covered:
            use = tally.use(row.texts, coverage.users.get(row.key))
            of_rule[row.key.rule][row.key.source, row.key.target].append(use)
    states, edges, lost_states, lost_edges = {}, {}, {}, {}
    for rule, fold in folds.items():
        first = firsts[rule]
        uses = {key: tally.either(both) for key, both in of_rule[rule].items()}
        found = _heat_of_states(uses, _of_rule(coverage.lost, rule), fold, tally)
        states.update({first + state: use for state, use in found.states.items()})
        if coverage.rules[rule].covered:
            states[first] = tally.use(coverage.rules[rule].texts, None)  # its start, whatever follows
        edges.update({(first + a, first + b): use for (a, b), use in found.edges.items()})
        lost_states.update({first + state: lost for state, lost in found.lost_states.items()})
        lost_edges.update({(first + a, first + b): lost for (a, b), lost in found.lost_edges.items()})
    return DrawnHeat(states, edges, lost_states, lost_edges)


def _heat_of_regions(
    regions: AutomatonRegions, uses: Mapping[EdgeKey, Use], lost: Mapping[EdgeKey, LostMass], tally: _Tally
) -> DrawnHeat:
    """Return the heat of regions, and of the edges between them.

    Args:
        regions: the regions.
        uses: the transitions of the automaton.
        lost: what was lost at each.
        tally: counts the texts.
    """
    of_state = regions.of_state
    states: defaultdict[int, list[Use]] = defaultdict(list)
    edges: defaultdict[EdgeKey, list[Use]] = defaultdict(list)
    lost_states, lost_edges = dict[int, LostMass](), dict[EdgeKey, LostMass]()
    for (source, target), use in uses.items():
        a, b = of_state[source], of_state[target]
        for region in {a, b}:
            states[region].append(use)
        if a != b:
            edges[a, b].append(use)
    for (source, target), mass in lost.items():
        a = of_state[source]
        lost_states[a] = lost_states.get(a, LostMass()) + mass
        if target != TEXT_END and of_state[target] != a:
            key = a, of_state[target]
            lost_edges[key] = lost_edges.get(key, LostMass()) + mass
    return DrawnHeat(_joined(states, tally), _joined(edges, tally), lost_states, lost_edges)


def _heat_of_states(
    uses: Mapping[EdgeKey, Use], lost: Mapping[EdgeKey, LostMass], fold: FoldedAutomaton | None, tally: _Tally
) -> DrawnHeat:
    """Return the heat of the states and edges of one automaton.

    Args:
        uses: its transitions.
        lost: what was lost at each.
        fold: how it is drawn; None for each state and byte.
        tally: counts the texts.
    """
    paths = _Paths(uses, fold, tally)
    states: defaultdict[int, list[Use]] = defaultdict(list)
    for key, use in uses.items():
        for node in {paths.node(state) for state in key}:
            if node is not None:
                states[node].append(use)
    lost_states, lost_edges = dict[int, LostMass](), dict[EdgeKey, LostMass]()
    for (source, target), mass in lost.items():
        state = paths.lost_at(source)
        if state is not None:
            lost_states[state] = lost_states.get(state, LostMass()) + mass
        edge = None if target == TEXT_END else paths.drawn_edge(source, target)
        if edge is not None:
            lost_edges[edge] = lost_edges.get(edge, LostMass()) + mass
    return DrawnHeat(_joined(states, tally), paths.edges, lost_states, lost_edges)


class _Paths:
    """The paths through states that are not drawn, and the drawn edges that they make up."""

    def __init__(self, uses: Mapping[EdgeKey, Use], fold: FoldedAutomaton | None, tally: _Tally) -> None:
        self._fold, self._tally = fold, tally
        self._hidden = frozenset[int]() if fold is None else fold.inner - fold.node_of.keys()
        self._after: defaultdict[int, list[tuple[int, Use]]] = defaultdict(list)
        for (source, target), use in uses.items():
            self._after[source].append((target, use))
        self._sources: defaultdict[int, set[int]] = defaultdict(set)  # of hidden states
        self._targets: defaultdict[int, set[int]] = defaultdict(set)
        if fold is None:
            self.edges: Mapping[EdgeKey, Use] = uses
        else:
            found = {source: self._from(source) for source in [*self._after] if source not in self._hidden}
            self.edges = self._joined_edges(found)

    def node(self, state: int) -> int | None:
        """Return the drawn state of a state; None if it is hidden."""
        if state in self._hidden:
            return None
        return state if self._fold is None else self._fold.node_of.get(state, state)

    def lost_at(self, state: int) -> int | None:
        """Return the drawn state that a step begins at; None within a text, and if there are several."""
        if state not in self._hidden:
            return self.node(state)
        if self._fold is not None and state in self._fold.within:
            return None
        sources = self._sources[state]
        return self.node(next(iter(sources))) if len(sources) == 1 else None

    def drawn_edge(self, source: int, target: int) -> EdgeKey | None:
        """Return the drawn edge of a transition; None within a counter, and if there are several."""
        if self._fold is None:
            return source, target
        sources = self._sources[source] if source in self._hidden else {source}
        targets = self._targets[target] if target in self._hidden else {target}
        if len(sources) == len(targets) == 1:
            return next(iter(self._fold.path((*sources, *targets))), None)
        within = self._fold.within
        return within.get(source, within.get(target))  # what ended within a text

    def _from(self, source: int) -> dict[int, tuple[Use, frozenset[int]]]:
        """Return the uses of the paths from a drawn state by their ends, with the hidden states on them."""
        reached: dict[int, Use] = {}
        ends: defaultdict[int, list[tuple[Use, int | None]]] = defaultdict(list)
        before: defaultdict[int, set[int]] = defaultdict(set)
        pending: list[tuple[int, Use, int | None]] = [(state, use, None) for state, use in self._after[source]]
        while pending:
            state, use, previous = pending.pop()
            if state not in self._hidden:
                ends[state].append((use, previous))
                continue
            if previous is not None:
                before[state].add(previous)
            known = reached.get(state)
            joined = use if known is None else self._tally.either((known, use))
            if joined != known:
                reached[state] = joined
                pending += ((after, self._tally.both(joined, its), state) for after, its in self._after[state])
        found = {}
        for end, arrivals in ends.items():
            on_path, todo = set[int](), [previous for _, previous in arrivals if previous is not None]
            while todo:
                state = todo.pop()
                if state not in on_path:
                    on_path.add(state)
                    todo += before[state]
            for state in on_path:
                self._targets[state].add(end)
            found[end] = self._tally.either(use for use, _ in arrivals), frozenset(on_path)
        for state in reached:
            self._sources[state].add(source)
        return found

    def _joined_edges(self, found: Mapping[int, Mapping[int, tuple[Use, frozenset[int]]]]) -> dict[EdgeKey, Use]:
        assert self._fold is not None
        edges: defaultdict[EdgeKey, list[Use]] = defaultdict(list)
        for source, ends in found.items():
            for end, (use, on_path) in ends.items():
                is_sure = all(len(self._sources[one]) == 1 or len(self._targets[one]) == 1 for one in on_path)
                if use.most:
                    known = use if is_sure else Use(0, use.most, use.users)
                    for key in self._fold.path((source, end)):
                        edges[key].append(known)
        return _joined(edges, self._tally)


def _joined(uses: Mapping[Key, list[Use]], tally: _Tally) -> dict[Key, Use]:
    return {key: tally.either(several) for key, several in uses.items()}


def _transitions(coverage: Coverage) -> dict[EdgeKey, Use] | str:
    """Return the uses of the complete automaton's transitions, or a sentence if they are unknown."""
    tally = _Tally(coverage)
    if coverage.whole is not None:
        return {key: tally.use(count, coverage.whole_users.get(key)) for key, count in coverage.whole.items()}
    if coverage.rules or not coverage.total_edges:
        return ui_text("automaton.coverage.waiting")
    if len(coverage.edges) < coverage.total_edges:
        return ui_text("automaton.coverage.too_many")
    return {
        (row.key.source, row.key.target): tally.use(row.texts, coverage.users.get(row.key))
        for row in coverage.edges
        if row.covered
    }


def _of_rule(lost: Mapping[CoveredEdge, LostMass], rule: int) -> dict[EdgeKey, LostMass]:
    return {(key.source, key.target): mass for key, mass in lost.items() if key.rule == rule}


def _reason_missing(names: tuple[str, ...], coverage: Coverage) -> str:
    if tuple(row.name for row in coverage.rules) != names:
        return ui_text("automaton.coverage.waiting")
    return ui_text("automaton.coverage.too_many") if len(coverage.edges) < coverage.total_edges else ""
