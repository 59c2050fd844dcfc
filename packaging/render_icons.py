"""Draws the icon from its SVG: `.venv/bin/python packaging/render_icons.py` writes the PNG sizes beside it.

The SVG is the source; the pictures are kept beside it because a desktop reads
them where no Qt is at hand to draw. The files with several sizes that Windows
and macOS want are made by `packaging/make_bundle.py` alone.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 32, 48, 128, 256)
ICONS = Path(__file__).resolve().parent.parent / "resources" / "icons"
ICO_SIZES: Final = (16, 32, 48, 256)
ICNS_TYPES: Final = {16: b"icp4", 32: b"icp5", 64: b"icp6", 128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10"}
"""The type of each size in an icon of macOS."""


def picture(size: int) -> bytes:
    """Return the icon as PNG, `size` pixels square."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(ICONS / "turnstile.svg")).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]  # its stubs want bytes, which it refuses
        raise OSError(f"cannot write a picture of {size} pixels")
    return bytes(buffer.data().data())


def ico(pictures: Mapping[int, bytes]) -> bytes:
    """Return an icon of Windows.

    Args:
        pictures: PNG files by their size; 256 is the largest that it can have.
    """
    head, body = struct.pack("<HHH", 0, 1, len(pictures)), b""
    offset = len(head) + 16 * len(pictures)
    for size, data in pictures.items():
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), offset + len(body))
        body += data
    return head + body


def icns(pictures: Mapping[int, bytes]) -> bytes:
    """Return an icon of macOS.

    Args:
        pictures: PNG files by their size, one of `ICNS_TYPES`.
    """
    body = b"".join(ICNS_TYPES[size] + struct.pack(">I", len(data) + 8) + data for size, data in pictures.items())
    return b"icns" + struct.pack(">I", len(body) + 8) + body


if __name__ == "__main__":
    for pixels in SIZES:
        (ICONS / f"turnstile-{pixels}.png").write_bytes(picture(pixels))
