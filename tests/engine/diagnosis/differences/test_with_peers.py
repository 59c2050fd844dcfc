"""The keywords that installed engines do not enforce are named, each with a text that the engine itself accepts."""

from __future__ import annotations

import json

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences import CauseKind, DiffVerdict, WalkOptions, compare_named, nearest_options
from engine.peers import PEERS
from engine.peers.adapter import BYTES, OWN
from engine.peers.bench import run_bench
from engine.peers.bench_cases import BenchCase, LabelledText

CODE = {"type": "string", "pattern": "^[a-c]+$", "maxLength": 3}
CLOSED = {"type": "object", "properties": {"code": CODE}, "required": ["code"], "additionalProperties": False}
LOOSE = [
    ("xgrammar", CLOSED, "/properties/code/maxLength"),
    ("xgrammar", {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, "/uniqueItems"),
    ("xgrammar", {"type": "array", "items": {"enum": [1, "a"]}, "contains": {"const": "a"}}, "/contains"),
    ("xgrammar", {"type": "string", "not": {"const": "x"}}, "/not"),
    ("xgrammar", {"type": "integer", "if": {"minimum": 5}, "then": {"maximum": 7}}, "/if"),
    ("xgrammar", {"allOf": [{"type": "string"}, {"maxLength": 2}]}, "/allOf"),
    ("xgrammar", {"type": "object", "required": ["a"]}, "/required"),
    ("outlines-core", {"type": "array", "items": {"enum": [1, "a"]}, "contains": {"const": "a"}}, "/contains"),
    ("outlines-core", {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}, "/uniqueItems"),
]


def installed(name):
    peer = PEERS[name]
    if peer.version is None:
        pytest.skip(f"not installed: {peer.hint}")
    return peer


def compared(peer, schema):
    peers = PEERS[OWN], peer
    constraint = RequestConstraint("json_schema", json.dumps(schema), nearest_options(CompileOptions(), peers))
    report, _ = compare_named(peers, constraint, WalkOptions(steps=1_500))
    return report


@pytest.mark.parametrize(("name", "schema", "pointer"), LOOSE, ids=lambda one: one if isinstance(one, str) else "")
def test_a_keyword_that_is_not_enforced_is_named_first(name, schema, pointer):
    peer = installed(name)
    report = compared(peer, schema)
    first = report.first
    assert report.verdict in (DiffVerdict.LOOSER, DiffVerdict.DIFFERENT)
    assert (first.kind, first.pointer, first.engine) == (CauseKind.KEYWORD, pointer, name)
    assert first.gained
    text = first.text.decode()
    assert not compile_grammar("json_schema", json.dumps(schema)).fullmatch(text)
    (measured,) = run_bench(
        (peer,), BYTES, [BenchCase("text", "json_schema", json.dumps(schema), (LabelledText(text),))]
    )
    assert measured.cases[0].verdicts == (True,)


def test_a_keyword_that_an_engine_refuses_is_named():
    report = compared(installed("llguidance"), {"type": "object", "properties": {"a": {"not": {"const": 1}}}})
    assert report.verdict is DiffVerdict.REFUSED
    assert report.refusals[0].pointer == "/properties/a/not"


def test_engines_that_agree_are_equal():
    report = compared(installed("llguidance"), CLOSED)
    assert (report.verdict, report.differences) == (DiffVerdict.EQUAL, ())
