"""Binds the list of breakpoints to the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands import command
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind
from engine.source import Span

if TYPE_CHECKING:
    from app.panes.breakpoints.pane import BreakpointsPane


class BreakpointsPresenter(PanePresenter):
    """Shows the breakpoints of the document, and stores what the user changes."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[BreakpointsPane] = Lazy(self._make)
        for hit in (self.session.debugging.breakpoint_hit, self.session.debugging.condition_hit):
            hit.connect(lambda one: self.view.get().show_hit(one))
        for changed in (self.session.document.breakpoints_changed, self.session.document.replaced):
            changed.connect(self._show)
        context.commands.add(self)

    def _make(self) -> BreakpointsPane:
        from app.panes.breakpoints.pane import BreakpointsPane  # start-up time: the pane is built when first shown

        view, debugging = BreakpointsPane(), self.session.debugging
        view.show_breakpoints(debugging.stop_points)
        view.changed.connect(debugging.set_stop_points)
        view.activated.connect(self._go_to)
        view.add_wanted.connect(lambda: debugging.toggle_at(self.session.links.cursor_offset()))
        return view

    def _show(self) -> None:
        if self.view.built is not None:
            self.view.built.show_breakpoints(self.session.debugging.stop_points)

    @command("run.condition", "Ctrl+R, B", place=(2, 5))
    def _choose_condition(self) -> None:
        """Show the list, and the conditions that can be added to it."""
        self.context.commands["view.breakpoints"].trigger()
        self.view.get().open_conditions()

    def _go_to(self, one: Breakpoint) -> None:
        offset = self.session.debugging.offset_of(one)
        if offset >= 0:
            self.session.links.span_chosen.emit(Span(offset, offset))
        elif one.kind is BreakpointKind.STATE:
            self.context.commands["view.automaton"].trigger()


PANE = PaneSpec(
    "breakpoints",
    "Ctrl+8",
    (1, 8),
    Area.BOTTOM,
    BreakpointsPresenter,
    menu=("run.breakpoint", "run.condition", "run.until"),
)
