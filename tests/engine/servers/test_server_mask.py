"""The masks of servers along runs: a real llama-server against brute force, and a double of vLLM."""

from __future__ import annotations

import random

import numpy as np
import pytest
from error_keys import raises_key
from llama_server import connect
from tiny_gguf import CONTROL, END_ID, END_IDS, token_bytes

from engine.compile import compile_grammar
from engine.matching import Matcher
from engine.peers.adapter import GreedyTokenizer
from engine.servers import RefusedRequestError, ServerClient, ServerError, identify
from engine.servers.llama_mask import LlamaMaskReader
from engine.servers.server_mask import Unread, mask_reader
from engine.vocabulary import Vocabulary
from tests.engine.servers.test_identity import OLLAMA, VLLM
from tests.support.brute_force import allowed
from tests.support.server_double import DoubleReply, served

VOCABULARY = Vocabulary(token_bytes(), END_IDS, dict(enumerate(CONTROL)))
DATE = 'root ::= [0-9] [0-9] [0-9] [0-9] "-" [0-9] [0-9] "-" [0-9] [0-9]'
GRAMMARS = (
    DATE,
    'root ::= [a-z]+ " " [0-9]',
    'root ::= "{" item ("," item)* "}"\nitem ::= "\\"" [a-z ]{1,9} "\\":" [0-9]+',
    'root ::= ("ä" | "🦙" | "日本" | "ab")+',
    'root ::= ("1" | "2")*',
)


@pytest.fixture(scope="module")
def client(llama_server):
    with connect(llama_server) as client:
        yield client


@pytest.fixture(scope="module")
def reader(client):
    return mask_reader(client, identify(client), VOCABULARY)


def spell(text: str) -> list[int]:
    ids = GreedyTokenizer(VOCABULARY).spell(text.encode())
    assert ids is not None
    return ids


def walk(text: str, seed: int, most: int = 24) -> tuple[list[int], list[list[int]]]:
    """Return a random run under a grammar, and the allowed ids before each of its tokens and at its end."""
    rng, grammar = random.Random(seed), compile_grammar("gbnf", text)
    matcher, ids, masks = Matcher(grammar, VOCABULARY), [], []
    while True:
        masks.append(allowed(grammar, matcher))
        following = [one for one in masks[-1] if one not in END_IDS]
        if not following or len(ids) == most:
            return ids, masks
        ids.append(rng.choice(following))
        matcher.accept(ids[-1])


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_a_sketch_has_the_size_of_each_mask_and_its_end(client, reader, grammar):
    short = LlamaMaskReader(client, VOCABULARY, listed=4)
    ids, masks = walk(grammar, seed=3)
    for one in (reader, short):
        sketch = one.sketch({"grammar": grammar}, ids)
        assert (list(sketch.drawn), sketch.is_left, len(sketch.masks)) == (ids, False, len(masks))
        known = [(found, mask) for found, mask in zip(sketch.masks, masks, strict=True) if found is not None]
        assert len(known) > len(masks) // 4  # not where a token ends within a character
        for found, mask in known:
            assert found.count == len(mask)
            assert set(found.listed.tolist()) <= set(mask)
            assert set(found.listed.tolist()) & END_IDS == set(mask) & END_IDS


def test_a_sketch_ends_where_the_server_leaves_a_run(reader):
    sketch = reader.sketch({"grammar": DATE}, spell("20x2"))
    assert (list(sketch.drawn), sketch.is_left, len(sketch.masks)) == (spell("20"), True, 2)


def test_a_mask_is_compared_with_an_expected_one(reader):
    grammar = 'root ::= [a-z]+ " " [0-9]'
    ids, masks = walk(grammar, seed=5, most=2)
    mask = np.array([one for one in masks[-1] if one not in END_IDS])
    other = np.setdiff1d(np.arange(VOCABULARY.size), [*mask, *END_IDS])[-1]
    constraint = {"grammar": grammar}
    assert reader.allows_exactly(constraint, ids, mask)
    assert not reader.allows_exactly(constraint, ids, mask[:-1])
    assert not reader.allows_exactly(constraint, ids, np.union1d(mask, [other]))
    assert not reader.allows_exactly(constraint, ids, np.union1d(mask[:-1], [other]))


def test_a_server_goes_on_behind_a_run_with_the_tokens_that_are_preferred(reader):
    one, two = (spell(text)[0] for text in "12")
    for preferred, wanted in (([[one], [two]], [one]), ([[two], [one]], [two])):
        found = reader.continued({"grammar": 'root ::= "2022-" [0-9]'}, spell("2022-"), preferred, 4)
        assert list(found.drawn[:-1]) == [*spell("2022-"), *wanted]
        assert found.drawn[-1] in END_IDS
        assert {one, two} <= set(found.masks[len(spell("2022-"))].listed.tolist())


