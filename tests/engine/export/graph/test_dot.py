"""Graphviz text that Graphviz itself reads back."""

from __future__ import annotations

import pygraphviz
import pytest

from engine.automata.dfa.dfa import ByteDfa
from engine.compile import CompiledGrammar, compile_grammar
from engine.export import to_dot
from engine.export.graph.dot import rules_to_dot
from engine.export.target import ExportJob
from engine.export.writing import make
from engine.source import SourceText
from engine.source.catalogue import catalogue_text

HOSTILE = [r'"\\n\"+"', "a\nb", "[\x00-\x1f]é<b>&amp;", r"\N\G\l", "x" * 1000, "\u202e\u2028", "}"]


NESTED = 'root ::= "(" root ")" | x\nx ::= [é"]'


def dot(pattern: str) -> str:
    grammar = compile_grammar("regex", pattern)
    return to_dot(grammar.materialise(), grammar.source)


def rules_dot(grammar: CompiledGrammar) -> str:
    return rules_to_dot(grammar.rule_automata(), grammar.source)


def test_the_whole_text_of_a_small_automaton():
    assert dot('a*"') == (
        "digraph grammar {\n"
        "  rankdir=LR;\n"
        '  label="a*\\"";\n'
        "  labelloc=t;\n"
        "  node [shape=circle];\n"
        "  edge [arrowsize=0.7];\n"
        '  start [shape=point, label=""];\n'
        "  start -> s0;\n"
        '  s0 [label="0"];\n'
        '  s1 [label="1", shape=doublecircle];\n'
        '  s0 -> s0 [label="a"];\n'
        '  s0 -> s1 [label="\\""];\n'
        "}\n"
    )


def test_an_empty_language_has_a_title_and_no_states():
    text = to_dot(ByteDfa(None, (), ()), SourceText(""))
    assert "->" not in text
    assert text.endswith("}\n")


@pytest.mark.parametrize("source", HOSTILE)
def test_graphviz_reads_any_source_back(source):
    text = to_dot(compile_grammar("regex", 'a"b[^"]|\n').materialise(), SourceText(source))
    graph = pygraphviz.AGraph(string=text)
    assert graph.is_directed()
    assert {"start", "s0"} <= set(graph.nodes())
    assert all(char.isprintable() or char == "\n" for char in text)
    graph.close()


def test_the_rim_of_a_part_is_dashed():
    grammar = compile_grammar("regex", "abcdef")
    assert "style=dashed" in to_dot(grammar.neighbourhood(b"a", radius=1), grammar.source)


def test_the_whole_text_of_a_small_grammars_rules():
    grammar = compile_grammar("gbnf", 'root ::= "(" root ")" | "a"')
    assert rules_dot(grammar) == (
        "digraph grammar {\n"
        "  rankdir=LR;\n"
        '  label="root ::= \\"(\\" root \\")\\" | \\"a\\"";\n'
        "  labelloc=t;\n"
        "  node [shape=circle];\n"
        "  edge [arrowsize=0.7];\n"
        "  subgraph cluster_0 {\n"
        '    label="root";\n'
        "    labeljust=l;\n"
        '    r0 [shape=point, label=""];\n'
        "    r0 -> r0s0;\n"
        '    r0s0 [label="0"];\n'
        '    r0s1 [label="1"];\n'
        '    r0s2 [label="2", shape=doublecircle];\n'
        '    r0s3 [label="3"];\n'
        '    r0s0 -> r0s1 [label="("];\n'
        '    r0s0 -> r0s2 [label="a"];\n'
        '    r0s3 -> r0s2 [label=")"];\n'
        '    r0s1 -> r0s3 [label="‹root›", style=dashed];\n'
        "  }\n"
        "}\n"
    )


def test_graphviz_reads_rules_back():
    graph = pygraphviz.AGraph(string=rules_dot(compile_grammar("gbnf", NESTED + ' | <t>\n# \\N "\n')))
    assert [cluster.graph_attr["label"] for cluster in graph.subgraphs()] == ["root", "x"]
    assert {edge.attr["style"] for edge in graph.edges()} == {"", "dashed", "bold"}
    graph.close()


def test_the_heading_of_a_schemas_graph_says_what_it_leaves_out():
    schema = '{"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}}'
    text = make("dot", ExportJob(compile_grammar("json_schema", schema))).content.decode()
    assert catalogue_text("export.note.fragment.compact") in text
    assert 'label="‹array›", style=dashed' in text or 'label="‹a›", style=dashed' in text
