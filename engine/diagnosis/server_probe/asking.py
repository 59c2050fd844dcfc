"""Ways of asking a server for a constraint: the route, the field, and what is beside it.

Each kind of server has an `Asking` with its ways (`kinds`). A way that a kind does not list is one that it does not
offer; so an unknown field, which most servers ignore, is never taken for a constraint that is off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from engine.servers import ServerClient, ServerError
from engine.servers.grammar_form import GrammarForm
from engine.source.registry import Registry

Fields = Mapping[str, Any]
TOOL_NAME: Final = "record"
SEED: Final = 7


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a server of any kind.

    Attributes:
        model: the model that the request names.
        prompt: the message of the user.
        most_tokens: the token budget.
        is_hot: sample at a high temperature with no other filter; otherwise the most probable token.
    """

    model: str
    prompt: str
    most_tokens: int
    is_hot: bool = False


@dataclass(frozen=True, slots=True)
class AskingRoute:
    """A route that generates.

    Attributes:
        path: its path.
        is_openai: whether the path is below that of OpenAI's routes.
        body: makes the body of a request without a constraint.
        stream: the fields with which the answer comes as a stream.
    """

    path: str
    is_openai: bool
    body: Callable[[Question], dict[str, Any]]
    stream: Fields = field(default_factory=lambda: {"stream": True})


@dataclass(frozen=True, slots=True)
class AskingWay:
    """A way of asking for a constraint.

    Attributes:
        name: its name.
        route: the route.
        form: the form of the constraint.
        fields: makes the fields of a constraint.
        beside: fields that the request has with and without a constraint, such as a switch for thoughts.
        streams: whether the answer comes as a stream.
        is_call: whether the answer is a tool call.
        switches_thinking: whether `beside` is such a switch, which models without thoughts do not have.
        since, until: the versions of the server that have it, as numbers; `until` is the first that has not.
    """

    name: str
    route: AskingRoute
    form: GrammarForm
    fields: Callable[[Any], Fields]
    beside: Fields = field(default_factory=dict)
    streams: bool = False
    is_call: bool = False
    switches_thinking: bool = False
    since: tuple[int, ...] = ()
    until: tuple[int, ...] = ()

    def body(self, question: Question, constraint: Any = None) -> dict[str, Any]:
        """Return the body of a request; without a constraint if that is None."""
        body = merged(self.route.body(question), self.beside)
        if self.streams:
            body = merged(body, self.route.stream)
        return body if constraint is None else merged(body, self.fields(constraint))

    def is_in(self, version: tuple[int, ...]) -> bool:
        """Return whether a version of the server has it; an unknown version counts as the newest."""
        if not version:
            return not self.until
        return version >= self.since and (not self.until or version < self.until)


class RefusedSchemaError(ServerError):
    """The server refuses the schema or the grammar."""


class TextJudge(Protocol):
    """Decides texts by the mask of a server.

    Attributes:
        way: the name of the way of asking whose mask decides.
        is_available: whether the server does what the judge relies on.
    """

    way: str

    @property
    def is_available(self) -> bool: ...  # noqa: D102 - see the attribute above

    def allows(self, constraint: Any, text: str) -> bool:
        """Return whether the mask of a schema, or of a grammar of rules, allows a whole text.

        Raises:
            RefusedSchemaError: the server refuses the constraint.
            ServerError: the server cannot be asked.
            CancelledError: the work was cancelled.
        """
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """The ways in which a kind of server is asked.

    Attributes:
        ways: the ways, the usual one first.
        lacks: names of ways that other kinds have and users look for here.
        target: the name of its data in `engine.targets`; empty for none.
        text_judges: makes the judge of texts of a form of constraints from the server and the model.
    """

    ways: tuple[AskingWay, ...]
    lacks: tuple[str, ...] = ()
    target: str = ""
    text_judges: Mapping[GrammarForm, Callable[[ServerClient, str], TextJudge]] = field(default_factory=dict)


ASKINGS: Final = Registry[Asking]("engine.diagnosis.server_probe.kinds", "ASKING")
"""By kind of server (`engine.servers.KINDS`)."""
_GENERAL: Final = "openai"


def asking_of(kind: str) -> Asking:
    """Return the ways of a kind of server; for one without its own, those of OpenAI's interface."""
    return ASKINGS[kind if kind in ASKINGS else _GENERAL]


def merged(body: Fields, fields: Fields) -> dict[str, Any]:
    """Return a body with further fields; objects that both have are merged."""
    found = dict(body)
    for name, value in fields.items():
        before = found.get(name)
        both = isinstance(before, dict) and isinstance(value, Mapping)
        found[name] = merged(before, value) if both and isinstance(before, dict) else value
    return found


def at(*path: str) -> Callable[[Any], Fields]:
    """Return a function that puts a constraint into the field at a path."""

    def fields(constraint: Any) -> Fields:
        for name in reversed(path):
            constraint = {name: constraint}
        return {**constraint}

    return fields


def response_format(schema: Any) -> Fields:
    """Return OpenAI's field for a schema."""
    named = {"name": "probe", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def required_tool(schema: Any) -> Fields:
    """Return the fields for a tool that must be called."""
    function = {"name": TOOL_NAME, "description": "Records a value.", "parameters": schema, "strict": True}
    return {"tools": [{"type": "function", "function": function}], "tool_choice": "required"}


def chat_route(*, counts_streams: bool = False, **unfiltered: Any) -> AskingRoute:
    """Return OpenAI's chat route.

    Args:
        counts_streams: whether the server is known to count the tokens of a stream if asked to.
        unfiltered: the fields with which the server samples from all tokens, beside `top_p`.
    """
    counted = {"stream_options": {"include_usage": True}} if counts_streams else {}

    def body(question: Question) -> dict[str, Any]:
        heat = {"temperature": 2.0, "top_p": 1.0, **unfiltered} if question.is_hot else {"temperature": 0}
        return {
            "model": question.model,
            "messages": [{"role": "user", "content": question.prompt}],
            "max_tokens": question.most_tokens,
            "seed": SEED,
            "stream": False,
            **heat,
        }

    return AskingRoute("/chat/completions", True, body, {"stream": True, **counted})


def chat_ways(route: AskingRoute, thinking: Callable[[bool], Fields] | None = None) -> tuple[AskingWay, ...]:
    """Return the ways of OpenAI's chat route.

    Args:
        route: the route.
        thinking: makes the fields that switch thoughts on or off; None if the server has no such switch.
    """
    schema = GrammarForm.JSON_SCHEMA
    ways = [
        AskingWay("response_format", route, schema, response_format),
        AskingWay("response_format, stream", route, schema, response_format, streams=True),
    ]
    if thinking is not None:
        ways += [
            AskingWay(
                f"response_format, thinking {'on' if on else 'off'}",
                route,
                schema,
                response_format,
                beside=thinking(on),
                switches_thinking=True,
            )
            for on in (True, False)
        ]
    return (*ways, AskingWay("tools, required", route, schema, required_tool, is_call=True))


def template_switch(on: bool) -> Fields:
    """Return the field that passes a switch for thoughts to the chat template."""
    return {"chat_template_kwargs": {"enable_thinking": on}}
