r"""Graphviz text of an automaton, or of each rule's automaton, and its reader, which is Graphviz's own parser.

In a quoted string of the DOT language only `\"` is an escape of the language
itself; in a label, `\n`, `\l`, `\N` and others have a meaning for Graphviz. So a literal backslash is doubled
(graphviz.org/doc/info/lang.html, escString).
"""

from __future__ import annotations

from typing import Any, Final

from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.labels import call_label, label, token_label
from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton
from engine.export.graph.networks import bytes_text, read_automata, token_text
from engine.export.target import MismatchError
from engine.source import SourceText

MOST_STATES: Final = 2_000
LONGEST_TITLE: Final = 200


def to_dot(dfa: ByteDfa, source: SourceText, *, exact: bool = False) -> str:
    """Return a digraph: double circles accept, an arrow without source marks the start, dashed states are cut off.

    Args:
        dfa: the automaton.
        source: the grammar's text, for the heading.
        exact: whether each edge also has its bytes in an attribute, since a label may be abbreviated.
    """
    lines = _head(_title(source))
    if dfa.start is not None:
        lines += ['  start [shape=point, label=""];', f"  start -> {_name(dfa.start)};"]
    for state in dfa.states:
        shape = ", shape=doublecircle" if state.accepting else ""
        style = ", style=dashed" if state.id in dfa.boundary else ""
        lines.append(f'  {_name(state.id)} [label="{state.id}"{shape}{style}];')
    lines += [
        f"  {_name(edge.source)} -> {_name(edge.target)} [label={_quoted(label(edge.ranges))}"
        f"{_exactly(edge.ranges) if exact else ''}];"
        for edge in dfa.edges
    ]
    return "\n".join([*lines, "}", ""])


def rules_to_dot(
    automata: RuleAutomata, source: SourceText, notes: tuple[str, ...] = (), *, exact: bool = False
) -> str:
    """Return a digraph with a cluster for each rule, under the grammar's text and the notes.

    Double circles are where a rule may end; dashed edges are calls, with the rule in angle quotes; bold ones are tokens
    matched by id.

    Args:
        automata: the rules' automata.
        source: the grammar's text, for the heading.
        notes: what the automata leave out.
        exact: whether each edge also has its bytes, called rule or tokens in an attribute.
    """
    lines = _head(_title(source), *notes)
    for number, rule in enumerate(automata.rules):
        lines += [f"  subgraph cluster_{number} {{", *_cluster(rule, f"r{number}", exact=exact), "  }"]
    return "\n".join([*lines, "}", ""])


def _cluster(rule: RuleAutomaton, name: str, *, exact: bool) -> list[str]:
    def edge(source: int, target: int, text: str, style: str = "", says: str = "") -> str:
        return f"    {name}s{source} -> {name}s{target} [label={_quoted(text)}{style}{says if exact else ''}];"

    lines = [
        f"    label={_quoted(rule.name)};",
        "    labeljust=l;",
        f'    {name} [shape=point, label=""];',
        f"    {name} -> {name}s0;",
    ]
    for state in rule.dfa.states:
        shape = ", shape=doublecircle" if state.accepting else ""
        lines.append(f'    {name}s{state.id} [label="{state.id}"{shape}];')
    lines += [edge(e.source, e.target, label(e.ranges), says=_exactly(e.ranges)) for e in rule.dfa.edges]
    for call in rule.calls:
        called = f", rule={_quoted(call.rule)}"
        lines.append(edge(call.source, call.target, call_label(call.rule), ", style=dashed", called))
    for taken in rule.tokens:
        tokens = f", tokens={_quoted(token_text(taken.tokens))}"
        lines.append(edge(taken.source, taken.target, token_label(taken.tokens), ", style=bold", tokens))
    return lines


def _head(*lines: str) -> list[str]:
    return [
        "digraph grammar {",
        "  rankdir=LR;",
        f"  label={_quoted(chr(10).join(lines))};",
        "  labelloc=t;",
        "  node [shape=circle];",
        "  edge [arrowsize=0.7];",
    ]


def _exactly(ranges: ByteRanges) -> str:
    """Return the attribute of an edge with its bytes."""
    return f', bytes="{bytes_text(ranges)}"'


def _name(state: int) -> str:
    return f"s{state}"


def _title(source: SourceText) -> str:
    """Return a grammar's text as the heading of its graph."""
    text = source.text
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…"


def _quoted(text: str) -> str:
    """Return a label that shows exactly this text; lines are left-aligned, unprintable characters become U+FFFD."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    lines = ["".join(char if char.isprintable() else "\ufffd" for char in line) for line in escaped.split("\n")]
    return f'"{lines[0]}"' if len(lines) == 1 else '"' + "".join(f"{line}\\l" for line in lines) + '"'


# ---------------------------------------------------------------------- read back


def read_dot(text: str) -> ByteDfa | RuleAutomata:
    """Read the automata of a text from the DOT export, with Graphviz's own parser.

    Raises:
        MismatchError: it is another text.
    """
    import pygraphviz

    try:
        graph = pygraphviz.AGraph(string=text)
    except (pygraphviz.DotError, ValueError) as error:
        raise MismatchError("errors.export.dot.unreadable", reason=str(error)) from error
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
