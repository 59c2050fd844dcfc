from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_keys import raises_key
from tiny_models import ALPHABET, save_tiny, save_tiny_gguf

from engine.models import ModelError, load_model


def from_scratch(source: Any, ids: list[int]) -> Any:
    import torch

    with torch.inference_mode():
        return source.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].float().numpy()


def walk(seed: int, width: int, moves: int) -> list[list[int]]:
    """Ids along random steps, steps back and branches, as a debugger makes them."""
    rng = random.Random(seed)
    ids, seen = [rng.randrange(width) for _ in range(5)], []
    for _ in range(moves):
        move = rng.random()
        if move < 0.5 and len(ids) < 40:
            ids = [*ids, *(rng.randrange(width) for _ in range(rng.choice((1, 1, 1, 4))))]
        elif move < 0.8:
            ids = ids[: max(1, len(ids) - rng.randrange(1, 4))]
        else:
            ids = [*ids[: rng.randrange(1, len(ids) + 1)], rng.randrange(width)]
        seen.append(list(ids))
    return seen


@pytest.mark.parametrize("kind", ["llama", "sliding", "gpt2", "mamba"])
def test_logits_along_a_walk_are_those_from_scratch(kind: str, tmp_path: Path) -> None:
    source = load_model(str(save_tiny(tmp_path / kind, kind)))
    for ids in walk(seed=7, width=source.width, moves=60):
        np.testing.assert_allclose(source.logits(ids), from_scratch(source, ids), atol=1e-4, rtol=1e-4)


def test_a_gguf_file_is_a_model_like_any_other(tmp_path: Path) -> None:
    source = load_model(str(save_tiny_gguf(tmp_path / "tiny.gguf")))
    assert (source.name, source.context_length, source.vocabulary.eos_ids) == ("tiny", 48, {1})
    assert [source.vocabulary.tokens[i] for i in source.encode("abc")] == [b"ab", b"c"]
    for ids in walk(seed=3, width=source.width, moves=20):
        np.testing.assert_allclose(source.logits(ids), from_scratch(source, ids), atol=1e-4, rtol=1e-4)


def test_a_model_whose_cache_cannot_be_cut_back_starts_afresh(tmp_path: Path) -> None:
    assert not load_model(str(save_tiny(tmp_path / "mamba", "mamba"))).can_reuse_cache  # type: ignore[attr-defined]


class Feeds:
    """Counts the ids that the model is fed."""

    def __init__(self, model: Any) -> None:
        self.lengths: list[int] = []
        self._model = model

    def __call__(self, **arguments: Any) -> Any:
        self.lengths.append(arguments["input_ids"].shape[1])
        return self._model(**arguments)


@pytest.fixture
def fed(tiny: Path) -> tuple[Any, Feeds]:
    source: Any = load_model(str(tiny))
    source.model = feeds = Feeds(source.model)
    return source, feeds


def test_only_new_ids_are_fed(fed: tuple[Any, Feeds]) -> None:
    source, feeds = fed
    source.logits([1, 2, 3, 4])
    source.logits([1, 2, 3, 4, 5])  # a step
    source.logits([1, 2, 3, 4, 5, 6])
    source.logits([1, 2, 3, 9])  # a branch from further up
    source.logits([1, 2])  # back, to where no answer was asked for
    assert feeds.lengths == [4, 1, 1, 1, 1]


def test_several_texts_are_one_batch_for_each_length_after_what_they_share(fed: tuple[Any, Feeds]) -> None:
    source, feeds = fed
    many = [[1, 2, 3, 4], [1, 2, 5, 6], [1, 2, 3], [1, 2, 3, 4, 7], [1, 2, 9, 9]]
    found = source.logits_of_all(many)
    assert feeds.lengths == [2, 2, 1, 2]  # the shared ids, three rows of two more, and the other two lengths
    for ids, row in zip(many, found, strict=True):
        np.testing.assert_allclose(row, from_scratch(source, ids), atol=1e-4, rtol=1e-4)


def test_known_answers_are_not_asked_again(fed: tuple[Any, Feeds]) -> None:
    source, feeds = fed
    first = source.logits([1, 2, 3])
    source.logits([1, 2, 3, 4])
    assert source.logits([1, 2, 3]) is first
    assert feeds.lengths == [3, 1]


def test_the_last_64_answers_are_kept(fed: tuple[Any, Feeds]) -> None:
    source, feeds = fed
    for last in range(65):
        source.logits([1, last // 8, last % 8])
    asked = len(feeds.lengths)
    source.logits([1, 8, 0])
    assert len(feeds.lengths) == asked
    source.logits([1, 0, 0])
    assert len(feeds.lengths) == asked + 1


def test_logits_are_float32_as_wide_as_the_vocabulary_and_read_only(tiny: Path) -> None:
    source = load_model(str(tiny))
    answer = source.logits([1])
    assert answer.dtype == np.float32
    assert answer.shape == (source.width,) == (source.vocabulary.size,) == (len(ALPHABET),)
    with pytest.raises(ValueError, match="read-only"):
        answer[0] = 0


def test_ids_beyond_the_context_are_refused_with_its_length(tiny: Path) -> None:
    source = load_model(str(tiny))
    assert source.context_length == 48
    source.logits([1] * 48)
    with raises_key(ModelError, "errors.models.context", tokens=49, name="plain", limit=48):
        source.logits([1] * 49)


def test_no_ids_are_a_bug(tiny: Path) -> None:
    with pytest.raises(ValueError, match="at least one id"):
        load_model(str(tiny)).logits([])


def test_running_out_of_memory_is_a_sentence(tiny: Path) -> None:
    source: Any = load_model(str(tiny))

    def exhausted(**_: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 1 bytes")

    model, source.model = source.model, exhausted
    with raises_key(ModelError, "errors.models.tokens_memory", tokens=2):
        source.logits([1, 2])
    source.model = model
    np.testing.assert_allclose(source.logits([1, 2]), from_scratch(source, [1, 2]), atol=1e-5)


def test_the_fingerprint_tells_weights_apart(tiny: Path, tiny_chat: Path) -> None:
    first, second = load_model(str(tiny)), load_model(str(tiny_chat))
    assert first.fingerprint == load_model(str(tiny)).fingerprint != second.fingerprint


def test_a_model_without_an_end_has_none(tiny: Path, tiny_chat: Path) -> None:
    assert load_model(str(tiny)).vocabulary.eos_ids == frozenset()
    assert load_model(str(tiny_chat)).vocabulary.eos_ids == {1}


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_gradient_by_input_is_the_derivative_by_the_scale_of_an_embedding(kind: str, tmp_path: Path) -> None:
    import torch

    source: Any = load_model(str(save_tiny(tmp_path / kind, kind)))
    ids, token_id, step = [3, 5, 2, 7], 4, 1e-2

    def log_p(at: int, scale: float) -> float:
        with torch.inference_mode():
            inputs = source.model.get_input_embeddings()(torch.tensor([ids]))
            inputs[0, at] *= scale
            logits = source.model(inputs_embeds=inputs, use_cache=False).logits[0, -1].double()
            return float(torch.log_softmax(logits, dim=-1)[token_id])

    expected = [(log_p(at, 1 + step) - log_p(at, 1 - step)) / (2 * step) for at in range(len(ids))]
    np.testing.assert_allclose(source.gradients_by_input(ids, token_id), expected, atol=2e-3, rtol=2e-2)
    assert not any(parameter.grad is not None for parameter in source.model.parameters())
