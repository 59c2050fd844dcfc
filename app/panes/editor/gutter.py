"""The gutter of the editor: line numbers, severity signs, and breakpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from app import theme
from app.panes.editor.marks import paint_sign
from app.theme import Role
from app.theme.plain_text import plain_text
from engine.source import Severity

_SIGN = 8
_LEAST_DIGITS = 2


class Gutter(QWidget):
    """The gutter of one text widget.

    Signals:
        line_clicked(line): a line, counted from 0, was clicked.
    """

    line_clicked = Signal(int)

    def __init__(
        self, edit: QPlainTextEdit, sign_of_line: Callable[[int], Severity | None], tip_of_line: Callable[[int], str]
    ) -> None:
        super().__init__(edit)
        self._edit = edit
        self._sign_of_line = sign_of_line
        self._tip_of_line = tip_of_line
        self._breakpoints: Mapping[int, bool] = {}

    def show_breakpoints(self, lines: Mapping[int, bool]) -> None:
        """Set the lines with a breakpoint, and whether each is enabled."""
        if lines != self._breakpoints:
            self._breakpoints = lines
            self.update()

    def sizeHint(self) -> QSize:
        """Return the width of a sign and the highest number."""
        digits = max(_LEAST_DIGITS, len(str(self._edit.blockCount())))
        numbers = self._edit.fontMetrics().horizontalAdvance("9") * digits
        return QSize(theme.SPACE_S + _SIGN + theme.SPACE_XS + numbers + theme.SPACE_S, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the numbers of the visible lines; that of the cursor's line is brighter."""
        painter = QPainter(self)
        painter.setFont(self._edit.font())
        current = self._edit.textCursor().blockNumber()
        height = self._edit.fontMetrics().height()
        block, top = self._first()
        while block.isValid() and top <= event.rect().bottom():
            number = block.blockNumber()
            rect = QRectF(0, top, self.width() - theme.SPACE_S, height)
            if number in self._breakpoints:
                self._paint_breakpoint(painter, rect, is_on=self._breakpoints[number])
            else:
                painter.setPen(theme.colour(Role.TEXT if number == current else Role.DISABLED))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number + 1))
            severity = self._sign_of_line(number)
            if severity is not None:
                paint_sign(painter, severity, QRectF(theme.SPACE_S, top + (height - _SIGN) / 2, _SIGN, _SIGN))
            top += self._edit.blockBoundingRect(block).height()
            block = block.next()
        painter.end()

    def _paint_breakpoint(self, painter: QPainter, rect: QRectF, *, is_on: bool) -> None:
        """Paint a filled box if it is enabled, an outline if not; sets the pen for the number."""
        width = self._edit.fontMetrics().horizontalAdvance("9" * max(_LEAST_DIGITS, len(str(self._edit.blockCount()))))
        box = QRectF(rect.right() - width - 4, rect.top() + 1, width + 8, rect.height() - 2)
        colour = theme.colour(Role.FORBIDDEN)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 1))
        painter.setBrush(colour if is_on else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.restore()
        painter.setPen(theme.colour(Role.PANEL if is_on else Role.FORBIDDEN))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Accept the press, so that the release comes here too."""
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Report a click on a line."""
        line = self.line_at(event.position().toPoint())
        if line >= 0 and event.button() is Qt.MouseButton.LeftButton:
            self.line_clicked.emit(line)

    def event(self, event: QEvent) -> bool:
        """Show the findings of the hovered line as a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), plain_text(self._tip_of_line(self.line_at(event.pos()))), self)
            return True
        return super().event(event)

    def line_at(self, position: QPoint) -> int:
        """Return the line at a position, counted from 0; -1 below the last."""
        block, top = self._first()
        while block.isValid():
            top += self._edit.blockBoundingRect(block).height()
            if position.y() < top:
                return block.blockNumber()
            block = block.next()
        return -1

    def _first(self) -> tuple[QTextBlock, float]:
        """Return the first visible line, and its top."""
        block = self._edit.firstVisibleBlock()
        return block, self._edit.blockBoundingGeometry(block).translated(self._edit.contentOffset()).top()
