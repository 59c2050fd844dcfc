"""What is shared: the part of a document that a replay shows.

A `.turnstile` file is the application's own form. Read here is only what a page
needs of it, by the names of its fields; whatever else stands in it is passed over.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS, Chat, FormerBranch, SamplerSettings, Trace
from engine.source import EngineError, InvariantError

Whitespace = Literal["compact", "one-space", "flexible", "any"]


class GrammarText(msgspec.Struct, frozen=True):
    """A grammar as it is written, and how it is read."""

    notation: Literal["regex", "gbnf", "json_schema"] = "regex"
    text: str = ""
    dialect: Literal["python", "ecma"] = "python"  # of a regex
    whitespace: Whitespace = "flexible"  # of a JSON Schema


class ModelName(msgspec.Struct, frozen=True):
    """Which model a trace is of."""

    spec: str = ""
    name: str = ""


class Work(msgspec.Struct, frozen=True):
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
    grammar: GrammarText = GrammarText()
    model: ModelName = ModelName()
    prompt: str | Chat = ""
    sampler: SamplerSettings = SamplerSettings()
    max_tokens: int = DEFAULT_MAX_TOKENS
    pipeline: PipelineSettings = PipelineSettings()
    trace: Trace = Trace()
    former: tuple[FormerBranch, ...] = ()


def read_work(data: bytes, name: str) -> Work:
    """Read what is shared of a `.turnstile` file.

    Args:
        data: the file.
        name: what messages call it.

    Raises:
        EngineError: it is no such file, or its trace contradicts itself.
    """
    try:
        kind = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("format")
        if kind is None or bytes(kind) != b'"turnstile"':
            raise EngineError(f"{name} is JSON, but no Turnstile document: give a .turnstile file")
        work = msgspec.json.decode(data, type=Work)
        check_tree(work.trace)
    except (msgspec.MsgspecError, InvariantError, ValueError) as error:
        raise EngineError(f"{name} is no Turnstile document that can be read: {error}") from error
    return work


def check_tree(trace: Trace) -> None:
    """Refuse a trace that contradicts itself: everything that follows its parents trusts it.

    Raises:
        InvariantError: it does.
    """
    parents: dict[int | None, int | None] = {}
    for node in trace.nodes:
        if node.id in parents or not (node.parent is None or node.parent in parents):
            raise InvariantError(f"step {node.id} of the trace has no place in it")
        parents[node.id] = node.parent
    above: int | None = None
    for node_id in trace.path:
        if node_id not in parents or parents[node_id] != above:
            raise InvariantError(f"the path of the trace breaks at step {node_id}")
        above = node_id
    if trace.current is not None and trace.current not in trace.path:
        raise InvariantError(f"the trace stands at step {trace.current}, which is not on its path")
