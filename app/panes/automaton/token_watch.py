"""Requests the tokens that the automaton pane shows, and handles the answers.

There are two requests: at the live state the number of tokens by first byte, shown as badges of the outgoing edges; and
for the state in the token view, the targets of its tokens. There are no requests during a run, whose steps have
priority.
"""

from __future__ import annotations

from collections.abc import Callable

from app.graph.layout.types import EdgeKey
from app.graph.match.paths import shortest_text
from app.panes.automaton.drawing import Drawing
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.tokens import short_token_count, token_map
from app.panes.automaton.view_state import LIVE_STATE, ViewState
from app.workers.decode_messages import TokensAnswer, TokensRequest


class TokenWatch:
    """Sends token requests, and keeps the last answer about the live state.

    Args:
        ask: sends a request.
    """

    def __init__(self, ask: Callable[[TokensRequest], None]) -> None:
        self._request = ask
        self._requested: tuple[TokensRequest, bytes, object] | None = None
        self._context: object = None
        self._live_answer: TokensAnswer | None = None
        self.is_running = False

    def forget(self) -> None:
        """Drop everything, since there is another grammar, or none."""
        self._requested = self._live_answer = None

    def set_context(self, context: object) -> bool:
        """Set what tokens depend on besides the text, such as the model; return whether it changed."""
        is_changed, self._context = context != self._context, context
        return is_changed

    def update(self, levels: Levels, view: ViewState, output: bytes, *, is_live: bool) -> None:
        """Request the tokens for the current view, unless they were requested already.

        Args:
            levels: the automaton.
            view: the current view.
            output: the text so far.
            is_live: whether there is a live state.
        """
        if self.is_running:
            return
        request: TokensRequest | None = None
        if view.tokens is not None and view.tokens != LIVE_STATE:
            text = shortest_text(levels.part.dfa, view.tokens)
            request = None if text is None else TokensRequest(levels.revision, text, grouped=True)
        elif is_live:
            request = TokensRequest(levels.revision, None, grouped=view.tokens == LIVE_STATE)
        if request is not None and (request, output, self._context) != self._requested:
            self._requested = request, output, self._context
            self._request(request)

    def handle_answer(self, answer: TokensAnswer, levels: Levels, view: ViewState, live: frozenset[int]) -> bool:
        """Handle an answer; return whether it changed the token view.

        Args:
            answer: the answer.
            levels: receives the tokens of a state.
            view: the current view.
            live: the live states.
        """
        if self._requested is None or answer.request != self._requested[0]:
            return False
        if answer.request.output is None:
            self._live_answer = answer if answer.counts else None
        if not answer.request.grouped or view.tokens is None:
            return False
        is_numbered = levels.is_whole and levels.rules is None
        state = view.tokens if view.tokens != LIVE_STATE else next(iter(live), None) if len(live) == 1 else None
        name = str(state) if is_numbered and state is not None else "here"
        levels.set_tokens(
            token_map(answer, levels.part.dfa if is_numbered else None, state if is_numbered else None, name)
        )
        return True

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
        found = self._live_answer
        if found is None or levels.level(view) is Level.TOKENS or drawn.automaton.noun != "state":
            return {}
        fold = drawn.automaton.fold if drawn.is_folded else None
        badges = {}
        for edge in drawn.diagram.excerpt.edges:
            key = edge.source, edge.target
            is_plain = fold is None or not (key in fold.characters or key in fold.texts)
            if edge.source in live and edge.ranges and is_plain:
                taken = [byte for first, last in edge.ranges for byte in range(first, last + 1)]
                mass = sum(found.masses[byte] for byte in taken) if found.masses else None
                badges[key] = short_token_count(sum(found.counts[byte] for byte in taken), mass)
        return badges
