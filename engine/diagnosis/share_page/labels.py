"""Labels and numbers of a shared generation that do not depend on a grammar."""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from engine.decoding.pipeline_settings import DEFAULT_ORDER, PipelineSettings, Strategy
from engine.decoding.values import Chat, SamplerSettings
from engine.document.content import DocumentFile
from engine.vocabulary.visible import visible

_NOTATIONS: Final = {"regex": "regular expression", "gbnf": "GBNF", "json_schema": "JSON Schema"}
_NAME_LENGTH: Final = 40
_DIGITS: Final = 9


def shown(token: bytes | None, name: str, token_id: int) -> str:
    """Return a token for display: its name, its bytes made visible, or its id."""
    return name or (visible(token) if token else f"#{token_id}")


def facts(work: DocumentFile) -> Iterator[str]:
    """Yield the grammar's options, the model, the sampler and the processors, a few words each."""
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
    """Return the enabled stages other than the grammar and the sampler."""
    is_on = {
        "zones": pipeline.zones is not None,
        "budget": pipeline.budget,
        "a set for each position": bool(pipeline.static),
        "a pattern": bool(pipeline.pattern),
        "a table": pipeline.table is not None,
        "suppressed tokens": bool(pipeline.suppress or pipeline.suppress_ids),
        "bias": bool(pipeline.bias),
        "another order": pipeline.stages != DEFAULT_ORDER,
        f"forced runs decoded by {pipeline.forced}": pipeline.forced is not Strategy.NONE,
    }
    return [name for name, on in is_on.items() if on]


def _sampler(sampler: SamplerSettings) -> str:
    """Return the settings that differ from the defaults, and the seed."""
    if sampler.temperature == 0:
        return "greedy"
    settings = [f"temperature {sampler.temperature:g}"]
    settings += [f"top-k {sampler.top_k}"] if sampler.top_k else []
    settings += [f"top-p {sampler.top_p:g}"] if sampler.top_p < 1 else []
    settings += [f"min-p {sampler.min_p:g}"] if sampler.min_p else []
    settings += [f"repetition penalty {sampler.repetition_penalty:g}"] if sampler.repetition_penalty != 1 else []
    return ", ".join([*settings, f"seed {sampler.seed}"])


def prompt_parts(prompt: str | Chat) -> list[tuple[str, str]]:
    """Return pairs of a role and its text; the role of a text prompt is empty."""
    if isinstance(prompt, str):
        return [("", prompt)] if prompt else []
    parts = list(prompt.messages)
    return [*parts, ("assistant begins with", prompt.assistant_prefix)] if prompt.assistant_prefix else parts


def short(text: str) -> str:
    """Return the beginning of a text in one line."""
    line = visible(text.encode("utf-8", "replace")).replace("␣", " ")
    return line if len(line) <= _NAME_LENGTH else f"{line[: _NAME_LENGTH - 1]}…"


def rounded(number: float) -> float:
    """Round a number to the displayed digits; infinities and NaN become 0."""
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else 0.0


def generator() -> str:
    """Return this program's name and version."""
    try:
        return f"Turnstile {version('token-turnstile')}"
    except PackageNotFoundError:
        return "Turnstile (unreleased)"
