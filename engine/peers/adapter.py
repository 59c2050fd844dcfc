"""What the bench needs of an engine.

An adapter is made once per vocabulary and compiles grammars; what it compiles
follows one text at a time. All of them write the same mask layout: bit `i & 31`
of word `i >> 5`.

An adapter loads its engine by name when it is made: the engines are optional, and
types that are there on one machine only would be checked on one machine only.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from engine.vocabulary import Vocabulary

Mask = npt.NDArray[np.int32]


class UnsupportedNotationError(Exception):
    """An engine does not read the notation."""

    def __init__(self, notation: str) -> None:
        super().__init__(f"it does not read {notation}")


class PeerMatcher(Protocol):
    """One grammar in one engine.

    Attributes:
        mask: int32[words], what `fill_mask` wrote last.
    """

    mask: Mask

    def reset(self) -> None:
        """Go back to the start of the text."""

    def fill_mask(self) -> None:
        """Write which tokens may come next."""

    def accept(self, token_id: int) -> bool:
        """Take a token, right behind `fill_mask`; False where it is not allowed."""

    def is_accepting(self) -> bool:
        """Whether the text may end here."""


class Adapter(Protocol):
    """One engine over one vocabulary; making it is the work that is done once per vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        """Prepare the vocabulary, which has an EOS id."""

    def compile(self, notation: str, source: str) -> PeerMatcher:
        """Compile a grammar; any exception is a refusal."""

    def forget(self) -> None:
        """Drop what earlier grammars left behind, so that a compile is one."""


def empty_mask(vocabulary: Vocabulary) -> Mask:
    """A mask of the vocabulary's size that allows nothing."""
    return np.zeros(-(-vocabulary.size // 32), np.int32)


def allows(mask: Mask, token_id: int) -> bool:
    """Whether a mask allows a token."""
    return bool(int(mask[token_id >> 5]) >> (token_id & 31) & 1)


def end_of(vocabulary: Vocabulary) -> int:
    """The one EOS id that peers are told of."""
    return min(vocabulary.eos_ids)
