"""The tokens that the automaton pane shows: badges of edges, and the token view of one state.

The badges show the number of tokens by first byte, which every position has. The targets of the tokens of a state are
requested for the token view alone, and not during a run, whose steps have priority.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.catalogue import ui_text
from app.display_text import percent, percent_brief
from app.graph.layout.types import EdgeKey
from app.graph.match.folding import Chart
from app.panes.automaton.drawing import Drawing
from app.panes.automaton.levels import Level, Levels, TokenMap, TokenTarget
from app.panes.automaton.view_state import LIVE_STATE, ViewState
from app.workers.requests.decode import TokensAnswer, TokensRequest, TokensTo
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.decoding.values import FirstBytes

MAX_TARGETS = 24
_EXAMPLES, _LONGEST = 4, 18
_LISTED_STATES = 3  # targets of more are a range
_LINES = 3  # groups in the label of an edge


class TokenWatch:
    """Sends the requests of the token view, and computes the badges.

    Args:
        ask: sends a request.

    Attributes:
        first_bytes: the tokens that are allowed at the live state; None if there is none.
        is_running: whether a run is in progress.
    """

    def __init__(self, ask: Callable[[TokensRequest], None]) -> None:
        self._request = ask
        self._requested: tuple[TokensRequest, bytes, object] | None = None
        self._context: object = None
        self.first_bytes: FirstBytes | None = None
        self.is_running = False

    def forget(self) -> None:
        """Drop everything, since there is another grammar, or none."""
        self._requested = self.first_bytes = None

    def set_context(self, context: object) -> bool:
        """Set what tokens depend on besides the text, such as the model; return whether it changed."""
        is_changed, self._context = context != self._context, context
        return is_changed

    def update(
        self, levels: Levels, view: ViewState, output: bytes, *, is_live: bool, known: TokensAnswer | None = None
    ) -> None:
        """Request the tokens of the token view, unless they are known or were requested already.

        Args:
            levels: the automaton.
            view: the current view.
            output: the text so far.
            is_live: whether there is a live state.
            known: the tokens that came with the output, for `handle_answer`; None if there are none.
        """
        if self.is_running or view.tokens is None:
            return
        request: TokensRequest | None = None
        if view.tokens != LIVE_STATE:
            text = levels.text_to(("", view.tokens))
            request = None if text is None else TokensRequest(levels.revision, text)
        elif is_live:
            request = TokensRequest(levels.revision)
        if request is not None and (request, output, self._context) != self._requested:
            self._requested = request, output, self._context
            if known is None or known.request != request:
                self._request(request)

    def handle_answer(self, answer: TokensAnswer, levels: Levels, view: ViewState, live: frozenset[int]) -> bool:
        """Handle an answer; return whether it changed the token view.

        Args:
            answer: the answer.
            levels: receives the tokens of a state.
            view: the current view.
            live: the live states.
        """
        if self._requested is None or answer.request != self._requested[0] or view.tokens is None:
            return False
        is_numbered = levels.is_whole and levels.rules is None
        state = view.tokens if view.tokens != LIVE_STATE else next(iter(live), None) if len(live) == 1 else None
        name = str(state) if is_numbered and state is not None else ui_text("common.fragment.here")
        levels.set_tokens(
            token_map(answer, levels.part.dfa if is_numbered else None, state if is_numbered else None, name)
        )
        return True

    def allowed_text(self) -> str:
        """Return the number of tokens that are allowed at the live state, and their mass; empty if unknown."""
        found = self.first_bytes
        if found is None:
            return ""
        masses = [mass for mass in found.masses or () if mass is not None]
        is_known = bool(found.masses) and len(masses) == len(found.masses)
        return token_count_text(sum(found.counts), sum(masses) if is_known else None)

    def badges(self, levels: Levels, view: ViewState, drawn: Drawing, live: frozenset[int]) -> dict[EdgeKey, str]:
        """Return the badges of the outgoing edges of the live states: the number of tokens, and their probability.

        A token is counted for the edge that its first byte takes. If characters share their first byte, the edge is
        unknown, and there is no badge.

        Args:
            levels: the automaton.
            view: the current view.
            drawn: the drawing.
            live: the live states.
        """
        found = self.first_bytes
        if found is None or levels.level(view) is Level.TOKENS or drawn.automaton.noun != "state":
            return {}
        fold = drawn.automaton.fold if drawn.is_folded else None
        badges = {}
        for edge in drawn.diagram.excerpt.edges:
            key = edge.source, edge.target
            is_plain = fold is None or not (key in fold.characters or key in fold.texts)
            if edge.source in live and edge.ranges and is_plain:
                taken = [byte for first, last in edge.ranges for byte in range(first, last + 1)]
                masses = [found.masses[byte] for byte in taken] if found.masses else [None]
                known = [mass for mass in masses if mass is not None]
                mass = sum(known) if len(known) == len(masses) else None
                badges[key] = short_token_count(sum(found.counts[byte] for byte in taken), mass)
        return badges


def token_map(answer: TokensAnswer, dfa: ByteDfa | None, state: int | None, centre: str) -> TokenMap:
    """Create the token view of an answer.

    Args:
        answer: the tokens.
        dfa: the automaton of the state; None if targets have no number.
        state: the state; None for no number.
        centre: its name.
    """
    groups = _merged_groups(answer.groups, dfa, state)
    own = () if state is None else (state,)
    by_target: dict[tuple[str, tuple[int, ...]], list[TokenTarget]] = {}
    for group in groups:
        by_target.setdefault((group.name, group.states), []).append(group)
    loops = [found for (_, states), found in by_target.items() if states == own != ()]
    others = [found for (_, states), found in by_target.items() if states != own or not own]
    drawn = others[:MAX_TARGETS]
    states = [DfaState(0, _accepts(dfa, own))]
    words: dict[EdgeKey, tuple[str, ...]] = {}
    for number, found in enumerate(drawn, start=1):
        states.append(DfaState(number, _accepts(dfa, found[0].states)))
        words[0, number] = _lines(found)
    names = [centre, *(found[0].name for found in drawn)]
    rest = len(others) - len(drawn)
    if rest:
        states.append(DfaState(len(states), accepting=False))
        words[0, len(states) - 1] = (ui_text("automaton.tokens.fragment.more_states", count=rest),)
        names.append("…")
    if loops:
        words[0, 0] = _lines(loops[0])
    edges = tuple(DfaEdge(*key, ()) for key in sorted(words))
    return TokenMap(Chart(ByteDfa(0, tuple(states), edges), names=tuple(names), words=words), groups, answer.total)


def token_count_text(count: int, mass: float | None) -> str:
    """Return a number of tokens and their probability: `1,204 tokens · 63%`."""
    text = ui_text("common.count.tokens", count=count)
    return text if mass is None else f"{text} · {percent(mass)}"


def short_token_count(count: int, mass: float | None) -> str:
    """Return the short form: `1,204 · 63%`."""
    return f"{count:,}" if mass is None else f"{count:,} · {percent_brief(mass)}"


def _merged_groups(groups: tuple[TokensTo, ...], dfa: ByteDfa | None, state: int | None) -> tuple[TokenTarget, ...]:
    """Merge groups of the same rule, first bytes and states of the minimal automaton; those of a rule are together."""
    found: dict[object, TokenTarget] = {}
    for group in groups:
        targets: tuple[int, ...] = ()
        if dfa is not None and state is not None:
            reached = {dfa.run(example, state) for example in group.examples}
            targets = tuple(sorted(one for one in reached if one is not None))
        name = _name_of(targets) or group.follows or ui_text("generation.zone.fragment.after", text=group.shown[0])
        key: object = (group.rule, group.first, targets) if targets else group
        before = found.get(key)
        if before is None:
            found[key] = TokenTarget(name, targets, group.shown, group.count, group.mass, group.rule, group.first)
        else:
            mass = None if group.mass is None or before.mass is None else before.mass + group.mass
            shown = (*before.examples, *group.shown)[:12]
            found[key] = replace(before, examples=shown, count=before.count + group.count, mass=mass)
    totals: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for one in found.values():
        totals[(one.rule,)] += one.mass or one.count
        totals[one.rule, one.first] += one.mass or one.count

    def order(one: TokenTarget) -> tuple[float, float, float, int]:
        return -totals[(one.rule,)], -totals[one.rule, one.first], -(one.mass or 0.0), -one.count

    return tuple(sorted(found.values(), key=order))


def _name_of(states: tuple[int, ...]) -> str:
    """Return the number of a state, or those of several; empty for none."""
    if len(states) <= _LISTED_STATES:
        return ", ".join(map(str, states))
    return ui_text("automaton.tokens.states", first=states[0], last=states[-1], count=len(states))


def _lines(groups: Sequence[TokenTarget]) -> tuple[str, ...]:
    """Return the label of an edge: for each group, where its tokens begin, and some of them; then their number."""
    lines = []
    for group in groups[:_LINES]:
        shown = [text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…" for text in group.examples[:_EXAMPLES]]
        more = "  …" if group.count > len(shown) else ""
        begin = f"{group.rule} {group.first}".strip() if more else group.rule
        lines.append((f"{begin} · " if begin else "") + "  ".join(shown) + more)
    if len(groups) > _LINES:
        lines.append("…")
    masses = [group.mass for group in groups if group.mass is not None]
    mass = sum(masses) if len(masses) == len(groups) else None
    return (*lines, token_count_text(sum(group.count for group in groups), mass))


def _accepts(dfa: ByteDfa | None, states: tuple[int, ...]) -> bool:
    return dfa is not None and bool(states) and all(dfa.states[state].accepting for state in states)
