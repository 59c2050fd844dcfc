"""Tiny language models with random weights, of every kind that a logit source treats differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ALPHABET = "\n !,.:ABCDEabcdefghijklmnopqrstuvwxyz"
SPECIAL = ("<s>", "</s>")
TEMPLATE = (
    "{% for message in messages %}{% if message['role'] == 'tool' %}{{ raise_exception('no tools here') }}{% endif %}"
    "{{ '<s>' + message['role'] + ': ' + message['content'] + '</s>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'a: ' }}{% endif %}"
)


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

    from engine.models.libraries import libraries
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
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, clean_up_tokenization_spaces=False, **names)
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


def save_tiny_gguf(path: Path) -> Path:
    """Write a tiny Llama with a byte-level vocabulary as a GGUF file."""
    import gguf
    import numpy as np
    from tokenizers.pre_tokenizers import ByteLevel

    rng = np.random.default_rng(1)
    tokens = [*SPECIAL, *sorted(ByteLevel.alphabet()), "ab"]
    width, inner, layers, heads = 32, 64, 2, 2
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(48)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(width // heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)))
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(tokens), width), "output": (len(tokens), width)}
    shapes["output_norm"] = (width,)
    for layer in range(layers):
        at = f"blk.{layer}"
        shapes |= {f"{at}.{name}": (width, width) for name in ("attn_q", "attn_k", "attn_v", "attn_output")}
        shapes |= {f"{at}.{name}": (width,) for name in ("attn_norm", "ffn_norm")}
        shapes |= {f"{at}.ffn_gate": (inner, width), f"{at}.ffn_up": (inner, width), f"{at}.ffn_down": (width, inner)}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", rng.normal(0, 0.3, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
