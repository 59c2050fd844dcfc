"""The grammar as a logits processor for `generate` of transformers.

    from turnstile_grammar import GrammarLogitsProcessor, GrammarStoppingCriteria

    grammar = GrammarLogitsProcessor()
    model.generate(**inputs, logits_processor=[grammar], stopping_criteria=[GrammarStoppingCriteria(grammar)])

`generate` tells a processor nothing but the ids so far: not where the prompt
ends, nor which beam a row was before. So the length of the prompt is that of the
first call, and a row is known by its ids: one of the rows before it, and one
token more. Rows that are not, begin a new generation. One object serves one
`generate` at a time, for any batch and any number of beams; one whose prompt is
what the last one wrote goes on with it, unless `reset` is called.

A beam search that lacks enough texts fills its rows up with tokens that are not
allowed, at a score of minus infinity. Such a row is lost, and stays so.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from transformers import LogitsProcessor, StoppingCriteria

from .guide import ENDED, Guide
from .masks import masked

_LOST = None
_Row = tuple[int, ...]


@cache
def load_guide() -> Guide:
    """The grammar of this package, read once."""
    return Guide.load(Path(__file__).with_name("grammar.json"))


class GrammarLogitsProcessor(LogitsProcessor):
    """Only tokens that the grammar allows keep their score.

    Args:
        guide: the grammar; by default that of this package.
        prompt_length: how many ids at the beginning of each row are the prompt; by default all of the first call.
    """

    def __init__(self, guide: Guide | None = None, prompt_length: int | None = None) -> None:
        self.guide = guide or load_guide()
        self._prompt_length = prompt_length
        self._states: dict[_Row, int | None] = {}
        self._last = self.guide.end_mask if self.guide.eos_ids else _one_token(self.guide)

    def reset(self) -> None:
        """Forget the generation so far; a new one is recognised without."""
        self._states = {}

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """Scores with minus infinity where the grammar does not allow a token.

        Args:
            input_ids: int64[rows, length], prompt and output so far.
            scores: float[rows, width]; may be wider or narrower than the vocabulary.

        Raises:
            ValueError: every text is over and the vocabulary has no end token, so nothing may be written.
        """
        states = self.states(input_ids)
        open_rows = [state for state in states if state not in (ENDED, _LOST)]
        if not self.guide.eos_ids and not any(any(self.guide.mask(state)) for state in open_rows if state is not None):
            raise ValueError(
                "every text matches the grammar in full, and this vocabulary has no end token: "
                "give generate() stopping_criteria=[GrammarStoppingCriteria(processor)]"
            )
        masks = [self._last if state in (ENDED, _LOST) else self._mask(state) for state in states]
        return masked(scores, masks)  # type: ignore[return-value]  # a plain tensor, as every processor returns

    def states(self, input_ids: torch.LongTensor) -> list[int | None]:
        """Where each row stands: a state of the guide, `ENDED`, or None where a token was not allowed.

        Args:
            input_ids: int64[rows, length].
        """
        rows = [tuple(row) for row in input_ids.tolist()]
        if rows and all(row in self._states for row in rows):
            return [self._states[row] for row in rows]
        known = self._states
        if not all(row[:-1] in known for row in rows):
            known = {}
            length = input_ids.shape[1] if self._prompt_length is None else self._prompt_length
            self._states = {row: self._run(row[length:]) for row in rows}
        else:
            self._states = {row: self._after(known[row[:-1]], row[-1]) for row in rows}
        return [self._states[row] for row in rows]

    def _run(self, token_ids: _Row) -> int | None:
        state: int | None = self.guide.start
        for token_id in token_ids:
            state = self._after(state, token_id)
        return state

    def _after(self, state: int | None, token_id: int) -> int | None:
        """The state behind a token. What follows an end is filling, which generate() does not return."""
        if state is _LOST or state == ENDED:
            return state
        following = self.guide.advance(state, token_id)
        if following is None and not self.guide.eos_ids and self.guide.is_exhausted(state):
            return ENDED
        return following

    def _mask(self, state: int | None) -> bytes:
        assert state is not None
        mask = self.guide.mask(state)
        return mask if any(mask) else self._last


class GrammarStoppingCriteria(StoppingCriteria):
    """Stops a row where nothing may follow; needed only where the vocabulary has no end token.

    Args:
        processor: the one that masks the same generation.
    """

    def __init__(self, processor: GrammarLogitsProcessor) -> None:
        self._processor = processor

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor, **kwargs: object) -> torch.BoolTensor:
        """bool[rows]: whether each row is over."""
        guide = self._processor.guide
        states = self._processor.states(input_ids)
        over = [state is None or guide.is_exhausted(state) for state in states]
        return torch.tensor(over, dtype=torch.bool, device=input_ids.device)  # type: ignore[return-value]


def _one_token(guide: Guide) -> bytes:
    """What a row that is over may still write without an end token: anything finite, or its scores were no numbers."""
    return b"\x01" + bytes(4 * guide.words - 1)
