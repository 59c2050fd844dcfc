"""A llama.cpp server for a GGUF file, in a child process of its own.

The server is the one of llama.cpp's releases, from the optional package xllamacpp, so a quantised model runs as it does
in production, and not dequantised in torch. It listens on a free port of the loopback interface and asks for a random
key, so that no other user of the machine has access. An exception in C++ ends the child alone.

Rejected: the server in a thread of this process, which an assertion of llama.cpp would end; an installed
`llama-server`, whose version and options differ from machine to machine.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import threading
import weakref
from collections import deque
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from engine.models import local_server_child as child
from engine.models.checkpoint import available_memory
from engine.models.source import ModelError
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.source.processes import start_python

DEFAULT_CONTEXT: Final = 8192
"""Tokens; a larger context takes memory from the start. A model with a shorter one has its own."""
_POLL_SECONDS: Final = 0.05
_LOG_LINES: Final = 3
_KILLED: Final = -9  # as Linux does where the memory is exhausted
_TIME_AND_LEVEL: Final = re.compile(r"[\d.]+ [A-Z] ")


class LocalServer:
    """A llama.cpp server that runs until it is closed, collected as garbage, or this process ends.

    Args:
        path: the GGUF file.
        cancel: cancels the start and hears its progress.
        context: the number of tokens that fit.
        threads: the number of threads; by default one less than there are cores. llama.cpp's threads wait in a loop
            for the slowest one, so one that must share its core with a window makes all of them slow.

    Attributes:
        address: the URL.
        key: the API key.
        version: the version of xllamacpp, whose last number is llama.cpp's build; the server itself does not know it.

    Raises:
        ModelError: the file is no GGUF file, the memory or the package is missing, or llama.cpp refuses the model.
        CancelledError: the start was cancelled, and the process has ended.
    """

    def __init__(
        self, path: Path, cancel: CancelToken, *, context: int = DEFAULT_CONTEXT, threads: int | None = None
    ) -> None:
        _check(path)
        self.key, self._name = secrets.token_urlsafe(24), path.name
        self._process = _start(
            {
                "path": str(path.resolve()),
                "name": path.name,  # by which a document recognises the model, wherever its file is
                "key": self.key,
                "context": context,
                "threads": threads or max(1, (os.cpu_count() or 1) - 1),
            }
        )
        self._answer: dict[str, str] = {}
        self._ready = threading.Event()
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        reader = threading.Thread(target=_read, args=(self._process, self._answer, self._ready, self._log), daemon=True)
        reader.start()
        self._end = weakref.finalize(self, _end, self._process, reader, os.getpid())
        stage, size = catalogue_text("sources.stage.server", name=path.name), path.stat().st_size
        try:
            cancel.report(stage, 0)
            while not self._ready.wait(_POLL_SECONDS):
                cancel.check()
            cancel.report(stage, size, size)
        except BaseException:
            self.close()
            raise
        if not self._answer:
            self.close()
            raise self.failure()
        self.address, self.version = self._answer["address"], self._answer["version"]

    def has_ended(self, wait_s: float = 0.0) -> bool:
        """Return whether the process has ended.

        Args:
            wait_s: the seconds to wait for its end.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(wait_s)
        return self._process.poll() is not None

    def failure(self) -> ModelError:
        """Return the error that says why the process has ended; call it after the process has."""
        status = self._process.poll()
        if status == _KILLED:
            return ModelError("errors.models.server.killed", name=self._name)
        reason = "; ".join(self._log) or catalogue_text("errors.models.server.silent")
        return ModelError("errors.models.server.ended", name=self._name, status=status, reason=reason)

    def close(self) -> None:
        """End the process; it may be called again."""
        self._end()


def _check(path: Path) -> None:
    """Raise an error for what llama.cpp would refuse with a worse message, or only after minutes."""
    if find_spec(child.LIBRARY) is None:
        raise ModelError("errors.models.server.library")
    if not path.is_file():
        raise ModelError("errors.models.server.missing", path=path)
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelError("errors.models.server.not_gguf", path=path)
    size, available = path.stat().st_size, available_memory()
    if available is not None and size > available:
        raise ModelError("errors.models.too_large", name=path.name, needed=size / 1e9, available=available / 1e9)


def _start(request: dict[str, Any]) -> subprocess.Popen[bytes]:
    try:
        process = start_python(
            [child.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError as error:
        raise ModelError("errors.models.server.process", reason=error.strerror or str(error)) from error
    assert process.stdin is not None
    with suppress(OSError):  # it has ended already, and its log says why
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
    return process


def _read(process: subprocess.Popen[bytes], answer: dict[str, str], ready: threading.Event, log: deque[str]) -> None:
    """Read what the process writes until it ends: its answer, and the log of llama.cpp."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(child.ANSWER):
            answer.update(json.loads(line.removeprefix(child.ANSWER)))
            ready.set()
        elif answer or len(log) < _LOG_LINES:  # while it starts, the first lines have the cause, and later the last
            log.append(_TIME_AND_LEVEL.sub("", line.decode("utf-8", "replace").strip()))
    process.wait()  # so that its status is known
    ready.set()


def _end(process: subprocess.Popen[bytes], reader: threading.Thread, owner: int) -> None:
    if owner != os.getpid():  # a process that was forked has the object, but not the server
        return
    process.kill()  # it has no state to save
    process.wait()
    reader.join()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(OSError):  # the request was not read
            pipe.close()
