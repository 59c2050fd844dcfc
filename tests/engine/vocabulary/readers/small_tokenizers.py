"""Small tokenizers, each with a trap of real ones: made here, so that tests need no network."""

from __future__ import annotations

import io
import json
from typing import Any

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

from engine.vocabulary.readers.tokenizer_json import byte_alphabet

TEXT = "Hello  wörld\n\t日本 😀 x\0 end  "
"""Text that every tokenizer here can encode: blanks in a row, control characters, characters of 1 to 4 bytes."""


def byte_level(*words: str) -> tokenizers.Tokenizer:
    """A byte-level BPE tokenizer, as GPT-2's and Llama 3's: 256 bytes, then the given words and their beginnings."""
    letter = {byte: char for char, byte in byte_alphabet().items()}
    vocab = {letter[byte]: byte for byte in range(256)}
    merges = []
    for word in words:
        spelled = [letter[byte] for byte in word.encode()]
        for end in range(2, len(spelled) + 1):
            pair = ("".join(spelled[: end - 1]), spelled[end - 1])
            if "".join(pair) not in vocab:
                vocab["".join(pair)] = len(vocab)
                merges.append(pair)
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def byte_fallback() -> tokenizers.Tokenizer:
    """As Llama 2's: pieces with ▁, bytes for the rest, a blank put before the text and taken off when decoding."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"Helowrdxn"]
    pieces += ["▁H", "▁He", "▁w", "el", "\n", "ö"]
    merges = [("▁", "H"), ("▁H", "e"), ("▁", "w"), ("e", "l")]
    vocab = {piece: index for index, piece in enumerate(pieces)}
    tokenizer = tokenizers.Tokenizer(
        models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer


def metaspace() -> tokenizers.Tokenizer:
    """A Unigram tokenizer with Metaspace, as T5's."""
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("▁He", -3.0), *((char, -4.0) for char in "Helo wörd")]
    tokenizer = tokenizers.Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def sentencepiece_model() -> bytes:
    """A trained sentencepiece model with byte fallback, a control token and a symbol of the user's."""
    import sentencepiece

    model = io.BytesIO()
    lines = ["hello world, hello there", "the world is wide and the words are few", "hold the door"] * 20
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=320,
        model_type="bpe",
        byte_fallback=True,
        control_symbols=["[INST]"],
        user_defined_symbols=["▁<tool>"],
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def parts(tokenizer: tokenizers.Tokenizer) -> dict[str, Any]:
    """The parsed `tokenizer.json` of a tokenizer."""

    document: dict[str, Any] = json.loads(tokenizer.to_str())
    return document
