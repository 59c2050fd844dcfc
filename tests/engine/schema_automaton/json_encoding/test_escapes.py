"""Which escapes a schema's strings may have: each mode against `json`, and both of them side by side in one process."""

import itertools
import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import CompileOptions, Matcher, Vocabulary, compile_grammar
from engine.schema_automaton.json_encoding.encoder import Escapes, spellings
from tests.exactness.brute_force import BruteForce

CHARACTERS = 'abx1/"\\\n\x01\x1f\x7fé\u2028😀'
TEXTS = st.text(alphabet=CHARACTERS, max_size=4)
CONSTRAINED = {
    "a name": {"const": "a/é😀"},
    "names": {"enum": ["", "a", 'a"', "a\\", "\x01\n", "\x7f", "é", "😀/", "x1"]},
    "no name": {"type": "string", "not": {"enum": ["a", "é", "\x1f"]}},
    "a pattern": {"type": "string", "pattern": "^[^b]*$"},
    "a pattern that anything may follow": {"type": "string", "pattern": "^a"},
    "a word boundary": {"type": "string", "pattern": r"a\b"},
    "a look-behind": {"type": "string", "pattern": "(?<=[aé])b"},
    "two patterns": {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "/|é|^.$"}]},
    "a bounded pattern": {"type": "string", "pattern": "^[a/é😀\x01]{1,20}$", "maxLength": 3},
    "a length": {"type": "string", "minLength": 1, "maxLength": 3},
    "a least length": {"type": "string", "minLength": 2},
    "a format": {"type": "string", "format": "json-pointer"},
    "a pattern or a name": {"anyOf": [{"pattern": "^b"}, {"enum": ["a/", "é"]}], "type": "string"},
    "characters": {"type": "string", "pattern": f"^[{''.join(map(chr, range(0x4E00, 0x4E00 + 600, 2)))}]*$"},
}
FREE = {
    "anything": {},
    "a string": {"type": "string"},
    "a string or a number": {"anyOf": [{"type": "string"}, {"minimum": 3}]},
}


def compiled(schema, escapes="shortest", **options):
    return compile_grammar("json_schema", json.dumps(schema), CompileOptions(escapes=escapes, **options))


SHORTEST = {name: compiled(schema) for name, schema in (CONSTRAINED | FREE).items()}
ANY = {name: compiled(schema, "any") for name, schema in (CONSTRAINED | FREE).items()}


def forms(text, escapes=Escapes.ANY, most=200):
    """Some texts that spell a string, quotes included."""
    of_each = [
        [bytes(way) for listed in spellings(ord(character), escapes) for way in itertools.product(*listed)]
        for character in text
    ]
    rng = random.Random(text)
    is_small = math.prod(map(len, of_each)) <= most
    chosen = itertools.product(*of_each) if is_small else ([rng.choice(ways) for ways in of_each] for _ in range(most))
    return {b'"' + b"".join(each) + b'"' for each in chosen}


@pytest.mark.parametrize("name", CONSTRAINED)
@given(text=TEXTS)
@settings(max_examples=40)
def test_a_string_with_conditions_has_one_spelling_and_loses_no_value(name, text):
    shortest = json.dumps(text, ensure_ascii=False).encode()
    is_valid = ANY[name].fullmatch(shortest)
    assert SHORTEST[name].fullmatch(shortest) == is_valid
    for form in forms(text):
        assert ANY[name].fullmatch(form) == is_valid
        assert SHORTEST[name].fullmatch(form) == (is_valid and form == shortest)


@pytest.mark.parametrize("name", FREE)
@given(text=TEXTS)
@settings(max_examples=40)
def test_a_string_without_conditions_is_spelled_as_writers_do(name, text):
    for form in forms(text, Escapes.ABOVE_ASCII):
        assert SHORTEST[name].fullmatch(form)
    for form in forms(text):
        assert ANY[name].fullmatch(form)
    for ensure_ascii in (False, True):
        written = json.dumps(text, ensure_ascii=ensure_ascii)
        assert "\x7f" in text or SHORTEST[name].fullmatch(written)
    assert SHORTEST[name].fullmatch(json.dumps(text, ensure_ascii=False))
    assert SHORTEST[name].fullmatch(json.dumps(text, ensure_ascii=False).replace("/", "\\/"))


@given(character=st.sampled_from(CHARACTERS))
def test_a_character_without_conditions_has_no_other_spellings(character):
    expected = forms(character, Escapes.ABOVE_ASCII, 1_000)
    for form in forms(character, most=1_000):
        assert SHORTEST["anything"].fullmatch(form) == (form in expected)


