"""The background colour of a chip: its token's probability, who chose it, its surprise, or its time.

The length of the line under the chip repeats the value, so that it does not depend on telling two tints apart. A forced
chip has a frame and an illegal one is struck through in all of them. Each scale has one hue, from the chip's own
background to its full tint; both ends are in the legend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import theme
from app.catalogue import ui_text
from app.panes.generation.chip import Chip, ChipKind
from app.theme.labels import plain_text
from app.widgets.token_paint import mix

Role = theme.Role

UNLIKELY = 0.01  # the probability below which a token is highlighted
_MOST_SURPRISING = 0.001
_STEPS = 5  # of a legend
_CELL = 15
_BAR = 2.0


class ChipColours(StrEnum):
    """The quantity that the colour of chips shows."""

    PROBABILITY = "probability"
    CHOICE = "choice"
    SURPRISE = "surprise"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class _Scale:
    """The appearance of a scale.

    Attributes:
        by: the value that it shows.
        fill: the tint of its far end.
        line: the colour of the line under a chip.
    """

    by: ChipColours
    fill: Role
    line: Role

    @property
    def title(self) -> str:
        """Return its name in the menu."""
        return ui_text(f"generation.scale.{self.by.value}.name")

    @property
    def tip(self) -> str:
        """Return what it shows, in a sentence."""
        return ui_text(f"generation.scale.{self.by.value}.tip")

    @property
    def ends(self) -> tuple[str, str]:
        """Return the texts at the ends of its legend."""
        low = ui_text(f"generation.scale.{self.by.value}.fragment.low")
        return low, ui_text(f"generation.scale.{self.by.value}.fragment.high")


SCALES = {
    scale.by: scale
    for scale in (
        _Scale(ChipColours.PROBABILITY, Role.ALLOWED_FILL, Role.BAR_MASKED),
        _Scale(ChipColours.CHOICE, Role.SELECTION, Role.ACCENT),
        _Scale(ChipColours.SURPRISE, Role.LIVE_FILL, Role.LIVE),
        _Scale(ChipColours.TIME, Role.HINT_FILL, Role.HINT),
    )
}
_FIXED = {
    ChipKind.ILLEGAL: (Role.ERROR_FILL, Role.ERROR),
    ChipKind.PLAIN: (Role.RAISED, Role.TEXT),
}
_FORCED = Role.FORCED_FILL, Role.FORCED


def share_of(chip: Chip, by: ChipColours, slowest_ms: float) -> float | None:
    """Return the position of a chip on its scale.

    Args:
        chip: the chip of a token.
        by: the property that colours the chips.
        slowest_ms: the time of the slowest step, the end of the scale of times, in milliseconds.

    Returns:
        0 to 1; None without a value.
    """
    if chip.kind is ChipKind.PLAIN:
        return None
    match by:
        case ChipColours.CHOICE:
            return min(1.0, math.log(max(1, chip.allowed)) / math.log(1000)) if chip.allowed else None
        case ChipColours.TIME:
            return chip.time_ms / slowest_ms if chip.time_ms is not None and slowest_ms > 0 else None
        case _ if chip.p is None or chip.kind is ChipKind.REPLAYED:
            return None
        case ChipColours.PROBABILITY:
            return min(max(chip.p, 0.0), 1.0)
        case ChipColours.SURPRISE:
            return min(1.0, math.log(max(chip.p, _MOST_SURPRISING)) / math.log(_MOST_SURPRISING))


def colours_of(chip: Chip, by: ChipColours, share: float | None) -> tuple[QColor, QColor]:
    """Return the background and the text colour of a chip.

    Args:
        chip: the chip of a token.
        by: the property that colours the chips.
        share: its position on the scale, 0 to 1; None without a value.
    """
    if chip.kind in _FIXED:
        fill, ink = _FIXED[chip.kind]
        return theme.colour(fill), theme.colour(ink)
    if chip.kind in (ChipKind.FORCED, ChipKind.FAST_FORWARDED) and by in (ChipColours.PROBABILITY, ChipColours.CHOICE):
        return theme.colour(_FORCED[0]), theme.colour(_FORCED[1])
    text = theme.colour(Role.TEXT)
    if share is None:
        return theme.colour(Role.RAISED), text
    if by is ChipColours.PROBABILITY and share < UNLIKELY:
        return theme.colour(Role.WARNING_FILL), text
    return tint(by, share), text


def tint(by: ChipColours, share: float) -> QColor:
    """Return the background at a position of a scale."""
    return mix(theme.colour(Role.RAISED), theme.colour(SCALES[by].fill), 0.15 + 0.85 * share)


def line_of(by: ChipColours, share: float) -> QColor:
    """Return the colour of the line under a chip."""
    is_unlikely = by is ChipColours.PROBABILITY and share < UNLIKELY
    return theme.colour(Role.WARNING if is_unlikely else SCALES[by].line)


class Legend(QWidget):
    """The two ends of a scale with a gradient between them: a tint, and a line that grows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._by = ChipColours.PROBABILITY
        self.show_scale(self._by)

    def show_scale(self, by: ChipColours) -> None:
        """Show another scale."""
        self._by = by
        scale = SCALES[by]
        self.setToolTip(plain_text(f"{scale.title}: {scale.tip}"))
        low, high = scale.ends
        self.setAccessibleName(ui_text("generation.output.legend", scale=scale.title, low=low, high=high))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the ends and the cells between them."""
        metrics = QFontMetrics(theme.ui_font(-1.0))
        ends = sum(metrics.horizontalAdvance(end) for end in SCALES[self._by].ends)
        return QSize(ends + _STEPS * _CELL + 3 * theme.SPACE_XS, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        """Return the full size: the legend is never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the legend."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme.ui_font(-1.0)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        low, high = SCALES[self._by].ends
        x = float(metrics.horizontalAdvance(low) + theme.SPACE_XS)
        painter.setPen(theme.colour(Role.MUTED))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, low)
        height = float(min(self.height() - 2, 14))
        top = (self.height() - height) / 2
        for step in range(_STEPS):
            share = step / (_STEPS - 1)
            self._paint_cell(painter, QRectF(x, top, _CELL - 2, height), share, is_first=step == 0)
            x += _CELL
        rest = QRectF(x + theme.SPACE_XS - 2, 0, self.width() - x, self.height())
        painter.setPen(theme.colour(Role.MUTED))
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, high)

    def _paint_cell(self, painter: QPainter, box: QRectF, share: float, *, is_first: bool) -> None:
        is_unlikely = is_first and self._by is ChipColours.PROBABILITY
        is_forced = is_first and self._by is ChipColours.CHOICE
        fill = Role.WARNING_FILL if is_unlikely else Role.FORCED_FILL
        painter.setBrush(theme.colour(fill) if is_unlikely or is_forced else tint(self._by, share))
        painter.setPen(QPen(theme.colour(Role.FORCED if is_forced else Role.BORDER), 1))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        if not is_forced:
            line = QRectF(box.left() + 2, box.bottom() - 3, max(2.0, share * (box.width() - 4)), _BAR)
            painter.fillRect(line, theme.colour(Role.WARNING if is_unlikely else SCALES[self._by].line))
