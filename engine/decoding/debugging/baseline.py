"""The unconstrained twin: what the model would have written without the grammar, beside what it wrote with it.

Same model, prompt, sampler and seed. A draw depends on the seed and the step's index
alone, so until the grammar takes something away both write the same; where they part
first is where the grammar (or whoever chose a token) began to matter. Behind that they
are other texts, and nothing is aligned: they only stand side by side.

Rejected: the model's favourite at every step of the text as it is. It says where the
model wanted something else, which each step tells anyway, and not what would have come
of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.decoding.session import DecodeSession
from engine.decoding.values import BaselineRun, Chat, SamplerSettings, Step
from engine.models import LogitSource
from engine.source import CancelToken

STAGE = "Without the grammar"


def run_baseline(
    model: LogitSource,
    written: Sequence[Step],
    *,
    prompt: str | Chat = "",
    sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
    max_tokens: int,
    cancel: CancelToken | None = None,
) -> Iterator[BaselineRun]:
    """Write the twin of a text; after every step what there is so far, and at last all of it.

    Args:
        model: where logits come from.
        written: the steps of the text, from the start.
        prompt: as it was for the text.
        sampler: likewise.
        max_tokens: likewise.
        cancel: reported to at every step.

    Raises:
        CancelledError: it was cancelled; what there is so far has been given.
        ModelError: the prompt cannot be encoded, or the model failed.
    """
    session = DecodeSession(None, model, prompt=prompt, sampler=sampler, max_tokens=max_tokens, kept_logits=1)
    mine = tuple(written)
    while (finish := session.finish) is None:
        session.step()
        yield BaselineRun(mine, session.steps, diverges_at(mine, session.steps))
        if cancel is not None:
            cancel.report(STAGE, len(session.steps), max_tokens)
    yield BaselineRun(mine, session.steps, diverges_at(mine, session.steps), finish)


def diverges_at(written: Sequence[Step], free: Sequence[Step]) -> int | None:
    """The index of the first step that is not the same token in both; None while one is the other's beginning."""
    pairs = enumerate(zip(written, free, strict=False))
    return next((i for i, (mine, other) in pairs if mine.token_id != other.token_id), None)
