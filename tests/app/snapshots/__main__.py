"""Draws the pictures anew, and a sheet of all of them to look at:  python -m tests.app.snapshots [SHEET FOLDER]"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
    from environment import set_environment

    with tempfile.TemporaryDirectory(prefix="turnstile-pictures-", ignore_cleanup_errors=True) as home:
        set_environment(Path(home))
        draw_all(Path(sys.argv[1]) if len(sys.argv) > 1 else None)


def draw_all(sheets: Path | None) -> None:
    """Draw and write all pictures, and the sheets where a folder for them is given."""
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QColor, QImage, QPainter
    from PySide6.QtWidgets import QApplication

    from app import theme
    from tests.app.snapshots import pictures

    app = QApplication(sys.argv[:1])
    pictures.FOLDER.mkdir(exist_ok=True)
    for colours in ("light", "dark"):
        theme.apply(app, colours)
        placed: list[tuple[QPoint, QImage]] = []
        x = y = row = 0
        for state in pictures.STATES:
            picture = pictures.drawn(app, state, colours)
            pictures.halved(picture).save(str(pictures.kept(state, colours)), "PNG", 0)
            if x + picture.width() > 2000:
                x, y, row = 0, y + row + 12, 0
            placed.append((QPoint(x, y), picture))
            x, row = x + picture.width() + 12, max(row, picture.height())
        if sheets is not None:
            sheets.mkdir(parents=True, exist_ok=True)
            sheet = QImage(2012, y + row, QImage.Format.Format_RGB32)
            sheet.fill(QColor("#888888"))
            painter = QPainter(sheet)
            for at, picture in placed:
                painter.drawImage(at, picture)
            painter.end()
            sheet.save(str(sheets / f"{colours}.png"))


if __name__ == "__main__":
    main()
