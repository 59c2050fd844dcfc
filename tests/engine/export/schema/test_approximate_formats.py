"""Formats in the form that is met every day: a part of the format, never more."""

from __future__ import annotations

import json

import pytest
from lockstep import difference, excess

from engine.compile import compile_grammar
from engine.export import NumberSpelling, to_gbnf
from engine.export.schema.formats import FORMATS, approximate_format
from engine.export.text.print_regex import print_regex
from engine.notations.json_schema.formats import format_node

MET = {
    "date-time": ["2024-02-29T23:59:59Z", "2023-01-31t00:00:00.123+05:30"],
    "time": ["12:30:00Z", "23:59:59.9-11:00"],
    "hostname": ["example.com", "a.b.c.d.e.example.co.uk", "x" * 63 + ".org"],
    "email": ["jane.doe+tag@mail.example.com", "a@b", "first.middle.last@example.org", "x" * 64 + "@a.b.c.de.fg.hi"],
}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_an_approximate_format_is_a_part_of_the_format(name):
    part = compile_grammar("regex", print_regex(approximate_format(name)))
    schema = compile_grammar("json_schema", json.dumps({"type": "string", "format": name}))
    quoted = compile_grammar("gbnf", to_gbnf(schema).text)
    assert to_gbnf(schema).notes[1].startswith(f"the format {name} has ")
    assert excess(quoted, schema, walks=10, steps=80) == ""
    for text in MET[name]:
        assert part.fullmatch(text)
        assert schema.fullmatch(f'"{text}"')
    assert format_node(name) is not None


def test_the_longest_host_names_fit():
    hosts = compile_grammar("regex", print_regex(approximate_format("hostname")))
    exact = compile_grammar("json_schema", '{"type": "string", "format": "hostname"}')
    for label, most in ((63, 3), (30, 8)):
        longest = ".".join(["x" * label] * most)
        assert hosts.fullmatch(longest)
        assert exact.fullmatch(f'"{longest}"')
        assert not hosts.fullmatch(longest + ".x" * 5 if most == 8 else longest + "." + "x" * 63)


def test_the_longest_approximate_mailboxes_fit():
    mailboxes = compile_grammar("regex", print_regex(approximate_format("email")))
    exact = compile_grammar("json_schema", '{"type": "string", "format": "email"}')
    for label, most in ((63, 2), (46, 4), (22, 8)):
        longest = "x" * 64 + "@" + ".".join(["x" * label] * most)
        assert mailboxes.fullmatch(longest)
        assert exact.fullmatch(f'"{longest}"')
        assert not mailboxes.fullmatch(longest + ".x" if most == 8 else longest + "." + "x" * label)


def test_what_must_not_be_of_a_format_is_not_changed():
    schema = compile_grammar("json_schema", '{"type": "string", "maxLength": 2, "not": {"format": "time"}}')
    conversion = to_gbnf(schema)
    assert len(conversion.notes) == 1
    assert difference(schema, compile_grammar("gbnf", to_gbnf(schema, NumberSpelling.ANY).text), walks=3) == ""
