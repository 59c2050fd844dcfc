"""What Turnstile relies on in llama-server, asked of a real one (llama.cpp b11549, built with LLGuidance)."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from error_keys import raises_key
from llama_server import connect
from tiny_gguf import CONTROL, END_IDS, EOS_ID, TOOL_ID, token_bytes

from engine.servers import RefusedRequestError, ServerClient, identify

TOKENS = token_bytes()
PROMPT = "The capital of France is"
SCHEMAS_THAT_FAIL_OPEN = {
    "not": {"not": {"type": "string"}},
    "not in a property": {"type": "object", "properties": {"a": {"not": {"const": 1}}}, "required": ["a"]},
    "look-around": {"type": "string", "pattern": "^(?=a)b"},
    "word boundary": {"type": "string", "pattern": "^\\bab$"},
    "dangling reference": {"$ref": "#/definitions/x"},
    "unknown type": {"type": "wibble"},
}


@pytest.fixture
def client(llama_server):
    with connect(llama_server) as client:
        yield client


def ids_of(client: ServerClient, text: str = PROMPT) -> list[int]:
    return client.post("/tokenize", {"content": text, "add_special": True})["tokens"]


def step(client: ServerClient, ids: list[int], **more: object) -> dict:
    body = {"prompt": ids, "n_predict": 1, "n_probs": len(TOKENS), "temperature": 0, "return_tokens": True, **more}
    return client.post("/completion", body)


def distribution(client: ServerClient, ids: list[int], **more: object) -> dict:
    """Take a step that draws a whole character, since the answer has no probabilities otherwise."""
    return step(client, ids, **{"logit_bias": [[TOOL_ID, 10_000]], **more})


def log_probabilities(reply: dict) -> np.ndarray:
    found = np.full(len(TOKENS), np.nan)
    for entry in reply["completion_probabilities"][0]["top_logprobs"]:
        found[entry["id"]] = entry["logprob"]
    return found


def mask(client: ServerClient, ids: list[int], grammar: str, illegal: int, steps: int = 1) -> list[set[int]]:
    """Read the server's own mask: the first draw is `illegal`, so the grammar is applied to all tokens."""
    reply = step(
        client,
        ids,
        grammar=grammar,
        n_predict=steps,
        logit_bias=[[illegal, 10_000]],
        post_sampling_probs=True,
        samplers=["temperature"],
        temperature=100.0,  # at 1, small probabilities may be rounded to zero, which ends the list
    )
    return [{entry["id"] for entry in position["top_probs"]} for position in reply["completion_probabilities"]]


def test_it_is_identified(client, tiny_gguf_file):
    identity = identify(client)
    assert (identity.kind, identity.model_path, identity.context_length) == ("llama-server", str(tiny_gguf_file), 512)
    assert identity.chat_template is not None


def test_one_step_has_the_whole_vocabulary_with_bytes(client):
    entries = distribution(client, ids_of(client))["completion_probabilities"][0]["top_logprobs"]
    assert {entry["id"]: bytes(entry["bytes"]) for entry in entries} == {i: t or b"" for i, t in enumerate(TOKENS)}
    assert sum(math.exp(entry["logprob"]) for entry in entries) == pytest.approx(1, abs=1e-3)


def test_control_tokens_have_no_bytes_but_a_name(client):
    names = [client.post("/detokenize", {"tokens": [i]})["content"] for i in range(len(CONTROL))]
    assert names == list(CONTROL)


def test_probabilities_are_raw_under_a_grammar_a_bias_and_a_temperature(client):
    ids = ids_of(client)
    raw = log_probabilities(distribution(client, ids))
    for more in ({"grammar": "root ::= [0-9]+"}, {"logit_bias": [[EOS_ID, 10_000]]}, {"temperature": 3.0}):
        np.testing.assert_allclose(log_probabilities(distribution(client, ids, **more)), raw, atol=1e-4)


def test_a_token_that_ends_within_a_character_has_no_probabilities(client):
    first, second = (TOKENS.index(part) for part in (b"\xce", b"\xa9"))
    reply = step(client, ids_of(client), grammar='root ::= "Ω" [a]', n_predict=3, n_probs=1)
    assert reply["tokens"] == [first, second, TOKENS.index(b"a")]
    assert [position["id"] for position in reply["completion_probabilities"]] == reply["tokens"][1:]
    assert "completion_probabilities" not in step(client, ids_of(client), logit_bias=[[first, 10_000]])


def test_only_the_new_token_is_evaluated_forward_back_and_in_a_branch(client):
    ids = ids_of(client, "a prompt that no other test has")
    step(client, ids)
    for moved in ([*ids, 7], [*ids, 7, 8], [*ids, 7], ids, [*ids, 9]):
        assert step(client, moved)["timings"]["prompt_n"] == 1


