"""What a model can say: each token id and its bytes, and which ids end the output.

Masks are over bytes, so a token is its bytes and nothing else: no id is ever
decoded by the tokenizer, because decoding one token alone drops leading spaces
and replaces the halves of characters.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from types import MappingProxyType

from engine.source.arguments import require
from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.trie import Trie
from engine.vocabulary.trie_cache import cached_trie


class Vocabulary:
    """An immutable table of token id → bytes.

    An id without bytes (a hole, a special token, padding of wider logits) matches
    no text. Two ids may share bytes: whatever allows one allows the other.

    Attributes:
        tokens: the bytes of each id; None where it has none.
        eos_ids: the ids that end the output.
        special: the names of ids that match no text; the EOS ids are among them where they have a name.
    """

    def __init__(
        self,
        tokens: Sequence[bytes | None],
        eos_ids: Iterable[int],
        special: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Make a vocabulary.

        Args:
            tokens: the bytes of each id; None and `b""` mean no bytes.
            eos_ids: the ids that end the output; may be empty. They are no text, even where `tokens` has bytes.
            special: the names of ids that match no text; their bytes in `tokens` are ignored.

        Raises:
            VocabularyError: there are no tokens, one is no bytes, or an id is outside the table.
        """
        require("special", special, Mapping, "a mapping of ids to names")
        require("eos_ids", eos_ids, Iterable, "an iterable of ids")
        given: object = tokens  # a string is a sequence too, though of no bytes
        if not isinstance(given, Iterable) or isinstance(given, str | bytes | bytearray):
            raise TypeError(f"tokens must be a sequence of bytes, one for each id, not {type(given).__name__}")
        names, ends = dict(special), frozenset(eos_ids)
        for index in (*ends, *names):
            require("an id in eos_ids or special", index, Integral, "an integer")
        for name in names.values():
            require("a name in special", name, str, "a string")
        table = [_token(index, token) for index, token in enumerate(tokens)]
        if not table:
            raise VocabularyError("a vocabulary needs at least one token; this one is empty")
        for index in (*ends, *names):
            if not 0 <= index < len(table):
                raise VocabularyError(f"id {index} is outside the vocabulary, which has ids 0 to {len(table) - 1}")
        for index in ends:
            if (text := table[index]) is not None:
                names.setdefault(index, text.decode("utf-8", errors="backslashreplace"))
        for index in (*ends, *names):
            table[index] = None
        self.tokens: tuple[bytes | None, ...] = tuple(table)
        self.eos_ids = ends
        self.special: Mapping[int, str] = MappingProxyType(names)

    @classmethod
    def from_tokenizer(
        cls, tokenizer: object, *, width: int | None = None, eos_ids: Iterable[int] | None = None
    ) -> Vocabulary:
        """Read a tokenizer's own tables.

        Args:
            tokenizer: a path to `tokenizer.json`, `tekken.json`, tiktoken ranks, a sentencepiece model, or a folder
                that holds one of them; or a tokenizer object of transformers, tokenizers, tiktoken or sentencepiece.
            width: the length of the logits, where the model's are wider than the tokenizer; the rest is holes.
            eos_ids: the ids that end the output, instead of those that the tokenizer and the files beside it name.

        Raises:
            VocabularyError: the tokenizer is unknown, broken, or does not spell text byte by byte.
        """
        from engine.vocabulary.readers import read_tokenizer  # only now: it is not needed to hold a vocabulary

        return cls(*read_tokenizer(tokenizer).columns(width, eos_ids))

    @property
    def size(self) -> int:
        """How many ids there are, holes included: the width of the logits."""
        return len(self.tokens)

    def token_bytes(self, token_id: int) -> bytes | None:
        """The bytes of an id; None where it has none.

        Raises:
            VocabularyError: the id is outside the vocabulary.
        """
        if not 0 <= token_id < len(self.tokens):
            raise VocabularyError(f"id {token_id} is outside the vocabulary, which has ids 0 to {self.size - 1}")
        return self.tokens[token_id]

    @cached_property
    def trie(self) -> Trie:
        """The tokens as a byte trie, built at first use, or found in the user's cache."""
        return cached_trie(self.tokens)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of everything that the vocabulary says; the same in every process and version."""
        digest = hashlib.sha256(b"turnstile-vocabulary-1\0")
        digest.update(json.dumps([sorted(self.eos_ids), sorted(self.special.items())]).encode())
        for token in self.tokens:  # the length first: neighbours cannot trade bytes
            digest.update(b"\0-" if token is None else b"\0%d:" % len(token))
            digest.update(token or b"")
        return digest.hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        return Vocabulary, (self.tokens, tuple(self.eos_ids), dict(self.special))

    def __repr__(self) -> str:
        return f"<Vocabulary of {self.size:,} ids, {len(self.special):,} special, EOS {sorted(self.eos_ids)}>"


def _token(index: int, token: bytes | None) -> bytes | None:
    if token is not None and not isinstance(token, bytes):
        raise VocabularyError(f"token {index} is {type(token).__name__}; a token is bytes, or None where it has none")
    return token or None
