"""The automaton pane on a grammar with rules, as the session would tell it, without a session."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutRequest
from app.graph.match.rules import Unfolding, rule_charts, unfold_calls
from app.panes.automaton.pane import AutomatonPane
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import compile_grammar
from engine.export import drawable_automata, without_white_space


class Shown:
    """A pane that shows a grammar in GBNF or a schema, laid out at once; a text moves the match."""

    def __init__(self, pane: AutomatonPane, text: str, notation: str = "gbnf") -> None:
        self.pane = pane
        self.notation = notation
        self.asked: list[LayoutRequest] = []
        pane.layout_wanted.connect(self._answer)
        pane.unfolding_wanted.connect(self._unfold)
        self.show(text, 1)

    @property
    def _is_schema(self) -> bool:
        return self.notation == "json_schema"

    def show(self, text: str, revision: int) -> None:
        self.revision = revision
        self.grammar = compile_grammar(self.notation, text)
        found = drawable_automata(self.grammar, 1000) if self._is_schema else None
        automata, notes = (found.automata, found.notes) if found is not None else (self.grammar.rule_automata(), ())
        self.charts = rule_charts(automata, notes, folds_texts=self._is_schema)
        self.match = RuleTracker(automata)
        self.write("")

    def write(self, output: str) -> None:
        """Another output, as the session tells of it: first what is drawn, then where the match stands."""
        data = output.encode()
        around = self.grammar.neighbourhood(data)
        self.pane.show_dfa(around, self.revision, None, self.grammar.source, None, self.charts)
        kind = "JSON Schema" if self._is_schema else "Recursive grammar"
        self.pane.show_too_large(ui_text("session.excerpt.part", size=kind))
        self.pane.set_live([0], self.match.positions(without_white_space(data) if self._is_schema else data))

    def _unfold(self, wanted: Unfolding) -> None:
        if wanted.paths:
            self.pane.show_unfolded(wanted, unfold_calls(self.charts, wanted))

    def _answer(self, request: LayoutRequest) -> None:
        self.asked.append(request)
        self.pane.show_layout(lay_out(request))

    @property
    def scene(self):  # type: ignore[no-untyped-def]
        return self.pane.view.scene()

    def lit(self) -> set[str]:
        """The live states of what is drawn, by name."""
        assert self.pane.navigation.automaton is not None
        return {self.pane.navigation.automaton.name(state) for state in self.scene.highlights.live}

    def place(self, point: QPointF) -> QPoint:
        return self.pane.view.mapFromScene(point)

    def double_click(self, qtbot: QtBot, point: QPointF) -> None:
        port, place = self.pane.view.viewport(), self.place(point)
        qtbot.mouseClick(port, Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseDClick(port, Qt.MouseButton.LeftButton, pos=place)

    def lit_labels(self) -> set[str]:
        """What is written on the edges that are lit."""
        return {self.scene.diagram.labels[key] for key in self.scene.highlights.next_edges}
