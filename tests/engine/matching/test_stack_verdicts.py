"""What every stack made of a token: each by itself, and all together what the whole match says."""

from __future__ import annotations

import json
import string

import pytest

from engine import Matcher, Vocabulary, compile_grammar
from engine.matching import Reason
from engine.matching.explanation import StackVerdict
from engine.source import Span

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), None, None, None], [258], {256: "<t>", 257: "<u>"})
VALUES = 'root ::= value\nvalue ::= bool | number | "tra" ws\nbool ::= "true" | "false"\nnumber ::= [0-9]+\nws ::= " "?'


def at(notation, text, taken=b""):
    matcher = Matcher(compile_grammar(notation, text), BYTES)
    assert matcher.accept_bytes(taken)
    return matcher


def test_every_stack_says_where_it_ended_and_what_it_wanted():
    found = at("gbnf", VALUES).explain(b"trux")
    assert [(one.offset, one.expected, one.rules) for one in found.stacks] == [
        (3, ((101, 101),), ("bool",)),
        (2, ((97, 97),), ("value",)),
        (0, ((102, 102),), ("bool",)),
        (0, ((48, 57),), ("number",)),
    ]
    source = compile_grammar("gbnf", VALUES).source
    assert [[source.excerpt(span) for span in one.spans] for one in found.stacks] == [["e"], ["a"], ["f"], ["[0-9]"]]


@pytest.mark.parametrize(
    ("notation", "text", "taken"),
    [
        ("regex", "(a|b)*ab[xy]", b"a"),
        ("regex", "(?=.*b)(a|ab|b)+c", b"a"),
        ("gbnf", 'root ::= e "!"\ne ::= e "+" e | "(" e ")" | "a"', b"(a+"),
        ("json_schema", '{"anyOf": [{"enum": ["ab", "ac"]}, {"type": "string", "maxLength": 1}]}', b'"'),
    ],
)
def test_together_they_are_the_verdict_on_the_whole(notation, text, taken):
    matcher = at(notation, text, taken)
    for data in (b"x", b"ab", b"abz", b"a+)", b"aab", b'c"', b"((a", b"\xff", b"bbbc"):
        found = matcher.explain(data)
        if found.allowed:
            assert found.stacks == ()
            continue
        farthest = [one for one in found.stacks if one.offset == found.offset]
        assert found.stacks[0] in farthest
        assert all(one.offset <= found.offset for one in found.stacks)
        wanted = {byte for one in farthest for first, last in one.expected for byte in range(first, last + 1)}
        assert wanted == {byte for first, last in found.expected for byte in range(first, last + 1)}
        assert any(one.accepting for one in farthest) == found.accepting
        # A stack that its conditions let come to nothing is none, but its place counts for the whole.
        assert {span for one in farthest for span in one.spans} <= set(found.spans)


def test_what_may_come_next_by_stack():
    matcher = at("gbnf", VALUES, b"tr")
    assert {(one.offset, one.expected, one.rules) for one in matcher.stacks()} == {
        (None, ((97, 97),), ("value",)),
        (None, ((117, 117),), ("bool",)),
    }
    assert at("regex", "a*").stacks() == (
        StackVerdict(None, (), accepting=True),
        StackVerdict(None, ((97, 97),), spans=(Span(0, 1),)),
    )


def test_an_end_is_refused_by_every_stack():
    found = at("regex", "ab|cd").explain(258)
    assert found.reason is Reason.NOT_ACCEPTING
    assert [one.expected for one in found.stacks] == [((97, 97),), ((99, 99),)]
    assert all(one.offset is None for one in found.stacks)


def test_so_many_stacks_are_told_apart_and_no_more():
    letters = string.ascii_letters[:40]
    text = "|".join(f"{letter}x" for letter in letters)
    found = at("regex", text).explain(b"!")
    assert len(found.stacks) == 20
    wanted = [byte for one in found.stacks for first, last in one.expected for byte in range(first, last + 1)]
    assert sorted(wanted) == sorted(letters.encode())


def test_a_grammar_of_one_rule_has_its_name():
    assert at("gbnf", 'root ::= "a"').stacks()[0].rules == ("root",)


def test_a_schema_is_told_by_its_pointers():
    schema = {"properties": {"a/b": {"type": "string", "maxLength": 1}}, "required": ["a/b"], "type": "object"}
    matcher = at("json_schema", json.dumps(schema), b'{"a/b": "x')
    (verdict,) = matcher.explain(b"yz").stacks
    assert verdict.offset == 0
    assert verdict.rules == ("/properties/a~1b/maxLength",)
    (opened,) = at("json_schema", json.dumps(schema), b"{").stacks()
    assert set(opened.rules) == {"/properties/a~1b", "/required/0"}


