"""A grammar in words as a Qt tree: one row for each phrase, made when its holder is unfolded."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.display_text import unmarked
from app.theme.plain_text import plain_text
from engine.diagnosis.explanation_tree import Description, Phrase

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_TOP = -1  # the number of what holds the outermost phrases

PHRASE_ROLE = Qt.ItemDataRole.UserRole


class PhrasesModel(QAbstractItemModel):
    """The phrases of one description; the number of a phrase is its place in the order of reading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._phrases: tuple[Phrase, ...] = ()
        self._inner: dict[int, list[int]] = {}  # by the number of what holds them, once they were asked for
        self._place: dict[int, tuple[int, int]] = {}  # of a phrase: what holds it, and its row there

    def show(self, description: Description) -> None:
        """Show another description."""
        self.beginResetModel()
        self._phrases = description.phrases
        self._inner, self._place = {}, {}
        self.endResetModel()

    @property
    def count(self) -> int:
        """How many phrases there are."""
        return len(self._phrases)

    def phrase(self, index: Index) -> Phrase:
        """The phrase of a row."""
        return self._phrases[index.internalId()]

    def number(self, index: Index) -> int:
        """The number of a row's phrase."""
        return int(index.internalId())

    def index_of(self, number: int) -> QModelIndex:
        """The row of a phrase by its number."""
        way = [number]
        while self._phrases[way[-1]].depth:
            way.append(self._holder(way[-1]))
        for holder in reversed(way[1:]):
            self._within(holder)
        self._within(_TOP)
        return self.createIndex(self._place[number][1], 0, number)

    def innermost(self, offset: int) -> int | None:
        """The number of the smallest phrase that holds a code point; None where none does."""
        found: int | None = None
        inner = self._within(_TOP)
        while inner:
            held = next((number for number in inner if offset in self._phrases[number].span), None)
            if held is None:
                break
            found, inner = held, self._within(held)
        return found

    def find(self, text: str) -> list[int]:
        """The numbers of the phrases that hold a text, whatever its case."""
        wanted = text.casefold()
        if not wanted:
            return []
        return [number for number, phrase in enumerate(self._phrases) if wanted in phrase.text.casefold()]

    def rowCount(self, parent: Index = _ROOT) -> int:
        """One row for each phrase that a phrase holds."""
        return len(self._within(parent.internalId() if parent.isValid() else _TOP))

    def hasChildren(self, parent: Index = _ROOT) -> bool:
        """Whether a phrase holds others, without making them."""
        return bool(self._phrases[parent.internalId()].size if parent.isValid() else self._phrases)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """One column."""
        return 1

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """The index of a row."""
        inner = self._within(parent.internalId() if parent.isValid() else _TOP)
        return self.createIndex(row, column, inner[row]) if 0 <= row < len(inner) and column == 0 else QModelIndex()

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]  # Qt has two of that name
        """What holds a phrase."""
        if not index.isValid():
            return QModelIndex()
        holder = self._place[index.internalId()][0]
        return QModelIndex() if holder == _TOP else self.createIndex(self._place[holder][1], 0, holder)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The words."""
        if not index.isValid():
            return None
        phrase = self._phrases[index.internalId()]
        if role == PHRASE_ROLE:
            return phrase
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(unmarked(phrase.text))
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return unmarked(phrase.text)
        return None

    def _holder(self, number: int) -> int:
        depth, before = self._phrases[number].depth, number - 1
        while self._phrases[before].depth >= depth:
            before -= 1
        return before

    def _within(self, holder: int) -> list[int]:
        if holder not in self._inner:
            at = holder + 1
            end = len(self._phrases) if holder == _TOP else at + self._phrases[holder].size
            inner: list[int] = []
            while at < end:
                self._place[at] = holder, len(inner)
                inner.append(at)
                at += self._phrases[at].size + 1
            self._inner[holder] = inner
        return self._inner[holder]
