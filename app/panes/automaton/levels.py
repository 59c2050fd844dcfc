"""The levels of detail of one grammar: the map of its rules or regions, one of them, a part, one state's tokens."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

from app.graph.layout.types import EdgeKey
from app.graph.match.chart_texts import ChartTexts
from app.graph.match.folding import Chart
from app.graph.match.paths import PathTracker, group_edges, path_edges
from app.graph.match.regions import AutomatonRegions
from app.graph.match.rules import EPSILON, CallPath, InlinedState, RuleCharts, UnfoldedCalls, Unfolding
from app.panes.automaton.drawing import Automaton, Drawing, LabelOfEdge
from app.panes.automaton.view_state import ViewState
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_positions import RulePositions
from engine.decoding.debugging.breakpoints import StateName
from engine.source import SourceText

_NO_POSITIONS = RulePositions()


class Level(Enum):
    """The level of detail."""

    MAP = "map"  # all rules, or all regions
    ONE = "one"  # one rule or region
    PART = "part"  # the automaton over bytes: all of it, or the neighbourhood of a state
    TOKENS = "tokens"  # one state with the allowed tokens


@dataclass(frozen=True, slots=True)
class TokenTarget:
    """Tokens that begin in the same part of the grammar, and their target.

    Attributes:
        name: that of the target state; what comes next if it has none.
        states: the numbers of the target states in the automaton; none if they have none.
        examples: some of the tokens as displayed text.
        count: the number of tokens.
        mass: their total probability; None if no model was used.
        rule: the rule or the schema that reads the first byte; empty for none.
        first: the first bytes, as a label; empty if they are not known.
    """

    name: str
    states: tuple[int, ...]
    examples: tuple[str, ...]
    count: int
    mass: float | None
    rule: str = ""
    first: str = ""


@dataclass(frozen=True, slots=True)
class TokenMap:
    """The tokens of one state: a star of targets.

    Attributes:
        chart: the state as number 0, and its targets; the state itself as a target is a loop.
        targets: the groups of tokens, including those that are not drawn, by rule, first byte and target.
        total: the number of allowed tokens.
    """

    chart: Chart
    targets: tuple[TokenTarget, ...]
    total: int


class Levels:
    """One grammar's automaton with its folded forms.

    Attributes:
        rules: its rules; None if it has none that can be drawn.
        regions: the parts of its pattern; None if it is small or has rules.
        tokens: the tokens of the requested state; None before they are known.
        is_nfa: whether it is the nondeterministic automaton: its states have no names, and texts no single path.
    """

    def __init__(
        self,
        part: Chart,
        rules: RuleCharts | None,
        revision: int,
        label_of_edge: LabelOfEdge | None,
        source: SourceText | None,
        regions: AutomatonRegions | None = None,
        *,
        is_nfa: bool = False,
    ) -> None:
        self.rules = rules
        self.is_nfa = is_nfa
        self.regions = regions
        self.revision = revision
        self.tokens: TokenMap | None = None
        self._label = label_of_edge
        self._source = source
        self._part = Automaton(part, revision, label_of_edge, source)
        self._path_tracker = PathTracker(part.dfa)
        self._automata: dict[tuple[Level, Unfolding], Automaton] = {}
        self._unfolded: dict[Unfolding, UnfoldedCalls] = {}
        self._token_drawing: Automaton | None = None
        self._texts: ChartTexts | None = None

    def with_part(self, part: Chart) -> Levels:
        """Return these levels with the neighbourhood of another live state."""
        levels = Levels(part, self.rules, self.revision, self._label, self._source)
        levels._automata, levels._unfolded = self._automata, self._unfolded  # the drawings of the rules stay the same
        levels.tokens, levels._token_drawing = self.tokens, self._token_drawing
        levels._texts = self._texts
        return levels

    # --- level -------------------------------------------------------------------------------------------------------

    @property
    def part(self) -> Automaton:
        """Return the automaton over bytes: all of it, or the neighbourhood of the live state."""
        return self._part

    def can_merge(self, view: ViewState) -> bool:
        """Return whether a view shows states that merging draws as fewer nodes."""
        if self.rules is None or self.level(view) is Level.PART:
            return self._merged is not None
        number = self.rule_number(view)
        chart = self.rules.combined if number is None else self.rules.rules[number]
        return chart is not None and chart.merged is not None

    def part_as(self, view: ViewState) -> Automaton:
        """Return the part, merged if the user wants that and it makes a difference."""
        return self._merged or self._part if view.merges and not view.draws_bytes else self._part

    @cached_property
    def _merged(self) -> Automaton | None:
        merged = self._part.chart.merged
        return None if merged is None else Automaton(merged, self.revision, self._label, self._source)

    def rule_chart(self, number: int | None, view: ViewState) -> Chart:
        """Return the chart of a rule, or of all rules side by side, as a view shows it."""
        assert self.rules is not None
        return self.rules.chart(number, merges=view.merges and not view.draws_bytes)

    @property
    def is_whole(self) -> bool:
        """Return whether the part is complete, so that its states have numbers and can be reached by a text."""
        return not self._part.dfa.boundary

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the rules or of the regions."""
        found = self.rules or self.regions
        return found.names if found is not None else ()

    @property
    def noun(self) -> str:
        """Return the kind of the map's nodes."""
        return "rule" if self.rules is not None else "region" if self.regions is not None else "state"

    def level(self, view: ViewState) -> Level:
        """Return the level of a view."""
        if view.tokens is not None and self.tokens is not None:
            return Level.TOKENS
        if not self.names or view.follows or view.centre is not None:
            return Level.PART
        if self.rule_number(view) is not None:
            return Level.ONE
        return Level.PART if self.regions is not None and view.draws_all else Level.MAP

    def rule_number(self, view: ViewState) -> int | None:
        """Return the number of the open rule or region."""
        return self.names.index(view.rule) if view.rule in self.names and view.rule is not None else None

    def shows_rules(self, view: ViewState) -> bool:
        """Return whether rules are shown, all or one of them."""
        return self.rules is not None and self.level(view) in (Level.MAP, Level.ONE)

    def within(self, view: ViewState) -> frozenset[int] | None:
        """Return the states of the open region."""
        number = self.rule_number(view)
        if self.regions is None or number is None or self.level(view) is not Level.ONE or view.draws_all:
            return None
        return self.regions.states(number)

    # --- contents ----------------------------------------------------------------------------------------------------

    def automaton(self, view: ViewState) -> Automaton:
        """Return the automaton that a view shows."""
        level = self.level(view)
        if level is Level.TOKENS:
            return self._tokens_automaton()
        if level is Level.PART or (level is Level.ONE and self.regions is not None):
            return self.part_as(view)
        key = level, self._unfolding(view)
        if key not in self._automata:
            self._automata[key] = self._map_automaton(view, level)
        return self._automata[key]

    def _unfolding(self, view: ViewState) -> Unfolding:
        """Return what a view unfolds, as far as it is computed."""
        wanted = self.wanted_unfolding(view)
        while wanted.paths and wanted not in self._unfolded:
            wanted = replace(wanted, paths=wanted.paths[:-1])
        return wanted

    def wanted_unfolding(self, view: ViewState) -> Unfolding:
        """Return what a view unfolds: nothing where no states of rules are drawn."""
        number = self.rule_number(view)
        has_states = self.shows_rules(view) and (number is not None or self.is_side_by_side(view))
        return Unfolding(number, view.unfolded if has_states else (), view.merges and not view.draws_bytes)

    def lacks(self, wanted: Unfolding) -> bool:
        """Return whether a drawing with unfolded calls is not computed yet."""
        return bool(wanted.paths) and wanted not in self._unfolded

    def take_unfolded(self, wanted: Unfolding, found: UnfoldedCalls) -> Unfolding:
        """Store a drawing with unfolded calls; return what is unfolded in it."""
        unfolded = replace(wanted, paths=tuple(path for path in wanted.paths if path not in found.too_large))
        self._unfolded[unfolded] = found
        return unfolded

    def draw(self, live: frozenset[int], view: ViewState) -> Drawing:
        """Return the drawing of a view."""
        drawing = self.automaton(view).draw(live, view, self.within(view))
        if self.regions is None or drawing.automaton.noun != "state":
            return drawing
        states: defaultdict[int, list[int]] = defaultdict(list)
        for state in drawing.diagram.excerpt.states:
            states[self.regions.of_state[state]].append(state)
        areas = tuple((self.names[region], tuple(members)) for region, members in states.items())
        return replace(drawing, diagram=replace(drawing.diagram, areas=areas))

    def live(
        self, view: ViewState, states: frozenset[int], rule_positions: RulePositions | None
    ) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        """Return the live states of a view, and additional highlighted edges.

        Args:
            view: the view.
            states: the live states of the part.
            rule_positions: the rule positions.
        """
        level = self.level(view)
        if level is Level.TOKENS:
            return frozenset((0,)), frozenset()
        if level is Level.PART or (self.regions is not None and level is Level.ONE):
            return states, frozenset()
        if self.regions is not None:
            return self._live_regions(self.regions, states)
        return self._live_rules(view, rule_positions or _NO_POSITIONS)

    def path(self, view: ViewState, text: bytes) -> frozenset[EdgeKey]:
        """Return the edges of a view that a text has taken."""
        level = self.level(view)
        if level is Level.TOKENS or self.rules is not None or not self.is_whole or self.is_nfa:
            return frozenset()
        states = self._path_tracker.follow(text)
        if self.regions is not None and level is Level.MAP:
            return group_edges(states, self.regions.of_state)
        return path_edges(states, None if view.draws_bytes else self.part_as(view).fold)

    def candidate_path(
        self, view: ViewState, states: frozenset[int], rule_positions: RulePositions | None, token: bytes
    ) -> tuple[frozenset[EdgeKey], frozenset[int]]:
        """Return the edges of a view that a token would take, and the states that it would reach.

        Args:
            view: the view.
            states: the live states of the part.
            rule_positions: the rule positions.
            token: the token's bytes.
        """
        level = self.level(view)
        if level is Level.TOKENS or self.is_nfa or not token:
            return frozenset(), frozenset()
        if self.rules is not None and level is not Level.PART:
            return self._ahead_in_rules(view, rule_positions or _NO_POSITIONS, token)
        dfa = self._part.dfa
        paths = [path_ for state in states for path_ in [_token_path(dfa, state, token)] if path_]
        reached = frozenset(path_[-1] for path_ in paths if len(path_) == len(token) + 1)
        if self.regions is not None and level is Level.MAP:
            of_state = self.regions.of_state
            edges = frozenset(key for path_ in paths for key in group_edges(path_, of_state))
            return edges, frozenset(of_state[state] for state in reached)
        fold = None if view.draws_bytes else self.part_as(view).fold
        edges = frozenset(key for path_ in paths for key in path_edges(path_, fold))
        return edges, frozenset(fold.node_of.get(state, state) for state in reached) if fold else reached

    def searched(self, view: ViewState) -> tuple[tuple[str, Chart], ...]:
        """Return the charts to search: one for each rule with its name, or one chart without a name."""
        if self.rules is not None:
            return tuple(zip(self.rules.names, self.rules.rules, strict=True))
        return (("", self._part.chart if self.is_whole else self.automaton(view).chart),)

    def number_of(self, view: ViewState, rule: str, state: int) -> int | None:
        """Return the number of a rule's state in a view; None if it is not shown.

        Args:
            view: the view.
            rule: the name of the rule.
            state: the number of the state in its rule.
        """
        if not self.shows_rules(view) or (self.level(view) is Level.MAP and not self.is_side_by_side(view)):
            return None
        firsts, open_rules = self.rule_offsets(view)
        number = self.names.index(rule)
        return firsts[number] + state if number in open_rules else None

    def rule_at(self, view: ViewState, state: int | None, edge: EdgeKey | None, group: int | None) -> str | None:
        """Return the rule or region that an element of the drawing opens: the called one, or the one in the box.

        Args:
            view: the view.
            state: a state, if the element is one.
            edge: an edge, if the element is one.
            group: a group, if the element is one.
        """
        if self.level(view) not in (Level.MAP, Level.ONE):
            return None
        chart = self.automaton(view).chart
        if edge is not None and edge in chart.calls:
            return self.names[chart.calls[edge][0]]
        if self.level(view) is Level.ONE:
            return None
        if not chart.groups:
            return None if state is None else self.names[state]
        if state is not None:
            return next(title for title, states in chart.groups if state in states)
        return None if group is None else chart.groups[group][0]

    def states_of_rules(self, view: ViewState, names: tuple[str, ...]) -> frozenset[int]:
        """Return the states of a view that belong to some rules."""
        chart = self.automaton(view).chart
        if chart.groups:
            return frozenset(state for title, states in chart.groups if title in names for state in states)
        if self.level(view) is Level.MAP:
            return frozenset(number for number, name in enumerate(self.names) if name in names)
        return frozenset(range(len(chart.dfa.states))) if view.rule in names else frozenset()

    def state_name(self, view: ViewState, state: int) -> StateName | None:
        """Return a state of a view as breakpoints identify it: its rule, empty without one, and its number there.

        The number is -1 for a whole rule. None if the state has no persistent number.
        """
        level = self.level(view)
        if self.is_nfa:
            return None
        if self.rules is not None and level in (Level.MAP, Level.ONE):
            if level is Level.MAP and not self.is_side_by_side(view):
                # Notes may change between the levels of a new grammar and its drawing.
                return (self.names[state], -1) if state < len(self.names) else None
            found = self.rule_state(view, state)
            return None if found is None else (self.names[found[0]], found[1])
        is_of_all = level is Level.PART or (level is Level.ONE and self.regions is not None)
        return ("", state) if is_of_all and self.is_whole else None

    def rule_state(self, view: ViewState, state: int) -> tuple[int, int] | None:
        """Return a state of a view as its rule and its number there; None for a whole rule."""
        if not self.shows_rules(view):
            return 0, state
        if self.level(view) is Level.MAP and not self.is_side_by_side(view):
            return None
        if (inlined := self._inlined_at(view, state)) is not None:
            return inlined.rule, inlined.state
        firsts, open_rules = self.rule_offsets(view)
        rule = max((rule for rule in open_rules if firsts[rule] <= state), key=firsts.__getitem__)
        return rule, state - firsts[rule]

    def _inlined_at(self, view: ViewState, state: int) -> InlinedState | None:
        """Return the state of an unfolded call; None for one of the rule itself."""
        inlined = self._inlined(view)
        at = state - (len(self.automaton(view).dfa.states) - len(inlined)) if inlined else -1
        return inlined[at] if at >= 0 else None

    def _inlined(self, view: ViewState) -> tuple[InlinedState, ...]:
        """Return the states of unfolded calls, which are the last ones of the drawing."""
        found = self._unfolded.get(self._unfolding(view))
        return () if found is None else found.inlined

    def toggled_call(self, view: ViewState, state: int | None, edge: EdgeKey | None) -> tuple[CallPath, ...] | None:
        """Return the unfolded calls once that of an edge is unfolded, or that of a state folded; None for neither.

        Args:
            view: the view.
            state: a state, if the element is one.
            edge: an edge, if the element is one.
        """
        if not self.shows_rules(view) or self.automaton(view).noun != "state":
            return None
        if edge is not None and edge in self.automaton(view).chart.calls:
            ends = [self.rule_state(view, end) for end in edge]
            inlined = self._inlined_at(view, edge[0])
            if ends[0] is None or ends[1] is None or ends[0][0] != ends[1][0]:
                return None
            path = *(() if inlined is None else inlined.path), (*ends[0], ends[1][1])
            return (*view.unfolded, path)
        found = [self._inlined_at(view, one) for one in ((state,) if state is not None else edge or ())]
        folded = next((one.path for one in found if one is not None), None)
        if folded is None:
            return None
        return tuple(path for path in view.unfolded if path[: len(folded)] != folded)

    def shown_state(self, view: ViewState, name: StateName) -> int | None:
        """Return the number of a state or a rule in a view; None if the view does not have it."""
        rule, state = name
        if self.is_nfa or rule not in ("", *self.names):
            return None
        if rule and state >= 0:
            return self.number_of(view, rule, state)
        number = self.names.index(rule) if rule else state
        is_known = number < len(self.automaton(view).dfa.states)
        return number if is_known and self.state_name(view, number) == name else None

    # --- texts -------------------------------------------------------------------------------------------------------

    @property
    def texts(self) -> ChartTexts:
        """Return the shortest texts: of the rules, or of the complete automaton."""
        if self._texts is None:
            self._texts = ChartTexts((self._part.chart,) if self.rules is None else self.rules.rules)
        return self._texts

    @property
    def source(self) -> SourceText | None:
        """Return the grammar's text."""
        return self._source

    def steps_to(self, name: StateName) -> tuple[bytes | int, ...] | None:
        """Return a shortest path from the start of a state's rule, as bytes and numbers of rules; None if unknown."""
        node = self._node(name)
        return None if node is None else self.texts.steps_to(*node)

    def text_to(self, name: StateName) -> bytes | None:
        """Return a shortest text that leads to a state; None if there is none or it is unknown."""
        node = self._node(name)
        return None if node is None else self.texts.text_to(*node)

    def text_through(self, name: StateName) -> bytes | None:
        """Return a text of the grammar that passes a state; None if there is none or it is unknown."""
        node = self._node(name)
        return None if node is None else self.texts.text_through(*node)

    def edge_text(self, view: ViewState, key: EdgeKey, *, is_folded: bool) -> bytes | None:
        """Return a shortest text of a drawn edge; None if there is none, or if it is no edge between states.

        Args:
            view: the view.
            key: the edge.
            is_folded: whether characters are drawn instead of bytes.
        """
        source, target = (self.state_name(view, state) for state in key)
        if source is None or target is None or source[1] < 0:
            return None
        first, last = self._node(source), self._node(target)
        is_link = EPSILON in self.automaton(view).chart.words.get(key, ())
        if first is None or last is None or is_link:
            return None
        fold = self.part_as(view).fold if self.rules is None else self.rule_chart(first[0], view).fold
        inner = fold.inner if fold is not None and is_folded else frozenset()
        text = self.texts.edge_text(first[0], (first[1], last[1]), inner)
        is_exact = self.rules is not None or text is None or self._part.dfa.run(text, first[1]) == last[1]
        return text if is_exact else None

    def _node(self, name: StateName) -> tuple[int, int] | None:
        """Return a state as `texts` identifies it; None if it has no number there."""
        rule, state = name
        if self.is_nfa:
            return None
        if not rule:
            return (0, state) if self.rules is None and self.is_whole else None
        return (self.names.index(rule), max(0, state)) if self.rules is not None and rule in self.names else None

    # --- parts -------------------------------------------------------------------------------------------------------

    def set_tokens(self, found: TokenMap | None) -> None:
        """Set the tokens of a state, or clear them."""
        self.tokens, self._token_drawing = found, None

    def _tokens_automaton(self) -> Automaton:
        assert self.tokens is not None
        if self._token_drawing is None:
            chart = self.tokens.chart
            self._token_drawing = Automaton(chart, self.revision, None, self._source, noun="target", tells_reads=False)
        return self._token_drawing

    def is_side_by_side(self, view: ViewState) -> bool:
        """Return whether a view shows the states of all rules side by side."""
        rules = self.rules
        return (
            rules is not None
            and rules.combined is not None
            and (view.draws_all or rules.opens_combined(merges=view.merges))
        )

    def _map_automaton(self, view: ViewState, level: Level) -> Automaton:
        number = self.rule_number(view)
        if self.rules is None:
            assert self.regions is not None
            return Automaton(self.regions.chart, self.revision, self._label, self._source, noun="region")
        if (level is Level.ONE and number is not None) or self.is_side_by_side(view):
            found = self._unfolded.get(self._unfolding(view))
            return self._rule_automaton(self.rule_chart(number, view) if found is None else found.chart, "state")
        return self._rule_automaton(self.rules.overview, "rule")

    def _rule_automaton(self, chart: Chart, noun: str) -> Automaton:
        assert self.rules is not None
        # Rules with notes were generated from a schema: the span of their states is that of the rule.
        tells_reads = not self.rules.notes
        return Automaton(chart, self.revision, self._label, self._source, noun=noun, tells_reads=tells_reads)

    def _live_regions(
        self, regions: AutomatonRegions, states: frozenset[int]
    ) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        follows = self._part.surroundings(is_folded=False).following
        pairs = {(regions.of_state[state], regions.of_state[after]) for state in states for after in follows(state)}
        return frozenset(regions.of_state[state] for state in states), frozenset(pairs)

    def _live_rules(self, view: ViewState, found: RulePositions) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        calls = self.automaton(view).chart.calls
        number = self.rule_number(view)
        if number is None and not self.is_side_by_side(view):
            return frozenset(rule for rule, _ in found.reading), frozenset(
                (rule, called) for rule, _, called in found.waiting
            )
        firsts, open_rules = self.rule_offsets(view)
        fold = self.automaton(view).fold
        node_of = fold.node_of if fold is not None else {}
        calling = {(rule, state) for rule, state, _ in found.waiting}
        numbers = {place: [firsts[place[0]] + place[1]] for place in found.reading | calling if place[0] in open_rules}
        inlined = self._inlined(view)
        for number_, one in enumerate(inlined, len(self.automaton(view).dfa.states) - len(inlined)):
            if (one.rule, one.state) in found.reading | calling and _is_open(one, found):
                numbers.setdefault((one.rule, one.state), []).append(number_)
        waiting = {
            (node_of.get(state, state), called)
            for *place, called in found.waiting
            for state in numbers.get((place[0], place[1]), ())
        }
        return (
            frozenset(state for place in found.reading for state in numbers.get(place, ())),
            frozenset(key for key, called in calls.items() if any((key[0], rule) in waiting for rule in called)),
        )

    def rule_offsets(self, view: ViewState) -> tuple[tuple[int, ...], range]:
        """Return the number of each rule's first state in a view, and the range of the shown rules."""
        assert self.rules is not None
        number = self.rule_number(view)
        if number is None:
            return self.rules.first_states, range(len(self.names))
        return (0,) * len(self.names), range(number, number + 1)

    def _ahead_in_rules(
        self, view: ViewState, found: RulePositions, token: bytes
    ) -> tuple[frozenset[EdgeKey], frozenset[int]]:
        """Return the path of a token within the rules that read next: return positions are unknown here."""
        assert self.rules is not None
        if self.rule_number(view) is None and not self.is_side_by_side(view):
            return frozenset(), frozenset()
        firsts, open_rules = self.rule_offsets(view)
        edges: set[EdgeKey] = set()
        reached: set[int] = set()
        for rule, state in found.reading:
            chart = self.rule_chart(rule, view)
            path_ = _token_path(chart.dfa, state, token) if rule in open_rules else ()
            fold = None if view.draws_bytes else chart.fold
            edges.update((firsts[rule] + a, firsts[rule] + b) for a, b in path_edges(path_, fold))
            if path_ and fold is not None and path_[-1] in fold.node_of:
                reached.add(firsts[rule] + fold.node_of[path_[-1]])
            elif path_ and (fold is None or path_[-1] not in fold.inner):
                reached.add(firsts[rule] + path_[-1])
            if fold is not None:
                within = {fold.within[state] for state in path_ if state in fold.within}
                edges.update((firsts[rule] + a, firsts[rule] + b) for a, b in within)
        return frozenset(edges), frozenset(reached)


def _is_open(inlined: InlinedState, found: RulePositions) -> bool:
    """Return whether the calls around a state of an unfolded call are open."""
    called = [*(rule for rule, _, _ in inlined.path[1:]), inlined.rule]
    return all((rule, state, to) in found.waiting for (rule, state, _), to in zip(inlined.path, called, strict=True))


def _token_path(dfa: ByteDfa, state: int, token: bytes) -> tuple[int, ...]:
    """Return the states that a token passes, as far as it is legal; none if its first byte is not."""
    states = [state]
    for byte in token:
        after = dfa.step(states[-1], byte)
        if after is None:
            break
        states.append(after)
    return tuple(states) if len(states) > 1 else ()
