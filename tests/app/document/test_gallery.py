from __future__ import annotations

from collections import Counter

import pytest

from app.document.gallery import CATEGORIES, Example, examples
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.decoding.generate import generate
from engine.decoding.values import Finish
from engine.document.codec import decode, encode
from engine.models import LogitSource, load_model
from engine.models.load import known_models
from engine.source import Severity

EXAMPLES = examples()
BUDGET = 48
MOST_WORDS = 32


def compiled(example: Example) -> CompiledGrammar:
    return compile_grammar(example.notation, example.source, CompileOptions(whitespace=example.whitespace))


def named(example: Example) -> str:
    return example.title


@pytest.fixture(scope="module")
def models() -> dict[str, LogitSource]:
    return {spec: load_model(spec) for spec in ("shakespeare", "records")}


def test_there_are_enough_and_the_first_one_greets():
    assert len(EXAMPLES) >= 30
    assert EXAMPLES[0].source == r"[A-Z]+: [a-z]+\n"
    assert EXAMPLES[0].model == "shakespeare"
    assert len({example.title for example in EXAMPLES}) == len(EXAMPLES)


def test_every_notation_and_every_category_has_some():
    notations = Counter(example.notation for example in EXAMPLES)
    assert notations.keys() == {"regex", "gbnf", "json_schema"}
    assert min(notations.values()) >= 10
    assert Counter(example.category for example in EXAMPLES).keys() == set(CATEGORIES)


def test_they_come_by_category():
    assert list(dict.fromkeys(example.category for example in EXAMPLES)) == list(CATEGORIES)


def test_words_find_what_says_them():
    found = [example.title for example in EXAMPLES if example.rank("TOOL_call  gbnf")]
    assert found == ["Tool calls of Hermes and Qwen", "Tool calls of Mistral"]
    assert not any(example.rank("zebra") for example in EXAMPLES)
    assert all(example.rank(" ") for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_each_says_what_it_is_for(example: Example):
    assert example.description.endswith(".")
    assert "\n" not in example.description
    assert len(example.description.split()) <= MOST_WORDS
    assert example.model in {info.spec for info in known_models()}


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_each_compiles_with_no_more_than_hints_and_makes_a_document(example: Example):
    grammar = compiled(example)
    assert not grammar.is_empty
    assert all(finding.severity is Severity.HINT for finding in grammar.diagnostics)
    data = encode(example.document())
    assert decode(data, "example") == example.document()


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_its_test_strings_are_what_the_grammar_does(example: Example):
    grammar = compiled(example)
    expected = example.document().test_strings
    assert {one.accepts for one in expected} == {True, False}
    assert len(set(expected)) == len(expected)
    for one in expected:
        assert grammar.fullmatch(one.text) is one.accepts, one


@pytest.mark.parametrize("example", [*{one.category: one for one in EXAMPLES}.values(), EXAMPLES[0]], ids=named)
def test_its_model_writes_it(example: Example, models: dict[str, LogitSource]):
    """The last one of every category: the longest are among them."""
    grammar = compiled(example)
    written = generate(
        grammar, models[example.model], prompt=example.prompt, sampler=example.sampler, max_tokens=BUDGET
    )
    assert written.finish is not Finish.DEAD_END, written.problem
    assert written.output
    assert written.finish is Finish.LENGTH or grammar.fullmatch(written.output)
