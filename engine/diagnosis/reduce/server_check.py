"""A check by a server with OpenAI's interface: it refuses a request, or its answer breaks the grammar of the request.

Before a reduction, a canary request settles whether a grammar is in force at all: if the answer to a schema with a
single value is another, then every request fails, and there is nothing to reduce.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from engine.diagnosis.case import FailureCase
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import ENFORCEABLE
from engine.diagnosis.intake import IntakeError, PastedText, TextKind, read_failure, remove_secrets
from engine.diagnosis.intake.request_reader import is_request
from engine.diagnosis.reduce.engine_check import message_form
from engine.diagnosis.server_probe.canary import CANARY_SCHEMA, is_canary
from engine.notations import NOTATIONS
from engine.servers import RefusedRequestError, ServerClient, ServerError, ServerReply, SilentServerError
from engine.servers.identity import listed_models
from engine.source import CancelToken

_MOST_TOKENS: Final = 256
_LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """A failure of a server on a request.

    Attributes:
        kind: `http-` with the status, `no-answer`, or the cause of the diagnosis of its answer.
        reason: the message of the server, or the sentence of the diagnosis.
        text: the answer.
    """

    kind: str
    reason: str
    text: str = ""

    def is_like(self, other: ServerFailure | None) -> bool:
        """Return whether another failure is of the same kind, with a message of the same form."""
        if other is None or self.kind != other.kind:
            return False
        return not self.kind.startswith("http-") or message_form(self.reason) == message_form(other.reason)


class ServerCheck:
    """The check of candidates by a server.

    Args:
        url: the base address, such as `http://localhost:8000/v1`.
        notation: the id of the notation of the candidates; that of JSON Schema for requests, too.
        model: the model; by default that of the request, else the first one that the server lists.
        key: the key; empty for none.
        timeout: the seconds for a request.
        cancel: checked between requests and while an answer is read.

    Raises:
        ServerError: the address is not one of HTTP, or contains a password.
    """

    def __init__(
        self,
        url: str,
        notation: str,
        *,
        model: str = "",
        key: str = "",
        timeout: float = 60,
        cancel: CancelToken | None = None,
    ) -> None:
        self._client = ServerClient(url, key=key, timeout=timeout, cancel=cancel)
        self._notation, self._model, self._cancel = notation, model, cancel

    def canary(self) -> str | None:
        """Send the canary request and return its answer if no grammar is in force; None if one is.

        Raises:
            ServerError: the server cannot be reached, or refuses the request.
        """
        body = self._body(json.dumps(CANARY_SCHEMA), "json_schema")
        reply = self._post(body)
        if reply.status != 200:
            raise ServerError("errors.diagnosis.canary", status=reply.status, reason=_shortened(reply.text))
        answer = (_case(json.dumps(body), reply.text).output or b"").decode("utf-8", "replace")
        return None if is_canary(answer) else answer

    def failure(self, text: str) -> ServerFailure | None:
        """Return how the server fails on a request, or on a grammar; None if it does not.

        Raises:
            ServerError: the server cannot be reached.
            CancelledError: the check was cancelled.
        """
        try:
            body = self._body(text, self._notation)
        except ValueError:
            return None
        try:
            reply = self._post(body)
        except SilentServerError as error:
            return ServerFailure("no-answer", str(error))
        if reply.status != 200:
            return ServerFailure(f"http-{reply.status}", _shortened(reply.text))
        try:
            case = _case(json.dumps(body), reply.text)
        except IntakeError as error:
            return ServerFailure("unreadable", str(error), _shortened(reply.text))
        found = diagnose(case, cancel=self._cancel)
        if found.cause not in ENFORCEABLE:
            return None
        return ServerFailure(
            str(found.cause), found.sentence, _shortened((case.output or b"").decode("utf-8", "replace"))
        )

    def _body(self, text: str, notation: str) -> dict[str, Any]:
        """Return the body of a request, with the grammar in it if the text is one.

        Raises:
            ValueError: the text should be JSON and is not.
        """
        given = json.loads(text) if NOTATIONS[notation].describes_json else None
        if isinstance(given, dict) and is_request(given):
            body = dict(given)
        else:
            body = {"max_tokens": _MOST_TOKENS, **_grammar_fields(notation, text, given)}
        if not body.keys() & {"messages", "prompt", "input"}:
            body["messages"] = [{"role": "user", "content": "Say hello"}]
        body.setdefault("temperature", 0)
        if self._model or not body.get("model"):
            body["model"] = self._model or self._first_model()
        return {**body, "stream": False}

    def _first_model(self) -> str:
        try:
            listed = listed_models(self._client)
        except RefusedRequestError:
            listed = ()
        if not listed:
            raise ServerError("errors.diagnosis.server_model")
        self._model = str(listed[0]["id"])
        return self._model

    def _post(self, body: Mapping[str, Any]) -> ServerReply:
        name = "chat/completions" if "messages" in body else "responses" if "input" in body else "completions"
        return self._client.send("POST", f"{self._client.openai_path}/{name}", body)


def _grammar_fields(notation: str, text: str, schema: Any) -> dict[str, Any]:
    """Return the fields of a request that ask for a grammar."""
    if NOTATIONS[notation].describes_json:
        named = {"name": "candidate", "schema": schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if NOTATIONS[notation].has_named_rules:
        return {"grammar": text, "structured_outputs": {"grammar": text}}
    return {"structured_outputs": {"regex": text}}


def _case(request: str, reply: str) -> FailureCase:
    return read_failure([PastedText(request, TextKind.REQUEST), PastedText(reply, TextKind.RESPONSE)])


def _shortened(text: str) -> str:
    """Return the beginning of a text without secrets, in one line."""
    return " ".join(remove_secrets(text)[0].split())[:_LONGEST_REASON]
