"""The drawing of a railroad diagram: it paints the visible boxes alone, and answers the pointer and the keys.

Rejected: a graphics scene. A diagram has up to 1,500 boxes and twice as many lines, which one loop paints in a few
milliseconds; as items, each would cost a Python object and an index entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QMenu, QToolTip, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.graph.draw.image_files import Picture
from app.graph.draw.shapes import pen
from app.graph.draw.view import state_towards
from app.graph.layout.railroad import OPEN_CELLS, RailroadBox, RailroadDrawing, RailroadStyle
from app.graph.layout.types import Point
from app.theme import Role
from app.theme.labels import plain_text
from app.widgets.accessibility import announce, give_role
from engine.notations.railroad import TrackKind
from engine.source import Span

_CORNER, _SMALL_CORNER = 7.0, 3.0
_HEAD = 4.0
_DOT = 3.0
_MARGIN = 8  # kept visible around the current box
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_LOOKS = {
    TrackKind.TEXT: (Role.RAISED, Role.SYNTAX_LITERAL),
    TrackKind.SET: (Role.ALLOWED_FILL, Role.SYNTAX_CLASS),
    TrackKind.CALL: (Role.HINT_FILL, Role.SYNTAX_NAME),
    TrackKind.CONDITION: (Role.PANEL, Role.SYNTAX_ANCHOR),
    None: (Role.PANEL, Role.MUTED),
}


class RailroadView(QAbstractScrollArea):
    """Shows a `RailroadDrawing`.

    Attributes:
        drawing: the diagram; None for none.
        current: the key of the box that the keys are at; empty for none.

    Signals:
        hovered(spans): the source of the box under the pointer; empty for none.
        span_wanted(Span): go to the source of a box, or to the rule that it calls.
        toggled(key): open a box, or fold it again.
        resized(): there is another width to wrap to, or another size of texts.
    """

    hovered = Signal(tuple)
    span_wanted = Signal(Span)
    toggled = Signal(str)
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("railroad")
        self.drawing: RailroadDrawing | None = None
        self.current = ""
        self._is_stale = False
        self._caret = ""  # the keys of boxes
        self._live: frozenset[str] = frozenset()
        self._hovered = ""
        self._pressed = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self.setAccessibleName(ui_text("railroad.pane.name"))
        give_role(self, QAccessible.Role.Graphic)
        theme.themes.changed.connect(self.viewport().update)
        theme.themes.changed.connect(self.resized)  # its texts may have another size

    @property
    def style_of_drawing(self) -> RailroadStyle:
        """Return the sizes for a drawing of the present width."""
        metrics = QFontMetricsF(theme.mono_font())
        width = self.viewport().width() if self.verticalScrollBar().isVisible() else self.width() - 14
        return RailroadStyle(width, metrics.horizontalAdvance("0"), metrics.height())

    def show_drawing(self, drawing: RailroadDrawing | None) -> None:
        """Show another diagram; that of the same rule keeps its position."""
        before = self.drawing
        self.drawing = drawing
        self._hovered = ""
        if drawing is None or before is None or before.name != drawing.name:
            self.current = ""
            self.horizontalScrollBar().setValue(0)
            self.verticalScrollBar().setValue(0)
        self._size_bars()
        self.viewport().update()

    def set_stale(self, is_stale: bool) -> None:
        """Paint the diagram paler, without links, because it belongs to an older text."""
        self._is_stale = is_stale
        self.viewport().update()

    def show_caret(self, offset: int) -> None:
        """Mark the box at the cursor, and scroll to it."""
        found = self._smallest(Span(offset, offset)) or self._smallest(Span(max(offset - 1, 0), offset))
        key = found.key if found is not None else ""
        if key != self._caret:
            self._caret = key
            if found is not None and not found.is_frame:
                self._reveal(found)
            self.viewport().update()

    def show_live(self, spans: Iterable[Span]) -> None:
        """Mark the boxes where the match is."""
        boxes = (self._smallest(span) for span in spans)
        live = frozenset(box.key for box in boxes if box is not None)
        if live != self._live:
            self._live = live
            self.viewport().update()

    def show_hover(self, offset: int) -> None:
        """Mark the box whose source is under the pointer; -1 for none."""
        found = self._smallest(Span(offset, offset + 1)) if offset >= 0 else None
        self._set_hovered(found)

    @property
    def marks(self) -> tuple[str, frozenset[str], str]:
        """Return the keys of the boxes at the cursor, of the match, and under the pointer."""
        return self._caret, self._live, self._hovered

    def rect_of(self, key: str) -> QRectF:
        """Return where a box is in the viewport; an empty rectangle if there is none."""
        box = self._box(key)
        return QRectF() if box is None else QRectF(*box.rect).translated(self._offset())

    def picture(self) -> Picture | None:
        """Return the diagram as a picture, without marks; None if there is none."""
        drawing = self.drawing
        if drawing is None:
            return None

        def paint(painter: QPainter, target: QRectF) -> None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(target.width() / drawing.width, target.height() / drawing.height)
            painter.fillRect(QRectF(0, 0, drawing.width, drawing.height), theme.colour(Role.PANEL))
            _paint_lines(painter, drawing, Role.MUTED)
            for box in drawing.boxes:
                self._paint_box(painter, box, has_marks=False)

        size = QSizeF(drawing.width, drawing.height)
        title = drawing.name or ui_text("railroad.pane.whole")
        return Picture(size, title, ui_text("graph.save.description"), theme.colour(Role.PANEL), paint)

    # --- painting ----------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is visible."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.colour(Role.PANEL))
        if self.drawing is None:
            painter.setPen(theme.colour(Role.MUTED))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.viewport().rect(), flags, ui_text("railroad.pane.empty"))
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._is_stale:
            painter.setOpacity(0.5)
        offset = self._offset()
        painter.translate(offset)
        seen = QRectF(event.rect()).translated(-offset).adjusted(-2, -2, 2, 2)
        _paint_lines(painter, self.drawing, Role.MUTED, seen)
        for box in self.drawing.boxes:
            if seen.intersects(QRectF(*box.rect)):
                self._paint_box(painter, box)
        painter.end()

    def _paint_box(self, painter: QPainter, box: RailroadBox, *, has_marks: bool = True) -> None:
        rect = QRectF(*box.rect)
        font = theme.mono_font()
        if box.is_caption:
            painter.fillRect(rect.adjusted(2, 0, -2, 0), theme.colour(Role.PANEL))
            _write(painter, rect, box.label, theme.colour(Role.MUTED))
            return
        fill, ink = _LOOKS.get(box.kind, (Role.PANEL, Role.MUTED))
        is_live, is_hovered = has_marks and box.key in self._live, has_marks and box.key == self._hovered
        is_at_caret = has_marks and box.key == self._caret
        outline = pen(Role.BORDER if box.is_frame else Role.MUTED, 1.0)
        if box.kind is TrackKind.CONDITION:
            outline.setStyle(Qt.PenStyle.DashLine)
        if box.kind is None:
            outline.setStyle(Qt.PenStyle.DotLine)
        if is_at_caret:
            outline = pen(Role.ACCENT, 2.2)
        if is_live:
            outline = pen(Role.LIVE, 2.6)
        painter.setPen(outline)
        if box.is_frame:
            painter.setBrush(theme.colour(Role.HOVER) if is_hovered else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect, _CORNER, _CORNER)
            line = QFontMetricsF(font).height()
            _write(
                painter, QRectF(rect.left(), rect.top() + 2, rect.width(), line), box.label, theme.colour(Role.MUTED)
            )
        else:
            painter.setBrush(theme.colour(Role.LIVE_FILL if is_live else Role.SELECTION if is_hovered else fill))
            corner = rect.height() / 2 if box.kind is TrackKind.TEXT else _SMALL_CORNER
            painter.drawRoundedRect(rect, corner, corner)
            _write(painter, rect, box.label, theme.colour(ink), is_underlined=box.kind is TrackKind.CALL)
        if box.can_open and box.kind is not None:
            sign = "−" if box.is_frame else "+"
            _write(painter, self._sign(box), sign, theme.colour(Role.ACCENT))
        if is_live:
            painter.setBrush(theme.colour(Role.LIVE))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(QPointF(rect.left() + _CORNER, rect.top()), _DOT + 1, _DOT + 1)
        if has_marks and box.key == self.current and self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour(Role.TEXT), 1, Qt.PenStyle.DotLine))
            painter.drawRect(rect.adjusted(-3, -3, 3, 3))

    def _sign(self, box: RailroadBox) -> QRectF:
        """Return where the sign of a box is that opens or folds it."""
        rect, metrics = QRectF(*box.rect), QFontMetricsF(theme.mono_font())
        width = (OPEN_CELLS + 0.5) * metrics.horizontalAdvance("0")
        height = metrics.height() + 4 if box.is_frame else rect.height()
        return QRectF(rect.right() - width, rect.top(), width, height)

    # --- boxes -------------------------------------------------------------------------------------------------------

    def _offset(self) -> QPointF:
        return QPointF(-self.horizontalScrollBar().value(), -self.verticalScrollBar().value())

    def _size_bars(self) -> None:
        port, drawing = self.maximumViewportSize(), self.drawing
        width, height = (drawing.width, drawing.height) if drawing is not None else (0.0, 0.0)
        for bar, size, shown in (
            (self.horizontalScrollBar(), width, port.width()),
            (self.verticalScrollBar(), height, port.height()),
        ):
            bar.setRange(0, max(0, round(size) - shown))
            bar.setPageStep(shown)
            bar.setSingleStep(24)

    def _boxes(self) -> Sequence[RailroadBox]:
        return () if self.drawing is None else tuple(box for box in self.drawing.boxes if not box.is_caption)

    def _box(self, key: str) -> RailroadBox | None:
        return next((box for box in self._boxes() if box.key == key), None)

    def _smallest(self, span: Span) -> RailroadBox | None:
        """Return the box with the smallest source around a span; None if it belongs to an older text."""
        if self._is_stale:
            return None
        found = [box for box in self._boxes() if box.span.start <= span.start and span.end <= box.span.end]
        return min(found, key=lambda box: (box.span.end - box.span.start, box.is_frame), default=None)

    def _box_at(self, position: QPointF) -> RailroadBox | None:
        point = position - self._offset()
        found = [box for box in self._boxes() if QRectF(*box.rect).contains(point)]
        return min(found, key=lambda box: box.rect[2] * box.rect[3], default=None)

    def _reveal(self, box: RailroadBox) -> None:
        left, top, width, height = box.rect
        for bar, start, size in (
            (self.horizontalScrollBar(), left, width),
            (self.verticalScrollBar(), top, height),
        ):
            shown = bar.pageStep()
            if start - _MARGIN < bar.value():
                bar.setValue(round(start) - _MARGIN)
            elif start + size + _MARGIN > bar.value() + shown:
                bar.setValue(round(start + size) + _MARGIN - shown)

    # --- pointer -----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for a drawing of the new width."""
        super().resizeEvent(event)
        self._size_bars()
        self.resized.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark the box under the pointer, and its source."""
        found = self._box_at(event.position())
        if self._set_hovered(found):
            self.hovered.emit(() if found is None or self._is_stale else (found.span,))
        is_link = found is not None and (self._is_sign(found, event.position()) or found.target is not None)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent) -> None:
        """Remove the mark."""
        super().leaveEvent(event)
        if self._set_hovered(None):
            self.hovered.emit(())

    def _set_hovered(self, box: RailroadBox | None) -> bool:
        key = "" if box is None else box.key
        if key == self._hovered:
            return False
        self._hovered = key
        self.viewport().update()
        return True

    def _is_sign(self, box: RailroadBox, position: QPointF) -> bool:
        return box.can_open and (box.kind is None or self._sign(box).contains(position - self._offset()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select a box."""
        found = self._box_at(event.position())
        self._pressed = found.key if found is not None and event.button() == Qt.MouseButton.LeftButton else ""
        if found is not None:
            self._set_current(found)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open or fold at the sign of a box; otherwise go to its source."""
        found = self._box_at(event.position())
        if found is None or event.button() != Qt.MouseButton.LeftButton or found.key != self._pressed:
            return
        self._pressed = ""
        if self._is_sign(found, event.position()):
            self.toggled.emit(found.key)
        elif not self._is_stale:
            self.span_wanted.emit(found.span)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the rule that a box calls."""
        found = self._box_at(event.position())
        if found is not None and not self._is_sign(found, event.position()):
            self._jump(found)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the box there, or with the current one."""
        is_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        found = self._box(self.current) if is_key else self._box_at(QPointF(event.pos()))
        if found is None:
            return
        self._set_current(found)
        menu = self._menu(found)
        menu.popup(self.viewport().mapToGlobal(self._below(found)) if is_key else event.globalPos())

    def _below(self, box: RailroadBox) -> QPoint:
        return self.rect_of(box.key).bottomLeft().toPoint()

    def _menu(self, box: RailroadBox) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries: list[tuple[str, bool, Callable[[], object]]] = [
            ("go_to_source", not self._is_stale, lambda: self.span_wanted.emit(box.span)),
            ("go_to_rule", box.target is not None and not self._is_stale, lambda: self._jump(box)),
            ("fold" if box.is_frame else "open", box.can_open, lambda: self.toggled.emit(box.key)),
        ]
        for name, is_enabled, act in entries:
            action = menu.addAction(ui_text(f"railroad.menu.{name}"), act)
            action.setObjectName(f"railroad-{name}")
            action.setEnabled(is_enabled)
        return menu

    def _jump(self, box: RailroadBox) -> None:
        if box.target is not None and not self._is_stale:
            self.span_wanted.emit(box.target)

    def viewportEvent(self, event: QEvent) -> bool:
        """Describe the box under the pointer in a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self._box_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_text(_description(found)) if found else "", self.viewport())
            return True
        return super().viewportEvent(event)

    # --- keys --------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from box to box with the arrows; Return goes to the source, or to a called rule; Space opens and folds."""
        key, found = Qt.Key(event.key()), self._box(self.current)
        if key in _ARROWS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._walk(_ARROWS[key])
        elif found is not None and key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            if found.target is not None:
                self._jump(found)
            elif not self._is_stale:
                self.span_wanted.emit(found.span)
        elif found is not None and key == Qt.Key.Key_Space and found.can_open:
            self.toggled.emit(found.key)
        else:
            super().keyPressEvent(event)

    def _walk(self, direction: tuple[int, int]) -> None:
        boxes = [box for box in self._boxes() if not box.is_frame or box.can_open]
        here = next((at for at, box in enumerate(boxes) if box.key == (self.current or self._caret)), None)
        if here is None:
            following = min(range(len(boxes)), key=lambda at: boxes[at].rect[:2], default=None)
        else:
            rects = {at: QRectF(*box.rect) for at, box in enumerate(boxes)}
            following = state_towards(rects, (), here, direction)
        if following is not None:
            box = boxes[following]
            self._set_current(box)
            self._reveal(box)
            if not self._is_stale:
                self.hovered.emit((box.span,))

    def _set_current(self, box: RailroadBox) -> None:
        self.current = box.key
        text = _description(box)
        self.setAccessibleDescription(text)
        announce(self, text)
        self.viewport().update()


