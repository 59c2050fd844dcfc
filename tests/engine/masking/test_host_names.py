"""Masks of host names with A-labels, where the text decides which tokens may come."""

import json
import random

import numpy as np
import pytest
from brute_force import brute_force

from engine import CompileOptions, Matcher, Vocabulary, compile_grammar

HOST = {"type": "string", "format": "hostname"}
IDN = {"type": "string", "format": "idn-hostname"}
PIECES = [
    *(bytes([byte]) for byte in range(0x20, 0x7F)),
    *b'xn-- xn -- fiqs8s fiqs8s" p1ai." .xn--p1ai" xn--p1ai", xn--p1ai"} -zca zca" -kva. bcher "] "," a.b"'.split(),
    *(
        rb"\u002e \u0078 \u002d- u002 xn--a.b\" xn--zca.xn--zca\" .com\"} 8s.com\"} s\" a\\".replace(
            rb"\"", b'"'
        ).split()
    ),
    *(b"a" * 16, b's", "xn--', "\u3002".encode(), b"\xe3\x80"),
]
VOCABULARY = Vocabulary([*dict.fromkeys(PIECES), None], eos_ids=[len(dict.fromkeys(PIECES))])
NAMES = "xn--fiqs8s.xn--p1ai a.xn--zca.b xn--bcher-kva xn--aaa-7ka.xn--zca".split()

# Of each schema, how a name stands in an instance.
PLACES = {
    "a name": (HOST, lambda name: name),
    "an internationalized name": (IDN, lambda name: name),
    "members": ({"type": "object", "properties": {"a": HOST, "b": HOST}}, lambda name: {"a": name, "b": name}),
    "items that differ": (
        {"type": "array", "items": {"type": "object", "properties": {"h": HOST}}, "uniqueItems": True},
        lambda name: [{"h": name}, {"h": "a"}],
    ),
    "both": ({"anyOf": [{"items": HOST}, {"items": IDN}], "type": "array"}, lambda name: [name, name]),
}


@pytest.mark.parametrize("escapes", ["shortest", "any"])
@pytest.mark.parametrize("place", PLACES)
def test_masks_are_those_of_the_definition(place, escapes, walk):
    schema, wrap = PLACES[place]
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(escapes=escapes))
    tokens, rng = VOCABULARY.tokens, random.Random(place)
    dots = [".", r"\u002e"] if escapes == "any" else ["."]
    names = (*NAMES, f"xn--{'a' * 54}-kje")
    for name in names if place == "a name" else rng.sample(names, 2):
        rest = json.dumps(wrap(name)).replace(".", rng.choice(dots)).encode()
        matcher = Matcher(grammar, VOCABULARY)
        while rest:
            np.testing.assert_array_equal(matcher.bitmask(), brute_force(grammar, matcher), str(rest))
            fitting = [i for i, token in enumerate(tokens) if token and rest.startswith(token)]
            token_id = rng.choice(fitting)
            if not matcher.accept(token_id):
                break
            rest = rest[len(tokens[token_id]) :]
        assert not rest
        assert matcher.is_accepting


@pytest.mark.parametrize("schema", [HOST, IDN])
def test_whatever_is_begun_can_be_completed(schema, walk):
    grammar = compile_grammar("json_schema", json.dumps(schema), CompileOptions(escapes="any"))
    for number in range(6):
        rng = random.Random(number)
        matcher = Matcher(grammar, VOCABULARY)
        assert matcher.accept_bytes(b'"xn--')
        for _ in range(rng.randint(0, 40)):
            ids = np.flatnonzero(np.unpackbits(matcher.bitmask().astype("<i4").view(np.uint8), bitorder="little"))
            assert len(ids)
            if not matcher.accept(int(rng.choice(ids))):
                raise AssertionError
            if matcher.is_accepting:
                break
        else:
            completion = matcher.shortest_completion()
            assert completion.text is not None
            assert matcher.accept_bytes(completion.text)
            assert matcher.is_accepting
