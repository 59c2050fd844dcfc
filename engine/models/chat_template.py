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
from engine.source.processes import start_python

MAX_TEMPLATE: Final = 200_000
"""Characters; the longest known templates have some 30,000."""
_POLL_SECONDS: Final = 0.05
_MAX_SECONDS: Final = 30.0  # on platforms without a limit of processor time, such as Windows
_END_SECONDS: Final = 2.0
_OTHER_PROMPT: Final = "use a plain prompt, or another model"
_CORRECT: Final = "correct the template in the model's folder, or use a plain prompt"
_lock = threading.Lock()


class ChatTemplateError(ModelError):
    """A chat template cannot be rendered.

    Attributes:
        line: the line of the template, from 1; None if it is not known.
        hint: what to do about it.
    """

    def __init__(self, problem: str, hint: str, line: int | None = None) -> None:
        super().__init__(f"the model's chat template {problem}; {hint}")
        self.line, self.hint = line, hint


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
        raise ChatTemplateError(f"has {len(template):,} characters, and the limit is {MAX_TEMPLATE:,}", _OTHER_PROMPT)
    with _lock:
        answer = _running_child().ask({"template": template, "variables": variables})
    match answer:
        case {"text": str(text)}:
            return text
        case {"kind": str(kind), "message": str(message), "line": int() | None as line}:
            raise _error(kind, message, line)
    raise ChatTemplateError("broke the process that renders it", _OTHER_PROMPT)


def _error(kind: str, message: str, line: int | None) -> ChatTemplateError:
    where = "" if line is None else f" in line {line}"
    match kind:
        case "refused":
            return ChatTemplateError(f"refuses these messages ({message})", "change their roles or contents", line)
        case "limit":
            return ChatTemplateError(f"was stopped{where}: {message}", _OTHER_PROMPT, line)
        case "syntax":
            return ChatTemplateError(f"is not valid{where}: {message}", _CORRECT, line)
    return ChatTemplateError(f"fails{where}: {message}", _CORRECT, line)


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
            raise ModelError(
                f"the process that renders chat templates cannot be started ({error.strerror or error});"
                " close other programs and try again"
            ) from error

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
            return ChatTemplateError(
                f"was stopped: it takes more than {child.CPU_SECONDS} s of processor time", _OTHER_PROMPT
            )
        return ChatTemplateError(f"broke the process that renders it (status {status})", _OTHER_PROMPT)


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
