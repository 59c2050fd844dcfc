"""Formats as rules that count, against the formats."""

from __future__ import annotations

import json
from functools import cache
from itertools import product

import pytest
from lockstep import difference

from engine.compile import CompileOptions, compile_grammar
from engine.export import NumberSpelling, to_gbnf
from engine.export.schema.formats import FORMATS
from engine.source import GrammarError

A63 = "x" * 63


@cache
def schema(name, escapes="shortest"):
    source = json.dumps({"type": "string", "format": name})
    return compile_grammar("json_schema", source, CompileOptions(escapes=escapes))


@cache
def written(name, escapes="shortest"):
    conversion = to_gbnf(schema(name, escapes), NumberSpelling.ANY)
    assert not conversion.notes
    return compile_grammar("gbnf", conversion.text)


@pytest.mark.parametrize("escapes", ["shortest", "any"])
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_text_is_the_format(name, escapes):
    assert difference(schema(name, escapes), written(name, escapes), walks=2, steps=60) == ""


@pytest.mark.parametrize(("name", "day"), [("time", ""), ("date-time", "2016-12-31T"), ("date-time", "2017-01-01t")])
def test_leap_seconds(name, day):
    text = '"{}{:02}:{:02}:60.5{}{:02}:{:02}"'
    for sign, offset, off in product("+-", (0, 1, 59, 60, 61, 330, 1439), (0, 1, -1, 60)):
        local = (23 * 60 + 59 + (offset if sign == "+" else -offset) + off) % 1440
        one = text.format(day, *divmod(local, 60), sign, *divmod(offset, 60))
        assert written(name).fullmatch(one) == schema(name).fullmatch(one), one


LENGTHS = {
    "hostname": [
        *(".".join([A63] * 3) + "." + "x" * n for n in (60, 61, 62)),
        *("x" * n for n in (1, 63, 64)),
        *(".".join(["a"] * n) for n in (126, 127, 128)),
        *("ab--c", "ab-c", "a--b", "abc-", "a--bcdefg", "ab--" + "c" * 9, "abcd--e", "x.y-.z", "a-b-c-d", "-"),
    ],
    "email": [
        *("x" * n + "@y" for n in (1, 63, 64, 65)),
        *(".".join(["a"] * n) + "@y" for n in (32, 33)),
        *('"' + "x" * n + '"@y' for n in (0, 62, 63)),
        *('"' + r"\@" * n + '"@y' for n in (30, 31, 32)),
        *("a@" + ".".join([A63] * 3) + "." + "x" * n for n in (59, 60, 61)),
        *("a" * n + "@" + ".".join([A63] * 3) for n in (61, 62, 63)),
        *('"' + "a" * n + '"@' + ".".join([A63] * 3) for n in (59, 60, 61)),
        *("a" * n + "@" + ".".join(["x" * 62] * 3) + ".x" for n in (63, 64, 65)),
        *("a@[1.2.3.4]", "a@[IPv6:::1]", "a.@b", ".a@b", "a..b@c", "a@b.", "a@b..c", "a@b-", "a@b--c"),
    ],
}


@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_lengths(name):
    for text in LENGTHS[name]:
        quoted = json.dumps(text)
        assert written(name).fullmatch(quoted) == schema(name).fullmatch(quoted), text


def test_every_spelling_of_a_character():
    assert written("hostname", "any").fullmatch(r'"\u0061\u002eb"')
    assert not written("hostname").fullmatch(r'"\u0061\u002eb"')
    for escapes in ("shortest", "any"):
        text = r'"\u0022\"@b"'
        assert written("email", escapes).fullmatch(text) == schema("email", escapes).fullmatch(text)


def test_among_other_strings():
    strings = [{"type": "string", "format": name} for name in ("hostname", "ipv6", "email")]
    members = {"a": {"anyOf": [strings[0], strings[1], {"const": "none at all"}]}, "local-3": strings[2]}
    one = compile_grammar("json_schema", json.dumps({"properties": members, "additionalProperties": False}))
    text = to_gbnf(one, NumberSpelling.ANY).text
    assert difference(one, compile_grammar("gbnf", text), walks=2, steps=80) == ""


def test_with_a_length_it_is_refused():
    one = compile_grammar("json_schema", '{"type": "string", "format": "hostname", "maxLength": 100}')
    with pytest.raises(GrammarError):
        to_gbnf(one, NumberSpelling.ANY)