def _description(box: RailroadBox) -> str:
    return unmarked(box.words) or box.label


def _write(painter: QPainter, rect: QRectF, text: str, colour: object, *, is_underlined: bool = False) -> None:
    """Write a label at the left of a box, shortened if a font is wider than the layout assumed."""
    font = theme.mono_font()
    font.setUnderline(is_underlined)
    painter.setFont(font)
    painter.setPen(QPen(colour))
    inner = rect.adjusted(8, 0, -2, 0)
    shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, inner.width() + 4)
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)


def _paint_lines(painter: QPainter, drawing: RailroadDrawing, role: Role, seen: QRectF | None = None) -> None:
    """Paint the lines with round corners, the arrows of lines that run back, and the ends."""
    painter.setPen(pen(role, 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    path = QPainterPath()
    for line in drawing.lines:
        xs, ys = [x for x, _ in line], [y for _, y in line]
        if seen is None or (
            min(xs) <= seen.right() and max(xs) >= seen.left() and min(ys) <= seen.bottom() and max(ys) >= seen.top()
        ):
            _add_rounded(path, line)
    painter.drawPath(path)
    painter.setBrush(theme.colour(role))
    painter.setPen(Qt.PenStyle.NoPen)
    for x, y in drawing.heads:
        painter.drawPolygon(
            QPolygonF([QPointF(x - _HEAD, y), QPointF(x + _HEAD, y - _HEAD), QPointF(x + _HEAD, y + _HEAD)])
        )
    for x, y in drawing.ends:
        painter.drawEllipse(QPointF(x, y), _DOT, _DOT)


def _add_rounded(path: QPainterPath, line: Sequence[Point]) -> None:
    """Add a polyline of horizontal and vertical pieces whose corners are round."""
    path.moveTo(*line[0])
    for (x0, y0), (x, y), (x1, y1) in zip(line, line[1:], line[2:], strict=False):
        before, after = abs(x - x0) + abs(y - y0), abs(x1 - x) + abs(y1 - y)
        radius = min(_CORNER, before / 2, after / 2)
        if not radius:
            path.lineTo(x, y)
            continue
        path.lineTo(x + (x0 - x) / before * radius, y + (y0 - y) / before * radius)
        path.quadTo(x, y, x + (x1 - x) / after * radius, y + (y1 - y) / after * radius)
    path.lineTo(*line[-1])