OBJECTS = {
    "declared": {"properties": {"a": {}, "é/": {"type": "string"}}},
    "closed": {"properties": {"a": {}, "é/": {"type": "string"}}, "additionalProperties": False},
    "required": {"properties": {"\n": {}, "a": {}}, "required": ["\n"]},
    "patterns": {"patternProperties": {"^a": {"type": "string"}, "é": {"maxLength": 2}}},
    "names with a condition": {"propertyNames": {"pattern": "^[^b]*$"}},
    "counted": {"minProperties": 2},
    "some member": {"not": {"additionalProperties": {"type": "integer"}}},
    "alternatives": {
        "anyOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["x1"]},
            {"properties": {"a": {"enum": ["x", "é"]}}},
            {"properties": {"a": {"not": {"enum": ["x", "/"]}}}, "required": ["é/"]},
        ]
    },
}
OBJECTS_SHORTEST = {name: compiled(schema, property_order="any") for name, schema in OBJECTS.items()}
OBJECTS_ANY = {name: compiled(schema, "any", property_order="any") for name, schema in OBJECTS.items()}
KEYS = st.sampled_from(["a", "é/", "\n", "x1", "ab", "", "é", "b"])
MEMBERS = st.dictionaries(KEYS, st.sampled_from(["", "é", "x", "/", "a😀", 1]), max_size=3)


def written(members, rng, escapes):
    """An object with each of its strings in one of its spellings; and whether all names are in their shortest."""
    parts, plain = [], True
    for key, value in members.items():
        name = rng.choice(sorted(forms(key, escapes)))
        plain &= name == json.dumps(key, ensure_ascii=False).encode()
        spelled = rng.choice(sorted(forms(value, escapes))) if isinstance(value, str) else str(value).encode()
        parts.append(name + b":" + spelled)
    return b"{" + b",".join(parts) + b"}", plain


@pytest.mark.parametrize("name", OBJECTS)
@given(members=MEMBERS, seed=st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_names_of_properties_have_one_spelling_and_objects_lose_no_value(name, members, seed):
    shortest, every = OBJECTS_SHORTEST[name], OBJECTS_ANY[name]
    plain = json.dumps(members, ensure_ascii=False, separators=(",", ":"))
    assert shortest.fullmatch(plain) == every.fullmatch(plain)
    rng = random.Random(seed)
    for escapes in (Escapes.ANY, Escapes.ABOVE_ASCII):
        text, has_plain_names = written(members, rng, escapes)
        assert every.fullmatch(text) == every.fullmatch(plain)
        if shortest.fullmatch(text):
            assert every.fullmatch(text)
            assert has_plain_names


def test_a_value_without_conditions_along_one_alternative_may_be_escaped_there_alone():
    schema = OBJECTS["alternatives"]
    grammar = compiled(schema, property_order="any")
    assert grammar.fullmatch(r'{"a":"\u00e9","x1":1}')
    assert not grammar.fullmatch(r'{"a":"\u00e9"}')
    assert not grammar.fullmatch(r'{"a":"\u00e9","é/":1}')
    assert grammar.fullmatch('{"a":"é","é/":1}')


def test_a_key_that_came_does_not_come_again_in_another_spelling():
    schema = {"minProperties": 2, "maxProperties": 3}
    for escapes in ("shortest", "any"):
        grammar = compiled(schema, escapes)
        assert not grammar.fullmatch('{"a":1,"a":2}')
        assert not grammar.fullmatch(r'{"a":1,"\u0061":2}')
        assert not grammar.fullmatch(r'{"é":1,"\u00e9":2}')
        assert grammar.fullmatch('{"é":1,"e":2}')


def test_items_that_must_differ_are_compared_as_values():
    for escapes in ("shortest", "any"):
        grammar = compiled({"items": {"type": "string"}, "uniqueItems": True}, escapes)
        assert not grammar.fullmatch(r'["é","\u00e9"]')
        assert not grammar.fullmatch(r'["/","\/"]')
        assert grammar.fullmatch(r'["\u00e9","\u00e8","é\/"]')
        assert not grammar.fullmatch(r'["\u00e9","\u00e8","é\/","é/"]')
        assert not grammar.fullmatch(r'["a/","\ud83d\ude00","a\/"]')
        assert grammar.fullmatch(r'["a/","\ud83d\ude00","\/"]')
        nested = compiled({"items": {"items": {}}, "uniqueItems": True}, escapes)
        assert nested.fullmatch(r'[["é"],["\u00e8"],{"a":"é"},{"a":"\u00e8"}]')
        assert not nested.fullmatch(r'[["é"],["\u00e9"]]')
        assert not nested.fullmatch(r'[{"a":"é"},{"a":"\u00e9"}]')
        named = compiled({"items": {"enum": ["é", "è"]}, "uniqueItems": True}, escapes)
        assert named.fullmatch('["é","è"]')
        assert named.fullmatch(r'["é","\u00e8"]') is (escapes == "any")


def test_host_names_are_read_in_one_spelling():
    for name in ("hostname", "idn-hostname"):
        shortest, every = (compiled({"type": "string", "format": name}, escapes) for escapes in ("shortest", "any"))
        for label in ("a.b", "xn--nxasmq6b", "xn--nxasmq6b.a"):
            escaped = "".join(f"\\u{ord(character):04x}" for character in label)
            assert shortest.fullmatch(f'"{label}"')
            assert every.fullmatch(f'"{label}"')
            assert every.fullmatch(f'"{escaped}"')
            assert not shortest.fullmatch(f'"{escaped}"')


def test_a_lone_surrogate_is_written_as_an_escape_only():
    for escapes in ("shortest", "any"):
        grammar = compiled({"const": "\ud800"}, escapes)
        assert grammar.fullmatch(rb'"\ud800"')
        assert not grammar.fullmatch(b'"\xed\xa0\x80"')


def test_the_failure_of_a_masked_model_cannot_be_written():
    schema = {"properties": {"age": {"type": "integer"}, "description": {"type": "string"}}, "required": ["age"]}
    automaton = compiled(schema).automaton
    assert automaton.run(automaton.start, b'{"age": 28,"d\\u0065') == 0
    assert automaton.run(automaton.start, b'{"age": 28,"d\\') != 0  # another property may have such a name
    closed = compiled(schema | {"additionalProperties": False}).automaton
    assert closed.run(closed.start, b'{"age": 28,"d\\') == 0


# ---------------------------------------------------------------------- masks, both modes side by side

PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *map(str.encode, ["é", "😀", "ab", '":', '",', "\\u", "\\u00", "\\u0061", "\\u00e9", "\\u00E9", "\\ud83d\\ude00"]),
    *map(
        str.encode,
        ["\\/", "\\n", '\\"', "\\\\", "a\\u00", '"a', '{"a', '{"é', "x1", "a/", " ", '","', "\\u001f", "\\u001F"],
    ),
]


