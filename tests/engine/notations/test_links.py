"""Addresses of schemas: malformed ones have an outcome, too."""

import json

import pytest

from engine import GrammarError, compile_grammar
from engine.notations import links
from engine.notations.json_schema.outline import Outline
from engine.notations.json_schema.targets import SchemaTargets

MALFORMED = ["http://[", "http://[example.com/x", "http://[x]:y/", "http://\u2100/"]


@pytest.mark.parametrize("address", MALFORMED)
def test_a_malformed_address_is_split_and_joined(address: str) -> None:
    assert links.split(f"{address}#a") == (address, "a")
    assert links.split(address) == (address, "")
    assert links.join(address, "b") in ("b", "http:///b", f"{address}b")
    assert links.join("http://a/b", address) == address


def test_well_formed_ones() -> None:
    assert links.split("http://a/b?c#/d%20e") == ("http://a/b?c", "/d%20e")
    assert links.join("http://a/b/c", "../d") == "http://a/d"


@pytest.mark.parametrize("address", MALFORMED)
@pytest.mark.parametrize("key", ["$id", "$ref", "$dynamicRef"])
def test_schemas_with_such_addresses_compile_or_are_refused(address: str, key: str) -> None:
    schema = {key: f"{address}#/x", "properties": {"a": {"$id": "b"}, "c": {"$ref": "b"}, "d": {"$ref": f"{address}#"}}}
    text = json.dumps(schema)
    SchemaTargets(Outline(text))
    if key == "$id":  # which the last reference then names
        assert compile_grammar("json_schema", text).fullmatch('{"d": 1}')
        return
    with pytest.raises(GrammarError) as caught:
        compile_grammar("json_schema", text)
    assert {finding.code for finding in caught.value.diagnostics} == {"schema-remote-reference"}


def test_the_same_malformed_address_is_found() -> None:
    schema = {"$id": "http://[a/x", "$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}}
    assert compile_grammar("json_schema", json.dumps(schema)).fullmatch('"a"')
