"""The icicle of a parse tree: the text along the x axis, and below it a row of boxes for each level of the tree.

A short text fills the view. Otherwise a character has the width of a cell at every zoom, so a text of 100,000
characters scrolls; only boxes in view are painted, which are found from the offsets in view.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from app import theme
from app.commands import ZOOMS
from app.models.parse_rows import ROLES, ParseRowsModel
from app.theme.labels import plain_text
from app.widgets.accessibility import announce, give_role
from engine.vocabulary.visible import visible

Role = theme.Role
_MARGIN = 6
_ZOOMS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)  # of the width of a character
_WIDEST = 12  # characters that a cell has room for
_NONE = -1


class IcicleView(QAbstractScrollArea):
    """Paints the boxes of one tree.

    Signals:
        pointed(node): a node is hovered, or was chosen with the keys; -1 for none.
        chosen(node): a node was clicked.
        entered(node): go to the source of a node.
    """

    pointed = Signal(int)
    chosen = Signal(int)
    entered = Signal(int)

    def __init__(self, model: ParseRowsModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty(ZOOMS, True)
        self._model = model
        self.current = self._hovered = _NONE
        self._zoom = 2
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        give_role(self, QAccessible.Role.Tree)
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.themes.changed.connect(self._measure)
        self._measure()

    def refresh(self, *, follows: bool) -> None:
        """Show the tree again after it changed; `follows` scrolls to its end."""
        nodes = len(self._model.nodes)
        self.current, self._hovered = (at if at < nodes else _NONE for at in (self.current, self._hovered))
        self._size_bars()
        if follows:
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().maximum())
        self.viewport().update()

    def select(self, node: int) -> None:
        """Mark a node, and scroll to it."""
        self.current = node
        if node != _NONE:
            self._reveal(node)
            self.setAccessibleDescription(self._describe(node))
        self.viewport().update()

    def rect_of(self, node: int) -> QRectF:
        """Return the rectangle of a node in the viewport."""
        start, end = self._model.range_of(node)
        top = self._row * (1 + self._model.depths[node]) - self.verticalScrollBar().value() + _MARGIN
        left = _MARGIN + start * self._cell - self.horizontalScrollBar().value()
        return QRectF(left, top, max((end - start) * self._cell, 2.0), self._row - 2)

    def sizeHint(self) -> QSize:
        """Return a size with room for some levels."""
        return QSize(400, round(8 * self._row))

    # --- painting ----------------------------------------------------------------------------------------------------

    def _measure(self) -> None:
        self._row = round(QFontMetricsF(theme.mono_font()).height()) + 6
        self._size_bars()
        self.viewport().update()

    def _size_bars(self) -> None:
        port, model = self.viewport().size(), self._model
        character = QFontMetricsF(theme.mono_font()).horizontalAdvance("0")
        filling = (port.width() - 2 * _MARGIN) / max(len(model.text), 1)
        self._cell = max(character, min(filling, _WIDEST * character)) * _ZOOMS[self._zoom]
        width = round(len(model.text) * self._cell) + 2 * _MARGIN
        height = self._row * (1 + max(model.depths, default=0) + 1) + 2 * _MARGIN
        for bar, size, shown in (
            (self.horizontalScrollBar(), width, port.width()),
            (self.verticalScrollBar(), height, port.height()),
        ):
            bar.setRange(0, max(0, size - shown))
            bar.setPageStep(shown)
            bar.setSingleStep(self._row)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text and the boxes in view."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.colour(Role.PANEL))
        painter.setFont(theme.mono_font())
        port = QRectF(self.viewport().rect())
        first, last = self._offset(0), self._offset(port.width()) + 1
        self._paint_refused(painter, port)
        for node in self._in_view(first, last):
            if self.rect_of(node).intersects(port):
                self._paint_node(painter, node, port)
        self._paint_text(painter, max(0, first), min(last, len(self._model.text)))
        painter.end()

    def _in_view(self, first: int, last: int) -> list[int]:
        """Return the nodes that overlap some offsets: those that begin there, and what is around the first of them."""
        nodes = self._model.nodes
        begin = self._model.first_at(first)
        around = []
        above = begin - 1
        while above != _NONE:
            around.append(above)
            above = self._model.above(above)
        found = around[::-1]
        while begin < len(nodes) and nodes[begin].start < last:
            found.append(begin)
            begin += 1
        return found

    def _paint_node(self, painter: QPainter, node: int, port: QRectF) -> None:
        box, one = self.rect_of(node), self._model.nodes[node]
        is_open = one.below is None
        fill = Role.LIVE_FILL if is_open else Role.RAISED
        if node == self.current:
            fill = Role.SELECTION
        elif node == self._hovered:
            fill = Role.HOVER
        painter.fillRect(box.adjusted(0.5, 0.5, -0.5, -0.5), theme.colour(fill))
        edge = QPen(theme.colour(Role.ACCENT if node == self.current else Role.LIVE if is_open else Role.BORDER), 1)
        if is_open:
            edge.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(edge)
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
        seen = box.intersected(port).adjusted(4, 0, -2, 0)
        if seen.width() > painter.fontMetrics().averageCharWidth():
            painter.setPen(theme.colour(ROLES[one.kind]))
            title = QFontMetricsF(painter.font()).elidedText(
                self._model.title(node), Qt.TextElideMode.ElideRight, seen.width()
            )
            painter.drawText(seen, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)

    def _paint_text(self, painter: QPainter, first: int, last: int) -> None:
        """Paint the characters of the text, each over the cells of its bytes."""
        top = QRectF(0, 0, self.viewport().width(), self._row + _MARGIN)
        painter.fillRect(top, theme.colour(Role.PANEL))
        text, legal = self._model.text, self._model.legal
        while first and text[first : first + 1] and text[first] & 0xC0 == 0x80:
            first -= 1
        if self._cell < QFontMetricsF(painter.font()).horizontalAdvance("0"):
            return  # characters would overlap
        at = first
        while at < last:
            end = at + 1
            while end < len(text) and text[end] & 0xC0 == 0x80:
                end += 1
            left = _MARGIN + at * self._cell - self.horizontalScrollBar().value()
            cell = QRectF(left, _MARGIN, (end - at) * self._cell, self._row)
            painter.setPen(theme.colour(Role.TEXT if at < legal else Role.ERROR))
            mark = visible(text[at:end])
            painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, mark if len(mark) == 1 else "·")
            at = end

    def _paint_refused(self, painter: QPainter, port: QRectF) -> None:
        """Mark the bytes that nothing could read."""
        if self._model.legal < len(self._model.text):
            left = _MARGIN + self._model.legal * self._cell - self.horizontalScrollBar().value()
            rest = QRectF(left, self._row + _MARGIN, port.width() - left, port.height()).intersected(port)
            painter.fillRect(rest, theme.colour(Role.ERROR_FILL))
            painter.setPen(QPen(theme.colour(Role.ERROR), 2))
            painter.drawLine(QPoint(round(left), 0), QPoint(round(left), round(port.height())))

    # --- pointer and keys --------------------------------------------------------------------------------------------

    def _offset(self, x: float) -> int:
        return int((x - _MARGIN + self.horizontalScrollBar().value()) // self._cell)

    def node_at(self, position: QPoint) -> int:
        """Return the node at a position in the viewport; -1 for none."""
        offset = self._offset(position.x())
        if not self._model.nodes or not 0 <= offset < max(1, self._model.legal):
            return _NONE
        node = self._model.node_at(offset, offset + 1)
        while node != _NONE and not self.rect_of(node).contains(position):
            node = self._model.above(node)
        return node

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at the node under the pointer."""
        self._hover(self.node_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        """Point at no node."""
        super().leaveEvent(event)
        self._hover(_NONE)

    def _hover(self, node: int) -> None:
        if node != self._hovered:
            self._hovered = node
            self.viewport().update()
            self.pointed.emit(node)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the node under the pointer."""
        node = self.node_at(event.position().toPoint())
        if node != _NONE and event.button() is Qt.MouseButton.LeftButton:
            self.select(node)
            self.chosen.emit(node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to the source of the node under the pointer."""
        node = self.node_at(event.position().toPoint())
        if node != _NONE:
            self.entered.emit(node)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the node above, below or beside with the arrows; Return goes to its source."""
        model, node = self._model, self.current
        if not model.nodes:
            super().keyPressEvent(event)
            return
        match Qt.Key(event.key()):
            case Qt.Key.Key_Up:
                following = model.above(node) if node != _NONE else 0
            case Qt.Key.Key_Down:
                has_more = node + 1 < len(model.nodes) and model.above(node + 1) == node
                following = node + 1 if has_more else _NONE
            case Qt.Key.Key_Left | Qt.Key.Key_Right as key:
                following = model.beside(node, 1 if key is Qt.Key.Key_Right else -1) if node != _NONE else 0
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if node != _NONE:
                self.entered.emit(node)
                return
            case _:
                super().keyPressEvent(event)
                return
        if following != _NONE:
            self.select(following)
            self.pointed.emit(following)
            announce(self, self._describe(following))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll; with Ctrl, make the characters wider or narrower."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        under = self._offset(event.position().x())
        step = 1 if event.angleDelta().y() > 0 else -1
        self._zoom = min(max(self._zoom + step, 0), len(_ZOOMS) - 1)
        self._measure()
        self.horizontalScrollBar().setValue(round(under * self._cell + _MARGIN - event.position().x()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the scroll bars."""
        super().resizeEvent(event)
        self._size_bars()

    def viewportEvent(self, event: QEvent) -> bool:
        """Describe the node under the pointer in a tool tip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            node = self.node_at(event.pos())
            tip = "" if node == _NONE else self._model.index_of(node).data(Qt.ItemDataRole.ToolTipRole)
            QToolTip.showText(event.globalPos(), plain_text(tip), self.viewport())
            return True
        return super().viewportEvent(event)

    def _describe(self, node: int) -> str:
        return f"{self._model.title(node)}: {self._model.words(node)}"

    def _reveal(self, node: int) -> None:
        box = self.rect_of(node).toAlignedRect()
        port: QRect = self.viewport().rect()
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        if box.left() < 0 or box.left() > port.width() - _MARGIN:
            across.setValue(across.value() + box.left() - _MARGIN)
        elif box.right() > port.width():
            across.setValue(across.value() + min(box.right() - port.width() + _MARGIN, box.left() - _MARGIN))
        if box.top() < self._row or box.bottom() > port.height():
            down.setValue(down.value() + box.top() - 2 * self._row)
