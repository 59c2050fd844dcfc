"""Binds the timeline to the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.commands import command
from app.display_text import end_text
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.decode import DecodeView, GoTo
from engine.decoding.values import Trace

if TYPE_CHECKING:
    from app.panes.timeline.pane import TimelinePane


class TimelinePresenter(PanePresenter):
    """Shows the steps of the trace, and goes to the one that the user clicks."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[TimelinePane] = Lazy(self._make)
        self.session.decoding.view_changed.connect(self._show)
        context.commands.add(self, self.session.step_allowed_changed)

    def _make(self) -> TimelinePane:
        from app.panes.timeline.pane import TimelinePane  # start-up time: the pane is built when first shown

        view, decoding = TimelinePane(), self.session.decoding
        view.show_trace(*_timeline_of(decoding.view))
        view.node_clicked.connect(lambda node_id: decoding.ask(GoTo(node_id)))
        return view

    def _show(self, shown: DecodeView) -> None:
        if self.view.built is not None:
            self.view.built.show_trace(*_timeline_of(shown))

    @property
    def worst_refusal(self) -> str:
        """Return why there is no most unlikely step; an empty text if there is."""
        return "" if self.session.decoding.view.trace.path else ui_text("window.command.no_step")

    @command("run.worst", "Ctrl+R, W", place=(3, 2), refusal=lambda self: self.worst_refusal)
    def _go_to_worst(self) -> None:
        self.view.get().go_to_worst()


def _timeline_of(view: DecodeView) -> tuple[Trace, str]:
    """Return the trace of a view, and how the generation ended."""
    return view.trace, "" if view.position is None else end_text(view.position)


PANE = PaneSpec("timeline", "Ctrl+7", (1, 7), Area.BOTTOM, TimelinePresenter)
