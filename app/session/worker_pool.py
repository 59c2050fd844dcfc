"""The worker processes of a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject

from app.graph.layout.types import PlainLayoutRequest
from app.jobs import JobGroup, Policy
from app.workers.handlers import compile_handler, judge_handler, layout_handler
from app.workers.handlers import decode_handler as usual_decode_handler
from app.workers.loop import Handler

_GRACE_MS = 200
_DECODE_GRACE_MS = 10_000  # a kill loses the model, and loading it again takes longer than most waits
_LAYOUT_LIMIT_MS = 60_000  # for a library that does not return: `lay_out` chooses by work what takes a second


class WorkerPool(QObject):
    """The job groups of a window by name. `decode_handler` creates the decode handler; tests replace it."""

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
        """Start the processes before the first job; the one for test strings starts with its first job."""
        for group in (self.compile, self.decode, self.layout):
            group.start()

    def close(self) -> None:
        """Stop the processes and wait for their end."""
        for group in self:
            group.close()
