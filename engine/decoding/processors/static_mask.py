"""Static masks: one token set for each position, independent of the tokens at other positions.

The simplest constraint, and a check on the others: five lower-case letters and a new line need no automaton. After the
last position the output is over; if the vocabulary has EOS tokens, only they are allowed there.

    >>> from engine.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary([b"a", b"b", b"\\n"], eos_ids=[])
    >>> masks = StaticMask(vocabulary, ["LOWER", "NEWLINE"])
    >>> masks.allowed(masks.start()).tolist()
    [True, True, False]
    >>> masks.allowed(1).tolist()
    [False, False, True]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.decoding.processors.character_classes import TokenSpec, token_set
from engine.decoding.processors.logits import Allowed
from engine.decoding.processors.mask_processor import MaskProcessor
from engine.vocabulary import Vocabulary


class StaticMask(MaskProcessor[int]):
    """A list of token sets. The state is the position.

    Args:
        vocabulary: the vocabulary of the token sets.
        sets: the allowed tokens at each position, as `token_set` takes them.
        pad_id: as in `RowMachine`.

    Raises:
        InvariantError: a set is empty, or an id is outside the vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary, sets: Sequence[TokenSpec], pad_id: int | None = None) -> None:
        super().__init__(vocabulary, pad_id)
        known: dict[str | bytes, Allowed] = {}
        masks: list[Allowed] = []
        for spec in sets:
            if not isinstance(spec, str | bytes):
                masks.append(token_set(vocabulary, spec))
                continue
            if spec not in known:
                known[spec] = token_set(vocabulary, spec)
            masks.append(known[spec])
        end = np.zeros(vocabulary.size, dtype=np.bool_)
        end[list(vocabulary.eos_ids)] = True
        end.setflags(write=False)
        self._masks = (*masks, end)

    def start(self) -> int:
        """Return the first position."""
        return 0

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the next position; None if the token is not allowed."""
        return state + 1 if self._masks[state][token_id] else None

    def allowed(self, state: int) -> Allowed:
        """Return the token set of a position."""
        return self._masks[state]

    def is_accepting(self, state: int) -> bool:
        """Return whether all positions are filled."""
        return state == len(self._masks) - 1
