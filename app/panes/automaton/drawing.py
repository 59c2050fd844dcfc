"""Computes the drawing of an automaton and its texts, without widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from app.catalogue import ui_text
from app.graph.draw.diagram import Diagram, diagram_of, label_text, request_of
from app.graph.layout.types import EdgeKey, LayoutAnswer, LayoutRequest, Point
from app.graph.match.folding import Chart, FoldedAutomaton, edge_label
from app.graph.match.neighbourhood import Surroundings
from app.graph.match.paths import match_states
from app.models.states import excerpts
from app.panes.automaton.view_state import ViewState
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.source import SourceText, Span

DRAWN_WHOLE = 60
DRAWN_AT_MOST = 2_000
_FULL_LABEL = 2_000
_MOST_EDGES_LISTED = 12

LabelOfEdge = Callable[[DfaEdge], str]


class Automaton:
    """An automaton with the data to draw parts of it.

    Attributes:
        noun: what one of its states represents.
        tells_reads: whether a state's source span is what it reads; otherwise it is that of its whole rule.
    """

    def __init__(
        self,
        chart: Chart,
        revision: int,
        label_of_edge: LabelOfEdge | None,
        source: SourceText | None,
        *,
        noun: str = "state",
        tells_reads: bool = True,
    ) -> None:
        self.chart = chart
        self.dfa: ByteDfa = chart.dfa
        self.fold: FoldedAutomaton | None = chart.fold
        self.revision = revision
        self.source = source
        self.noun = noun
        self.has_precise_spans = tells_reads
        self.given_names: Mapping[int, str] = {}  # by the user
        self._label_of_edge: LabelOfEdge = label_of_edge or (lambda edge: edge_label(edge.ranges, (), _FULL_LABEL))

    @property
    def shown_noun(self) -> str:
        """Return the word for one of its nodes in texts: the targets of tokens are states."""
        return "state" if self.noun == "target" else self.noun

    def label(self, edge: DfaEdge) -> str:
        """Return the label of an edge: bytes, then calls and tokens, on one line each."""
        return self._edge_label(edge, self._label_of_edge)

    def name(self, state: int) -> str:
        """Return the name of a state; in a drawing of several rules, with its rule."""
        if state in self.given_names:
            return self.given_names[state]
        group = next((title for title, states in self.chart.groups if state in states), "")
        name = self.chart.names[state] if self.chart.names else str(state)
        return f"{group} {name}".strip()

    def _edge_label(self, edge: DfaEdge, label: LabelOfEdge, texts: tuple[str, ...] = ()) -> str:
        key = edge.source, edge.target
        has_bytes = edge.ranges or (self.fold is not None and key in self.fold.characters)
        return "\n".join([*([label(edge)] if has_bytes else []), *texts, *self.chart.words.get(key, ())])

    @cached_property
    def _bytes(self) -> Surroundings:
        return Surroundings(self.dfa)

    @cached_property
    def _characters(self) -> Surroundings:
        return Surroundings(self.dfa, self.fold) if self.fold is not None else self._bytes

    def is_folded(self, live: frozenset[int], view: ViewState) -> bool:
        """Return whether characters and texts are folded: not while the match is inside a character."""
        if self.fold is None or view.draws_bytes:
            return False
        return live.isdisjoint(self.fold.inner - self.fold.within.keys() - self.fold.node_of.keys())

    def drawn_live(self, live: frozenset[int], view: ViewState) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        """Return the drawn live states, and the edges of texts that the match is inside of."""
        if self.fold is None or not self.is_folded(live, view):
            return live, frozenset()
        within = self.fold.within
        nodes = frozenset(self.fold.node_of.get(state, state) for state in live if state not in within)
        return nodes, frozenset(within[state] for state in live if state in within)

    def around(self, live: frozenset[int], view: ViewState) -> frozenset[int]:
        """Return the drawn live states, including the first state of a text that the match is inside of."""
        states, edges = self.drawn_live(live, view)
        return states | {source for source, _ in edges}

    def surroundings(self, *, is_folded: bool) -> Surroundings:
        """Return the drawn edges, indexed by their ends."""
        return self._characters if is_folded else self._bytes

    def size(self, *, is_folded: bool) -> tuple[int, int]:
        """Return the numbers of states and edges to draw."""
        return (self._characters if is_folded else self._bytes).size

    def leaving(self, state: int, *, is_folded: bool) -> tuple[tuple[str, int], ...]:
        """Return the label and the target of each outgoing edge of a state."""
        is_inner = self.fold is not None and state in self.fold.inner and state not in self.fold.node_of
        surroundings = self._characters if is_folded and not is_inner else self._bytes
        write = self._label(is_folded=is_folded and not is_inner)
        return tuple((write(edge), edge.target) for edge in surroundings.leaving(state))

    def draw(self, live: frozenset[int], view: ViewState, within: frozenset[int] | None = None) -> Drawing:
        """Return the drawing for a view.

        Args:
            live: the live states.
            view: the view that the user chose.
            within: the states of the open region.
        """
        is_folded = self.is_folded(live, view)
        surroundings = self.surroundings(is_folded=is_folded)
        is_whole = view.draws_all or (within is None and surroundings.size[0] <= DRAWN_WHOLE)
        centres = [view.centre] if view.centre is not None else sorted(self.around(live, view))
        if is_whole:
            excerpt = surroundings.whole()
        elif within is not None:
            excerpt = surroundings.within(within, centres, DRAWN_WHOLE, view.opened)
        else:
            excerpt = surroundings.around(centres, limit=DRAWN_WHOLE, opened=view.opened)
        diagram = diagram_of(
            excerpt,
            start=self.dfa.start,
            accepting=frozenset(state for state in excerpt.states if self.dfa.states[state].accepting),
            label_of_edge=self._label(is_folded=is_folded),
            names=self._node_texts if is_folded or not self.counters else self.chart.names,
            calls=self.chart.calls,
            groups=self.chart.groups,
            folded=[state for state, size in enumerate(self.chart.sizes) if size > 1]
            or (self.counters.keys() if is_folded else ()),
        )
        if given := {state: name for state, name in self.given_names.items() if state in excerpt.states}:
            diagram = replace(diagram, names={**diagram.names, **given})
        request = request_of(diagram, self.revision)
        if view.method or view.downwards:
            request = replace(request, method=view.method, downwards=view.downwards)
        return Drawing(self, diagram, request, is_folded, is_whole, within)

    @property
    def counters(self) -> Mapping[int, str]:
        """Return the names of the counters, by the state that is drawn for each."""
        return self.fold.counters if self.fold is not None else {}

    def node(self, state: int, *, is_folded: bool) -> int:
        """Return the state that is drawn for a state: for a count that of its counter, in a text its first one."""
        if self.fold is None or not is_folded:
            return state
        within = self.fold.within.get(state)
        return self.fold.node_of.get(state, state) if within is None else within[0]

    @cached_property
    def _node_texts(self) -> tuple[str, ...]:
        """Return the texts of the states, with a count for nodes that represent several states."""
        chart = self.chart
        if self.fold is not None and self.fold.counters:
            others = Counter(self.fold.node_of.values())
            names = dict(enumerate(chart.names or map(str, range(len(self.dfa.states)))))
            for state, name in self.fold.counters.items():
                names[state] = f"{name}\n{ui_text('common.count.states', count=1 + others[state])}"
            return tuple(names.values())
        if not chart.sizes:
            return chart.names
        sizes = zip(chart.names, chart.sizes, strict=True)
        return tuple(
            f"{name}\n{ui_text('common.count.states', count=size)}" if size > 1 else name for name, size in sizes
        )

    def _label(self, *, is_folded: bool) -> LabelOfEdge:
        if not is_folded or self.fold is None:
            return self.label
        folded = self.fold

        def label_of_characters(edge: DfaEdge) -> str:
            is_plain = (edge.source, edge.target) not in folded.characters
            return self._label_of_edge(edge) if is_plain else folded.label(edge, _FULL_LABEL)

        return lambda edge: self._edge_label(
            edge, label_of_characters, folded.texts.get((edge.source, edge.target), ())
        )


@dataclass(frozen=True, slots=True)
class Drawing:
    """A diagram of an automaton, with the layout request for it."""

    automaton: Automaton
    diagram: Diagram
    request: LayoutRequest
    is_folded: bool
    is_whole: bool
    within: frozenset[int] | None = None

    def is_answered_by(self, answer: LayoutAnswer) -> bool:
        """Return whether an answer belongs to this drawing: there are several for one revision."""
        return (
            answer.revision == self.request.revision
            and answer.positions.keys() == {node for node, _, _ in self.request.nodes}
            and answer.curves.keys() == {(source, target) for source, target, _, _ in self.request.edges}
        )

    def has_shape_of(self, other: Drawing) -> bool:
        """Return whether two drawings need the same layout."""
        return replace(self.request, revision=other.request.revision) == other.request

    def known_positions(self, before: Drawing, centres: Mapping[int, Point]) -> dict[int, Point]:
        """Return the positions of this drawing's nodes in an earlier one: rules match by name, states by path.

        If too few states match, their numbers are used: the drawing as a whole keeps its position.
        """
        if not self.automaton.chart.sizes or not before.automaton.chart.sizes:
            same = match_states(before.automaton.dfa, self.automaton.dfa)
            known = {new: centres[old] for new, old in same.items() if old in centres}
            return known if 2 * len(known) >= len(self.diagram.excerpt.states) else dict(centres)
        positions = {_name_of(text): centres[node] for node, text in before.diagram.names.items() if node in centres}
        names = {node: _name_of(text) for node, text in self.diagram.names.items()}
        return {node: positions[name] for node, name in names.items() if name in positions}

    def fits_view(self, live: frozenset[int], view: ViewState) -> bool:
        """Return whether the drawing fits the view and has all live states with their targets."""
        if self.automaton.is_folded(live, view) != self.is_folded:
            return False
        if self.is_whole or view.centre is not None:
            return True
        if self.within is not None:
            live &= self.within  # if the match is elsewhere, the open region stays
        drawn = set(self.diagram.excerpt.states)
        # States that the pane does not have cannot be drawn.
        rim = self.diagram.excerpt.hidden.keys() - self.automaton.dfa.boundary
        around = self.automaton.around(live, view)
        return around <= drawn and not around & rim

    def spans(self, what: int | EdgeKey | None) -> tuple[Span, ...]:
        """Return the source spans of a state or an edge."""
        if isinstance(what, int):
            return self.automaton.dfa.states[what].spans
        found = (edge.spans for edge in self.diagram.excerpt.edges if (edge.source, edge.target) == what)
        return next(found, ())

    def at_offset(self, offset: int) -> tuple[list[int], list[EdgeKey]]:
        """Return the states and edges whose source spans, or those of what they represent, contain an offset."""
        excerpt, states, fold = self.diagram.excerpt, self.automaton.dfa.states, self.automaton.fold
        nodes = {state: state for state in excerpt.states}
        if fold is not None and self.is_folded:
            nodes |= {inner: node for inner, node in fold.node_of.items() if node in nodes}
        there = {node for state, node in nodes.items() if any(offset in span for span in states[state].spans)}
        states_there = [state for state in excerpt.states if state in there]
        edges = [(e.source, e.target) for e in excerpt.edges if any(offset in span for span in e.spans)]
        return states_there, edges

    def label(self, key: EdgeKey) -> str:
        """Return the full label of an edge."""
        leaving = self.automaton.leaving(key[0], is_folded=self.is_folded)
        return next((label for label, target in leaving if target == key[1]), "")

    def counts(self) -> tuple[str, ...]:
        """Return how much is drawn of how much: in full, and in shorter forms for narrow panes."""
        dfa, drawn = self.automaton.dfa, len(self.diagram.excerpt.states)
        if not dfa.states:
            return (ui_text("automaton.counts.fragment.none"),)
        if dfa.boundary:
            return (ui_text("automaton.counts.fragment.part", states=_states(drawn)),)
        total, edges = self.automaton.size(is_folded=self.is_folded)
        noun, sizes = self.automaton.shown_noun, self.automaton.chart.sizes
        states = in_full = ui_text(f"common.count.{noun}s", count=total)
        if drawn != total:
            states = in_full = ui_text("automaton.counts.fragment.some", drawn=drawn, total=states)
        if sizes:
            in_full = ui_text(
                "automaton.counts.fragment.groups",
                groups=states,
                states=_states(sum(sizes)),
            )
        elif self.is_folded:
            in_full = ui_text("window.status.states_over_bytes", states=states, total=len(dfa.states))
        edge_count = ui_text("common.count.calls" if noun == "rule" else "common.count.edges", count=edges)
        return f"{in_full} · {edge_count}", in_full if sizes else f"{states} · {edge_count}", states

    def details(self, state: int, *, is_live: bool) -> str:
        """Return one line about a state."""
        return "  ·  ".join(self.facts(state, is_live=is_live))

    def facts(self, state: int, *, is_live: bool) -> list[str]:
        """Return what there is to say about a state: its name, what it is, what it reads, where it leads."""
        automaton = self.automaton
        parts = [ui_text(f"automaton.details.{automaton.shown_noun}", name=automaton.name(state))]
        if is_live:
            parts.append(ui_text("automaton.states.mark.here"))
        if automaton.dfa.states[state].accepting:
            parts.append(ui_text("automaton.states.mark.accepts"))
        leaving = automaton.leaving(state, is_folded=self.is_folded)[:_MOST_EDGES_LISTED]
        if automaton.chart.sizes:
            parts.append(_states(automaton.chart.sizes[state]))
        if automaton.noun == "rule":
            called = ", ".join(automaton.name(target) for _, target in leaving)
            calls = ui_text("automaton.details.fragment.calls", rules=called)
            return [*parts, calls if called else ui_text("automaton.details.fragment.no_calls")]
        reads = excerpts(automaton.dfa.states[state].spans, automaton.source)
        if reads and automaton.has_precise_spans:
            has_text = automaton.source is not None
            parts.append(
                ui_text("automaton.details.fragment.reads", texts=reads)
                if has_text
                else ui_text("automaton.details.fragment.at", offsets=reads)
            )
        name_of_state = automaton.name
        transitions = (
            (" ".join(map(label_text, label.split("\n"))), name_of_state(target)) for label, target in leaving
        )
        listed = ", ".join(f"{label} → {target}".strip() for label, target in transitions)
        return [*parts, listed or ui_text("automaton.details.fragment.no_transitions")]


def _states(number: int) -> str:
    return ui_text("common.count.states", count=number)


def _name_of(text: str) -> str:
    """Return the name on a card, without the line with the number of its states."""
    return text.partition("\n")[0]
