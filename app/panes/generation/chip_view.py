"""The output as chips, painted by one widget.

The background of a chip and the line under it show one value of its token (see `chip_colours`). Chips after the current
step are pale, what the present grammar does not allow is struck through, and a partial character has a dashed frame. A
notch at the corner marks tokens that the tokenizer would not write so. A band joins the tokens of a forced run that was
taken at once.

Only visible chips are painted, and the width of a text is measured once, so an output of thousands of tokens is fast: a
step at 2,000 tokens takes about 10 ms. Rejected: a widget for each chip (2,000 took 0.7 s to create), a graphics item
(0.1 s, at every step that changes the line breaks), and a `QTextDocument`, which cannot draw a line whose length is a
probability.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from app import theme
from app.panes.generation.chip import Chip, ChipKind
from app.panes.generation.chip_colours import ChipColours, colours_of, line_of, share_of
from app.widgets.accessibility import give_role
from app.widgets.token_paint import TokenColours, draw_token, mix

Role = theme.Role
_GAP = 3.0
_PADDING = 5.0
_MARGIN = 2.0
_RADIUS = 4.0
_NOTCH = 4.0


class ChipView(QAbstractScrollArea):
    """Shows chips.

    Signals:
        chip_clicked(chip id): the user clicked a chip, or moved to it with the arrow keys.
        chip_hovered(index): the pointer is on a chip; -1 if it is on none.
    """

    chip_clicked = Signal(int)
    chip_hovered = Signal(int)

    def __init__(self, placeholder: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._placeholder = placeholder
        self._chips: tuple[Chip, ...] = ()
        self._current: int | None = None
        self._hovered: int | None = None
        self._marked = range(0)
        self._colours = ChipColours.PROBABILITY
        self._slowest_ms = 0.0
        self._flow: ChipFlow = flow((), (), 1.0, _GAP)
        self._font = theme.mono_font()
        self._width_of = _measurer(self._font)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else all below is painted, too
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        give_role(self, QAccessible.Role.List)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_chips(self, chips: tuple[Chip, ...], current: int | None) -> None:
        """Show chips; `current` is the index of the one that was taken last."""
        moved = (current, len(chips)) != (self._current, len(self._chips))
        before, highlighted, scrolled = self._chips, {self._current, self._hovered}, self.verticalScrollBar().value()
        self._chips, self._current, self._hovered = chips, current, None
        slowest = max((chip.time_ms for chip in chips if chip.time_ms is not None), default=0.0)
        rescaled = slowest != self._slowest_ms and self._colours is ChipColours.TIME
        self._slowest_ms = slowest
        self._lay_out()
        if moved and chips:
            self._reveal(current if current is not None else 0)
        self.setAccessibleDescription(" ".join(chip.text for chip in chips[-2000:] if not chip.ahead)[-2000:])
        kept = next((i for i, pair in enumerate(zip(before, chips, strict=False)) if pair[0] is not pair[1]), None)
        if kept is None:
            kept = min(len(before), len(chips))
        if rescaled or not kept or self.verticalScrollBar().value() != scrolled:
            self.viewport().update()
        else:
            self._update_from(kept, highlighted | {current})

    def set_colours(self, by: ChipColours) -> None:
        """Set what the colour of chips shows."""
        if by is not self._colours:
            self._colours = by
            self.viewport().update()

    def mark(self, chips: range) -> None:
        """Draw a line above some chips, whose bytes are pointed at elsewhere."""
        for index in {*self._marked, *chips}:
            if index < len(self._chips):
                self.viewport().update(self.rect_of(index).adjusted(-1, -2, 1, 1).toAlignedRect())
        self._marked = chips

    def _update_from(self, first: int, highlighted: set[int | None]) -> None:
        """Repaint the chips from `first` on, and those before it that are, or were, highlighted."""
        port = self.viewport()
        below = self.rect_of(first - 1).toAlignedRect().top()
        port.update(0, below, port.width(), port.height() - below)
        for index in highlighted:
            if index is not None and index < first:
                port.update(self.rect_of(index).toAlignedRect())

    @property
    def chips(self) -> tuple[Chip, ...]:
        """Return the shown chips."""
        return self._chips

    @property
    def current(self) -> int | None:
        """Return the index of the chip that was taken last; None for none."""
        return self._current

    def set_placeholder(self, placeholder: str) -> None:
        """Set the text shown while there are no chips."""
        if placeholder != self._placeholder:
            self._placeholder = placeholder
            self.viewport().update()

    def reveal_chip(self, index: int) -> None:
        """Scroll to a chip."""
        if index < len(self._chips):
            self._reveal(index)

    def rect_of(self, index: int) -> QRectF:
        """Return the rectangle of a chip in the viewport."""
        top = _MARGIN + self._flow.line[index] * self._line_height - self.verticalScrollBar().value()
        return QRectF(_MARGIN + self._flow.left[index], top, self._flow.width[index], self._chip_height)

    @property
    def content_height(self) -> int:
        """Return the height of all lines, in pixels."""
        return round(self._flow.lines * self._line_height + 2 * _MARGIN)

    def _apply_theme(self) -> None:
        self._font = theme.mono_font()
        self._width_of = _measurer(self._font)
        self._chip_height = round(QFontMetricsF(self._font).height()) + 7.0
        self._line_height = self._chip_height + _GAP + 1
        self.viewport().setBackgroundRole(self.backgroundRole())
        self._lay_out()
        self.viewport().update()

    def _lay_out(self) -> None:
        available = max(self.viewport().width() - 2 * _MARGIN, 20.0)
        widths = [self._width_of(chip.text) for chip in self._chips]
        self._flow = flow(widths, [chip.breaks for chip in self._chips], available, _GAP)
        bar = self.verticalScrollBar()
        bar.setSingleStep(round(self._line_height))
        bar.setPageStep(self.viewport().height())
        bar.setRange(0, max(0, self.content_height - self.viewport().height()))

    def _reveal(self, index: int) -> None:
        bar = self.verticalScrollBar()
        box = self.rect_of(index).translated(0, bar.value())
        if box.top() - _MARGIN < bar.value():
            bar.setValue(round(box.top() - _MARGIN))
        elif box.bottom() + _MARGIN > bar.value() + self.viewport().height():
            bar.setValue(round(box.bottom() + _MARGIN - self.viewport().height()))

    def _at(self, position: QPointF) -> int | None:
        y = position.y() + self.verticalScrollBar().value() - _MARGIN
        line, within = divmod(y, self._line_height)
        if within > self._chip_height:
            return None
        return self._flow.at(position.x() - _MARGIN, int(line))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the visible chips."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.colour(Role.PANEL))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._chips:
            self._paint_placeholder(painter)
            return
        painter.setFont(self._font)
        scrolled = self.verticalScrollBar().value() - _MARGIN
        first = int((event.rect().top() + scrolled) // self._line_height)
        last = int((event.rect().bottom() + scrolled) // self._line_height)
        region = event.region()
        for index in self._flow.in_lines(first, last):
            if region.intersects(self.rect_of(index).toAlignedRect()):
                self._paint_chip(painter, index)

    def _paint_placeholder(self, painter: QPainter) -> None:
        painter.setFont(theme.ui_font())
        painter.setPen(theme.colour(Role.MUTED))
        box = QRectF(self.viewport().rect()).adjusted(0, _MARGIN, 0, 0)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, self._placeholder)

    def _paint_chip(self, painter: QPainter, index: int) -> None:
        chip, box = self._chips[index], self.rect_of(index)
        painter.setOpacity(0.5 if chip.ahead or not self.isEnabled() else 1.0)
        share = share_of(chip, self._colours, self._slowest_ms)
        fill, text = colours_of(chip, self._colours, share)
        frame = QPen(Qt.PenStyle.NoPen)
        if index == self._hovered:
            frame = QPen(theme.colour(Role.MUTED), 1)
        elif chip.is_partial:
            frame = QPen(theme.colour(Role.MUTED), 1, Qt.PenStyle.DashLine)
        elif chip.kind in (ChipKind.FORCED, ChipKind.FAST_FORWARDED, ChipKind.ILLEGAL):
            frame = QPen(theme.colour(Role.ERROR if chip.kind is ChipKind.ILLEGAL else Role.FORCED), 1)
        elif chip.kind is ChipKind.REPLAYED:
            frame = QPen(theme.colour(Role.BORDER), 1)
        painter.setPen(frame)
        painter.setBrush(fill)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), _RADIUS, _RADIUS)
        font = QFont(self._font)
        font.setItalic(chip.is_name)
        painter.setFont(font)
        inner = box.adjusted(_PADDING, 0, -_PADDING + 1, -1)
        colours = TokenColours(text, mix(fill, text, 0.5))
        draw_token(painter, inner, chip.text, colours, struck=chip.kind is ChipKind.ILLEGAL)
        if share is not None and (chip.kind is ChipKind.TAKEN or self._colours is not ChipColours.PROBABILITY):
            self._paint_line(painter, box, share, line_of(self._colours, share))
        if chip.kind is ChipKind.FAST_FORWARDED:
            self._paint_run(painter, index, box)
        if chip.by_user:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour(Role.ACCENT))
            painter.drawEllipse(QPointF(box.right() - 3, box.top() + 3), 2.0, 2.0)
        if chip.is_respelled:
            corner = box.topLeft() + QPointF(1, 1)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour(Role.WARNING))
            painter.drawPolygon([corner, corner + QPointF(_NOTCH, 0), corner + QPointF(0, _NOTCH)])
        if index in self._marked:
            painter.fillRect(QRectF(box.left(), box.top() - 1, box.width(), 3.0), theme.colour(Role.LIVE))
        if index == self._current:
            painter.setPen(QPen(theme.colour(Role.ACCENT), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), _RADIUS, _RADIUS)
        painter.setOpacity(1.0)

    def _paint_run(self, painter: QPainter, index: int, box: QRectF) -> None:
        """Paint a band over the tokens of a run that was taken at once."""
        is_continued = (
            index > 0
            and self._chips[index - 1].kind is ChipKind.FAST_FORWARDED
            and self._flow.line[index - 1] == self._flow.line[index]
        )
        left = box.left() - _GAP - _RADIUS if is_continued else box.left() + _RADIUS
        band = QRectF(left, box.top(), box.right() - _RADIUS - left, 3.0)
        painter.fillRect(band, theme.colour(Role.FORCED))

    def _paint_line(self, painter: QPainter, box: QRectF, share: float, colour: QColor) -> None:
        width = (box.width() - 2 * _RADIUS) * share
        painter.fillRect(QRectF(box.left() + _RADIUS, box.bottom() - 3.0, max(width, 2.0), 2.0), colour)

    def sizeHint(self) -> QSize:
        """Return the size of three lines."""
        return QSize(320, round(3 * self._line_height + 2 * _MARGIN))

    def minimumSizeHint(self) -> QSize:
        """Return the size of one line."""
        return QSize(120, round(self._line_height + 2 * _MARGIN))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the chips out again, and keep the current one visible."""
        super().resizeEvent(event)
        self._lay_out()
        if self._current is not None and self._current < len(self._chips):
            self._reveal(self._current)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the chip under the pointer."""
        index = self._at(event.position())
        if index != self._hovered:
            self._hovered = index
            clickable = index is not None and self._chips[index].kind is not ChipKind.PLAIN
            shape = Qt.CursorShape.PointingHandCursor if clickable else Qt.CursorShape.ArrowCursor
            self.viewport().setCursor(shape)
            self.viewport().update()
            self.chip_hovered.emit(-1 if index is None else index)

    def leaveEvent(self, event: QEvent) -> None:
        """Highlight no chip."""
        super().leaveEvent(event)
        self._hovered = None
        self.viewport().update()
        self.chip_hovered.emit(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Accept the press, so that the release arrives here too."""
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the clicked step."""
        index = self._at(event.position())
        if index is not None and event.button() is Qt.MouseButton.LeftButton:
            self._go(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move along the steps with Left and Right."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        index = (-1 if self._current is None else self._current) + step
        if 0 <= index < len(self._chips):
            self._go(index)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tool tips of chips."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            index = self._at(QPointF(event.pos()))
            if index is not None:
                QToolTip.showText(event.globalPos(), self._chips[index].tip(), self.viewport())
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def _go(self, index: int) -> None:
        if self._chips[index].kind is not ChipKind.PLAIN:
            self.chip_clicked.emit(self._chips[index].id)


def _measurer(font: QFont) -> Callable[[str], float]:
    """Return a cached function that measures a chip's width."""
    metrics = QFontMetricsF(font)

    @lru_cache(maxsize=65_536)
    def width(text: str) -> float:
        return metrics.horizontalAdvance(text) + 2 * _PADDING

    return width


