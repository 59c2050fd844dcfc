"""Reader of the part of a `.turnstile` document that a share page shows.

The application owns the format of `.turnstile` files. This module reads only the
fields that a page needs, by their names, and ignores all others.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS, ArchivedBranch, Chat, SamplerSettings, Trace
from engine.source import EngineError, InvariantError

Whitespace = Literal["compact", "one-space", "flexible", "any"]

VERSION: Final = 1
"""The latest version of the file format that is supported."""


class _Head(msgspec.Struct):
    format: str = ""
    version: int = 0


class SharedGrammar(msgspec.Struct, frozen=True):
    """The text of a grammar, and its options."""

    notation: Literal["regex", "gbnf", "json_schema"] = "regex"
    text: str = ""
    dialect: Literal["python", "ecma"] = "python"  # regex only
    whitespace: Whitespace = "flexible"  # this and the following: JSON Schema only
    escapes: Literal["shortest", "any"] = "shortest"
    additional: Literal["open", "closed"] = "open"


class SharedModel(msgspec.Struct, frozen=True):
    """The model of a trace."""

    spec: str = ""
    name: str = ""


class SharedWork(msgspec.Struct, frozen=True):
    """The shared part of a document; the attributes are named like the fields of the file.

    Attributes:
        title: the title of the page; empty for a default title.
        grammar: the grammar and its options.
        model: the model that generated the trace.
        prompt: the prompt or chat before the output.
        sampler: the settings of the sampler.
        max_tokens: the token budget.
        pipeline: the logits processors between the model and the sampler.
        trace: the tree of steps.
        former: archived branches, from other prompts and models.
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
    """Read the shared part of a `.turnstile` file.

    Args:
        data: the contents of the file.
        name: its name, for messages.

    Raises:
        EngineError: it is not such a file, or its trace is inconsistent.
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
