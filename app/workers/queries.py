"""Queries of the decode group: the model summary, the prompt, explanations of tokens, and many seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.workers.decode_messages import ManyAnswer, ModelSummary, WhyAnswer
from app.workers.messages import Progress
from engine.source import CancelToken

if TYPE_CHECKING:
    from app.workers.loop import Emit
    from engine.decoding.session import DecodeSession
    from engine.models import LogitSource

PROMPT_TOKENS = 512  # the window summarises the others


def why(session: DecodeSession, token_id: int) -> WhyAnswer:
    """Explain why a token may or may not come next in a session."""
    explanation = session.explain(token_id)
    removed_by = session.removed_by(token_id)
    sentence = "" if removed_by else explanation.sentence
    return WhyAnswer(token_id, explanation, sentence, removed_by, len(session.steps))


def many_of(session: DecodeSession, seeds: range, cancel: CancelToken, emit: Emit) -> ManyAnswer:
    """Generate an output for each of many seeds from a session's prompt; emit each outcome.

    Args:
        session: the decode session.
        seeds: the seeds.
        cancel: checked regularly.
        emit: receives the progress and the outcomes so far.
    """
    from engine.decoding.generate import sample_many

    outcomes = []
    runs = sample_many(
        session.grammar,
        session.model,
        prompt=session.prompt,
        sampler=session.sampler,
        max_tokens=session.max_tokens,
        seeds=seeds,
        pipeline=session.pipeline,
        cancel=cancel,
    )
    for outcome in runs:
        outcomes.append(outcome)
        emit(Progress("Sampling", len(outcomes), len(seeds)))
        emit(ManyAnswer(tuple(outcomes), len(seeds), done=False))
    return ManyAnswer(tuple(outcomes), len(seeds), done=True)


def summary_of(model: LogitSource, spec: str) -> ModelSummary:
    """Return the facts about a model that the window needs."""
    from engine.models.uniform import UniformSource

    vocabulary = model.vocabulary
    return ModelSummary(
        name=model.name,
        spec=spec,
        vocabulary_size=vocabulary.size,
        has_eos=bool(vocabulary.eos_ids),
        has_chat=bool(model.chat_template),
        context_length=model.context_length,
        fingerprint=model.fingerprint,
        vocabulary_fingerprint=vocabulary.fingerprint,
        is_tokenizer=isinstance(model, UniformSource),
    )


def shown_prompt(session: DecodeSession) -> tuple[tuple[int, str], ...]:
    """Return how the model sees the prompt: pairs of token id and displayed text, the first `PROMPT_TOKENS` of them."""
    from engine.vocabulary.visible import visible

    vocabulary = session.model.vocabulary
    return tuple(
        (token_id, vocabulary.special.get(token_id) or visible(vocabulary.token_bytes(token_id) or b""))
        for token_id in session.prompt_ids[:PROMPT_TOKENS]
    )
