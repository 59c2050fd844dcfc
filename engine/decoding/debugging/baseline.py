"""The baseline run: the output of the same model without the grammar, beside the constrained output.

Model, prompt, sampler and seed are the same. A draw depends only on the seed and the step's index, so both outputs
agree until the grammar removes a token. The first difference is where the grammar (or whoever chose a token) began to
matter. After it the texts are unrelated and are not aligned, only shown side by side.

Rejected: the model's top token at every step of the constrained text. Each step already reports where the model
preferred another token, and it does not show what that token would have led to.
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
    """Generate the baseline run of a text; yield the run so far after every step, and the complete run at the end.

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
    while (finish := session.finish) is None:
        session.step()
        yield BaselineRun(mine, session.steps, diverges_at(mine, session.steps))
        if cancel is not None:
            cancel.report(STAGE, len(session.steps), max_tokens)
    yield BaselineRun(mine, session.steps, diverges_at(mine, session.steps), finish)


def diverges_at(written: Sequence[Step], free: Sequence[Step]) -> int | None:
    """Return the index of the first step whose tokens differ; None while one list is a prefix of the other."""
    pairs = enumerate(zip(written, free, strict=False))
    return next((i for i, (mine, other) in pairs if mine.token_id != other.token_id), None)
