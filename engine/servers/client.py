"""A synchronous HTTP client for one server, over httpx2.

The key is sent in one header and nowhere else: redirects are not followed, proxies of the environment are not used,
and the key is removed from every text that comes back. A request has a limit of time and of bytes, so a server that
sends a byte a minute ends it too. Work that is cancelled ends at once: a read that blocks is woken by shutting the
connection down, and the next request opens another one.

Rejected: an asynchronous client, since a worker process does one request at a time; the timeouts of httpx2 alone, which
are for each read, so slow bytes never reach them.
"""

from __future__ import annotations

import ipaddress
import json
import math
import re
import socket
import threading
import time
import weakref
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from engine.source import CancelToken, EngineError

if TYPE_CHECKING:
    import httpx2

KEY_MARK: Final = "(removed)"
"""The text in place of a key."""
DEFAULT_TIMEOUT_S: Final = 60.0
MOST_BYTES: Final = 256_000_000
"""The largest answer; the whole distribution over 262,144 tokens is about 25 MB."""

_LEAST_SECRET: Final = 8  # characters; a shorter key is a placeholder such as "EMPTY", and may be a part of any answer
_CONNECT_S: Final = 3.0
_POLL_S: Final = 0.02
_LONGEST_MESSAGE: Final = 500
_ROUTE: Final = re.compile(r"/(?:(?:chat/)?completions|responses|models|completion|api/(?:chat|generate))/?\Z")
_SPACES: Final = re.compile(r"\s+")

T = TypeVar("T")


class ServerError(EngineError):
    """A server cannot be asked, or does not do what was asked."""


class UnreachableServerError(ServerError):
    """No connection to the server can be made."""


class SilentServerError(ServerError):
    """The server accepted a request and sent no complete answer in time."""


class BrokenConnectionError(SilentServerError):
    """The server ended the connection before its answer was complete."""


class UnreadableReplyError(ServerError):
    """An answer is not the JSON that the request asked for."""


class RefusedRequestError(ServerError):
    """The server answered with an HTTP status other than 2xx.

    Attributes:
        status: the HTTP status.
        message: the message of the server, without the key.
    """

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(str(self.fields["status"]))

    @property
    def message(self) -> str:
        """The message of the server, without the key."""
        return str(self.fields["message"])


