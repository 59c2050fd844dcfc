"""Graphviz text, for drawing or documents; each edge also has its exact bytes, in `bytes`."""

from __future__ import annotations

from engine.export.graph.drawing import drawing
from engine.export.target import Artifact, Check, ExportJob
from engine.export.target_bases import DrawingTarget, check_drawn


class DotTarget(DrawingTarget):
    """The DOT target; see `Target`."""

    name = "dot"
    title = "Graphviz DOT"
    about = "The automaton, or that of each rule, as text that Graphviz draws; a JSON Schema without its white space."
    suffix = ".dot"

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        text, _, notes = drawing(job)
        return Artifact((("automaton.dot", text.encode()),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        return check_drawn(job, artifact.content.decode(), "the grammar and the automata, read back by Graphviz,")


TARGET = DotTarget()
