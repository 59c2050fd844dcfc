"""Reader of Hugging Face's `tokenizer.json`: a model's table of pieces, a decoder, and added tokens.

A Hugging Face tokenizer decodes an output with a chain of decoders. If every step works on one token at a time, this
module applies the chain to single tokens. It skips steps that affect only the ends of the text (removing a leading
space), since a token in the middle keeps its space. A chain that depends on neighbouring tokens defines no bytes per
token and is rejected.

Source: `tokenizers`, `src/decoders/*.rs` and `src/pre_tokenizers/byte_level.rs`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import Part, by_id, encoded, highest_id
from engine.vocabulary.readers.token_table import TokenTable

TokenDecoder = Callable[[str], bytes]
_Text = str | bytes
_Step = Callable[[_Text], _Text]

_MAX_STEPS: Final = 64
_MAX_REPLACEMENT: Final = 256  # characters of a replacement
_MAX_TOKEN: Final = 1 << 16
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHY_NOT = {
    "WordPiece": "it puts blanks between words by rules of its own (WordPiece)",
    "BPEDecoder": "it marks the ends of words, and drops the last blank (BPEDecoder)",
    "CTC": "it drops repeated tokens (CTC)",
}


@cache
def byte_alphabet() -> Mapping[str, int]:
    """Return the character that GPT-2's byte-level tokenizers use for each byte, as a mapping to bytes."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = (byte for byte in range(256) if byte not in set(shown))
    return {chr(byte): byte for byte in shown} | {chr(256 + index): byte for index, byte in enumerate(hidden)}


def decode_byte_level(token: str) -> bytes:
    """Return the bytes of a byte-level token; a token with characters outside the alphabet is encoded as text."""
    alphabet = byte_alphabet()
    try:
        return bytes([alphabet[char] for char in token])
    except KeyError:
        return encoded(token)


def byte_fallback(token: str) -> bytes | None:
    """Return the byte of a token such as `<0x0A>`; None for other tokens."""
    match = _BYTE.fullmatch(token)
    return bytes.fromhex(match[1]) if match else None


def is_byte_level(document: Part) -> bool:
    """Return whether a `tokenizer.json` uses the byte-level alphabet."""
    parts = [*_flatten(document.get("decoder"), "decoders"), *_flatten(document.get("pre_tokenizer"), "pretokenizers")]
    return any(part.get("type").value == "ByteLevel" for part in parts)


def token_decoder(document: Part) -> TokenDecoder:
    """Return the function from tokens to bytes that a `tokenizer.json` defines.

    Raises:
        VocabularyError: its decoder does not work on one token at a time.
    """
    if is_byte_level(document):
        return decode_byte_level
    decoders = list(_flatten(document.get("decoder"), "decoders"))
    if not decoders:
        raise _refused("it has no decoder, which means a blank between any two tokens")
    steps = list(_steps(decoders))

    def decode(token: str) -> bytes:
        text: _Text = token
        for step in steps:
            text = step(text)
            if len(text) > _MAX_TOKEN:
                raise VocabularyError("errors.vocabulary.long_token", most=_MAX_TOKEN)
        return encoded(text) if isinstance(text, str) else text

    return decode


def _flatten(part: Part, children: str) -> list[Part]:
    """Return the parts of a decoder in order, flattening nested sequences."""
    if part.value is None:
        return []
    flat: list[Part] = []
    todo = [part]
    while todo:
        current = todo.pop()
        if current.get("type").text() == "Sequence":
            todo += reversed(list(current.get(children).optional_items()))
        else:
            flat.append(current)
        if len(flat) + len(todo) > _MAX_STEPS:
            raise part.refused(f"at most {_MAX_STEPS} steps")
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
                yield _replacing(decoder.get("pattern").get("String").text(), _replacement(decoder.get("content")))
            case "ByteFallback":
                yield _to_byte
            case "Fuse":
                fused = True
            case "Strip" if fused:  # after `Fuse` the step affects only the ends of the whole text
                pass
            case "Strip":
                start, stop = decoder.get("start").count(), decoder.get("stop").count()
                yield _stripping(decoder.get("content").text(), start, stop)
            case _:
                raise _refused(_WHY_NOT.get(kind, f"of its decoder {kind[:40]}, which Turnstile does not know"))


