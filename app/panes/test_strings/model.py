"""A table model of test strings: the expectation of each, and its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app import theme
from app.catalogue import ui_text
from app.display_text import characters, in_line, shown, unmarked
from app.models.rows import rest_of_row
from app.theme import Role
from app.theme.icons import icon
from app.theme.labels import plain_text
from engine.diagnosis.verdicts.verdict import CompletionBudget, Failure, Verdict, VerdictOutcome
from engine.document.content import ExpectedText

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
VERDICT_ROLE = Qt.ItemDataRole.UserRole
TEXT_ROLE = Qt.ItemDataRole.UserRole + 1
_MARKS = {"\n": "↵", "\r": "␍", "\t": "⇥"}
_LONGEST_ENDING = 24


class TextsColumn(IntEnum):
    """The columns."""

    RESULT = 0
    EXPECT = 1
    TEXT = 2
    VERDICT = 3


class TextsModel(QAbstractTableModel):
    """A model with one row for each test string. A double click edits a text, and a click changes the expectation.

    The model does not store an edit itself: the pane does, so that it can be undone.

    Signals:
        typed(row, text): a text was edited.
    """

    typed = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._expected: tuple[ExpectedText, ...] = ()
        self._verdicts: Mapping[str, Verdict] = {}

    @property
    def expected(self) -> tuple[ExpectedText, ...]:
        """Return the test strings."""
        return self._expected

    def show_texts(self, expected: tuple[ExpectedText, ...]) -> None:
        """Replace the test strings."""
        if len(expected) == len(self._expected):
            self._expected = expected
            self._all_changed()
            return
        self.beginResetModel()
        self._expected = expected
        self.endResetModel()

    def show_verdicts(self, verdicts: Mapping[str, Verdict]) -> None:
        """Show the verdicts; a text without one is still being checked."""
        self._verdicts = verdicts
        self._all_changed()

    def verdict(self, row: int) -> Verdict | None:
        """Return the verdict of a row; None until it is known."""
        return self._verdicts.get(self._expected[row].text)

    def passes(self, row: int) -> bool | None:
        """Return whether a row matches its expectation; None until it is known."""
        found = self.verdict(row)
        return None if found is None else found.is_complete is self._expected[row].accepts

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Return the number of test strings."""
        return 0 if parent.isValid() else len(self._expected)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(TextsColumn)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags: texts can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == TextsColumn.TEXT else flags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit `typed` for an edit."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or index.column() != TextsColumn.TEXT:
            return False
        self.typed.emit(index.row(), str(value))
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the titles."""
        if orientation is not Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        column = TextsColumn(section)
        return "" if column is TextsColumn.RESULT else ui_text(f"test_strings.table.column.{column.name.lower()}")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the text of a cell; the verdict itself for the view."""
        if not index.isValid() or index.row() >= len(self._expected):
            return None
        row, column = index.row(), TextsColumn(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(row, column)
            case Qt.ItemDataRole.AccessibleDescriptionRole if column is TextsColumn.RESULT:
                return rest_of_row(index)
            case Qt.ItemDataRole.EditRole:
                return as_marks(self._expected[row].text) if column is TextsColumn.TEXT else None
            case Qt.ItemDataRole.ToolTipRole:
                return self._tip(row, column)
            case Qt.ItemDataRole.DecorationRole if column is TextsColumn.RESULT:
                return self._icon(row)
            case Qt.ItemDataRole.ForegroundRole:
                return self._colour(row, column)
            case _ if role in {VERDICT_ROLE, TEXT_ROLE}:
                return self.verdict(row) if role == VERDICT_ROLE else self._expected[row].text
        return None

    def _text(self, row: int, column: TextsColumn) -> str:
        expected, found = self._expected[row], self.verdict(row)
        match column:
            case TextsColumn.RESULT:
                passes = self.passes(row)
                if passes is None:
                    return "…"
                return ui_text("test_strings.table.pass" if passes else "test_strings.table.fail")
            case TextsColumn.EXPECT:
                return expectation_text(accepts=expected.accepts)
            case TextsColumn.TEXT:
                return in_line(expected.text.encode("utf-8", "surrogatepass")) or ui_text("common.word.empty")
            case TextsColumn.VERDICT:
                return "" if found is None else verdict_text(found)

    def _tip(self, row: int, column: TextsColumn) -> str | None:
        found = self.verdict(row)
        if column is TextsColumn.EXPECT:
            return ui_text("test_strings.table.expect_tip")
        if column is TextsColumn.TEXT:
            return plain_text(self._expected[row].text[:2_000]) or ui_text("test_strings.table.empty_tip")
        return None if found is None else plain_text(unmarked("\n".join((found.sentence, *found.notes))))

    def _icon(self, row: int) -> object:
        passes = self.passes(row)
        if passes is None:
            name, role = "ph.hourglass", Role.MUTED
        else:
            name, role = ("ph.check-circle-fill", Role.ALLOWED) if passes else ("ph.x-circle-fill", Role.ERROR)
        return icon(name, role)

    def _colour(self, row: int, column: TextsColumn) -> object:
        passes = self.passes(row)
        if column is TextsColumn.RESULT and passes is not None:
            return theme.colour(Role.ALLOWED if passes else Role.ERROR)
        return theme.colour(Role.MUTED) if column is TextsColumn.EXPECT or passes is None else None

    def _all_changed(self) -> None:
        if self._expected:
            last = self.index(len(self._expected) - 1, len(TextsColumn) - 1)
            self.dataChanged.emit(self.index(0, 0), last)


def expectation_text(*, accepts: bool) -> str:
    """Return what the grammar should do with a text: "accepted" or "refused"."""
    return ui_text("test_strings.table.fragment.accepted" if accepts else "test_strings.table.fragment.refused")


def verdict_text(found: Verdict) -> str:
    """Return a verdict in a few words that fit in a row."""
    match found.outcome:
        case VerdictOutcome.COMPLETE:
            return ui_text("test_strings.verdict.accepted")
        case VerdictOutcome.CUT_OFF if found.ending is not None:
            return _prefix_text(found.ending)
        case VerdictOutcome.EMPTY_LANGUAGE:
            return ui_text("test_strings.verdict.no_text")
        case VerdictOutcome.ILLEGAL if found.failure is not None:
            return ui_text("test_strings.verdict.illegal", byte=found.legal, reason=_expectation(found.failure))
    return ui_text("test_strings.verdict.other", reason=unmarked(found.sentence))


def _expectation(failure: Failure) -> str:
    if failure.missing:
        names = ", ".join(f"“{name}”" for name in failure.missing)
        return ui_text("test_strings.verdict.fragment.missing", count=len(failure.missing), names=names)
    if not failure.expected:
        return ui_text("test_strings.verdict.fragment.end")
    expected = characters(failure.expected)
    properties = failure.stacks[0].properties if failure.stacks else ()
    if len(properties) == 1:
        return ui_text("test_strings.verdict.fragment.expected_of", characters=expected, name=properties[0])
    return ui_text("test_strings.verdict.fragment.expected", characters=expected)


def _prefix_text(ending: CompletionBudget) -> str:
    if ending.in_bytes.text is None:
        return ui_text("test_strings.verdict.prefix")
    text = shown(ending.in_bytes.text)
    if len(text) > _LONGEST_ENDING:
        text = text[: _LONGEST_ENDING - 1] + "…"
    return ui_text("test_strings.verdict.prefix_with_ending", text=text)


def as_marks(text: str) -> str:
    """Return a text in one line, with marks instead of line ends and tabs."""
    return "".join(_MARKS.get(char, char) for char in text)


def from_marks(text: str) -> str:
    """Return the text that was typed with marks for line ends and tabs."""
    for char, mark in _MARKS.items():
        text = text.replace(mark, char)
    return text
