"""A parse tree as a Qt tree. What a text shares with the last one keeps its rows, so that they stay expanded."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import theme
from app.catalogue import ui_text
from app.display_text import in_line
from app.models.rows import rest_of_row
from app.theme.labels import plain_text
from engine.diagnosis.parse_trees.values import NodeKind, ParseNode, end_of
from engine.source import SourceText, Span
from engine.source.text import shortened

_COLUMNS = ("part", "text", "grammar")
PART, TEXT, GRAMMAR = range(len(_COLUMNS))
_MOST_BYTES = 160  # of the text of a row
_MOST_CHARACTERS = 80
_TOP = -1

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()

ROLES = {
    NodeKind.RULE: theme.Role.SYNTAX_NAME,
    NodeKind.GROUP: theme.Role.SYNTAX_GROUP,
    NodeKind.ALTERNATIVE: theme.Role.SYNTAX_OPERATOR,
    NodeKind.ITEM: theme.Role.SYNTAX_QUANTIFIER,
    NodeKind.PROPERTY: theme.Role.SYNTAX_NAME,
    NodeKind.VALUE: theme.Role.SYNTAX_CLASS,
    NodeKind.TEXT: theme.Role.SYNTAX_LITERAL,
}
"""The colours of kinds of nodes."""


class ParseRowsModel(QAbstractItemModel):
    """The nodes of one parse tree.

    Attributes:
        nodes: the nodes, each before those below it.
        text: the parsed text.
        legal: the number of its legal bytes, where open nodes end.
        depths: how deep each node is.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.nodes: list[ParseNode] = []
        self.text, self.legal = b"", 0
        self.depths: list[int] = []
        self._source = SourceText("")
        self._parents: list[int] = []
        self._rows: list[int] = []
        self._children: defaultdict[int, list[int]] = defaultdict(list)
        self._starts: list[int] = []
        self._spans: dict[Span, int] | None = None

    # --- contents ----------------------------------------------------------------------------------------------------

    def show(self, nodes: list[ParseNode], kept: int, text: bytes, legal: int) -> None:
        """Show a tree.

        Args:
            nodes: its nodes.
            kept: how many at its beginning are those of the last one.
            text: the text.
            legal: the number of its legal bytes.
        """
        before, self.text, self.legal, self._spans = self.nodes, text, legal, None
        parents, depths = self._parents[:kept], self.depths[:kept]
        stack = self._path(kept - 1) if kept else []
        for index in range(kept, len(nodes)):
            while stack and index >= end_of(nodes, stack[-1]):
                stack.pop()
            parents.append(stack[-1] if stack else _TOP)
            depths.append(len(stack))
            stack.append(index)
        same = kept
        for old, new in zip(before[kept:], nodes[kept:], strict=False):
            if (old.kind, old.start, self._parents[same]) != (new.kind, new.start, parents[same]):
                break
            same += 1
        self._remove_from(same)
        self.nodes, self._parents, self.depths = nodes, parents, depths
        self._starts[kept:] = [node.start for node in nodes[kept:]]
        self._insert_from(same)
        for index in range(kept, same):
            if before[index] != nodes[index]:
                self.dataChanged.emit(self.index_of(index), self.index_of(index, GRAMMAR))
        open_ = [self.index_of(index) for index in self._path(len(nodes) - 1)] if nodes else []
        for one in open_:
            self.dataChanged.emit(one, one.siblingAtColumn(GRAMMAR))  # their texts grow

    def set_source(self, source: SourceText) -> None:
        """Set the text of the grammar."""
        self._source = source

    def _path(self, index: int) -> list[int]:
        """Return the nodes from the root to a node."""
        path = []
        while index != _TOP:
            path.append(index)
            index = self._parents[index]
        return path[::-1]

    def _remove_from(self, same: int) -> None:
        for above in [*reversed(self._path(same - 1) if same else []), _TOP]:
            rows = self._children[above]
            first = bisect_left(rows, same)
            if first < len(rows):
                self.beginRemoveRows(self.index_of(above), first, len(rows) - 1)
                del rows[first:]
                self.endRemoveRows()
        for above in range(same, len(self.nodes)):
            self._children.pop(above, None)
        del self._rows[same:]

    def _insert_from(self, same: int) -> None:
        late: defaultdict[int, list[int]] = defaultdict(list)  # below nodes that have rows already
        for index in range(same, len(self.nodes)):
            above = self._parents[index]
            rows = self._children[above] if above >= same else late[above]
            self._rows.append(len(rows) + (0 if above >= same else len(self._children[above])))
            rows.append(index)
        for above, rows in late.items():
            first = len(self._children[above])
            self.beginInsertRows(self.index_of(above), first, first + len(rows) - 1)
            self._children[above] += rows
            self.endInsertRows()

    # --- nodes -------------------------------------------------------------------------------------------------------

    def index_of(self, node: int, column: int = PART) -> QModelIndex:
        """Return the index of a node."""
        return QModelIndex() if node == _TOP else self.createIndex(self._rows[node], column, node)

    def node_of(self, index: Index) -> int:
        """Return the node of an index; -1 for an invalid one."""
        return int(index.internalId()) if index.isValid() else _TOP

    def range_of(self, node: int) -> tuple[int, int]:
        """Return the bytes of a node."""
        one = self.nodes[node]
        return one.start, self.legal if one.end is None else one.end

    def node_at(self, start: int, end: int) -> int:
        """Return the innermost node that contains some bytes; -1 if none does."""
        node = bisect_right(self._starts, start) - 1
        while node != _TOP and not (self.range_of(node)[0] <= start and end <= self.range_of(node)[1]):
            node = self._parents[node]
        return node

    def first_at(self, start: int) -> int:
        """Return the first node that begins at an offset or later."""
        return bisect_left(self._starts, start)

    def above(self, node: int) -> int:
        """Return the node above a node; -1 for the root."""
        return self._parents[node]

    def beside(self, node: int, step: int) -> int:
        """Return the next node beside a node, or the one before; -1 for none."""
        rows, row = self._children[self._parents[node]], self._rows[node] + step
        return rows[row] if 0 <= row < len(rows) else _TOP

    def open_nodes(self) -> list[int]:
        """Return the open nodes, the root first."""
        return [node for node in self._path(len(self.nodes) - 1) if self.nodes[node].below is None]

    def node_of_source(self, offset: int) -> int:
        """Return the last node that the smallest part of the grammar around an offset matched; -1 for none."""
        if self._spans is None:
            self._spans = {span: at for at, node in enumerate(self.nodes) for span in node.spans}
        around = (span for span in self._spans if span.start <= offset <= span.end)
        found = min(around, key=lambda span: (span.end - span.start, span), default=None)
        return _TOP if found is None else self._spans[found]

    def title(self, node: int) -> str:
        """Return what a node is, in a few words."""
        one = self.nodes[node]
        match one.kind:
            case NodeKind.TEXT:
                return ui_text("parse_tree.kind.text")
            case NodeKind.RULE:
                return one.name or ui_text("parse_tree.kind.whole")
            case NodeKind.GROUP | NodeKind.ITEM if not one.detail:
                return ui_text(f"parse_tree.kind.{one.kind}", name=one.name)
            case NodeKind.ALTERNATIVE:
                return ui_text("parse_tree.kind.alternative", name=one.name, count=one.detail)
            case NodeKind.ITEM:
                return ui_text("parse_tree.kind.element", name=one.name, type=one.detail)
        name = one.name or ui_text("parse_tree.kind.value") if one.kind is NodeKind.VALUE else one.name
        return f"{name} · {one.detail}" if one.detail else name

    def words(self, node: int) -> str:
        """Return the text of a node in one line, marked if it is open."""
        start, end = self.range_of(node)
        shown = shortened(in_line(self.text[start : min(end, start + _MOST_BYTES)]), _MOST_CHARACTERS)
        return f"{shown} …" if self.nodes[node].below is None else shown

    def source(self, node: int) -> str:
        """Return the part of the grammar that a node matched: the pointers of a schema's keywords, or its text."""
        one = self.nodes[node]
        if any(one.pointers):
            return "  ".join(f"#{pointer}" for pointer in one.pointers)
        return shortened(self._source.excerpt(one.spans[-1]), _MOST_CHARACTERS) if one.spans else ""

    # --- Qt ----------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of nodes directly below one."""
        return 0 if parent.column() > PART else len(self._children.get(self.node_of(parent), ()))

    def columnCount(self, _parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return len(_COLUMNS)

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """Return the index of a row below another."""
        rows = self._children.get(self.node_of(parent), ())
        is_there = 0 <= row < len(rows) and 0 <= column < len(_COLUMNS)
        return self.createIndex(row, column, rows[row]) if is_there else QModelIndex()

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]  # Qt has two methods of that name
        """Return the index of the node above."""
        return self.index_of(self._parents[self.node_of(index)]) if index.isValid() else QModelIndex()

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return column titles."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return ui_text(f"parse_tree.column.{_COLUMNS[section]}")
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text of a cell, its colour, its font, and what a screen reader adds."""
        node = self.node_of(index)
        if node == _TOP:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return (self.title, self.words, self.source)[index.column()](node)
            case Qt.ItemDataRole.ToolTipRole:
                start, end = self.range_of(node)
                tip = ui_text("parse_tree.pane.tip", part=self.title(node), start=start, end=end)
                return plain_text("\n".join(filter(None, (tip, self.source(node).replace("  ", "\n")))))
            case Qt.ItemDataRole.ForegroundRole if index.column() == PART:
                return theme.colour(ROLES[self.nodes[node].kind])
            case Qt.ItemDataRole.FontRole if index.column() == TEXT:
                return theme.mono_font()
            case Qt.ItemDataRole.AccessibleDescriptionRole:
                return rest_of_row(index)
        return None
