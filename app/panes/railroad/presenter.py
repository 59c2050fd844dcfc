"""Binds the railroad diagram to the session: it follows the cursor of the grammar, or the match."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.delays import delayed
from app.graph.draw.image_files import save_picture
from app.graph.layout.railroad import RailroadDrawing
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.session import CompiledGrammarView
from app.widgets.lazy import Lazy
from app.workers.requests.compile import DrawRailroad
from engine.source import Span

if TYPE_CHECKING:
    from app.panes.railroad.pane import RailroadPane

_DELAY_MS = 30  # a cursor that moves by held keys asks once


class RailroadPresenter(PanePresenter):
    """Requests the diagram of the rule at the cursor while the pane is visible, and joins it with the text."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[RailroadPane] = Lazy(self._make)
        self._shown: DrawRailroad | None = None  # the request of the current drawing
        self._live: tuple[Span, ...] = ()
        self._timer = delayed(self, _DELAY_MS, self._request)

    def _make(self) -> RailroadPane:
        from app.panes.railroad.pane import RailroadPane  # start-up time: the pane is built when first shown

        session, pane = self.session, RailroadPane()
        links, compiling = session.links, session.compiling
        pane.drawing_wanted.connect(self._timer.start)
        pane.picture_wanted.connect(self.save_picture)
        pane.view.hovered.connect(links.spans_hovered)
        pane.view.span_wanted.connect(links.span_chosen)
        links.cursor_moved.connect(lambda _offset: self._timer.start())
        links.offset_hovered.connect(pane.view.show_hover)
        compiling.compiled.connect(self._on_compiled)
        compiling.stale_changed.connect(lambda _stale, reason: pane.set_stale(reason))
        session.live_states.settled.connect(self._show_live)
        session.document.replaced.connect(self._forget)
        pane.set_stale(compiling.stale_reason)
        return pane

    def _on_compiled(self, _drawn: CompiledGrammarView) -> None:
        self._timer.start()

    def _forget(self) -> None:
        self._shown = None
        self.view.get().opened = frozenset()
        self.view.get().show_drawing(None)

    def _show_live(self, _states: frozenset[int], spans: tuple[Span, ...]) -> None:
        self._live = spans
        self.view.get().view.show_live(spans)
        if self.view.get().follows_match:
            self._timer.start()

    # --- requests ----------------------------------------------------------------------------------------------------

    @property
    def _is_current(self) -> bool:
        """Return whether the last grammar that compiled is the text of the editor, so that offsets agree."""
        good = self.session.compiling.last_good
        return good is not None and good.request.text == self.session.document.content.grammar.text

    def _request(self) -> None:
        pane, good = self.view.get(), self.session.compiling.last_good
        if good is None or not pane.isVisible() or not self._is_current:
            return
        follows = pane.follows_match and self._live
        offset = self._live[0].start if follows else self.session.links.cursor_offset()
        request = DrawRailroad(good.request, offset, pane.opened, pane.view.style_of_drawing, pane.draws_part)
        if request == self._shown:
            self._mark()
        else:
            self.session.compiling.draw_railroad(request, partial(self._show, request))

    def _show(self, request: DrawRailroad, drawing: RailroadDrawing | None) -> None:
        good, pane = self.session.compiling.last_good, self.view.get()
        if good is None or request.compiled is not good.request:
            return
        if not pane.show_drawing(drawing):
            self._timer.start()
            return
        self._shown = request
        self._mark()

    def _mark(self) -> None:
        view = self.view.get().view
        view.show_caret(self.session.links.cursor_offset())
        view.show_live(self._live)

    # --- pictures ----------------------------------------------------------------------------------------------------

    def save_picture(self) -> None:
        """Ask for a file and write the diagram to it."""
        self.ask_for_picture(ui_text("railroad.pane.picture_filter"), self.save_to)

    def save_to(self, path: Path) -> None:
        """Write the diagram; a failure becomes a notification."""
        picture = self.view.get().view.picture()
        why_not = ui_text("graph.save.no_drawing") if picture is None else save_picture(picture, path)
        self.report_picture(why_not, self.save_picture)


PANE = PaneSpec("railroad", "Ctrl+L, R", (1, 12), Area.BOTTOM, RailroadPresenter, menu=("edit.definition",))
