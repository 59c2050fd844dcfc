from collections import Counter

import pytest

from app.document import file as document_file
from app.document.gallery import examples
from engine.compile import CompileOptions, compile_grammar
from engine.models.known import known_models
from engine.source import Severity

EXAMPLES = examples()


def test_there_are_enough_and_the_first_one_greets():
    assert len(EXAMPLES) >= 8
    assert EXAMPLES[0].source == r"[A-Z]+: [a-z]+\n"
    assert EXAMPLES[0].model == "shakespeare"
    assert len({example.title for example in EXAMPLES}) == len(EXAMPLES)


def test_every_notation_has_some():
    counts = Counter(example.notation for example in EXAMPLES)
    assert counts["regex"] >= 8
    assert counts["gbnf"] >= 4
    assert counts["json_schema"] >= 5


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_each_compiles_with_no_more_than_hints_and_makes_a_document(example):
    grammar = compile_grammar(example.notation, example.source, CompileOptions())
    assert not grammar.is_empty
    assert all(finding.severity is Severity.HINT for finding in grammar.diagnostics)
    assert example.model in {info.spec for info in known_models()}
    data = document_file.encode(example.document())
    assert document_file.decode(data, "example").grammar.text == example.source
