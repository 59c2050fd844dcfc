"""What both training scripts share: a tiny Llama, its optimiser, the loop, and the folder that is left.

The loop is nanoGPT's (random crops of one long token string), the optimiser Muon
for the hidden matrices (Keller Jordan, 2024) and AdamW for the rest, which at this
size reaches the same loss in about half of AdamW's steps. The learning rate is
flat and then falls to zero (Hägele et al., arXiv:2405.18392), so that a run is
described by its number of steps alone. The last steps use crops of the whole
context, which makes the early ones cheap.

Rejected: GPT-2's architecture. Its learned positions never see the late part of a
context that the short crops leave out; rotary ones need only a little of it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of a model.

    Attributes:
        width: of the residual stream.
        layers: decoder layers.
        heads: attention heads per layer.
        inner: width of the gated feed-forward layer.
        context: tokens that the model can look back on.
    """

    width: int
    layers: int
    heads: int
    inner: int
    context: int = 512


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a model is trained; with the data and the seed it fixes the weights.

    Attributes:
        steps: optimiser steps.
        batch_tokens: tokens per step.
        short: length of a crop in the early steps.
        long_share: the share of the steps, at the end, whose crops fill the context.
        matrix_rate: learning rate of the hidden matrices (Muon).
        vector_rate: learning rate of embeddings and norms (AdamW).
        cooldown: the share of the steps, at the end, in which the rates fall to zero.
        seed: of the initial weights and of the crops.
    """

    steps: int
    batch_tokens: int = 8192
    short: int = 128
    long_share: float = 0.15
    matrix_rate: float = 0.02
    vector_rate: float = 0.004
    cooldown: float = 0.5
    seed: int = 1564

    def length(self, step: int, context: int) -> int:
        """The length of the crops of a step."""
        return context if step >= self.steps * (1 - self.long_share) else self.short

    def rate(self, step: int) -> float:
        """The factor of the learning rates at a step: a short warm-up, flat, then linearly down."""
        warm_up = min(1.0, (step + 1) / 50)
        left = (self.steps - step) / (self.steps * self.cooldown)
        return min(warm_up, left, 1.0)


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What a finished run tells the model card: nats per token on both parts of the data, and the time it took."""

    train_loss: float
    valid_loss: float
    minutes: float


def build(shape: Shape, vocabulary_size: int, end_id: int | None, seed: int) -> LlamaForCausalLM:
    """Return a model with seeded random weights.

    Args:
        shape: the sizes of its layers.
        vocabulary_size: the number of tokens.
        end_id: the token that begins and ends a document; None if there is none.
        seed: the seed of the weights.
    """
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary_size,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        max_position_embeddings=shape.context,
        tie_word_embeddings=True,
        bos_token_id=end_id,
        eos_token_id=end_id,
        pad_token_id=None,
    )
    return LlamaForCausalLM(config)


def train(model: LlamaForCausalLM, data: Tensor, valid: Tensor, recipe: Recipe, checkpoint: Path) -> TrainingResult:
    """Train in place, print a line every fifty steps, and leave a resumable checkpoint every hundred.

    Args:
        model: from `build`.
        data: token ids, shape [n], int64.
        valid: held-out token ids, likewise.
        recipe: see there.
        checkpoint: a file; a run that finds it goes on from it, and removes it at its end.
    """
    optimisers = _optimisers(model, recipe)
    crops = torch.Generator().manual_seed(recipe.seed)
    start, spent = _resume(checkpoint, model, optimisers, crops)
    began, running = time.monotonic(), math.nan
    model.train()
    for step in range(start, recipe.steps):
        for optimiser in optimisers:
            for group in optimiser.param_groups:
                group["lr"] = group["full_rate"] * recipe.rate(step)
            optimiser.zero_grad(set_to_none=True)
        length = recipe.length(step, model.config.max_position_embeddings)
        # On a CPU the plain product is the faster one for short crops, the fused kernel for long ones
        model.set_attn_implementation("eager" if length <= 128 else "sdpa")
        loss = _loss(model, _crop(data, length, recipe, crops))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimiser in optimisers:
            optimiser.step()
        running = loss.item() if math.isnan(running) else 0.95 * running + 0.05 * loss.item()
        if step % 50 == 0:
            minutes = spent + (time.monotonic() - began) / 60
            print(f"step {step:5} of {recipe.steps}  loss {running:.3f}  {minutes:.1f} min", flush=True)
        if step % 100 == 99:
            _save(checkpoint, model, optimisers, crops, step + 1, spent + (time.monotonic() - began) / 60)
    minutes = spent + (time.monotonic() - began) / 60
    checkpoint.unlink(missing_ok=True)
    return TrainingResult(mean_loss(model, data[: valid.numel()]), mean_loss(model, valid), minutes)


