"""Schemas of host names with A-labels: verdicts against the `idna` package."""

import json
import random

import idna
import pytest

from engine import CompileOptions, Matcher, Vocabulary, compile_grammar
from tests.exactness.soundness.format_oracles import is_hostname, is_idn_hostname

HOST = {"type": "string", "format": "hostname"}
IDN = {"type": "string", "format": "idn-hostname"}
VOCABULARY = Vocabulary([*(bytes([byte]) for byte in range(256)), None], eos_ids=[256])
NAMES = "xn--fiqs8s.xn--p1ai a.xn--zca.b xn--bcher-kva xn--80ak6aa92e xn--mgberp4a5d4ar www.xn--p1ai".split()
WRONG = "xn--fiqs8.xn--p1ai a.xn--a.b xn--bcher-KVA xn--l-kva xn--a XN--p1ai xn--P1ai xn--p1ai.. ab--p1ai".split()
LONG = "xn--" + "b" * 44 + "-93daaaaaaaaaaa"

# Of each schema, how a name stands in an instance.
PLACES = {
    "a name": (HOST, lambda name: name),
    "an internationalized name": (IDN, lambda name: name),
    "with the length of names": ({**HOST, "minLength": 1, "maxLength": 253}, lambda name: name),
    "members": (
        {"type": "object", "properties": {"a": HOST, "b": HOST}, "required": ["a"], "additionalProperties": False},
        lambda name: {"a": name, "b": name},
    ),
    "items that differ": (
        {"type": "array", "items": {"type": "object", "properties": {"h": HOST}}, "uniqueItems": True},
        lambda name: [{"h": name}, {"h": "a"}],
    ),
    "one of two objects": (
        {
            "type": "object",
            "anyOf": [
                {"properties": {"h": HOST}, "required": ["h"]},
                {"properties": {"h": {"type": "string", "maxLength": 3}, "i": {}}, "required": ["h", "i"]},
            ],
        },
        lambda name: {"h": name},
    ),
    "both": ({"anyOf": [{"items": HOST}, {"items": IDN}], "type": "array"}, lambda name: [name, name]),
}
# Where more is said of the string, there are no A-labels.
WITHOUT = {
    "a length": {**HOST, "maxLength": 100},
    "a pattern": {**HOST, "pattern": "x"},
    "a key": {"type": "object", "propertyNames": HOST},
}


def accepts(schema, value):
    return compile_grammar("json_schema", json.dumps(schema)).fullmatch(json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize("place", PLACES)
def test_names_with_a_labels_stand_wherever_names_do(place):
    schema, wrap = PLACES[place]
    assert all(accepts(schema, wrap(name)) for name in NAMES)
    assert not any(accepts(schema, wrap(name)) for name in (*WRONG, LONG))


@pytest.mark.parametrize("schema", [HOST, IDN])
def test_characters_of_names_may_be_escaped(schema):
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(escapes="any"))
    for name in NAMES:
        every = "".join(rf"\u{ord(character):04X}" for character in name)
        assert grammar.fullmatch(f'"{every}"')
        assert grammar.fullmatch(json.dumps(name).replace(".", r"\u002e").replace("n--", r"n\u002D-"))
        assert not grammar.fullmatch(f'"{every}\\u002E"')


# Names of A-labels in which one is right-to-left: then no label may begin with a digit (RFC 5893, sections 1.4 and 2).
BIDI = {
    "xn--4db": True,
    "xn--4db.a0": True,
    "a-0.xn--zca.xn--4db": True,
    "xn--4db.xn--ngba1o": True,
    "xn--0-gyc.0a.1": True,
    "0a.xn--4db": False,
    "xn--4db.0a": False,
    "xn--4db.a.0": False,
    "xn--4db.xn--0-gyc": False,
    "xn--0-gyc.xn--4db": False,
    "xn--0-gyc.a.xn--4db": False,
}
BIDI_BEYOND_ASCII = {
    "xn--4db.\u00fc": True,
    "\u05d0.xn--zca": True,
    "xn--0-gyc\u3002\u00fc": True,
    "xn--4db.\u05d0.a": True,
    "xn--4db.0\u00fc": False,
    "0\u00fc.xn--4db": False,
    "\u05d0.xn--0-gyc": False,
    "xn--0-gyc\u3002\u05d0": False,
    "\u05d0.xn--4db.0": False,
}


def test_a_name_with_a_right_to_left_label_obeys_the_bidi_rule():
    for name, valid in BIDI.items():
        assert is_hostname(name) is is_idn_hostname(name) is valid
        assert accepts(HOST, name) is accepts(IDN, name) is valid, name
        assert accepts(PLACES["both"][0], [name, name]) is valid, name
    for name, valid in BIDI_BEYOND_ASCII.items():
        assert accepts(IDN, name) is is_idn_hostname(name) is valid, name


