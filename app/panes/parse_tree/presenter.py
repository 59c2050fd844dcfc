"""Binds the parse tree to the session: it grows with the output, and is joined with output, grammar and automaton."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands import command
from app.delays import delayed
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.session import CompiledGrammarView
from app.widgets.lazy import Lazy
from app.workers.protocol import Progress
from app.workers.requests.decode import DecodeView
from app.workers.requests.judge import ParsedText, ParseText
from engine.diagnosis.parse_trees.values import AmbiguityAnswer
from engine.source import SourceText, Span

if TYPE_CHECKING:
    from app.panes.parse_tree.pane import ParseTreePane

_DELAY_MS = 10  # changes of grammar, text and output at once are one request


class ParseTreePresenter(PanePresenter):
    """Requests the tree of the text while the pane is visible: one request at a time, and again if the text changed."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[ParseTreePane] = Lazy(self._make)
        self._timer = delayed(self, _DELAY_MS, self._request)
        self._is_pending = self._is_outdated = False
        self._shown: tuple[bytes, int] | None = None  # the text of the last answer, and its number
        context.commands.add(self)

    def _make(self) -> ParseTreePane:
        from app.panes.parse_tree.pane import ParseTreePane  # start-up time: the pane is built when first shown

        session, pane = self.session, ParseTreePane()
        links, document = session.links, session.document
        pane.show_texts(tuple(one.text for one in document.content.test_strings))
        pane.set_stale(session.compiling.stale_reason)
        pane.parse_wanted.connect(self._timer.start)
        pane.span_wanted.connect(links.span_chosen)
        pane.node_pointed.connect(self._point)
        pane.search_wanted.connect(self._search)
        pane.search_cancelled.connect(session.test_runs.stop_finding)
        links.cursor_moved.connect(self._select_source)
        links.output_hovered.connect(self._select_bytes)
        session.decoding.view_changed.connect(self._on_view)
        session.compiling.compiled.connect(self._on_compiled)
        session.compiling.stale_changed.connect(lambda _stale, reason: pane.set_stale(reason))
        for signal in (document.replaced, document.test_strings_changed):
            signal.connect(self._show_texts)
        return pane

    def _show_texts(self) -> None:
        self.view.get().show_texts(tuple(one.text for one in self.session.document.content.test_strings))
        self._timer.start()

    def _on_view(self, _view: DecodeView) -> None:
        self._timer.start()

    def _on_compiled(self, _drawn: CompiledGrammarView) -> None:
        self._shown = None
        self.session.test_runs.stop_finding()
        self.view.get().forget_found()
        self._timer.start()

    # --- requests ----------------------------------------------------------------------------------------------------

    def _request(self) -> None:
        pane = self.view.get()
        if not pane.isVisible():
            return
        if self._is_pending:
            self._is_outdated = True
            return
        text = self._text
        if text is None:
            self._shown = None
            pane.show_nothing()
            return
        if self._shown is not None and self._shown[0] == text:
            return
        self._is_pending = True
        self._is_outdated = False
        known = 0 if self._shown is None else self._shown[1]
        self.session.test_runs.parse(text, known, self._show, self._stop)

    @property
    def _text(self) -> bytes | None:
        """Return the text to parse; None if there is none, or no grammar."""
        if self.session.compiling.last_good is None:
            return None
        chosen = self.view.get().chosen_text
        return self.session.decoding.view.grammar_prefix if chosen is None else chosen

    def _show(self, request: ParseText, answer: ParsedText) -> None:
        self._is_pending = False
        good = self.session.compiling.last_good
        if good is None or request.compiled is not good.request:
            self._timer.start()
            return
        self._shown = request.text, answer.number
        self.view.get().show_parse(answer, request.text, SourceText(good.request.text))
        if self._is_outdated:
            self._timer.start()

    def _stop(self) -> None:
        self._is_pending = False
        self._shown = None
        if self._is_outdated:
            self._timer.start()

    # --- links -------------------------------------------------------------------------------------------------------

    def _point(self, spans: tuple[Span, ...], data: tuple[int, ...]) -> None:
        """Mark the source of a node, its states and its bytes."""
        links = self.session.links
        is_output = self.view.get().chosen_text is None
        links.output_pointed.emit(data if is_output else ())
        is_current = not self.session.compiling.stale_reason
        links.offset_hovered.emit(spans[0].start if spans and is_current else -1)
        links.spans_hovered.emit(spans if is_current else ())

    def _select_source(self, offset: int) -> None:
        if self.view.get().isVisible() and not self.session.compiling.stale_reason:
            self.view.get().select_source(offset)

    def _select_bytes(self, data: tuple[int, ...]) -> None:
        pane = self.view.get()
        if data and pane.isVisible() and pane.chosen_text is None:
            pane.select_bytes(*data)

    # --- texts with two readings -------------------------------------------------------------------------------------

    @command("tests.ambiguous", "Ctrl+L, A", place=(2, 5))
    def _find_ambiguous(self) -> None:
        pane = self.view.get()
        self.context.reveal(pane)
        pane.search_button.click()

    def _search(self) -> None:
        pane = self.view.get()
        asked = self.session.test_runs.find_ambiguous_text(self._show_found)
        if asked is None:
            pane.forget_found()
        else:
            asked.progressed(self._show_progress).lost(lambda _lost: pane.end_search())

    def _show_progress(self, progress: Progress) -> None:
        self.view.get().show_progress(progress.done)

    def _show_found(self, answer: AmbiguityAnswer) -> None:
        self.view.get().show_found(answer)


PANE = PaneSpec(
    "parse_tree", "Ctrl+L, T", (1, 13), Area.BOTTOM, ParseTreePresenter, menu=("run.step", "run.back", "tests.add")
)
