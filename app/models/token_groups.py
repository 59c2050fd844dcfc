"""The tokens that are allowed at one state, as a table: one row for each target state."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.display_text import percent_column
from app.models.rows import Index, RowsModel
from app.theme.labels import plain_text

_COLUMNS = ("leads_to", "tokens", "mass", "examples")
LEADS_TO, TOKENS, MASS, EXAMPLES = range(len(_COLUMNS))


class TokenRow(Protocol):
    """The data of a row."""

    @property
    def name(self) -> str:
        """Return the name of the target state."""

    @property
    def count(self) -> int:
        """Return the number of tokens that lead there."""

    @property
    def mass(self) -> float | None:
        """Return their total probability; None if no model was used."""

    @property
    def examples(self) -> tuple[str, ...]:
        """Return some of them."""


class TokenGroupsModel(RowsModel):
    """The target states of tokens from one state; the rows are `TokenRow`s."""

    titles: ClassVar = tuple(ui_text(f"automaton.tokens.column.{name}") for name in _COLUMNS)
    tips: ClassVar = tuple(ui_text(f"automaton.tokens.tip.{name}") for name in _COLUMNS)
    numbers: ClassVar = frozenset({TOKENS, MASS})

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return texts and alignments; numbers are right-aligned."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_text(_text(self.rows[index.row()], index.column()))
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole}:
            return _text(self.rows[index.row()], index.column())
        return None


def _text(target: TokenRow, column: int) -> str:
    if column == LEADS_TO:
        return target.name
    if column == TOKENS:
        return f"{target.count:,}"
    if column == MASS:
        return "" if target.mass is None else percent_column(target.mass)
    return "  ".join(target.examples) + ("  …" if target.count > len(target.examples) else "")