def test_a_date_has_its_mask_at_every_step_though_digits_recur(reader):
    ids = [VOCABULARY.tokens.index(bytes((byte,))) for byte in b"2022-12-22"]
    grammar, found = compile_grammar("gbnf", DATE), reader.read({"grammar": DATE}, ids, range(len(ids) + 1))
    matcher = Matcher(grammar, VOCABULARY)
    for position in range(len(ids) + 1):
        assert found[position].unread is None
        assert found[position].allowed.tolist() == allowed(grammar, matcher)
        if position < len(ids):
            matcher.accept(ids[position])


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("seed", range(4))
def test_masks_along_any_run_are_those_of_brute_force_in_one_request_and_in_many(reader, grammar, seed):
    ids, masks = walk(grammar, seed)
    together = reader.read({"grammar": grammar}, ids, range(len(ids) + 1))
    for position, mask in enumerate(masks):
        alone = reader.read({"grammar": grammar}, ids, [position])[position]
        assert alone.unread == together[position].unread
        assert alone.allowed.tolist() == together[position].allowed.tolist()
        if alone.unread is None:
            assert alone.allowed.tolist() == mask, VOCABULARY.tokens[ids[position - 1]]
        else:  # each allowed token ends within a character
            assert alone.unread is Unread.CHARACTER
            texts = [b"".join(VOCABULARY.tokens[one] or b"" for one in (*ids[:position], last)) for last in mask]
            assert all(text.decode("utf-8", "ignore").encode() != text for text in texts)


def test_what_can_only_go_on_within_a_character_is_unknown(reader):
    ids = [VOCABULARY.tokens.index(bytes((byte,))) for byte in "𝄞".encode()]
    found = reader.read({"grammar": 'root ::= "𝄞" "a"'}, ids, range(len(ids) + 1))
    reasons = [found[position].unread for position in range(len(ids) + 1)]
    assert reasons == [Unread.CHARACTER, Unread.CHARACTER, Unread.CHARACTER, None, None]


def test_a_token_that_the_server_masks_ends_the_run(reader):
    found = reader.read({"grammar": DATE}, spell("2024-x1"), range(5))
    assert found[2].unread is None
    assert [found[position].unread for position in (3, 4)] == [None, Unread.LEFT]


def test_a_mark_that_the_grammar_allows_is_no_mask(reader):
    """llama.cpp reads the name of a control token as text, so the first tokens that are tried are legal here."""
    ids = spell("ab 🦙 日本c")
    found = reader.read({"grammar": "root ::= [^x]+"}, ids, range(len(ids) + 1))
    without_x = [one for one, token in enumerate(token_bytes()) if token and b"x" not in token]
    for position, mask in found.items():
        assert mask.unread is None
        assert set(mask.allowed.tolist()) >= set(without_x[200:250])
        assert VOCABULARY.tokens.index(b"x") not in mask.allowed
        assert (min(END_IDS) in mask.allowed) == (position > 0)


@pytest.mark.parametrize("schema", [{"not": {"type": "string"}}, {"type": "string", "pattern": "^(?=a)b"}])
def test_a_server_that_ignores_the_schema_has_no_mask(reader, schema):
    found = reader.read({"json_schema": schema}, spell('{"a"'), [0, 1])
    assert [mask.unread for mask in found.values()] == [Unread.UNMASKED, Unread.UNMASKED]
    assert found[0].allowed.size >= 4


def test_a_schema_has_the_mask_of_llguidance(reader):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    found = reader.read({"json_schema": schema}, spell('{"a":10}'), range(len(spell('{"a":10}')) + 1))
    assert found[0].allowed.tolist() == sorted(spell("{") + spell('{"'))
    assert found[max(found)].allowed.tolist() == [END_ID]


def test_the_end_ids_of_the_server_are_read_by_a_grammar_of_the_empty_text(reader):
    assert reader.end_ids == END_IDS


def test_a_grammar_that_the_server_refuses_is_an_error(reader):
    with raises_key(RefusedRequestError, "errors.servers.status"):
        reader.read({"grammar": "root ::= root"}, [], [0])


def test_another_vocabulary_is_an_error(llama_server):
    turned = Vocabulary([*token_bytes()[:50], *reversed(token_bytes()[50:])], END_IDS)
    small = Vocabulary([bytes((byte,)) for byte in range(9)], [])
    with connect(llama_server) as client:
        for vocabulary in (turned, small):
            with raises_key(ServerError, "errors.servers.other_vocabulary_bytes"):
                mask_reader(client, identify(client), vocabulary).read({"grammar": DATE}, [], [0])


def test_smollm2_has_the_masks_of_brute_force(smollm2_server):
    with connect(smollm2_server) as client:
        whole = client.post("/completion", {"prompt": [1], "n_predict": 1, "n_probs": 1 << 20, "temperature": 0})
        listed = whole["completion_probabilities"][0]["top_logprobs"]
        texts = {one["id"]: bytes(one["bytes"]) for one in listed}
        vocabulary = Vocabulary([texts[token_id] for token_id in range(len(texts))], [0, 2, 4])
        reader = mask_reader(client, identify(client), vocabulary)
        assert reader.end_ids == vocabulary.eos_ids
        text = 'root ::= [a-z]+ " " [0-9]'
        grammar = compile_grammar("gbnf", text)
        (mask,) = reader.read({"grammar": text}, [], [0]).values()
        assert mask.allowed.size == 11_638
        assert mask.allowed.tolist() == allowed(grammar, Matcher(grammar, vocabulary))


