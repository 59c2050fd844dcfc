"""The description of a grammar as a Qt tree: one row for each phrase, created when its parent is expanded."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.display_text import unmarked
from app.theme.labels import plain_text
from engine.notations.explanation import Description, Phrase

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_TOP = -1  # the parent number of the outermost phrases

PHRASE_ROLE = Qt.ItemDataRole.UserRole


class PhrasesModel(QAbstractItemModel):
    """The phrases of one description; the number of a phrase is its position in reading order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._phrases: tuple[Phrase, ...] = ()
        self._children: dict[int, list[int]] = {}  # by the number of the parent, once they were requested
        self._parent_and_row: dict[int, tuple[int, int]] = {}  # of a phrase: its parent, and its row there

    def show(self, description: Description) -> None:
        """Show another description."""
        self.beginResetModel()
        self._phrases = description.phrases
        self._children, self._parent_and_row = {}, {}
        self.endResetModel()

    @property
    def count(self) -> int:
        """Return the number of phrases."""
        return len(self._phrases)

    def phrase(self, index: Index) -> Phrase:
        """Return the phrase of a row."""
        return self._phrases[index.internalId()]

    def number(self, index: Index) -> int:
        """Return the number of a row's phrase."""
        return int(index.internalId())

    def index_of(self, number: int) -> QModelIndex:
        """Return the row of a phrase by its number."""
        path = [number]
        while self._phrases[path[-1]].depth:
            path.append(self._parent_of(path[-1]))
        for parent_number in reversed(path[1:]):
            self._children_of(parent_number)
        self._children_of(_TOP)
        return self.createIndex(self._parent_and_row[number][1], 0, number)

    def innermost(self, offset: int) -> int | None:
        """Return the number of the smallest phrase that covers a code point; None if none does."""
        found: int | None = None
        children = self._children_of(_TOP)
        while children:
            child = next((number for number in children if offset in self._phrases[number].span), None)
            if child is None:
                break
            found, children = child, self._children_of(child)
        return found

    def find(self, text: str) -> list[int]:
        """Return the numbers of the phrases that contain a text, ignoring case."""
        wanted = text.casefold()
        if not wanted:
            return []
        return [number for number, phrase in enumerate(self._phrases) if wanted in phrase.text.casefold()]

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of child phrases."""
        return len(self._children_of(parent.internalId() if parent.isValid() else _TOP))

    def hasChildren(self, parent: Index = _ROOT) -> bool:
        """Return whether a phrase has children, without creating them."""
        return bool(self._phrases[parent.internalId()].size if parent.isValid() else self._phrases)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return 1."""
        return 1

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """Return the index of a row."""
        children = self._children_of(parent.internalId() if parent.isValid() else _TOP)
        return (
            self.createIndex(row, column, children[row]) if 0 <= row < len(children) and column == 0 else QModelIndex()
        )

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]  # Qt has two methods of that name
        """Return the parent of a phrase."""
        if not index.isValid():
            return QModelIndex()
        parent_number = self._parent_and_row[index.internalId()][0]
        return (
            QModelIndex()
            if parent_number == _TOP
            else self.createIndex(self._parent_and_row[parent_number][1], 0, parent_number)
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text of a phrase."""
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

    def _parent_of(self, number: int) -> int:
        depth, before = self._phrases[number].depth, number - 1
        while self._phrases[before].depth >= depth:
            before -= 1
        return before

    def _children_of(self, parent_number: int) -> list[int]:
        if parent_number not in self._children:
            at = parent_number + 1
            end = len(self._phrases) if parent_number == _TOP else at + self._phrases[parent_number].size
            children: list[int] = []
            while at < end:
                self._parent_and_row[at] = parent_number, len(children)
                children.append(at)
                at += self._phrases[at].size + 1
            self._children[parent_number] = children
        return self._children[parent_number]
