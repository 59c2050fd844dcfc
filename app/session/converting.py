"""The grammar in other notations: the generated GBNF, and previews of conversions.

Both are computed by the process that judges test strings. It starts with the first of these requests, since most
windows never need it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.jobs import JobGroup
from app.session.compiling import CompiledGrammarView, Compiling
from app.workers.protocol import Failed
from app.workers.requests.judge import (
    ConvertAnswer,
    ConvertRequest,
    GenerateAnswer,
    GenerateRequest,
    ReadAnswer,
    ReadRequest,
)


class Converting(QObject):
    """Requests texts in other notations.

    Signals:
        generated(GenerateAnswer): the last grammar that compiled, as GBNF.
        converted(ConvertAnswer): the result of a conversion.
        reread(ReadAnswer): the findings about its text in another notation.
        failed(Failed): a conversion hit a bug; the session reports it, too.
    """

    generated = Signal(GenerateAnswer)
    converted = Signal(ConvertAnswer)
    reread = Signal(ReadAnswer)
    failed = Signal(Failed)

    def __init__(self, group: JobGroup, compiling: Compiling, parent: QObject) -> None:
        super().__init__(parent)
        self._group, self._compiling = group, compiling
        self._spelling = ""
        self._requested: GenerateRequest | None = None
        compiling.compiled.connect(self._on_compiled)
        group.failed.connect(self._on_failed)

    def watch(self, spelling: str) -> None:
        """Generate GBNF after each compile with this spelling of strings and numbers; stop if it is empty."""
        self._spelling = spelling
        if not spelling:
            self._requested = None
            self._group.cancel(lambda request: isinstance(request, GenerateRequest))
        elif self._compiling.last_good is not None:
            self._on_compiled(self._compiling.last_good)

    def ask(self, request: ConvertRequest | ReadRequest) -> None:
        """Request a conversion, or the findings of a text in another notation; replaces an older request."""
        if isinstance(request, ConvertRequest):
            self._group.ask(request, self).then(self.converted.emit)
        else:
            self._group.ask(request, self).then(self.reread.emit)

    def cancel(self) -> None:
        """Cancel the pending conversions."""
        self._group.cancel(lambda request: isinstance(request, ConvertRequest | ReadRequest))

    def revive(self) -> None:
        """Repeat the pending requests for a new process."""
        self._requested = None
        if self._compiling.last_good is not None:
            self._on_compiled(self._compiling.last_good)

    def _on_compiled(self, drawn: CompiledGrammarView) -> None:
        request = GenerateRequest(drawn.request, self._spelling)
        if self._spelling and request != self._requested:
            self._requested = request
            self._group.ask(request, self).then(partial(self._on_generated, request))

    def _on_generated(self, request: GenerateRequest, answer: GenerateAnswer) -> None:
        if request == self._requested:
            self.generated.emit(answer)

    def _on_failed(self, request: Any, failed: Failed) -> None:
        if isinstance(request, ConvertRequest | ReadRequest):
            self.failed.emit(failed)
