"""Fast-forward: takes forced runs in a session that is stepped.

Before each step, `FastForward` checks whether the text is forced and appends the tokens that its strategy picks. If a
stage of the session's pipeline removes a token of the run (a budget, a suppressed text), the run ends before it and the
model is queried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from engine.decoding.forced.encodings import MOST_CALLS, Query, query_after
from engine.decoding.forced.run_strategy import RunPosition
from engine.decoding.forced.run_tokens import forced_run
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.forced.values import FastForwardRun, Path
from engine.decoding.session import DecodeSession
from engine.decoding.values import StepOrigin
from engine.matching import Matcher
from engine.models import LogitSource
from engine.models.text_encoder import TextEncoder, text_encoder_of

MOST_TAKEN_BACK = 8


def fast_forward_tokens(
    matcher: Matcher,
    strategy: str,
    *,
    taken: Sequence[int] = (),
    encode: TextEncoder | None = None,
    query: Callable[[Collection[int]], Query] | None = None,
    most_taken_back: int = MOST_TAKEN_BACK,
    most_calls: int = MOST_CALLS,
    json_read: bytes | None = None,
) -> FastForwardRun:
    """Return the tokens to append where a grammar leaves no choice; nothing is appended, and `matcher` is unchanged.

    Whatever the strategy, the text after the tokens is the text before them plus at least one byte of the run, the
    grammar allows it, and some token can follow it or it is complete. If the bytes are open but only one token of the
    vocabulary is allowed, it is that token.

    Args:
        matcher: the matcher at the end of the text.
        strategy: the name of the strategy that encodes the run.
        taken: the tokens of the output so far, which the matcher has accepted one by one.
        encode: the model's tokenizer, for a strategy that uses it.
        query: queries the model after everything that was taken, for a strategy that needs its logits.
        most_taken_back: how many of `taken` may be replaced.
        most_calls: the limit for model calls.
        json_read: what a JSON Schema has read of its text: its compact form is taken where only white space and escapes
            are open; see `compact_json`. None for a text that is not JSON.

    Raises:
        ValueError: the strategy needs the model's logits, and there is no `query`.
    """
    chosen = STRATEGIES[strategy]
    if chosen.pick is None:
        return FastForwardRun(b"")
    run = forced_run(matcher, json_read)
    if not run:
        return FastForwardRun(b"", tokens=_only_token(matcher))
    if query is None:
        if chosen.queries_model:
            raise ValueError(f"the strategy {strategy!r} needs a model to query")
        query = _no_model
    tokenizer = encode if chosen.uses_tokenizer else None
    return chosen.pick(RunPosition(matcher, run, taken, most_taken_back, tokenizer, query, most_calls))


def json_read(session: DecodeSession) -> bytes | None:
    """Return what a schema has read in a session; None if no schema is active. See `fast_forward_tokens`."""
    return session.grammar_text if session.grammar is not None and session.grammar.describes_json else None


def forced_here(session: DecodeSession) -> bytes:
    """Return the bytes that must come next in a session; for JSON, up to formatting."""
    matcher = session.matcher()
    return b"" if matcher is None or session.finish is not None else forced_run(matcher, json_read(session))


@dataclass(frozen=True, slots=True)
class ExtendedRun:
    """One fast-forward.

    Attributes:
        tokens: the number of tokens taken.
        taken_back: the number of sampled tokens that they replaced.
        calls: the number of model calls that the encoding took.
        seconds: the duration, model time included.
    """

    tokens: int = 0
    taken_back: int = 0
    calls: int = 0
    seconds: float = 0.0


class FastForward:
    """Takes forced runs in a session.

    Args:
        model: the model whose tokens are taken.
        strategy: the name of the strategy that encodes runs.
        encode: the model's tokenizer.
        most_calls: the limit for model calls in one run, for a strategy that makes any.

    Attributes:
        strategy: the name of the strategy.
        taken_back: the number of tokens replaced so far.
        last: the result of the last run.
    """

    def __init__(
        self, model: LogitSource, strategy: str, *, encode: TextEncoder | None, most_calls: int = MOST_CALLS
    ) -> None:
        self.strategy = strategy
        self.taken_back = 0
        self.last = ExtendedRun()
        self._model, self._encode, self._most_calls = model, encode, most_calls

    @classmethod
    def of(cls, session: DecodeSession) -> FastForward:
        """Create the fast-forward that a session's pipeline asks for."""
        return cls(session.model, session.pipeline.forced, encode=text_encoder_of(session.model))

    def advance(self, session: DecodeSession, most: int | None = None) -> int:
        """Take a forced run, or else one sampled token; return the number of tokens taken from a run, else 0.

        Args:
            session: the session to advance.
            most: the limit for tokens of a run; None takes all of them.

        Raises:
            DeadEndError, EmptyMaskError, FinishedError: as `DecodeSession.step`.
        """
        taken = self.extend(session, most)
        if not taken:
            session.step()
        return taken

    def extend(self, session: DecodeSession, most: int | None = None) -> int:
        """Append the forced tokens and return their number; 0 if the model must be queried.

        The text grows by at least a byte, or the session is unchanged. `most` is as in `advance`.
        """
        self.last = ExtendedRun()
        if not STRATEGIES[self.strategy].takes_runs or session.finish is not None:
            return 0
        started, matcher, taken = time.perf_counter(), session.matcher(), [step.token_id for step in session.steps]
        if matcher is None:
            return 0
        found = fast_forward_tokens(
            matcher,
            self.strategy,
            taken=taken,
            encode=self._encode,
            query=lambda named: query_after(self._model, [*session.prompt_ids, *taken], named),
            most_taken_back=min(MOST_TAKEN_BACK, _replaceable(session)),
            most_calls=self._most_calls,
            json_read=json_read(session),
        )
        if not found.tokens:
            return 0
        node, length = session.trace.current, len(session.output)
        for _ in range(found.taken_back):
            session.back()
        appended = len(session.append(found.tokens[:most]))
        if not appended or (found.taken_back and len(session.output) <= length):  # a stage removes the run
            session.go_to(node)
            return 0
        self.taken_back += found.taken_back
        self.last = ExtendedRun(appended, found.taken_back, found.calls, time.perf_counter() - started)
        return appended


def _replaceable(session: DecodeSession) -> int:
    """Return how many of the last steps may be replaced: those after the last one that the user chose."""
    steps = session.steps
    return next((i for i, step in enumerate(reversed(steps)) if step.origin == StepOrigin.USER), len(steps))


def _only_token(matcher: Matcher) -> Path:
    """Return the next token if it is the only allowed one."""
    words = matcher.bitmask()
    at = np.flatnonzero(words)
    if at.shape[0] != 1:
        return ()
    word = int(words[at[0]]) & 0xFFFFFFFF
    return (int(at[0]) * 32 + word.bit_length() - 1,) if word.bit_count() == 1 else ()


def _no_model(_named: Collection[int]) -> Query:
    raise ValueError("a strategy that does not declare `queries_model` queries no model")
