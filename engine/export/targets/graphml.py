"""GraphML for networkx, Gephi, yEd and Cytoscape: states and edges with all that an automaton needs."""

from __future__ import annotations

import io
import json
from typing import Any

from engine.export.checks import CompiledRecogniser, recogniser_of, scope_of, walk_side_by_side
from engine.export.graph.networks import automata_of, graph_of_automata, read_graph
from engine.export.provenance import provenance
from engine.export.target import Artifact, Check, ExportJob, MismatchError, TargetGroup
from engine.export.target_bases import RulesTarget
from engine.export.text.plain_grammar import has_fewer_texts, schema_refusal
from engine.source.catalogue import catalogue_text


class GraphmlTarget(RulesTarget):
    """The GraphML target; see `Target`."""

    name = "graphml"
    group = TargetGroup.PICTURE
    suffix = ".graphml"

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return schema_refusal(job.compiled, job.options)

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        import networkx as nx

        automata, notes = automata_of(job.compiled, job.options.spelling, job.cancel)
        graph = graph_of_automata(automata)
        graph.graph["provenance"] = json.dumps(provenance(job, *self.supported_options(job.compiled)))
        graph.graph["notes"] = json.dumps(notes)
        text = "\n".join(nx.generate_graphml(graph))
        return Artifact((("automaton.graphml", f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        automata = read_graph(_read(artifact.content))
        engine, export = CompiledRecogniser(job.compiled), recogniser_of(automata)
        walks, steps = walk_side_by_side(job, engine, export, holds_fewer=has_fewer_texts(job))
        compared = catalogue_text("export.compared.fragment.graphml")
        return Check(compared, walks, steps, scope_of(job.compiled))


def _read(content: bytes) -> Any:
    import networkx as nx

    try:
        return nx.read_graphml(io.BytesIO(content), force_multigraph=True)
    except (nx.NetworkXError, SyntaxError, ValueError) as error:  # a ParseError is a SyntaxError
        raise MismatchError("errors.export.graphml.unreadable", reason=str(error)) from error


TARGET = GraphmlTarget()
