"""Connects the pane of forced text, its commands and the session.

The contents of a page are requested when it becomes visible, and again when the grammar, the model or the prompt
changes; a hidden page causes no work for the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.commands import command
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.decode import DecodeView
from app.workers.requests.forced import (
    CompareSpellings,
    FindForced,
    ListIndex,
    MeasureStrategies,
)
from engine.decoding.forced.strategies import OFF, PREFERRED, STRATEGIES

if TYPE_CHECKING:
    from app.panes.forced.pane import ForcedPane, Page


class ForcedPresenter(PanePresenter):
    """Connects the pane, its commands and the session."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self._shown_source: tuple[object, ...] = ()  # the grammar and model that the pages show
        self._prompt: object = None
        self._requested_pages: set[int] = set()  # the pages whose contents were requested
        self.view: Lazy[ForcedPane] = Lazy(self._make)
        context.commands.add(self, self.session.decoding.view_changed)
        self.session.decoding.view_changed.connect(self._show_view)
        self.session.step_allowed_changed.connect(self._update_refusal)

    def _make(self) -> ForcedPane:
        from app.panes.forced.pane import ForcedPane  # start-up time: the pane is built when first shown

        pane, queries = ForcedPane(), self.session.forced
        pane.show_strategy(self.session.decoding.view.pipeline.forced)
        pane.wanted.connect(self._fill)
        pane.strategy_chosen.connect(self._set_strategy)
        pane.runs.compare_wanted.connect(
            lambda before, part, most: queries.ask(
                CompareSpellings(self._revision, before, part, most), pane.runs.show_spellings, pane.runs.stop
            )
        )
        pane.runs.cancelled.connect(lambda: queries.cancel(CompareSpellings))
        pane.strategies.wanted.connect(self._measure)
        pane.strategies.cancelled.connect(lambda: queries.cancel(MeasureStrategies))
        self.session.decoding.queries.forced_text_found.connect(lambda found: pane.runs.show_here(found.data))
        pane.index.closing_wanted.connect(self.session.links.closing_wanted)
        self.session.document.replaced.connect(self._forget)
        self._shown_source = self._source_of(self.session.decoding.view)
        self._prompt = self.session.decoding.view.prompt
        self._update_refusal()
        return pane

    # --- filling --------------------------------------------------------------------------------------------------

    @property
    def _revision(self) -> int:
        return self.session.decoding.view.grammar_revision

    @staticmethod
    def _source_of(view: DecodeView) -> tuple[object, ...]:
        return view.grammar_revision, view.model.fingerprint if view.model else None

    def _fill(self, page: Page) -> None:
        """Request the contents of a page that has none."""
        from app.panes.forced.pane import Page  # start-up time: the pane is built when first shown

        view = self.session.decoding.view
        if view.model is None or view.position is None or self.session.decoding.is_running:
            return
        here = self.session.decoding.queries.forced_text
        if page is Page.RUNS and here is not None:
            self.view.get().runs.show_here(here)
        if page in self._requested_pages or page is Page.STRATEGIES:
            return
        self._requested_pages.add(page)
        pane, queries = self.view.get(), self.session.forced
        if page is Page.RUNS:
            queries.ask(FindForced(self._revision), pane.runs.show_forced, self._on_page_lost)
        else:
            queries.ask(ListIndex(self._revision), pane.index.show_answer, self._on_page_lost)

    def _on_page_lost(self, _why: str) -> None:
        self._requested_pages.clear()  # requested again when it becomes visible

    def _show_view(self, view: DecodeView) -> None:
        strategy = view.pipeline.forced
        pane = self.view.built
        if pane is None:
            return
        pane.show_strategy(strategy)
        if self._source_of(view) != self._shown_source:
            self._forget()
            self._shown_source = self._source_of(view)
        elif view.prompt != self._prompt:
            pane.runs.forget_spellings()
            pane.strategies.forget()
        self._prompt = view.prompt
        if pane.isVisible():
            self._fill(pane.page)

    def _forget(self) -> None:
        pane = self.view.built
        if pane is not None:
            self.session.forced.cancel_all()
            self._requested_pages.clear()
            for page in (pane.runs, pane.strategies, pane.index):
                page.forget()

    def _update_refusal(self) -> None:
        """Disable the requests that need a model and a grammar while there is none."""
        pane, view = self.view.built, self.session.decoding.view
        if pane is not None:
            why = "" if view.position is not None else self.session.step_refusal
            pane.runs.set_refusal(why)
            pane.strategies.set_refusal(why)

    # --- what the user does ---------------------------------------------------------------------------------------

    def _measure(self) -> None:
        self.session.decoding.stop_for(MeasureStrategies)
        strategies = self.view.get().strategies
        strategies.begin()
        self.session.forced.ask(MeasureStrategies(), strategies.show_answer, strategies.stop)

    def _set_strategy(self, strategy: str) -> None:
        decoding = self.session.decoding
        if strategy != decoding.view.pipeline.forced:
            decoding.set_pipeline(replace(decoding.view.pipeline, forced=strategy))

    @property
    def is_on(self) -> bool:
        """Return whether forced text is written without asking the model."""
        return STRATEGIES[self.session.decoding.view.pipeline.forced].takes_runs

    @command("run.fast_forward", "Ctrl+R, F", place=(4, 3), icon="ph.link-simple", checked=lambda self: self.is_on)
    def _toggle(self) -> None:
        self._set_strategy(OFF if self.is_on else PREFERRED)


PANE = PaneSpec("forced", "Ctrl+L, F", (1, 10), Area.BOTTOM, ForcedPresenter, menu=("run.complete", "run.fast_forward"))
