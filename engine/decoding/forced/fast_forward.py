"""Takes forced runs in a session that is stepped.

Before each step the coalescer looks whether the text is forced, and appends what its
strategy says. Where a stage of the session's pipeline holds a token of the run back (a
budget, a suppressed text), the run ends before it and the model is asked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from engine.decoding.forced.encodings import MOST_CALLS, asking
from engine.decoding.forced.strategies import MOST_TAKEN_BACK, fast_forward_tokens, forced_run
from engine.decoding.pipeline_settings import Strategy
from engine.decoding.session import DecodeSession
from engine.models import LogitSource
from engine.models.tokenizer_spelling import Spell, speller_of

_SCHEMA = "json_schema"


def json_read(session: DecodeSession) -> bytes | None:
    """What a schema has read where a session stands; None where none rules. See `fast_forward_tokens`."""
    return session.ruled_text if session.grammar is not None and session.grammar.notation == _SCHEMA else None


def forced_here(session: DecodeSession) -> bytes:
    """What must come where a session stands; of JSON, but for the ways to write it."""
    matcher = session.matcher()
    return b"" if matcher is None or session.finish is not None else forced_run(matcher, json_read(session))


@dataclass(frozen=True, slots=True)
class Extended:
    """What was taken in one go.

    Attributes:
        tokens: how many.
        taken_back: how many that were drawn were replaced by them.
        calls: how often the model was asked for their spelling.
        seconds: how long it took, the model's time included.
    """

    tokens: int = 0
    taken_back: int = 0
    calls: int = 0
    seconds: float = 0.0


class FastForward:
    """Takes forced runs in a session.

    Args:
        model: whose tokens; asked by `PROBABLE` alone.
        strategy: how runs are spelled.
        spell: the model's tokenizer.
        most_calls: how often `PROBABLE` asks the model for one run.

    Attributes:
        strategy: as it was given.
        taken_back: how many tokens were replaced so far.
        last: what the last run came to.
    """

    def __init__(
        self, model: LogitSource, strategy: Strategy | str, *, spell: Spell | None, most_calls: int = MOST_CALLS
    ) -> None:
        self.strategy = Strategy(strategy)
        self.taken_back = 0
        self.last = Extended()
        self._model, self._spell, self._most_calls = model, spell, most_calls

    @classmethod
    def of(cls, session: DecodeSession) -> FastForward:
        """That of a session, as its pipeline says."""
        return cls(session.model, session.pipeline.coalesce, spell=speller_of(session.model))

    def advance(self, session: DecodeSession, most: int | None = None) -> int:
        """Take a forced run, or a token that is drawn; returns how many tokens were taken of a run, else 0.

        Args:
            session: is moved.
            most: how many tokens of a run are taken; all of them where it is None.

        Raises:
            DeadEndError, EmptyMaskError, FinishedError: as `DecodeSession.step`.
        """
        taken = self.extend(session, most)
        if not taken:
            session.step()
        return taken

    def extend(self, session: DecodeSession, most: int | None = None) -> int:
        """Append what is forced where a session stands; the number of tokens, 0 where the model is to be asked.

        The text is longer by at least a byte, or the session stands where it stood. `most` is as in `advance`.
        """
        self.last = Extended()
        if self.strategy is Strategy.NONE or session.finish is not None:
            return 0
        begun, matcher, taken = time.perf_counter(), session.matcher(), [step.token_id for step in session.steps]
        if matcher is None:
            return 0
        found = fast_forward_tokens(
            matcher,
            self.strategy,
            taken=taken,
            spell=self._spell,
            ask=lambda: asking(self._model, [*session.prompt_ids, *taken]),
            most_taken_back=min(MOST_TAKEN_BACK, _replaceable(session)),
            most_calls=self._most_calls,
            json_read=json_read(session),
        )
        if not found.tokens:
            return 0
        stood, length = session.trace.current, len(session.output)
        for _ in range(found.taken_back):
            session.back()
        appended = len(session.append(found.tokens[:most]))
        if not appended or (found.taken_back and len(session.output) <= length):  # a stage holds the run back
            session.go_to(stood)
            return 0
        self.taken_back += found.taken_back
        self.last = Extended(appended, found.taken_back, found.calls, time.perf_counter() - begun)
        return appended


def _replaceable(session: DecodeSession) -> int:
    """How many of the last steps may be taken back: those that are not the user's."""
    steps = session.steps
    return next((i for i, step in enumerate(reversed(steps)) if step.chosen_by == "user"), len(steps))
