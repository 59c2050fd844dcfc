"""Complete generations: one, one for each of many seeds, one with fast-forward, and the baseline run without a grammar.

Many seeds share one tree of steps: the model is queried once for each shared prefix.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.compile import CompiledGrammar
from engine.decoding.fast_forward import FastForward
from engine.decoding.forced.values import FastForwardGeneration
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.run_ahead import running
from engine.decoding.session import DecodeSession
from engine.decoding.session.session import KEPT_LOGITS
from engine.decoding.values import (
    DEFAULT_MAX_TOKENS,
    NO_MASSES,
    BaselineRun,
    Chat,
    Finish,
    Generation,
    PackedMasses,
    SampleOutcome,
    SamplerSettings,
    Step,
    StepMass,
    StopRule,
    price_of,
)
from engine.models import LogitSource
from engine.models.source import (
    DrawSettings,
    DrawsTokens,
    GivesLogProbabilities,
    Logits,
    MaskedPart,
    Message,
    PricesTokens,
    WeighsMasks,
)
from engine.models.text_encoder import text_encoder_of
from engine.models.uniform import UniformSource
from engine.source import CancelToken
from engine.source.catalogue import capitalised, catalogue_text

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
    with running(session):
        while session.finish is None:
            fast_forward.advance(session)
            if cancel is not None:
                cancel.report("progress.generating", len(session.steps), session.max_tokens)
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
    has_no_model = isinstance(model, UniformSource)
    for seed in seeds:
        session.restart()
        session.set_sampler(replace(sampler, seed=seed))
        while (finish := session.finish) is None:
            fast_forward.advance(session)
            if cancel is not None:
                cancel.check()
        masses = {} if has_no_model else _known_masses(session.steps)
        worst = min(masses, key=masses.__getitem__, default=None)
        yield SampleOutcome(
            seed=seed,
            text=session.text,
            finish=finish,
            matches=finish is not Finish.DEAD_END and _matches(session),
            tokens=len(session.steps),
            least_z=None if worst is None else masses[worst],
            least_z_step=worst,
            masses=NO_MASSES if has_no_model else PackedMasses.of(step_masses(session.steps)),
            price=math.fsum(map(price_of, masses.values())) if masses else None,
        )


def step_masses(steps: Iterable[Step]) -> Iterator[StepMass]:
    """Yield what the steps of an output lost."""
    start = 0
    for step in steps:
        yield StepMass.of(step, start)
        start += 0 if step.name else len(step.token or b"")


def _known_masses(steps: Sequence[Step]) -> dict[int, float]:
    """Return the allowed masses of the steps at which the model was queried; empty if one of them is unknown."""
    queried = [(index, step.z) for index, step in enumerate(steps) if step.was_queried]
    known = {index: z for index, z in queried if z is not None}
    return known if len(known) == len(queried) else {}


def _matches(session: DecodeSession) -> bool:
    """Return whether a complete output matches; only the matcher knows about tokens that are no text."""
    language = session.language
    if language is None or language.automaton.token_elements:
        return session.is_accepting
    return session.is_accepting and language.fullmatch(session.output)


def counted(source: LogitSource, timings: dict[tuple[int, ...], float] | None = None) -> CountedSource:
    """Wrap a source; see `CountedSource`."""
    return (_CountedDraws if isinstance(source, DrawsTokens) else CountedSource)(source, timings)


class CountedSource:
    """A logit source that counts calls; its other attributes are those of the wrapped source. See `counted`.

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
        self.gives_log_probabilities = isinstance(source, GivesLogProbabilities) and source.gives_log_probabilities
        self.most_priced = source.most_priced if isinstance(source, PricesTokens) else 0
        self.weighs_masks = isinstance(source, WeighsMasks) and source.weighs_masks
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

    def price(self, ids: Sequence[int], token_ids: Sequence[int]) -> Logits:
        """Return the log-probabilities of tokens; see `PricesTokens`."""
        assert isinstance(self.source, PricesTokens)
        with self._counted():
            return self.source.price(ids, token_ids)

    def weigh(self, ids: Sequence[int], allowed: NDArray[np.bool_]) -> MaskedPart | None:
        """Return what a mask leaves; see `WeighsMasks`."""
        assert isinstance(self.source, WeighsMasks)
        with self._counted():
            return self.source.weigh(ids, allowed)

    def encode(self, text: str) -> list[int]:
        """Encode a text; see `LogitSource`."""
        return self.source.encode(text)

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """Encode a chat; see `LogitSource`."""
        return self.source.encode_chat(messages, assistant_prefix)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            waited = time.perf_counter() - started
            self.calls += 1
            self.waited += waited
            self.seconds += waited


