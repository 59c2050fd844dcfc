"""What a step did to the rules: as a reader of the grammar expects it, and however the text is cut into tokens."""

from __future__ import annotations

import itertools
import json

import pytest

from engine.compile import compile_grammar
from engine.decoding.debugging.breakpoints import RuleEvents
from engine.decoding.debugging.rule_events import RuleEventTracker
from engine.source import Span

SUMS = compile_grammar(
    "gbnf",
    """root ::= expr
expr ::= term ("+" term)*
term ::= num | paren
paren ::= "(" expr ")"
num ::= [0-9]+
""",
)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "x": {"$ref": "#/$defs/n"},
    },
    "required": ["name", "tags", "x"],
    "additionalProperties": False,
    "$defs": {"n": {"type": "object", "properties": {"v": {"type": "number"}}, "required": ["v"]}},
}
RECORD = compile_grammar("json_schema", json.dumps(SCHEMA))


def after(grammar, *tokens: bytes) -> RuleEvents:
    return RuleEventTracker(grammar).after(tokens)


def test_nothing_stands_before_the_first_token():
    assert RuleEventTracker(SUMS).after(()) == RuleEvents()


def test_a_rule_is_entered_by_its_first_byte_and_not_by_being_possible():
    assert after(SUMS, b"(").entered == ("root", "expr", "term", "paren")
    assert "num" not in after(SUMS, b"(").open
    assert after(SUMS, b"(", b"1").entered == ("expr", "term", "num")
    assert after(SUMS, b"(", b"1", b"2").entered == ()


def test_a_rule_that_may_go_on_is_not_over():
    assert after(SUMS, b"(", b"12").left == ()
    assert after(SUMS, b"(", b"12").open == ("root", "expr", "term", "paren", "num")
    assert after(SUMS, b"(", b"12", b"+").left == ("num", "term")


def test_a_bracket_closes_what_is_in_it():
    closed = after(SUMS, b"(", b"12", b")")
    assert closed.left == ("num", "term", "expr", "paren")
    assert (closed.depth_before, closed.depth) == (7, 2)


def test_what_follows_itself_is_entered_anew():
    digits = compile_grammar("gbnf", "root ::= digit+\ndigit ::= [0-9]\n")
    assert after(digits, b"1", b"2").entered == ("digit",)
    assert after(digits, b"1", b"2").left == ("digit",)


def test_a_call_with_nothing_behind_it_does_not_end_its_caller():
    word = compile_grammar("gbnf", 'root ::= "(" word\nword ::= [ab] more\nmore ::= "c" "x"\n')
    assert after(word, b"(a", b"c").open == ("root", "word", "more")
    assert after(word, b"(a", b"cx").left == ("more", "word", "root")


def test_what_a_token_enters_and_leaves_within_itself_is_told():
    both = after(SUMS, b"1", b"+(2)+")
    assert "paren" in both.entered
    assert "paren" in both.left
    assert both.depth == 2


def test_places_tell_what_read_the_first_byte_of_something():
    words = compile_grammar("regex", r"[A-Z]+: [a-z]+")
    assert after(words, b"A").read == (Span(0, 5),)
    assert after(words, b"A", b"B").read == ()
    assert after(words, b"A", b": x").read == (Span(6, 7), Span(7, 8), Span(8, 13))
    assert after(words, b"A").depth == 0


def test_the_values_of_a_schema_are_its_rules():
    assert after(RECORD, b"{").entered == ("",)
    assert after(RECORD, b'{"name": "').entered == ("", "/properties/name")
    assert after(RECORD, b'{"name": "', b'A", "tags":').left == ("/properties/name",)
    tags = b'{"name": "A", "tags": ['
    assert after(RECORD, tags, b"1").open == ("", "/properties/tags", "/properties/tags/items")
    assert after(RECORD, tags, b"1", b"2").entered == ()
    assert after(RECORD, tags, b"1", b",2").entered == ("/properties/tags/items",)
    assert after(RECORD, tags, b"1", b"]").left == ("/properties/tags/items", "/properties/tags")


def test_a_reference_names_both_ends():
    inside = after(RECORD, b'{"name": "", "tags": [], "x": {"v"', b": 1")
    assert set(inside.open) == {"", "/properties/x", "/$defs/n", "/$defs/n/properties/v"}
    assert inside.depth == 3


@pytest.mark.parametrize(
    ("grammar", "text"),
    [(SUMS, b"((1+2)+34)+5"), (RECORD, b'{"name": "a\\"b", "tags": [1, -20], "x": {"v": 1e5}}')],
)
def test_how_a_text_is_cut_into_tokens_changes_no_sum(grammar, text):
    """A whole text at once enters and leaves what its bytes do, one after the other, and ends as deep."""
    passages = RuleEventTracker(grammar)
    by_byte = [passages.after([text[i : i + 1] for i in range(n + 1)]) for n in range(len(text))]
    for first, last in itertools.combinations(range(len(text)), 2):
        cut = [text[:first], text[first:last], text[last:]]
        together = passages.after([token for token in cut if token])
        alone = by_byte[last:]
        assert set(together.entered) == {name for one in alone for name in one.entered}
        assert set(together.left) == {name for one in alone for name in one.left}
        assert together.depth == by_byte[-1].depth
        assert together.depth_before == by_byte[last - 1].depth


def test_a_text_that_does_not_match_is_followed_as_far_as_it_does():
    assert after(SUMS, b"(", b"1x+").open == ("root", "expr", "term", "paren", "num")
    assert after(SUMS, b"", b"(").entered == ("root", "expr", "term", "paren")
