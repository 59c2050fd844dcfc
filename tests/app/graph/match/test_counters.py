"""A counter is one node in every notation, named by its step and its bounds, and the drawing stays true."""

from __future__ import annotations

import json
import random

import pytest

from app.graph.match.counters import merge, merge_chart
from app.graph.match.folding import Chart, fold_characters
from app.graph.match.paths import path_edges
from app.graph.match.rules import rule_charts
from app.workers.grammar_position import PositionReader
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.compile import compile_grammar
from engine.source import CancelToken


def chart_of(pattern: str) -> Chart:
    dfa = compile_grammar("regex", pattern).materialise()
    return Chart(dfa, fold_characters(dfa))


def names(chart: Chart | None) -> set[str]:
    return set() if chart is None or chart.fold is None else set(chart.fold.counters.values())


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("x[ab]{0,1000}y", {"[ab]{0,1000}"}),
        ("x[ab]{12}(y|z)", {"[ab]{12}"}),
        ("x[ab]{3,20}y", {"[ab]{3,20}"}),
        ("([a-z][0-9]){0,30}!", {"([a-z][0-9]){0,30}"}),
        ("[0-9a-f]{8}-[0-9a-f]{4}-[g-i]{12}", {"[0-9a-f]{8}", "[g-i]{12}"}),
        ("x(ab|[cd]){0,9}y", {"([cd]|ab){0,9}"}),
        ("x(a(b|cd)e){0,12}y", {"(a(b|cd)e){0,12}"}),
        ("é[à-ü]{0,9}!", {"[à-ü]{0,9}"}),
        ("([ab]{9}c)*d", {"[ab]{8}"}),  # the first state may end, the others not
        ("([0-9]{2},){0,30}x", {"([0-9][0-9],){0,30}"}),
        ("a{0,10}b", {"a{0,10}"}),
        ("x(ab?c){0,9}y", {"(ab?c){0,9}"}),
        ("x(a(bc)?d){2,12}y", {"(a(bc)?d){2,12}"}),
        ("x(ab?c){12}(y|z)", {"(ab?c){12}"}),
        ("x(a(b|cd?)e){0,12}y", {"(a(be|cd?e)){0,12}"}),
        ("x(a[0-9]*,){0,20}y", {"(a[0-9]*,){0,20}"}),
        ("x([0-9]+;){8}y", {"([0-9]+;){8}"}),
        ("x(a*b){0,9}y", {"(a*b){0,9}"}),
        ("x(ab*){0,9}y", {"(ab*){0,9}"}),
        ("x([0-9],?){0,30}y", {"(,?[0-9]){0,29},?"}),  # after the first digit
        ("([ab]?y)*", set()),
        ("aaaaaaaaaaaaaaab", set()),  # a text
        ("[ab]{0,7}c", set()),  # few counts
        ("[ab]*c(d|e)+", set()),  # no counts
    ],
)
def test_a_counter_of_a_regex_is_one_node(pattern, expected):
    assert names(merge_chart(chart_of(pattern))) == expected


@pytest.mark.parametrize(
    ("text", "rule", "expected", "nodes"),
    [
        ('root ::= "[" item{0,300} "]"\nitem ::= "a" | "b" item', "root", {"‹item›{0,300}"}, 3),
        (
            'root ::= ([a-z] ("," [0-9]+)? ";"){0,50} [.!] next?\nnext ::= "a" next',
            "root",
            {"([a-z](,[0-9]+)…{0,50}"},
            2,
        ),
        ('root ::= "[" item (", " item){0,99} "]"\nitem ::= "a" | "b" item', "root", {"(,␣‹item›){0,99}"}, 4),
    ],
)
def test_a_counter_of_a_rule_is_one_node(text, rule, expected, nodes):
    charts = rule_charts(compile_grammar("gbnf", text).rule_automata())
    merged = charts.rules[charts.names.index(rule)].merged
    assert names(merged) == expected
    assert merged is not None
    assert merged.size == nodes
    assert charts.opens_combined(merges=True)
    assert not charts.opens_combined(merges=False)
    assert charts.combined is not None
    assert names(charts.combined.merged) == expected


