"""The drawing as SVG, which is scalable and searchable."""

from __future__ import annotations

import json
from html import escape  # `xml.sax.saxutils` imports network modules
from typing import Final
from xml.etree import ElementTree as ET

from engine.automata.dfa.dfa import ByteDfa
from engine.export.graph.drawing import drawing, picture
from engine.export.provenance import provenance
from engine.export.target import Artifact, Check, ExportJob, MismatchError
from engine.export.target_bases import DrawingTarget, check_picture
from engine.source.catalogue import catalogue_text

_NAMESPACE: Final = "{http://www.w3.org/2000/svg}"


class SvgTarget(DrawingTarget):
    """The SVG target; see `Target`."""

    name = "svg"
    suffix = ".svg"

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        drawn, _, notes = picture(job, "svg")
        text = drawn.decode()
        at = text.index("<g ")
        metadata = f"<metadata>{escape(json.dumps(provenance(job) | {'notes': notes}), quote=False)}</metadata>\n"
        return Artifact((("automaton.svg", (text[:at] + metadata + text[at:]).encode()),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact: drawn nodes and edges are counted, and the drawn text is walked."""
        try:
            root = ET.fromstring(artifact.content)  # noqa: S314 - it was written here
        except ET.ParseError as error:
            raise MismatchError("errors.export.svg.no_xml", reason=str(error)) from error
        found = {kind: len(root.findall(f".//{_NAMESPACE}g[@class='{kind}']")) for kind in ("node", "edge")}
        expected = _count_of(job)
        if found != expected:
            raise MismatchError("errors.export.svg.other_count", found=found, expected=expected)
        return check_picture(job, catalogue_text("export.scope.svg", nodes=found["node"], edges=found["edge"]))


def _count_of(job: ExportJob) -> dict[str, int]:
    """Return the number of nodes and edges of a drawing, entry arrows included."""
    _, automata, _ = drawing(job)
    if isinstance(automata, ByteDfa):
        entry = int(automata.start is not None)
        return {"node": len(automata.states) + entry, "edge": len(automata.edges) + entry}
    edges = sum(len(rule.dfa.edges) + len(rule.calls) + len(rule.tokens) for rule in automata.rules)
    return {"node": automata.size + len(automata.rules), "edge": edges + len(automata.rules)}


TARGET = SvgTarget()
