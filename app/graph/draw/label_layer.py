"""The texts of a drawing, made when they come into view.

A drawing of 2,000 states has some 6,000 texts; making them all would block the
window for half a second, and those that are far out of view or too small to
read are never seen. So a text becomes an item when its place first comes into
view at a zoom that it can be read at.
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
    """One text: where its middle is, and how much room was kept for it."""

    text: str
    x: float
    y: float
    width: float
    height: float

    @property
    def rect(self) -> QRectF:
        """The room."""
        return QRectF(self.x - self.width / 2, self.y - self.height / 2, self.width, self.height)


@dataclass(frozen=True, slots=True)
class LabelColours:
    """How one text is written; no ground: straight on what lies below."""

    colour: QColor
    bold: bool = False
    ground: QColor | None = None


class LabelLayer(Generic[Key]):
    """The texts of one kind, on one scene."""

    def __init__(
        self, scene: QGraphicsScene, z: float, font: Callable[[], QFont], ink: Callable[[Key], LabelColours]
    ) -> None:
        self._root = QGraphicsRectItem()
        self._root.setPen(Qt.PenStyle.NoPen)
        self._root.setZValue(z)
        scene.addItem(self._root)
        self._font = font
        self._ink = ink
        self._captions: dict[Key, EdgeLabel] = {}
        self._tiles: defaultdict[tuple[int, int], list[Key]] = defaultdict(list)  # by where they are
        self._items: dict[Key, tuple[QGraphicsRectItem, list[QGraphicsSimpleTextItem]]] = {}
        self._faces: dict[bool, tuple[QFont, QFontMetricsF]] = {}

    def replace(self, captions: dict[Key, EdgeLabel]) -> None:
        """Forget the present texts for others, none of which is made yet."""
        for ground, _ in self._items.values():
            ground.scene().removeItem(ground)
        self._items.clear()
        self._captions = captions
        self._tiles = defaultdict(list)
        for key, caption in captions.items():
            self._tiles[int(caption.x // _TILE), int(caption.y // _TILE)].append(key)

    def reveal(self, view: QRectF) -> None:
        """Make the texts that touch `view`, and show all that are made."""
        left, right, top, bottom = view.left(), view.right(), view.top(), view.bottom()
        if len(self._items) > _MOST_KEPT:
            self._forget_beyond(view)
        for tile in self._tiles_in(view):
            for key in self._tiles.get(tile, ()):
                caption = self._captions[key]
                if key not in self._items and left < caption.x < right and top < caption.y < bottom:
                    self._items[key] = self._made(key, caption)
        self._root.setVisible(True)

    def hide(self) -> None:
        """Hide all texts; they are kept."""
        self._root.setVisible(False)

    def repaint(self, keys: Iterable[Key] | None = None) -> None:
        """Write some texts anew, after their ink changed; all of them, after the theme did."""
        if keys is None:
            self._faces.clear()
            keys = self._items
        for key in keys:
            if key in self._items:
                self._write(key, *self._items[key])

    def at(self, point: QPointF) -> Key | None:
        """Whose text lies at a point, if texts are shown at all."""
        if not self._root.isVisible():
            return None
        return next((key for key in self._items if self._captions[key].rect.contains(point)), None)

    @property
    def made(self) -> int:
        """How many texts have become items."""
        return len(self._items)

    def _tiles_in(self, view: QRectF) -> Iterable[tuple[int, int]]:
        columns = range(int(view.left() // _TILE), int(view.right() // _TILE) + 1)
        rows = range(int(view.top() // _TILE), int(view.bottom() // _TILE) + 1)
        if len(columns) * len(rows) > len(self._tiles):
            return list(self._tiles)
        return ((column, row) for column in columns for row in rows)

    def _forget_beyond(self, view: QRectF) -> None:
        """Every item costs time in every frame, be it in view or not."""
        for key, (ground, _) in list(self._items.items()):
            if not self._captions[key].rect.intersects(view):
                ground.scene().removeItem(ground)
                del self._items[key]

    def _made(self, key: Key, caption: EdgeLabel) -> tuple[QGraphicsRectItem, list[QGraphicsSimpleTextItem]]:
        ground = QGraphicsRectItem(caption.rect, self._root)
        ground.setPen(Qt.PenStyle.NoPen)
        lines = [QGraphicsSimpleTextItem(line, ground) for line in caption.text.split("\n")]
        self._write(key, ground, lines)
        return ground, lines

    def _write(self, key: Key, ground: QGraphicsRectItem, lines: list[QGraphicsSimpleTextItem]) -> None:
        ink = self._ink(key)
        font, metrics = self._face(ink.bold)
        ground.setBrush(ink.ground if ink.ground is not None else Qt.BrushStyle.NoBrush)
        caption = self._captions[key]
        widths = [metrics.horizontalAdvance(line.text()) for line in lines]
        width, height = max(widths), len(lines) * metrics.height()
        for number, (line, own) in enumerate(zip(lines, widths, strict=True)):
            line.setFont(font)
            line.setBrush(ink.colour)
            line.setPos(caption.x - own / 2, caption.y - height / 2 + number * metrics.height())
        # The room has some air, which the line beside the text may well show through.
        ground.setRect(caption.x - width / 2 - 2, caption.y - height / 2, width + 4, height)

    def _face(self, bold: bool) -> tuple[QFont, QFontMetricsF]:
        """The font and its measures, which cost more to make than a text."""
        if bold not in self._faces:
            font = self._font()
            font.setBold(bold)
            self._faces[bold] = font, QFontMetricsF(font)
        return self._faces[bold]
