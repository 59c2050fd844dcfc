"""Generation that takes forced runs without asking the model for them, and counts what that saves."""

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
    """A logit source that counts; the other attributes are those of the one behind it.

    Args:
        source: the one behind it.
        timings: how long each question took when it was first asked. A source remembers its last answers, which would
            make whoever asks second look fast.

    Attributes:
        calls: how often logits were asked for.
        seconds: how long that takes.
        waited: how long it took now.
    """

    def __init__(self, source: LogitSource, timings: dict[tuple[int, ...], float] | None = None) -> None:
        self.source = source
        self._timings = {} if timings is None else timings
        self.name, self.fingerprint = source.name, source.fingerprint
        self.vocabulary, self.width = source.vocabulary, source.width
        self.context_length, self.chat_template = source.context_length, source.chat_template
        self.calls, self.seconds, self.waited = 0, 0.0, 0.0

    def logits(self, ids: Sequence[int]) -> Logits:
        """See `LogitSource`."""
        begun = time.perf_counter()
        try:
            return self.source.logits(ids)
        finally:
            waited = time.perf_counter() - begun
            self.calls += 1
            self.waited += waited
            self.seconds += self._timings.setdefault(tuple(ids), waited)

    def encode(self, text: str) -> list[int]:
        """See `LogitSource`."""
        return self.source.encode(text)

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """See `LogitSource`."""
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
    """As `generate`, with forced runs decoded by a strategy, whatever the pipeline says of them.

    Strategies that are compared share one dictionary of `timings`; see `CountedSource`.

    Raises:
        CancelledError, EmptyMaskError, InvariantError, ModelError: as `generate`.
    """
    counted = CountedSource(model, timings)
    begun = time.perf_counter()
    session = DecodeSession(
        grammar,
        counted,
        prompt=prompt,
        sampler=sampler,
        max_tokens=max_tokens,
        stop_at=stop_at,
        kept_logits=1,
        pipeline=replace(pipeline, coalesce=Strategy(strategy)),
    )
    coalescer = FastForward(counted, strategy, spell=speller_of(model))
    while session.finish is None:
        coalescer.advance(session)
        if cancel is not None:
            cancel.report("generate", len(session.steps), session.max_tokens)
    made = generation_of(session)
    unasked = sum(not step.was_asked for step in made.steps)
    return FastForwardGeneration(
        made,
        coalescer.strategy,
        counted.calls,
        unasked,
        coalescer.taken_back,
        counted.seconds,
        time.perf_counter() - begun - counted.waited + counted.seconds,
    )
