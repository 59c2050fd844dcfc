"""Rendering of a model's chat template, which is untrusted input, in a child process with limits.

One child renders all templates of this process: it starts with the first render (0.2 s), and each render then takes
about a millisecond more than in this process. It ends with this process, or if a template crashes it.

Rejected: a sandbox in this process. It counts steps too, but one call into C, such as a format with a computed width,
can exhaust the memory before anything is counted. A process for each render: it costs 0.2 s each time.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from engine.models import chat_template_child as child
from engine.models.source import ModelError
from engine.source.cancel import check_cancelled
from engine.source.catalogue import catalogue_text
from engine.source.processes import start_python

MAX_TEMPLATE: Final = 200_000
"""Characters; the longest known templates have some 30,000."""
_POLL_SECONDS: Final = 0.05
_MAX_SECONDS: Final = 30.0  # on platforms without a limit of processor time, such as Windows
_END_SECONDS: Final = 2.0
_lock = threading.Lock()


class ChatTemplateError(ModelError):
    """A chat template cannot be rendered."""


def render(template: str, variables: Mapping[str, Any]) -> str:
    """Render a template.

    Args:
        template: the text of the template.
        variables: the variables of the template; JSON values.

    Raises:
        ChatTemplateError: the template fails, rejects the messages, or exceeds a limit.
        ModelError: the child process cannot be started.
        CancelledError: the work of this thread was cancelled.
    """
    if len(template) > MAX_TEMPLATE:
        raise ChatTemplateError("errors.models.template.long", size=len(template), limit=MAX_TEMPLATE)
    with _lock:
        answer = _running_child().ask({"template": template, "variables": variables})
    match answer:
        case {"text": str(text)}:
            return text
        case {"limit": str(name), "fields": dict(fields), "line": line}:
            reason = catalogue_text(f"errors.models.template.exceeded.{name}", **fields)
            raise ChatTemplateError("errors.models.template.limit", where=_where(line), reason=reason)
        case {"kind": "refused", "message": str(message)}:
            raise ChatTemplateError("errors.models.template.refused", message=message)
        case {"kind": str(kind), "message": str(message), "line": line}:
            raise ChatTemplateError(f"errors.models.template.{kind}", where=_where(line), reason=message)
    raise ChatTemplateError("errors.models.template.broken")


def _where(line: int | None) -> str:
    return "" if line is None else catalogue_text("errors.models.template.fragment.line", line=line)


class _Child:
    """A child process that renders templates."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._answer: Any = None
        try:
            self._process = start_python(
                [child.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise ModelError("errors.models.template_process", reason=error.strerror or str(error)) from error

    @property
    def is_usable(self) -> bool:
        """Return whether the child is running and was started by this process, not by one it was forked from."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, request: object) -> Any:
        """Return the answer to a request; without an answer, the process has ended afterwards.

        Raises:
            ChatTemplateError: the template exceeded a limit, and the process was ended.
            CancelledError: the work of this thread was cancelled.
        """
        self._answer = None
        exchange = threading.Thread(target=self._exchange, args=(request,), name="chat template")
        exchange.start()
        started = time.monotonic()
        try:
            while exchange.is_alive():
                exchange.join(_POLL_SECONDS)
                check_cancelled()
                if not child.HAS_LIMITS and time.monotonic() - started > _MAX_SECONDS:
                    break
        finally:
            if exchange.is_alive():
                self._process.kill()
                exchange.join()
            if self._answer is None:
                self.end()
        if self._answer is None:
            raise self._failure()
        return self._answer

    def end(self) -> None:
        """End the process by closing its input."""
        if self._owner != os.getpid():
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # buffered data can no longer be written
                    pipe.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _exchange(self, request: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):  # the process has ended, or its answer is incomplete
            child.write_message(self._process.stdin, request)
            self._answer = child.read_message(self._process.stdout)

    def _failure(self) -> ChatTemplateError:
        status = self._process.returncode
        if not child.HAS_LIMITS or status == -signal.SIGXCPU:
            return ChatTemplateError("errors.models.template.time", seconds=child.CPU_SECONDS)
        return ChatTemplateError("errors.models.template.broken_status", status=status)


_children: list[_Child] = []  # at most one


def _running_child() -> _Child:
    if not _children or not _children[0].is_usable:
        end_child()
        _children.append(_Child())
    return _children[0]


@atexit.register
def end_child() -> None:
    """End the child process; the next render starts a new one."""
    while _children:
        _children.pop().end()