def test_a_right_to_left_a_label_decides_how_later_labels_begin():
    for schema, letters in ((HOST, b"a"), (IDN, "a\u05d0".encode())):
        matcher = Matcher(compile_grammar("json_schema", json.dumps(schema)), VOCABULARY)
        assert matcher.accept_bytes(b'"xn--4db.')
        assert not matcher.is_allowed(ord("0"))
        assert matcher.is_allowed(ord("a"))
        assert matcher.is_allowed(letters[-2 if len(letters) > 1 else 0])
        assert matcher.accept_bytes(b"xn--0-gyc")
        assert not matcher.is_allowed(ord('"'))
        assert not matcher.is_allowed(ord("."))
        assert matcher.is_allowed(ord("a"))


def test_labels_between_other_dots():
    for dot in "\u3002\uff0e\uff61":
        assert accepts(IDN, f"xn--fiqs8s{dot}xn--p1ai")
        assert accepts(IDN, f"b\u00fccher{dot}xn--p1ai{dot}\u4e2d\u56fd")
        assert not accepts(IDN, f"xn--fiqs8{dot}xn--p1ai")
        assert not accepts(HOST, f"xn--fiqs8s{dot}xn--p1ai")


@pytest.mark.parametrize("name", WITHOUT)
def test_where_more_is_said_there_are_none(name):
    wrap = (lambda value: {value: 1}) if name == "a key" else lambda value: value
    assert not any(accepts(WITHOUT[name], wrap(value)) for value in (*NAMES, *WRONG))
    assert accepts(WITHOUT[name], wrap("x.example"))


@pytest.mark.parametrize("schema", [HOST, IDN])
def test_no_a_label_is_what_is_no_name(schema):
    for text in (*NAMES, LONG):
        assert not accepts({"type": "string", "not": schema}, text)
        assert not accepts({"type": "string", "oneOf": [schema, {"minLength": 1}]}, text)
        assert not accepts({"type": "string", "if": schema, "then": {"maxLength": 1}}, text)
    assert accepts({"not": {"not": schema}}, "a.b")


@pytest.mark.parametrize("schema", [HOST, IDN])
def test_verdicts_are_those_of_the_library(schema):
    grammar, rng = compile_grammar("json_schema", json.dumps(schema)), random.Random(4)
    alphabets = (
        "\u0430\u0431\u0432\u0433\u0434-",
        "abc\u00fc\u00e9-",
        "\u4e2d\u56fd\u30fb\u30a2",
        "\u05d0\u05d1\u05f31",
        "\u0627\u0628\u0660\u06f0\u200c",
        "a\u0300\u0301\u00df\U00020000\u00b7l",
    )
    accepted = 0
    for _ in range(1500):
        alphabet = rng.choice(alphabets)
        label = "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 14)))
        text = list("xn--" + label.encode("punycode").decode())
        if rng.random() < 0.4:
            text[rng.randrange(4, len(text))] = rng.choice("abcdefghijklmnopqrstuvwxyz0123456789-")
        name = "".join(text)
        try:
            valid = idna.alabel(idna.ulabel(name)).decode() == name
        except idna.IDNAError:
            valid = False
        assert grammar.fullmatch(json.dumps(name)) is valid, name
        accepted += valid
    assert 300 < accepted < 1200


def test_steps_are_undone_and_forked():
    grammar = compile_grammar("json_schema", json.dumps({"type": "array", "items": HOST}))
    matcher = Matcher(grammar, VOCABULARY)
    assert matcher.accept_bytes(b'["xn--fiqs8')
    fork = matcher.fork()
    assert not matcher.accept_bytes(b'"')
    assert matcher.accept_bytes(b"s")
    assert matcher.accept_bytes(b'.xn--p1ai"]')
    assert matcher.is_accepting
    matcher.rollback(2)
    assert matcher.configuration == fork.configuration
    assert not fork.accept_bytes(b".")
    assert fork.accept_bytes(b's"]')


def test_a_text_is_followed_within_a_labels_only():
    grammar = compile_grammar("json_schema", json.dumps({"type": "array", "items": HOST}))
    automaton = grammar.automaton
    for text in (b'["xn--fiqs8s.', b'["ab-cdefgh.'):
        one = automaton.run(automaton.start, text)
        assert one == automaton.run(automaton.start, text.replace(b"fiqs8s", b"wgv71a"))
    first = automaton.run(automaton.start, b'["xn--fiqs8s"')
    assert first == automaton.run(automaton.start, b'["a"')


def test_what_is_read_within_a_label_has_its_place():
    source = json.dumps(HOST)
    grammar = compile_grammar("json_schema", source)
    automaton = grammar.automaton
    (span,) = automaton.spans(automaton.run(automaton.start, b'"xn--fiq'))
    assert "hostname" in source[span.start : span.end]