class _CountedDraws(CountedSource):
    """A counted source that draws."""

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], settings: DrawSettings) -> int:
        """Draw a token; see `DrawsTokens`."""
        assert isinstance(self.source, DrawsTokens)
        with self._counted():
            return self.source.draw(ids, allowed, settings)


def generate_fast_forward(  # noqa: PLR0913 - those of `generate`, the strategy and the clock
    grammar: CompiledGrammar,
    model: LogitSource,
    strategy: str,
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
        strategy: the name of the strategy that encodes forced runs.
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
    source = counted(model, timings)
    started = time.perf_counter()
    session = DecodeSession(
        grammar,
        source,
        prompt=prompt,
        sampler=sampler,
        max_tokens=max_tokens,
        stop_at=stop_at,
        kept_logits=1,
        pipeline=replace(pipeline, forced=strategy),
    )
    fast_forward = FastForward(source, strategy, encode=text_encoder_of(model))
    while session.finish is None:
        fast_forward.advance(session)
        if cancel is not None:
            cancel.report("progress.generating", len(session.steps), session.max_tokens)
    generation = generation_of(session)
    unasked = sum(not step.was_queried for step in generation.steps)
    return FastForwardGeneration(
        generation,
        fast_forward.strategy,
        source.calls,
        unasked,
        fast_forward.taken_back,
        source.seconds,
        time.perf_counter() - started - source.waited + source.seconds,
    )


def run_baseline(
    model: LogitSource,
    written: Sequence[Step],
    *,
    prompt: str | Chat = "",
    sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
    max_tokens: int,
    cancel: CancelToken | None = None,
) -> Iterator[BaselineRun]:
    """Generate the baseline run of a text, without the grammar; yield the run so far after each step, and at the end.

    Model, prompt, sampler and seed are the same. A draw depends only on the seed and the step's index, so both outputs
    agree until the grammar removes a token. The first difference is where the grammar (or whoever chose a token) began
    to matter. After it the texts are unrelated and are not aligned, only shown side by side.

    Rejected: the model's top token at every step of the constrained text. Each step already reports where the model
    preferred another token, and it does not show what that token would have led to.

    Args:
        model: the logit source.
        written: the steps of the constrained text, from the start.
        prompt: the prompt of the constrained text.
        sampler: its sampler settings.
        max_tokens: its limit, in tokens.
        cancel: receives progress at every step.

    Raises:
        CancelledError: the run was cancelled; the partial run has been yielded.
        ModelError: the prompt cannot be encoded, or the model failed.
    """
    session = DecodeSession(None, model, prompt=prompt, sampler=sampler, max_tokens=max_tokens, kept_logits=1)
    mine = tuple(written)
    with running(session):
        while (finish := session.finish) is None:
            session.step()
            yield BaselineRun(mine, session.steps, diverges_at(mine, session.steps))
            if cancel is not None:
                cancel.report(capitalised(catalogue_text("decoding.baseline")), len(session.steps), max_tokens)
    yield BaselineRun(mine, session.steps, diverges_at(mine, session.steps), finish)


def diverges_at(written: Sequence[Step], free: Sequence[Step]) -> int | None:
    """Return the index of the first step whose tokens differ; None while one list is a prefix of the other."""
    pairs = enumerate(zip(written, free, strict=False))
    return next((i for i, (mine, other) in pairs if mine.token_id != other.token_id), None)
