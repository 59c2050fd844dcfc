"""From a token as a tokenizer writes it to the bytes that it stands for.

A Hugging Face tokenizer spells a whole output by a chain of decoders. Where the
chain works on each token alone, its steps are followed here for one token;
steps at the ends of the whole text (a leading blank dropped) are left out, since
a token in the middle keeps its blank. A chain that looks at neighbours has no
bytes per token, and is refused.

Source: `tokenizers`, `src/decoders/*.rs` and `src/pre_tokenizers/byte_level.rs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import Part, encoded

Spell = Callable[[str], bytes]
_Text = str | bytes
_Step = Callable[[_Text], _Text]

_MOST_STEPS: Final = 64
_LONGEST_WRITTEN: Final = 256  # characters of a replacement
_LONGEST_TOKEN: Final = 1 << 16
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHY_NOT = {
    "WordPiece": "it puts blanks between words by rules of its own (WordPiece)",
    "BPEDecoder": "it marks the ends of words, and drops the last blank (BPEDecoder)",
    "CTC": "it drops repeated tokens (CTC)",
}


@cache
def byte_alphabet() -> Mapping[str, int]:
    """The characters with which GPT-2's byte-level tokenizers write the 256 bytes."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = (byte for byte in range(256) if byte not in set(shown))
    return {chr(byte): byte for byte in shown} | {chr(256 + index): byte for index, byte in enumerate(hidden)}


def spell_byte_level(token: str) -> bytes:
    """The bytes of a byte-level token; a token with a character outside the alphabet stands for its own text."""
    alphabet = byte_alphabet()
    try:
        return bytes([alphabet[char] for char in token])
    except KeyError:
        return encoded(token)


def byte_fallback(token: str) -> bytes | None:
    """The byte of a token such as `<0x0A>`; None for another token."""
    match = _BYTE.fullmatch(token)
    return bytes.fromhex(match[1]) if match else None


def is_byte_level(document: Part) -> bool:
    """Whether a `tokenizer.json` writes bytes in the byte-level alphabet."""
    parts = [*_flat(document.get("decoder"), "decoders"), *_flat(document.get("pre_tokenizer"), "pretokenizers")]
    return any(part.get("type").value == "ByteLevel" for part in parts)


def token_bytes_reader(document: Part) -> Spell:
    """How a `tokenizer.json` spells one token.

    Raises:
        VocabularyError: its decoder does not work on each token alone.
    """
    if is_byte_level(document):
        return spell_byte_level
    decoders = list(_flat(document.get("decoder"), "decoders"))
    if not decoders:
        raise _refused("it has no decoder, which means a blank between any two tokens")
    steps = list(_steps(decoders))

    def spell(token: str) -> bytes:
        text: _Text = token
        for step in steps:
            text = step(text)
            if len(text) > _LONGEST_TOKEN:
                raise VocabularyError(
                    "this tokenizer cannot be used:"
                    f" its decoder makes more than {_LONGEST_TOKEN:,} characters of one token"
                )
        return encoded(text) if isinstance(text, str) else text

    return spell


def _flat(part: Part, children: str) -> list[Part]:
    """Return a decoder's parts in order; a sequence may hold sequences."""
    if part.value is None:
        return []
    flat: list[Part] = []
    todo = [part]
    while todo:
        here = todo.pop()
        if here.get("type").text() == "Sequence":
            todo += reversed(list(here.get(children).optional_items()))
        else:
            flat.append(here)
        if len(flat) + len(todo) > _MOST_STEPS:
            raise part.refused(f"at most {_MOST_STEPS} steps")
    return flat


def _steps(decoders: list[Part]) -> Iterator[_Step]:
    fused = False
    for decoder in decoders:
        kind = decoder.get("type").text()
        match kind:
            case "Metaspace":
                replaced = decoder.get("replacement")
                yield _replacing("▁" if replaced.value is None else replaced.text(), " ")
            case "Replace" if decoder.get("pattern").get("String").value is not None:
                yield _replacing(decoder.get("pattern").get("String").text(), _short(decoder.get("content")))
            case "ByteFallback":
                yield _to_byte
            case "Fuse":
                fused = True
            case "Strip" if fused:  # from here on the chain sees the whole text: only its ends are stripped
                pass
            case "Strip":
                start, stop = decoder.get("start").count(), decoder.get("stop").count()
                yield _stripping(decoder.get("content").text(), start, stop)
            case _:
                raise _refused(_WHY_NOT.get(kind, f"of its decoder {kind[:40]}, which Turnstile does not know"))


def _short(part: Part) -> str:
    text = part.text()
    if len(text) > _LONGEST_WRITTEN:
        raise part.refused(f"at most {_LONGEST_WRITTEN} characters")
    return text


def _refused(why: str) -> VocabularyError:
    return VocabularyError(
        f"this tokenizer cannot be used for masks: {why}, so its tokens have no bytes of their own;"
        " choose a model with a byte-level or sentencepiece tokenizer"
    )


def _to_byte(text: _Text) -> _Text:
    return text if isinstance(text, bytes) else byte_fallback(text) or text


def _replacing(old: str, new: str) -> _Step:
    return lambda text: text.replace(old, new) if isinstance(text, str) and old else text


def _stripping(char: str, start: int, stop: int) -> _Step:
    def strip(text: _Text) -> _Text:
        if not isinstance(text, str) or not char:
            return text
        for _ in range(min(start, len(text))):
            text = text.removeprefix(char)
        for _ in range(min(stop, len(text))):
            text = text.removesuffix(char)
        return text

    return strip
