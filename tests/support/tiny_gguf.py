"""A tiny llama model with random weights as a GGUF file, which llama.cpp serves and transformers loads.

`python tests/support/tiny_gguf.py FILE [--seed N] [--context N]` writes one. Its vocabulary has what real ones have:
every byte, tokens of several bytes, among them parts of characters, control tokens, two ids that end the output, a
token that the user defined, and a chat template. Equal arguments make equal files.
"""

from __future__ import annotations

import argparse
from pathlib import Path

BOS, EOS, START, END, TOOL = "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<tool_call>"
CONTROL = (BOS, EOS, START, END)
BOS_ID, EOS_ID, END_ID, TOOL_ID = 0, 1, 3, 4
END_IDS = frozenset({EOS_ID, END_ID})
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
TEXTS = (
    *(" the", " capital", " of", " France", " is", " Paris", " London", " and", " number", " answer", " user"),
    *("The", "Hello", "world", "name", "value", "items", "string", "system", "assistant", "true", "false", "null"),
    *('{"', '":', '": "', '", "', '"}', '"]', "},{", "\\n", "\n\n", "    ", "-0", "10", "20", "2026", "-11-", "0.5"),
    *("ä", "é", "ß", " für", "日本", "語", "🦙", "👍🏽", "\u00a0"),
)
"""Each of their beginnings, byte by byte, is a token."""


def write_tiny_gguf(path: Path, *, seed: int = 1, context: int = 512) -> Path:
    """Write a model with two layers and return its path.

    Args:
        path: the file.
        seed: of the weights.
        context: the context length that the file states.
    """
    import gguf

    tokens, merges = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(f"tiny-{seed}")
    writer.add_context_length(context)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = {**dict.fromkeys(CONTROL, gguf.TokenType.CONTROL), TOOL: gguf.TokenType.USER_DEFINED}
    writer.add_token_types([kinds.get(token, gguf.TokenType.NORMAL) for token in tokens])
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(BOS_ID)
    writer.add_eos_token_id(EOS_ID)
    writer.add_add_bos_token(True)
    writer.add_chat_template(TEMPLATE)
    _add_weights(writer, len(tokens), seed)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def vocabulary() -> tuple[list[str], list[tuple[str, str]]]:
    """Return the tokens and the merges of byte-level BPE, both as GPT-2 writes bytes."""
    letters = byte_letters()
    tokens = [*CONTROL, TOOL, *letters]
    merges = []
    for text in TEXTS:
        written = [letters[byte] for byte in text.encode()]
        for end in range(1, len(written)):
            merge = ("".join(written[:end]), written[end])
            if "".join(merge) not in tokens:
                merges.append(merge)
                tokens.append("".join(merge))
    return tokens, merges


def byte_letters() -> list[str]:
    """Return the character for each byte in GPT-2's vocabularies: its own if it is visible, else one from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in visible]
    return [chr(byte) if byte in visible else chr(0x100 + others.index(byte)) for byte in range(256)]


def token_bytes() -> list[bytes | None]:
    """Return the bytes of each token; None for the control tokens."""
    byte_of = {letter: byte for byte, letter in enumerate(byte_letters())}
    tokens = vocabulary()[0][len(CONTROL) + 1 :]
    return [*[None] * len(CONTROL), TOOL.encode(), *(bytes(byte_of[letter] for letter in token) for token in tokens)]


def _add_weights(writer: object, tokens: int, seed: int) -> None:
    """Add the shape of the model and its weights to a `GGUFWriter`."""
    import gguf
    import numpy as np

    assert isinstance(writer, gguf.GGUFWriter)
    width, inner, layers, heads, groups = 64, 128, 2, 4, 2
    head = width // heads
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(groups)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(10_000.0)
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (tokens, width), "output": (tokens, width)}
    shapes["output_norm"] = (width,)
    for layer in range(layers):
        at = f"blk.{layer}"
        shapes |= {f"{at}.{name}": (width,) for name in ("attn_norm", "ffn_norm")}
        shapes |= {f"{at}.{name}": (width, width) for name in ("attn_q", "attn_output")}
        shapes |= {f"{at}.{name}": (head * groups, width) for name in ("attn_k", "attn_v")}
        shapes |= {f"{at}.ffn_gate": (inner, width), f"{at}.ffn_up": (inner, width), f"{at}.ffn_down": (width, inner)}
    random = np.random.default_rng(seed)
    for name, shape in shapes.items():
        scale = 0.3 if len(shape) > 1 else 0.5  # far enough from uniform that a wrong prefix shows
        weights = random.normal(0, scale, shape) + (0 if len(shape) > 1 else 1)
        writer.add_tensor(f"{name}.weight", weights.astype(np.float32))


def main() -> None:
    """Write the file that the command line names."""
    parser = argparse.ArgumentParser(description="Write a tiny llama model with random weights as a GGUF file.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--context", type=int, default=512)
    options = parser.parse_args()
    write_tiny_gguf(options.path, seed=options.seed, context=options.context)


if __name__ == "__main__":
    main()
