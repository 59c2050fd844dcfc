"""Graphviz text, for drawing or documents; each edge also has its exact bytes, in `bytes`."""

from __future__ import annotations

from engine.export.graph.drawing import drawing
from engine.export.target import Artifact, Check, ExportJob
from engine.export.target_bases import DrawingTarget, check_drawn
from engine.source.catalogue import catalogue_text


class DotTarget(DrawingTarget):
    """The DOT target; see `Target`."""

    name = "dot"
    suffix = ".dot"

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        text, _, notes = drawing(job)
        return Artifact((("automaton.dot", text.encode()),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        return check_drawn(job, artifact.content.decode(), catalogue_text("export.compared.fragment.dot"))


TARGET = DotTarget()