def test_a_bias_of_false_bans_a_token(client):
    ids = ids_of(client)
    assert step(client, ids)["tokens"] == [int(log_probabilities(distribution(client, ids)).argmax())]
    others = [[token, False] for token in range(len(TOKENS)) if token != TOOL_ID]
    assert step(client, ids, logit_bias=others)["tokens"] == [TOOL_ID]


def test_where_all_tokens_are_banned_it_draws_one_all_the_same(client):
    reply = step(client, ids_of(client), logit_bias=[[token, False] for token in range(len(TOKENS))])
    assert len(reply["tokens"]) == 1


def test_its_mask_is_that_of_brute_force(client):
    illegal = TOKENS.index(b"[")
    (found,) = mask(client, ids_of(client), 'root ::= [a-z]+ " " [0-9]', illegal)
    expected = {i for i, token in enumerate(TOKENS) if token and re.fullmatch(rb"[a-z]+( [0-9]?)?", token)}
    assert found == expected


def test_its_masks_along_a_run_end_with_all_end_tokens(client):
    found = mask(client, ids_of(client), 'root ::= [0-9] "-" [0-9]', TOKENS.index(b"["), steps=4)
    digits = {i for i, token in enumerate(TOKENS) if token in {b"%d" % digit for digit in range(10)}}
    starts = {i for i, token in enumerate(TOKENS) if token and re.fullmatch(rb"-[0-9]?", token)}
    assert found[0] == digits
    assert found[1] == starts
    assert found[-1] == END_IDS


def test_its_mask_of_a_text_that_may_be_empty_has_the_end_tokens(client):
    assert mask(client, ids_of(client), 'root ::= ""', TOKENS.index(b"[")) == [set(END_IDS)]


def test_a_template_is_applied_and_the_last_message_of_an_assistant_is_continued(client):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Su"}]
    prompt = client.post("/apply-template", {"messages": messages})["prompt"]
    assert prompt == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nSu"


def test_pieces_that_are_no_characters_are_bytes(client):
    pieces = client.post("/tokenize", {"content": "é語Ω", "with_pieces": True})["tokens"]
    assert [piece["piece"] for piece in pieces] == ["é", "語", [0xCE], [0xA9]]


def test_a_stream_has_an_event_for_each_token_and_one_at_the_end(client):
    body = {"prompt": ids_of(client), "n_predict": 3, "n_probs": 2, "stream": True, "return_tokens": True}
    body["grammar"] = "root ::= [a-z]+"  # an event waits for the end of its character
    *events, last = client.stream("/completion", {**body, "ignore_eos": True})
    assert [len(event["completion_probabilities"]) for event in events] == [1, 1, 1]
    assert [event["stop"] for event in events] == [False] * 3
    assert (last["stop"], last["stop_type"]) == (True, "limit")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"prompt": [1], "grammar": "root ::= ("}, "failed to parse grammar"),
        ({"prompt": [1], "grammar": 'root ::= root "a" | "a"'}, "failed to parse grammar"),
        ({"prompt": []}, "must not be empty"),
        ({"prompt": [len(TOKENS)]}, "invalid tokens"),
        ({"prompt": [9] * 513}, "exceeds the available context size"),
        ({}, "'prompt' not found"),
    ],
)
def test_what_it_cannot_do_is_refused_with_its_reason(client, body, message):
    with raises_key(RefusedRequestError, "errors.servers.status", status=400) as caught:
        client.post("/completion", body)
    assert message in caught.value.message


@pytest.mark.parametrize("name", SCHEMAS_THAT_FAIL_OPEN)
def test_a_schema_that_llguidance_refuses_is_answered_with_free_text(client, name):
    ids, schema = ids_of(client), SCHEMAS_THAT_FAIL_OPEN[name]
    free = step(client, ids, n_predict=8)
    constrained = step(client, ids, n_predict=8, json_schema=schema)
    assert constrained["tokens"] == free["tokens"]
    assert constrained["generation_settings"]["grammar"].startswith("%llguidance")


def test_a_schema_that_llguidance_takes_is_enforced(client):
    reply = step(client, ids_of(client), n_predict=8, json_schema={"enum": ["name", "value"]})
    assert reply["content"] in ('"name"', '"value"')


def test_a_grammar_wins_over_a_schema(client):
    reply = step(client, ids_of(client), n_predict=6, grammar='root ::= "Hello"', json_schema={"type": "integer"})
    assert reply["content"] == "Hello"


def test_it_says_when_the_trigger_of_a_lazy_grammar_would_be_lost(client):
    lazy = {"grammar": 'root ::= "a"', "grammar_lazy": True, "grammar_triggers": [{"type": 1, "value": "Hello"}]}
    with raises_key(RefusedRequestError, "errors.servers.status", status=400) as caught:
        step(client, ids_of(client), **lazy)
    assert "preserved token" in caught.value.message
