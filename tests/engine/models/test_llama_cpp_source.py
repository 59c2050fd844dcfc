"""A GGUF file that llama.cpp runs, as a logit source."""

from __future__ import annotations

import gc

import psutil
import pytest
from error_keys import raises_key
from tiny_gguf import END_IDS, token_bytes

from engine.compile import compile_grammar
from engine.decoding.session import DecodeSession
from engine.models import ModelError, load_model
from engine.source import CancelledError, CancelToken

pytestmark = pytest.mark.usefixtures("llama_server")  # which skips where there is no llama.cpp


def load(file):
    return load_model(f"llama.cpp:{file}")


def servers() -> list[psutil.Process]:
    return psutil.Process().children()


def test_it_has_the_vocabulary_of_the_file_with_all_its_end_tokens(tiny_gguf_file):
    source = load(tiny_gguf_file)
    assert list(source.vocabulary.tokens) == token_bytes()
    assert source.vocabulary.eos_ids == END_IDS
    assert source.name.startswith("tiny")
    assert source.chat_template


def test_the_fingerprint_is_that_of_the_model_wherever_its_file_is(tiny_gguf_file, tmp_path):
    moved = tmp_path / tiny_gguf_file.name
    moved.write_bytes(tiny_gguf_file.read_bytes())
    assert load(moved).fingerprint == load(tiny_gguf_file).fingerprint


def test_the_server_ends_with_the_source(tiny_gguf_file):
    before = servers()
    source = load(tiny_gguf_file)
    assert len(servers()) == len(before) + 1
    del source
    gc.collect()
    assert servers() == before


def test_a_server_that_is_killed_during_a_run_is_named_and_no_step_is_lost(tiny_gguf_file):
    before = servers()
    session = DecodeSession(compile_grammar("regex", "[a-z]{9}"), load(tiny_gguf_file))
    (server,) = [process for process in servers() if process not in before]
    session.set_prompt("Hello")
    session.step()
    output = session.position().output
    session.step()
    server.kill()
    with raises_key(ModelError, "errors.models.server.killed"):
        session.step()
    assert len(session.steps) == 2
    session.back()
    assert session.position().output == output


def test_loading_can_be_cancelled_at_each_stage(tiny_gguf_file):
    before, stages = servers(), set()
    load_model(f"llama.cpp:{tiny_gguf_file}", cancel=CancelToken(lambda stage, *_: stages.add(stage)))
    for last in stages:
        token = CancelToken(lambda stage, *_, last=last: token.cancel() if stage == last else None)  # noqa: B023
        with pytest.raises(CancelledError):
            load_model(f"llama.cpp:{tiny_gguf_file}", cancel=token)
    gc.collect()
    assert servers() == before


def test_a_missing_file_is_refused(tmp_path):
    with raises_key(ModelError, "errors.models.server.missing"):
        load(tmp_path / "none.gguf")
