"""The status bar: the automaton's size, what the grammar allows, whether it may end, and what the background does."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QStatusBar, QToolButton

from app import theme
from app.actions.build import icon
from app.models.steady import Steady
from app.models.wording import characters
from app.session import Drawn
from app.workers.decode_messages import DecodeView
from engine.decoding.values import EosState, Position

_APART = 6  # as QStatusBar has its own items
_BYTES_FROM = 100_000  # a total beyond this is a size in bytes, and read best in megabytes


class StatusLine(QStatusBar):
    """Shows; decides nothing.

    Signals:
        cancel_clicked: the ⨯ beside the progress.
    """

    cancel_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        self._automaton, self._allowed, self._eos = QLabel(), QLabel(), QLabel()
        told = Steady(takes_what_is_left=True)  # every step tells other numbers
        row = QHBoxLayout(told.inner)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_APART)
        for text in (self._automaton, self._allowed, self._eos):
            text.setProperty("role", "muted")
            text.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_M, 0)
            row.addWidget(text)
        row.addStretch()
        self.addWidget(told, 1)
        self._job = QLabel()
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self._cancel = QToolButton()
        self._cancel.setFixedSize(20, 20)
        self._cancel.setToolTip("Cancel (Esc)")
        self._cancel.setAccessibleName("Cancel the background job")
        self._cancel.clicked.connect(self.cancel_clicked)
        for widget in (self._job, self._bar, self._cancel):
            self.addPermanentWidget(widget)
        self.show_activity("", 0, None)
        theme.themes.changed.connect(self.recolour)

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """What it says: of the automaton, the mask, the end, and the background."""
        return self._automaton.text(), self._allowed.text(), self._eos.text(), self._job.text()

    def recolour(self) -> None:
        """Draw the icon in the current theme's colours."""
        self._cancel.setIcon(icon("ph.x"))

    def show_automaton(self, drawn: Drawn | None, stale_reason: str) -> None:
        """Tell the automaton's size, or why it is not of the present text."""
        if stale_reason:
            self._automaton.setText(stale_reason)
        elif drawn is not None:
            size = _size(drawn)
            self._automaton.setText(f"{size} · compiled in {drawn.compile_ms:.1f} ms")

    def show_view(self, view: DecodeView, drawn: Drawn | None, live: frozenset[int]) -> None:
        """Tell what may come next."""
        position = view.position
        if position is None:
            self._allowed.clear()
            self._eos.clear()
            return
        counts = f"{position.allowed:,} of {position.vocabulary_size:,} allowed"
        self._allowed.setText(f"{counts} · Z {_percent(position.z)} · mask {position.mask_us:,.0f} µs")
        self._eos.setText(_end(position, drawn, live))

    def show_activity(self, text: str, done: int, total: int | None) -> None:
        """Tell what the background does; an empty text hides it."""
        for widget in (self._job, self._bar, self._cancel):
            widget.setVisible(bool(text))
        amount = ""
        if total is not None and total > _BYTES_FROM:
            amount = f" · {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
        elif total:
            amount = f" · {done:,} of {total:,}"
        self._job.setText(text + amount)
        # Qt counts in 32 bits, and a model may have more bytes than that.
        self._bar.setRange(0, 1000 if total else 0)
        self._bar.setValue(round(1000 * min(done / total, 1)) if total else 0)


def _size(drawn: Drawn) -> str:
    """How large an automaton is: as it is drawn, and as it is."""
    if drawn.rules is not None:
        return f"{_count(len(drawn.rules.names), 'rule')} · {_count(drawn.rules.size, 'state')}"
    if not drawn.is_whole:
        return drawn.too_large.partition(":")[0]
    states, edges = len(drawn.dfa.states), len(drawn.dfa.edges)
    if drawn.fold is None:
        return f"{_count(states, 'state')} · {_count(edges, 'edge')}"
    outer = _count(states - len(drawn.fold.inner), "state")
    return f"{outer} ({states:,} over bytes) · {_count(len(drawn.fold.edges), 'edge')}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{share:.1%}"


def _expected(drawn: Drawn | None, live: frozenset[int]) -> str:
    if drawn is None or len(live) != 1:
        return ""
    (state,) = live
    ranges = {pair for edge in drawn.dfa.edges if edge.source == state for pair in edge.ranges}
    return characters(tuple(sorted(ranges))) if ranges else ""


def _end(position: Position, drawn: Drawn | None, live: frozenset[int]) -> str:
    if position.finish is not None:
        return f"Ended: {position.finish}"
    if position.accepting:
        return "The text matches: it may end here" if position.eos is EosState.ALLOWED else "The text matches"
    expected = _expected(drawn, live)
    shown = expected if len(expected) <= 48 else expected[:47] + "…"
    return f"No end yet, expects {shown}" if shown else "No end yet"
