"""The timeline: measurements of every step of the shown path.

The strips share one axis of steps: the allowed mass Z, the entropy of the model, the number of allowed tokens, the
divergence that the mask causes, the times of mask and model, and the stacks of llama.cpp, which are counted only while
the timeline is visible. A band shows the zones. Marks above the strips show forced steps, illegal ones, and the worst.
Steps after the current one are pale, what is not known is a gap, and what is known within bounds is hatched between
them. A click or an arrow key goes to a step; one button goes to the step at which the grammar removed most of the
model's mass. Where the strips do not fit, they scroll.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QScrollBar,
    QSizePolicy,
    QStackedWidget,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import duration, percent, percent_between, token_text
from app.theme.buttons import tool_button
from app.theme.labels import Label, plain_text
from app.widgets.accessibility import announce
from app.widgets.deferred_import import PLOTS, DeferredImport
from app.widgets.throttle import Throttle
from app.widgets.token_paint import mix, tabular
from engine.decoding.values import Bounds, Step, StepOrigin, Trace, price_of

Role = theme.Role
_BARS_UP_TO = 400  # steps; more are narrower than a pixel, and drawn as a curve
_MIN_STRIP_HEIGHT = 22  # pixels
_TICKS_FROM = 40  # pixels: in a strip of this height, its scale has several ticks
_MOST_STEP_TICKS = 12
_BAND_HEIGHT = 14  # pixels, of the zones
_AROUND_TICKS = 5  # pixels, above and below a line of text
_TICK_CHARACTERS = 9  # the width of a scale
_PALE = 0.35
_MIN_BAR_HEIGHT = 0.03  # of a strip's height: the minimum height of a known value
_FREE_TEXT = -1  # the zone of a step


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One strip: the value of each step, its text, and its scale.

    Attributes:
        id: the name of its texts in the catalogue.
        value: the value of a step with a number of stacks; None if unknown.
        text: a value in words.
        role: its colour.
        least_top: the smallest end of its scale.
        is_logarithmic: whether the scale is logarithmic.
        bounds: returns the bounds of an unknown value, or None; None if there never are any.
        unit: the unit of its ticks, if these are plain numbers.
    """

    id: str
    value: Callable[[Step, int | None], float | None]
    text: Callable[[float], str]
    role: Role
    least_top: float
    is_logarithmic: bool = False
    bounds: Callable[[Step], Bounds | None] | None = None
    unit: str = ""

    @property
    def name(self) -> str:
        """Return what it shows."""
        return ui_text(f"common.measure.{self.id}.name")

    @property
    def tip(self) -> str:
        """Return what it shows, in a sentence."""
        return ui_text(f"common.measure.{self.id}.tip")

    def height(self, value: float) -> float:
        """Return the height of a value on the scale."""
        return math.log10(1 + value) if self.is_logarithmic else value

    def all_bounds(self, steps: Sequence[Step]) -> dict[int, Bounds]:
        """Return the bounds of the unknown values of some steps, by their indices."""
        if self.bounds is None:
            return {}
        return {index: found for index, step in enumerate(steps) if (found := self.bounds(step)) is not None}

    def exact_text(self, value: float) -> str:
        """Return a value in words, with as many digits as say more."""
        text = self.text(value)
        return f"{text} ({value:.6g})" if not self.is_logarithmic and math.isfinite(value) else text

    def bounds_text(self, bounds: Bounds) -> str:
        """Return the bounds of a value in words."""
        if self.unit:
            return ui_text("timeline.fragment.between", low=self.text(bounds.low), high=self.text(bounds.high))
        return percent_between(*bounds)

    def ticks(self, top: float, height: float) -> list[tuple[float, str]]:
        """Return the ticks of its scale, from 0 to 1, each with its text.

        Args:
            top: the end of the scale, as `height` returns it.
            height: of the strip, in pixels.
        """
        last = 10**top - 1 if self.is_logarithmic else top
        if height < _TICKS_FROM:
            return [(0.5, self._tick(last))]
        if not self.is_logarithmic:
            return [(share, self._tick(share * last)) for share in (0.0, 0.5, 1.0)]
        decades = [10.0**power for power in range(math.floor(math.log10(last)) + 1)] if last >= 1 else []
        spread = max(1, math.ceil(len(decades) / max(1, height // _MIN_STRIP_HEIGHT)))
        return [(0.0, self._tick(0)), *((self.height(value) / top, self._tick(value)) for value in decades[::-spread])]

    def _tick(self, value: float) -> str:
        return f"{value:.3g}" if self.unit else self.text(value)


def _of_the_model(value: Callable[[Step], float | None]) -> Callable[[Step, int | None], float | None]:
    """Restrict a value to steps at which the model was called."""
    return lambda step, _stacks: value(step) if step.was_queried else None


def _count(value: float) -> str:
    return f"{round(value):,}"


def _nats(value: float) -> str:
    return ui_text("common.measure.nats", value=value) if math.isfinite(value) else "∞"


def _divergence_bounds(step: Step) -> Bounds | None:
    bounds = step.z_bounds
    return None if bounds is None else Bounds(price_of(bounds.high), price_of(bounds.low))


ROWS = (
    TimelineRow(
        "z",
        _of_the_model(lambda step: step.z),
        percent,
        Role.BAR_MASKED,
        1.0,
        bounds=lambda step: step.z_bounds,
    ),
    TimelineRow(
        "entropy",
        _of_the_model(lambda step: step.entropy),
        _nats,
        Role.HINT,
        0.5,
        unit=ui_text("timeline.fragment.nats"),
    ),
    TimelineRow(
        "allowed",
        lambda step, _stacks: float(step.allowed),
        _count,
        Role.ACCENT,
        10.0,
        is_logarithmic=True,
    ),
    TimelineRow(
        "kl",
        _of_the_model(lambda step: None if step.z is None else price_of(step.z)),
        _nats,
        Role.WARNING,
        0.5,
        bounds=_divergence_bounds,
        unit=ui_text("timeline.fragment.nats"),
    ),
    TimelineRow(
        "mask",
        lambda step, _stacks: step.mask_us,
        lambda value: duration(value / 1e6),
        Role.LIVE,
        10.0,
        is_logarithmic=True,
    ),
    TimelineRow(
        "model",
        lambda step, _stacks: None if step.logits_ms is None else step.logits_ms * 1e3,
        lambda value: duration(value / 1e6),
        Role.FORCED,
        1_000.0,
        is_logarithmic=True,
    ),
    TimelineRow(
        "stacks",
        lambda _step, stacks: stacks,
        _count,
        Role.TARGET,
        48.0,  # `MANY_STACKS` of the cost of a grammar, which is slow from there: a full bar
        is_logarithmic=True,
    ),
)


ZONES: Mapping[str, tuple[Role, float, Qt.BrushStyle]] = {
    "free": (Role.MUTED, 0.4, Qt.BrushStyle.SolidPattern),
    "thinking": (Role.FORCED, 0.8, Qt.BrushStyle.Dense4Pattern),
    "constrained": (Role.ALLOWED, 1.0, Qt.BrushStyle.SolidPattern),
}
"""The kinds of zones: colour, height and pattern in the band."""


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """Return the steps of the shown path."""
    nodes = {node.id: node.step for node in trace.nodes}
    return tuple(nodes[node_id] for node_id in trace.path)


def values_of(
    row: TimelineRow, steps: tuple[Step, ...], illegal: frozenset[int], stacks: tuple[int | None, ...]
) -> list[float | None]:
    """Return the values of a strip; None for an unknown one.

    Args:
        row: the strip.
        steps: the steps of the shown path.
        illegal: the indices of the illegal steps. After one that the user did not force, nothing is known of steps that
            were not generated.
        stacks: the stacks after each step; None if unknown. It may be shorter.
    """
    broken = min((index for index in illegal if steps[index].origin != StepOrigin.FORCED_BY_USER), default=len(steps))
    return [
        None if index > broken and not step.was_queried else row.value(step, count)
        for index, (step, count) in enumerate(zip(steps, (*stacks, *[None] * len(steps)), strict=False))
    ]


def worst_of(steps: tuple[Step, ...]) -> int | None:
    """Return the index of the step at which the grammar removed most of the model's mass; None without any."""
    ranges = ((step.z_range, index) for index, step in enumerate(steps))
    # Of an unknown mass, it counts what it is at most: the worst step is one whose mass is certainly that small.
    masses = [(z.high, index) for z, index in ranges if z is not None]
    return min(masses)[1] if masses else None


class TimelinePane(QFrame):
    """Draws the steps of a trace.

    Signals:
        node_clicked(step id): go to right after this step.
        before_wanted(step id or None): go to right after a step, or to the beginning.
        stacks_wanted(): steps are visible whose stacks may be unknown.
    """

    node_clicked = Signal(int)
    before_wanted = Signal(object)
    stacks_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(ui_text("timeline.name"))
        self._trace, self._ended = Trace(), ""
        self._steps: tuple[Step, ...] = ()
        self._stacks: tuple[int | None, ...] = ()
        self._parted: Mapping[int, str] = {}
        self._free_zones: frozenset[int] = frozenset()
        self._is_read = False
        self._plot: TimelinePlot | None = None
        self._library = DeferredImport(PLOTS, self)
        self._library.ready.connect(self._draw)
        self._library.failed.connect(self._show_failure)
        self._draw_throttle = Throttle(self._draw, self)
        self.facts = Label()
        self.facts.setProperty("role", "muted")
        self.legend = Label(is_html=True)
        self.legend.setProperty("role", "muted")
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.worst = tool_button(
            ui_text("timeline.worst"), ui_text("timeline.worst_tip"), role="outlined", clicked=self.go_to_worst
        )
        self._empty = Label(ui_text("timeline.empty"))
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._scroll = QScrollArea(widgetResizable=True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._pages.addWidget(self._scroll)
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(bar)
        bar.setSpacing(theme.SPACE_M)
        bar.addWidget(self.facts)
        bar.addWidget(self.legend, 1)
        bar.addStretch(0)
        bar.addWidget(self.worst)
        layout.addWidget(self._pages, 1)
        self._bar, self._column = bar, layout
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

    def show_stacks(self, counts: tuple[int | None, ...]) -> None:
        """Show the stacks of llama.cpp after each step, in a strip of their own; without any there is no strip."""
        if counts != self._stacks:
            self._stacks = counts
            self._draw_soon()

    def show_parted(self, parted: Mapping[int, str]) -> None:
        """Mark the steps at which the masks of engines differ: how they do, by the index of the step."""
        if parted != self._parted:
            self._parted = parted
            self._draw_soon()

    def show_free_zones(self, zones: frozenset[int]) -> None:
        """Set which zones have no grammar: the text of these is free up to their ends."""
        if zones != self._free_zones:
            self._free_zones = zones
            self._draw_soon()

    @property
    def rows(self) -> tuple[TimelineRow, ...]:
        """Return the strips; that of the stacks is the last."""
        return ROWS if self._stacks else ROWS[:-1]

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
            self.legend.setText("")
        if not self._steps:
            self._empty.setText(ui_text("timeline.empty"))
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
        """Request the position before the worst step, where its distribution is."""
        self._read()
        worst = worst_of(self._steps)
        if worst is not None:
            self.before_wanted.emit(self._trace.path[worst - 1] if worst else None)

    def _summary(self, worst: int | None) -> str:
        if not self._steps:
            return ""
        forced = sum(step.forced for step in self._steps)
        parts = [ui_text("common.count.steps", count=len(self._steps)), ui_text("timeline.forced", total=forced)]
        if worst is not None:
            step = self._steps[worst]
            token = token_text(step.token, step.name, step.token_id)
            mass = percent(None) if step.z_range is None else percent_between(*step.z_range)
            parts.append(ui_text("timeline.fragment.worst", step=worst + 1, token=token, mass=mass))
        if self._ended:
            parts.append(self._ended)
        return " · ".join(parts)

    def _draw_soon(self) -> None:
        if self._trace.path and self.isVisible():
            self._draw_throttle.request()

    def _draw(self) -> None:
        if not self._trace.path or not self.isVisible():
            return
        self._read()
        if not self._library.is_ready:
            if not self._library.has_failed:
                self._empty.setText(ui_text("common.drawing.preparing"))
                self._library.begin()
            return
        if self._plot is None:
            self._plot = TimelinePlot()
            self._plot.widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._plot.clicks.stepped.connect(self._go)
            self._plot.clicks.tip_of = self.tip_of
            self._plot.clicks.scroll_bar = self._scroll.verticalScrollBar()
            self._scroll.setWidget(self._plot.widget)
        self.stacks_wanted.emit()
        zones = [self._zone_of(step) for step in self._steps]
        self._plot.fit(self._pages.height(), len(self.rows), has_zones=any(zones))
        illegal = frozenset(self._illegal())
        parted = sorted(index for index in self._parted if index < len(self._steps))
        self._plot.draw(self._steps, self.current, worst_of(self._steps), illegal, self._stacks, parted)
        self._plot.draw_zones(zones)
        legend = self._legend(illegal, parted, zones)
        parts = (
            f'<span style="color: {theme.colour(role).name()}">{sign}</span> {escape(text)}'
            for sign, role, text in legend
        )
        self.legend.setText(" &nbsp; ".join(parts))
        self.legend.setToolTip(plain_text("\n".join(f"{sign} {text}" for sign, _, text in legend)))
        self._place_legend()
        self._pages.setCurrentIndex(1)

    def _place_legend(self) -> None:
        """Show the legend beside the facts, or below them where it would be cut."""
        widths = (widget.sizeHint().width() for widget in (self.facts, self.legend, self.worst))
        fits = sum(widths) + 4 * theme.SPACE_M <= self.width()
        if fits != (self._bar.indexOf(self.legend) >= 0):
            self.legend.setContentsMargins(0 if fits else theme.SPACE_S, 0, 0, 0)
            (self._column if fits else self._bar).removeWidget(self.legend)
            if fits:
                self._bar.insertWidget(1, self.legend, 1)
            else:
                self._column.insertWidget(1, self.legend)

    def _zone_of(self, step: Step) -> str:
        """Return the kind of zone that a step begins in: a key of `ZONES`; empty without zones."""
        if step.zone is None:
            return ""
        if step.zone == _FREE_TEXT:
            return "free"
        return "thinking" if step.zone in self._free_zones else "constrained"

    def _legend(
        self, illegal: frozenset[int], parted: Sequence[int], zones: Sequence[str]
    ) -> list[tuple[str, Role, str]]:
        """Return the other signs that occur, with their colours and what they mean."""
        plot = self._plot
        assert plot is not None
        is_ahead = (-1 if self.current is None else self.current) < len(self._steps) - 1
        marks = (
            (bool(illegal), "✕", Role.ERROR, "illegal"),
            (bool(parted), "◆", Role.WARNING, "parted"),
            (is_ahead, "░", Role.MUTED, "ahead"),
            (plot.has_bounds, "▒", Role.MUTED, "bounds"),
            (plot.has_gaps, "∅", Role.MUTED, "unknown"),
            *((kind in zones, "■", role, kind) for kind, (role, _, _) in ZONES.items()),
        )
        return [(sign, role, _meaning(name)) for occurs, sign, role, name in marks if occurs]

    def _show_failure(self, reason: str) -> None:
        self._empty.setText(ui_text("common.drawing.failed", reason=reason))

    def _illegal(self) -> list[int]:
        return [index for index, node in enumerate(self._trace.path) if node in self._trace.illegal]

    def tip_of(self, index: int) -> str:
        """Return the tool tip of a step: its values, and how it came about."""
        if not 0 <= index < len(self._steps):
            return ""
        step = self._steps[index]
        token = token_text(step.token, step.name, step.token_id)
        lines = [ui_text("timeline.step", step=index + 1, token=token)]
        illegal = frozenset(self._illegal())
        known = {row.name: values_of(row, self._steps, illegal, self._stacks)[index] for row in self.rows}
        lines += [f"{row.name} {row.exact_text(value)}" for row in self.rows if (value := known[row.name]) is not None]
        bounds = {row.name: row.bounds_text(found) for row in self.rows for found in row.all_bounds([step]).values()}
        lines += [f"{name} {text}" for name, text in bounds.items()]
        if zone := self._zone_of(step):
            lines.append(ui_text("timeline.zone", zone=_meaning(zone)))
        if unknown := [name for name, value in known.items() if value is None and name not in bounds]:
            lines.append(f"{', '.join(unknown)}: {ui_text('timeline.fragment.unknown')}")
        if index in self._parted:
            lines.append(f"◆ {self._parted[index]}")
        if step.forced:
            lines.append(ui_text("common.step.forced"))
        if step.origin not in (StepOrigin.SAMPLER, StepOrigin.USER):
            lines.append(ui_text(f"common.step.{StepOrigin(step.origin).name.lower()}"))
        return "\n".join([*lines, ui_text("timeline.click")])

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
        if event.key() == Qt.Key.Key_W:
            self.go_to_worst()
            return
        self._read()
        current, last = -1 if self.current is None else self.current, len(self._steps) - 1
        to = {
            Qt.Key.Key_Left: max(current - 1, 0),
            Qt.Key.Key_Right: min(current + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }.get(Qt.Key(event.key()), -1)
        if to < 0:
            super().keyPressEvent(event)
        elif to != current:
            self._go(to)
            announce(self, self.tip_of(to))


def _meaning(name: str) -> str:
    """Return what a sign or a kind of zone means."""
    return ui_text(f"timeline.legend.fragment.{name}")


class Clicks(QObject):
    """The step under the pointer, and the clicked one.

    Signals:
        stepped(index): a step was clicked.
    """

    stepped = Signal(int)

    def __init__(self, index_at: Callable[[QPointF], int], parent: QObject) -> None:
        super().__init__(parent)
        self._index_at = index_at
        self.tip_of: Callable[[int], str] = lambda _index: ""
        self.scroll_bar: QScrollBar | None = None  # of the area around the plot

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle clicks and mouse moves before the plot does, and leave the wheel to the scroll area around it."""
        if isinstance(event, QWheelEvent):
            return self.scroll_bar is not None and QCoreApplication.sendEvent(self.scroll_bar, event)
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseButtonRelease and event.button() is Qt.MouseButton.LeftButton:
            self.stepped.emit(self._index_at(event.position()))
            return True
        if event.type() == QEvent.Type.MouseMove:
            tip = self.tip_of(self._index_at(event.position()))
            QToolTip.showText(event.globalPosition().toPoint(), plain_text(tip))
        return False


class TimelinePlot:
    """The strips, drawn by pyqtgraph.

    Strips are compared with each other, so they share the axis of steps above them; each has its own scale at its side.
    Rejected: one plot with four axes, which is unreadable; and curves only, since a single step is then a point that
    cannot be clicked.

    Attributes:
        strips: the plot of each strip, from top to bottom.
        tops: the end of the scale of each strip.
        shown: the number of visible strips.
        has_bounds, has_gaps: whether a value that was drawn is known within bounds only, or not at all.
        axis: the axis of steps.
        band: the plot of the zones.
    """

    def __init__(self) -> None:
        import pyqtgraph

        self._library: Any = pyqtgraph
        self.widget: Any = pyqtgraph.GraphicsLayoutWidget()
        self.widget.setFrameShape(QFrame.Shape.NoFrame)
        self.widget.setAccessibleName(ui_text("timeline.plot"))
        self.widget.ci.setContentsMargins(0, 0, theme.SPACE_S, 0)
        self.widget.ci.setSpacing(2)
        self.tops: tuple[float, ...] = ()
        self.shown = len(ROWS)
        self.has_bounds = self.has_gaps = False
        self._strip_height = _MIN_STRIP_HEIGHT
        self._side_styles: dict[int, tuple[object, ...]] = {}  # how the side of each strip is drawn
        self._names: list[Any] = []
        self.strips: list[Any] = []
        for number, row in enumerate(ROWS):
            item = self._add_plot(number, f"{row.name}, {row.unit}" if row.unit else row.name)
            item.setToolTip(plain_text(row.tip))
            self.strips.append(item)
        self.strips[0].showAxis("top")
        self.axis = self.strips[0].getAxis("top")
        self.axis.setStyle(tickLength=3, tickTextOffset=2, hideOverlappingLabels=False)
        self.widget.ci.layout.setAlignment(self._names[0], Qt.AlignmentFlag.AlignBottom)  # below the axis
        self.band = self._add_plot(len(ROWS), ui_text("timeline.zones"))
        self.band.setXLink(self.strips[0])
        self.clicks = Clicks(self.index_at, self.widget)
        self.widget.viewport().installEventFilter(self.clicks)
        self.widget.viewport().setMouseTracking(True)

    def _add_plot(self, row: int, name: str) -> Any:
        self._names.append(self.widget.addLabel(name, row=row, col=0, justify="right"))
        item = self.widget.addPlot(row=row, col=1)
        item.setMenuEnabled(False)
        item.hideButtons()
        item.setMouseEnabled(x=False, y=False)
        item.hideAxis("bottom")
        axis = item.getAxis("left")
        axis.setStyle(tickLength=3, tickTextOffset=theme.SPACE_XS)
        return item

    def side_text(self, number: int) -> str:
        """Return the name and the end of the scale at the side of a strip."""
        name, scale = self._side_styles[number][1:3]
        return f"{name}   {scale}"

    def index_at(self, position: QPointF) -> int:
        """Return the step at a position of the widget; -1 if there is none."""
        view = self.strips[0].getViewBox()
        x = view.mapSceneToView(self.widget.mapToScene(position.toPoint())).x()
        left = view.mapViewToScene(QPointF(-0.5, 0)).x()
        return -1 if self.widget.mapToScene(position.toPoint()).x() < left else math.floor(x + 0.5)

    def fit(self, height: int, rows: int, *, has_zones: bool) -> None:
        """Show the first strips, in a height that they need at least.

        Args:
            height: the visible height, in pixels.
            rows: how many strips there are.
            has_zones: whether to show the band of zones.
        """
        self.shown = rows
        line = round(QFontMetricsF(theme.ui_font(-1.5)).height())
        axis_height = line + _AROUND_TICKS
        rest = axis_height + has_zones * _BAND_HEIGHT + (rows + 1) * 2
        self._strip_height = max(_MIN_STRIP_HEIGHT, line + _AROUND_TICKS, (height - rest) // rows)
        self.axis.setHeight(axis_height)
        self.widget.setMinimumHeight(rest + rows * self._strip_height)
        for number, item in enumerate(self.strips):
            self._show_row(number, item, (number < rows) * self._strip_height + (number == 0) * axis_height)
        self._names[0].setMaximumHeight(self._strip_height)
        self._show_row(len(self.strips), self.band, has_zones * _BAND_HEIGHT)

    def _show_row(self, row: int, item: Any, height: int) -> None:
        item.setVisible(height > 0)
        self._names[row].setVisible(height > 0)
        self.widget.ci.layout.setRowFixedHeight(row, height)

    def draw(
        self,
        steps: tuple[Step, ...],
        current: int | None,
        worst: int | None,
        illegal: frozenset[int],
        stacks: tuple[int | None, ...],
        parted: Sequence[int] = (),
    ) -> None:
        """Draw steps.

        Args:
            steps: the steps of the shown path.
            current: the index of the step that was taken last; None before the first.
            worst: the index of the worst step, if any.
            illegal: the indices of the illegal steps.
            stacks: as in `values_of`.
            parted: the indices of the steps at which the masks of engines differ.
        """
        self.widget.setBackground(theme.colour(Role.PANEL))
        last = -1 if current is None else current
        tops = []
        self.has_bounds = self.has_gaps = False
        for number, (row, item) in enumerate(zip(ROWS[: self.shown], self.strips, strict=False)):
            item.clear()
            values = values_of(row, steps, illegal, stacks)
            open_ones = row.all_bounds(steps)
            known = [value for value in values if value is not None]
            self.has_bounds |= bool(open_ones)
            self.has_gaps |= len(known) + len(open_ones) < len(steps)
            known += (end for ends in open_ones.values() for end in ends)
            top = row.height(max(row.least_top, *filter(math.isfinite, known), 0.0))
            tops.append(top)
            heights = [None if value is None else min(row.height(value) / top, 1.0) for value in values]
            self._mark_current(item, last)
            if len(steps) <= _BARS_UP_TO:
                spans = {at: (min(low / top, 1.0), min(high / top, 1.0)) for at, (low, high) in open_ones.items()}
                self._draw_bounds(item, row, spans)
            self._draw_values(item, row, heights, last)
            self._show_scale(number, item, row, top if known else None, len(steps))
        self._mark(steps, worst, illegal, parted)
        self._show_axis(len(steps))
        self.tops = tuple(tops)

    def draw_zones(self, zones: Sequence[str]) -> None:
        """Draw the kind of zone of each step in a band; kinds differ in height and hatching, too."""
        self.band.clear()
        for kind, (role, height, pattern) in ZONES.items():
            indices = [index for index, zone in enumerate(zones) if zone == kind]
            if indices:
                bars = self._bars(indices, [height] * len(indices), QBrush(theme.colour(role), pattern), 1.0)
                self.band.addItem(bars)
        self.band.getViewBox().setYRange(0, 1, padding=0)
        axis = self.band.getAxis("left")
        axis.setTicks([[]])
        axis.setPen(theme.colour(Role.BORDER))

    def _show_axis(self, steps: int) -> None:
        """Draw the numbers of steps, from 1."""
        self.axis.setTickFont(theme.ui_font(-1.5))
        self.axis.setPen(theme.colour(Role.BORDER))
        self.axis.setTextPen(theme.colour(Role.MUTED))
        self.axis.setTicks([self.step_ticks(steps)])

    @staticmethod
    def step_ticks(steps: int) -> list[tuple[int, str]]:
        """Return the ticks of the axis of steps: indices, and their numbers from 1."""
        spreads = (digit * 10**power for power in range(12) for digit in (1, 2, 5))
        spread = next(spread for spread in spreads if steps <= spread * _MOST_STEP_TICKS)
        numbers = dict.fromkeys((1, *range(spread, steps + 1, spread)))
        numbers.pop(2, None)  # the first number needs its room
        first, *others = ((number - 1, f"{number:,}") for number in numbers)
        return [(first[0], ui_text("timeline.fragment.first", number=first[1])), *others]

    def _draw_values(self, item: Any, row: TimelineRow, heights: list[float | None], last: int) -> None:
        """Draw the known values; an unknown one leaves a gap, and the smallest one stays visible."""
        colour = theme.colour(row.role)
        pale = mix(theme.colour(Role.PANEL), colour, _PALE)
        taken, ahead = range(last + 1), range(last + 1, len(heights))
        for indices, shade in ((taken, colour), (ahead, pale)):
            known = [
                (index, max(height, _MIN_BAR_HEIGHT)) for index in indices if (height := heights[index]) is not None
            ]
            if not known:
                continue
            if len(heights) > _BARS_UP_TO:
                drawn = heights[indices[0] : indices[-1] + 1]
                values = [0.0 if height is None else max(height, _MIN_BAR_HEIGHT) for height in drawn]
                x = [index - 0.5 for index in indices] + [indices[-1] + 0.5]
                curve = self._library.PlotCurveItem(
                    x, values, stepMode="center", fillLevel=0, brush=shade, pen=None, skipFiniteCheck=True
                )
                item.addItem(curve)
            else:
                item.addItem(self._bars([index for index, _ in known], [height for _, height in known], shade))

    def _draw_bounds(self, item: Any, row: TimelineRow, bounds: dict[int, tuple[float, float]]) -> None:
        """Draw unknown values: what they are at least is solid, and up to what they are at most is hatched."""
        if not bounds:
            return
        indices, colour = list(bounds), theme.colour(row.role)
        item.addItem(self._bars(indices, [low for low, _ in bounds.values()], colour))
        hatching = QBrush(colour, Qt.BrushStyle.Dense4Pattern)
        heights = [max(high, _MIN_BAR_HEIGHT) for _, high in bounds.values()]
        item.addItem(self._bars(indices, heights, hatching))

    def _bars(self, indices: list[int], heights: list[float], colour: QColor | QBrush, width: float = 0.8) -> Any:
        return self._library.BarGraphItem(x=indices, y0=0, height=heights, width=width, pen=None, brush=colour)

    def _mark_current(self, item: Any, last: int) -> None:
        if last >= 0:
            line = theme.colour(Role.SELECTION)
            item.addItem(self._library.BarGraphItem(x=[last], y0=0, height=[1.3], width=1.0, pen=None, brush=line))

    def _mark(self, steps: tuple[Step, ...], worst: int | None, illegal: frozenset[int], parted: Sequence[int]) -> None:
        """Draw the marks above the first strip: forced, illegal, the worst one; and around them, different masks."""
        if parted:
            outline = self._library.mkPen(theme.colour(Role.WARNING), width=1.6)
            points = self._library.ScatterPlotItem(
                x=list(parted), y=[1.05] * len(parted), symbol="d", size=10, pen=outline, brush=None
            )
            self.strips[0].addItem(points)
        forced = [index for index, step in enumerate(steps) if step.forced and index not in {*illegal, worst}]
        for indices, symbol, role in (
            (forced, "t1", Role.FORCED),
            (sorted(illegal), "x", Role.ERROR),
            ([] if worst is None else [worst], "t", Role.WARNING),
        ):
            if indices:
                colour = theme.colour(role)
                points = self._library.ScatterPlotItem(
                    x=indices, y=[1.17] * len(indices), symbol=symbol, size=8, pen=None, brush=colour
                )
                self.strips[0].addItem(points)

    def _show_scale(self, number: int, item: Any, row: TimelineRow, top: float | None, steps: int) -> None:
        """Draw the scale if it changed: redrawing a side costs as much as its bars.

        Args:
            number: the number of the strip.
            item: its plot.
            row: what it shows.
            top: the end of its scale; None if no value is known.
            steps: the number of steps.
        """
        unknown = ui_text("timeline.fragment.unknown")
        scale = unknown if top is None else row.text(10**top - 1 if row.is_logarithmic else top)
        # A few steps must not fill the whole width, or their bars would be too wide.
        font, width = theme.ui_font(-1.5), max(steps, 24)
        style = theme.look(), row.name, scale, width, self._strip_height, font.pointSizeF()
        if self._side_styles.get(number) == style:
            return
        self._side_styles[number] = style
        axis = item.getAxis("left")
        axis.setWidth(QFontMetricsF(font).horizontalAdvance("0" * _TICK_CHARACTERS))
        axis.setTickFont(font)
        axis.setPen(theme.colour(Role.BORDER))
        axis.setTextPen(theme.colour(Role.MUTED))
        axis.setTicks([[(0.5, unknown)] if top is None else row.ticks(top, self._strip_height)])
        for place in (number, len(ROWS)):
            label = self._names[place]
            label.setText(label.text, color=theme.colour(Role.MUTED).name(), size=f"{font.pointSizeF()}pt")
        item.getViewBox().setRange(xRange=(-0.5, width - 0.5), yRange=(0, 1.3 if number == 0 else 1.05), padding=0)
