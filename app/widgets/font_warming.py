"""Looks up fallback fonts before a token needs them.

The tokens of a large vocabulary are written in forty scripts, few of which a fixed-width font has. Qt looks for another
font when it first meets a character of a script: measured, 3 to 5 ms for each, which would delay the first steps of a
session one after another. So one character of each script is laid out in advance, one at a time, while the application
is idle.
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
    """Lays out one character of each script in the font of tokens."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._samples: list[str] = []
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self._take_one)

    @property
    def is_done(self) -> bool:
        """Return whether all samples are done."""
        return not self._samples

    @property
    def is_running(self) -> bool:
        """Return whether the timer is running."""
        return self._timer.isActive()

    def start(self) -> None:
        """Start with the first sample; samples that this font has laid out before take almost no time."""
        self._samples = list(reversed(_SAMPLES))
        self._timer.start()

    def _take_one(self) -> None:
        if self._samples:
            font, sample = theme.mono_font(), self._samples.pop()
            static_text = QStaticText(sample)
            static_text.setTextFormat(Qt.TextFormat.PlainText)
            static_text.prepare(font=font)
            QFontMetricsF(font).horizontalAdvance(sample)
        else:
            self._timer.stop()
