"""Files of cases, and how texts are spelled."""

import pytest
from error_keys import raises_key

from engine.peers import BenchCase, CasesError, LabelledText, read_cases
from engine.peers.adapter import GreedyTokenizer
from engine.vocabulary import Vocabulary


def test_both_forms_are_read():
    lines = """{"id": "m", "schema": {"const": 1}, "tests": [{"valid": true, "data": 1}, {"valid": false, "data": 2}]}

{"id": "r", "kind": "regex", "source": "a+", "accept": ["a"], "reject": ["b"]}
{"id": "g", "kind": "gbnf", "source": "root ::= \\"x\\""}
"""
    assert read_cases(lines) == [
        BenchCase("m", "json_schema", '{"const": 1}', (LabelledText("1", True), LabelledText("2", False))),
        BenchCase("r", "regex", "a+", (LabelledText("a", True), LabelledText("b", False))),
        BenchCase("g", "gbnf", 'root ::= "x"', ()),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id": 1}',
        '{"id": "x", "kind": "lark", "source": ""}',
        '{"id": "x", "kind": "regex", "source": 1}',
        '{"id": "x", "kind": "regex", "source": "a", "accept": [1]}',
        '{"id": "x", "schema": {}, "tests": [{}]}',
    ],
)
def test_what_is_no_case_is_told_with_its_line(line):
    with raises_key(CasesError, "errors.peers.case", line=2):
        read_cases('{"id": "m", "schema": {}}\n' + line)


def test_the_longest_token_is_taken():
    speller = GreedyTokenizer(Vocabulary([b"a", b"ab", b"abc", None, b"b", b"ab"], eos_ids=[]))
    assert speller.spell(b"abab") == [1, 1]
    assert speller.spell(b"abcab") == [2, 1]
    assert speller.spell(b"") == []
    assert speller.spell(b"abx") is None
