"""The tokens that are allowed at one state, as a table: one row for each rule, first byte and target."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.display_text import percent_column
from app.models.rows import RowsModel

_COLUMNS = ("rule", "first", "leads_to", "tokens", "mass", "examples")
RULE, FIRST, LEADS_TO, TOKENS, MASS, EXAMPLES = range(len(_COLUMNS))


class TokenRow(Protocol):
    """The data of a row."""

    @property
    def rule(self) -> str:
        """Return the rule or the schema that reads the first byte; empty for none."""

    @property
    def first(self) -> str:
        """Return the first bytes, as a label; empty if they are not known."""

    @property
    def name(self) -> str:
        """Return the name of the target state, or what comes next."""

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
    """The groups of tokens from one state; the rows are `TokenRow`s."""

    titles: tuple[str, ...] = tuple(ui_text(f"automaton.tokens.column.{name}") for name in _COLUMNS)
    tips: tuple[str, ...] = tuple(ui_text(f"automaton.tokens.tip.{name}") for name in _COLUMNS)
    numbers: frozenset[int] = frozenset({TOKENS, MASS})

    def text(self, row: TokenRow, column: int) -> str:
        """Return the text of a cell."""
        if column in (RULE, FIRST, LEADS_TO):
            return (row.rule, row.first, row.name)[column]
        if column == TOKENS:
            return f"{row.count:,}"
        if column == MASS:
            return "" if row.mass is None else percent_column(row.mass)
        return "  ".join(row.examples) + ("  …" if row.count > len(row.examples) else "")

    def look(self, row: TokenRow, column: int, role: int) -> object:
        """Return the text that is spoken."""
        return self.text(row, column) if role == Qt.ItemDataRole.AccessibleTextRole else None
