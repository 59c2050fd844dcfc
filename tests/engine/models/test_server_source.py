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
from engine.decoding.values import SamplerSettings
from engine.models import ModelError, load_model
from engine.models.server_source import attach
from engine.models.source import cancelled_by
from engine.servers import ServerClient
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


def test_a_step_that_waits_is_cancelled_at_once(double):
    source, cancel = attach(ServerClient(double.address)), CancelToken()
    double.answers.fault = DoubleReply(waits=True)
    before = double.reply_to

    def reply_to(request):
        cancel.cancel()
        return before(request)

    double.reply_to = reply_to
    with cancelled_by(source, cancel), pytest.raises(CancelledError):
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
