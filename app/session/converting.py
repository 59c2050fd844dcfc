"""The grammar in other notations: the GBNF that is shown beside it, and what a conversion would make of it.

Both are asked of the process that judges test strings, which starts with the
first of these questions: most windows never ask.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.jobs import JobGroup
from app.session.compiling import CompiledGrammarView, Compiling
from app.workers.convert_messages import (
    ConvertAnswer,
    ConvertRequest,
    GenerateAnswer,
    GenerateRequest,
    ReadAnswer,
    ReadRequest,
)
from app.workers.messages import Failed


class Converting(QObject):
    """Asks for texts in other notations.

    Signals:
        generated(GenerateAnswer): the last grammar that compiled, as GBNF.
        converted(ConvertAnswer): what a conversion would make of it.
        reread(ReadAnswer): what is wrong with its text in another notation.
        failed(Failed): a question met a bug; the session tells of it, too.
    """

    generated = Signal(object)
    converted = Signal(object)
    reread = Signal(object)
    failed = Signal(object)

    def __init__(self, group: JobGroup, compiling: Compiling, parent: QObject) -> None:
        super().__init__(parent)
        self._group, self._compiling = group, compiling
        self._spelling = ""
        self._asked: GenerateRequest | None = None
        compiling.compiled.connect(self._on_compiled)
        group.answered.connect(self._on_answer)
        group.failed.connect(self._on_failed)

    def watch(self, spelling: str) -> None:
        """Write the grammar as GBNF from now on, spelled so; no longer for an empty word."""
        self._spelling = spelling
        if not spelling:
            self._asked = None
            self._group.cancel(lambda request: isinstance(request, GenerateRequest))
        elif self._compiling.good is not None:
            self._on_compiled(self._compiling.good)

    def ask(self, request: ConvertRequest | ReadRequest) -> None:
        """Ask what a conversion would make of a text, or how it reads; an older question of its kind is given up."""
        self._group.submit(request)

    def cancel(self) -> None:
        """Give up what was asked."""
        self._group.cancel(lambda request: isinstance(request, ConvertRequest | ReadRequest))

    def revive(self) -> None:
        """Ask a new process what the dead one was asked."""
        self._asked = None
        if self._compiling.good is not None:
            self._on_compiled(self._compiling.good)

    def _on_compiled(self, drawn: CompiledGrammarView) -> None:
        request = GenerateRequest(drawn.request, self._spelling)
        if self._spelling and request != self._asked:
            self._asked = request
            self._group.submit(request)

    def _on_answer(self, request: Any, answer: Any) -> None:
        match answer:
            case GenerateAnswer():
                if request == self._asked:
                    self.generated.emit(answer)
            case ConvertAnswer():
                self.converted.emit(answer)
            case ReadAnswer():
                self.reread.emit(answer)

    def _on_failed(self, request: Any, failed: Failed) -> None:
        if isinstance(request, ConvertRequest | ReadRequest):
            self.failed.emit(failed)
