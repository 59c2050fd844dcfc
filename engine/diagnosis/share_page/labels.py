"""The words and figures of a shared generation that say nothing about a grammar."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from engine.decoding.pipeline_settings import DEFAULT_ORDER, PipelineSettings, Strategy
from engine.decoding.values import Chat, SamplerSettings
from engine.document.shared_work import SharedWork
from engine.vocabulary.visible import visible

_NOTATIONS: Final = {"regex": "regular expression", "gbnf": "GBNF", "json_schema": "JSON Schema"}
_NAME_LENGTH: Final = 40
_DIGITS: Final = 9


def shown(token: bytes | None, name: str, token_id: int) -> str:
    """A token as a person reads it: its bytes made visible, or its name, or its id."""
    return name or (visible(token) if token else f"#{token_id}")


def facts(work: SharedWork) -> Iterator[str]:
    """How the grammar was read and the tokens were drawn, a few words each."""
    grammar = work.grammar
    if grammar.notation == "regex" and grammar.dialect != "python":
        yield f"{_NOTATIONS[grammar.notation]} ({grammar.dialect})"
    elif grammar.notation == "json_schema":
        escapes = ", escapes: any" if grammar.escapes == "any" else ""
        closed = ", additional properties: closed" if grammar.additional == "closed" else ""
        yield f"{_NOTATIONS[grammar.notation]} (white space: {grammar.whitespace}{escapes}{closed})"
    else:
        yield _NOTATIONS[grammar.notation]
    if work.model.name or work.model.spec:
        yield f"model {work.model.name or work.model.spec}"
    yield _sampler(work.sampler)
    yield f"at most {work.max_tokens:,} token{'s' if work.max_tokens != 1 else ''}"
    if stages := _stages(work.pipeline):
        yield f"processors: {', '.join(stages)}"


def _stages(pipeline: PipelineSettings) -> list[str]:
    """What stands between the model and the draw besides the grammar and the sampler."""
    is_on = {
        "zones": pipeline.zones is not None,
        "budget": pipeline.budget,
        "a set for each position": bool(pipeline.static),
        "a pattern": bool(pipeline.pattern),
        "a table": pipeline.table is not None,
        "suppressed tokens": bool(pipeline.suppress or pipeline.suppress_ids),
        "bias": bool(pipeline.bias),
        "another order": pipeline.stages != DEFAULT_ORDER,
        f"forced runs decoded by {pipeline.coalesce}": pipeline.coalesce is not Strategy.NONE,
    }
    return [name for name, on in is_on.items() if on]


def _sampler(sampler: SamplerSettings) -> str:
    """The settings that differ from none, and the seed."""
    if sampler.temperature == 0:
        return "greedy"
    told = [f"temperature {sampler.temperature:g}"]
    told += [f"top-k {sampler.top_k}"] if sampler.top_k else []
    told += [f"top-p {sampler.top_p:g}"] if sampler.top_p < 1 else []
    told += [f"min-p {sampler.min_p:g}"] if sampler.min_p else []
    told += [f"repetition penalty {sampler.repetition_penalty:g}"] if sampler.repetition_penalty != 1 else []
    return ", ".join([*told, f"seed {sampler.seed}"])


def prompt_parts(prompt: str | Chat) -> list[tuple[str, str]]:
    """Pairs of a role and what it says; a role of a prompt that is text is empty."""
    if isinstance(prompt, str):
        return [("", prompt)] if prompt else []
    said = list(prompt.messages)
    return [*said, ("assistant begins with", prompt.assistant_prefix)] if prompt.assistant_prefix else said


def short(text: str) -> str:
    """The beginning of a text in one line."""
    line = visible(text.encode("utf-8", "replace")).replace("␣", " ")
    return line if len(line) <= _NAME_LENGTH else f"{line[: _NAME_LENGTH - 1]}…"


def rounded(number: float) -> float:
    """A number with as many digits as anybody reads; what is no number is 0."""
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else 0.0


def generator() -> str:
    """This program with its version."""
    try:
        return f"Turnstile {version('token-turnstile')}"
    except PackageNotFoundError:
        return "Turnstile (unreleased)"
