"""Painting a token: its text, with the marks for white space paler.

A mark such as `␣` means "there is a space", and must not look like part of the word after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app import theme

_MARK = r"[␣↵␍⇥]|\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}"
_RUNS = re.compile(rf"(?P<marks>(?:{_MARK})+)|(?:(?!{_MARK}).)+", re.DOTALL)


def tabular(font: QFont) -> QFont:
    """Return a font whose digits have the same width, so that numbers line up in columns."""
    font = QFont(font)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


@dataclass(frozen=True, slots=True)
class TokenColours:
    """The colours of a token."""

    text: QColor
    mark: QColor


def token_colours(role: theme.Role = theme.Role.TEXT) -> TokenColours:
    """Return the colours of a token in a role; the mark is between that colour and the background."""
    text = theme.colour(role)
    return TokenColours(text, mix(theme.colour(theme.Role.PANEL), text, 0.5))


def mix(ground: QColor, colour: QColor, share: float) -> QColor:
    """Blend `share` of a colour over a background, opaque.

    Args:
        ground: the background.
        colour: the foreground.
        share: the weight of the foreground, from 0 to 1.
    """
    return QColor.fromRgbF(
        ground.redF() + (colour.redF() - ground.redF()) * share,
        ground.greenF() + (colour.greenF() - ground.greenF()) * share,
        ground.blueF() + (colour.blueF() - ground.blueF()) * share,
    )


@lru_cache(maxsize=16_384)
def runs(text: str) -> tuple[tuple[str, bool], ...]:
    """Split a displayed token into runs: text, and whether it consists of marks."""
    return tuple((found[0], found["marks"] is not None) for found in _RUNS.finditer(text))


def draw_token(painter: QPainter, box: QRectF, text: str, colours: TokenColours, *, struck: bool = False) -> None:
    """Draw a displayed token at the left of a box with the painter's font, elided to fit.

    Args:
        painter: has the font.
        box: the box.
        text: the displayed token.
        colours: of the token.
        struck: whether it is struck through.
    """
    metrics = QFontMetricsF(painter.font())
    if metrics.horizontalAdvance(text) > box.width():
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    baseline = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
    if struck:
        _strike(painter, box.left(), baseline, metrics.horizontalAdvance(text), colours)
    x = box.left()
    for run, is_mark in runs(text):
        painter.setPen(colours.mark if is_mark and not struck else colours.text)
        painter.drawText(QPointF(x, baseline), run)
        x += metrics.horizontalAdvance(run)


def _strike(painter: QPainter, left: float, baseline: float, width: float, colours: TokenColours) -> None:
    """Draw the line below the text and paler, since it would hide `-`, `;` and `↵` otherwise."""
    painter.setPen(QPen(colours.mark, 1.0))
    middle = baseline - QFontMetricsF(painter.font()).xHeight() / 2
    painter.drawLine(QPointF(left - 3, middle), QPointF(left + width + 3, middle))
