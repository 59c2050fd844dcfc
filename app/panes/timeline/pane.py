"""The timeline: measurements of every step of the shown path.

Four strips share one scale of steps: the allowed mass Z, the entropy of the model, the number of allowed tokens, and
the time of the mask. Marks above them show forced steps, illegal ones, and the worst. Steps after the current one are
pale. A click or an arrow key goes to a step; one button goes to the step at which the grammar removed most of the
model's mass.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.display_text import count, percent, token_text
from app.panes.timeline.plot import TimelinePlot
from app.panes.timeline.rows import ROWS, UNKNOWN, steps_of, values_of, worst_of
from app.theme.buttons import tool_button
from app.theme.labels import Label
from app.widgets.deferred_import import PLOTS, DeferredImport
from app.widgets.throttle import Throttle
from app.widgets.token_paint import tabular
from engine.decoding.values import Step, StepOrigin, Trace

_EMPTY = "Every step is drawn here as it is taken: allowed mass, entropy, allowed tokens and the time of the mask."
_PREPARING = "Preparing the drawing…"
_FAILED = "The timeline cannot be drawn: the library pyqtgraph does not load ({}). Install Turnstile again."


class TimelinePane(QFrame):
    """Draws the steps of a trace.

    Signals:
        node_clicked(step id): go to right after this step.
    """

    node_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline")
        self._trace, self._ended = Trace(), ""
        self._steps: tuple[Step, ...] = ()
        self._is_read = False
        self._plot: TimelinePlot | None = None
        self._library = DeferredImport(PLOTS, self)
        self._library.ready.connect(self._draw)
        self._library.failed.connect(self._show_failure)
        self._draw_throttle = Throttle(self._draw, self)
        self.facts = Label()
        self.facts.setProperty("role", "muted")
        self.worst = tool_button(
            "Worst step", "Go to the step at which the grammar took most from the model (W)", role="outlined"
        )
        self._empty = Label(_EMPTY)
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(bar)
        bar.addWidget(self.facts, 1)
        bar.addWidget(self.worst)
        layout.addWidget(self._pages, 1)
        self.worst.clicked.connect(self.go_to_worst)
        theme.themes.changed.connect(self._draw_soon)
        self.show_trace(Trace())

    def show_trace(self, trace: Trace, ended: str = "") -> None:
        """Show the path of a trace; a hidden timeline does not even read it.

        Args:
            trace: the steps.
            ended: how the generation ended; empty while it has not.
        """
        was_empty, self._trace, self._ended, self._is_read = not self._trace.path, trace, ended, False
        if was_empty or not trace.path:
            self._read()
        self._draw_soon()

    def _read(self) -> None:
        """Read the steps of the path, and summarise them."""
        if self._is_read:
            return
        self._is_read, self._steps = True, steps_of(self._trace)
        worst = worst_of(self._steps)
        self.worst.setVisible(bool(self._steps))
        self.worst.setEnabled(worst is not None)
        self.facts.setText(self._summary(worst))
        self.facts.setFont(tabular(theme.ui_font()))
        self.setAccessibleDescription(self.facts.text())
        if not self._steps:
            self._empty.setText(_EMPTY)
            self._pages.setCurrentIndex(0)

    @property
    def plot(self) -> TimelinePlot | None:
        """Return the plot, once there was something to draw."""
        return self._plot

    @property
    def current(self) -> int | None:
        """Return the index of the step that was taken last; None before the first."""
        trace = self._trace
        return trace.path.index(trace.current) if trace.current in trace.path else None

    def go_to_worst(self) -> None:
        """Go to the step at which the grammar removed most of the model's mass."""
        self._read()
        worst = worst_of(self._steps)
        if worst is not None:
            self._go(worst)

    def _summary(self, worst: int | None) -> str:
        if not self._steps:
            return ""
        forced = sum(step.forced for step in self._steps)
        parts = [count(len(self._steps), "step"), f"{forced:,} forced (▲)"]
        if worst is not None:
            step = self._steps[worst]
            token = token_text(step.token, step.name, step.token_id)
            parts.append(f"worst (▼) is step {worst + 1}, {token}: Z {percent(step.z)}")
        if self._ended:
            parts.append(self._ended)
        return " · ".join(parts)

    def _draw_soon(self) -> None:
        if self._trace.path and self.isVisible():
            self._draw_throttle.ask()

    def _draw(self) -> None:
        if not self._trace.path or not self.isVisible():
            return
        self._read()
        if not self._library.is_ready:
            if not self._library.has_failed:
                self._empty.setText(_PREPARING)
                self._library.begin()
            return
        if self._plot is None:
            self._plot = TimelinePlot()
            self._plot.widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._plot.clicks.stepped.connect(self._go)
            self._plot.clicks.tip_of = self._tip
            self._pages.addWidget(self._plot.widget)
        self._plot.fit(self._pages.height())
        self._plot.draw(self._steps, self.current, worst_of(self._steps), frozenset(self._illegal()))
        self._pages.setCurrentIndex(1)

    def _show_failure(self, reason: str) -> None:
        self._empty.setText(_FAILED.format(reason))

    def _illegal(self) -> list[int]:
        return [index for index, node in enumerate(self._trace.path) if node in self._trace.illegal]

    def _tip(self, index: int) -> str:
        if not 0 <= index < len(self._steps):
            return ""
        step = self._steps[index]
        lines = [f"step {index + 1}: {token_text(step.token, step.name, step.token_id)}"]
        known = {row.name: values_of(row, self._steps, frozenset(self._illegal()))[index] for row in ROWS}
        lines += [f"{row.name} {row.text(value)}" for row in ROWS if (value := known[row.name]) is not None]
        if unknown := [name for name, value in known.items() if value is None]:
            lines.append(f"{', '.join(unknown)}: {UNKNOWN}")
        lines += ["forced: the only token allowed"] if step.forced else []
        lines += ["of an output from elsewhere: no model was asked"] if step.origin == StepOrigin.REPLAYED else []
        lines += (
            ["of a forced run: taken in one go, the model was not asked"]
            if step.origin == StepOrigin.FAST_FORWARDED
            else []
        )
        lines += ["forced by you against the grammar"] if step.origin == StepOrigin.FORCED_BY_USER else []
        return "\n".join([*lines, "Click goes there"])

    def _go(self, index: int) -> None:
        if 0 <= index < len(self._trace.path):
            self.node_clicked.emit(self._trace.path[index])

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what arrived while the pane was hidden."""
        super().showEvent(event)
        self._draw_soon()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the number of strips to the height."""
        super().resizeEvent(event)
        self._draw_soon()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along the steps with the arrows, Home and End; W goes to the worst one."""
        self._read()
        current, last = -1 if self.current is None else self.current, len(self._steps) - 1
        to = {
            Qt.Key.Key_Left: max(current - 1, 0),
            Qt.Key.Key_Right: min(current + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
            Qt.Key.Key_W: worst_of(self._steps),
        }.get(Qt.Key(event.key()), -1)
        if to is None or to < 0:
            super().keyPressEvent(event)
        elif to != current:
            self._go(to)
