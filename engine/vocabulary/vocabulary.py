"""The vocabulary of a model: the bytes of each token id, and the ids that end the output.

Masks are computed over bytes, so a token is represented by its bytes only. The
tokenizer never decodes single ids, because that drops leading spaces and replaces
incomplete characters.
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
from engine.vocabulary.trie import Trie, cached_trie


class Vocabulary:
    """An immutable table of token id → bytes.

    An id without bytes (a hole, a special token, padding of wider logits) matches
    no text. Several ids may have the same bytes; a grammar allows all of them or none.

    Attributes:
        tokens: the bytes of each id; None if it has none.
        eos_ids: the ids that end the output.
        special: the names of ids that match no text, including the EOS ids that have a name.
    """

    def __init__(
        self,
        tokens: Sequence[bytes | None],
        eos_ids: Iterable[int],
        special: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Create a vocabulary.

        Args:
            tokens: the bytes of each id; None and `b""` mean no bytes.
            eos_ids: the ids that end the output; may be empty. They match no text, even if `tokens` has bytes for them.
            special: the names of ids that match no text; their bytes in `tokens` are ignored.

        Raises:
            VocabularyError: there are no tokens, a token is not bytes, or an id is outside the table.
        """
        require("special", special, Mapping, "a mapping of ids to names")
        require("eos_ids", eos_ids, Iterable, "an iterable of ids")
        untyped: object = tokens  # a string is a sequence too, but not of bytes
        if not isinstance(untyped, Iterable) or isinstance(untyped, str | bytes | bytearray):
            raise TypeError(f"tokens must be a sequence of bytes, one for each id, not {type(untyped).__name__}")
        names, ends = dict(special), frozenset(eos_ids)
        for index in (*ends, *names):
            require("an id in eos_ids or special", index, Integral, "an integer")
        for name in names.values():
            require("a name in special", name, str, "a string")
        table = [_validate_token(index, token) for index, token in enumerate(tokens)]
        if not table:
            raise VocabularyError("errors.vocabulary.empty")
        for index in (*ends, *names):
            if not 0 <= index < len(table):
                raise VocabularyError("errors.vocabulary.outside", id=index, last=len(table) - 1)
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
        """Create a vocabulary from the tables of a tokenizer.

        Args:
            tokenizer: a path to `tokenizer.json`, `tekken.json`, tiktoken ranks, a sentencepiece model, or a folder
                with one of them; or a tokenizer object of transformers, tokenizers, tiktoken or sentencepiece.
            width: the length of the logits, if it exceeds the size of the tokenizer; the rest are holes.
            eos_ids: the ids that end the output, instead of those that the tokenizer and the files beside it name.

        Raises:
            VocabularyError: the tokenizer is unknown, broken, or its tokens are not byte strings.
        """
        from engine.vocabulary.readers import read_tokenizer  # deferred: most vocabularies do not need it

        return cls(*read_tokenizer(tokenizer).columns(width, eos_ids))

    @property
    def size(self) -> int:
        """Return the number of ids, holes included: the width of the logits."""
        return len(self.tokens)

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the bytes of an id; None if it has none.

        Raises:
            VocabularyError: the id is outside the vocabulary.
        """
        if not 0 <= token_id < len(self.tokens):
            raise VocabularyError("errors.vocabulary.outside", id=token_id, last=self.size - 1)
        return self.tokens[token_id]

    @cached_property
    def trie(self) -> Trie:
        """Return the byte trie of the tokens, which is read from the user's cache or built on first use."""
        return cached_trie(self.tokens)

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the contents of the vocabulary; equal in every process and version."""
        digest = hashlib.sha256(b"turnstile-vocabulary-1\0")
        digest.update(json.dumps([sorted(self.eos_ids), sorted(self.special.items())]).encode())
        for token in self.tokens:  # with its length, so that tokens with the same concatenation differ
            digest.update(b"\0-" if token is None else b"\0%d:" % len(token))
            digest.update(token or b"")
        return digest.hexdigest()

    def __reduce__(self) -> tuple[object, ...]:
        return Vocabulary, (self.tokens, tuple(self.eos_ids), dict(self.special))

    def __repr__(self) -> str:
        return f"<Vocabulary of {self.size:,} ids, {len(self.special):,} special, EOS {sorted(self.eos_ids)}>"


def _validate_token(index: int, token: bytes | None) -> bytes | None:
    if token is not None and not isinstance(token, bytes):
        raise VocabularyError("errors.vocabulary.token_type", id=index, type=type(token).__name__)
    return token or None
