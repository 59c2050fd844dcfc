r"""The automaton, or that of each rule, as Graphviz text.

In a quoted string of the DOT language only `\"` is an escape of the language
itself; in a label, `\n`, `\l`, `\N` and others mean something to Graphviz. So a
backslash that is meant is doubled (graphviz.org/doc/info/lang.html, escString).
"""

from __future__ import annotations

from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.labels import call_label, label, token_label
from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton
from engine.export.graph.attributes import bytes_text, token_text
from engine.source import SourceText

MOST_STATES = 2_000
LONGEST_TITLE = 200


def to_dot(dfa: ByteDfa, source: SourceText, *, exact: bool = False) -> str:
    """A digraph: double circles accept, an arrow from nowhere marks the start, dashed states go on elsewhere.

    Args:
        dfa: the automaton.
        source: of the heading.
        exact: whether each edge says its bytes in an attribute of its own too, which a label may cut short.
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
    """A digraph with a cluster for each rule, under the grammar's text and the notes.

    Double circles: the rule may be over; dashed edges: a call, in angle quotes; bold ones: a token taken whole. With
    `exact`, an edge says in an attribute of its own which bytes it reads, which rule it calls, or which tokens.
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
    """The attribute of an edge that says its bytes."""
    return f', bytes="{bytes_text(ranges)}"'


def _name(state: int) -> str:
    return f"s{state}"


def _title(source: SourceText) -> str:
    """A grammar's text as the heading of its graph."""
    text = source.text
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…"


def _quoted(text: str) -> str:
    """A label that shows exactly this text; its lines are set left, what cannot be shown is U+FFFD."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    lines = ["".join(char if char.isprintable() else "\ufffd" for char in line) for line in escaped.split("\n")]
    return f'"{lines[0]}"' if len(lines) == 1 else '"' + "".join(f"{line}\\l" for line in lines) + '"'