# ---------------------------------------------------------------------- tokens taken whole


@pytest.mark.parametrize("kind", ["integer", "string"])
def test_a_value_is_told_by_the_type_of_its_own_property(kind):
    schema = {"properties": {"a": {"type": kind}, "b": {"type": kind}}, "required": ["a", "b"]}
    value = json.dumps({"integer": 1, "string": "x"}[kind]).encode()
    (first,) = at("json_schema", json.dumps(schema), b'{"a":').explain(b"?").stacks
    (second,) = at("json_schema", json.dumps(schema), b'{"a":' + value + b',"b":').explain(b"?").stacks
    assert (first.rules, second.rules) == (("/properties/a/type",), ("/properties/b/type",))


NODE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "size": {"type": "integer", "minimum": 3},
                "unit": {"enum": ["c", "f"]},
            },
            "additionalProperties": False,
        }
    },
    "anyOf": [{"$ref": "#/$defs/node"}, {"type": "string", "maxLength": 4}],
}


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", {"/$defs/node/type", "/anyOf/1/type"}),
        ('{"kids":', {"/$defs/node/properties/kids/type"}),
        ('{"kids":[{"size":', {"/$defs/node/properties/size/type", "/$defs/node/properties/size/minimum"}),
        ('{"unit":', {"/$defs/node/properties/unit/enum"}),
        ('{"unit": ', {"/$defs/node/properties/unit/enum"}),
        ('{"kids":[],"', {"/$defs/node/properties/size", "/$defs/node/properties/unit"}),
        ('{"kids":[],"u', {"/$defs/node/properties/unit"}),
    ],
)
def test_a_value_that_has_not_begun_has_the_locations_that_decide_its_first_byte(text, rules):
    (verdict,) = at("json_schema", json.dumps(NODE), text.encode()).stacks()
    assert set(verdict.rules) == rules


def test_a_token_element_is_allowed_and_explained():
    matcher = at("gbnf", 'root ::= "a" <t> "b" | "ac"', b"a")
    assert matcher.explain(256).allowed
    other = matcher.explain(257)
    assert (other.reason, other.tokens) == (Reason.SPECIAL, ("<t>",))
    letter = matcher.explain(b"b")
    assert (letter.reason, letter.tokens, letter.expected) == (Reason.DEAD_BYTE, ("<t>",), ((99, 99),))
    assert {one.tokens for one in letter.stacks} == {("<t>",), ()}


def test_an_explanation_agrees_with_the_mask_where_tokens_are_taken_whole():
    matcher = at("gbnf", 'root ::= ("a" | !<[97]> | <t>) "b"')
    assert [matcher.explain(i).allowed for i in range(BYTES.size)] == [matcher.is_allowed(i) for i in range(BYTES.size)]


def test_nothing_is_forced_where_a_token_may_stand_instead():
    assert at("gbnf", 'root ::= "ab" ("c" | <t>)').forced_bytes() == b"ab"
    assert at("gbnf", 'root ::= <t> | "ab"').forced_bytes() == b""


# ---------------------------------------------------------------------- complete, or merely accepted


@pytest.mark.parametrize(
    ("notation", "text", "taken", "accepting", "exhausted"),
    [
        ("regex", "a(bc)?", b"", False, False),
        ("regex", "a(bc)?", b"a", True, False),
        ("regex", "a(bc)?", b"abc", True, True),
        ("regex", "a(?!.*)", b"", False, True),
        ("regex", "", b"", True, True),
        ("gbnf", 'root ::= "a" <t>?', b"a", True, False),
        ("json_schema", '{"type": "integer"}', b"1", True, False),
        ("json_schema", '{"type": "object"}', b"{}", True, True),
    ],
)
def test_exhausted_is_not_accepting(notation, text, taken, accepting, exhausted):
    matcher = at(notation, text, taken) if taken else Matcher(compile_grammar(notation, text), BYTES)
    assert (matcher.is_accepting, matcher.is_exhausted) == (accepting, exhausted)


def test_after_an_end_nothing_may_follow():
    matcher = at("regex", "a*")
    assert matcher.accept(258)
    assert matcher.is_exhausted
    assert matcher.stacks() == ()


@pytest.mark.parametrize(("notation", "text"), [("regex", "a(?!.*)"), ("json_schema", '{"allOf": [false]}')])
def test_an_empty_language_takes_no_text_at_all(notation, text):
    matcher = Matcher(compile_grammar(notation, text), BYTES)
    assert not matcher.accept_bytes(b"")
    assert not matcher.is_accepting
    assert matcher.stacks() == ()
    assert matcher.shortest_completion().is_impossible
