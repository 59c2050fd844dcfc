"""Masks along a run, of Turnstile and of a server, and where they part."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from error_keys import raises_key
from llama_server import connect
from tiny_gguf import CONTROL, END_IDS, token_bytes

from engine.compile import compile_grammar
from engine.peers.adapter import GreedyTokenizer, Peer, PeerAbsentError
from engine.peers.adapters.turnstile import OwnAdapter
from engine.peers.run_masks import MaskParting, OwnMasks, PeerMasks, RunMask, ServerMasks, parting
from engine.servers import ServerClient, ServerError, identify
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary
from tests.engine.peers.schema_doubles import ChoosyAdapter, NineAdapter
from tests.engine.servers.test_identity import LLAMA_SERVER
from tests.support.server_double import DoubleReply, served

pytestmark = pytest.mark.usefixtures("ready_peers")

VOCABULARY = Vocabulary(token_bytes(), END_IDS, dict(enumerate(CONTROL)))
TEXTS = GreedyTokenizer(VOCABULARY)


def masks_of(server, grammar: str, text: str, notation: str = "gbnf"):
    ids = TEXTS.spell(text.encode())
    positions = range(len(ids) + 1)
    own = OwnMasks(compile_grammar(notation, grammar), VOCABULARY).along(ids, positions)
    with connect(server) as client:
        engine = ServerMasks(client, identify(client), notation, grammar, VOCABULARY)
        return own, engine.along(ids, positions)


def test_equal_masks_part_nowhere_also_at_the_end(llama_server):
    own, found = masks_of(llama_server, 'root ::= ("ab" | "🦙")? [0-9]', "🦙7")
    assert len(own) == len(found) == 3
    assert all(mask.reason == "" for mask in found.values())
    assert not any(parting(own[position], mask) for position, mask in found.items())


def test_an_end_of_llguidance_with_one_id_is_the_end(llama_server):
    schema = '{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}'
    own, found = masks_of(llama_server, schema, '{"a":1}', "json_schema")
    last = max(found)
    assert set(found[last].ids) >= END_IDS
    assert not parting(own[last], found[last]).lost


def test_what_the_server_alone_allows_and_masks_is_named(llama_server):
    own, found = masks_of(llama_server, "root ::= [^x]+", "a")
    parted = parting(own[1], found[1])
    assert {CONTROL[token_id] for token_id in parted.gained if token_id < len(CONTROL)} == {"<s>", "<|im_start|>"}
    assert [VOCABULARY.tokens[token_id] for token_id in parted.lost] == [b"\0"]


def test_a_server_without_a_mask_gains_what_was_tried_and_loses_nothing(llama_server):
    own, found = masks_of(llama_server, '{"not": {"type": "string"}}', "", "json_schema")
    parted = parting(own[0], found[0])
    assert found[0].reason
    assert parted.gained
    assert parted.lost == ()
    assert set(parted.gained) <= set(found[0].ids)


def test_a_position_behind_a_masked_token_is_unknown(llama_server):
    own, found = masks_of(llama_server, "root ::= [0-9]+", "1x2")
    assert sorted(own) == [0, 1]
    assert [bool(mask.reason) for mask in found.values()] == [False, False, True, True]


def test_masks_are_read_once():
    vocabulary = Vocabulary([b"a", None, None, b"\xf0"], [1], {1: "end", 2: "mark"})
    unlisted = {"tokens": [3], "completion_probabilities": []}
    with served({**LLAMA_SERVER, "/completion": unlisted}) as double, ServerClient(double.address) as client:
        engine = ServerMasks(client, identify(client), "gbnf", 'root ::= "a"', vocabulary)
        first = engine.along([], [0])
        asked = len(double.requests)
        assert engine.along([], [0]) == first
        assert len(double.requests) == asked


def test_a_grammar_that_the_server_refuses_is_a_reason_and_not_an_error(llama_server):
    _, found = masks_of(llama_server, 'root ::= root "a" | "b"', "b")
    assert found[0].words == b""
    assert found[0].reason == found[1].reason != ""


def test_a_regular_expression_is_not_for_llama_server():
    with (
        served(LLAMA_SERVER) as double,
        ServerClient(double.address) as client,
        raises_key(ServerError, "errors.servers.no_regex"),
    ):
        ServerMasks(client, identify(client), "regex", "a+", VOCABULARY)


def test_a_refused_key_is_an_error_and_not_an_answer():
    def answers(request):
        return DoubleReply({"error": "no"}, 401) if request.path == "/completion" else LLAMA_SERVER[request.path]

    with served(answers) as double, ServerClient(double.address) as client:
        engine = ServerMasks(client, identify(client), "gbnf", 'root ::= "a"', VOCABULARY)
        with raises_key(ServerError, "errors.servers.key"):
            engine.along([], [0])


@pytest.mark.parametrize(("reason", "lost"), [("", (1,)), ("it is unknown", ())])
def test_a_mask_that_is_not_known_as_a_whole_loses_nothing(reason, lost):
    own = np.array([True, True, False])
    assert parting(own, RunMask(b"\x05", reason)) == MaskParting((2,), lost)
    assert RunMask(b"\x05", reason).ids == [0, 2]


def peer_masks(adapter, grammar: str, text: str, notation: str = "regex"):
    ids = [VOCABULARY.tokens.index(bytes((byte,))) for byte in text.encode()]
    positions = range(len(ids) + 1)
    own = OwnMasks(compile_grammar(notation, grammar), VOCABULARY).along(ids, positions)
    peer = Peer("double", "pytest", adapter)
    with closing(PeerMasks(peer, notation, grammar, VOCABULARY)) as engine, engine.cancelled_by(CancelToken()):
        return own, engine.along(ids, positions)


def test_an_engine_in_a_process_shows_its_masks_along_a_run():
    own, found = peer_masks(OwnAdapter, "[ab]{2}", "ab")
    assert len(found) == 3
    assert not any(parting(own[position], mask) or mask.reason for position, mask in found.items())


def test_an_engine_that_masks_a_token_of_the_run_is_unknown_behind_it():
    own, found = peer_masks(NineAdapter, "[0-9]{2}", "19")
    lost = [VOCABULARY.tokens[one] for one in parting(own[1], found[1]).lost]
    assert lost == [b"9"]
    assert [mask.reason for mask in found.values()] == ["", "", catalogue_text("masks.fragment.left")]


def test_an_engine_that_refuses_the_grammar_says_why():
    _, found = peer_masks(ChoosyAdapter, '{"maximum": 3}', "2", "json_schema")
    assert all("maximum is not supported" in mask.reason for mask in found.values())


def test_an_engine_that_does_not_read_the_notation_is_an_error():
    with raises_key(PeerAbsentError, "errors.peers.absent"):
        PeerMasks(Peer("double", "pytest", OwnAdapter, notations=("regex",)), "gbnf", 'root ::= "a"', VOCABULARY)


def test_an_engine_that_is_not_installed_is_an_error():
    absent = Peer("absent", "no-such-distribution", OwnAdapter)
    with (
        closing(PeerMasks(absent, "regex", "a", VOCABULARY)) as engine,
        raises_key(PeerAbsentError, "errors.peers.absent"),
    ):
        engine.along([], [0])
