"""Generation that takes forced runs without asking the model for them, and counts what that saves.

A session is stepped as ever; before each step the coalescer looks whether the text is
forced, and appends what its strategy says. Where a stage of the session's pipeline holds
a token of the run back (a budget, a suppressed text), the run ends before it and the
model is asked.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from engine.compile import CompiledGrammar
from engine.decoding.coalescence.outlook import MOST_CALLS, asking
from engine.decoding.coalescence.spelling import Spell
from engine.decoding.coalescence.strategies import MOST_TAKEN_BACK, coalesce
from engine.decoding.coalescence.values import CoalescedGeneration, Strategy
from engine.decoding.generate import run_to_end
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.session import DecodeSession
from engine.decoding.values import (
    DEFAULT_MAX_TOKENS,
    REPLAYED,
    Chat,
    SamplerSettings,
    StopRule,
)
from engine.masking import Matcher
from engine.models import LogitSource
from engine.models.source import Logits, Message
from engine.models.spelling import speller_of
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


class Coalescer:
    """Takes forced runs in a session.

    Args:
        model: whose tokens; asked by `PROBABLE` alone.
        strategy: how runs are spelled.
        spell: the model's tokenizer.
        most_calls: how often `PROBABLE` asks the model for one run.

    Attributes:
        taken_back: how many tokens were replaced so far.
    """

    def __init__(
        self, model: LogitSource, strategy: Strategy | str, *, spell: Spell | None, most_calls: int = MOST_CALLS
    ) -> None:
        self.strategy = Strategy(strategy)
        self.taken_back = 0
        self._model, self._spell, self._most_calls = model, spell, most_calls

    def extend(self, session: DecodeSession) -> int:
        """Append what is forced where a session stands; the number of tokens, 0 where the model is to be asked.

        The text is longer by at least a byte, or the session stands where it stood.
        """
        if self.strategy is Strategy.NONE or session.finish is not None:
            return 0
        matcher, taken = _matcher_of(session), [step.token_id for step in session.steps]
        if matcher is None:
            return 0
        found = coalesce(
            matcher,
            self.strategy,
            taken=taken,
            spell=self._spell,
            ask=lambda: asking(self._model, [*session.prompt_ids, *taken]),
            most_taken_back=min(MOST_TAKEN_BACK, _replaceable(session)),
            most_calls=self._most_calls,
        )
        if not found.tokens:
            return 0
        stood, length = session.trace.current, len(session.output)
        for _ in range(found.taken_back):
            session.back()
        appended = len(session.append(found.tokens))
        if not appended or (found.taken_back and len(session.output) <= length):  # a stage holds the run back
            session.go_to(stood)
            return 0
        self.taken_back += found.taken_back
        return appended


def generate_coalesced(  # noqa: PLR0913 - those of `generate`, the strategy and the clock
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
) -> CoalescedGeneration:
    """As `generate`, with forced runs decoded by a strategy; `NONE` gives exactly what `generate` does.

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
        pipeline=pipeline,
    )
    coalescer = Coalescer(counted, strategy, spell=speller_of(model))
    while session.finish is None:
        if not coalescer.extend(session):
            session.step()
        if cancel is not None:
            cancel.report("generate", len(session.steps), session.max_tokens)
    made = run_to_end(session)
    unasked = sum(step.chosen_by == REPLAYED for step in made.steps)
    return CoalescedGeneration(
        made,
        coalescer.strategy,
        counted.calls,
        unasked,
        coalescer.taken_back,
        counted.seconds,
        time.perf_counter() - begun - counted.waited + counted.seconds,
    )


def _matcher_of(session: DecodeSession) -> Matcher | None:
    """A matcher where a session stands; None without a grammar, and after a token was forced against it."""
    language = session.language
    if language is None:
        return None
    matcher = Matcher(language, session.model.vocabulary)
    return matcher if all(matcher.accept(step.token_id) for step in session.steps) else None


def _replaceable(session: DecodeSession) -> int:
    """How many of the last steps may be taken back: those that are not the user's."""
    steps = session.steps
    return next((i for i, step in enumerate(reversed(steps)) if step.chosen_by == "user"), len(steps))
