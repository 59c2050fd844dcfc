"""The live states and their source spans, reported when the drawing can take them."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from app.delays import delayed
from app.session.compiling import CompiledGrammarView, Compiling
from engine.source import Span


class LiveStates(QObject):
    """Reports the live states; after a step, only once chips and candidates are painted.

    Signals:
        settled(states, spans): highlight these states of the drawn automaton, and these spans of the text.
    """

    settled = Signal(frozenset, tuple)

    def __init__(self, compiling: Compiling, parent: QObject) -> None:
        super().__init__(parent)
        self._compiling = compiling
        self._live: frozenset[int] = frozenset()
        self._spans: tuple[Span, ...] = ()
        self._reported: CompiledGrammarView | None = None  # the automaton of the last report
        self._timer = delayed(self, 0, lambda: QTimer.singleShot(0, self, self._settle))

    def show(self, states: frozenset[int], spans: tuple[Span, ...]) -> None:
        """Report these states: at once for another automaton, otherwise after the events that wait."""
        self._live, self._spans = states, spans
        if self._compiling.last_good is self._reported:
            self._timer.start()
        else:
            self._settle()

    def _settle(self) -> None:
        self._timer.stop()
        self._reported = self._compiling.last_good
        self.settled.emit(self._live, self._spans)