@torch.no_grad()
def mean_loss(model: LlamaForCausalLM, data: Tensor) -> float:
    """Nats per token over `data`, in windows of the whole context that overlap by half, so each token has a past."""
    context = model.config.max_position_embeddings
    model.train(mode=False)
    total = count = 0.0
    for window in _windows(data, context):
        logits = model(window[None, :-1]).logits[0].float()
        fresh = slice(0 if count == 0 else context // 2, None)
        losses = torch.nn.functional.cross_entropy(logits[fresh], window[1:][fresh], reduction="sum")
        total += losses.item()
        count += logits[fresh].shape[0]
    model.train()
    return total / count


def save_folder(
    folder: Path, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, card: str, end_id: int | None
) -> None:
    """Write the Hugging Face folder, weights in float16, which halves them and changes no loss by 0.001.

    Args:
        folder: the folder to write.
        model: the trained model.
        tokenizer: its tokenizer.
        card: the text of the model card.
        end_id: the token that begins and ends a document; None if there is none.
    """
    model.train(mode=False)
    model.half()  # type: ignore[no-untyped-call] # transformers wraps torch's method
    model.generation_config.bos_token_id = end_id
    model.generation_config.eos_token_id = end_id
    model.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes it for its owner alone
    tokenizer.save_pretrained(folder)
    _name_as_ever(folder / "tokenizer_config.json")
    model.float()  # type: ignore[no-untyped-call] # the same
    (folder / "README.md").write_text(card, encoding="utf-8")


def sizes(model: LlamaForCausalLM) -> tuple[int, str]:
    """The number of parameters, and the architecture in words for the card."""
    config = model.config
    count = sum(p.numel() for p in model.parameters())
    words = (
        f"Llama ({config.num_hidden_layers} layers, width {config.hidden_size}, {config.num_attention_heads} heads, "
        f"gated\n  feed-forward of {config.intermediate_size}, rotary positions, tied embeddings, "
        f"{config.max_position_embeddings} tokens of context)"
    )
    return count, words


def write_measured(folder: Path, measured: dict[str, Any]) -> None:
    """Leave the figures of a run beside its weights, where the card and the tests can read them."""
    (folder / "measured.json").write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")


def _optimisers(model: LlamaForCausalLM, recipe: Recipe) -> list[torch.optim.Optimizer]:
    hidden = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    chosen = {id(p) for p in hidden}
    others = [p for p in model.parameters() if id(p) not in chosen]
    optimisers: Sequence[torch.optim.Optimizer] = (
        torch.optim.Muon(hidden, lr=recipe.matrix_rate, weight_decay=0.05, momentum=0.95),
        torch.optim.AdamW(others, lr=recipe.vector_rate, betas=(0.9, 0.95), weight_decay=0.0),
    )
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["full_rate"] = group["lr"]
    return list(optimisers)


def _crop(data: Tensor, length: int, recipe: Recipe, generator: torch.Generator) -> Tensor:
    starts = torch.randint(data.numel() - length - 1, (recipe.batch_tokens // length,), generator=generator)
    return torch.stack([data[s : s + length + 1] for s in starts.tolist()])


def _loss(model: LlamaForCausalLM, batch: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(batch[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), batch[:, 1:].flatten())


def _windows(data: Tensor, context: int) -> Iterator[Tensor]:
    for start in range(0, max(1, data.numel() - context - 1), context // 2):
        yield data[start : start + context + 1]


def _name_as_ever(path: Path) -> None:
    """The tokenizer's class by the name that transformers 4 and other readers know too."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _save(
    path: Path,
    model: LlamaForCausalLM,
    optimisers: list[torch.optim.Optimizer],
    crops: torch.Generator,
    step: int,
    minutes: float,
) -> None:
    state = {
        "model": model.state_dict(),
        "optimisers": [o.state_dict() for o in optimisers],
        "crops": crops.get_state(),
        "step": step,
        "minutes": minutes,
    }
    partial = path.with_suffix(".partial")
    torch.save(state, partial)
    partial.replace(path)


def _resume(
    path: Path, model: LlamaForCausalLM, optimisers: list[torch.optim.Optimizer], crops: torch.Generator
) -> tuple[int, float]:
    if not path.exists():
        return 0, 0.0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    for optimiser, saved in zip(optimisers, state["optimisers"], strict=True):
        optimiser.load_state_dict(saved)
    crops.set_state(state["crops"])
    return state["step"], state["minutes"]
