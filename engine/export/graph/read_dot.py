"""Reading of Graphviz text with Graphviz's own parser: the automata that `graph.dot` wrote."""

from __future__ import annotations

from typing import Any

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.export.graph.networks import read_automata
from engine.export.target import MismatchError


def read_dot(text: str) -> ByteDfa | RuleAutomata:
    """Read the automata of a text from the DOT export, with Graphviz's own parser.

    Raises:
        MismatchError: it is another text.
    """
    import pygraphviz

    try:
        graph = pygraphviz.AGraph(string=text)
    except (pygraphviz.DotError, ValueError) as error:
        raise MismatchError(f"Graphviz cannot read it back: {error}") from error
    try:
        clusters = {sub.graph_attr["label"]: [str(node) for node in sub.nodes()] for sub in graph.subgraphs()}
        nodes, edges = _nodes(graph, clusters), _edges(graph)
    finally:
        graph.close()
    starts = {target for source, target, attributes in edges if not attributes}
    for name, node in nodes.items():
        node["start"] = name in starts
    found = [
        {**attributes, "source": nodes[source], "target": nodes[target]}
        for source, target, attributes in edges
        if attributes
    ]
    return read_automata(list(nodes.values()), found, list(clusters) or None)


def _nodes(graph: Any, clusters: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    rule_of = {node: name for name, inside in clusters.items() for node in inside}
    found: dict[str, dict[str, Any]] = {}
    for node in graph.nodes():
        if node.attr["shape"] != "point":
            accepting = node.attr["shape"] == "doublecircle"
            found[str(node)] = {"state": node.attr["label"], "accepting": accepting, "rule": rule_of.get(str(node))}
    return found


def _edges(graph: Any) -> list[tuple[str, str, dict[str, str]]]:
    kinds = {"bytes": "bytes", "rule": "call", "tokens": "token"}
    found = []
    for edge in graph.edges():
        # A literal backslash is doubled in the text, and Graphviz returns it unchanged.
        said = {key: edge.attr[key].replace("\\\\", "\\") for key in kinds if edge.attr[key]}
        kind = {"kind": kinds[next(iter(said))]} if said else {}
        found.append((str(edge[0]), str(edge[1]), said | kind))
    return found
