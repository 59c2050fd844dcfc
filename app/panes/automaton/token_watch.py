"""Which tokens the pane asks for, and what it makes of the answers.

Two things are asked for: at the live state how many tokens begin with each byte,
which stands under the labels of the edges that leave it; and for the state whose
tokens are looked at, where they lead. Nothing is asked for during a run, whose
steps come first.
"""

from __future__ import annotations

from collections.abc import Callable

from app.graph.layout.types import EdgeKey
from app.graph.match.path import shortest_text
from app.panes.automaton.drawing import Drawing
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.tokens import counted_briefly, token_map
from app.panes.automaton.view_state import HERE, ViewState
from app.workers.decode_messages import TokensAnswer, TokensRequest


class TokenWatch:
    """Asks, and remembers the last answer about the live state.

    Args:
        ask: sends a request off.
    """

    def __init__(self, ask: Callable[[TokensRequest], None]) -> None:
        self._ask = ask
        self._asked: tuple[TokensRequest, bytes, object] | None = None
        self._moment: object = None
        self._here: TokensAnswer | None = None
        self.is_running = False

    def forget(self) -> None:
        """Another grammar, or none."""
        self._asked = self._here = None

    def is_news(self, moment: object) -> bool:
        """Whether it is another moment, such as one of another model: then what was asked is asked again."""
        is_news, self._moment = moment != self._moment, moment
        return is_news

    def look(self, levels: Levels, view: ViewState, output: bytes, *, is_live: bool) -> None:
        """Ask for what is to be shown now, unless it was asked for already.

        Args:
            levels: what there is to show.
            view: what the reader wants to see.
            output: the text so far.
            is_live: whether the match stands anywhere.
        """
        if self.is_running:
            return
        request: TokensRequest | None = None
        if view.tokens is not None and view.tokens != HERE:
            text = shortest_text(levels.part.dfa, view.tokens)
            request = None if text is None else TokensRequest(levels.revision, text, grouped=True)
        elif is_live:
            request = TokensRequest(levels.revision, None, grouped=view.tokens == HERE)
        if request is not None and (request, output, self._moment) != self._asked:
            self._asked = request, output, self._moment
            self._ask(request)

    def takes(self, answer: TokensAnswer, levels: Levels, view: ViewState, live: frozenset[int]) -> bool:
        """Take an answer up; whether it is the drawing of a state's tokens."""
        if self._asked is None or answer.request != self._asked[0]:
            return False
        if answer.request.output is None:
            self._here = answer if answer.counts else None
        if not answer.request.grouped or view.tokens is None:
            return False
        whole = levels.is_whole and levels.rules is None
        state = view.tokens if view.tokens != HERE else next(iter(live), None) if len(live) == 1 else None
        name = str(state) if whole and state is not None else "here"
        levels.show_tokens(token_map(answer, levels.part.dfa if whole else None, state if whole else None, name))
        return True

    def badges(self, levels: Levels, view: ViewState, drawn: Drawing, live: frozenset[int]) -> dict[EdgeKey, str]:
        """What stands under the labels of the edges that leave the live states: tokens, and what the model gives them.

        A token is counted where its first byte takes the edge. Where characters share their first byte, which edge
        it takes is not known, and nothing is said.
        """
        found = self._here
        if found is None or levels.level(view) is Level.TOKENS or drawn.automaton.noun != "state":
            return {}
        fold = drawn.automaton.fold if drawn.is_folded else None
        badges = {}
        for edge in drawn.picture.excerpt.edges:
            key = edge.source, edge.target
            is_plain = fold is None or not (key in fold.characters or key in fold.texts)
            if edge.source in live and edge.ranges and is_plain:
                taken = [byte for first, last in edge.ranges for byte in range(first, last + 1)]
                mass = sum(found.masses[byte] for byte in taken) if found.masses else None
                badges[key] = counted_briefly(sum(found.counts[byte] for byte in taken), mass)
        return badges
