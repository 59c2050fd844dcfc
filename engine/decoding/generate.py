"""Whole generations: one, or one for each of many seeds.

Many seeds share one tree of steps: wherever two texts begin alike, the model is
asked once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.compile import CompiledGrammar
from engine.decoding.session import KEPT_LOGITS, DecodeSession
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
    cancel: CancelToken | None = None,
) -> Generation:
    """Step from the prompt to the end.

    A dead end is a way to finish here, and not an error: the text so far says how it came to it.

    Raises:
        CancelledError: it was cancelled.
        ModelError: the prompt cannot be encoded, or the model failed.
    """
    # A text that only grows never looks back, so one answer of the model is enough.
    session = DecodeSession(
        grammar, model, prompt=prompt, sampler=sampler, max_tokens=max_tokens, stop_at=stop_at, kept_logits=1
    )
    return run_to_end(session, cancel)


def run_to_end(session: DecodeSession, cancel: CancelToken | None = None) -> Generation:
    """Step a session from where it stands to its end."""
    while (finish := session.finish) is None:
        session.step()
        if cancel is not None:
            cancel.report("generate", len(session.steps), session.max_tokens)
    return Generation(session.text, session.output, finish, session.steps)


def sample_many(
    grammar: CompiledGrammar | None,
    model: LogitSource,
    *,
    seeds: Iterable[int],
    prompt: str | Chat = "",
    sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
    max_tokens: int = DEFAULT_MAX_TOKENS,
    stop_at: StopRule | str = StopRule.MAXIMAL,
    cancel: CancelToken | None = None,
) -> Iterator[SampleOutcome]:
    """Generate once per seed; outcomes come as they are ready.

    Whether a text matches is asked of the grammar itself and not of the matcher that made it.

    Raises:
        CancelledError: it was cancelled; the outcomes so far have been given.
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
    )
    for seed in seeds:
        session.restart()
        session.set_sampler(replace(sampler, seed=seed))
        while (finish := session.finish) is None:
            session.step()
            if cancel is not None:
                cancel.check()
        output = session.output
        yield SampleOutcome(
            seed=seed,
            text=session.text,
            finish=finish,
            matches=finish is not Finish.DEAD_END and (grammar is None or grammar.fullmatch(output)),
            tokens=len(session.steps),
        )
