"""The texts of a drawing, created when they become visible.

A drawing of 2,000 states has some 6,000 texts; creating them all would block the window for half a second, and those
that are far outside of the view or too small to read are never seen. So a text becomes an item when its position first
becomes visible at a readable zoom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QGraphicsRectItem, QGraphicsScene, QGraphicsSimpleTextItem

_MOST_KEPT = 600
_TILE = 400.0

Key = TypeVar("Key", bound=Hashable)


class EdgeLabel(NamedTuple):
    """A text with its centre and the size reserved for it."""

    text: str
    x: float
    y: float
    width: float
    height: float

    @property
    def rect(self) -> QRectF:
        """Return the reserved rectangle."""
        return QRectF(self.x - self.width / 2, self.y - self.height / 2, self.width, self.height)


@dataclass(frozen=True, slots=True)
class LabelColours:
    """The style of a text; `ground` is None for a transparent background."""

    colour: QColor
    bold: bool = False
    background: QColor | None = None


class LabelLayer(Generic[Key]):
    """The texts of one kind in one scene."""

    def __init__(
        self, scene: QGraphicsScene, z: float, font: Callable[[], QFont], style: Callable[[Key], LabelColours]
    ) -> None:
        self._root = QGraphicsRectItem()
        self._root.setPen(Qt.PenStyle.NoPen)
        self._root.setZValue(z)
        scene.addItem(self._root)
        self._font = font
        self._style_of = style
        self._labels: dict[Key, EdgeLabel] = {}
        self._tiles: defaultdict[tuple[int, int], list[Key]] = defaultdict(list)  # by position
        self._items: dict[Key, tuple[QGraphicsRectItem, list[QGraphicsSimpleTextItem]]] = {}
        self._fonts: dict[bool, tuple[QFont, QFontMetricsF]] = {}

    def replace(self, labels: dict[Key, EdgeLabel]) -> None:
        """Replace all texts; items are created later."""
        for background, _ in self._items.values():
            background.scene().removeItem(background)
        self._items.clear()
        self._labels = labels
        self._tiles = defaultdict(list)
        for key, label in labels.items():
            self._tiles[int(label.x // _TILE), int(label.y // _TILE)].append(key)

    def reveal(self, view: QRectF) -> None:
        """Create the texts that touch `view`, and show all that exist."""
        left, right, top, bottom = view.left(), view.right(), view.top(), view.bottom()
        if len(self._items) > _MOST_KEPT:
            self._remove_outside(view)
        for tile in self._tiles_in(view):
            for key in self._tiles.get(tile, ()):
                label = self._labels[key]
                if key not in self._items and left < label.x < right and top < label.y < bottom:
                    self._items[key] = self._create(key, label)
        self._root.setVisible(True)

    def hide(self) -> None:
        """Hide all texts; they are kept."""
        self._root.setVisible(False)

    def repaint(self, keys: Iterable[Key] | None = None) -> None:
        """Update the style of some texts; all of them after a change of the theme."""
        if keys is None:
            self._fonts.clear()
            keys = self._items
        for key in keys:
            if key in self._items:
                self._update_item(key, *self._items[key])

    def at(self, point: QPointF) -> Key | None:
        """Return the key of the text at a point, if texts are shown at all."""
        if not self._root.isVisible():
            return None
        return next((key for key in self._items if self._labels[key].rect.contains(point)), None)

    @property
    def made(self) -> int:
        """Return the number of texts that have items."""
        return len(self._items)

    def _tiles_in(self, view: QRectF) -> Iterable[tuple[int, int]]:
        columns = range(int(view.left() // _TILE), int(view.right() // _TILE) + 1)
        rows = range(int(view.top() // _TILE), int(view.bottom() // _TILE) + 1)
        if len(columns) * len(rows) > len(self._tiles):
            return list(self._tiles)
        return ((column, row) for column in columns for row in rows)

    def _remove_outside(self, view: QRectF) -> None:
        """Remove the items outside of the view: every item costs time in every frame, visible or not."""
        for key, (background, _) in list(self._items.items()):
            if not self._labels[key].rect.intersects(view):
                background.scene().removeItem(background)
                del self._items[key]

    def _create(self, key: Key, label: EdgeLabel) -> tuple[QGraphicsRectItem, list[QGraphicsSimpleTextItem]]:
        background = QGraphicsRectItem(label.rect, self._root)
        background.setPen(Qt.PenStyle.NoPen)
        lines = [QGraphicsSimpleTextItem(line, background) for line in label.text.split("\n")]
        self._update_item(key, background, lines)
        return background, lines

    def _update_item(self, key: Key, background: QGraphicsRectItem, lines: list[QGraphicsSimpleTextItem]) -> None:
        style = self._style_of(key)
        font, metrics = self._font_and_metrics(style.bold)
        background.setBrush(style.background if style.background is not None else Qt.BrushStyle.NoBrush)
        label = self._labels[key]
        widths = [metrics.horizontalAdvance(line.text()) for line in lines]
        width, height = max(widths), len(lines) * metrics.height()
        for number, (line, width_) in enumerate(zip(lines, widths, strict=True)):
            line.setFont(font)
            line.setBrush(style.colour)
            line.setPos(label.x - width_ / 2, label.y - height / 2 + number * metrics.height())
        # The rectangle has a margin, through which the line beside the text may show.
        background.setRect(label.x - width / 2 - 2, label.y - height / 2, width + 4, height)

    def _font_and_metrics(self, bold: bool) -> tuple[QFont, QFontMetricsF]:
        """Return the font and its metrics, which cost more to create than a text."""
        if bold not in self._fonts:
            font = self._font()
            font.setBold(bold)
            self._fonts[bold] = font, QFontMetricsF(font)
        return self._fonts[bold]
