"""Badges behind lines: what the target of the document does with a part of the line, and where that is known from.

A badge has an icon for each effect and as many words as fit behind the text; the tool tip has the sentences. It is
painted over the viewport, so that the layout of the text does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen, QTextBlock
from PySide6.QtWidgets import QPlainTextEdit

from app import theme
from app.catalogue import ui_text
from app.models.findings import ICONS
from app.theme import Role
from app.theme.icons import icon
from engine.diagnosis.targets.findings import TargetDiagnostic
from engine.targets import Effect

_GAP: Final = 14  # pixels between the text and the badge
_PADDING: Final = 5
_SMALLER: Final = 0.85  # of the size of the text


@dataclass(frozen=True, slots=True)
class Badge:
    """The badge of one line.

    Attributes:
        effects: the effects, the most severe first; each has an icon.
        texts: the words, from the longest form to the shortest, which is empty.
    """

    effects: tuple[Effect, ...]
    texts: tuple[str, ...]


def badge_of(found: Sequence[TargetDiagnostic]) -> Badge:
    """Return the badge of the findings of one line, the most severe of which is first."""
    about = [one.finding for one in found]
    effects = tuple(dict.fromkeys(one.effect for one in about))
    words = ", ".join(ui_text(f"common.fragment.effect.{effect}") for effect in effects)
    forms = (
        dict.fromkeys(one.evidence for one in about),
        dict.fromkeys(one.short_evidence for one in about),
    )
    return Badge(effects, (*(" · ".join((words, *evidence)) for evidence in forms), words, ""))


def badge_rect(edit: QPlainTextEdit, block: QTextBlock, badge: Badge) -> QRectF:
    """Return the area of a badge in the coordinates of the viewport; empty if nothing fits behind the line.

    Args:
        edit: the editor that shows the text.
        block: the line.
        badge: its badge.
    """
    return _fitted(edit, block, badge)[0]


def paint_badge(edit: QPlainTextEdit, block: QTextBlock, badge: Badge) -> None:
    """Paint the badge of a line behind its text.

    Args:
        edit: the editor that shows the text.
        block: the line.
        badge: its badge.
    """
    area, text = _fitted(edit, block, badge)
    if area.isEmpty():
        return
    font, size = _font(edit), _icon_size(edit)
    painter = QPainter(edit.viewport())
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour(Role.TARGET), 1))
    painter.setBrush(theme.colour(Role.TARGET_FILL))
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    x = area.left() + _PADDING
    for effect in badge.effects:
        box = QRect(round(x), round(area.center().y() - size / 2), size, size)
        icon(*ICONS[effect]).paint(painter, box)
        x += size + _PADDING / 2
    painter.setFont(font)
    rest = QRectF(x + _PADDING / 2, area.top(), area.right() - x, area.height())
    painter.drawText(rest, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.end()


def _fitted(edit: QPlainTextEdit, block: QTextBlock, badge: Badge) -> tuple[QRectF, str]:
    """Return the area of a badge, and the longest of its texts that fits."""
    layout = block.layout()
    line = layout.lineAt(layout.lineCount() - 1)
    if not line.isValid():
        return QRectF(), ""
    ends = line.naturalTextRect()
    origin = edit.blockBoundingGeometry(block).translated(edit.contentOffset()).topLeft()
    start = origin + QPointF(ends.right() + _GAP, ends.top() + 1)
    metrics, size = QFontMetricsF(_font(edit)), _icon_size(edit)
    icons = len(badge.effects) * (size + _PADDING / 2) + 1.5 * _PADDING
    available = edit.viewport().width() - start.x() - _PADDING
    for text in badge.texts:
        width = icons + (metrics.horizontalAdvance(text) + _PADDING if text else 0)
        if width <= available:
            return QRectF(start.x(), start.y(), width, max(ends.height() - 2, 1)), text
    return QRectF(), ""


def _font(edit: QPlainTextEdit) -> QFont:
    font = QFont(theme.ui_font())
    font.setStyleHint(QFont.StyleHint.SansSerif)  # the painter takes what is not set from the font of the editor
    font.setFixedPitch(False)
    font.setPointSizeF(max(edit.font().pointSizeF() * _SMALLER, 1.0))
    return font


def _icon_size(edit: QPlainTextEdit) -> int:
    return round(QFontMetricsF(_font(edit)).ascent())
