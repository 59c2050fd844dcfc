"""How far colours are apart, and how they look to people who lack one kind of cone.

Contrast is WCAG 2.1's (sections 1.4.3 and 1.4.11). Colour blindness is simulated by
the matrices of G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A
Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15
(2009), for a severity of 1.0, on linear RGB. Distances are CIE 1976 L*a*b*
differences under D65: about 2.3 is what can just be noticed.
"""

from __future__ import annotations

import math

from PySide6.QtGui import QColor

MACHADO = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
_D65 = (0.95047, 1.0, 1.08883)


def linear(colour: QColor) -> tuple[float, ...]:
    """Linear RGB, 0 to 1."""
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def contrast(one: QColor, other: QColor) -> float:
    """WCAG's contrast, 1 to 21."""
    darker, lighter = sorted(_times(_XYZ, linear(colour))[1] for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def seen_with(deficiency: str, colour: QColor) -> tuple[float, ...]:
    """A colour in linear RGB as it looks with one of `MACHADO`, or with an empty name to everybody else."""
    rgb = linear(colour)
    return tuple(min(max(c, 0.0), 1.0) for c in _times(MACHADO[deficiency], rgb)) if deficiency else rgb


def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The CIE 1976 difference of two colours in linear RGB."""
    return math.dist(_lab(one), _lab(other))


def _lab(rgb: tuple[float, ...]) -> tuple[float, float, float]:
    x, y, z = (_lightness(value / white) for value, white in zip(_times(_XYZ, rgb), _D65, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _lightness(t: float) -> float:
    return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29


def _times(matrix: tuple[tuple[float, ...], ...], vector: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
