"""The margin of the editor: line numbers, and a sign where something is wrong."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit, QToolTip, QWidget

from app import theme
from app.panes.editor.marks import paint_sign
from app.theme import Role
from engine.source import Severity

_SIGN = 8
_LEAST_DIGITS = 2


class Margin(QWidget):
    """Belongs to one text widget, which keeps it beside its text."""

    def __init__(
        self, edit: QPlainTextEdit, sign_of_line: Callable[[int], Severity | None], tip_of_line: Callable[[int], str]
    ) -> None:
        super().__init__(edit)
        self._edit = edit
        self._sign_of_line = sign_of_line
        self._tip_of_line = tip_of_line

    def sizeHint(self) -> QSize:
        """Room for a sign and the highest number."""
        digits = max(_LEAST_DIGITS, len(str(self._edit.blockCount())))
        numbers = self._edit.fontMetrics().horizontalAdvance("9") * digits
        return QSize(theme.SPACE_S + _SIGN + theme.SPACE_XS + numbers + theme.SPACE_S, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write the numbers of the lines in view; that of the cursor's line is brighter."""
        painter = QPainter(self)
        painter.setFont(self._edit.font())
        current = self._edit.textCursor().blockNumber()
        height = self._edit.fontMetrics().height()
        block, top = self._first()
        while block.isValid() and top <= event.rect().bottom():
            number = block.blockNumber()
            painter.setPen(theme.colour(Role.TEXT if number == current else Role.DISABLED))
            room = QRectF(0, top, self.width() - theme.SPACE_S, height)
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number + 1))
            severity = self._sign_of_line(number)
            if severity is not None:
                paint_sign(painter, severity, QRectF(theme.SPACE_S, top + (height - _SIGN) / 2, _SIGN, _SIGN))
            top += self._edit.blockBoundingRect(block).height()
            block = block.next()
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Tell what is wrong in the line that the pointer rests on."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), self._tip_of_line(self.line_at(event.pos())), self)
            return True
        return super().event(event)

    def line_at(self, place: QPoint) -> int:
        """The line at a place, counted from 0; -1 below the last."""
        block, top = self._first()
        while block.isValid():
            top += self._edit.blockBoundingRect(block).height()
            if place.y() < top:
                return block.blockNumber()
            block = block.next()
        return -1

    def _first(self) -> tuple[QTextBlock, float]:
        """The first line in view, and where it begins."""
        block = self._edit.firstVisibleBlock()
        return block, self._edit.blockBoundingGeometry(block).translated(self._edit.contentOffset()).top()
