"""Complete generations: one, or one for each of many seeds.

Many seeds share one tree of steps: the model is queried once for each shared prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.compile import CompiledGrammar
from engine.decoding.forced.fast_forward import FastForward
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.session import DecodeSession
from engine.decoding.session.session import KEPT_LOGITS
from engine.decoding.values import (
    DEFAULT_MAX_TOKENS,
    Chat,
    Finish,
    Generation,
    SampleOutcome,
    SamplerSettings,
    StopRule,
)
from engine.models import LogitSource
from engine.source import CancelToken

SHARED_LOGITS_BYTES = 64 * 2**20


def generate(
    grammar: CompiledGrammar | None,
    model: LogitSource,
    *,
    prompt: str | Chat = "",
    sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
    max_tokens: int = DEFAULT_MAX_TOKENS,
    stop_at: StopRule | str = StopRule.MAXIMAL,
    pipeline: PipelineSettings = PipelineSettings(),  # noqa: B008 - frozen
    cancel: CancelToken | None = None,
) -> Generation:
    """Generate from the prompt to the end.

    A dead end is a finish and not an error: the text so far shows how it was reached, and `problem` explains it.

    Args:
        grammar: what the output must match; None for free generation.
        model: the logit source.
        prompt: text, or a chat for a model with a template.
        sampler: how a token is drawn.
        max_tokens: the limit of the output, in tokens.
        stop_at: where to stop if the vocabulary has no EOS.
        pipeline: the stages between the model and the draw.
        cancel: receives progress at every step.

    Raises:
        CancelledError: the generation was cancelled.
        EmptyMaskError: a stage of the pipeline removes everything that the stages before it left.
        InvariantError: the pipeline's settings do not fit the vocabulary.
        ModelError: the prompt cannot be encoded, or the model failed.
    """
    # The text only grows, so one kept model answer is enough.
    session = DecodeSession(
        grammar,
        model,
        prompt=prompt,
        sampler=sampler,
        max_tokens=max_tokens,
        stop_at=stop_at,
        kept_logits=1,
        pipeline=pipeline,
    )
    return run_to_end(session, cancel)


def run_to_end(session: DecodeSession, cancel: CancelToken | None = None) -> Generation:
    """Step a session to its end, with forced runs as its pipeline says."""
    fast_forward = FastForward.of(session)
    while session.finish is None:
        fast_forward.advance(session)
        if cancel is not None:
            cancel.report("generate", len(session.steps), session.max_tokens)
    return generation_of(session)


def generation_of(session: DecodeSession) -> Generation:
    """Return the generation of a finished session."""
    finish = session.finish
    assert finish is not None
    problem = str(session.dead_end()) if finish is Finish.DEAD_END else ""
    matches = finish is not Finish.DEAD_END and _matches(session)
    return Generation(session.text, session.output, finish, session.steps, problem, matches)


def sample_many(  # noqa: PLR0913 - those of `generate`, and the seeds
    grammar: CompiledGrammar | None,
    model: LogitSource,
    *,
    seeds: Iterable[int],
    prompt: str | Chat = "",
    sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
    max_tokens: int = DEFAULT_MAX_TOKENS,
    stop_at: StopRule | str = StopRule.MAXIMAL,
    pipeline: PipelineSettings = PipelineSettings(),  # noqa: B008 - frozen
    cancel: CancelToken | None = None,
) -> Iterator[SampleOutcome]:
    """Generate once per seed and yield the outcomes as they are ready.

    Whether a text matches is checked with the grammar itself, not only with the matcher that produced it.

    Args:
        grammar: as in `generate`; so are the other arguments.
        model: the logit source.
        seeds: the sampler seeds.
        prompt: text, or a chat for a model with a template.
        sampler: how a token is drawn; its seed is replaced.
        max_tokens: the limit of each output, in tokens.
        stop_at: where to stop if the vocabulary has no EOS.
        pipeline: the stages between the model and the draw.
        cancel: cancels the sampling.

    Raises:
        CancelledError: the sampling was cancelled; the outcomes so far have been yielded.
        ModelError: as `generate`.
    """
    session = DecodeSession(
        grammar,
        model,
        prompt=prompt,
        sampler=sampler,
        max_tokens=max_tokens,
        stop_at=stop_at,
        kept_logits=max(KEPT_LOGITS, SHARED_LOGITS_BYTES // (4 * model.width)),
        pipeline=pipeline,
    )
    fast_forward = FastForward.of(session)
    for seed in seeds:
        session.restart()
        session.set_sampler(replace(sampler, seed=seed))
        while (finish := session.finish) is None:
            fast_forward.advance(session)
            if cancel is not None:
                cancel.check()
        yield SampleOutcome(
            seed=seed,
            text=session.text,
            finish=finish,
            matches=finish is not Finish.DEAD_END and _matches(session),
            tokens=len(session.steps),
        )


def _matches(session: DecodeSession) -> bool:
    """Return whether a complete output matches; only the matcher knows about tokens that are no text."""
    language = session.language
    if language is None or language.automaton.token_elements:
        return session.is_accepting
    return session.is_accepting and language.fullmatch(session.output)
