"""A double of a server: an HTTP server on this machine with scripted answers and faults.

Answers are a function of the request, or a table by path. What a double of vLLM, SGLang or Ollama answers is built from
the request and response models in the sources of their releases: read, not recorded; each double names the release.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class SentRequest:
    """A request as the double received it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class DoubleReply:
    """An answer of the double, or a fault.

    Attributes:
        data: JSON data; a text or bytes are sent as they are.
        status: the HTTP status.
        events: the data of server-sent events, in place of `data`.
        headers: further headers.
        breaks_off_at: the number of bytes after which the connection ends, though more were announced.
        byte_delay: the seconds before each byte.
        waits: it sends nothing until the double stops.
    """

    data: Any = None
    status: int = 200
    events: tuple[Any, ...] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    breaks_off_at: int | None = None
    byte_delay: float = 0.0
    waits: bool = False

    @property
    def content(self) -> bytes:
        if self.events is not None:
            lines = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n" for one in self.events]
            return "".join(lines).encode()
        if isinstance(self.data, bytes):
            return self.data
        return (self.data if isinstance(self.data, str) else json.dumps(self.data)).encode()


Answers = Callable[[SentRequest], DoubleReply | Any] | Mapping[str, DoubleReply | Any]


class ServerDouble(ThreadingHTTPServer):
    """A server with scripted answers; `answers` may be replaced at any time, as by a restart with another model.

    Attributes:
        answers: a function of the request, or answers by path; a path that is absent is answered with 404.
        requests: the requests so far.
    """

    daemon_threads = False  # closing waits for the threads of all connections

    def __init__(self, answers: Answers) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._connections: list[socket.socket] = []
        self.answers = answers
        self.requests: list[SentRequest] = []
        self.stopping = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.append(request)
        super().process_request(request, client_address)

    def end_connections(self) -> None:
        """End all connections, as a server that stops does."""
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def reply_to(self, request: SentRequest) -> DoubleReply:
        self.requests.append(request)
        if callable(self.answers):
            given = self.answers(request)
        else:
            given = self.answers.get(request.path, DoubleReply({"error": "no such route"}, 404))
        return given if isinstance(given, DoubleReply) else DoubleReply(given)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits for the acknowledgement of its headers, 40 ms
    server: ServerDouble

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._reply(None)

    def do_POST(self) -> None:
        self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _reply(self, body: Any) -> None:
        reply = self.server.reply_to(SentRequest(self.command, self.path, dict(self.headers), body))
        if reply.waits:
            self.server.stopping.wait(60)
            self.close_connection = True
            return
        content = reply.content
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            if reply.byte_delay:
                for byte in content:
                    if self.server.stopping.wait(reply.byte_delay):
                        break
                    self.wfile.write(bytes((byte,)))
            else:
                self.wfile.write(content[: reply.breaks_off_at])
        except OSError:  # the client left
            self.close_connection = True
        if reply.breaks_off_at is not None:
            self.close_connection = True


@contextmanager
def served(answers: Answers) -> Iterator[ServerDouble]:
    """Give a double that runs while the context lasts."""
    double = ServerDouble(answers)
    thread = threading.Thread(target=double.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield double
    finally:
        double.stopping.set()
        double.shutdown()
        double.end_connections()
        double.server_close()
        thread.join()
