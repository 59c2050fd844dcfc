"""Fonts for other scripts, found before a token needs them.

The tokens of a large vocabulary are written in forty scripts, few of which a fixed-width
font has. Qt looks for another font when it first meets a letter of a script: measured,
3 to 5 ms for each, which the first steps of a session would wait for one after the
other. So a letter of each is laid out beforehand, one at a time, while nothing happens.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QStaticText

from app import theme

_EVERY_MS: Final = 10
_SAMPLES: Final = (
    *(
        "␣",
        "↵",
        "é",
        "ế",
        "я",
        "λ",
        "一",
        "の",
        "ア",
        "징",
        "ع",
        "ک",
        "ש",
        "ह",
        "ध्",
        "ส",
        "বা",
        "த",
        "అం",
        "ಎ",
        "ി",
        "સ",
    ),
    *("ਸ", "ଓ", "සි", "မြ", "ខ្", "ລ", "ཀ", "ზ", "հ", "አ", "ᏸ", "ᠮ", "→", "∑", "😀", "\N{REPLACEMENT CHARACTER}", "Ⅷ"),
)


class FontWarming(QObject):
    """Lays a letter of each script out in the font of tokens."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: list[str] = []
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self._take_one)

    @property
    def is_done(self) -> bool:
        """Whether nothing is waiting."""
        return not self._waiting

    @property
    def is_at_work(self) -> bool:
        """Whether it still looks for something to lay out."""
        return self._timer.isActive()

    def begin(self) -> None:
        """Begin with the first one; what was laid out in this font before takes next to no time."""
        self._waiting = list(reversed(_SAMPLES))
        self._timer.start()

    def _take_one(self) -> None:
        if self._waiting:
            font, sample = theme.mono_font(), self._waiting.pop()
            laid = QStaticText(sample)
            laid.setTextFormat(Qt.TextFormat.PlainText)
            laid.prepare(font=font)
            QFontMetricsF(font).horizontalAdvance(sample)
        else:
            self._timer.stop()