def test_a_counter_of_a_schema_is_one_node():
    schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}}, "required": ["name"]}
    reader = PositionReader(compile_grammar("json_schema", json.dumps(schema)))
    charts, _ = reader.rule_charts(CancelToken())
    assert charts is not None
    assert {name for chart in charts.rules for name in names(chart.merged)} == {"‹char›{0,12}"}


def test_a_count_that_is_entered_from_elsewhere_is_no_part_of_the_counter():
    """After a leading 0 no digit may follow, as after the last of sixteen: they are one state, and it stays one."""
    merged = merge_chart(chart_of(r"(0|[1-9][0-9]{0,15})(\.[0-9]+)?"))
    assert names(merged) == {"[0-9]{0,14}"}
    assert merged is not None
    assert merged.fold is not None
    ((counter, _),) = merged.fold.counters.items()
    first = merged.dfa.run(b"0")
    assert first is not None
    assert first not in merged.fold.node_of
    assert {(0, counter), (0, first), (counter, first)} <= {(edge.source, edge.target) for edge in merged.edges}


def test_a_cycle_that_no_text_leaves_is_no_counter():
    states = tuple(DfaState(state, accepting=False) for state in range(9))
    edges = tuple(DfaEdge(state, (state + 1) % 9, ((97, 98),)) for state in range(9))
    merged = merge(ByteDfa(0, states, edges), None)
    assert merged is None or not merged.counters


@pytest.mark.parametrize("step", ["ab?c", "a(bc)?d", "a(b|cd?)e", "a[0-9]*,", "ab*", ",?[0-9]", "(a|b)+c?d", "ab?c?d"])
@pytest.mark.parametrize("bounds", ["{0,9}", "{2,11}"])
def test_the_name_of_a_counter_is_an_expression_for_what_it_stands_for(step, bounds):
    chart = chart_of(f"x({step}){bounds}y")
    merged = merge_chart(chart)
    assert merged is not None
    assert merged.size == 3  # start, counter and end
    (name,) = names(merged)
    assert shape(chart_of(f"x{name}y")) == shape(chart)


def shape(chart: Chart) -> set[tuple[int, int, tuple[tuple[int, int], ...]]]:
    """The edges of a minimal automaton, whose states are numbered in the order of a search from the start."""
    return {(edge.source, edge.target, edge.ranges) for edge in chart.dfa.edges}


def test_every_text_follows_drawn_edges_and_every_drawn_edge_is_taken():
    choose = random.Random(5)
    for _ in range(12):
        kinds = ["[ab]", "c", "(d|ef)", "(gh)", "[0-9]", "é", "(ik?l)", "(m[0-9]*n)", "(op*)", "(q(rs|t?u)v)", "(w,?)"]
        atoms = [choose.choice(kinds) for _ in range(3)]
        bounds = [choose.choice(["{0,9}", "{8}", "{2,12}", "", "*", "?"]) for _ in atoms]
        chart = chart_of("".join(a + b for a, b in zip(atoms, bounds, strict=True)) + choose.choice(["", "x", "(y|z)"]))
        merged = merge_chart(chart)
        if merged is None:
            continue
        drawn = {(edge.source, edge.target) for edge in merged.edges}
        taken = set()
        for state in chart.dfa.states:
            for edge in chart.dfa.edges:
                if edge.source == state.id:
                    taken |= path_edges((edge.source, edge.target), merged.fold)
        assert taken <= drawn
        assert merged.fold is not None
        passing = set(merged.fold.within.values()) | merged.fold.characters.keys()
        assert drawn - taken <= passing, "all others are taken by one byte"
        for edge in merged.edges:
            assert edge.target not in merged.fold.inner, "no edge leads into a counter but to its first count"
