"""Draws the PNG sizes of the icon from its SVG: `.venv/bin/python packaging/render_icons.py`.

The SVG is the source; the pictures are kept beside it because a desktop reads
them where no Qt is at hand to draw.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 32, 48, 128, 256)
ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons"


def render(size: int) -> None:
    """Draw the icon, `size` pixels square, beside its SVG."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(ICONS / "turnstile.svg")).render(painter)
    painter.end()
    target = ICONS / f"turnstile-{size}.png"
    if not image.save(str(target)):
        raise OSError(f"cannot write {target}")


if __name__ == "__main__":
    for pixels in SIZES:
        render(pixels)
