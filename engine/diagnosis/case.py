"""A failed request as data: what was asked for, what came back, and what the server logged.

`engine.diagnosis.intake` reads it from what a user pastes, and `engine.diagnosis.failures` finds the cause. The window,
the command line and the files of a batch all pass it, so that each reads and judges the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from engine.decoding.pipeline_settings import ZoneSettings
from engine.grammar.options import CompileOptions
from engine.source.catalogue import catalogue_entry, catalogue_text, has_text


class FinishReason(StrEnum):
    """The reason for which a server ended an output."""

    STOP = "stop"  # an end token, a stop string, or the end of the grammar
    LENGTH = "length"  # the token budget
    CONTEXT = "context"  # the model's context
    TOOL_CALLS = "tool_calls"  # a tool was called
    FILTER = "content_filter"  # a filter of the content
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class RequestConstraint:
    """A grammar that a request asks for.

    Attributes:
        notation: the id of its notation.
        text: the grammar, as the request has it (a JSON Schema keeps its source text and key order).
        options: the compile options that follow from the request, such as white space.
        way: the field that asks for it, such as `response_format`, `guided_json`, `structured_outputs`, `tools`,
            `grammar`, `format`; empty if the grammar was given by itself.
        pointer: the JSON Pointer of the grammar in the request; empty if it was given by itself.
        tool: the name of the tool whose arguments it describes; empty for the output itself.
        is_strict: whether the request asks for it to be enforced (`strict`); None if it does not say.
        zones: the parts of the output that it constrains; None for the complete output.
        family: the format of the tool calls that it describes, a value of `ToolFamily`; empty for others.
    """

    notation: str
    text: str
    options: CompileOptions = field(default_factory=CompileOptions)
    way: str = ""
    pointer: str = ""
    tool: str = ""
    is_strict: bool | None = None
    zones: ZoneSettings | None = None
    family: str = ""


@dataclass(frozen=True, slots=True)
class JudgedOutput:
    """The part of an output that a grammar should match.

    Attributes:
        data: its bytes.
        start: the number of bytes before it in the complete output.
        zone: its name: `output`, `arguments`, or the trigger.
        tool: the tool whose arguments it is.
        is_waiting: whether it should begin at a trigger that never came.
        blanks: the number of blanks between the trigger and the part.
        family: the format of a call that is in the text of the answer, a value of `ToolFamily`; empty for others.
    """

    data: bytes
    start: int = 0
    zone: str = "output"
    tool: str = ""
    is_waiting: bool = False
    blanks: int = 0
    family: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a chat: its role and its text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of a response: the tool's name and the text of its arguments."""

    name: str
    arguments: str


class ListedToken(NamedTuple):
    """One of the most probable tokens that a response lists at a position.

    Attributes:
        data: its bytes; empty if unknown.
        logprob: its natural log-probability.
        token_id: its id; None if unknown.
    """

    data: bytes
    logprob: float
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """A token of a response with its log-probability.

    Attributes:
        data: its bytes; empty if unknown.
        logprob: its natural log-probability; None if unknown.
        token_id: its id; None if unknown.
        alternatives: the most probable tokens at this position, it may be among them.
    """

    data: bytes
    logprob: float | None = None
    token_id: int | None = None
    alternatives: tuple[ListedToken, ...] = ()

    def is_same(self, listed: ListedToken) -> bool:
        """Return whether a listed token is this one: by their ids if both are known, else by their bytes."""
        if self.token_id is not None and listed.token_id is not None:
            return listed.token_id == self.token_id
        return bool(self.data) and listed.data == self.data


