"""Masks of schemas against the obvious twin: every token read byte by byte from every place of a text."""

import json
import random

import numpy as np
import pytest

from engine import CompileOptions, LimitExceededError, Limits, Matcher, Vocabulary, compile_grammar
from engine.masking.token_automaton import token_automaton
from engine.schema_automaton.pushdown.automaton import JsonAutomaton

STRUCTURE = r"""
"a "ab "name "n " , : ": ":  ": " "," ", " "],  "}, "}, {" {" {"n {"name": [[ ]] }} [] {} [" "] ","a ","x"
": "a" ","name ": 1, " [1, ,1] "x","x a","a 1,1 1,2 ": {"
true false null 12 1, 10] 0.5 1e5 ,1 ,12 -1 \n \" \\ \u \u00 \u006 \u0061 \ud83d \ude00
me am nam name ab abc abab aaaaaaaa
"""
PIECES = [
    *(bytes([byte]) for byte in range(0x20, 0x7F)),
    *STRUCTURE.encode().split(),
    *(b"}}", b"}]", b"}]}", b"}}]", b"]]}", b"}, {", b"}],", b"}]]", b"1}}}", b"1}]}"),
    *(b"\n", b"\n  ", b"\n    ", b"\t", b'": ', b'": "', b'", "', b'": 1, "', b'"}, {"', b'": {"'),
    *("é".encode(), b"\xc3", b"\xa9", "日本".encode(), b"\xe6\x97", "😀".encode(), b"\xff", b"\x00", b"\x80"),
]
VOCABULARY = Vocabulary([*dict.fromkeys(PIECES), b"name", None, b"<end>"], eos_ids=[len(dict.fromkeys(PIECES)) + 2])

SCHEMAS = {
    "anything": {},
    "closed object": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "names": {"type": "integer"}, "né": {"type": "null"}},
        "required": ["names"],
        "additionalProperties": False,
    },
    "open object": {"properties": {"name": {"enum": ["a", "ab", "é"]}, "n": {"type": "number"}}, "required": ["n"]},
    "one of two objects": {
        "oneOf": [
            {"properties": {"name": {"const": "a"}}, "required": ["name"], "additionalProperties": False},
            {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
        ]
    },
    "patterns of keys": {
        "type": "object",
        "properties": {"name": {"type": "boolean"}},
        "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 0}},
        "additionalProperties": {"type": "string"},
    },
    "one pattern of keys": {
        "patternProperties": {"^[an]b*": {"type": "integer"}},
        "additionalProperties": False,
    },
    "names and patterns of keys": {
        "properties": {"name": {}, "names": {"type": "null"}, "ab": {"type": "integer"}},
        "patternProperties": {"^a": {"type": "integer"}, "b$": {"type": ["integer", "null"]}},
        "additionalProperties": False,
    },
    "counted keys": {"type": "object", "properties": {"name": {}}, "minProperties": 3, "maxProperties": 4},
    "few possible keys": {
        "type": "object",
        "propertyNames": {"pattern": "^[ab]?$"},
        "minProperties": 2,
        "additionalProperties": {"type": "integer"},
    },
    "distinct strings": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "distinct of few": {"type": "array", "items": {"enum": ["a", "ab", 1, True]}, "uniqueItems": True, "minItems": 2},
    "distinct numbers": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "maxItems": 3},
    "distinct within distinct": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "contains": {"type": "array", "contains": {"const": 1}, "minContains": 2, "items": {"type": "integer"}},
    "short string": {"type": "string", "maxLength": 4},
    "long string": {"type": "string", "minLength": 3, "maxLength": 40},
    "at least": {"type": "string", "minLength": 2},
    "bounded pattern": {"type": "string", "pattern": "^(a+b)*$", "maxLength": 60, "minLength": 2},
    "short pattern": {"type": "string", "pattern": "^(a+b)*$", "maxLength": 6},
    "anything but": {"type": "string", "not": {"enum": ["a", "ab", "name", "é"]}},
    "pattern": {"type": "string", "pattern": "a.*[b-d]"},
    "two strings": {"anyOf": [{"enum": ["a", "name"]}, {"type": "string", "pattern": "^[b-n]+$"}]},
    "enum or other": {"anyOf": [{"enum": ["a", "name"]}, {"type": "string", "not": {"enum": ["b", "name"]}}]},
    "bounded number": {"type": "number", "minimum": 1, "maximum": 20, "multipleOf": 0.5},
    "recursive": {
        "type": "object",
        "properties": {"n": {"$ref": "#"}, "name": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    },
}  # fmt: skip


