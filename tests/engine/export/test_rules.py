"""A grammar whose rules nest, written as an automaton for each rule."""

from __future__ import annotations

import json

import pytest

from engine.automata.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.rule_match import RuleMatch
from engine.automata.rules import CallEdge, RuleAutomata, RuleAutomaton
from engine.compile import compile_grammar
from engine.export import graph_of, rules_to_json
from engine.source import Span

NESTED = 'root ::= "(" root ")" | x\nx ::= [é"]'


def test_the_whole_graph_of_a_small_grammar() -> None:
    grammar = compile_grammar("gbnf", 'root ::= "(" root ")" | "a"')
    assert graph_of(grammar) == (
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


def test_graphviz_reads_it_back() -> None:
    pygraphviz = pytest.importorskip("pygraphviz")
    graph = pygraphviz.AGraph(string=graph_of(compile_grammar("gbnf", NESTED + ' | <t>\n# \\N "\n')))
    assert [cluster.graph_attr["label"] for cluster in graph.subgraphs()] == ["root", "x"]
    assert {edge.attr["style"] for edge in graph.edges()} == {"", "dashed", "bold"}
    graph.close()


def test_a_regular_grammar_is_written_whole() -> None:
    assert "cluster" not in graph_of(compile_grammar("gbnf", 'root ::= x x\nx ::= "a"'))


def read_back(text: str) -> RuleAutomata:
    """As somebody else would read the file."""
    document = json.loads(text)
    assert (document["format"], document["version"]) == ("turnstile-rule-automata", 1)
    return RuleAutomata(tuple(map(rule_of, document["rules"])))


def rule_of(rule: dict) -> RuleAutomaton:
    states = tuple(DfaState(state, state in rule["accepting"]) for state in range(rule["states"]))
    edges = tuple(DfaEdge(e["source"], e["target"], tuple(map(tuple, e["bytes"]))) for e in rule["edges"])
    calls = tuple(CallEdge(call["source"], call["target"], call["rule"]) for call in rule["calls"])
    return RuleAutomaton(rule["name"], Span(0, 0), False, ByteDfa(0, states, edges), calls)


def test_the_json_file_says_what_matches() -> None:
    grammar = compile_grammar("gbnf", NESTED)
    match = RuleMatch(read_back(rules_to_json(grammar)))
    for text in ("é", '"', "((é))", "((é)", "", "a", "()"):
        assert match.places(text.encode()).accepting == grammar.fullmatch(text)


def test_the_json_file_holds_tokens_taken_whole() -> None:
    text = rules_to_json(compile_grammar("gbnf", 'root ::= "(" root ")" | !<[7]> | <think>'))
    (root,) = json.loads(text)["rules"]
    assert root["tokens"] == [
        {"source": 0, "target": 2, "names": [], "ids": [7], "negated": True},
        {"source": 0, "target": 2, "names": ["<think>"], "ids": [], "negated": False},
    ]
