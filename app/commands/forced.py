"""Joins the coalescence pane, its commands and the session.

What the pane shows is asked for when it comes into view, and anew where the grammar, the
model or the prompt is another; while nobody looks, the model has no work with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.actions import Actions
from app.session import Session
from app.widgets.lazy import Lazy
from app.workers.decode_messages import DecodeView
from app.workers.forced_messages import (
    CompareSpellings,
    FindForced,
    FindForcedHere,
    ForcedHereAnswer,
    ListIndex,
    MeasureStrategies,
    StrategiesAnswer,
)
from engine.decoding.pipeline_settings import Strategy

if TYPE_CHECKING:
    from app.panes.forced import ForcedPane
    from app.panes.forced.pane import Page


class ForcedCommands(QObject):
    """Joins them.

    Signals:
        closing_wanted(): the schema's objects are to have their declared properties only.

    Attributes:
        late_pane: the pane, built with its first showing.
    """

    closing_wanted = Signal()

    def __init__(self, commands: Actions, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._commands = commands
        self._session = session
        self._known: tuple[object, ...] = ()  # what the pages are of
        self._prompt: object = None
        self._at: tuple[object, ...] = ()  # where the session stood when it was asked what is forced there
        self._filled: set[int] = set()  # the pages that were asked for
        self.late_pane = Lazy(self._make)
        commands.connect_to({"run.coalesce": self._toggle})
        session.decoding.viewed.connect(self._show_view)
        session.step_allowed_changed.connect(lambda _why: self._refuse())

    @property
    def pane(self) -> ForcedPane:
        """The pane."""
        return self.late_pane.get()

    def _make(self) -> ForcedPane:
        from app.panes.forced import ForcedPane

        pane, asking = ForcedPane(), self._session.coalescing
        pane.show_strategy(self._session.decoding.view.pipeline.coalesce)
        pane.wanted.connect(self._fill)
        pane.strategy_chosen.connect(self._set_strategy)
        pane.runs.compare_wanted.connect(
            lambda before, part, most: asking.ask(CompareSpellings(self._revision, before, part, most))
        )
        pane.runs.cancelled.connect(lambda: asking.cancel(CompareSpellings))
        pane.strategies.wanted.connect(self._measure)
        pane.strategies.cancelled.connect(lambda: asking.cancel(MeasureStrategies))
        asking.forced.connect(pane.runs.show_forced)
        asking.forced_here.connect(self._show_here)
        asking.compared.connect(pane.runs.show_spellings)
        asking.measured.connect(self._show_measured)
        asking.indexed.connect(pane.index.show_answer)
        pane.index.closing_wanted.connect(self.closing_wanted)
        asking.stopped.connect(self._on_stopped)
        self._session.document.replaced.connect(self._forget)
        self._known = self._what(self._session.decoding.view)
        self._prompt = self._session.decoding.view.prompt
        self._refuse()
        return pane

    # --- filling --------------------------------------------------------------------------------------------------

    @property
    def _revision(self) -> int:
        return self._session.decoding.view.grammar_revision

    @staticmethod
    def _what(view: DecodeView) -> tuple[object, ...]:
        return view.grammar_revision, view.model.fingerprint if view.model else None

    def _fill(self, page: Page) -> None:
        """Ask for what a page has nothing of."""
        from app.panes.forced.pane import Page

        view = self._session.decoding.view
        if view.model is None or view.position is None or self._session.decoding.is_running:
            return
        if page is Page.RUNS:
            self._ask_here(view)
        if page in self._filled or page is Page.STRATEGIES:
            return
        self._filled.add(page)
        self._session.coalescing.ask(FindForced(self._revision) if page is Page.RUNS else ListIndex(self._revision))

    def _ask_here(self, view: DecodeView) -> None:
        at = (*self._known, view.prompt, view.trace.current)
        if at != self._at:
            self._at = at
            self._session.coalescing.ask(FindForcedHere())

    def _show_view(self, view: DecodeView) -> None:
        strategy = view.pipeline.coalesce
        self._commands["run.coalesce"].setChecked(strategy is not Strategy.NONE)
        pane = self.late_pane.built
        if pane is None:
            return
        pane.show_strategy(strategy)
        if self._what(view) != self._known:
            self._forget()
            self._known = self._what(view)
        elif view.prompt != self._prompt:
            pane.runs.forget_spellings()
            pane.strategies.forget()
        self._prompt = view.prompt
        if pane.isVisible():
            self._fill(pane.page)

    def _forget(self) -> None:
        pane = self.late_pane.built
        if pane is not None:
            self._session.coalescing.cancel_all()
            self._filled.clear()
            self._at = ()
            for page in (pane.runs, pane.strategies, pane.index):
                page.forget()

    def _refuse(self) -> None:
        """Nothing can be asked of a model that is not there, or of a grammar that it does not have."""
        pane, view = self.late_pane.built, self._session.decoding.view
        if pane is not None:
            why = "" if view.position is not None else self._session.step_refusal
            pane.runs.set_refusal(why)
            pane.strategies.set_refusal(why)

    # --- answers --------------------------------------------------------------------------------------------------

    def _show_here(self, answer: ForcedHereAnswer) -> None:
        if answer.at == self._session.decoding.view.trace.current:
            self.pane.runs.show_here(answer.data)

    def _show_measured(self, answer: StrategiesAnswer) -> None:
        self.pane.strategies.show_answer(answer)

    def _on_stopped(self, kind: type, why: str) -> None:
        if kind is CompareSpellings:
            self.pane.runs.stop(why)
        elif kind is MeasureStrategies:
            self.pane.strategies.stop(why)
        else:
            self._filled.clear()  # asked once more when it comes into view

    # --- what the user does ---------------------------------------------------------------------------------------

    def _measure(self) -> None:
        self._session.decoding.stop_for(MeasureStrategies)
        self.pane.strategies.begin()
        self._session.coalescing.ask(MeasureStrategies())

    def _set_strategy(self, strategy: Strategy) -> None:
        decoding = self._session.decoding
        if strategy is not decoding.view.pipeline.coalesce:
            decoding.set_pipeline(replace(decoding.view.pipeline, coalesce=strategy))

    def _toggle(self) -> None:
        is_on = self._session.decoding.view.pipeline.coalesce is not Strategy.NONE
        self._set_strategy(Strategy.NONE if is_on else Strategy.OWN)
