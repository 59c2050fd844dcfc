"""What is shared: the part of a document that a replay shows.

A `.turnstile` file is the application's own form. Read here is only what a page
needs of it, by the names of its fields; whatever else stands in it is passed over.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS, ArchivedBranch, Chat, SamplerSettings, Trace
from engine.source import EngineError, InvariantError

Whitespace = Literal["compact", "one-space", "flexible", "any"]

VERSION: Final = 1
"""The latest form of the file that is understood."""


class _Head(msgspec.Struct):
    format: str = ""
    version: int = 0


class SharedGrammar(msgspec.Struct, frozen=True):
    """A grammar as it is written, and how it is read."""

    notation: Literal["regex", "gbnf", "json_schema"] = "regex"
    text: str = ""
    dialect: Literal["python", "ecma"] = "python"  # of a regex
    whitespace: Whitespace = "flexible"  # of a JSON Schema, as are the following
    escapes: Literal["shortest", "any"] = "shortest"
    additional: Literal["open", "closed"] = "open"


class SharedModel(msgspec.Struct, frozen=True):
    """Which model a trace is of."""

    spec: str = ""
    name: str = ""


class SharedWork(msgspec.Struct, frozen=True):
    """What is shared of a document, by the names of its fields.

    Attributes:
        title: what the page is called; empty for a name of its own.
        grammar: the source as it is written.
        model: which model took the steps.
        prompt: what stood before the output.
        sampler: how tokens were drawn.
        max_tokens: the budget.
        pipeline: the stages between the model and the draw.
        trace: the tree of steps.
        former: paths from other prompts and models.
    """

    title: str = ""
    grammar: SharedGrammar = SharedGrammar()
    model: SharedModel = SharedModel()
    prompt: str | Chat = ""
    sampler: SamplerSettings = SamplerSettings()
    max_tokens: int = DEFAULT_MAX_TOKENS
    pipeline: PipelineSettings = PipelineSettings()
    trace: Trace = Trace()
    former: tuple[ArchivedBranch, ...] = ()


def read_work(data: bytes, name: str) -> SharedWork:
    """Read what is shared of a `.turnstile` file.

    Args:
        data: the file.
        name: what messages call it.

    Raises:
        EngineError: it is no such file, or its trace contradicts itself.
    """
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format != "turnstile":
            raise EngineError(f"{name} is JSON, but no Turnstile document: give a .turnstile file")
        if head.version > VERSION:
            raise EngineError(f"{name} is of a later Turnstile (format {head.version}, not {VERSION}): update this one")
        work = msgspec.json.decode(data, type=SharedWork)
        work.trace.check()
    except (msgspec.MsgspecError, InvariantError, ValueError) as error:
        raise EngineError(f"{name} is no Turnstile document that can be read: {error}") from error
    return work
