"""The texts of a drawing, made when they come into view.

A drawing of 2,000 states has some 6,000 texts; making them all would block the
window for half a second, and those that are far out of view or too small to
read are never seen. So a text becomes an item when its place first comes into
view at a zoom that it can be read at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QGraphicsRectItem, QGraphicsScene, QGraphicsSimpleTextItem

Key = TypeVar("Key", bound=Hashable)


class Caption(NamedTuple):
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
class Ink:
    """How one text is written; no ground: straight on what lies below."""

    colour: QColor
    bold: bool = False
    ground: QColor | None = None


class Captions(Generic[Key]):
    """The texts of one kind, on one scene."""

    def __init__(self, scene: QGraphicsScene, z: float, font: Callable[[], QFont], ink: Callable[[Key], Ink]) -> None:
        self._root = QGraphicsRectItem()
        self._root.setPen(Qt.PenStyle.NoPen)
        self._root.setZValue(z)
        scene.addItem(self._root)
        self._font = font
        self._ink = ink
        self._captions: dict[Key, Caption] = {}
        self._items: dict[Key, tuple[QGraphicsRectItem, QGraphicsSimpleTextItem]] = {}
        self._faces: dict[bool, tuple[QFont, QFontMetricsF]] = {}

    def replace(self, captions: dict[Key, Caption]) -> None:
        """Forget the present texts for others, none of which is made yet."""
        for ground, _ in self._items.values():
            ground.scene().removeItem(ground)
        self._items.clear()
        self._captions = captions

    def reveal(self, view: QRectF) -> None:
        """Make the texts that touch `view`, and show all that are made."""
        left, right, top, bottom = view.left(), view.right(), view.top(), view.bottom()
        for key, caption in self._captions.items():
            if key not in self._items and left < caption.x < right and top < caption.y < bottom:
                self._items[key] = self._made(key, caption)
        self._root.setVisible(True)

    def hide(self) -> None:
        """Hide all texts; they are kept."""
        self._root.setVisible(False)

    def repaint(self) -> None:
        """Write every text anew, after its ink changed."""
        self._faces.clear()
        for key, items in self._items.items():
            self._write(key, *items)

    def at(self, point: QPointF) -> Key | None:
        """Whose text lies at a point, if texts are shown at all."""
        if not self._root.isVisible():
            return None
        return next((key for key in self._items if self._captions[key].rect.contains(point)), None)

    @property
    def made(self) -> int:
        """How many texts have become items."""
        return len(self._items)

    def _made(self, key: Key, caption: Caption) -> tuple[QGraphicsRectItem, QGraphicsSimpleTextItem]:
        ground = QGraphicsRectItem(caption.rect, self._root)
        ground.setPen(Qt.PenStyle.NoPen)
        text = QGraphicsSimpleTextItem(caption.text, ground)
        self._write(key, ground, text)
        return ground, text

    def _write(self, key: Key, ground: QGraphicsRectItem, text: QGraphicsSimpleTextItem) -> None:
        ink = self._ink(key)
        font, metrics = self._face(ink.bold)
        text.setFont(font)
        text.setBrush(ink.colour)
        ground.setBrush(ink.ground if ink.ground is not None else Qt.BrushStyle.NoBrush)
        caption = self._captions[key]
        lines = caption.text.split("\n")
        width, height = max(map(metrics.horizontalAdvance, lines)), len(lines) * metrics.height()
        text.setPos(caption.x - width / 2, caption.y - height / 2)
        # The room has some air, which the line beside the text may well show through.
        ground.setRect(caption.x - width / 2 - 2, caption.y - height / 2, width + 4, height)

    def _face(self, bold: bool) -> tuple[QFont, QFontMetricsF]:
        """The font and its measures, which cost more to make than a text."""
        if bold not in self._faces:
            font = self._font()
            font.setBold(bold)
            self._faces[bold] = font, QFontMetricsF(font)
        return self._faces[bold]
