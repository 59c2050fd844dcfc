"""The worker processes of a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject

from app.jobs import JobGroup, Policy
from app.workers.handlers import compile_handler, judge_handler, layout_handler
from app.workers.handlers import decode_handler as usual_decode_handler
from app.workers.layout import PlainLayoutRequest
from app.workers.loop import Handler

_GRACE_MS = 200
_DECODE_GRACE_MS = 10_000  # a kill loses the model, and loading it again takes longer than most waits
_LAYOUT_LIMIT_MS = 60_000  # for a library that does not return: `lay_out` chooses by work what takes a second


class WorkerPool(QObject):
    """Job groups by name. `decode_handler` makes what the decode process runs; tests give it other models."""

    def __init__(
        self, parent: QObject | None = None, *, decode_handler: Callable[[], Handler] = usual_decode_handler
    ) -> None:
        super().__init__(parent)
        self.compile = JobGroup("compile", compile_handler, Policy(exclusive=True, grace_ms=_GRACE_MS), self)
        self.decode = JobGroup("decode", decode_handler, Policy(exclusive=False, grace_ms=_DECODE_GRACE_MS), self)
        self.judge = JobGroup("judge", judge_handler, Policy(exclusive=True, grace_ms=_GRACE_MS), self)
        self.layout = JobGroup(
            "layout",
            layout_handler,
            Policy(exclusive=True, grace_ms=_GRACE_MS, limit_ms=_LAYOUT_LIMIT_MS, unlimited=(PlainLayoutRequest,)),
            self,
        )

    def __iter__(self) -> Iterator[JobGroup]:
        return iter((self.compile, self.decode, self.layout, self.judge))

    def start(self) -> None:
        """Start the processes ahead of the first job; that of the test strings starts with the first one."""
        for group in (self.compile, self.decode, self.layout):
            group.start()

    def close(self) -> None:
        """End the processes and wait for them to be gone."""
        for group in self:
            group.close()