def twin(matcher):
    """The mask, token by token."""
    automaton = matcher.grammar.automaton
    bits = np.zeros(32 * ((VOCABULARY.size + 31) // 32), bool)
    for token_id, token in enumerate(VOCABULARY.tokens):
        place = automaton.cursor(matcher.configuration) if token else None
        for byte in token or b"":
            place = automaton.advance(place, byte) if place is not None else None
        bits[token_id] = place is not None
    for token_id in VOCABULARY.eos_ids:
        bits[token_id] = matcher.is_accepting
    return np.packbits(bits, bitorder="little").view(np.int32)


def compare_along_a_walk(matcher, steps, rng):
    """Random steps; each mask against the twin."""
    for _ in range(steps):
        mask = matcher.bitmask()
        np.testing.assert_array_equal(mask, twin(matcher))
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        allowed = [token_id for token_id in allowed.tolist() if token_id not in VOCABULARY.eos_ids]
        if not allowed:
            return
        assert matcher.accept(rng.choice(allowed))


@pytest.mark.parametrize("whitespace", ["compact", "flexible"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_are_those_of_the_twin(walk, name, whitespace):
    grammar = compile_grammar("json_schema", json.dumps(SCHEMAS[name]), CompileOptions(whitespace=whitespace))
    compare_along_a_walk(Matcher(grammar, VOCABULARY), 25, random.Random(f"{name} {whitespace}"))


TEXTS = {
    "distinct strings": [b'["a', b'["a", "ab', b'["a", "x", "', b'["'],
    "distinct of few": [b'["a', b'["ab", 1', b'["ab", 1, true'],
    "distinct numbers": [b"[1", b"[1, 12, 1", b"[1, 2, "],
    "distinct within distinct": [b'[["a"], ["a', b'[["a", "ab"], ["a", "ab"', b'[["x"'],
    "counted keys": [b'{"x": 1, "a', b'{"name": 1, "x": 1, "', b'{"a": 1, "ab": 2, "a'],
    "few possible keys": [b'{"a": 1, "', b'{"'],
    "long string": [b'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', b'"a', b'"\\', b'"aaaa\xc3'],
    "bounded pattern": [b'"a', b'"' + b"ab" * 26, b'"' + b"ab" * 29 + b"a"],
    "anything but": [b'"a', b'"nam', b'"name', b'"\\u006', b'"\xc3'],
    "open object": [b'{"n', b'{"name": "a', b'{"name": "a", "n": 1', b'{"n": 1, "nam'],
}


@pytest.mark.parametrize("escapes", ["shortest", "any"])
@pytest.mark.parametrize("name", TEXTS)
def test_masks_where_it_is_tight(kernels, name, escapes):
    grammar = compile_grammar("json_schema", json.dumps(SCHEMAS[name]), CompileOptions(escapes=escapes))
    for text in TEXTS[name]:
        if escapes == "shortest" and b"\\u006" in text:
            continue  # the beginning of an escape that JSON does not require
        matcher = Matcher(grammar, VOCABULARY)
        assert matcher.accept_bytes(text), text
        np.testing.assert_array_equal(matcher.bitmask(), twin(matcher), err_msg=repr(text))


def test_a_mask_is_shared_by_places_that_look_alike_from_the_top(kernels):
    item = {"type": "object", "properties": {"n": {"type": "string"}}, "additionalProperties": False}
    schema = {"type": "array", "items": {"anyOf": [item, {"type": "array"}]}}
    grammar = compile_grammar("json_schema", json.dumps(schema))
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b'[{"n": "')
    shared = token_automaton(grammar.automaton, VOCABULARY)
    first = shared.mask(shared.state(matcher.configuration))
    assert matcher.accept_bytes(b'a"}, {"n": "b')
    assert shared.mask(shared.state(matcher.configuration)) is first


def test_a_mask_is_not_shared_where_the_stacks_differ_below(kernels):
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    schema = {
        "properties": {"a": {"type": "array", "items": inner, "maxItems": 1}, "b": inner, "c": {"type": "array"}},
        "additionalProperties": False,
    }
    grammar = compile_grammar("json_schema", json.dumps(schema))
    for text in (b'{"a": [{"n": 1', b'{"b": {"n": 1', b'{"c": [{"n": 1', b'{"c": [[{"n": 1', b'{"c": [{"n": {"n": 1'):
        matcher = Matcher(grammar, VOCABULARY)
        assert matcher.accept_bytes(text)
        np.testing.assert_array_equal(matcher.bitmask(), twin(matcher), err_msg=repr(text))


def test_reading_states_are_forgotten_before_they_are_too_many(kernels):
    schema = json.dumps({"type": "array", "items": {"type": "integer", "multipleOf": 0.123456789}})
    grammar = compile_grammar("json_schema", schema, CompileOptions(limits=Limits(configurations=1000)))
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b"[")
    rng = random.Random(0)
    for _ in range(120):
        assert matcher.accept_bytes(rng.choice([b"1", b"2", b"7"]))
        np.testing.assert_array_equal(matcher.bitmask(), twin(matcher))
    assert grammar.automaton.generation > 0


def test_a_walk_that_breaks_off_leaves_the_next_one_right(kernels, monkeypatch):
    grammar = compile_grammar("json_schema", json.dumps(SCHEMAS["open object"]))
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b'{"name')
    act = JsonAutomaton.stack_action
    calls = []

    def breaking(self, frame, symbol):
        calls.append(symbol)
        if len(calls) == 1:
            raise LimitExceededError("errors.limit.frames", given=2, limit=1)
        return act(self, frame, symbol)

    monkeypatch.setattr(JsonAutomaton, "stack_action", breaking)
    with pytest.raises(LimitExceededError):
        matcher.bitmask()
    np.testing.assert_array_equal(matcher.bitmask(), twin(matcher))


@pytest.mark.parametrize("pattern", ["^/.+/$", "^[(]", "^[\\ud800]*$", "[()]$", "^$", "^a[b-d]+$"])
def test_a_format_beside_a_pattern_is_looked_through_all_the_same(pattern):
    schema = {"type": "string", "format": "regex", "pattern": pattern}
    grammar = compile_grammar("json_schema", json.dumps({"properties": {"a": schema}}))
    may_come = grammar.automaton.run(grammar.automaton.start, b'{"a":"') != 0
    some = ['"/a/"', '"(a)"', '"[(]"', '""', '"ab"']
    assert may_come == any(grammar.fullmatch('{"a":' + text + "}") for text in some)


@pytest.mark.parametrize("longest", [b"", b"]]", b"]]]"])
def test_a_byte_that_ends_a_number_and_its_array_is_allowed_whatever_the_longest_token(kernels, longest):
    """The walk reads one frame more than the longest token has bytes, since its first byte may leave two."""
    tokens = [*(bytes((byte,)) for byte in range(256)), longest or None, None]
    vocabulary = Vocabulary(tokens, [len(tokens) - 1])
    grammar = compile_grammar("json_schema", '{"type": "array"}', CompileOptions(whitespace="compact"))
    matcher = Matcher(grammar, vocabulary)
    assert matcher.accept_bytes(b"[" * (len(longest) or 1) + b"1")
    mask = matcher.bitmask()
    in_mask = [bool(int(mask[token >> 5]) >> (token & 31) & 1) for token in range(len(tokens))]
    assert in_mask == [matcher.is_allowed(token) for token in range(len(tokens))]
    assert in_mask[ord("]")]
    assert in_mask[256] == bool(longest)