@dataclass(frozen=True, slots=True)
class LogFinding:
    """A message of a server or an engine that was recognised in a log.

    Attributes:
        message: the id of the message in the catalogue (`resources/failures/messages.toml`).
        line: its line in the log, counted from 1.
        text: the line.
        values: the values that it contains, by name, such as token ids or a byte offset.
    """

    message: str
    line: int
    text: str
    values: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IntakeFinding:
    """A remark on a pasted text, such as a constraint that cannot be read.

    Attributes:
        id: its name in the catalogue (`intake.finding`).
        pointer: the JSON Pointer of the value that it is about; empty for the text itself.
        values: the fields of its text.
    """

    id: str
    pointer: str = ""
    values: dict[str, str] = field(default_factory=dict)

    @property
    def message(self) -> str:
        """Return its text."""
        command = {"command": self.command} if self.command else {}
        return catalogue_text(f"intake.finding.{self.id}", **self.values, **command)

    @property
    def command(self) -> str:
        """Return the command that prints what is missing; empty if there is none."""
        if not has_text(f"intake.command.fragment.{self.id}"):
            return ""
        fields = catalogue_entry(f"intake.command.fragment.{self.id}").fields
        return catalogue_text(f"intake.command.fragment.{self.id}", **{name: self.values[name] for name in fields})


@dataclass(frozen=True, slots=True)
class FailureCase:
    """A failed request: all fields are optional, and unknown ones have the default.

    Attributes:
        constraints: the grammars that were asked for; several if the request has several tools.
        tool_choice: `auto`, `required`, `none` or the name of a tool.
        server: the server that the request is for, a name of `engine.targets.ENGINES`, or `ollama`.
        model: the name of the model.
        version: its version.
        interface: the kind of endpoint: `chat`, `completions`, `responses`, `generate` or `completion`.
        ignored: JSON Pointers of constraints in places that this server does not read.
        messages, prompt, prefill: the input; the prefill begins the assistant's answer.
        max_tokens, min_tokens, temperature, top_k, seed, stop, stop_ids: settings of the generation.
        sampling: further settings of the sampler, by their names here; see `intake.sampling`.
        context: the length of the model's context in tokens; None if unknown.
        is_lazy: whether the grammar begins at a trigger.
        triggers: the texts that begin it.
        thinking: whether the model thinks before it answers; None if unknown.
        output: the bytes of the answer; None if there is none.
        reasoning: the text of the reasoning channel.
        refusal: the text with which the model refused, in the field of its own.
        tool_calls: the tool calls of the response.
        prompt_ids: the token ids of the input; empty if unknown.
        ids: the token ids of the output; empty if unknown.
        scores: tokens with log-probabilities; empty if unknown.
        are_sampled: whether these are from behind the sampler, and so also behind the mask.
        finish: the reason for which the output ended.
        stopped_by: the stop string or the token id that ended the output, as the server reports it; empty if unknown.
        prompt_tokens, completion_tokens: the numbers of tokens of the input and of the output; None if unknown.
        reasoning_tokens: the number of tokens of the output that are thoughts; None if unknown.
        status: the HTTP status or error text of the response; empty if it succeeded.
        log: the messages that were recognised.
        findings: remarks on the texts that it was read from.
        removed_secrets: the number of secrets that were removed from the pasted text.
    """

    constraints: tuple[RequestConstraint, ...] = ()
    tool_choice: str = ""
    server: str = ""
    version: str = ""
    model: str = ""
    interface: str = ""
    ignored: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()
    prompt: str = ""
    prefill: str = ""
    max_tokens: int | None = None
    min_tokens: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_ids: tuple[int, ...] = ()
    sampling: tuple[tuple[str, float | str], ...] = ()
    context: int | None = None
    is_lazy: bool = False
    triggers: tuple[str, ...] = ()
    thinking: bool | None = None
    output: bytes | None = None
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    prompt_ids: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()
    scores: tuple[ScoredToken, ...] = ()
    are_sampled: bool = False
    finish: FinishReason = FinishReason.UNKNOWN
    stopped_by: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    status: str = ""
    log: tuple[LogFinding, ...] = ()
    findings: tuple[IntakeFinding, ...] = ()
    removed_secrets: int = 0
