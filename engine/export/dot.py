r"""The automaton as Graphviz text.

In a quoted string of the DOT language only `\"` is an escape of the language
itself; in a label, `\n`, `\l`, `\N` and others mean something to Graphviz. So a
backslash that is meant is doubled (graphviz.org/doc/info/lang.html, escString).
"""

from __future__ import annotations

from engine.automata.dfa import ByteDfa
from engine.automata.labels import label
from engine.source import SourceText

MOST_STATES = 2_000
LONGEST_TITLE = 200


def to_dot(dfa: ByteDfa, source: SourceText) -> str:
    """A digraph: double circles accept, an arrow from nowhere marks the start, dashed states go on elsewhere."""
    lines = [
        "digraph grammar {",
        "  rankdir=LR;",
        f"  label={quoted(title(source))};",
        "  labelloc=t;",
        "  node [shape=circle];",
        "  edge [arrowsize=0.7];",
    ]
    if dfa.start is not None:
        lines += ['  start [shape=point, label=""];', f"  start -> {_name(dfa.start)};"]
    for state in dfa.states:
        shape = ", shape=doublecircle" if state.accepting else ""
        style = ", style=dashed" if state.id in dfa.boundary else ""
        lines.append(f'  {_name(state.id)} [label="{state.id}"{shape}{style}];')
    lines += [
        f"  {_name(edge.source)} -> {_name(edge.target)} [label={quoted(label(edge.ranges))}];" for edge in dfa.edges
    ]
    return "\n".join([*lines, "}", ""])


def _name(state: int) -> str:
    return f"s{state}"


def title(source: SourceText) -> str:
    """A grammar's text as the heading of its graph."""
    text = source.text
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…"


def quoted(text: str) -> str:
    """A label that shows exactly this text; its lines are set left, what cannot be shown is U+FFFD."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    lines = ["".join(char if char.isprintable() else "\ufffd" for char in line) for line in escaped.split("\n")]
    return f'"{lines[0]}"' if len(lines) == 1 else '"' + "".join(f"{line}\\l" for line in lines) + '"'
