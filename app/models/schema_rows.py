"""The map of a schema as a Qt tree: rows are created when the row around them is expanded.

A row with a `$ref` has the rows of what it refers to below its own, so a recursive schema can be unfolded without end.
So a row of the tree is a node of its own, and several nodes may be the same row of the map.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import theme
from app.catalogue import ui_text
from app.models.rows import rest_of_row
from app.theme.labels import plain_text
from engine.decoding.values import Bounds
from engine.diagnosis.scores.price_texts import nats_text
from engine.diagnosis.scores.price_values import GrammarPrice
from engine.notations.schema_map import NO_ROW, SchemaMap

_COLUMNS = ("name", "type", "constraints", "states", "price")
NAME, TYPE, CONSTRAINTS, STATES, PRICE = range(len(_COLUMNS))
_NUMBERS = (STATES, PRICE)

_LEAST_SHARE = 0.01  # of the states of the whole schema

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_TOP = -1  # the parent of the outermost nodes


@dataclass(eq=False, slots=True)
class _Node:
    row: int
    parent: int
    position: int  # among the children of its parent
    children: list[int] | None = None


class SchemaRowsModel(QAbstractItemModel):
    """The rows of one map, all of them as a tree, or those that were found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.map: SchemaMap | None = None
        self._nodes: list[_Node] = []
        self._top: list[int] = []
        self._is_filtered = False
        self._live: frozenset[int] = frozenset()
        self._around: frozenset[int] = frozenset()  # the rows around the live ones
        self._price: GrammarPrice | None = None
        self._prices: dict[int, Bounds] = {}  # of each row with what is within it

    # --- contents ----------------------------------------------------------------------------------------------------

    def show(self, found: SchemaMap | None, rows: Collection[int] | None = None) -> None:
        """Show a map.

        Args:
            found: the map; None for none.
            rows: the rows to list, each with what is within it; None for the tree of all.
        """
        self.beginResetModel()
        if found is not self.map:
            self._live = self._around = frozenset()
        self.map, self._nodes, self._is_filtered = found, [], rows is not None
        self._top = [] if found is None else self._add(rows if rows is not None else (0,), _TOP)
        self._sum_prices()
        self.endResetModel()

    def replace(self, found: SchemaMap) -> bool:
        """Show a map of an edited text without a reset, if it has the same rows; return whether it has."""
        before = self.map
        if before is None or (before.steps, before.targets) != (found.steps, found.targets):
            return False
        if before.parents != found.parents:
            return False
        self.map = found
        if self._top:
            self._changed()
        return True

    def set_live(self, rows: Iterable[int], around: frozenset[int] = frozenset()) -> bool:
        """Mark the rows that the match is in; return whether others were marked.

        Args:
            rows: the rows that the next token belongs to.
            around: those of the objects and arrays that are open, through references.
        """
        live = frozenset(rows)
        if self.map is None:
            return False
        paths = [self.map.path(row) for row in live]
        outer = frozenset(row for path in paths for row in path[:-1]) | (around if live else frozenset())
        if (live, outer) == (self._live, self._around):
            return False
        self._live, self._around = live, outer
        self._changed()
        return True

    def set_price(self, price: GrammarPrice | None) -> None:
        """Show the price that each row asks with what is within it; what no keyword asks is in that of the whole."""
        self._price = price
        self._sum_prices()
        self._changed()

    def _sum_prices(self) -> None:
        self._prices = {}
        if self._price is None or self.map is None:
            return
        for part in self._price.parts:
            row = 0 if part.span is None else self.map.at(part.span.start)
            for one in self.map.path(row):
                low, high = self._prices.get(one, (0.0, 0.0))
                self._prices[one] = Bounds(low + part.nats.low, high + part.nats.high)

    @property
    def live(self) -> frozenset[int]:
        """Return the rows that the match is in."""
        return self._live

    def row_of(self, index: Index) -> int:
        """Return the row of the map that an index shows; `NO_ROW` for an invalid one."""
        return self._nodes[index.internalId()].row if index.isValid() else NO_ROW

    def index_of(self, row: int) -> QModelIndex:
        """Return the index of a row where it is written, not where it is referred to; invalid if it is left out."""
        path = () if self.map is None else self.map.path(row)
        number = next((one for one in self._top if self._nodes[one].row in path), None)
        if number is None:
            return QModelIndex()
        for inner in path[path.index(self._nodes[number].row) + 1 :]:
            number = next(one for one in self._children_of(number) if self._nodes[one].row == inner)
        return self.createIndex(self._nodes[number].position, NAME, number)

    def steps_of(self, index: Index) -> tuple[str, ...]:
        """Return the steps from the outermost row to an index: what identifies it in the map of an edited text."""
        steps = []
        while index.isValid() and self.map is not None:
            steps.append(self.map.steps[self.row_of(index)])
            index = index.parent()
        return tuple(reversed(steps))

    def find_steps(self, steps: tuple[str, ...]) -> QModelIndex:
        """Return the index that steps lead to; an invalid one if there is none."""
        if self.map is None:
            return QModelIndex()
        found, numbers = _TOP, self._top
        for step in steps:
            found = next((one for one in numbers if self.map.steps[self._nodes[one].row] == step), _TOP)
            if found == _TOP:
                return QModelIndex()
            numbers = self._children_of(found)
        return self.createIndex(self._nodes[found].position, NAME, found) if found != _TOP else QModelIndex()

    # --- Qt ----------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of rows directly within one."""
        if parent.isValid() and parent.column() != NAME:
            return 0
        return len(self._children_of(parent.internalId()) if parent.isValid() else self._top)

    def hasChildren(self, parent: Index = _ROOT) -> bool:
        """Return whether there are rows within one, without creating them."""
        if not parent.isValid() or self.map is None:
            return bool(self._top)
        row = self.row_of(parent)
        target = self.map.targets[row]
        within = self.map.sizes[row] > 0 or (
            target != NO_ROW and (self.map.sizes[target] > 0 or self.map.targets[target] not in {NO_ROW, row})
        )
        return parent.column() == NAME and within

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return len(_COLUMNS)

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """Return the index of a cell."""
        numbers = self._children_of(parent.internalId()) if parent.isValid() else self._top
        if not (0 <= row < len(numbers) and 0 <= column < len(_COLUMNS)):
            return QModelIndex()
        return self.createIndex(row, column, numbers[row])

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]  # Qt has two methods of that name
        """Return the row around one."""
        number = self._nodes[index.internalId()].parent if index.isValid() else _TOP
        return QModelIndex() if number == _TOP else self.createIndex(self._nodes[number].position, NAME, number)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the titles of the columns, and their tips."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return ui_text(f"models.schema_map.column.{_COLUMNS[section]}")
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(ui_text(f"models.schema_map.column_tip.{_COLUMNS[section]}"))
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the texts of a cell, and how it is drawn."""
        if not index.isValid() or self.map is None:
            return None
        row, column = self.row_of(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index, row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(self._tip(row))
        if role == Qt.ItemDataRole.AccessibleTextRole and column == NAME:
            return ", ".join(filter(None, (self._spoken(row), rest_of_row(index))))
        if role == Qt.ItemDataRole.BackgroundRole and row in self._live:
            return theme.colour(theme.Role.LIVE_FILL)
        if role == Qt.ItemDataRole.ForegroundRole and column != NAME:
            is_link = column == TYPE and self.map.targets[row] != NO_ROW
            return theme.colour(theme.Role.ACCENT if is_link else theme.Role.MUTED)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in _NUMBERS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def _text(self, index: Index, row: int, column: int) -> str:
        assert self.map is not None
        if column == TYPE:
            return self.map.types[row]
        if column == CONSTRAINTS:
            return self.map.constraints[row]
        if column == STATES:
            return self._cost(row)
        if column == PRICE:
            return nats_text(self._prices[row]) if row in self._prices else ""
        is_found = self._is_filtered and self._nodes[index.internalId()].parent == _TOP
        names = [self.map.names[one] for one in self.map.path(row)[1:]] if is_found else []
        name = " › ".join(names) or self.map.names[row]
        mark = "● " if row in self._live else "○ " if row in self._around else ""
        return f"{mark}{name}{' *' if self.map.required[row] else ''}"

    def _cost(self, row: int) -> str:
        """Return the states of a row, and their share of all where that is worth reading; empty for a group."""
        assert self.map is not None
        states, total = self.map.states[row], self.map.states[0]
        share = f" · {states / total:.0%}" if row and total and states / total >= _LEAST_SHARE else ""
        return f"{states:,}{share}" if states else ""

    def _spoken(self, row: int) -> str:
        """Return the name of a row with the meaning of its signs."""
        assert self.map is not None
        states = [
            (row in self._live, "live"),
            (row in self._around, "around"),
            (bool(self.map.required[row]), "required"),
        ]
        said = (ui_text(f"models.schema_map.fragment.{key}") for is_so, key in states if is_so)
        return ", ".join((self.map.names[row], *said))

    def _tip(self, row: int) -> str:
        assert self.map is not None
        facts = self.map.types[row], self.map.constraints[row]
        return "\n".join(filter(None, (self.map.pointer(row), ", ".join(filter(None, facts)), self._spoken(row))))

    # --- nodes -------------------------------------------------------------------------------------------------------

    def _add(self, rows: Iterable[int], parent: int) -> list[int]:
        first = len(self._nodes)
        self._nodes += [_Node(row, parent, position) for position, row in enumerate(rows)]
        return list(range(first, len(self._nodes)))

    def _children_of(self, number: int) -> list[int]:
        node = self._nodes[number]
        if node.children is None:
            node.children = self._add(self.map.unfolded(node.row), number) if self.map is not None else []
        return node.children

    def _changed(self) -> None:
        """Report that texts and marks changed: views repaint what they show."""
        last = len(self._top) - 1
        if last >= 0:
            self.dataChanged.emit(self.index(0, 0), self.index(last, len(_COLUMNS) - 1))
