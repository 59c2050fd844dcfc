"""Pictures of states: drawn, kept, and compared.

What is kept is small: each picture at half its size, in grey and colour alike. Two
pictures are alike where hardly a pixel of the halves differs, so that a line that is
drawn with another rounding passes, and a text that moved does not. Fonts and their
rendering are those of `environment`, the same on every machine.
"""

from __future__ import annotations

from pathlib import Path

from event_loop import turns
from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt
from PySide6.QtGui import QCursor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app import theme
from tests.app.snapshots.states import STATES

FOLDER = Path(__file__).parent / "images"
LEAST_STEP = 40  # of 255, in a channel: more than antialiasing makes of a shifted half-pixel
MOST_DIFFERENT = 0.01  # of all pixels
_REDRAWING_MS = 200  # some panes draw anew only once the window has a moment
_BESIDE = -100, -100  # where the pointer is: nothing is drawn as if it were under it


def drawn(app: QApplication, state: str, colours: str, *, built_in: str = "") -> QImage:
    """A state in a theme, at its full size; it may be built in another one, which changes while it is shown."""
    theme.apply(app, built_in or colours)
    app.styleHints().setCursorFlashTime(0)  # the cursor is always drawn
    QCursor.setPos(*_BESIDE)
    widget = STATES[state]()
    app.processEvents()
    if built_in:
        theme.apply(app, colours)
        QTest.qWait(_REDRAWING_MS)
        turns()  # on a busy machine the wait may be over before the timers that are due have fired
    picture = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    widget.close()
    widget.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return picture


def halved(picture: QImage) -> QImage:
    """A picture at half its size."""
    size = QSize(picture.width() // 2, picture.height() // 2)
    small = picture.scaled(size, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
    return small.convertToFormat(QImage.Format.Format_RGB888)


def different(one: QImage, other: QImage) -> float:
    """The share of pixels that differ, 0 to 1; 1 where the sizes do."""
    if one.size() != other.size():
        return 1.0
    count = 0
    for y in range(one.height()):
        left, right = (bytes(image.constScanLine(y))[: 3 * image.width()] for image in (one, other))
        if left != right:
            count += sum(
                max(abs(a - b) for a, b in zip(left[x : x + 3], right[x : x + 3], strict=True)) > LEAST_STEP
                for x in range(0, len(left), 3)
            )
    return count / (one.width() * one.height())


def kept(state: str, colours: str) -> Path:
    """Where a picture is kept."""
    return FOLDER / f"{state}-{colours}.png"
