"""The panes of a window, and how they are wired to its session: the only place that knows both."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.panes.automaton import AutomatonPane
from app.panes.editor import EditorPane
from app.panes.generation import GenerationPane
from app.panes.problems import ProblemsPane
from app.session import Drawn, Session
from app.window.banner import BannerStack
from app.workers.messages import Back, DecodeView, GoTo, Lookup, Restart, Take, Why
from engine.source import Diagnostic, SourceText


class Panes(QObject):
    """Builds the panes and wires them."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.editor = EditorPane()
        self.automaton = AutomatonPane()
        self.generation = GenerationPane()
        self.problems = ProblemsPane()
        self.generation_banners = BannerStack()
        self.generation_column = _under(self.generation_banners, self.generation)
        self.probabilities = QWidget()  # filled after the first paint: its plots import numpy
        self.probabilities.setLayout(QVBoxLayout())
        self._wire_grammar()
        self._wire_automaton()
        self._wire_generation()

    def add_probabilities(self) -> None:
        """Build the plots, once the window stands."""
        from app.panes.probabilities import ProbabilitiesPane

        plots = ProbabilitiesPane()
        layout = self.probabilities.layout()
        if layout is not None:
            layout.setContentsMargins(0, 0, 0, 0)
            layout.addWidget(plots)
        decoding = self._session.decoding
        decoding.viewed.connect(lambda view: plots.show_position(view.position))
        plots.show_position(decoding.view.position)

    def _wire_grammar(self) -> None:
        session, document, editor = self._session, self._session.document, self.editor
        editor.text_edited.connect(document.set_text)
        editor.offset_hovered.connect(self.automaton.highlight_offset)
        document.replaced.connect(self._show_document)
        session.compiling.diagnosed.connect(self._show_diagnostics)
        session.live_changed.connect(lambda _states, spans: editor.show_live(spans))
        self.problems.activated.connect(editor.go_to)

    def _wire_automaton(self) -> None:
        session, automaton = self._session, self.automaton
        session.drawn.connect(self._show_drawn)
        session.live_changed.connect(lambda states, _spans: automaton.set_live(states))
        session.compiling.stale_changed.connect(self._show_stale)
        session.compiling.laid_out.connect(automaton.show_layout)
        automaton.layout_wanted.connect(session.compiling.lay_out)
        automaton.state_hovered.connect(self.editor.show_hover)

    def _wire_generation(self) -> None:
        session, decoding, pane = self._session, self._session.decoding, self.generation
        decoding.viewed.connect(pane.show_view)
        decoding.explained.connect(pane.show_why)
        decoding.found.connect(pane.show_lookup)
        decoding.sampled.connect(pane.show_many)
        decoding.running_changed.connect(pane.show_running)
        session.step_allowed_changed.connect(pane.show_step_refusal)
        pane.step_clicked.connect(decoding.step)
        pane.run_toggled.connect(self.toggle_run)
        pane.back_clicked.connect(lambda: decoding.ask(Back()))
        pane.restart_clicked.connect(lambda: decoding.ask(Restart()))
        pane.token_taken.connect(lambda token_id: decoding.ask(Take(token_id)))
        pane.why_wanted.connect(lambda token_id: decoding.ask(Why(token_id)))
        pane.lookup_wanted.connect(lambda text: decoding.ask(Lookup(text)))
        pane.node_clicked.connect(lambda node_id: decoding.ask(GoTo(None if node_id < 0 else node_id)))
        pane.prompt_edited.connect(decoding.set_prompt)
        pane.sampler_edited.connect(decoding.set_sampler)
        pane.many_wanted.connect(decoding.sample_many)

    def toggle_run(self) -> None:
        """Run, or pause."""
        decoding = self._session.decoding
        if decoding.is_running:
            decoding.pause()
        elif not self._session.step_refusal:
            decoding.run()

    def _show_document(self) -> None:
        content = self._session.document.content
        self.editor.set_notation(content.grammar.notation)
        self.editor.set_text(content.grammar.text)
        self.automaton.clear()
        self.generation.show_view(DecodeView(prompt=content.prompt, sampler=content.sampler))

    def _show_diagnostics(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        self.editor.show_diagnostics(tuple(diagnostics))
        self.problems.show_diagnostics(tuple(diagnostics), source)

    def _show_drawn(self, drawn: Drawn) -> None:
        source = SourceText(drawn.request.text)
        self.automaton.show_dfa(drawn.dfa, drawn.request.revision, None, source)
        self.automaton.show_too_large(drawn.too_large)

    def _show_stale(self, is_stale: bool, reason: str) -> None:
        self.automaton.set_stale(is_stale, f"{reason}. This is the last automaton that compiled." if is_stale else "")


def _under(banners: QWidget, pane: QWidget) -> QWidget:
    column = QWidget()
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(banners)
    layout.addWidget(pane, 1)
    return column
