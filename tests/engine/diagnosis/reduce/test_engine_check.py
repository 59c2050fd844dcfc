"""A check by an engine: doubles that refuse, hang and die, and one that drops a keyword."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.reduce.engine_check import EngineCheck, EngineFailureKind, constraints_of, message_form
from engine.diagnosis.reduce.reduction import reduce_text
from engine.diagnosis.test_strings.json_mutants import JsonMutator
from engine.peers import PEERS
from engine.peers.adapter import BYTES, OWN, Peer
from engine.peers.bench import PeerProcess
from tests.engine.peers.peer_doubles import DoubleAdapter
from tests.engine.peers.schema_doubles import ForgetfulAdapter

pytestmark = pytest.mark.usefixtures("ready_peers")
FORGETFUL = Peer("forgetful", "pytest", ForgetfulAdapter)
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string", "maxLength": 5}, "n": {"type": "integer", "maximum": 40}},
    "required": ["a", "n"],
    "additionalProperties": False,
}


def failure(peer, notation, text, *examples, limit_s=5.0):
    with PeerProcess(peer, BYTES, limit_s=limit_s) as process:
        return EngineCheck(process, notation, CompileOptions(), examples).failure(text)


def test_this_engine_agrees_with_itself():
    assert failure(PEERS[OWN], "json_schema", json.dumps(SCHEMA)) is None


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("refused", EngineFailureKind.REFUSES),
        ("breaks", EngineFailureKind.CRASHES),
        ("dies", EngineFailureKind.CRASHES),
        ("hangs", EngineFailureKind.TOO_SLOW),
        ("rejects", EngineFailureKind.TOO_STRICT),
        ("anything", EngineFailureKind.TOO_LOOSE),
    ],
)
def test_each_kind_of_failure(source, kind):
    found = failure(Peer("double", "pytest", DoubleAdapter), "regex", source, limit_s=3)
    assert found.kind is kind
    assert bool(found.reason) is not bool(found.text)


def test_a_dropped_keyword_is_the_guilty_part():
    with PeerProcess(FORGETFUL, BYTES) as process:
        check = EngineCheck(process, "json_schema", CompileOptions())
        found = check.failure(json.dumps(SCHEMA))
        assert found.kind is EngineFailureKind.TOO_LOOSE
        assert not compile_grammar("json_schema", json.dumps(SCHEMA)).fullmatch(found.text)
        reduced = reduce_text(json.dumps(SCHEMA), "json_schema", lambda text: found.is_like(check.failure(text)))
    assert reduced.pointer == "/properties/n/maximum"


def test_the_grammars_of_a_request_are_checked():
    tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
    request = json.dumps({"model": "m", "messages": [], "tools": tools})
    assert [one.tool for one in constraints_of(request, "json_schema", CompileOptions())] == ["f"]
    assert failure(FORGETFUL, "json_schema", request).kind is EngineFailureKind.TOO_LOOSE


def test_an_example_is_judged_in_place_of_generated_texts():
    text = json.dumps(SCHEMA)
    assert failure(FORGETFUL, "json_schema", text, '{"a": "x", "n": 1}') is None
    found = failure(FORGETFUL, "json_schema", text, '{"a": "x", "n": 41')
    assert (found.kind, found.text) == (EngineFailureKind.TOO_LOOSE, '{"a": "x", "n": 41')


def test_failures_are_alike_by_kind_and_form_of_the_message():
    found = failure(Peer("double", "pytest", DoubleAdapter), "regex", "refused")
    assert found.is_like(replace(found))
    assert not found.is_like(replace(found, reason="TypeError: quite another"))
    assert not found.is_like(replace(found, kind=EngineFailureKind.TOO_SLOW))
    assert not found.is_like(None)
    assert message_form('bad key "a" at 12') == message_form('bad key "bcd" at 7') == ("bad", "key", "at")


def test_mutants_meet_the_bounds_of_the_schema():
    text = '{"a":"x","n":7}'
    mutants = list(JsonMutator(SCHEMA, 1).mutants(text, 400))
    assert mutants == list(JsonMutator(SCHEMA, 1).mutants(text, 400))
    values = [json.loads(one) for one in mutants]
    numbers = {one["n"] for one in values if isinstance(one, dict) and isinstance(one.get("n"), int)}
    lengths = {len(one["a"]) for one in values if isinstance(one, dict) and isinstance(one.get("a"), str)}
    assert {39, 40, 41} <= numbers
    assert {5, 6} <= lengths
    assert any(isinstance(one, dict) and "a" not in one for one in values)
    assert list(JsonMutator(SCHEMA, 1).mutants("no JSON", 4)) == []
