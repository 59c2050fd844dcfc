"""A token index that was read back, for walks over tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.export.target import MismatchError
from engine.vocabulary import Vocabulary


class IndexRecogniser:
    """A token index that was read back, as a `TokenRecogniser`.

    Args:
        start: the first state; None if nothing matches.
        accepting: the states where the text may end.
        indptr: int64[S + 1], where the transitions of each state begin.
        tokens: int32[T], ascending within a state.
        targets: int32[T].
        vocabulary: the vocabulary of the tokens.

    Raises:
        MismatchError: the arrays are no index over the vocabulary.
    """

    ENDED = -1
    NOWHERE = -2

    def __init__(
        self,
        start: int | None,
        accepting: Iterable[int],
        indptr: NDArray[Any],
        tokens: NDArray[Any],
        targets: NDArray[Any],
        vocabulary: Vocabulary,
    ) -> None:
        self.start = self.NOWHERE if start is None else start
        self._accepting = frozenset(accepting)
        self._indptr, self._tokens, self._targets = indptr, tokens, targets
        self._vocabulary = vocabulary
        states = indptr.shape[0] - 1
        fits = (
            indptr.shape[0] > 0
            and indptr[0] == 0
            and int(indptr[-1]) == tokens.shape[0] == targets.shape[0]
            and (np.diff(indptr) >= 0).all()
            and (start is None or 0 <= start < states)
            and (not tokens.shape[0] or (tokens.min() >= 0 and tokens.max() < vocabulary.size))
            and (not targets.shape[0] or (targets.min() >= 0 and targets.max() < states))
        )
        if not fits:
            raise MismatchError("what was read back is no index over this vocabulary")

    def mask(self, state: int) -> bytes:
        """Return the mask of a state; see `TokenRecogniser`."""
        flags = np.zeros(32 * ((self._vocabulary.size + 31) // 32), np.bool_)
        flags[self._tokens[self._row(state)]] = True
        if state in self._accepting:
            flags[list(self._vocabulary.eos_ids)] = True
        return np.packbits(flags, bitorder="little").tobytes()

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the state after a token; see `TokenRecogniser`."""
        if token_id in self._vocabulary.eos_ids:
            return self.ENDED if state in self._accepting else None
        row = self._row(state)
        at = row.start + int(np.searchsorted(self._tokens[row], token_id))
        return int(self._targets[at]) if at < row.stop and self._tokens[at] == token_id else None

    def _row(self, state: int) -> slice:
        return slice(int(self._indptr[state]), int(self._indptr[state + 1])) if state >= 0 else slice(0, 0)
