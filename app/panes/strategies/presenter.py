"""Binds the comparison of strategies to the session: it is computed on demand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.strategies import CompareStrategies, SearchTexts

if TYPE_CHECKING:
    from app.panes.strategies.pane import StrategiesPane
    from engine.decoding.strategies.found_texts import Measure

_MOST_CALLS: Final = 5_000  # of a search


class StrategiesPresenter(PanePresenter):
    """Requests comparisons, and opens a text as the trace of the session."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self._shown_source: tuple[object, ...] = ()
        self.view: Lazy[StrategiesPane] = Lazy(self._make)

    def _make(self) -> StrategiesPane:
        from app.panes.strategies.pane import StrategiesPane  # start-up time: the pane is built when first shown

        session, pane = self.session, StrategiesPane()
        pane.comparison.wanted.connect(self._compare)
        pane.comparison.cancelled.connect(lambda: session.forced.cancel(CompareStrategies))
        pane.tree.wanted.connect(self._search)
        pane.tree.cancelled.connect(lambda: session.forced.cancel(SearchTexts))
        for page in (pane.comparison, pane.particles, pane.tree):
            page.opened.connect(session.decoding.open_output)
        session.decoding.view_changed.connect(lambda _view: self._update())
        session.step_allowed_changed.connect(self._update)
        session.document.replaced.connect(self._forget)
        self._shown_source = self._source
        self._update()
        return pane

    @property
    def _source(self) -> tuple[object, ...]:
        """Return what the texts depend on."""
        view = self.session.decoding.view
        return view.grammar_revision, view.model.fingerprint if view.model else None, view.prompt, view.max_tokens

    def _update(self) -> None:
        """Say why nothing can be drawn, and drop what belongs to another grammar, model or prompt."""
        pane, view = self.view.built, self.session.decoding.view
        if pane is None:
            return
        for page in pane.work:
            page.set_refusal("" if view.position is not None else self.session.step_refusal)
        if self._source != self._shown_source:
            self._shown_source = self._source
            for kind in (CompareStrategies, SearchTexts):
                self.session.forced.cancel(kind)
            self._forget()

    def _forget(self) -> None:
        for page in self.view.get().work:
            page.forget()

    def _compare(self, names: tuple[str, ...], samples: int, most_calls: int | None) -> None:
        session, page = self.session, self.view.get().comparison
        session.decoding.stop_for(CompareStrategies)
        page.begin()
        seed = session.document.content.sampler.seed
        session.forced.ask(CompareStrategies(names, samples, most_calls, seed), page.show_answer, page.stop)

    def _search(self, measure: Measure, mass: float) -> None:
        session, page = self.session, self.view.get().tree
        session.decoding.stop_for(SearchTexts)
        page.begin()
        session.forced.ask(SearchTexts(measure, mass, _MOST_CALLS), page.show_answer, page.stop)


PANE = PaneSpec(
    "strategies", "Ctrl+L, G", (1, 14), Area.BOTTOM, StrategiesPresenter, menu=("run.until", "view.branches")
)
