"""Logs as traces: of a real llama-server, and in the forms of vLLM, SGLang and OpenAI."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from error_keys import raises_key
from llama_server import connect
from tiny_gguf import END_IDS

from engine.compile import compile_grammar
from engine.decoding.session import DecodeSession
from engine.decoding.session.recorded import RecordedStep, recorded_trace
from engine.decoding.values import RecordedProbability, StepOrigin
from engine.diagnosis.case import FailureCase, ScoredToken
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.intake import PastedText, TextKind, read_failure
from engine.diagnosis.scores.output_scores import score_output
from engine.diagnosis.scores.recorded_output import recorded_output
from engine.models.server_source import attach
from engine.source import EngineError
from engine.vocabulary import Vocabulary

RESPONSES = Path(__file__).parents[3] / "data" / "responses"
VOCABULARY = Vocabulary([b" ", b"1", b"2", b"x", b"[", b"]", b"a", None], [7], {7: "<end>"})
ARRAY = r"\[[0-9]+\]"
DATE = 'root ::= [0-9] [0-9] [0-9] [0-9] "-" [0-9] [0-9]'


def case_of(name):
    return read_failure([PastedText((RESPONSES / f"{name}.json").read_bytes(), TextKind.RESPONSE)])


@pytest.mark.parametrize("name", ["vllm-chat", "vllm-completion", "sglang-generate", "openai-chat", "openai-responses"])
def test_the_tokens_of_every_server_become_steps(name):
    grammar = compile_grammar("regex", ARRAY)
    found = recorded_output(case_of(name), VOCABULARY, grammar=grammar)
    assert [step.token_id for step in found.steps][:4] == [4, 1, 2, 5]
    assert found.steps[2] == RecordedStep(
        2, RecordedProbability(math.exp(-2.0)), ((5, math.exp(-0.25)), (2, math.exp(-2.0)))
    )
    assert (found.before, found.is_encoded) == (0, False)
    assert recorded_trace(found.steps, VOCABULARY).path[:4] == (0, 1, 2, 3)


def test_tokens_before_the_output_are_left_out_and_counted():
    case = FailureCase(output=b"[1]", ids=(6, 3, 4, 1, 5, 7), scores=(), reasoning="ax")
    found = recorded_output(case, VOCABULARY)
    assert ([step.token_id for step in found.steps], found.before) == ([4, 1, 5, 7], 2)


def test_two_tokens_with_the_same_bytes_are_told_apart_by_the_tokenizer_alone():
    twice = Vocabulary([b"1", b"1", b"[", b"]"], [])
    case = FailureCase(output=b"[1]", scores=tuple(ScoredToken(bytes((one,)), -1.0) for one in b"[1]"))
    with raises_key(EngineError, "errors.diagnosis.unknown_tokens"):
        recorded_output(case, twice)
    found = recorded_output(case, twice, lambda _text: (2, 1, 3))
    assert ([step.token_id for step in found.steps], found.is_encoded) == ([2, 1, 3], True)
    with raises_key(EngineError, "errors.diagnosis.unknown_tokens"):
        recorded_output(replace(case, output=b"[1]x"), twice, lambda _text: (2, 1, 3))


def test_an_output_without_tokens_is_an_error():
    with raises_key(EngineError, "errors.diagnosis.no_tokens"):
        recorded_output(FailureCase(output=b"[1]"), VOCABULARY)


# --- a real llama-server


@pytest.mark.parametrize("way", ["whole", "stream", "chat"])
def test_a_real_answer_is_stepped_through_with_its_own_probabilities(llama_server, way):
    """What the server reported then is what it reports now, and the numbers of the grammar follow."""
    with connect(llama_server) as client:
        source = attach(client)
        ids = source.encode("On")
        settings = {
            "grammar": DATE,
            "n_predict": 12,
            "n_probs": 8,
            "temperature": 0.0,
            "seed": 1,
            "cache_prompt": False,
        }
        request = {"prompt": ids, "return_tokens": True, **settings}
        if way == "stream":
            response = "".join(
                f"data: {json.dumps(one)}\n\n" for one in client.stream("/completion", {**request, "stream": True})
            )
        elif way == "whole":
            response = json.dumps(client.post("/completion", request))
        else:
            messages = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 12, "logprobs": True}
            request = {**messages, "grammar": DATE, "top_logprobs": 8, "temperature": 0.0}
            response = json.dumps(client.post("/v1/chat/completions", request))
        texts = [PastedText(json.dumps(request), TextKind.REQUEST), PastedText(response, TextKind.RESPONSE)]
        case = read_failure(texts)
        found = diagnose(case)
        assert (found.cause, case.server) == (Cause.COMPLETE, "llama.cpp")
        scored = score_output(case, found)
        assert not scored.is_masked
        assert all(one.is_allowed for one in scored.scores if one.data)
        record = recorded_output(case, source.vocabulary)
        session = DecodeSession(compile_grammar("gbnf", case.constraints[0].text), source, prompt="On")
        session.restore(recorded_trace(record.steps, source.vocabulary))
        for step in record.steps:
            if session.finish is not None:
                break
            bounds = session.next_recorded.z_bounds
            z = session.position().z
            if way != "chat":  # its prompt is another one
                assert bounds.low - 0.01 <= z <= bounds.high + 0.01
            taken = session.follow_record()
            assert taken.origin is StepOrigin.USER
            if way != "chat":
                assert taken.p == pytest.approx(step.recorded.p, rel=0.05)
        assert session.output == case.output
        assert session.is_accepting
        if way != "chat":
            assert case.prompt_ids == tuple(ids)
            assert record.steps[-1].token_id in END_IDS
