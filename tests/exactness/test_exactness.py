"""A sample of the exactness trials; `python -m tests.exactness --all` does them on all grammars, and more on each."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from engine import Matcher, Vocabulary, compile_grammar
from tests.exactness.brute_force import BruteForce
from tests.exactness.instances import OrderSearch, mutated, spell
from tests.exactness.masks import compare_masks
from tests.exactness.oracles import UnjudgedError, read_json, regex_verdict, schema_verdict, without_formats
from tests.exactness.subjects import Subject, corpora, sample
from tests.exactness.trials import Bench, Effort, try_on

RECORDS = Path(__file__).parents[2] / "resources" / "models" / "records"
SAMPLES = {"masks": 4, "generate": 3, "accept": 5}


@pytest.fixture(scope="module")
def bench():
    return Bench(RECORDS)


@pytest.mark.parametrize("corpus", corpora())
@pytest.mark.parametrize("trial", SAMPLES)
def test_a_sample_of_a_corpus(bench, corpus, trial):
    for subject in sample(corpus, SAMPLES[trial], seed=2):
        assert try_on(trial, subject, bench, Effort()).wrong == []


@pytest.mark.parametrize("corpus", [name for name in corpora() if name != "regex"])
@pytest.mark.parametrize("trial", ["masks", "generate"])
def test_a_sample_of_a_corpus_with_any_escapes(bench, corpus, trial):
    for subject in sample(corpus, 2, seed=3):
        assert try_on(trial, subject, bench, Effort(escapes="any")).wrong == []


# ---------------------------------------------------------------------- the trials can fail


def test_a_wrong_mask_is_found(bench, monkeypatch):
    true_mask = Matcher.bitmask
    monkeypatch.setattr(Matcher, "bitmask", lambda matcher: true_mask(matcher) | np.int32(1 << 20))
    found = compare_masks(Subject("c", "i", "regex", "[a-z]+", ("abc",), ()), bench.brute, seed=0, walks=1, positions=2)
    assert found.wrong
    assert "allows wrongly" in found.wrong[0]


def test_a_mask_that_lacks_a_token_is_found(bench, monkeypatch):
    true_mask = Matcher.bitmask
    monkeypatch.setattr(Matcher, "bitmask", lambda matcher: true_mask(matcher) & np.int32(0x55555555))
    found = compare_masks(Subject("c", "i", "regex", "[a-z]+", ("abc",), ()), bench.brute, seed=0, walks=1, positions=2)
    assert any("lacks" in line for line in found.wrong)


def test_brute_force_is_the_definition():
    vocabulary = Vocabulary([b"a", b"ab", b"b", b"", None, b"a", b"</s>"], eos_ids=[6])
    brute, grammar = BruteForce(vocabulary), compile_grammar("regex", "a?b?")
    assert brute.allowed(grammar, brute.after(grammar, [])) == {0, 1, 2, 5, 6}
    assert brute.allowed(grammar, brute.after(grammar, [0])) == {2, 6}
    assert brute.allowed(grammar, brute.after(grammar, [2])) == {6}
    assert brute.allowed(grammar, brute.after(grammar, [2, 2])) == set()


def test_brute_force_takes_whole_tokens():
    vocabulary = Vocabulary([b"a", None, b"</s>"], eos_ids=[2], special={1: "<think>"})
    brute = BruteForce(vocabulary)
    grammar = compile_grammar("gbnf", 'root ::= <think> "a"')
    assert brute.allowed(grammar, brute.after(grammar, [])) == {1}
    assert brute.allowed(grammar, brute.after(grammar, [1])) == {0}
    negated = compile_grammar("gbnf", "root ::= !<think>")
    assert brute.allowed(negated, brute.after(negated, [])) == {0}


# ---------------------------------------------------------------------- the oracles


@pytest.mark.parametrize(
    ("schema", "text", "valid"),
    [
        ({"type": "integer"}, "1.0", True),
        ({"multipleOf": 0.1}, "0.3", True),
        ({"multipleOf": 0.1}, "0.35", False),
        ({"format": "date"}, '"2024-02-30"', False),
        ({"dependencies": {"a": ["b"]}}, '{"a": 1}', False),
        ({"uniqueItems": True}, "[[1], [true], [1]]", False),
        ({"uniqueItems": True}, '[[1], [true], 1, true, "1", null, {"a": 1}, {"a": true}]', True),
        ({"uniqueItems": True}, '[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]', False),
    ],
)
def test_the_oracle_of_schemas(schema, text, valid):
    assert schema_verdict(read_json(json.dumps(schema)))(text) == valid


def test_what_the_oracle_cannot_tell_is_not_judged():
    with pytest.raises(UnjudgedError):
        schema_verdict({"pattern": r"\p{L}"})
    with pytest.raises(UnjudgedError):
        schema_verdict({"pattern": r"^\d$"})('"é"')
    with pytest.raises(UnjudgedError):
        regex_verdict("(")


def test_formats_are_left_out_but_not_properties_of_that_name():
    schema = {"format": "date", "properties": {"format": {"format": "x"}}, "const": {"format": "date"}}
    assert without_formats(schema) == {"properties": {"format": {}}, "const": {"format": "date"}}


def test_instances_are_spelled_as_the_engine_writes_them():
    value = read_json('{"a": [1.0, 2.50, -0.0, 1e2, "é"], "b": {}}')
    assert spell(value, blank=" ", ascii_only=True) == '{"a": [1, 2.50, 0, 100, "\\u00e9"], "b": {}}'
    assert spell(value, blank="", ascii_only=False) == '{"a":[1,2.50,0,100,"é"],"b":{}}'


def test_an_order_is_found():
    properties = {name: {"type": "integer"} for name in "abc"}
    schema = {"properties": properties, "required": ["c"], "additionalProperties": False}
    search = OrderSearch(compile_grammar("json_schema", json.dumps(schema)))
    assert search.accepts({"c": 1, "b": 2, "a": 3})
    assert search.accepts({"a": 1}) is False
    assert search.accepts({"c": 1, "x": 2}) is False


def test_mutation_is_repeatable():
    value = {"a": [1, "x"], "b": {"c": None}}
    made = [[mutated(value, random.Random(seed)) for seed in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len({json.dumps(one, default=str) for one in made[0]}) > 20
