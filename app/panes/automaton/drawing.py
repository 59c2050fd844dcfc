"""Which drawing of an automaton is wanted, and what it says: all but the widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from app.graph.chart import Chart
from app.graph.draw.diagram import Diagram, diagram_of, request_of, written
from app.graph.layout.types import EdgeKey, LayoutAnswer, LayoutRequest, Point
from app.graph.match.folding import FoldedEdge
from app.graph.match.neighbourhood import Surroundings
from app.graph.match.state_matching import match_states
from app.models.states import excerpts
from app.panes.automaton.view_state import ViewState
from engine.automata.dfa.dfa import ByteDfa, DfaEdge
from engine.automata.labels import label as label_of_bytes
from engine.source import SourceText, Span

DRAWN_WHOLE = 60
DRAWN_AT_MOST = 2_000
_FULL_LABEL = 2_000
_EDGES_TOLD = 12

LabelOfEdge = Callable[[DfaEdge], str]


class Automaton:
    """An automaton as it was handed over, with what is needed to draw parts of it.

    Attributes:
        noun: what one of its states stands for.
        tells_reads: whether a state's place in the source is what it reads; else it is that of its whole rule.
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
        self.fold: FoldedEdge | None = chart.fold
        self.revision = revision
        self.source = source
        self.noun = noun
        self.tells_reads = tells_reads
        self._label_of_edge: LabelOfEdge = label_of_edge or (lambda edge: label_of_bytes(edge.ranges, _FULL_LABEL))

    def label(self, edge: DfaEdge) -> str:
        """What takes an edge: bytes, then calls and tokens, on a line each."""
        return self._said(edge, self._label_of_edge)

    def name(self, state: int) -> str:
        """How a state is called: in a drawing of several rules, with its rule."""
        group = next((title for title, states in self.chart.groups if state in states), "")
        name = self.chart.names[state] if self.chart.names else str(state)
        return f"{group} {name}".strip()

    def _said(self, edge: DfaEdge, label: LabelOfEdge, texts: tuple[str, ...] = ()) -> str:
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
        """Whether what can be folded is: not while the match stands within a character."""
        if self.fold is None or view.draws_bytes:
            return False
        return not any(state in self.fold.inner and state not in self.fold.within for state in live)

    def seen(self, live: frozenset[int], view: ViewState) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        """The states that are drawn where the match stands, and the edges within whose texts it does."""
        if self.fold is None or not self.is_folded(live, view):
            return live, frozenset()
        within = self.fold.within
        return live - within.keys(), frozenset(within[state] for state in live if state in within)

    def around(self, live: frozenset[int], view: ViewState) -> frozenset[int]:
        """The states that are drawn where the match stands, or where the text begins within which it does."""
        states, edges = self.seen(live, view)
        return states | {source for source, _ in edges}

    def surroundings(self, *, is_folded: bool) -> Surroundings:
        """The edges by their ends, as they are drawn."""
        return self._characters if is_folded else self._bytes

    def size(self, *, is_folded: bool) -> tuple[int, int]:
        """How many states and edges there are to draw."""
        return (self._characters if is_folded else self._bytes).size

    def leaving(self, state: int, *, is_folded: bool) -> tuple[tuple[str, int], ...]:
        """The label and the target of each edge that leaves a state."""
        is_inner = self.fold is not None and state in self.fold.inner
        surroundings = self._characters if is_folded and not is_inner else self._bytes
        write = self._label(is_folded=is_folded and not is_inner)
        return tuple((write(edge), edge.target) for edge in surroundings.leaving(state))

    def draw(self, live: frozenset[int], view: ViewState, within: frozenset[int] | None = None) -> Drawing:
        """The drawing that shows where the match stands, as the reader wants it.

        Args:
            live: where the match stands.
            view: what the reader wants to see.
            within: the states of the region that is open.
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
        picture = diagram_of(
            excerpt,
            start=self.dfa.start,
            accepting=frozenset(state for state in excerpt.states if self.dfa.states[state].accepting),
            label_of_edge=self._label(is_folded=is_folded),
            names=self._captions,
            calls=self.chart.calls,
            groups=self.chart.groups,
            folded=[state for state, size in enumerate(self.chart.sizes) if size > 1],
        )
        request = request_of(picture, self.revision)
        if view.method or view.downwards:
            request = replace(request, method=view.method, downwards=view.downwards)
        return Drawing(self, picture, request, is_folded, is_whole, within)

    @cached_property
    def _captions(self) -> tuple[str, ...]:
        """What is written in the states: where one stands for many, how many."""
        chart = self.chart
        if not chart.sizes:
            return chart.names
        sizes = zip(chart.names, chart.sizes, strict=True)
        return tuple(f"{name}\n{size:,} states" if size > 1 else name for name, size in sizes)

    def _label(self, *, is_folded: bool) -> LabelOfEdge:
        if not is_folded or self.fold is None:
            return self.label
        folded = self.fold

        def label_of_characters(edge: DfaEdge) -> str:
            is_plain = (edge.source, edge.target) not in folded.characters
            return self._label_of_edge(edge) if is_plain else folded.label(edge, _FULL_LABEL)

        return lambda edge: self._said(edge, label_of_characters, folded.texts.get((edge.source, edge.target), ()))


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of an automaton, and the layout that it waits for or has."""

    automaton: Automaton
    picture: Diagram
    request: LayoutRequest
    is_folded: bool
    is_whole: bool
    within: frozenset[int] | None = None

    def is_answered_by(self, answer: LayoutAnswer) -> bool:
        """Whether an answer is the one that this drawing waits for: there are several to one revision."""
        return (
            answer.revision == self.request.revision
            and answer.positions.keys() == {node for node, _, _ in self.request.nodes}
            and answer.curves.keys() == {(source, target) for source, target, _, _ in self.request.edges}
        )

    def has_shape_of(self, other: Drawing) -> bool:
        """Whether both need the same layout."""
        return replace(self.request, revision=other.request.revision) == other.request

    def known_from(self, before: Drawing, centres: Mapping[int, Point]) -> dict[int, Point]:
        """Where what is drawn here stood in an earlier drawing: rules by their names, states by the way there.

        Where too few states are joined, by their numbers: the drawing as a whole stays about where it was.
        """
        if not self.picture.folded or not before.picture.folded:
            same = match_states(before.automaton.dfa, self.automaton.dfa)
            known = {new: centres[old] for new, old in same.items() if old in centres}
            return known if 2 * len(known) >= len(self.picture.excerpt.states) else dict(centres)
        stood = {_name_of(text): centres[node] for node, text in before.picture.names.items() if node in centres}
        names = {node: _name_of(text) for node, text in self.picture.names.items()}
        return {node: stood[name] for node, name in names.items() if name in stood}

    def shows(self, live: frozenset[int], view: ViewState) -> bool:
        """Whether all that is live is drawn, with all that may come next, and as the reader wants it."""
        if self.automaton.is_folded(live, view) != self.is_folded:
            return False
        if self.is_whole or view.centre is not None:
            return True
        if self.within is not None:
            live &= self.within  # where the match is elsewhere, the region that is open stays as it is
        drawn = set(self.picture.excerpt.states)
        # What the pane was not handed, no drawing can show.
        rim = self.picture.excerpt.hidden.keys() - self.automaton.dfa.boundary
        around = self.automaton.around(live, view)
        return around <= drawn and not around & rim

    def spans(self, what: int | EdgeKey | None) -> tuple[Span, ...]:
        """Where a state or an edge stems from."""
        if isinstance(what, int):
            return self.automaton.dfa.states[what].spans
        found = (edge.spans for edge in self.picture.excerpt.edges if (edge.source, edge.target) == what)
        return next(found, ())

    def at_offset(self, offset: int) -> tuple[list[int], list[EdgeKey]]:
        """The states and edges that stem from a place in the source."""
        excerpt, states = self.picture.excerpt, self.automaton.dfa.states
        lit = [state for state in excerpt.states if any(offset in span for span in states[state].spans)]
        edges = [(e.source, e.target) for e in excerpt.edges if any(offset in span for span in e.spans)]
        return lit, edges

    def label(self, key: EdgeKey) -> str:
        """What takes an edge, in full."""
        leaving = self.automaton.leaving(key[0], is_folded=self.is_folded)
        return next((label for label, target in leaving if target == key[1]), "")

    def counts(self) -> tuple[str, ...]:
        """How much is drawn of how much: in full, and with less and less of it where there is no room."""
        dfa, drawn = self.automaton.dfa, len(self.picture.excerpt.states)
        if not dfa.states:
            return ("empty: no text matches",)
        if dfa.boundary:
            return (f"{drawn:,} states, a part",)
        total, edges = self.automaton.size(is_folded=self.is_folded)
        noun, sizes = self.automaton.noun, self.automaton.chart.sizes
        states = _plural(total, noun) if drawn == total else f"{drawn:,} of {total:,} {noun}s"
        if sizes:
            in_full = f"{states} of {sum(sizes):,} states"
        else:
            in_full = f"{states} ({len(dfa.states):,} over bytes)" if self.is_folded else states
        told = _plural(edges, "call" if noun == "rule" else "edge")
        return f"{in_full} · {told}", in_full if sizes else f"{states} · {told}", states

    def details(self, state: int, *, is_live: bool) -> str:
        """One line about a state."""
        automaton = self.automaton
        parts = [f"{automaton.noun.capitalize()} {automaton.name(state)}"]
        if is_live:
            parts.append("● here")
        if automaton.dfa.states[state].accepting:
            parts.append("◎ accepts")
        leaving = automaton.leaving(state, is_folded=self.is_folded)[:_EDGES_TOLD]
        if automaton.chart.sizes:
            parts.append(_plural(automaton.chart.sizes[state], "state"))
        if automaton.noun == "rule":
            called = ", ".join(automaton.name(target) for _, target in leaving)
            return "  ·  ".join([*parts, f"calls {called}" if called else "calls no rule"])
        reads = excerpts(automaton.dfa.states[state].spans, automaton.source)
        if reads and automaton.tells_reads:
            parts.append(f"reads {reads}" if automaton.source is not None else f"stands at {reads}")
        to = automaton.name
        ways = ((" ".join(map(written, label.split("\n"))), to(target)) for label, target in leaving)
        parts.append(", ".join(f"{label} → {target}".strip() for label, target in ways) or "no way on")
        return "  ·  ".join(parts)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _name_of(text: str) -> str:
    """The name on a card, without the line that counts its states."""
    return text.partition("\n")[0]
