"""Penalties that are subtracted from logits: of tokens that occurred, and of those that would continue a repetition.

They change only differences of logits, so they apply to log-probabilities too. Which tokens count depends on the run: a
penalty is a `RunShape`, which is bound to the tokens of a position first.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import Logits
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.processors.shaping import SamplingRun
from engine.decoding.processors.suppress import tokens_containing
from engine.source import InvariantError
from engine.vocabulary import Vocabulary

OUTPUT_ONLY: Final = -1
"""The window of a penalty that counts the tokens of the output and not those of the prompt."""
BREAKERS: Final = ("\n", ":", '"', "*")
"""The texts at which llama.cpp's DRY starts anew by default."""

_LARGEST_EXPONENT: Final = 88.7  # float32, in which llama.cpp computes, has no larger powers of e


def within(run: SamplingRun, window: int) -> Sequence[int]:
    """Return the tokens of a run that a penalty counts.

    Args:
        run: the run.
        window: the number of last tokens; 0 for all of them, `OUTPUT_ONLY` for those after the prompt.
    """
    if window == OUTPUT_ONLY:
        return run.history[run.prompt :]
    return run.history[-window:] if window else run.history


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """A `Shape` that subtracts a number from the logits of some tokens.

    Attributes:
        by: the number of each token; tokens beyond the logits are ignored.
    """

    by: Mapping[int, float]

    def __call__(self, logits: Logits, _history: Sequence[int]) -> Logits:
        """Process one row."""
        return logits - self._amounts(logits.shape[0])

    def on_partial(self, given: PartialLogits) -> PartialLogits:
        """See `PartialShape`."""
        return given.plus(-self._amounts(given.logits.shape[0]))

    def _amounts(self, width: int) -> NDArray[np.float64]:
        amounts = np.zeros(width)
        for token_id, amount in self.by.items():
            if 0 <= token_id < width:
                amounts[token_id] = amount
        return amounts


@dataclass(frozen=True, slots=True)
class FrequencyPenalty:
    """Subtracts `count * frequency + presence` from the logits of tokens that occurred `count` times, at least once.

    The formula is that of the OpenAI interface, of vLLM (`vllm/model_executor/layers/utils.py`, `apply_penalties`) and
    of llama.cpp (`llama_sampler_penalties_apply`). vLLM counts the output, llama.cpp the last tokens.

    Attributes:
        frequency: subtracted once for each occurrence; below 0 it rewards them.
        presence: subtracted once.
        window: the tokens that count; see `within`.
    """

    frequency: float
    presence: float
    window: int = OUTPUT_ONLY

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return self.of_run(SamplingRun(history))(logits, history)

    def of_run(self, run: SamplingRun) -> Lowered:
        """See `RunShape`."""
        counts = Counter(within(run, self.window))
        return Lowered({one: count * self.frequency + self.presence for one, count in counts.items()})


class Dry:
    """Lowers the tokens that would continue a repetition, the more the longer it is ("don't repeat yourself").

    If the last `n` tokens have occurred before and a token followed them there, its logit falls by
    `multiplier * base ** (n - allowed)`, for the largest such `n`, if that is at least `allowed`. No repetition reaches
    back over a sequence breaker, and a token that contains a breaker is not lowered. This is llama.cpp's definition
    (`llama_sampler_dry_apply`, after text-generation-webui's pull request 5677), except that a breaker is found in the
    text, where llama.cpp looks for the tokens with which its tokenizer writes it.

    Args:
        vocabulary: the vocabulary of the ids.
        multiplier, base, allowed: as in the formula.
        window: the number of last tokens that are searched; 0 for all of them.
        breakers: the texts of the sequence breakers.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        multiplier: float,
        base: float = 1.75,
        allowed: int = 2,
        *,
        window: int = 0,
        breakers: Sequence[str] = BREAKERS,
    ) -> None:
        self._vocabulary, self._multiplier, self._base, self._allowed = vocabulary, multiplier, base, allowed
        self._window, self._breakers = window, tuple(text.encode() for text in breakers)
        self._never = frozenset(np.flatnonzero(tokens_containing(vocabulary, self._breakers)).tolist())

    def __call__(self, logits: Logits, history: Sequence[int]) -> Logits:
        """Process one row."""
        return self.of_run(SamplingRun(history))(logits, history)

    def of_run(self, run: SamplingRun) -> Lowered:
        """See `RunShape`."""
        tokens = within(run, self._window)
        limit, longest = self._limit(tokens), dict[int, int]()
        if limit >= self._allowed:
            for end, shared in enumerate(_shared_with_end(tokens)[:-1]):
                if (length := min(shared, limit)) >= self._allowed:
                    longest[tokens[end + 1]] = max(longest.get(tokens[end + 1], 0), length)
        return Lowered({one: self._amount(length) for one, length in longest.items() if one not in self._never})

    def _amount(self, length: int) -> float:
        exponent = (length - self._allowed) * math.log(self._base)
        return min(self._multiplier * math.exp(min(exponent, _LARGEST_EXPONENT)), math.exp(_LARGEST_EXPONENT))

    def _limit(self, tokens: Sequence[int]) -> int:
        """Return how many tokens follow the last sequence breaker."""
        texts = [self._vocabulary.token_bytes(one) or b"" for one in tokens]
        written = b"".join(texts)
        ends = [at + len(text) for text in self._breakers if (at := written.rfind(text)) >= 0]
        after, count = len(written) - max(ends, default=0), 0
        for text in reversed(texts):
            after -= len(text)
            if after < 0:
                break
            count += 1
        return count


def _shared_with_end(tokens: Sequence[int]) -> list[int]:
    """Return how many tokens up to each one are also the last tokens of all; by the Z algorithm, in linear time."""
    backwards, count = tokens[::-1], len(tokens)
    lengths, left, right = [0] * count, 0, 0  # how many tokens from each one on are those of the beginning
    for at in range(1, count):
        length = min(right - at, lengths[at - left]) if at < right else 0
        while at + length < count and backwards[length] == backwards[at + length]:
            length += 1
        lengths[at] = length
        if at + length > right:
            left, right = at, at + length
    return lengths[::-1]


def read_breakers(text: str) -> tuple[str, ...]:
    r"""Return the sequence breakers of a JSON list such as `["\n", ":"]`; the default ones of an empty text.

    Raises:
        InvariantError: it is no list of texts.
    """
    if not text.strip():
        return BREAKERS
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        raise InvariantError("errors.decoding.setting.dry_breakers", text=repr(text))
    return tuple(found)
