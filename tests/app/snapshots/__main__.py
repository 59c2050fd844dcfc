"""Draws the pictures anew, and sheets of all of them to look at:  python -m tests.app.snapshots [FOLDER [POINTS]]

With a size of the text in points, only the sheets are drawn: at 9, 11 and 14 nothing may be cut or overlap.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

_WIDTH, _HEIGHT, _GAP = 2000, 1500, 12  # of a sheet, and between pictures


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
    from environment import set_environment

    folder, points = (*sys.argv[1:], "", "")[:2]
    with tempfile.TemporaryDirectory(prefix="turnstile-pictures-", ignore_cleanup_errors=True) as home:
        set_environment(Path(home))
        draw_all(Path(folder) if folder else None, int(points) if points else None)


def draw_all(sheets: Path | None, points: int | None = None) -> None:
    """Draw all pictures; write them, unless the text has another size, and the sheets where a folder is given."""
    from PySide6.QtWidgets import QApplication

    from app import theme
    from tests.app.snapshots import pictures

    app = QApplication(sys.argv[:1])
    if points is not None:
        theme.themes.text_size = points - round(theme.ui_font().pointSizeF())
    pictures.FOLDER.mkdir(exist_ok=True)
    for colours in ("light", "dark"):
        theme.apply(app, colours)
        drawn: list[QImage] = []
        for state in pictures.STATES:
            drawn.append(pictures.drawn(app, state, colours))
            if points is None:
                pictures.halved(drawn[-1]).save(str(pictures.kept(state, colours)), "PNG", 0)
        if sheets is not None:
            sheets.mkdir(parents=True, exist_ok=True)
            for number, sheet in enumerate(_sheets(drawn)):
                sheet.save(str(sheets / f"{colours}-{number:02}.png"))


def _sheets(drawn: list[QImage]) -> list[QImage]:
    """Return the sheets of pictures, from left to right and from top to bottom."""
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QColor, QImage, QPainter

    pages: list[list[tuple[QPoint, QImage]]] = [[]]
    x = y = row = 0
    for picture in drawn:
        if x + picture.width() > _WIDTH:
            x, y, row = 0, y + row + _GAP, 0
        if pages[-1] and y + picture.height() > _HEIGHT:
            pages.append([])
            x = y = row = 0
        pages[-1].append((QPoint(x, y), picture))
        x, row = x + picture.width() + _GAP, max(row, picture.height())
    found = []
    for placed in pages:
        height = max(at.y() + picture.height() for at, picture in placed)
        sheet = QImage(_WIDTH, height, QImage.Format.Format_RGB32)
        sheet.fill(QColor("#888888"))
        painter = QPainter(sheet)
        for at, picture in placed:
            painter.drawImage(at, picture)
        painter.end()
        found.append(sheet)
    return found


if __name__ == "__main__":
    main()