@dataclass(frozen=True, slots=True)
class ServerReply:
    """An answer of a server.

    Attributes:
        status: the HTTP status.
        text: the body, without the key; bytes that are not UTF-8 are replaced.
    """

    status: int
    text: str

    def json(self) -> Any:
        """Return the body as JSON data.

        Raises:
            UnreadableReplyError: it is not JSON.
        """
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise UnreadableReplyError("errors.servers.not_json", text=_one_line(self.text)) from error

    def json_of(self, kind: type[T]) -> T:
        """Return the body as data of a type, which takes a tenth of the time of `json` for a long list.

        Raises:
            UnreadableReplyError: it is not JSON, or not of this type.
        """
        try:
            return msgspec.json.decode(self.text, type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            raise UnreadableReplyError("errors.servers.not_json", text=_one_line(self.text)) from error

    @property
    def message(self) -> str:
        """Return the error message in the body, in one line: the usual fields of JSON errors, or the beginning."""
        try:
            data = json.loads(self.text)
        except (ValueError, RecursionError):
            return _one_line(self.text)
        while isinstance(data, dict):
            data = next((data[name] for name in ("error", "message", "detail") if data.get(name)), "")
        return _one_line(data if isinstance(data, str) and data else self.text)


class ServerClient:
    """A client of one server.

    Args:
        address: `http://` or `https://`, a host, a port, and a path if the server is not at the root. The path of a
            route, such as `/v1/chat/completions`, is removed.
        key: the key; empty for none.
        timeout: the seconds for a request, by default; a request may have its own.
        cancel: ends a request at once, with `CancelledError`; `cancelled_by` sets another one for a while.

    Attributes:
        address: the address of the server, without a slash at the end.
        openai_path: the path of OpenAI's routes: `/v1`, or empty if the address has another path of its own.
        connections: the number of connections made so far; another one may lead to another process.

    Raises:
        ServerError: the address is not one of HTTP, or contains a password or a query.
    """

    def __init__(
        self, address: str, *, key: str = "", timeout: float = DEFAULT_TIMEOUT_S, cancel: CancelToken | None = None
    ) -> None:
        self.address = server_address(address)
        self.openai_path = "" if urlsplit(self.address).path else "/v1"
        self.connections = 0
        self._key, self._timeout = key, timeout
        self._cancel = cancel or CancelToken()
        self._client: httpx2.Client | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another one."""
        if self._client is not None:
            self._client.close()
        self._client = self._socket = None

    @contextmanager
    def cancelled_by(self, cancel: CancelToken) -> Iterator[None]:
        """Let another token end requests while the context lasts."""
        before, self._cancel = self._cancel, cancel
        try:
            yield
        finally:
            self._cancel = before

    def get(self, path: str, *, timeout: float | None = None) -> Any:
        """Return the JSON data of a path, such as `/v1/models`; see `post`."""
        return self._accepted(self.send("GET", path, timeout=timeout)).json()

    def post(self, path: str, body: Mapping[str, Any], *, timeout: float | None = None) -> Any:
        """Send JSON data and return the JSON data of the answer.

        Args:
            path: the path of the route.
            body: the request.
            timeout: the seconds for the whole request; by default those of the client.

        Raises:
            ServerError: one of its subclasses says why there is no answer.
            CancelledError: the work was cancelled.
        """
        return self._accepted(self.send("POST", path, body, timeout=timeout)).json()

    def post_for(self, kind: type[T], path: str, body: Mapping[str, Any], *, timeout: float | None = None) -> T:
        """Send JSON data and return the answer as data of a type; see `post` and `ServerReply.json_of`."""
        return self._accepted(self.send("POST", path, body, timeout=timeout)).json_of(kind)

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> ServerReply:
        """Return the answer to a request, whatever its status.

        Args:
            method: `GET` or `POST`.
            path: the path of the route.
            body: the JSON data to send.
            timeout: the seconds for the whole request; by default those of the client.

        Raises:
            UnreachableServerError: no connection can be made.
            SilentServerError: there is no complete answer.
            CancelledError: the work was cancelled.
        """
        with self._response(method, path, body, timeout) as (response, deadline):
            data = b"".join(self._parts(response, deadline))
            return ServerReply(response.status_code, self.without_key(data))

    def stream(self, path: str, body: Mapping[str, Any], *, timeout: float | None = None) -> Generator[Any, None, None]:
        """Send JSON data and yield the JSON data of each event of the answer, until `[DONE]` or its end.

        Server-sent events (`data: …`) and lines of JSON, which Ollama sends, are read alike.

        Args:
            path: the path of the route.
            body: the request.
            timeout: the seconds for the whole answer; by default those of the client, which end each silence, too.

        Raises:
            RefusedRequestError: the status is not 2xx, or an event is an error.
            ServerError, CancelledError: as `post`.
        """
        with self._response("POST", path, body, timeout, silence=self._timeout) as (response, deadline):
            parts = self._parts(response, deadline)
            if not 200 <= response.status_code < 300:
                self._accepted(ServerReply(response.status_code, self.without_key(b"".join(parts))))
            for line in _lines(parts):
                text = self.without_key(line).strip()
                if text.startswith("{"):
                    data = text
                elif text.startswith("data:"):
                    data = text.removeprefix("data:").strip()
                elif text.startswith("error:"):  # llama-server
                    data = text.removeprefix("error:").strip()
                    raise self._refusal(ServerReply(500, data))
                else:
                    continue  # a comment, another field, or the blank line that ends an event
                if data == "[DONE]":
                    return
                event = ServerReply(response.status_code, data).json()
                if isinstance(event, dict) and event.get("error"):
                    raise self._refusal(ServerReply(500, data))
                yield event

    def without_key(self, text: bytes | str) -> str:
        """Return a text of the server without the key."""
        readable = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return readable.replace(self._key, KEY_MARK) if len(self._key) >= _LEAST_SECRET else readable

    def _accepted(self, reply: ServerReply) -> ServerReply:
        if not 200 <= reply.status < 300:
            raise self._refusal(reply)
        return reply

    def _refusal(self, reply: ServerReply) -> RefusedRequestError:
        kinds = {401: "key", 403: "key", 404: "route", 429: "busy"}
        kind = "redirect" if 300 <= reply.status < 400 else kinds.get(reply.status, "status")
        return RefusedRequestError(
            f"errors.servers.{kind}", address=self.address, status=reply.status, message=reply.message
        )

    @contextmanager
    def _response(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        timeout: float | None,
        *,
        silence: float = math.inf,
    ) -> Iterator[tuple[httpx2.Response, float]]:
        """Send a request and give its answer, of which the head is read, and the time at which it must be complete.

        Args:
            method: `GET` or `POST`.
            path: the path of the route.
            body: the JSON data to send.
            timeout: the seconds for the whole request; by default those of the client.
            silence: the seconds for each part of it.
        """
        import httpx2  # 80 ms, which only those who ask a server should wait for

        self._cancel.check()
        limit = self._timeout if timeout is None else timeout
        client, deadline = self._connected(), time.monotonic() + limit
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        request = client.build_request(
            method,
            f"{self.address}{path}",
            content=content,
            headers=None if content is None else {"Content-Type": "application/json"},
            timeout=httpx2.Timeout(min(limit, silence), connect=min(_CONNECT_S, limit)),
            extensions={"trace": self._trace},
        )
        try:
            with self._woken():
                response = client.send(request, stream=True)
                try:
                    yield response, deadline
                finally:
                    response.close()
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            self._cancel.check()
            reason = self.without_key(str(error)) or type(error).__name__
            raise UnreachableServerError("errors.servers.unreachable", address=self.address, reason=reason) from error
        except httpx2.TimeoutException as error:
            self._cancel.check()
            raise SilentServerError(
                "errors.servers.timed_out", address=self.address, seconds=round(limit, 1)
            ) from error
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            self._cancel.check()
            raise BrokenConnectionError("errors.servers.broken_off", address=self.address) from error

    def _parts(self, response: httpx2.Response, deadline: float) -> Iterator[bytes]:
        """Yield the bytes of an answer as they come.

        Raises:
            httpx2.TimeoutException: it is not complete at the deadline.
            UnreadableReplyError: it is too long.
        """
        import httpx2

        size = 0
        for part in response.iter_bytes():
            self._cancel.check()
            size += len(part)
            if size > MOST_BYTES:
                raise UnreadableReplyError("errors.servers.too_long", most=MOST_BYTES // 1_000_000)
            if time.monotonic() > deadline:
                raise httpx2.ReadTimeout("")
            yield part

    def _connected(self) -> httpx2.Client:
        if self._client is None:
            import httpx2

            self._client = httpx2.Client(
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                trust_env=False,
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=60.0),
            )
            weakref.finalize(self, self._client.close)
        return self._client

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the socket of a new connection."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._socket = info["return_value"].get_extra_info("socket")
            self.connections += event.startswith("connection.connect_tcp")

    @contextmanager
    def _woken(self) -> Iterator[None]:
        """Shut the connection down when the work is cancelled, while the context lasts.

        A stream may outlast the work that began it, so the token is that of the work at the time.
        """
        done = threading.Event()

        def wait() -> None:
            while not done.wait(_POLL_S):
                if self._cancel.is_cancelled and (connection := self._socket) is not None:
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)
                    return

        waiting = threading.Thread(target=wait, name="server-cancel", daemon=True)
        waiting.start()
        try:
            yield
        finally:
            done.set()
            waiting.join()


def server_address(address: str) -> str:
    """Return an address without the path of a route, without `/v1` alone, and without a slash at the end.

    Raises:
        ServerError: it is not one of HTTP, or contains a password or a query.
    """
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError as error:
        raise ServerError("errors.servers.address") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or port == 0:
        raise ServerError("errors.servers.address")
    path = _ROUTE.sub("", parts.path).rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{'' if path == '/v1' else path}"


def is_server_address(text: str) -> bool:
    """Return whether a text has the scheme of a server's address."""
    return text.strip().lower().startswith(("http://", "https://"))


def is_remote(address: str) -> bool:
    """Return whether texts that are sent to an address leave this machine."""
    host = urlsplit(address).hostname or ""
    with suppress(ValueError):
        return not ipaddress.ip_address(host).is_loopback
    return host != "localhost" and not host.endswith(".localhost")


def _lines(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of bytes that come in parts."""
    rest = b""
    for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        yield from lines
    yield rest


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()[:_LONGEST_MESSAGE]
