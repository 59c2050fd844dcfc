"""A server as a logit source: a real llama-server against torch, and doubles of servers with faults."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command_line import run
from error_keys import raises_key
from llama_double import NAMES, TOKENS, LlamaDouble
from llama_server import connect
from random_model import RandomModel
from server_double import DoubleReply, served
from tiny_gguf import END_IDS, token_bytes

from engine.compile import compile_grammar
from engine.decoding.generate import generate
from engine.decoding.run_ahead import running
from engine.decoding.session import DecodeSession
from engine.decoding.values import SamplerSettings
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.models import ModelError, load_model
from engine.models.server_source import attach
from engine.models.source import DrawSettings, cancelled_by
from engine.servers import ServerClient, llama_completion
from engine.servers.keys import KEY_VARIABLE
from engine.source import CancelledError, CancelToken

PROMPT = "The capital of France is"
TEXTS = ("", "Hello", PROMPT, "日本語 für", "<|im_start|>user", "<s>a", "\n\n")


@pytest.fixture
def source(llama_server):
    with connect(llama_server) as client:
        yield attach(client)


def exact(logits: np.ndarray) -> np.ndarray:
    """Return the log-probabilities of logits."""
    wide = logits.astype(np.float64)
    return wide - np.logaddexp.reduce(wide)


# A real llama-server.


def test_the_vocabulary_is_that_of_the_model_with_all_ids_that_end_an_output(source):
    assert list(source.vocabulary.tokens) == token_bytes()
    assert source.vocabulary.eos_ids == END_IDS
    assert set(source.vocabulary.special) == {0, 1, 2, 3}
    assert source.width == len(token_bytes())


@pytest.mark.parametrize("text", TEXTS)
def test_prompts_and_distributions_equal_those_of_torch(source, tiny_gguf_file, text):
    torch_source = load_model(str(tiny_gguf_file))
    ids = source.encode(text)
    assert ids == torch_source.encode(text)
    assert np.abs(exact(source.logits(ids)) - exact(torch_source.logits(ids))).max() < 0.05


def test_the_distribution_is_known_where_the_best_token_is_a_part_of_a_character(source):
    parts = 0
    for seed in range(40):
        ids = np.random.default_rng(seed).integers(5, source.width, 4).tolist()
        logits = source.logits(ids)
        assert abs(np.exp(logits.astype(np.float64)).sum() - 1) < 1e-2
        best = source.vocabulary.tokens[int(np.argmax(logits))] or b""
        parts += best.decode(errors="replace").endswith("\ufffd")
    assert parts


def test_a_conversation_has_the_template_and_the_bos_of_the_server(source):
    ids = source.encode_chat([("user", "Hello")], "The")
    assert ids == source.encode("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nThe")
    assert source.vocabulary.special[ids[0]] == "<s>"


def test_more_ids_than_the_context_are_refused_here_and_the_last_that_fit_are_not(source):
    ids = [5] * (source.context_length + 1)
    with raises_key(ModelError, "errors.models.context"):
        source.logits(ids)
    assert np.isfinite(source.logits(ids[:-1]).max())


def test_a_text_is_generated_in_a_grammar_from_the_command_line(llama_server, monkeypatch, capsys):
    monkeypatch.setenv(KEY_VARIABLE, llama_server.key)
    grammar = ("--notation", "regex", "--grammar", "[0-9]{4}-[a-z]+")
    assert run("generate", *grammar, "--model", llama_server.address, "--prompt", PROMPT, "--greedy", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["complete"]
    assert llama_server.key not in out + err


def test_a_generation_equals_that_of_torch(source, tiny_gguf_file):
    grammar = compile_grammar("regex", "[A-Z][a-z]{3,8} is [0-9]{1,5}")
    greedy = SamplerSettings(temperature=0.0)
    texts = {
        generate(grammar, one, prompt=PROMPT, sampler=greedy).text for one in (source, load_model(str(tiny_gguf_file)))
    }
    assert len(texts) == 1


MASKED = {
    "letters": (r"[a-z]+", b""),
    "letters or the end": (r"[a-z]+", b"is"),
    "one digit": (r"[0-9]{4}-[0-9]", b"2024-"),
    "the end alone": (r"(yes|no)", b"yes"),
    "within a character": (r"(é|è)x?", b"\xc3"),
}


def mask_of(vocabulary, name):
    """Return our mask behind a prefix of a regex, bool[V]."""
    pattern, prefix = MASKED[name]
    matcher = Matcher(compile_grammar("regex", pattern), vocabulary)
    assert not prefix or matcher.accept_bytes(prefix)
    return unpack_mask(matcher.bitmask(), vocabulary.size)


@pytest.mark.parametrize("name", MASKED)
def test_a_real_server_draws_no_token_outside_of_our_mask_and_each_in_it(source, name):
    allowed, ids = mask_of(source.vocabulary, name), source.encode(PROMPT)
    assert 0 < allowed.sum() < source.width
    drawn = {source.draw(ids, allowed, DrawSettings(temperature=1_000.0, seed=seed)) for seed in range(12)}
    assert drawn <= set(np.flatnonzero(allowed).tolist())
    for token_id in np.flatnonzero(allowed)[::9].tolist():
        alone = np.arange(source.width) == token_id
        assert source.draw(ids, alone, DrawSettings(temperature=1_000.0, seed=token_id)) == token_id


def test_a_real_server_that_may_draw_nothing_is_an_error(source):
    with raises_key(ModelError, "errors.servers.mask_ignored"):
        source.draw(source.encode(PROMPT), np.zeros(source.width, np.bool_), DrawSettings(temperature=1.0))


@pytest.mark.parametrize("name", MASKED)
def test_a_real_server_lists_all_of_our_mask_and_nothing_else(source, llama_server, name):
    """The list holds every token that it can draw under the same biases, so this is brute force over the vocabulary."""
    allowed, ids = mask_of(source.vocabulary, name), source.encode(PROMPT)
    body = {"prompt": ids, "n_predict": 1, "n_probs": source.width, "post_sampling_probs": True, "return_tokens": True}
    banned = [[token_id, False] for token_id in np.flatnonzero(~allowed).tolist()]
    with connect(llama_server) as client:
        reply = client.post("/completion", {**body, "samplers": [], "logit_bias": banned})
    if "completion_probabilities" in reply:  # none for a draw within a character
        (entry,) = reply["completion_probabilities"]
        assert {one["id"] for one in entry["top_probs"]} == set(np.flatnonzero(allowed).tolist())
    assert allowed[reply["tokens"][0]]


@pytest.fixture
def whole(source):
    """The distribution behind the prompt, from a time when the server lists all of it."""
    return exact(source.logits(source.encode(PROMPT)))


@pytest.fixture
def short_lists(source, whole, monkeypatch):
    """Let the server list 12 tokens of a step from now on, so that the small vocabulary has more."""
    monkeypatch.setattr(llama_completion, "MOST_LISTED", 12)
    source.clear_cache()


@pytest.mark.parametrize("name", MASKED)
def test_the_mass_and_the_best_tokens_under_a_mask_are_those_of_the_whole_distribution(
    source, whole, short_lists, name
):
    ids, allowed, p = source.encode(PROMPT), mask_of(source.vocabulary, name), np.exp(whole)
    assert np.isnan(source.logits(ids)).any()
    part = source.weigh(ids, allowed)
    if part is None:  # whatever it draws ends within a character
        assert name == "within a character"
        return
    assert np.exp(part.log_mass) == pytest.approx(p[allowed].sum(), rel=1e-4)
    known = np.flatnonzero(part.log_probabilities > -np.inf)
    assert set(known) == set(sorted(np.flatnonzero(allowed), key=lambda one: -p[one])[: known.shape[0]])
    assert known.shape[0] >= min(12, allowed.sum())
    assert np.exp(part.log_probabilities[known]) == pytest.approx(p[known], rel=1e-4)


def test_named_tokens_have_the_prices_of_the_whole_distribution(source, whole, short_lists):
    named = [7, 300, 41, source.width - 1]
    assert source.price(source.encode(PROMPT), named) == pytest.approx(whole[named], rel=1e-4)


# Streams of a real llama-server.


RUNS = {
    "free": (None, SamplerSettings(temperature=0.0)),
    "a few": (r"([0-9]{2}-){8}", SamplerSettings(temperature=0.0)),
    "seeded": (r"([0-9]{2}-){8}", SamplerSettings(seed=3)),
    "filtered": (None, SamplerSettings(temperature=0.8, top_p=0.5, seed=2)),
    "characters of many bytes": (r"(é|日|本)+", SamplerSettings(temperature=0.0)),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_in_streams_has_the_tokens_and_numbers_of_single_steps(source, short_lists, name):
    pattern, sampler = RUNS[name]
    grammar = None if pattern is None else compile_grammar("regex", pattern)
    streamed = generate(grammar, source, prompt=PROMPT, sampler=sampler, max_tokens=24)
    source.clear_cache()
    session = DecodeSession(grammar, source, prompt=PROMPT, sampler=sampler, max_tokens=24)
    while session.finish is None:
        session.step()
    assert [step.token_id for step in session.steps] == [step.token_id for step in streamed.steps]
    for one, other in zip(session.steps, streamed.steps, strict=True):
        assert one.origin is other.origin
        assert (one.p, one.p_masked, one.z) == pytest.approx((other.p, other.p_masked, other.z), rel=1e-5)


# Doubles.


@pytest.fixture
def double():
    answers = LlamaDouble()
    with served(answers) as running:
        yield running


def test_distributions_are_those_of_the_server(double):
    source, model = attach(ServerClient(double.address)), RandomModel(width=len(TOKENS))
    for ids in ([0], [0, 5, 9], [7, 7]):
        assert np.allclose(exact(source.logits(ids)), exact(model.logits(ids)), atol=1e-5)
    assert dict(source.vocabulary.special) == NAMES


def test_an_answer_is_asked_for_once(double):
    source = attach(ServerClient(double.address))
    source.logits([0, 5])
    count = len(double.requests)
    source.logits([0, 5])
    assert len(double.requests) == count


@pytest.mark.parametrize(
    ("fault", "key"),
    [
        (DoubleReply({"error": {"message": "no"}}, 401), "errors.servers.key"),
        (DoubleReply({"error": {"message": "slow down"}}, 429), "errors.servers.busy"),
        (DoubleReply({"error": {"message": "oops"}}, 500), "errors.servers.status"),
        (DoubleReply("", 302, headers={"Location": "http://192.0.2.1/"}), "errors.servers.redirect"),
        (DoubleReply("<html>"), "errors.servers.not_json"),
        (DoubleReply({"completion_probabilities": 5}), "errors.servers.not_json"),
        (DoubleReply({"completion_probabilities": []}), "errors.servers.no_probabilities"),
        (DoubleReply({"tokens": [1]}, breaks_off_at=5), "errors.servers.broken_off"),
        (
            DoubleReply({"completion_probabilities": [{"top_logprobs": [{"id": 900, "logprob": -1.0}]}]}),
            "errors.servers.other_vocabulary",
        ),
    ],
)
def test_a_fault_is_an_error_and_the_next_answer_is_right_again(double, fault, key):
    source = attach(ServerClient(double.address))
    double.answers.fault = fault
    with raises_key(ModelError, key):
        source.logits([0, 5])
    double.answers.fault = None
    assert np.allclose(exact(source.logits([0, 5])), exact(RandomModel(width=len(TOKENS)).logits([0, 5])), atol=1e-5)


def test_slow_bytes_end_at_the_time_limit(double):
    source = attach(ServerClient(double.address, timeout=2))
    double.answers.fault = DoubleReply({"tokens": [1] * 1000}, byte_delay=0.05)
    with raises_key(ModelError, "errors.servers.timed_out"):
        source.logits([0, 5])


def cancels_at_its_next_request(double) -> CancelToken:
    """Return a token that is cancelled when the double, which answers nothing from now on, is asked again."""
    cancel, before = CancelToken(), double.reply_to
    double.answers.fault = DoubleReply(waits=True)

    def reply_to(request):
        cancel.cancel()
        return before(request)

    double.reply_to = reply_to
    return cancel


def test_a_step_that_waits_is_cancelled_at_once(double):
    source = attach(ServerClient(double.address))
    with cancelled_by(source, cancels_at_its_next_request(double)), pytest.raises(CancelledError):
        source.logits([0, 5])
    double.answers.fault = None
    assert source.logits([0, 5]).shape == (len(TOKENS),)


def test_a_connection_that_the_server_closed_is_opened_again(double):
    source = attach(ServerClient(double.address))
    for token_id in (5, 6, 7):
        double.end_connections()
        assert np.isfinite(source.logits([0, token_id]).max())


@pytest.mark.parametrize(
    "restarted", [LlamaDouble(name="other.gguf"), LlamaDouble(RandomModel(width=len(TOKENS), spread=9.0))]
)
def test_a_server_that_restarts_with_another_model_is_refused(double, restarted):
    source = attach(ServerClient(double.address))
    known = source.logits([0, 5])
    double.answers = restarted
    double.end_connections()
    with raises_key(ModelError, "errors.servers.changed"):
        source.logits([0, 6])
    assert source.logits([0, 5]) is known


def test_a_server_that_restarts_with_the_same_model_is_used_again(double):
    source = attach(ServerClient(double.address))
    double.answers = LlamaDouble()
    double.end_connections()
    assert np.isfinite(source.logits([0, 5, 6]).max())


def test_a_server_that_is_gone_is_named_and_used_when_it_is_back():
    with served(LlamaDouble()) as double:
        source, address = attach(ServerClient(double.address)), double.address
    with raises_key(ModelError, "errors.servers.unreachable", address=address):
        source.logits([0, 5])


def test_a_wrong_key_is_named_when_attaching():
    with served(LlamaDouble(key="right")) as double, raises_key(ModelError, "errors.servers.key"):
        load_model(double.address)


def test_a_server_without_token_ids_cannot_be_stepped():
    answers = {
        "/api/version": {"version": "0.13.0"},
        "/api/tags": {"models": [{"name": "llama3.2:latest"}]},
        "/v1/models": {"data": [{"id": "llama3.2:latest", "owned_by": "library"}]},
    }
    with served(answers) as double, raises_key(ModelError, "errors.servers.read_only"):
        load_model(double.address)


# Streams of a double.


def requests_of(double):
    """Return the requests for tokens so far: `stream` or `step` of each."""
    asked = (one.body for one in double.requests if one.path == "/completion")
    return ["stream" if body.get("stream") else "step" for body in asked]


def test_a_run_in_which_nobody_chooses_is_one_request(double):
    source = attach(ServerClient(double.address))
    before = len(double.requests)
    found = generate(None, source, prompt="a", sampler=SamplerSettings(temperature=0.0), max_tokens=12)
    assert len(found.steps) > 4
    assert [one.body.get("stream") for one in double.requests[before:] if one.path == "/completion"] == [True]


def test_a_schema_and_the_rules_of_a_regex_go_with_the_request(double):
    source = attach(ServerClient(double.address))
    for prompt, notation, text, field in (
        ("a", "json_schema", '{"type": "integer"}', "json_schema"),
        ("b", "regex", "[0-9]+", "grammar"),
    ):
        generate(
            compile_grammar(notation, text),
            source,
            prompt=prompt,
            sampler=SamplerSettings(temperature=0.0),
            max_tokens=3,
        )
        streams = [one.body for one in double.requests if one.body and one.body.get("stream")]
        assert streams[-1][field]


def test_where_the_server_takes_other_tokens_the_run_goes_on_by_steps_and_streams_again(double):
    source, grammar = attach(ServerClient(double.address)), compile_grammar("regex", "[a-z]{30}")  # the double has none
    found = generate(grammar, source, prompt="a", sampler=SamplerSettings(temperature=0.0))
    asked = requests_of(double)
    assert found.matches
    assert asked.count("stream") > 1
    assert asked.count("stream") < asked.count("step") < 40


def test_a_stream_that_breaks_off_loses_no_step(double):
    source, sampler = attach(ServerClient(double.address)), SamplerSettings(temperature=0.0)
    right = generate(None, source, prompt="a", sampler=sampler, max_tokens=12)
    source.clear_cache()
    double.answers.stream_breaks_off_at = 30_000
    found = generate(None, source, prompt="a", sampler=sampler, max_tokens=12)
    assert [step.token_id for step in found.steps] == [step.token_id for step in right.steps]
    assert "step" in requests_of(double)[-12:]


def test_a_server_that_dies_in_a_stream_leaves_the_steps_so_far():
    with served(LlamaDouble()) as double:
        double.answers.stream_breaks_off_at = 30_000
        session = DecodeSession(None, attach(ServerClient(double.address)), prompt="a")
        with running(session):
            session.step()
            session.step()
    with running(session), raises_key(ModelError, "errors.servers.unreachable"):
        for _ in range(20):
            session.step()
    assert len(session.steps) >= 2


def test_a_stream_that_waits_is_cancelled_at_once_and_closed(double):
    source = attach(ServerClient(double.address))
    session, cancel = DecodeSession(None, source, prompt="a"), cancels_at_its_next_request(double)
    with running(session), cancelled_by(source, cancel), pytest.raises(CancelledError):
        session.step()
    double.answers.fault = None
    assert source.logits([0, 5]).shape == (len(TOKENS),)
