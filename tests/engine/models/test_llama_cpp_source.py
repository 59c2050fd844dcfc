"""A GGUF file that llama.cpp runs, as a logit source."""

from __future__ import annotations

import gc

import numpy as np
import psutil
import pytest
from error_keys import raises_key
from tiny_gguf import BOS_ID, END_IDS, token_bytes

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


def test_a_walk_has_the_probabilities_of_torch(tiny_gguf_file):
    source, torch = load(tiny_gguf_file), load_model(str(tiny_gguf_file))
    start = source.encode("Hello")
    assert start == torch.encode("Hello")
    assert start[0] == BOS_ID
    for ids in (start, [*start, 300], [*start, 300, 7], [*start, 300], [*start, 8]):
        best = np.argsort(torch.logits(ids))[::-1][:20]
        difference = source.logits(ids)[best] - torch.logits(ids)[best]
        np.testing.assert_allclose(difference, difference[0], atol=0.05)  # log-probabilities are shifted logits


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


def test_a_server_that_was_killed_is_named_and_known_steps_stay(tiny_gguf_file):
    source = load(tiny_gguf_file)
    ids = source.encode("Hello")
    known = source.logits(ids)
    servers()[-1].kill()
    with raises_key(ModelError, "errors.models.server.killed"):
        source.logits([*ids, 300])
    np.testing.assert_array_equal(source.logits(ids), known)


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
