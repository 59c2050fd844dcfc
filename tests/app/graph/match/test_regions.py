"""The map of a pattern's automaton: every state in one region, counters in one box, never more than can be read."""

from __future__ import annotations

import pickle

import pytest

from app.graph.match.folding import fold_characters
from app.graph.match.regions import FOLDED_BEYOND, MOST_REGIONS, AutomatonRegions, regions_of
from engine.compile import compile_grammar

RECORD = r'\{"name": "[A-Z][a-z]{1,15}", "age": ([1-9]|[1-9][0-9]|1[01][0-9]), "mail": "[a-z]{1,20}@[a-z]{1,20}"\}'
PATTERNS = (
    r"[A-Z]+: [0-9]{0,1000}\n",
    r"[0-9]{0,1000}",
    RECORD,
    "[ab]*a[ab]{7}",
    "(?:[é-ü]|x)*[é-ü](?:[é-ü]|x){6}",
    "(ab|cd){40}",
    r"(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}x{60}",
    "".join(f"[{chr(97 + i % 26)}-z]{{9}}" for i in range(60)),
    "|".join(f"{chr(97 + i // 26 % 26)}{chr(97 + i % 26)}{i:x}y{{3}}" for i in range(200)),
    "(?=.{70})[a-z]{60,80}",
)


def regions(pattern: str) -> AutomatonRegions:
    grammar = compile_grammar("regex", pattern)
    dfa = grammar.materialise()
    assert grammar.grammar is not None
    found = regions_of(dfa, fold_characters(dfa), grammar.grammar.rules[0].node, grammar.source)
    assert found is not None
    return found


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_state_is_in_a_region_and_every_step_on_the_map(pattern: str) -> None:
    found = regions(pattern)
    dfa = compile_grammar("regex", pattern).materialise()
    folded = fold_characters(dfa)
    inner = folded.inner if folded is not None else frozenset()
    assert len(found.of_state) == len(dfa.states)
    assert set(found.of_state) == set(range(len(found.names)))
    assert len(found.names) <= MOST_REGIONS + 1  # and the end
    assert len(set(found.names)) == len(found.names)
    assert sum(found.chart.sizes) == len(dfa.states) - len(inner)
    edges = {(edge.source, edge.target) for edge in found.chart.dfa.edges}
    outer = dfa.edges if folded is None else folded.edges
    expected = {(found.of_state[edge.source], found.of_state[edge.target]) for edge in outer}
    assert edges == {pair for pair in expected if pair[0] != pair[1]}
    assert all(found.chart.words[pair] for pair in edges)
    assert found.chart.dfa.start == found.of_state[0]


def test_a_counter_is_one_box_however_far_it_counts() -> None:
    found = regions(r"[A-Z]+: [0-9]{0,1000}\n")
    assert found.names == ("[A-Z]+", ":␣", "[0-9]{0,1000}", "\\n", "end")
    assert found.chart.sizes == (2, 1, 1000, 1, 1)
    assert found.chart.words[2, 4] == ("\\n",)
    assert regions("[0-9]{0,1000}").chart.sizes == (1001,)


def test_parts_that_read_alike_have_names_of_their_own() -> None:
    found = regions("[a-z]{40}-[a-z]{40}")
    assert found.names[0] == "[a-z]{40}"
    assert "[a-z]{40} (2)" in found.names


def test_a_live_state_within_a_character_is_where_the_character_began() -> None:
    pattern = "(?:[é-ü]|x)*[é-ü](?:[é-ü]|x){6}"
    found = regions(pattern)
    dfa = compile_grammar("regex", pattern).materialise()
    within = dfa.run("é".encode()[:1])
    assert within is not None
    assert found.of_state[within] == found.of_state[0]


def test_a_small_automaton_needs_no_map() -> None:
    grammar = compile_grammar("regex", f"a{{{FOLDED_BEYOND - 1}}}")
    dfa = grammar.materialise()
    assert len(dfa.states) == FOLDED_BEYOND
    assert grammar.grammar is not None
    assert regions_of(dfa, None, grammar.grammar.rules[0].node, grammar.source) is None


def test_a_map_crosses_to_the_window() -> None:
    found = regions(RECORD)
    assert pickle.loads(pickle.dumps(found)) == found
