"""Random token walks: an export that was read back is compared with the engine's matcher.

At every step of a walk the two masks are compared over the complete vocabulary, some masked tokens are tried, and an
allowed one is taken. A walk draws a first byte, then one of the tokens that start with it: a closing quote is as likely
as all words together, so walks end.
"""

from __future__ import annotations

import random
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.export.checks.walk import END_CHANCE, SEED, followed, shown
from engine.export.target import ExportJob, MismatchError
from engine.matching import Matcher
from engine.vocabulary import Vocabulary

WALKS: Final = 24
STEPS: Final = 40
"""The largest number of tokens of a walk."""

_ILLEGAL: Final = 3
_NAMED: Final = 5


class TokenRecogniser(Protocol):
    """An automaton over tokens that a walk can follow."""

    @property
    def start(self) -> int:
        """The state before the first token."""

    def mask(self, state: int) -> bytes:
        """Return the allowed tokens: bit `i & 7` of byte `i >> 3`, in whole words of four bytes."""

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the state after a token; None if it is not allowed."""


def walk_tokens(
    job: ExportJob,
    side: TokenRecogniser,
    *,
    holds_fewer: bool = False,
    walks: int = WALKS,
    steps: int = STEPS,
) -> tuple[int, int]:
    """Compare an export with the matcher of the job's grammar and vocabulary; see `walk_side_by_side`.

    Args:
        job: the export job, with a vocabulary.
        side: what was read back.
        holds_fewer: whether the export may lack texts that the engine has.
        walks: the number of walks.
        steps: the largest number of tokens of a walk.
    """
    walker = _Walker(job, side, random.Random(SEED), holds_fewer=holds_fewer)
    return followed(job, walks, lambda: walker.walk(steps))


class _Walker:
    def __init__(self, job: ExportJob, side: TokenRecogniser, chance: random.Random, *, holds_fewer: bool) -> None:
        self._job, self._side, self._chance, self._fewer = job, side, chance, holds_fewer
        self._vocabulary = job.need_vocabulary()
        self._first = np.array([token[0] if token else -1 for token in self._vocabulary.tokens], np.int16)

    def walk(self, steps: int) -> int:
        """Walk both sides; return the number of tokens taken."""
        matcher = Matcher(self._job.compiled, self._vocabulary)
        state: int | None = self._side.start
        taken: list[int] = []
        for _ in range(steps + 1):
            self._job.cancel.check()
            assert state is not None
            allowed = self._compare(matcher, state, taken)
            self._try_illegal(state, allowed, taken)
            if len(taken) == steps or not allowed.any():
                break
            token_id = self._choose(allowed)
            state = self._side.advance(state, token_id)
            if not matcher.accept(token_id) or state is None:
                raise MismatchError(f"behind {self._shown(taken)} the mask allows {token_id}, and it cannot be taken")
            taken.append(token_id)
        return len(taken)

    def _compare(self, matcher: Matcher, state: int, taken: list[int]) -> NDArray[np.bool_]:
        here = _bits(matcher.bitmask().tobytes(), self._vocabulary)
        there = _bits(self._side.mask(state), self._vocabulary)
        wrong = there & ~here if self._fewer else there ^ here
        if wrong.any():
            ids = np.flatnonzero(wrong)[:_NAMED].tolist()
            named = ", ".join(f"{one} {self._vocabulary.tokens[one]!r}" for one in ids)
            who = "the export" if there[ids[0]] else "the engine"
            raise MismatchError(
                f"behind {self._shown(taken)} the masks differ in {int(wrong.sum()):,} tokens: "
                f"{who} alone allows {named}"
            )
        return there

    def _try_illegal(self, state: int, allowed: NDArray[np.bool_], taken: list[int]) -> None:
        for token_id in (self._chance.randrange(allowed.shape[0]) for _ in range(_ILLEGAL)):
            if not allowed[token_id] and self._side.advance(state, token_id) is not None:
                raise MismatchError(f"behind {self._shown(taken)} the export takes {token_id}, which its mask forbids")

    def _choose(self, allowed: NDArray[np.bool_]) -> int:
        final = [one for one in sorted(self._vocabulary.eos_ids) if allowed[one]]
        others = allowed.copy()
        others[final] = False
        ids = np.flatnonzero(others)
        if final and (not ids.shape[0] or self._chance.random() < END_CHANCE):
            return self._chance.choice(final)
        first = self._first[ids]  # a token without text has no first byte
        group = ids[first == self._chance.choice(np.flatnonzero(np.bincount(first + 1)).tolist()) - 1]
        return int(group[self._chance.randrange(group.shape[0])])

    def _shown(self, taken: list[int]) -> str:
        return shown(b"".join(self._vocabulary.tokens[one] or b"<%d>" % one for one in taken))


def _bits(mask: bytes, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Return a mask as bool[V]."""
    if len(mask) != 4 * ((vocabulary.size + 31) // 32):
        raise MismatchError(f"a mask of the export has {len(mask)} bytes, for {vocabulary.size:,} ids")
    flags = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")
    if flags[vocabulary.size :].any():
        raise MismatchError("a mask of the export allows ids that the vocabulary does not have")
    return flags[: vocabulary.size].astype(np.bool_)
