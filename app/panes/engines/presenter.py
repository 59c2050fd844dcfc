"""Binds the comparison of engines to the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.engines import CompareMasks
from engine.servers.client import is_server_address

if TYPE_CHECKING:
    from app.panes.engines.pane import EnginesPane


class EnginesPresenter(PanePresenter):
    """Compares engines on the grammar when the user asks for it, and shows the place of a difference in the editor."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[EnginesPane] = Lazy(self._make)

    def _make(self) -> EnginesPane:
        from app.panes.engines.pane import EnginesPane  # start-up time: the pane is built when first shown

        view, engines, document = EnginesPane(), self.session.engines, self.session.document
        view.wanted.connect(self._compare)
        view.cancelled.connect(engines.cancel_masks)
        view.span_wanted.connect(self.session.links.span_chosen)
        view.test_wanted.connect(self._add_test)
        view.listed.connect(self._list)
        engines.listed.connect(view.show_engines)
        engines.masks_compared.connect(view.show_answer)
        engines.masks_progressed.connect(view.show_progress)
        document.replaced.connect(self._follow_document)
        self.session.compiling.diagnosed.connect(lambda *_: view.set_grammar(document.content.grammar.text))
        view.set_grammar(document.content.grammar.text)
        return view

    def _list(self) -> None:
        """Offer the servers that are attached or known, and request the engines that read the notation."""
        model = self.session.decoding.view.model
        attached = () if model is None else (model.spec,)
        specs = (one for one in (*attached, *self.context.settings.preferences.servers) if is_server_address(one))
        if self.view.built is not None:
            self.view.built.show_servers(tuple(dict.fromkeys(one.partition("#")[0] for one in specs)))
        self.session.engines.list_engines(self.session.document.content.grammar.notation)

    def _follow_document(self) -> None:
        if self.view.built is not None:
            self.view.built.forget()
            self.view.built.set_grammar(self.session.document.content.grammar.text)

    def _compare(self, first: str, others: tuple[str, ...]) -> None:
        texts = tuple(one.text for one in self.session.document.content.test_strings)
        self.session.engines.compare_masks(CompareMasks(self.session.compiling.request(), first, others, texts))

    def _add_test(self, text: str, accepts: bool) -> None:
        self.session.test_runs.add_text(text, accepts=accepts)
        self.context.commands["view.tests"].trigger()


PANE = PaneSpec("engines", "Ctrl+L, E", (1, 11), Area.BOTTOM, EnginesPresenter, menu=("edit.target",))
