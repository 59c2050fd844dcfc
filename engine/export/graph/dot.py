r"""Graphviz text of an automaton, or of each rule's automaton.

In a quoted string of the DOT language only `\"` is an escape of the language
itself; in a label, `\n`, `\l`, `\N` and others have a meaning for Graphviz. So a literal backslash is doubled
(graphviz.org/doc/info/lang.html, escString).
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
