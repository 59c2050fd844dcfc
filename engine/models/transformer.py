"""A transformers model as a logit source.

A debugger moves back and forth in one text, so the KV cache of the last ids is kept and
cropped to the prefix that it shares with the next ids: a step, a step back and a branch
feed only the new ids. The last 64 results are cached as well.

Not every architecture can crop its cache (state-space models cannot). When a model is
loaded, it is tested whether a cropped cache gives the same logits as a new one; if not,
or if this raises, every call starts from scratch.

A prompt begins with exactly one BOS token, no matter if the tokenizer, the chat template
or the user adds it. An EOS token that the tokenizer appends is removed, since after it
the model would begin another text.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from engine.models.checkpoint import Checkpoint
from engine.models.libraries import threads_for
from engine.models.source import Logits, Message, ModelError, is_panic
from engine.source.catalogue import catalogue_text
from engine.source.lru import LruCache
from engine.source.text import common_length
from engine.vocabulary import Vocabulary

T = TypeVar("T")

_CACHED_LOGITS = 64
_MAX_CAUSE = 200  # characters of another library's message
_TOLERANCE = 1e-2  # float32 results of different batches differ by 1e-4; those of a wrong cache by more than 1


class TransformerSource:
    """A causal language model as a logit source.

    Attributes:
        model: the model, of transformers.
        can_reuse_cache: whether its KV cache can be cut back to an earlier token.

    For the others see `LogitSource`.
    """

    def __init__(self, name: str, checkpoint: Checkpoint, torch: ModuleType, transformers: ModuleType) -> None:
        self.name = name
        self.fingerprint = checkpoint.fingerprint
        self.model, self._tokenizer = checkpoint.model, checkpoint.tokenizer
        self._torch, self._new_cache = torch, transformers.DynamicCache
        self.width = int(self.model.get_output_embeddings().weight.shape[0])
        self.vocabulary = _vocabulary(self.model, self._tokenizer, self.width)
        self._alphabet = alphabet_of(self.vocabulary)
        self.context_length = _context_length(self.model)
        self.chat_template = bool(self._tokenizer.chat_template)
        self._threads = threads_for(sum(parameter.numel() for parameter in self.model.parameters()))
        self._logits_by_ids: LruCache[tuple[int, ...], Logits] = LruCache(_CACHED_LOGITS)
        self._cache: Any = None
        self._cached_ids: list[int] = []
        self.can_reuse_cache = True
        self.can_reuse_cache = self._check_cache_reuse()

    def logits(self, ids: Sequence[int]) -> Logits:
        """See `LogitSource`."""
        if not ids:
            raise ValueError("a model needs at least one id")
        return self._logits_by_ids.get(tuple(ids), lambda: self._compute_logits(list(ids)))

    def logits_of_all(self, many: Sequence[Sequence[int]]) -> list[Logits]:
        """See `AnswersTogether`: lists of one length are one batch, after the ids that they share."""
        by_length: dict[int, list[list[int]]] = {}
        for ids in many:
            if tuple(ids) not in self._logits_by_ids:
                by_length.setdefault(len(ids), []).append(list(ids))
        found: dict[tuple[int, ...], Logits] = {}
        for batch in by_length.values():
            if len(batch) > 1 and self.can_reuse_cache:
                rows = self._batch(batch)
                found.update((tuple(ids), row) for ids, row in zip(batch, rows, strict=True))
        return [found[key] if (key := tuple(ids)) in found else self.logits(ids) for ids in many]

    def _batch(self, batch: list[list[int]]) -> list[Logits]:
        """Return the logits after lists of ids of one length."""
        self._check_length(batch[0])
        shared = min(*(common_length(batch[0], ids) for ids in batch[1:]), len(batch[0]) - 1)
        rest = [ids[shared:] for ids in batch]
        return self._computed(batch[0], lambda: self._batch_with_cache(batch[0][:shared], rest))

    def _batch_with_cache(self, shared: list[int], rest: list[list[int]]) -> list[Logits]:
        cache = self._new_cache()
        if shared:
            self._logits_with_cache(shared)
            cache = copy.deepcopy(self._cache)
            cache.batch_repeat_interleave(len(rest))
        output = self.model(input_ids=self._torch.tensor(rest), past_key_values=cache, use_cache=True, logits_to_keep=1)
        rows = [_as_array(output.logits[i : i + 1]) for i in range(len(rest))]
        for row in rows:
            row.setflags(write=False)
        return rows

    def _compute_logits(self, ids: list[int]) -> Logits:
        self._check_length(ids)
        answer = self._computed(
            ids, lambda: self._logits_with_cache(ids) if self.can_reuse_cache else self._logits_without_cache(ids)
        )
        answer.setflags(write=False)
        return answer

    def gradients_by_input(self, ids: Sequence[int], token_id: int) -> list[float]:
        """See `GivesGradients`."""
        self._check_length(list(ids))
        return self._computed(list(ids), lambda: self._gradients(list(ids), token_id))

    def _gradients(self, ids: list[int], token_id: int) -> list[float]:
        torch = self._torch
        with torch.inference_mode(mode=False), torch.enable_grad():
            inputs = self.model.get_input_embeddings()(torch.tensor([ids])).detach().requires_grad_()
            output = self.model(inputs_embeds=inputs, use_cache=False, logits_to_keep=1)
            log_p = torch.log_softmax(output.logits[0, -1].float(), dim=-1)[token_id]
            (gradient,) = torch.autograd.grad(log_p, inputs)
            values: list[float] = (gradient * inputs).sum(dim=-1)[0].tolist()
            return values

    def _check_length(self, ids: list[int]) -> None:
        if self.context_length is not None and len(ids) > self.context_length:
            raise ModelError("errors.models.context", tokens=len(ids), name=self.name, limit=self.context_length)

    def encode(self, text: str) -> list[int]:
        """See `LogitSource`."""
        return encode_text(self._tokenizer, self.vocabulary, self._alphabet, text)

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """See `LogitSource`."""
        return encode_messages(self._tokenizer, messages, assistant_prefix)

    def clear_cache(self) -> None:
        """Clear the caches, so that the next calls can be timed."""
        self._logits_by_ids.clear()
        self._clear_cache()

    def _computed(self, ids: list[int], compute: Callable[[], T]) -> T:
        self._torch.set_num_threads(self._threads)  # the process may have loaded a model of another size
        try:
            with self._torch.inference_mode():
                return compute()
        except Exception as error:
            self._clear_cache()
            if isinstance(error, MemoryError) or "memory" in str(error):
                raise ModelError("errors.models.tokens_memory", tokens=len(ids), name=self.name) from error
            raise ModelError(
                "errors.models.computing", name=self.name, type=type(error).__name__, reason=str(error)[:_MAX_CAUSE]
            ) from error

    def _logits_with_cache(self, ids: list[int]) -> Logits:
        """Feed only the ids after the cached prefix, but at least one, since logits belong to an id."""
        shared = min(common_length(self._cached_ids, ids), len(ids) - 1)
        if self._cache is None:
            self._cache, shared = self._new_cache(), 0
        elif shared < len(self._cached_ids):
            self._cache.crop(shared - len(self._cached_ids))
        self._cached_ids = ids[:shared]
        output = self.model(
            input_ids=self._torch.tensor([ids[shared:]]),
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self._cached_ids = ids
        return _as_array(output.logits)

    def _logits_without_cache(self, ids: list[int]) -> Logits:
        return _as_array(self.model(input_ids=self._torch.tensor([ids]), use_cache=False, logits_to_keep=1).logits)

    def _check_cache_reuse(self) -> bool:
        """Return whether a cropped cache gives the same logits as no cache; the cache is empty afterwards."""
        first, second, third = (i % self.width for i in (1, 2, 3))
        try:
            with self._torch.inference_mode():
                self._logits_with_cache([first, second, third])
                reused = self._logits_with_cache([first, third])
                fresh = self._logits_without_cache([first, third])
        except (RuntimeError, ValueError, AttributeError, TypeError, IndexError):
            return False
        finally:
            self._clear_cache()
        return bool(np.allclose(reused, fresh, atol=_TOLERANCE, rtol=_TOLERANCE))

    def _clear_cache(self) -> None:
        self._cache, self._cached_ids = None, []


def _as_array(logits: Any) -> Logits:
    array: Logits = logits[0, -1].float().cpu().numpy().copy()
    if np.isnan(array.max()):  # of an overflow; in an answer, NaN would mean that the model did not say
        array[np.isnan(array)] = -np.inf
    return array


def _vocabulary(model: Any, tokenizer: Any, width: int) -> Vocabulary:
    """Return the tokenizer's vocabulary, with the EOS ids that the model's configuration adds."""
    vocabulary = Vocabulary.from_tokenizer(tokenizer, width=width)
    ends = getattr(model.generation_config, "eos_token_id", None)
    eos_ids = ends if isinstance(ends, list | tuple | set | frozenset) else [ends]
    extra = {end for end in eos_ids if type(end) is int and 0 <= end < vocabulary.size} - vocabulary.eos_ids
    if not extra:
        return vocabulary
    return Vocabulary(vocabulary.tokens, vocabulary.eos_ids | extra, vocabulary.special)


def _context_length(model: Any) -> int | None:
    length = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return length if isinstance(length, int) and length > 0 else None


def alphabet_of(vocabulary: Vocabulary) -> frozenset[str] | None:
    """Return the characters of a vocabulary of single characters, whose tokenizer drops all others; None for others.

    A vocabulary of at least 256 tokens does not count, since 256 single bytes encode every text.
    """
    texts = [token.decode("utf-8", errors="replace") for token in vocabulary.tokens if token is not None]
    return frozenset(texts) if len(texts) < 256 and all(len(text) == 1 for text in texts) else None


def encode_text(tokenizer: Any, vocabulary: Vocabulary, alphabet: frozenset[str] | None, text: str) -> list[int]:
    """Return the ids of a prompt.

    An empty prompt becomes the BOS token, or an EOS token (which ends an earlier text), or a line feed.

    Args:
        tokenizer: a transformers tokenizer.
        vocabulary: its vocabulary.
        alphabet: the result of `alphabet_of`.
        text: the prompt.

    Raises:
        ModelError: the vocabulary cannot encode the text.
    """
    if alphabet is not None:
        _check_alphabet(alphabet, text, vocabulary.special.values())
    plain = _encode(tokenizer, text, special=False)
    unknown = tokenizer.unk_token_id
    if unknown is not None and unknown in plain and tokenizer.unk_token not in text:
        raise ModelError("errors.models.prompt.unknown", part=_unknown_character(tokenizer, text))
    ids = _encode(tokenizer, text, special=True)
    if tokenizer.eos_token_id != tokenizer.bos_token_id:
        ids = _remove_added_eos(ids, plain, tokenizer.eos_token_id)
    ids = _single_bos(ids, tokenizer.bos_token_id)
    return ids or _empty_prompt(tokenizer, vocabulary)


def encode_messages(tokenizer: Any, messages: Sequence[Message], assistant_prefix: str) -> list[int]:
    """Return the ids of a conversation, formatted with the tokenizer's chat template.

    Args:
        tokenizer: a transformers tokenizer.
        messages: the role and the content of each message.
        assistant_prefix: the beginning of the assistant's answer.

    Raises:
        ModelError: there is no template, or it fails.
        CancelledError: the work of this thread was cancelled.
    """
    if not tokenizer.chat_template:
        raise ModelError("errors.models.template.none")
    from engine.models import chat_template  # deferred: only a model with a template needs Jinja

    variables = {
        **_special_tokens(tokenizer),
        "messages": [{"role": role, "content": content} for role, content in messages],
        "tools": None,
        "documents": None,
        "add_generation_prompt": True,
    }
    text = chat_template.render(_template(tokenizer), variables)
    ids = _encode(tokenizer, text + assistant_prefix, special=False)
    return _single_bos(ids, tokenizer.bos_token_id)


def _template(tokenizer: Any) -> str:
    """Return the template for a conversation without tools."""
    try:
        template = tokenizer.get_chat_template()
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError("errors.models.template.conversation", reason=str(error)) from error
    if not isinstance(template, str):
        raise ModelError("errors.models.template.type", type=type(template).__name__)
    return template


def _special_tokens(tokenizer: Any) -> dict[str, Any]:
    """Return the names of special tokens by their roles, which a template can use."""
    return {
        role: [str(token) for token in name] if isinstance(name, list | tuple) else str(name)
        for role, name in tokenizer.special_tokens_map.items()
    }


def _encode(tokenizer: Any, text: str, *, special: bool) -> list[int]:
    """Return the ids of a text, with or without the special tokens that the tokenizer adds."""
    try:
        return list(tokenizer(text, add_special_tokens=special)["input_ids"])
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise ModelError(
            "errors.models.prompt.failure", type=type(error).__name__, reason=str(error)[:_MAX_CAUSE]
        ) from error


def _check_alphabet(alphabet: frozenset[str], text: str, names: Iterable[str]) -> None:
    filler = min(alphabet)
    for name in names:  # special tokens may be typed by name
        text = text.replace(name, filler * len(name))
    for position, character in enumerate(text, start=1):
        if character not in alphabet:
            raise ModelError(
                "errors.models.prompt.alphabet",
                count=len(alphabet),
                character=_character_name(character),
                position=position,
            )


def _character_name(character: str) -> str:
    return f"“{character}”" if character.isprintable() else f"U+{ord(character):04X}"


def _unknown_character(tokenizer: Any, text: str) -> str:
    for position, character in enumerate(text, start=1):
        if tokenizer.unk_token_id in _encode(tokenizer, character, special=False):
            return catalogue_text(
                "errors.models.prompt.character", character=_character_name(character), position=position
            )
    return catalogue_text("errors.models.prompt.part")


def _remove_added_eos(ids: list[int], plain: list[int], eos_id: int | None) -> list[int]:
    added = _trailing_count(ids, eos_id) - _trailing_count(plain, eos_id)
    return ids[: len(ids) - max(0, added)]


def _trailing_count(ids: list[int], eos_id: int | None) -> int:
    """Return the number of consecutive EOS ids at the end of the ids."""
    return next((count for count, token_id in enumerate(reversed(ids)) if token_id != eos_id), len(ids))


def _single_bos(ids: list[int], bos: int | None) -> list[int]:
    while bos is not None and ids[:2] == [bos, bos]:
        ids = ids[1:]
    return ids


def _empty_prompt(tokenizer: Any, vocabulary: Vocabulary) -> list[int]:
    if tokenizer.bos_token_id is not None:
        return [tokenizer.bos_token_id]
    if vocabulary.eos_ids:
        return [min(vocabulary.eos_ids)]
    return _encode(tokenizer, "\n", special=False) or [0]
