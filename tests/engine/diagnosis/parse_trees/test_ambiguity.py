"""The search for a text with two readings, against the readings of all short texts."""

from itertools import product

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.parse_trees.ambiguity import AmbiguityLimits, shortest_ambiguous_text
from engine.diagnosis.parse_trees.parser import TextParser
from engine.diagnosis.parse_trees.values import AmbiguityVerdict, ParseOutcome
from engine.source import CancelledError, CancelToken
from tests.engine.diagnosis.parse_trees.test_parse_trees import random_grammars

AMBIGUOUS, UNAMBIGUOUS = AmbiguityVerdict.AMBIGUOUS, AmbiguityVerdict.UNAMBIGUOUS


def search(notation, source, limits=None):
    return shortest_ambiguous_text(compile_grammar(notation, source), limits or AmbiguityLimits())


@pytest.mark.parametrize("seed", range(230, 240))
def test_a_shortest_text_is_found(seed):
    (grammar,) = random_grammars(seed, 1)
    answer = shortest_ambiguous_text(grammar, AmbiguityLimits(8, 20_000))
    parser = TextParser(grammar)
    for length in range(6):
        parses = [parser.parse("".join(letters).encode()) for letters in product("xy", repeat=length)]
        if any(one.is_ambiguous and one.outcome is ParseOutcome.COMPLETE for one in parses):
            assert answer.verdict is AMBIGUOUS
            assert len(answer.text) == length
            assert parser.parse(answer.text).is_ambiguous
            return
    assert answer.verdict is not AMBIGUOUS or len(answer.text) > 5


@pytest.mark.parametrize(
    ("notation", "source", "verdict", "text"),
    [
        ("regex", "(a|ab)(c|bcd)*", UNAMBIGUOUS, b""),
        ("regex", "(a|b|ab)*c", AMBIGUOUS, b"abc"),
        ("regex", "[a-z]{0,30}@[a-z]{0,30}", UNAMBIGUOUS, b""),
        ("regex", r"^\d{4}-\d\d$", UNAMBIGUOUS, b""),
        ("regex", r"(?=a)a|(?=b)b", UNAMBIGUOUS, b""),
        ("regex", r"(?=a)a|[ab]", AMBIGUOUS, b"a"),
        ("regex", "é|[è-ê]", AMBIGUOUS, "é".encode()),
        ("gbnf", 'root ::= s\ns ::= "if" s | "if" s "else" s | "x"\n', AMBIGUOUS, b"ififxelsex"),
        ("gbnf", 'root ::= root | "x"\n', AMBIGUOUS, b"x"),
        ("gbnf", 'root ::= item list?\nlist ::= "," item list | "," item\nitem ::= [a-z]+\n', UNAMBIGUOUS, b""),
        ("gbnf", 'root ::= a "c"\na ::= "" | b a\nb ::= "" | "b"\n', AMBIGUOUS, b"c"),
        ("json_schema", '{"anyOf": [{}, {"type": "string"}]}', UNAMBIGUOUS, b""),
    ],
)
def test_a_regular_grammar_is_decided(notation, source, verdict, text):
    answer = search(notation, source)
    assert (answer.verdict, answer.text, answer.reason) == (verdict, text, "")


def test_recursion_is_searched_up_to_a_length():
    for source in ('root ::= "(" root ")" | ""\n', 'root ::= root "+" [0-9]+ | [0-9]+\n'):
        answer = search("gbnf", source, AmbiguityLimits(12, 50_000))
        assert (answer.verdict, answer.length) == (AmbiguityVerdict.NOT_FOUND, 12)


def test_a_limit_of_pairs_says_how_far_the_search_came():
    answer = search("regex", "[a-z]{0,30}(x|[a-z]{50})", AmbiguityLimits(pairs=200))
    assert answer.verdict is AmbiguityVerdict.NOT_FOUND
    assert 0 < answer.length < 30


def test_readings_that_conditions_forbid_are_not_decided():
    answer = search("regex", r"(?=b)[a-z]b|ab")
    assert answer.verdict is AmbiguityVerdict.UNKNOWN
    assert answer.reason


def test_a_search_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError), cancel.scope():
        shortest_ambiguous_text(compile_grammar("regex", "([a-z]{9}|[a-y]{8}z){9}"), cancel=cancel)
