"""Pens and fills by role, for the static drawing and the highlights."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QPen
from PySide6.QtWidgets import QGraphicsPathItem

from app import theme
from app.theme import Role


def pen(role: Role, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine, opacity: float = 1.0) -> QPen:
    """Return a pen in a role's colour; `CustomDashLine` is the style of calls.

    Args:
        role: the colour.
        width: in scene units.
        style: of the line.
        opacity: from 0 to 1.
    """
    colour = theme.colour(role)
    colour.setAlphaF(opacity)
    if style == Qt.PenStyle.CustomDashLine:  # round ends would fill the gaps of a thick line
        dashed = QPen(QBrush(colour), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
        dashed.setDashPattern([6.0 / width, 4.0 / width])
        return dashed
    return QPen(QBrush(colour), width, style, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)


def fill(item: QGraphicsPathItem, role: Role) -> None:
    """Fill a shape without an outline."""
    item.setPen(Qt.PenStyle.NoPen)
    item.setBrush(theme.colour(role))
