"""A running llama-server compared with Turnstile by their masks."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partialmethod

import numpy as np
import pytest
from error_keys import raises_key
from llama_server import connect
from tiny_gguf import END_IDS

from engine.compile import CompileOptions
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences import (
    AttachedEngine,
    DiffVerdict,
    PeerEngine,
    WalkOptions,
    compare_engines,
)
from engine.peers import PEERS
from engine.peers.adapter import OWN, GreedyTokenizer
from engine.peers.masks import FollowedText
from engine.peers.run_masks import ServerMasks
from engine.servers import ServerClient, ServerError, identify
from engine.servers.llama_mask import LlamaMaskReader
from engine.servers.server_mask import MaskSketch, RunSketch
from engine.source import CancelToken
from tests.engine.servers.test_identity import OLLAMA
from tests.support.server_double import served

pytestmark = pytest.mark.usefixtures("ready_peers")

DATE = json.dumps(
    {
        "type": "object",
        "properties": {"a": {"type": "string", "format": "date"}},
        "required": ["a"],
        "additionalProperties": False,
    }
)
WITHOUT_MASK = '{"not": {"type": "string"}}'


def compared(server, notation: str, source: str, steps: int = 100, seconds: float | None = None):
    cancel, options = CancelToken(), CompileOptions(whitespace="compact")
    with connect(server) as client:
        engine = AttachedEngine(client, notation)
        engine.require_mask(source)
        with PeerEngine(PEERS[OWN], engine.vocabulary, notation, options=options, cancel=cancel) as own:
            constraint = RequestConstraint(notation, source, options)
            return compare_engines(
                (own, engine), engine.vocabulary, constraint, WalkOptions(steps=steps, seconds=seconds), cancel
            )


def accepts(server, notation: str, source: str, text: bytes) -> bool:
    """Return whether each token of a text and its end are in the server's masks, asked anew."""
    with connect(server) as client:
        vocabulary = AttachedEngine(client, notation).vocabulary
        ids = GreedyTokenizer(vocabulary).spell(text)
        with closing(ServerMasks(client, identify(client), notation, source, vocabulary)) as masks:
            found = masks.along(ids, range(len(ids) + 1))
    following = [{token_id} for token_id in ids] + [END_IDS]
    return all(allowed & set(found[position].ids) for position, allowed in enumerate(following))


def test_a_grammar_that_both_read_alike_is_equal(llama_server):
    report = compared(llama_server, "gbnf", 'root ::= "ab" [0-9]{1,2} | "c"')
    assert (report.verdict, report.names) == (DiffVerdict.EQUAL, (OWN, "llama-server"))
    assert report.checked > 10


def test_a_keyword_that_the_server_reads_otherwise_is_named_with_a_text_that_it_accepts(llama_server):
    report = compared(llama_server, "json_schema", DATE, steps=240)
    found = report.first
    assert (report.verdict, found.pointer) == (DiffVerdict.LOOSER, "/properties/a/format")
    assert found.accepted_by == "llama-server"
    assert accepts(llama_server, "json_schema", DATE, found.text)


def test_a_text_of_ours_that_the_server_masks(llama_server):
    source = '{"type": "integer", "multipleOf": 3}'
    report = compared(llama_server, "json_schema", source)
    assert report.verdict is DiffVerdict.STRICTER
    assert (report.first.pointer, report.first.accepted_by) == ("/multipleOf", OWN)
    assert json.loads(report.first.text) % 3 == 0
    assert not accepts(llama_server, "json_schema", source, report.first.text)


def test_equal_arguments_give_equal_results(llama_server):
    first, second = (compared(llama_server, "json_schema", DATE, steps=40) for _ in range(2))
    assert first == second


def test_a_grammar_that_the_server_refuses_is_a_verdict(llama_server):
    report = compared(llama_server, "gbnf", 'root ::= root "a" | "b"')
    assert report.verdict is DiffVerdict.REFUSED
    assert report.refusals[0].engine == "llama-server"


def test_a_server_that_applies_no_mask_is_not_compared(llama_server):
    with raises_key(ServerError, "errors.servers.unmasked"):
        compared(llama_server, "json_schema", WITHOUT_MASK)


def test_a_text_without_a_mask_is_unknown_and_not_refused(llama_server):
    with connect(llama_server) as client:
        engine = AttachedEngine(client, "json_schema")
        ids = GreedyTokenizer(engine.vocabulary).spell(b"1")
        assert engine.follow(WITHOUT_MASK, [tuple(ids)]).texts == (FollowedText((), is_cut=True),)


def test_what_is_not_read_is_cut_and_what_is_masked_is_not(llama_server):
    with connect(llama_server) as client:
        engine = AttachedEngine(client, "gbnf")
        spell = GreedyTokenizer(engine.vocabulary).spell
        (masked,) = engine.follow("root ::= [0-9]+", [tuple(spell(b"1x2"))]).texts
        many = [(spell(b"7")[0],) * number for number in range(1, 80)]
        found = engine.follow("root ::= [0-9]+", many).texts
    assert (masked.reached, masked.is_cut) == (1, False)
    assert found[0].reached == 1
    assert found[-1] == FollowedText((), is_cut=True)


def test_a_server_completes_a_text_by_its_own_masks(llama_server):
    schema = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    with connect(llama_server) as client:
        engine = AttachedEngine(client, "json_schema")
        path = tuple(GreedyTokenizer(engine.vocabulary).spell(b'{"a'))
        found = engine.complete(schema, path)
        text = b"".join(engine.vocabulary.tokens[token_id] for token_id in found)
        assert engine.complete(schema, tuple(GreedyTokenizer(engine.vocabulary).spell(b"}"))) is None
    assert isinstance(json.loads(text)["a"], int)
    assert accepts(llama_server, "json_schema", schema, text)


def test_masks_beyond_a_short_list_are_those_that_the_server_lists(llama_server, monkeypatch):
    monkeypatch.setattr(LlamaMaskReader, "sketch", partialmethod(_short_sketch, LlamaMaskReader.sketch))
    source = 'root ::= [a-z]+ "-" [0-9]'
    with connect(llama_server) as client:
        engine = AttachedEngine(client, "gbnf")
        path = tuple(GreedyTokenizer(engine.vocabulary).spell(b"quite-7"))
        (text,) = engine.follow(source, [path]).texts
        with closing(ServerMasks(client, identify(client), "gbnf", source, engine.vocabulary)) as masks:
            listed = masks.along(path, range(len(path) + 1))
    assert text.is_known
    assert list(text.masks) == [listed[position].words for position in range(len(path) + 1)]


def _short_sketch(reader, sketch, constraint, ids):
    """Return a sketch that lists four tokens of each mask."""
    found = sketch(reader, constraint, ids)
    masks = (
        one and MaskSketch(one.listed[np.isin(one.listed, [*one.listed[:4], *END_IDS])], one.count)
        for one in found.masks
    )
    return RunSketch(found.drawn, tuple(masks), found.is_left)


def test_a_time_limit_holds_before_the_first_answer(llama_server):
    report = compared(llama_server, "json_schema", DATE, seconds=1e-9)
    assert (report.verdict, report.checked, report.is_cut_by_time) == (DiffVerdict.UNKNOWN, 0, True)


def test_a_kind_that_shows_no_mask_is_an_error():
    with (
        served(OLLAMA) as double,
        ServerClient(double.address) as client,
        raises_key(ServerError, "errors.servers.no_mask"),
    ):
        AttachedEngine(client, "json_schema")
