"""Which words of the prompt make the model want a token: each word is left out in turn, and the model asked again.

The change of a word is the log-probability of the token with the whole prompt minus that without the word, before the
mask: above 0, the word made the token more probable. The output so far stays as it is, and so does the rest of the
prompt, whose tokens may change at the seam. For a model whose gradients can be computed, each word also has gradient ×
input: the derivative of the log-probability by the embeddings of its tokens, times these (Shrikumar et al. 2017, arXiv
1704.02685). It is a linear approximation, of one pass; the former is exact and asks the model once for each word.

Rejected: leaving out tokens, of which one alone seldom means anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from engine.decoding.answer import Answer, priced
from engine.decoding.processors.logits import log_sum_exp, sanitise
from engine.decoding.values import AttributedWord, Chat
from engine.models import LogitSource, ModelError
from engine.models.source import AnswersTogether, GivesGradients
from engine.source import CancelToken

MOST_WORDS: Final = 200
_TOGETHER: Final = 16
_WORD: Final = re.compile(r"\S+\s*|\s+")


def prompt_words(prompt: str | Chat) -> tuple[AttributedWord, ...]:
    """Return the words of a prompt, each with the white space after it; of a long prompt several words at once."""
    texts = [text for _, text in prompt.messages] if isinstance(prompt, Chat) else [prompt]
    words = [
        AttributedWord(number, match.start(), match[0])
        for number, text in enumerate(texts)
        for match in _WORD.finditer(text)
    ]
    size = -(-len(words) // MOST_WORDS)
    if size <= 1:
        return tuple(words)
    joined = list[AttributedWord]()
    for number in range(len(texts)):
        own = [word for word in words if word.message == number]
        for start in range(0, len(own), size):
            text = "".join(word.text for word in own[start : start + size])
            joined.append(replace(own[start], text=text))
    return tuple(joined)


def attribute(
    model: LogitSource,
    prompt: str | Chat,
    output: Sequence[int],
    token_id: int,
    cancel: CancelToken | None = None,
) -> Iterator[tuple[AttributedWord, ...]]:
    """Yield all words of a prompt, with more of their changes each time.

    Args:
        model: the logit source.
        prompt: the prompt.
        output: the tokens after it.
        token_id: the token that is wanted.
        cancel: cancels the work, and receives its progress.

    Raises:
        ModelError: the model failed, or does not give the token's probability; or the prompt cannot be encoded.
        CancelledError: it was cancelled.
    """
    words = list(prompt_words(prompt))
    whole = [*_encoded(model, prompt), *output]
    (log_p,) = _log_p(model, [whole], token_id)
    if isinstance(model, GivesGradients):
        words = _with_gradients(words, whole[: len(whole) - len(output)], model, whole, token_id)
        yield tuple(words)
    for start in range(0, len(words), _TOGETHER):
        if cancel is not None:
            cancel.check()
        batch = words[start : start + _TOGETHER]
        histories = [[*_encoded(model, _without(prompt, word)), *output] for word in batch]
        found = _log_p(model, histories, token_id)
        words[start : start + len(batch)] = [
            replace(word, change=log_p - without) for word, without in zip(batch, found, strict=True)
        ]
        if cancel is not None:
            cancel.report("progress.attribution", min(start + _TOGETHER, len(words)), len(words))
        yield tuple(words)


def _encoded(model: LogitSource, prompt: str | Chat) -> list[int]:
    if isinstance(prompt, Chat):
        return list(model.encode_chat(prompt.messages, prompt.assistant_prefix))
    return list(model.encode(prompt))


def _without(prompt: str | Chat, word: AttributedWord) -> str | Chat:
    """Return a prompt without one of its words."""
    end = word.start + len(word.text)
    if not isinstance(prompt, Chat):
        return prompt[: word.start] + prompt[end:]
    messages = list(prompt.messages)
    role, text = messages[word.message]
    messages[word.message] = role, text[: word.start] + text[end:]
    return replace(prompt, messages=tuple(messages))


def _log_p(model: LogitSource, histories: Sequence[Sequence[int]], token_id: int) -> list[float]:
    """Return the log-probability of a token after each of some histories."""
    if len(histories) > 1 and isinstance(model, AnswersTogether):
        rows = model.logits_of_all(histories)
    else:
        rows = [model.logits(history) for history in histories]
    found = []
    for history, row in zip(histories, rows, strict=True):
        answer = priced(Answer.of(row), model, history, np.array([token_id]))
        logit = float(answer.logits[token_id])
        if np.isnan(logit):
            raise ModelError("errors.decoding.attribution.unknown", name=model.name)
        total = log_sum_exp(sanitise(answer.logits, answer.logits.shape[0])) if answer.most is None else 0.0
        found.append(logit - total)
    return found


def _with_gradients(
    words: Sequence[AttributedWord], prompt_ids: Sequence[int], model: GivesGradients, ids: Sequence[int], token_id: int
) -> list[AttributedWord]:
    """Add gradient × input: a token belongs to the word in which its first byte is, and to none in a template."""
    values = model.gradients_by_input(ids, token_id)
    tokens = [model.vocabulary.token_bytes(one) or b"" for one in prompt_ids]
    starts = np.cumsum([0, *map(len, tokens)])[:-1].tolist()
    text, at, found = b"".join(tokens), 0, []
    for word in words:
        data = word.text.encode()
        start = text.find(data, at)
        if start < 0:  # the tokenizer normalises its text
            found.append(word)
            continue
        at = start + len(data)
        inside = [value for value, begin, token in zip(values, starts, tokens) if token and start <= begin < at]  # noqa: B905 - the output follows
        found.append(replace(word, gradient=float(sum(inside))))
    return found