class Vllm:
    """A vLLM with `--return-sampling-mask`, read: vLLM 0.33.0, the files that `engine/servers/vllm_mask.py` names.

    Each draw is the allowed token with the largest bias, which the penalty divides for those that were generated or are
    in the prompt; among equal ones, that with the lowest id.
    """

    def __init__(self, grammar: str) -> None:
        self._grammar = compile_grammar("gbnf", grammar)

    def __call__(self, request):
        if request.path != "/inference/v1/generate":
            return VLLM[request.path] if request.path in VLLM else DoubleReply({"error": "no such route"}, 404)
        asked = request.body["sampling_params"]
        assert asked["temperature"] > 0
        assert asked["top_k"] > 0
        assert len(asked["logit_bias"]) <= 1_024
        assert asked["structured_outputs"] == {"grammar": "g"}
        assert request.body["reasoning_ended"]
        assert request.body["token_ids"]
        matcher, drawn, masks = Matcher(self._grammar, VOCABULARY), [], []
        biases = {int(token_id): bias for token_id, bias in asked["logit_bias"].items()}
        while len(drawn) < asked["max_tokens"] and not matcher.is_finished:
            masks.append(allowed(self._grammar, matcher))
            weights = {one: biases.get(one, 0.0) for one in masks[-1]}
            for one in {*drawn, *request.body["token_ids"]} & weights.keys():
                weights[one] /= asked["repetition_penalty"]
            drawn.append(max(masks[-1], key=lambda one: (weights[one], -one)))
            matcher.accept(drawn[-1])
        choice = {"index": 0, "token_ids": drawn, "sampling_mask": masks, "finish_reason": "length"}
        return {"request_id": "1", "choices": [choice], "usage": {}}


def read_vllm(grammar: str, ids: list[int], answers=None):
    with served(answers or Vllm(grammar)) as double, ServerClient(double.address) as client:
        reader = mask_reader(client, identify(client), VOCABULARY)
        found = reader.read({"structured_outputs": {"grammar": "g"}}, ids, range(len(ids) + 1))
        return found, sum(one.path.endswith("generate") for one in double.requests)


@pytest.mark.parametrize("text", ["ab 1", "zyx 0", "cab 7"])
def test_vllm_is_steered_by_an_order_of_the_tokens(text):
    grammar = 'root ::= [a-z] [a-z]* " " [0-9]'
    ids = [VOCABULARY.tokens.index(bytes((byte,))) for byte in text.encode()]
    found, requests = read_vllm(grammar, ids)
    compiled = compile_grammar("gbnf", grammar)
    matcher = Matcher(compiled, VOCABULARY)
    for position in range(len(ids) + 1):
        assert found[position].unread is None
        assert found[position].allowed.tolist() == allowed(compiled, matcher)
        if position < len(ids):
            matcher.accept(ids[position])
    assert requests <= len(ids)


def test_vllm_cannot_be_steered_where_two_tokens_precede_each_other():
    one, two = (VOCABULARY.tokens.index(digit) for digit in (b"1", b"2"))
    found, _ = read_vllm('root ::= [12] [12] [12] [12] "."', [one, two, two, one])
    assert [found[position].unread for position in range(5)] == [None, None, None, Unread.STEERING, Unread.STEERING]
    assert found[1].allowed.tolist() == sorted((one, two))


def test_a_run_with_more_tokens_than_vllm_has_room_for_is_not_sent():
    ids = list(range(1_000))
    with served(VLLM) as double, ServerClient(double.address) as client:
        reader = mask_reader(client, identify(client), VOCABULARY)
        (mask,) = reader.read({}, ids, [len(ids)]).values()
    assert mask.unread is Unread.STEERING
    assert not any(one.method == "POST" for one in double.requests)


def test_vllm_masks_a_token_of_the_run():
    one, two = (VOCABULARY.tokens.index(digit) for digit in (b"1", b"2"))
    found, _ = read_vllm('root ::= "11"', [one, two, one])
    assert [found[position].unread for position in range(4)] == [None, None, Unread.LEFT, Unread.LEFT]


def test_vllm_without_the_option_names_it():
    silent = {**VLLM, "/inference/v1/generate": {"choices": [{"token_ids": [60], "sampling_mask": None}]}}
    for answers in (VLLM, silent):
        with raises_key(ServerError, "errors.servers.no_sampling_mask"):
            read_vllm("", [], answers)


def test_a_kind_that_shows_no_mask_says_so():
    with (
        served(OLLAMA) as double,
        ServerClient(double.address) as client,
        raises_key(ServerError, "errors.servers.no_mask"),
    ):
        mask_reader(client, identify(client), VOCABULARY)
