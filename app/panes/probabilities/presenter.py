"""Binds the redistribution to the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.decode import DecodeView

if TYPE_CHECKING:
    from app.panes.probabilities.pane import ProbabilitiesPane


class ProbabilitiesPresenter(PanePresenter):
    """Shows the effect of the mask on the distribution of the current position."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[ProbabilitiesPane] = Lazy(self._make)
        self.session.decoding.view_changed.connect(self._show)

    def _make(self) -> ProbabilitiesPane:
        from app.panes.probabilities.pane import ProbabilitiesPane  # start-up time: 2 ms

        view = ProbabilitiesPane()
        view.show_position(self.session.decoding.view.position)
        return view

    def _show(self, shown: DecodeView) -> None:
        if self.view.built is not None:
            self.view.built.show_position(shown.position)


PANE = PaneSpec(
    "probabilities", "Ctrl+5", (1, 5), Area.GENERATION, ProbabilitiesPresenter, menu=("run.step", "run.back")
)