@pytest.fixture(scope="module")
def brute():
    return BruteForce(Vocabulary([*PIECES, None], eos_ids=[len(PIECES)]))


ARRAYS = {
    "items that differ": {"items": {"type": "string"}, "uniqueItems": True},
    "any items that differ": {"uniqueItems": True},
    "items that differ, some of them": {
        "type": "array",
        "anyOf": [{"items": {"type": "string"}, "uniqueItems": True}, {"items": {"enum": ["a/", "é", "b"]}}],
    },
}


@given(items=st.lists(TEXTS, max_size=3), seed=st.integers(0, 1 << 32))
@settings(max_examples=100)
def test_items_that_must_differ_may_have_the_escapes_that_others_have(items, seed):
    rng = random.Random(seed)
    text = b"[" + b",".join(rng.choice(sorted(forms(item, Escapes.ABOVE_ASCII))) for item in items) + b"]"
    for escapes in ("shortest", "any"):
        assert DIFFERENT[escapes].fullmatch(text) == (len(set(items)) == len(items))


DIFFERENT = {escapes: compiled(ARRAYS["items that differ"], escapes) for escapes in ("shortest", "any")}


@pytest.mark.parametrize("name", [*CONSTRAINED, *FREE, *OBJECTS, *ARRAYS])
def test_masks_are_brute_force_in_both_modes_at_once(brute, name):
    schema = (CONSTRAINED | FREE | OBJECTS | ARRAYS)[name]
    matchers = {escapes: Matcher(compiled(schema, escapes), brute.vocabulary) for escapes in ("shortest", "any")}
    fresh = {escapes: compiled(schema, escapes) for escapes in matchers}
    for seed in range(3):
        rng = random.Random(f"{name} {seed}")
        taken = {escapes: [] for escapes in matchers}
        walks = {escapes: matcher.fork() for escapes, matcher in matchers.items()}
        for _ in range(10):
            allowed = {}
            for escapes, matcher in walks.items():
                found = {
                    token for token in range(brute.vocabulary.size) if matcher.bitmask()[token >> 5] >> (token & 31) & 1
                }
                assert found == brute.allowed(fresh[escapes], brute.after(fresh[escapes], taken[escapes]))
                allowed[escapes] = found
            if taken["shortest"] == taken["any"]:
                assert allowed["shortest"] <= allowed["any"]
            choice = sorted(allowed["shortest"] - brute.vocabulary.eos_ids)
            if not choice:
                break
            token = rng.choice(choice)
            for escapes, matcher in walks.items():
                assert matcher.accept(token)
                taken[escapes].append(token)