def _replacement(part: Part) -> str:
    text = part.text()
    if len(text) > _MAX_REPLACEMENT:
        raise part.refused(f"at most {_MAX_REPLACEMENT} characters")
    return text


def _refused(why: str) -> VocabularyError:
    return VocabularyError("errors.vocabulary.tokenizer_json.unusable", why=why)


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


def read_tokenizer_json(document: Mapping[str, Any], file: str = "this tokenizer.json") -> TokenTable:
    """Read a parsed `tokenizer.json`.

    Args:
        document: the file, as parsed by the `json` module.
        file: the name of the file, for messages.

    Raises:
        VocabularyError: the tokenizer has no bytes per token, or the file is malformed.
    """
    root = Part(document, file)
    pieces, unknown = _pieces(root.get("model"))
    return _table(root, pieces, unknown)


def read_names(document: Part) -> TokenTable:
    """Return the ids and names of a `tokenizer.json` as a table, with the names of tokens instead of their bytes.

    Raises:
        VocabularyError: the file is malformed.
    """
    pieces, _ = _pieces(document.get("model"))
    special = _added_tokens(document, len(pieces))
    texts = {index: encoded(piece) for index, piece in pieces.items() if index not in special}
    return TokenTable(texts, {index: content for index, (content, _) in special.items()})


def _pieces(model: Part) -> tuple[dict[int, str], int | None]:
    """Return the pieces by id, and the id of the unknown token."""
    vocab = model.get("vocab")
    if isinstance(vocab.value, list):  # Unigram: [piece, score] in the order of ids
        pieces = {index: next(pair.items(), pair).text() for index, pair in enumerate(vocab.items())}
        unknown = model.get("unk_id")
        if unknown.value is not None and unknown.count() not in pieces:
            raise unknown.refused("the id of a piece")
        return pieces, unknown.value
    ids = dict(vocab.value) if isinstance(vocab.value, dict) else {name: part.value for name, part in vocab.members()}
    pieces = {}
    if set(map(type, ids.values())) <= {int}:
        pieces = {index: piece for piece, index in ids.items()}
    if len(pieces) < len(ids) or min(pieces, default=0) < 0 or max(pieces, default=0) > highest_id(len(ids)):
        # Parts are created only to report an error, since a vocabulary has a hundred thousand pieces.
        pieces = by_id((part, part.id_among(len(ids)), piece) for piece, part in vocab.members())
    named = model.get("unk_token")
    return pieces, None if named.value is None else ids.get(named.text())


def _table(document: Part, pieces: Mapping[int, str], unknown: int | None) -> TokenTable:
    decode, literal = token_decoder(document), is_byte_level(document)
    texts = {index: decode(piece) for index, piece in pieces.items()}
    special: dict[int, str] = {}
    for index, (content, is_special) in _added_tokens(document, len(pieces)).items():
        if is_special:
            special[index] = content
        elif pieces.get(index) != content:
            # Added tokens bypass the byte-level alphabet: an added "é" is that character, not the byte 0xE9.
            texts[index] = encoded(content) if literal else decode(content)
    if unknown is not None:
        special.setdefault(unknown, pieces[unknown])
    for index in special:
        texts.pop(index, None)
    return TokenTable(texts, special)


def _added_tokens(document: Part, count: int) -> dict[int, tuple[str, bool]]:
    """Return the added tokens: content, and whether they are special."""
    entries = list(document.get("added_tokens").optional_items())
    ids = [added.get("id") for added in entries]
    count += len(entries)
    names = by_id(
        (part, part.id_among(count), added.get("content").text()) for part, added in zip(ids, entries, strict=True)
    )
    flags = {part.count(): added.get("special").flag() for part, added in zip(ids, entries, strict=True)}
    return {index: (content, flags[index]) for index, content in names.items()}
