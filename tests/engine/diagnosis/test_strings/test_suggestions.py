import itertools

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.test_strings.coverage import coverage, uses_of
from engine.diagnosis.test_strings.suggestions import (
    ShortestWitnesses,
    near_misses,
    random_texts,
    shortest_text,
    texts_of_rules,
)
from engine.diagnosis.test_strings.values import SuggestionKind
from engine.source.catalogue import catalogue_text

GRAMMAR = 'root ::= a | "(" root ")"\na ::= b "x"? | c c\nb ::= [xy]\nc ::= "z" b\n'
SCHEMA = """{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}},
"required": ["a"], "additionalProperties": false}"""


@pytest.fixture(scope="module")
def grammar():
    return compile_grammar("gbnf", GRAMMAR)


@pytest.fixture(scope="module")
def automata(grammar):
    return grammar.rule_automata()


def test_the_shortest_text_through_each_edge(grammar, automata):
    """Against all texts, shortest first."""
    texts = ("".join(letters) for length in range(7) for letters in itertools.product("xyz()", repeat=length))
    shortest_of = {}
    for text in filter(grammar.fullmatch, texts):
        for key in uses_of(automata, text.encode()).edges:
            shortest_of.setdefault(key, len(text))
    ways = ShortestWitnesses(automata)
    edges = [row.key for row in coverage(automata, []).edges]
    assert set(shortest_of) == set(edges)
    for key in edges:
        text = ways.through_edge(key)
        assert grammar.fullmatch(text)
        assert key in uses_of(automata, text).edges
        assert len(text) == shortest_of[key]


def test_the_shortest_text_through_each_rule(grammar, automata):
    ways = ShortestWitnesses(automata)
    assert {rule.name: ways.through_rule(n) for n, rule in enumerate(automata.rules)} == {
        "root": b"x",
        "a": b"x",
        "b": b"x",
        "c": b"zxzx",
    }


def test_one_for_each_rule_and_edge_covers_all(grammar, automata):
    nothing = coverage(automata, [])
    made = texts_of_rules(grammar, automata, nothing.rules, nothing.edges)
    covered = coverage(automata, [uses_of(automata, one.text.encode()) for one in made])
    assert covered.covered_edges == len(covered.edges)
    assert covered.covered_rules == len(covered.rules)
    assert {one.kind for one in made} <= {SuggestionKind.RULE, SuggestionKind.EDGE}


@pytest.mark.parametrize(
    ("notation", "source"), [("gbnf", GRAMMAR), ("json_schema", SCHEMA), ("regex", "[a-zé]{2,4}-[0-9]+")]
)
def test_suggestions_do_what_they_say(notation, source):
    grammar = compile_grammar(notation, source)
    best = shortest_text(grammar)
    drawn = random_texts(grammar, 5, seed=3)
    assert len(best) == 1
    assert len({one.text for one in drawn}) == len(drawn) > 1
    for one in (*best, *drawn, *near_misses(grammar, [one.text for one in drawn])):
        assert grammar.fullmatch(one.text) is one.accepts
    assert all(len(best[0].text) <= len(one.text) for one in drawn)


def test_the_same_seed_draws_the_same(grammar):
    assert random_texts(grammar, 3, seed=1) == random_texts(grammar, 3, seed=1)


def test_near_misses_of_json_are_what_models_get_wrong():
    grammar = compile_grammar("json_schema", SCHEMA)
    found = {one.why: one.text for one in near_misses(grammar, ['{"a":1}'])}
    assert found["cut one character short"] == '{"a":1'
    assert found["a comma before the end"] == '{"a":1,}'
    assert found["in " + catalogue_text("verdicts.around.fragment.fence")] == '```json\n{"a":1}\n```'


def test_an_empty_language_has_none():
    grammar = compile_grammar("regex", "a$b")
    assert (shortest_text(grammar), random_texts(grammar, 3, 0), near_misses(grammar, [])) == ((), (), ())
