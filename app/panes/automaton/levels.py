"""What there is to show of one grammar: the map of its rules or regions, one of them, a part, one state's tokens."""

from __future__ import annotations

from enum import Enum
from functools import cached_property

from app.graph.chart import Chart
from app.graph.layout.types import EdgeKey
from app.graph.match.forced_chains import fold_runs
from app.graph.match.path import PathTracker, between, edges_of
from app.graph.match.regions import AutomatonRegions
from app.graph.rules import RuleCharts
from app.panes.automaton.coverage import CoveredParts, used_calls, used_in_rules, used_regions, used_states
from app.panes.automaton.drawing import Automaton, Drawing, LabelOfEdge
from app.panes.automaton.tokens import TokenMap
from app.panes.automaton.view_state import ViewState
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_positions import RulePositions
from engine.diagnosis.test_strings.values import Coverage
from engine.source import SourceText

_NOWHERE = RulePositions()


class Level(Enum):
    """How near one looks."""

    MAP = "map"  # all rules, or all regions
    ONE = "one"  # one rule or region
    PART = "part"  # the automaton over bytes: all of it, or the surroundings of a state
    TOKENS = "tokens"  # one state, by the tokens that may come


class Levels:
    """One grammar's automaton, and what it is folded into.

    Attributes:
        rules: its rules; None where it has none that are drawn.
        regions: the parts of its pattern; None where it is small, or has rules.
        tokens: the tokens of the state that was asked for; None before they are known.
    """

    def __init__(
        self,
        part: Chart,
        rules: RuleCharts | None,
        revision: int,
        label_of_edge: LabelOfEdge | None,
        source: SourceText | None,
        regions: AutomatonRegions | None = None,
    ) -> None:
        self.rules = rules
        self.regions = regions
        self.revision = revision
        self.tokens: TokenMap | None = None
        self._label = label_of_edge
        self._source = source
        self._part = Automaton(part, revision, label_of_edge, source)
        self._trail = PathTracker(part.dfa)
        self._made: dict[str | None, Automaton] = {}
        self._token_drawing: Automaton | None = None

    def with_part(self, part: Chart) -> Levels:
        """The same rules around another live state."""
        levels = Levels(part, self.rules, self.revision, self._label, self._source)
        levels._made = self._made  # what is drawn of the rules stays as it is
        levels.tokens, levels._token_drawing = self.tokens, self._token_drawing
        return levels

    # --- which level -------------------------------------------------------------------------------------------------

    @property
    def part(self) -> Automaton:
        """The automaton over bytes: all of it, or the surroundings of the live state."""
        return self._part

    @property
    def can_merge(self) -> bool:
        """Whether it has forced runs that are drawn as one edge each."""
        return self._merged is not None

    def part_as(self, view: ViewState) -> Automaton:
        """The part, with forced runs merged where the reader wants that and there are any."""
        return self._merged or self._part if view.merges and not view.draws_bytes else self._part

    @cached_property
    def _merged(self) -> Automaton | None:
        folded = fold_runs(self._part.dfa, self._part.fold)
        if folded is None:
            return None
        return Automaton(Chart(self._part.dfa, folded), self.revision, self._label, self._source)

    @property
    def is_whole(self) -> bool:
        """Whether the part is all of it, so that its states have numbers and texts lead to them."""
        return not self._part.dfa.boundary

    @property
    def names(self) -> tuple[str, ...]:
        """Of the rules, or of the regions."""
        found = self.rules or self.regions
        return found.names if found is not None else ()

    @property
    def noun(self) -> str:
        """What the map is of."""
        return "rule" if self.rules is not None else "region" if self.regions is not None else "state"

    def level(self, view: ViewState) -> Level:
        """How near a view looks."""
        if view.tokens is not None and self.tokens is not None:
            return Level.TOKENS
        if not self.names or view.follows or view.centre is not None:
            return Level.PART
        if self.number(view) is not None:
            return Level.ONE
        return Level.PART if self.regions is not None and view.draws_all else Level.MAP

    def number(self, view: ViewState) -> int | None:
        """The number of the rule or region that is open."""
        return self.names.index(view.rule) if view.rule in self.names and view.rule is not None else None

    def shows_rules(self, view: ViewState) -> bool:
        """Whether the rules are shown, all or one of them."""
        return self.rules is not None and self.level(view) in (Level.MAP, Level.ONE)

    def within(self, view: ViewState) -> frozenset[int] | None:
        """The states of the region that is open."""
        number = self.number(view)
        if self.regions is None or number is None or self.level(view) is not Level.ONE or view.draws_all:
            return None
        return self.regions.states(number)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def automaton(self, view: ViewState) -> Automaton:
        """What is shown."""
        level = self.level(view)
        if level is Level.TOKENS:
            return self._tokens_automaton()
        if level is Level.PART or (level is Level.ONE and self.regions is not None):
            return self.part_as(view)
        name = view.rule if level is Level.ONE else "" if self._is_side_by_side(view) else None
        if name not in self._made:
            self._made[name] = self._map_automaton(view, level)
        return self._made[name]

    def draw(self, live: frozenset[int], view: ViewState) -> Drawing:
        """The drawing of what is shown."""
        return self.automaton(view).draw(live, view, self.within(view))

    def live(
        self, view: ViewState, states: frozenset[int], places: RulePositions | None
    ) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        """The states of what is shown where the match stands, and edges that are lit besides those that leave them.

        Args:
            view: what the reader wants to see.
            states: of the part around the live state.
            places: in the rules.
        """
        level = self.level(view)
        if level is Level.TOKENS:
            return frozenset((0,)), frozenset()
        if level is Level.PART or (self.regions is not None and level is Level.ONE):
            return states, frozenset()
        if self.regions is not None:
            return self._live_regions(self.regions, states)
        return self._live_rules(view, places or _NOWHERE)

    def path(self, view: ViewState, text: bytes) -> frozenset[EdgeKey]:
        """The edges of what is shown that a text took."""
        level = self.level(view)
        if level is Level.TOKENS or self.rules is not None or not self.is_whole:
            return frozenset()
        states = self._trail.follow(text)
        if self.regions is not None and level is Level.MAP:
            return between(states, self.regions.of_state)
        return edges_of(states, None if view.draws_bytes else self.part_as(view).fold)

    def ahead(
        self, view: ViewState, states: frozenset[int], places: RulePositions | None, token: bytes
    ) -> tuple[frozenset[EdgeKey], frozenset[int]]:
        """The edges of what is shown that a token would take, and where it would end."""
        level = self.level(view)
        if level is Level.TOKENS or not token:
            return frozenset(), frozenset()
        if self.rules is not None and level is not Level.PART:
            return self._ahead_in_rules(view, places or _NOWHERE, token)
        dfa = self._part.dfa
        ways = [way for state in states for way in [_way(dfa, state, token)] if way]
        ended = frozenset(way[-1] for way in ways if len(way) == len(token) + 1)
        if self.regions is not None and level is Level.MAP:
            of_state = self.regions.of_state
            edges = frozenset(key for way in ways for key in between(way, of_state))
            return edges, frozenset(of_state[state] for state in ended)
        fold = None if view.draws_bytes else self.part_as(view).fold
        return frozenset(key for way in ways for key in edges_of(way, fold)), ended

    def used(self, view: ViewState, coverage: Coverage, *, is_folded: bool) -> CoveredParts | str:
        """What of what is shown the tests use; a sentence where that cannot be told."""
        level = self.level(view)
        if coverage.reason:
            return f"Coverage is not told: {coverage.reason}."
        if level is Level.TOKENS:
            return "Coverage is told of states and rules, and these are tokens."
        if self.rules is not None and level is not Level.PART:
            if level is Level.MAP and not self._is_side_by_side(view):
                return used_calls(self.rules.names, coverage)
            firsts, open_rules = self._numbering(view)
            return used_in_rules(self.rules, open_rules, firsts, coverage, is_folded=is_folded)
        if not self.is_whole:
            where = "Go up to the rules to see it." if self.rules is not None else "The tests list what is not used."
            return f"Coverage is not told of the surroundings of one state. {where}"
        if self.regions is not None and level is Level.MAP:
            return used_regions(self.regions, coverage)
        return used_states(self.part_as(view).fold if is_folded else None, coverage)

    def searched(self, view: ViewState) -> tuple[tuple[str, Chart], ...]:
        """Return what a search looks through: a chart for each rule with its name, else one chart without a name."""
        if self.rules is not None:
            return tuple(zip(self.rules.names, self.rules.rules, strict=True))
        return (("", self._part.chart if self.is_whole else self.automaton(view).chart),)

    def number_of(self, view: ViewState, rule: str, state: int) -> int | None:
        """Return the number that a state of a rule has in what is shown; None where it is not shown."""
        if not self.shows_rules(view) or (self.level(view) is Level.MAP and not self._is_side_by_side(view)):
            return None
        firsts, open_rules = self._numbering(view)
        number = self.names.index(rule)
        return firsts[number] + state if number in open_rules else None

    def opens(self, view: ViewState, state: int | None, edge: EdgeKey | None, group: int | None) -> str | None:
        """The rule or region that something in the drawing leads to: the one called, the one in the box."""
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

    def states_of(self, view: ViewState, names: tuple[str, ...]) -> frozenset[int]:
        """The states of what is shown that belong to some rules."""
        chart = self.automaton(view).chart
        if chart.groups:
            return frozenset(state for title, states in chart.groups if title in names for state in states)
        if self.level(view) is Level.MAP:
            return frozenset(number for number, name in enumerate(self.names) if name in names)
        return frozenset(range(len(chart.dfa.states))) if view.rule in names else frozenset()

    def state_name(self, view: ViewState, state: int) -> tuple[str, int] | None:
        """A state of what is shown as breakpoints name it: its rule, empty without one, and its number there.

        The number is -1 for a rule as a whole. None where what is shown has no lasting number.
        """
        level = self.level(view)
        if self.rules is not None and level in (Level.MAP, Level.ONE):
            if level is Level.MAP and not self._is_side_by_side(view):
                return self.names[state], -1
            firsts, open_rules = self._numbering(view)
            rule = max((rule for rule in open_rules if firsts[rule] <= state), key=firsts.__getitem__)
            return self.names[rule], state - firsts[rule]
        is_of_all = level is Level.PART or (level is Level.ONE and self.regions is not None)
        return ("", state) if is_of_all and self.is_whole else None

    # --- parts -------------------------------------------------------------------------------------------------------

    def show_tokens(self, found: TokenMap | None) -> None:
        """Take the tokens of a state up, or forget them."""
        self.tokens, self._token_drawing = found, None

    def _tokens_automaton(self) -> Automaton:
        assert self.tokens is not None
        if self._token_drawing is None:
            chart = self.tokens.chart
            self._token_drawing = Automaton(chart, self.revision, None, self._source, noun="place", tells_reads=False)
        return self._token_drawing

    def _is_side_by_side(self, view: ViewState) -> bool:
        rules = self.rules
        return rules is not None and rules.together is not None and (rules.opens_together or view.draws_all)

    def _map_automaton(self, view: ViewState, level: Level) -> Automaton:
        number = self.number(view)
        if self.rules is None:
            assert self.regions is not None
            return Automaton(self.regions.chart, self.revision, self._label, self._source, noun="region")
        if level is Level.ONE and number is not None:
            return self._of_rules(self.rules.rules[number], "state")
        if self._is_side_by_side(view) and self.rules.together is not None:
            return self._of_rules(self.rules.together, "state")
        return self._of_rules(self.rules.overview, "rule")

    def _of_rules(self, chart: Chart, noun: str) -> Automaton:
        assert self.rules is not None
        # Rules with notes are those of a schema, which nobody wrote: their states stand where the rule does.
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
        number = self.number(view)
        if number is None and not self._is_side_by_side(view):
            return frozenset(rule for rule, _ in found.reading), frozenset(
                (rule, called) for rule, _, called in found.waiting
            )
        firsts, open_rules = self._numbering(view)
        waiting = {(firsts[rule] + state, called) for rule, state, called in found.waiting if rule in open_rules}
        return (
            frozenset(firsts[rule] + state for rule, state in found.reading if rule in open_rules),
            frozenset(key for key, called in calls.items() if any((key[0], rule) in waiting for rule in called)),
        )

    def _numbering(self, view: ViewState) -> tuple[tuple[int, ...], range]:
        """The number of each rule's first state in what is shown, and which rules are."""
        assert self.rules is not None
        number = self.number(view)
        if number is None:
            return self.rules.firsts, range(len(self.names))
        return (0,) * len(self.names), range(number, number + 1)

    def _ahead_in_rules(
        self, view: ViewState, found: RulePositions, token: bytes
    ) -> tuple[frozenset[EdgeKey], frozenset[int]]:
        """As far as it goes within the rules that read next: what they return to is not known here."""
        assert self.rules is not None
        if self.number(view) is None and not self._is_side_by_side(view):
            return frozenset(), frozenset()
        firsts, open_rules = self._numbering(view)
        edges: set[EdgeKey] = set()
        ended: set[int] = set()
        for rule, state in found.reading:
            chart = self.rules.rules[rule]
            way = _way(chart.dfa, state, token) if rule in open_rules else ()
            fold = None if view.draws_bytes else chart.fold
            edges.update((firsts[rule] + a, firsts[rule] + b) for a, b in edges_of(way, fold))
            if way and (fold is None or way[-1] not in fold.inner):
                ended.add(firsts[rule] + way[-1])
            if fold is not None:
                within = {fold.within[state] for state in way if state in fold.within}
                edges.update((firsts[rule] + a, firsts[rule] + b) for a, b in within)
        return frozenset(edges), frozenset(ended)


def _way(dfa: ByteDfa, state: int, token: bytes) -> tuple[int, ...]:
    """The states that a token passes, as far as it goes; none where its first byte is refused."""
    states = [state]
    for byte in token:
        after = dfa.step(states[-1], byte)
        if after is None:
            break
        states.append(after)
    return tuple(states) if len(states) > 1 else ()
