"""The view of an automaton that the user chose, and the history of views."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.graph.match.rules import CallPath

LIVE_STATE = -1
"""Instead of a state: the live state."""

_MOST = 100


@dataclass(frozen=True, slots=True)
class ViewState:
    """The options of a drawing of an automaton.

    Attributes:
        draws_all: every state, instead of an overview or a part.
        draws_bytes: each byte, instead of characters and texts; nothing is merged then.
        merges: counters as one node and forced runs as one edge each, where states are drawn.
        follows: the neighbourhood of the live state, although there is an overview.
        rule: the open rule or region; None for all of them.
        centre: the state whose neighbourhood is drawn, instead of the live ones'.
        opened: the states whose targets are all drawn, in the order in which they were opened.
        tokens: the state whose tokens are shown, `LIVE_STATE` for the live one; None for none.
        method: the chosen layout; empty for the best one.
        downwards: whether the drawing runs from top to bottom.
        nfa: the nondeterministic automaton, instead of the minimal one.
        unfolded: the calls in whose place the called rules are drawn.
    """

    draws_all: bool = False
    draws_bytes: bool = False
    follows: bool = False
    rule: str | None = None
    centre: int | None = None
    opened: tuple[int, ...] = ()
    tokens: int | None = None
    method: str = ""
    downwards: bool = False
    merges: bool = True
    nfa: bool = False
    unfolded: tuple[CallPath, ...] = ()

    @property
    def portable(self) -> ViewState:
        """Return the part of it that is valid for another automaton: state numbers are not."""
        return replace(
            self, centre=None, opened=(), unfolded=(), tokens=LIVE_STATE if self.tokens is not None else None
        )

    @property
    def stored(self) -> ViewState:
        """Return the part of it that is valid for the same text when it is opened again."""
        return replace(self.portable, unfolded=self.unfolded)

    @property
    def style(self) -> ViewState:
        """Return the part of it that is valid for another grammar: the style of drawings, not their contents."""
        return replace(
            self, draws_all=False, follows=False, rule=None, centre=None, opened=(), tokens=None, unfolded=()
        )


class History:
    """The history of views of one automaton."""

    def __init__(self) -> None:
        self._views = [ViewState()]
        self._at = 0

    @property
    def current(self) -> ViewState:
        """Return the current view."""
        return self._views[self._at]

    @property
    def can_go_back(self) -> bool:
        """Return whether there is an earlier view."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Return whether there is a later view."""
        return self._at + 1 < len(self._views)

    def go_to(self, view: ViewState) -> None:
        """Show another view; later views are dropped."""
        if view != self.current:
            self._views = [*self._views[: self._at + 1], view][-_MOST:]
            self._at = len(self._views) - 1

    def amend(self, view: ViewState) -> None:
        """Replace the current view without a history entry."""
        self._views[self._at] = view

    def back(self) -> ViewState:
        """Go back, if possible."""
        self._at = max(0, self._at - 1)
        return self.current

    def forward(self) -> ViewState:
        """Go forward, if possible."""
        self._at = min(len(self._views) - 1, self._at + 1)
        return self.current

    def restart(self, view: ViewState) -> None:
        """Start a new history for another automaton."""
        self._views, self._at = [view], 0
