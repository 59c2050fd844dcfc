"""A check by a server with OpenAI's interface: it refuses a request, or its answer breaks the grammar of the request.

Before a reduction, a canary request settles whether a grammar is in force at all: if the answer to a schema with a
single value is another, then every request fails, and there is nothing to reduce.

The key is sent in one header and nowhere else: redirects are not followed, and it is removed from every answer. `http`
and `https` are read by the standard library, so nothing has to be installed.
"""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Any, Final
from urllib.parse import urlsplit

from engine.diagnosis.case import FailureCase
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import ENFORCEABLE
from engine.diagnosis.intake import IntakeError, PastedText, TextKind, read_failure, remove_secrets
from engine.diagnosis.intake.request_reader import is_request
from engine.diagnosis.intake.secrets import MARK
from engine.diagnosis.reduce.engine_check import message_form
from engine.notations import NOTATIONS
from engine.source import CancelToken, EngineError

CANARY: Final = {
    "type": "object",
    "properties": {"a": {"type": "string", "enum": ["zq7"]}},
    "required": ["a"],
    "additionalProperties": False,
}
"""A schema with a single value, in the part of JSON Schema that every server reads."""
_CANARY_ANSWER: Final = {"a": "zq7"}
_MOST_BYTES: Final = 4_000_000
_MOST_TOKENS: Final = 256
_LONGEST_REASON: Final = 300
_ENDPOINTS: Final = re.compile(r"/(?:chat/completions|completions|responses)/?\Z")
_TIMED_OUT: Final = "no answer"


class ServerError(EngineError):
    """A server cannot be asked."""


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A reply: the HTTP status, 0 if there is none, and the text."""

    status: int
    text: str


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


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow no redirect, so that a key is sent to the named server alone."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


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
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise ServerError("errors.diagnosis.server_address")
        base = _ENDPOINTS.sub("", url.rstrip("/"))
        self._base = f"{base}/v1" if not urlsplit(base).path else base
        self._notation, self._model, self._key = notation, model, key
        self._timeout, self._cancel = timeout, cancel or CancelToken()
        self._opener = urllib.request.build_opener(_NoRedirect)

    def canary(self) -> str | None:
        """Send the canary request and return its answer if no grammar is in force; None if one is.

        Raises:
            ServerError: the server cannot be reached, or refuses the request.
        """
        body = self._body(json.dumps(CANARY), "json_schema")
        reply = self._post(body)
        if reply.status != 200:
            raise ServerError("errors.diagnosis.canary", status=reply.status, reason=_shortened(reply.text))
        answer = (_case(json.dumps(body), reply.text).output or b"").decode("utf-8", "replace")
        try:
            return None if json.loads(answer) == _CANARY_ANSWER else answer
        except ValueError:
            return answer

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
        reply = self._post(body)
        if not reply.status:
            return ServerFailure("no-answer", reply.text)
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
        reply = self._send("GET", f"{self._base}/models", None)
        try:
            self._model = str(json.loads(reply.text)["data"][0]["id"])
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ServerError("errors.diagnosis.server_model") from error
        return self._model

    def _post(self, body: Mapping[str, Any]) -> ServerReply:
        name = "chat/completions" if "messages" in body else "responses" if "input" in body else "completions"
        return self._send("POST", f"{self._base}/{name}", json.dumps(body).encode())

    def _send(self, method: str, url: str, data: bytes | None) -> ServerReply:
        self._cancel.check()
        headers = {
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {self._key}"} if self._key else {}),
        }
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the scheme was checked
        deadline = time.monotonic() + self._timeout
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return ServerReply(response.status, self._read(response, deadline))
        except urllib.error.HTTPError as error:
            with error:
                return ServerReply(error.code, self._clean(error.read(_MOST_BYTES)))
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                return ServerReply(0, _TIMED_OUT)
            raise ServerError("errors.diagnosis.server_unreachable", reason=self._clean(str(error.reason))) from error
        except (TimeoutError, HTTPException, ConnectionError) as error:
            return ServerReply(0, type(error).__name__ if not isinstance(error, TimeoutError) else _TIMED_OUT)

    def _read(self, response: IO[bytes], deadline: float) -> str:
        parts, size = [], 0
        while part := response.read(65_536):
            self._cancel.check()
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES or time.monotonic() > deadline:
                raise TimeoutError
        return self._clean(b"".join(parts))

    def _clean(self, text: bytes | str) -> str:
        """Return a text of the server without the key."""
        readable = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return readable.replace(self._key, MARK) if self._key else readable


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
