"""Keys that are read along several places, in whatever order the bytes are asked for."""

import json
import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.automata.byte_automaton import DEAD
from engine.compile import CompileOptions, compile_grammar

COUNTED = {"type": "object", "minProperties": 3}
SORTED = {
    "type": "object",
    "patternProperties": {"^a": {"type": "integer"}, "b$": {"type": "boolean"}},
    "additionalProperties": {"type": "string"},
}


@pytest.mark.parametrize("asked_first", [b"", b"x", b"yz", bytes(range(0x20, 0x7F))])
def test_a_key_that_is_counted_does_not_come_twice(asked_first):
    grammar = compile_grammar("json_schema", json.dumps({"anyOf": [COUNTED, SORTED]}))
    automaton = grammar.automaton
    within = automaton.run(automaton.start, b'{"x":"s","')
    for byte in asked_first:
        automaton.step(within, byte)
    assert grammar.fullmatch('{"x":"s","y":"s","a":"s"}')
    assert not grammar.fullmatch('{"x":"s","x":"s","a":"s"}')  # the last key is none of SORTED
    assert grammar.fullmatch('{"x":"s","x":"s"}')  # COUNTED, which counts, is out then
    assert automaton.run(within, b'x":"s","a":"s"') == DEAD


def test_a_key_that_only_one_of_two_places_allows_needs_no_text():
    closed = {"not": {"enum": [{}]}, "enum": [{"x": []}]}  # remembers its keys, and allows none but `x`
    open_to_all = {"unevaluatedProperties": {"type": "integer"}, "patternProperties": {"^$": {}}}
    grammar = compile_grammar("json_schema", json.dumps({"oneOf": [closed, open_to_all]}))
    for text, valid in (('{"a":3}', True), ('{"a":0.3}', False), ('{"x":[]}', True), ('{"x":0}', True), ("{}", True)):
        assert grammar.fullmatch(text) is valid, text


# ---------------------------------------------------------------------- against keys that are tried one by one

KEYS = ["a", "b", "aa", "ab", "ba", "bb"]
PATTERNS = ["^a", "b$", "^.$", "ba"]
VALUES = [1, None, "s"]
PARTS = st.sampled_from([{"enum": VALUES}, *({"enum": [value]} for value in VALUES)])


@st.composite
def objects(draw):
    """A schema of an object whose keys are those six, and no others."""
    properties = draw(st.dictionaries(st.sampled_from(KEYS), PARTS, max_size=4))
    return {
        "type": "object",
        "propertyNames": {"pattern": "^[ab]{1,2}$"},
        "properties": properties,
        "patternProperties": draw(st.dictionaries(st.sampled_from(PATTERNS), PARTS, min_size=1, max_size=3)),
        "additionalProperties": draw(st.one_of(st.just(False), PARTS)),
        "required": draw(st.sampled_from([[], *([name] for name in properties)])),
    }


def _values(schema, key):
    """The values that a key may have, of those three."""
    asked = [schema["properties"][key]] if key in schema["properties"] else []
    asked += [part for pattern, part in schema["patternProperties"].items() if re.search(pattern, key)]
    asked = asked or [schema["additionalProperties"]]
    return [json.dumps(value) for value in VALUES if all(part and value in part["enum"] for part in asked)]


def _texts(schema, most):
    """All texts of so many members, declared ones in their order, no white space."""
    declared = list(schema["properties"])
    todo = [("{", 0, frozenset())]
    for count in range(most + 1):
        following = []
        for text, position, seen in todo:
            if set(schema["required"]) <= seen:
                yield text + "}"
            for key in KEYS:
                at = declared.index(key) if key in declared else None
                if at is not None and at < position:
                    continue
                start = text + ("," if count else "") + json.dumps(key) + ":"
                after = len(declared) if at is None else at + 1
                following += [(start + value, after, seen | {key}) for value in _values(schema, key)]
        todo = following


@settings(max_examples=25)
@given(objects(), st.integers(0, 1 << 32))
def test_keys_may_come_exactly_where_a_text_goes_on_with_them(schema, seed):
    random = Random(seed)
    options = CompileOptions(whitespace="compact", escapes="any")
    automaton = compile_grammar("json_schema", json.dumps(schema), options).automaton
    texts = list(_texts(schema, 3))
    whole = {text[:end] for text in texts for end in range(len(text) + 1)}
    prefixes = sorted(text for text in whole if text.count(":") < 2)
    random.shuffle(prefixes)  # places share what they read, whichever comes first
    for prefix in prefixes[:200]:
        place = automaton.run(automaton.start, prefix.encode())
        for byte in '"ab:,}':
            assert (automaton.run(place, byte.encode()) != DEAD) == (prefix + byte in whole), (prefix, byte)
    for text in random.sample(texts, min(len(texts), 30)):
        letter = random.choice(["a", "b"])
        escaped = text.replace(letter, f"\\u00{ord(letter):02X}")
        assert automaton.accepting[automaton.run(automaton.start, escaped.encode())]


def test_a_pattern_that_only_names_have_is_no_key_of_its_own():
    schema = {
        "properties": {"ba": {}},
        "patternProperties": {"^ba$": {}, "^x+$": False},
        "propertyNames": {"pattern": "^[abx]{1,2}$"},
        "additionalProperties": False,
    }
    automaton = compile_grammar("json_schema", json.dumps(schema)).automaton
    assert automaton.run(automaton.start, b'{"ba":1}') != DEAD
    assert automaton.run(automaton.start, b'{"ba":1,') == DEAD
