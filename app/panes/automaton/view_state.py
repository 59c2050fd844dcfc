"""What the reader wants to see of an automaton, and what they looked at before."""

from __future__ import annotations

from dataclasses import dataclass, replace

HERE = -1
"""Instead of a state: wherever the match stands."""

_MOST = 100


@dataclass(frozen=True, slots=True)
class ViewState:
    """How the reader wants an automaton drawn.

    Attributes:
        draws_all: every state, instead of an overview or a part.
        draws_bytes: each byte, instead of characters and texts.
        merges: forced runs as one edge each, where the automaton over bytes is drawn.
        follows: the surroundings of the live state, though there is an overview.
        rule: which rule, or region, is open; None for all of them.
        centre: the state whose surroundings are drawn, instead of the live ones'.
        opened: the states of which all that follows is drawn, in the order in which they were opened.
        tokens: the state whose tokens are shown, `HERE` for the live one; None for none.
        method: the layout that was chosen; empty for the best one.
        downwards: whether the drawing runs from top to bottom.
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
    merges: bool = False

    @property
    def lasting(self) -> ViewState:
        """What of it means the same for another automaton: numbers of states do not."""
        return replace(self, centre=None, opened=(), tokens=HERE if self.tokens is not None else None)

    @property
    def habits(self) -> ViewState:
        """What of it means the same for another grammar: how the reader likes drawings, not what is drawn."""
        return ViewState(draws_bytes=self.draws_bytes, merges=self.merges, method=self.method, downwards=self.downwards)


class History:
    """The views of one automaton, to go back and forward in."""

    def __init__(self) -> None:
        self._views = [ViewState()]
        self._at = 0

    @property
    def current(self) -> ViewState:
        """What is shown."""
        return self._views[self._at]

    @property
    def can_go_back(self) -> bool:
        """Whether something was shown before."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether one went back."""
        return self._at + 1 < len(self._views)

    def go_to(self, view: ViewState) -> None:
        """Show something else; what one went back from is forgotten."""
        if view != self.current:
            self._views = [*self._views[: self._at + 1], view][-_MOST:]
            self._at = len(self._views) - 1

    def amend(self, view: ViewState) -> None:
        """Show the same otherwise: nothing to go back to."""
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
        """Another automaton: what was seen of the last one is no way back."""
        self._views, self._at = [view], 0
