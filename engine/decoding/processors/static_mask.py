"""Static masks: one set of tokens for each position, whatever stands at the others.

The simplest constraint that there is, and a check on the others: five lower-case
letters and a new line need no automaton. Behind the last position the output is
over; where the vocabulary has end tokens, one of them is all that may follow.

    >>> from engine.vocabulary import Vocabulary
    >>> letters = Vocabulary([b"a", b"b", b"\\n"], eos_ids=[])
    >>> masks = StaticMask(letters, ["LOWER", "NEWLINE"])
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
        vocabulary: whose tokens.
        sets: what may stand at each position, as `token_set` takes it.
        pad_id: as `Machine` has it.

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
        """The first position."""
        return 0

    def advance(self, state: int, token_id: int) -> int | None:
        """The next position."""
        return state + 1 if self._masks[state][token_id] else None

    def allowed(self, state: int) -> Allowed:
        """The set of the position."""
        return self._masks[state]

    def is_accepting(self, state: int) -> bool:
        """Whether all positions are filled."""
        return state == len(self._masks) - 1
