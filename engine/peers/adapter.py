"""The protocols that the benchmark requires of an engine, and the token ids on which engines are compared.

An adapter is created once per vocabulary and compiles grammars to matchers; a
matcher follows one text at a time. All matchers write the same mask layout: bit
`i & 31` of word `i >> 5`.

An adapter imports its engine by name when it is created: the engines are optional,
and static imports would be type-checked only on machines that have them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files, version
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from engine.grammar.options import CompileOptions
from engine.source import EngineError
from engine.vocabulary import Vocabulary

OWN: Final = "turnstile"
Mask = npt.NDArray[np.int32]


class UnsupportedNotationError(Exception):
    """The engine does not support the notation."""

    def __init__(self, notation: str) -> None:
        super().__init__(f"it does not read {notation}")


class PeerAbsentError(EngineError):
    """An engine is not installed, or cannot be used."""


class PeerMatcher(Protocol):
    """A matcher of one grammar in one engine.

    Attributes:
        mask: int32[words], the last result of `fill_mask`.
    """

    mask: Mask

    def reset(self) -> None:
        """Return to the start of the text."""

    def fill_mask(self) -> None:
        """Write the mask of the next token to `mask`."""

    def accept(self, token_id: int) -> bool:
        """Advance by a token, right after `fill_mask`, and return whether it was allowed."""

    def is_accepting(self) -> bool:
        """Return whether the text may end here."""


class Adapter(Protocol):
    """One engine over one vocabulary; the constructor does the work that is needed once per vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Prepare the vocabulary, which has an EOS id."""

    def compile(self, notation: str, source: str) -> PeerMatcher:
        """Compile a grammar; any exception means that the engine rejects it."""

    def forget(self) -> None:
        """Clear caches of earlier grammars, so that the next compile does all work."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine that can be compared. A module under `adapters` has one such object, named `PEER`.

    Attributes:
        name: its name on the command line.
        distribution: the name of its package for pip.
        adapter: its adapter, which loads the engine when it is created.
        notations: the notations that it reads.
        options: the compile options of Turnstile with which JSON values have nearly the forms that it allows.
    """

    name: str
    distribution: str
    adapter: Callable[[Vocabulary], Adapter]
    notations: tuple[str, ...] = ("json_schema", "regex", "gbnf")
    options: CompileOptions = CompileOptions()  # noqa: RUF009 - frozen

    @property
    def version(self) -> str | None:
        """Return the installed version; None if it is not installed (Turnstile itself always is)."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "(not packaged)" if self.name == OWN else None

    @property
    def installed_bytes(self) -> int | None:
        """Return the size of its package on the disk, without what it depends on; None if that is unknown."""
        try:
            found = [file.locate() for file in files(self.distribution) or ()]
        except PackageNotFoundError:
            return None
        sizes = [Path(str(path)).stat().st_size for path in found if Path(str(path)).is_file()]
        return sum(sizes) or None

    @property
    def hint(self) -> str:
        """Return how to install it."""
        return f"pip install {self.distribution}, or all of them: pip install 'token-turnstile[engines]'"


def empty_mask(vocabulary: Vocabulary) -> Mask:
    """Return a mask over the vocabulary that allows no token."""
    return np.zeros(-(-vocabulary.size // 32), np.int32)


def allows(mask: Mask, token_id: int) -> bool:
    """Return whether a mask allows a token."""
    return bool(int(mask[token_id >> 5]) >> (token_id & 31) & 1)


def eos_id_of(vocabulary: Vocabulary) -> int:
    """Return the one EOS id that is passed to other engines."""
    return min(vocabulary.eos_ids)


def error_text(error: Exception) -> str:
    """Return an error of an engine as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


_END: Final = 256
BYTES: Final = Vocabulary([*(bytes((byte,)) for byte in range(_END)), None], [_END], {_END: "<eos>"})
"""A vocabulary in which each byte is a token."""


class GreedyTokenizer:
    """A tokeniser by the longest token, the same for every engine.

    It differs from the model's tokenizer, but it works with every vocabulary, and all engines are compared on the same
    ids.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._tokens = vocabulary.tokens
        self._ids: dict[bytes, int] = {}
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                self._ids.setdefault(token, token_id)
        self._longest = max(map(len, self._ids), default=0)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes of a token."""
        return self._tokens[token_id] or b""

    def spell(self, data: bytes) -> list[int] | None:
        """Return the ids of a text; None if the vocabulary has no token for some part."""
        ids, at = [], 0
        while at < len(data):
            for length in range(min(self._longest, len(data) - at), 0, -1):
                token_id = self._ids.get(data[at : at + length])
                if token_id is not None:
                    ids.append(token_id)
                    at += length
                    break
            else:
                return None
        return ids

    def longest(self, data: bytes, words: bytes) -> int | None:
        """Return the longest token that a text begins with and a mask allows; None if there is none.

        Args:
            data: the text.
            words: the mask; bit `i & 7` of byte `i >> 3` is set if it allows token `i`.
        """
        begins = (self._ids.get(data[:length]) for length in range(min(self._longest, len(data)), 0, -1))
        return next((one for one in begins if one is not None and words[one >> 3] >> (one & 7) & 1), None)
