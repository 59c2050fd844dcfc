"""A transformers model as a logit source.

A debugger goes back and forth on one text, so the keys and values of the last ids stay,
cut back to the prefix that the next question shares with them: a step, a step back and
a branch feed only the ids that are new. In front of that stand the last 64 answers.

Not every architecture can be cut back (state-space models cannot). Each model is asked
once, at its start, whether a cut cache gives the logits of a fresh one; where it does
not, or where it raises, every question starts from scratch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from engine.models.checkpoint import Checkpoint
from engine.models.errors import ModelError
from engine.models.libraries import threads_for
from engine.models.prompts import alphabet_of, encode_messages, encode_text
from engine.models.source import Logits, Message
from engine.vocabulary import Vocabulary

_REMEMBERED = 64
_LONGEST_CAUSE = 200  # characters of another library's message
_TOLERANCE = 1e-2  # float32 differs by 1e-4 between one batch and two; a wrong cache differs by whole units


class TransformerSource:
    """Logits of a causal language model; the attributes are `LogitSource`'s."""

    def __init__(self, name: str, checkpoint: Checkpoint, torch: ModuleType, transformers: ModuleType) -> None:
        self.name = name
        self.fingerprint = checkpoint.fingerprint
        self._model, self._tokenizer = checkpoint.model, checkpoint.tokenizer
        self._torch, self._new_cache = torch, transformers.DynamicCache
        self.width = int(self._model.get_output_embeddings().weight.shape[0])
        self.vocabulary = _vocabulary(self._model, self._tokenizer, self.width)
        self._alphabet = alphabet_of(self.vocabulary)
        self.context_length = _context_length(self._model)
        self.chat_template = bool(self._tokenizer.chat_template)
        self._threads = threads_for(sum(parameter.numel() for parameter in self._model.parameters()))
        self._answers: OrderedDict[tuple[int, ...], Logits] = OrderedDict()
        self._cache: Any = None
        self._cached: list[int] = []
        self._reuses = True
        self._reuses = self._reuse_is_sound()

    def logits(self, ids: Sequence[int]) -> Logits:
        """See `LogitSource`."""
        if not ids:
            raise ValueError("a model needs at least one id")
        key = tuple(ids)
        if (known := self._answers.get(key)) is not None:
            self._answers.move_to_end(key)
            return known
        if self.context_length is not None and len(ids) > self.context_length:
            raise ModelError(
                f"prompt and output are {len(ids):,} tokens, and the context of {self.name} ends at "
                f"{self.context_length:,}; go back, shorten the prompt, or choose another model"
            )
        answer = self._forward(list(ids))
        answer.setflags(write=False)
        self._answers[key] = answer
        if len(self._answers) > _REMEMBERED:
            self._answers.popitem(last=False)
        return answer

    def encode(self, text: str) -> list[int]:
        """See `LogitSource`."""
        return encode_text(self._tokenizer, self.vocabulary, self._alphabet, text)

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """See `LogitSource`."""
        return encode_messages(self._tokenizer, messages, assistant_prefix)

    def forget(self) -> None:
        """Answer anew what was answered before, so that it can be timed."""
        self._answers.clear()
        self._forget()

    def _forward(self, ids: list[int]) -> Logits:
        self._torch.set_num_threads(self._threads)  # the process may hold another model, of another size
        try:
            with self._torch.inference_mode():
                return self._reusing(ids) if self._reuses else self._afresh(ids)
        except Exception as error:
            self._forget()
            if isinstance(error, MemoryError) or "memory" in str(error):
                raise ModelError(
                    f"the memory does not hold {len(ids):,} tokens of {self.name}; go back, or choose a smaller model"
                ) from error
            raise ModelError(
                f"{self.name} cannot compute an answer ({type(error).__name__}: {str(error)[:_LONGEST_CAUSE]});"
                " its configuration does not fit its weights: download the model again"
            ) from error

    def _reusing(self, ids: list[int]) -> Logits:
        """Feed only what follows the prefix that the cache holds; at least one id, since logits belong to an id."""
        shared = min(_common_prefix(self._cached, ids), len(ids) - 1)
        if self._cache is None:
            self._cache, shared = self._new_cache(), 0
        elif shared < len(self._cached):
            self._cache.crop(shared - len(self._cached))
        self._cached = ids[:shared]
        output = self._model(
            input_ids=self._torch.tensor([ids[shared:]]),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._cached = ids
        return _as_array(output.logits)

    def _afresh(self, ids: list[int]) -> Logits:
        return _as_array(self._model(input_ids=self._torch.tensor([ids]), use_cache=False, logits_to_keep=1).logits)

    def _reuse_is_sound(self) -> bool:
        """Whether a cache that was cut back answers as none does; left clean either way."""
        first, second, third = (i % self.width for i in (1, 2, 3))
        try:
            with self._torch.inference_mode():
                self._reusing([first, second, third])
                reused = self._reusing([first, third])
                fresh = self._afresh([first, third])
        except (RuntimeError, ValueError, AttributeError, TypeError, IndexError):
            return False
        finally:
            self._forget()
        return bool(np.allclose(reused, fresh, atol=_TOLERANCE, rtol=_TOLERANCE))

    def _forget(self) -> None:
        self._cache, self._cached = None, []


def _as_array(logits: Any) -> Logits:
    array: Logits = logits[0, -1].float().cpu().numpy().copy()
    return array


def _common_prefix(first: Sequence[int], second: Sequence[int]) -> int:
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))


def _vocabulary(model: Any, tokenizer: Any, width: int) -> Vocabulary:
    """The tokenizer's vocabulary, with the ends that the model's own configuration adds."""
    vocabulary = Vocabulary.from_tokenizer(tokenizer, width=width)
    ends = getattr(model.generation_config, "eos_token_id", None)
    named = ends if isinstance(ends, list | tuple | set | frozenset) else [ends]
    extra = {end for end in named if type(end) is int and 0 <= end < vocabulary.size} - vocabulary.eos_ids
    if not extra:
        return vocabulary
    return Vocabulary(vocabulary.tokens, vocabulary.eos_ids | extra, vocabulary.special)


def _context_length(model: Any) -> int | None:
    length = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) and length > 0 else None