@dataclass(frozen=True, slots=True)
class ChipFlow:
    """Chips in lines.

    Attributes:
        left: the left edge of each chip.
        width: the width of each chip, at most that of a line.
        line: the line of each chip, in ascending order.
        line_starts: the index of the first chip of each line.
    """

    left: tuple[float, ...]
    width: tuple[float, ...]
    line: tuple[int, ...]
    line_starts: tuple[int, ...]

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self.line_starts)

    def in_lines(self, first: int, last: int) -> range:
        """Return the indices of the chips on lines `first` to `last`, both included."""
        if not self.line_starts or last < 0 or first >= self.lines:
            return range(0)
        begin = self.line_starts[max(first, 0)]
        end = self.line_starts[last + 1] if last + 1 < self.lines else len(self.left)
        return range(begin, end)

    def at(self, x: float, line: int) -> int | None:
        """Return the index of the chip at a position; None if there is none."""
        chips = self.in_lines(line, line) if line >= 0 else range(0)
        if not chips:
            return None
        index = bisect_right(self.left, x, chips.start, chips.stop) - 1
        return index if index >= chips.start and x <= self.left[index] + self.width[index] else None


def flow(widths: Sequence[float], breaks: Sequence[bool], line_width: float, gap: float) -> ChipFlow:
    """Lay out chips in lines; a line also ends after a chip that breaks.

    Args:
        widths: the width of each chip.
        breaks: whether a new line begins after each chip.
        line_width: the width of a line.
        gap: the space between two chips.
    """
    left: list[float] = []
    fitted: list[float] = []
    line: list[int] = []
    starts: list[int] = []
    x, is_line_start = 0.0, True
    for index, (wanted, ends_line) in enumerate(zip(widths, breaks, strict=True)):
        width = min(wanted, line_width)
        if is_line_start or x + width > line_width:
            starts.append(index)
            x = 0.0
        left.append(x)
        fitted.append(width)
        line.append(len(starts) - 1)
        x += width + gap
        is_line_start = ends_line
    return ChipFlow(tuple(left), tuple(fitted), tuple(line), tuple(starts))
