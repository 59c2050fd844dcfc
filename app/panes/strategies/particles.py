"""The particles of SMC as a bundle of branches: a row for each particle, a column for each token.

The width of a branch is the particle's share of all weights. Where particles were drawn anew, a branch goes on to those
that continue it, or ends in a cross; the column has a sign above it. A double click or Return opens the text of a
particle up to a column as a trace.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QComboBox, QFrame, QHBoxLayout, QToolTip, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.theme.labels import plain_text
from app.widgets.accessibility import announce, give_role
from app.widgets.elided_label import ElidedLabel
from app.widgets.token_paint import draw_token, mix, tabular, token_colours
from app.workers.requests.strategies import ParticleRun, ParticleStep
from engine.decoding.strategies.decoders import DECODERS
from engine.source.number_format import percent

Role = theme.Role
_MARGIN: Final = 8
_LEAST_ROW: Final = 7  # pixels
_BETWEEN: Final = 44  # pixels between the tokens of two columns
_CHARACTERS: Final = 6  # of a token
_LEAST_LINE, _WIDEST_LINE = 1.0, 9.0
_CROSS: Final = 3.5
_NOWHERE: Final = (-1, -1)
_MOVES: Final = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class ParticleView(QAbstractScrollArea):
    """Paints the particles of one run.

    Signals:
        opened(ids): open the text of a particle, by its tokens.
        selected(text): a particle was selected, with its description.

    Attributes:
        current: the column and the row of the selected particle; -1 for none.
    """

    opened = Signal(tuple)
    selected = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("particles-view")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(ui_text("strategies.particles.name"))
        give_role(self, QAccessible.Role.Table)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._steps: tuple[ParticleStep, ...] = ()
        self._run: ParticleRun | None = None
        self.current = _NOWHERE
        theme.themes.changed.connect(self._measure)
        self._measure()

    def show_run(self, run: ParticleRun | None) -> None:
        """Show the particles of a run; None for none."""
        self._run, self._steps, self.current = run, run.steps if run else (), _NOWHERE
        self._measure()

    def box_of(self, step: int, particle: int) -> QRectF:
        """Return the rectangle of a particle's token in the viewport."""
        left = _MARGIN + step * (self._width + _BETWEEN) - self.horizontalScrollBar().value()
        top = self._head + particle * self._row - self.verticalScrollBar().value()
        return QRectF(left, top, self._width, self._row)

    def at(self, position: QPoint) -> tuple[int, int]:
        """Return the column and the row of the particle at a position in the viewport; -1 for none."""
        step = int((position.x() - _MARGIN + self.horizontalScrollBar().value()) // (self._width + _BETWEEN))
        particle = int((position.y() - self._head + self.verticalScrollBar().value()) // self._row)
        found = 0 <= step < len(self._steps) and 0 <= particle < self._count and position.y() >= self._head
        return (step, particle) if found else _NOWHERE

    @property
    def _count(self) -> int:
        return len(self._steps[0].shares) if self._steps else 0

    def _measure(self) -> None:
        metrics = QFontMetricsF(theme.mono_font())
        self._line = metrics.height()
        self._head = round(QFontMetricsF(theme.ui_font()).height()) + _MARGIN
        room = self.viewport().height() - self._head - _MARGIN
        self._row = min(max(room / max(self._count, 1), _LEAST_ROW), self._line + 2)
        self._shows_tokens = self._row >= self._line - 2
        longest = max((len(token) for step in self._steps for token in step.tokens), default=1)
        characters = min(max(longest, 2), _CHARACTERS) if self._shows_tokens else 2
        self._width = metrics.horizontalAdvance("0") * characters + _MARGIN
        width = 2 * _MARGIN + len(self._steps) * (self._width + _BETWEEN)
        height = self._head + self._count * self._row + _MARGIN
        for bar, size, shown in (
            (self.horizontalScrollBar(), width, self.viewport().width()),
            (self.verticalScrollBar(), height, self.viewport().height()),
        ):
            bar.setRange(0, max(0, round(size) - shown))
            bar.setPageStep(shown)
            bar.setSingleStep(round(self._line))
        self.viewport().update()

    # --- painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the columns in view."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(event.rect(), theme.colour(Role.PANEL))
        on_path = dict(enumerate(self._run.path_of(*self.current))) if self._run and self.current != _NOWHERE else {}
        port = self.viewport().width()
        shown = [
            index
            for index in range(len(self._steps))
            if self.box_of(index, 0).right() + _BETWEEN > 0 and self.box_of(index, 0).left() < port
        ]
        for index in shown:
            self._paint_links(painter, index, on_path)
        for index in shown:
            self._paint_tokens(painter, index, on_path)
        self._paint_heads(painter, shown)
        painter.end()

    def _paint_links(self, painter: QPainter, index: int, on_path: dict[int, int]) -> None:
        """Paint how the particles of a column go on in the next one."""
        step = self._steps[index]
        if index + 1 == len(self._steps):
            return
        continued = step.copied or tuple(range(self._count))
        for after, before in enumerate(continued):
            if self._steps[index + 1].token_ids[after] < 0 and not step.copied:
                continue  # it had ended
            start, end = self.box_of(index, before), self.box_of(index + 1, after)
            is_marked = on_path.get(index + 1) == after
            self._paint_link(painter, start, end, step.shares[before] / continued.count(before), is_marked=is_marked)
        painter.setPen(QPen(theme.colour(Role.ERROR), 1.5))
        for particle in range(self._count):
            if step.copied and particle not in step.copied and step.token_ids[particle] >= 0:
                box = self.box_of(index, particle)
                at = QPointF(box.right() + _CROSS * 2, box.center().y())
                for sign in (-1, 1):
                    painter.drawLine(at - QPointF(_CROSS, sign * _CROSS), at + QPointF(_CROSS, sign * _CROSS))

    def _paint_link(self, painter: QPainter, start: QRectF, end: QRectF, share: float, *, is_marked: bool) -> None:
        first, last = QPointF(start.right(), start.center().y()), QPointF(end.left(), end.center().y())
        bend = QPointF((last.x() - first.x()) / 2, 0)
        path = QPainterPath(first)
        path.cubicTo(first + bend, last - bend, last)
        colour = theme.colour(Role.ACCENT) if is_marked else self._ink(0.55)
        painter.setPen(QPen(colour, self._thickness(share), c=Qt.PenCapStyle.FlatCap))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _thickness(self, share: float) -> float:
        """Return the width of a branch: that of all together has a fixed share of the height."""
        return min(max(_LEAST_LINE, share * self._count * self._row / 3), max(self._row - 2, _LEAST_LINE), _WIDEST_LINE)

    def _ink(self, share: float) -> QColor:
        return mix(theme.colour(Role.PANEL), theme.colour(Role.BAR_MASKED), share)

    def _paint_tokens(self, painter: QPainter, index: int, on_path: dict[int, int]) -> None:
        step = self._steps[index]
        top = max(step.shares, default=0.0)
        painter.setFont(theme.mono_font())
        for particle, token in enumerate(step.tokens):
            if step.token_ids[particle] < 0:
                continue
            box = self.box_of(index, particle).adjusted(0, 0.5, 0, -0.5)
            share = step.shares[particle] / top if top else 0.0
            painter.fillRect(box, self._ink(0.12 + 0.45 * share))
            if (index, particle) == self.current or on_path.get(index) == particle:
                painter.setPen(QPen(theme.colour(Role.ACCENT), 2 if (index, particle) == self.current else 1))
                painter.drawRect(box)
            if self._shows_tokens:
                inner = box.adjusted(_MARGIN / 2, 0, -_MARGIN / 2, 0)
                draw_token(painter, inner, token, token_colours())

    def _paint_heads(self, painter: QPainter, shown: list[int]) -> None:
        """Paint the numbers of the columns, and a sign where particles were drawn anew."""
        painter.fillRect(QRectF(0, 0, self.viewport().width(), self._head - 2), theme.colour(Role.PANEL))
        painter.setFont(tabular(theme.ui_font()))
        for index in shown:
            box = self.box_of(index, 0)
            cell = QRectF(box.left(), 0, box.width(), self._head - 2)
            painter.setPen(theme.colour(Role.MUTED))
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, str(index + 1))
            if self._steps[index].copied:
                painter.setPen(theme.colour(Role.WARNING))
                beside = QRectF(box.right(), 0, _BETWEEN, self._head - 2)
                painter.drawText(beside, Qt.AlignmentFlag.AlignCenter, ui_text("strategies.particles.resampled"))

    # --- pointer and keys --------------------------------------------------------------------------------------------

    def select(self, step: int, particle: int) -> None:
        """Mark a particle with the branch that leads to it, and scroll to it."""
        self.current = step, particle
        box = self.box_of(step, particle).toAlignedRect()
        port = self.viewport().rect()
        for bar, low, high, first, last in (
            (self.horizontalScrollBar(), box.left(), box.right(), _MARGIN, port.width() - _BETWEEN),
            (self.verticalScrollBar(), box.top(), box.bottom(), self._head, port.height()),
        ):
            bar.setValue(bar.value() + min(low - first, 0) + max(high - last, 0))
        self.setAccessibleDescription(self.describe(step, particle))
        self.selected.emit(self.describe(step, particle))
        self.viewport().update()

    def describe(self, step: int, particle: int) -> str:
        """Return what became of a particle: its text, its share, and whether others continue it."""
        run = self._run
        assert run is not None
        one = self._steps[step]
        lines = [
            ui_text(
                "strategies.particles.tip",
                particle=particle + 1,
                step=step + 1,
                text=run.text_of(step, particle),
                share=percent(one.shares[particle]),
            )
        ]
        if one.copied:
            count = one.copied.count(particle)
            lines.append(
                ui_text("strategies.particles.copied", count=count)
                if count
                else ui_text("strategies.particles.dropped")
            )
        return "\n".join(lines)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the particle under the pointer."""
        found = self.at(event.position().toPoint())
        if found != _NOWHERE and event.button() is Qt.MouseButton.LeftButton:
            self.select(*found)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the particle under the pointer."""
        self._open(self.at(event.position().toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to another particle with the arrows; Return opens one."""
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current != _NOWHERE:
            self._open(self.current)
        elif key in _MOVES and self._steps:
            (step, particle), (across, down) = self.current, _MOVES[key]
            if self.current == _NOWHERE:
                step = particle = across = down = 0
            step = min(max(step + across, 0), len(self._steps) - 1)
            self.select(step, min(max(particle + down, 0), self._count - 1))
            announce(self, self.describe(*self.current))
        else:
            super().keyPressEvent(event)

    def _open(self, found: tuple[int, int]) -> None:
        if self._run is not None and found != _NOWHERE:
            self.opened.emit(self._run.ids_of(*found))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the rows to the height."""
        super().resizeEvent(event)
        self._measure()

    def viewportEvent(self, event: QEvent) -> bool:
        """Describe the particle under the pointer in a tool tip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            found = self.at(event.pos())
            tip = "" if found == _NOWHERE else self.describe(*found)
            QToolTip.showText(event.globalPos(), plain_text(tip), self.viewport())
            return True
        return super().viewportEvent(event)


def page_head(*widgets: QWidget) -> QFrame:
    """Return a row of widgets above a page; the last one takes the rest of the width."""
    head = QFrame()
    row = QHBoxLayout(head)
    row.setContentsMargins(0, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
    row.setSpacing(theme.SPACE_S)
    for widget in widgets:
        row.addWidget(widget, int(widget is widgets[-1]))
    return head


class ParticlesPage(QWidget):
    """The particles of the last comparison, of one strategy at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[ParticleRun, ...] = ()
        self.strategy = QComboBox()
        self.strategy.setAccessibleName(ui_text("strategies.particles.strategy"))
        self.summary = ElidedLabel(fills=True)
        self.view = ParticleView()
        self.opened = self.view.opened
        self.head = page_head(self.strategy, self.summary)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.view)
        self.view.selected.connect(self.summary.setText)
        self.strategy.currentIndexChanged.connect(self._show)
        self.show_runs(())

    def show_runs(self, runs: tuple[ParticleRun, ...]) -> None:
        """Show the particles of the first of some runs; the others can be chosen."""
        self._runs = runs
        self.strategy.clear()
        self.strategy.addItems([DECODERS[run.name].title for run in runs])
        self.strategy.setVisible(bool(runs))
        self._show(0)

    def _show(self, index: int) -> None:
        run = self._runs[index] if 0 <= index < len(self._runs) else None
        self.view.show_run(run)
        self.summary.setText(ui_text("strategies.particles.empty") if run is None else _summary(run))


def _summary(run: ParticleRun) -> str:
    return ui_text(
        "strategies.particles.summary",
        particles=len(run.steps[0].shares),
        steps=len(run.steps),
        resampled=sum(bool(step.copied) for step in run.steps),
        effective=run.steps[-1].effective,
    )
