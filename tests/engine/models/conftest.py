"""Tiny models with random weights, of every kind that a logit source treats differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ALPHABET = "\n !,.:ABCDEabcdefghijklmnopqrstuvwxyz"
SPECIAL = ("<s>", "</s>")
TEMPLATE = (
    "{% for message in messages %}{% if message['role'] == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
    "{{ '<s>' + message['role'] + ': ' + message['content'] + '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'a: ' }}{% endif %}"
)


@pytest.fixture(autouse=True)
def own_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test but one that says so sees or changes what the user has fetched."""
    if "user_cache" not in request.fixturenames:
        monkeypatch.setenv("TURNSTILE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def user_cache() -> None:
    """The test reads the user's own cache."""


def tiny_config(kind: str, size: int) -> Any:
    import transformers

    width = {"hidden_size": 16, "num_hidden_layers": 2, "vocab_size": size}
    shape = {**width, "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 48}
    match kind:
        case "llama":
            return transformers.LlamaConfig(**shape, bos_token_id=None, eos_token_id=None)
        case "sliding":
            return transformers.MistralConfig(**shape, num_key_value_heads=1, sliding_window=4)
        case "gpt2":
            return transformers.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=48, vocab_size=size)
        case "mamba":
            return transformers.MambaConfig(**width, state_size=4)
    raise ValueError(kind)


def save_tiny(folder: Path, kind: str = "llama", *, special: bool = False, template: str | None = None) -> Path:
    """Save a tiny model with a tokenizer of single characters; with `special`, BOS is added to a prompt."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, processors

    from engine.models.runtime import libraries
    from engine.source import CancelToken

    libraries(CancelToken())  # quiet
    characters = [*SPECIAL, *ALPHABET] if special else list(ALPHABET)
    raw = Tokenizer(models.BPE(vocab={char: i for i, char in enumerate(characters)}, merges=[]))
    raw.decoder = decoders.Fuse()
    names: dict[str, str] = {}
    if special:
        raw.add_special_tokens(list(SPECIAL))
        raw.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
        names = {"bos_token": "<s>", "eos_token": "</s>"}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, clean_up_tokenization_spaces=False, **names
    )
    if template is not None:
        tokenizer.chat_template = template
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(tiny_config(kind, len(characters)))
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.5)  # far enough from uniform that a wrong cache shows
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model without special tokens."""
    return save_tiny(tmp_path_factory.mktemp("tiny") / "plain")


@pytest.fixture(scope="session")
def tiny_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with BOS, EOS and a chat template."""
    return save_tiny(tmp_path_factory.mktemp("tiny") / "chat", special=True, template=TEMPLATE)
