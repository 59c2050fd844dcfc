"""A GGUF file that llama.cpp runs as in production, by a server that is started for it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from engine.models.local_server import LocalServer
from engine.models.server_source import attach
from engine.models.source import LogitSource, ModelInfo
from engine.models.sources.server import STEP_TIMEOUT_S
from engine.servers import ServerClient, ServerReply, SilentServerError, UnreachableServerError
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

PREFIX: Final = "llama.cpp:"
_END_S: Final = 1.0  # the time between the end of a connection and that of the process


class LocalServerClient(ServerClient):
    """A client of a local server, which runs as long as the client is in use; if it ends, errors say why.

    Args:
        server: the server.
        cancel: see `ServerClient`.
    """

    def __init__(self, server: LocalServer, cancel: CancelToken) -> None:
        super().__init__(server.address, key=server.key, timeout=STEP_TIMEOUT_S, cancel=cancel)
        self._server = server

    def send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> ServerReply:
        """See `ServerClient`."""
        with self._explained():
            return super().send(method, path, body, timeout=timeout)

    def stream(self, path: str, body: Mapping[str, Any], *, timeout: float | None = None) -> Generator[Any, None, None]:
        """See `ServerClient`."""
        with self._explained():
            yield from super().stream(path, body, timeout=timeout)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise why the server has ended, if it has, in place of an error of the connection."""
        try:
            yield
        except (UnreachableServerError, SilentServerError) as error:
            if self._server.has_ended(_END_S):
                raise self._server.failure() from error
            raise


class _LlamaCpp:
    @property
    def forms(self) -> str:
        return catalogue_text("sources.forms.llama_cpp", prefix=PREFIX)

    def known_models(self) -> tuple[ModelInfo, ...]:
        return ()

    def recognises(self, spec: str) -> bool:
        return spec.startswith(PREFIX)

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        path = Path(spec.removeprefix(PREFIX).strip()).expanduser()
        server = LocalServer(path, cancel)
        try:
            cancel.report(catalogue_text("sources.stage.vocabulary"), 0)
            source = attach(LocalServerClient(server, cancel))
        except BaseException:
            server.close()  # the traceback would keep it
            raise
        source.name = catalogue_text("sources.name.llama_cpp", file=path.stem)
        return source


SOURCE = _LlamaCpp()
