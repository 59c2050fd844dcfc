"""Generation with fast-forward, and the number of model calls that it saves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from engine.compile import CompiledGrammar
from engine.decoding.forced.fast_forward import FastForward
from engine.decoding.forced.values import FastForwardGeneration
from engine.decoding.generate import generation_of
from engine.decoding.pipeline_settings import PipelineSettings, Strategy
from engine.decoding.session import DecodeSession
from engine.decoding.values import DEFAULT_MAX_TOKENS, Chat, SamplerSettings, StopRule
from engine.models import LogitSource
from engine.models.source import Logits, Message
from engine.models.tokenizer_spelling import speller_of
from engine.source import CancelToken


class CountedSource:
    """A logit source that counts calls; its other attributes are those of the wrapped source.

    Args:
        source: the wrapped source.
        timings: how long each query took the first time, by ids. A source caches its last answers, which would make a
            second run look fast.

    Attributes:
        calls: the number of calls of `logits`.
        seconds: their duration without the source's cache.
        waited: their actual duration.
    """

    def __init__(self, source: LogitSource, timings: dict[tuple[int, ...], float] | None = None) -> None:
        self.source = source
        self._timings = {} if timings is None else timings
        self.name, self.fingerprint = source.name, source.fingerprint
        self.vocabulary, self.width = source.vocabulary, source.width
        self.context_length, self.chat_template = source.context_length, source.chat_template
        self.calls, self.seconds, self.waited = 0, 0.0, 0.0

    def logits(self, ids: Sequence[int]) -> Logits:
        """Return the logits after some ids; see `LogitSource`."""
        started = time.perf_counter()
        try:
            return self.source.logits(ids)
        finally:
            waited = time.perf_counter() - started
            self.calls += 1
            self.waited += waited
            self.seconds += self._timings.setdefault(tuple(ids), waited)

    def encode(self, text: str) -> list[int]:
        """Encode a text; see `LogitSource`."""
        return self.source.encode(text)

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """Encode a chat; see `LogitSource`."""
        return self.source.encode_chat(messages, assistant_prefix)


def generate_fast_forward(  # noqa: PLR0913 - those of `generate`, the strategy and the clock
    grammar: CompiledGrammar,
    model: LogitSource,
    strategy: Strategy | str,
    *,
    prompt: str | Chat = "",
    sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
    max_tokens: int = DEFAULT_MAX_TOKENS,
    stop_at: StopRule | str = StopRule.MAXIMAL,
    pipeline: PipelineSettings = PipelineSettings(),  # noqa: B008 - frozen
    cancel: CancelToken | None = None,
    timings: dict[tuple[int, ...], float] | None = None,
) -> FastForwardGeneration:
    """Generate as `generate` does, but decode forced runs by `strategy`, whatever the pipeline says.

    Args:
        grammar: what the output must match.
        model: the logit source.
        strategy: how forced runs are encoded.
        prompt: as in `generate`; so are `sampler`, `max_tokens`, `stop_at`, `pipeline` and `cancel`.
        sampler: how a token is drawn.
        max_tokens: the limit of the output, in tokens.
        stop_at: where to stop if the vocabulary has no EOS.
        pipeline: the stages between the model and the draw.
        cancel: receives progress at every step.
        timings: see `CountedSource`; strategies that are compared share one dictionary.

    Raises:
        CancelledError, EmptyMaskError, InvariantError, ModelError: as `generate`.
    """
    counted = CountedSource(model, timings)
    started = time.perf_counter()
    session = DecodeSession(
        grammar,
        counted,
        prompt=prompt,
        sampler=sampler,
        max_tokens=max_tokens,
        stop_at=stop_at,
        kept_logits=1,
        pipeline=replace(pipeline, forced=Strategy(strategy)),
    )
    fast_forward = FastForward(counted, strategy, spell=speller_of(model))
    while session.finish is None:
        fast_forward.advance(session)
        if cancel is not None:
            cancel.report("generate", len(session.steps), session.max_tokens)
    generation = generation_of(session)
    unasked = sum(not step.was_queried for step in generation.steps)
    return FastForwardGeneration(
        generation,
        fast_forward.strategy,
        counted.calls,
        unasked,
        fast_forward.taken_back,
        counted.seconds,
        time.perf_counter() - started - counted.waited + counted.seconds,
    )
