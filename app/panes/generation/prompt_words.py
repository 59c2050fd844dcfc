"""Which words of the prompt make the model want a token: the prompt with each word as warm as its change, and a table.

Warm words made the token more probable, cold ones less; a tool tip and the table have the exact numbers.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QHelpEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QTextEdit,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import MINUS
from app.theme.buttons import push_button
from app.theme.labels import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.token_paint import mix, tabular
from app.workers.protocol import Progress
from app.workers.requests.scoring import AttributionAnswer
from engine.decoding.values import AttributedWord
from engine.vocabulary.visible import visible

_COLUMNS: Final = ("word", "change", "gradient")
WARMEST: Final = 0.35
"""The largest share of the colour: more of it, and a word cannot be read in the dark theme."""
_BAR: Final = 4


class PromptWordsPage(QWidget):
    """Shows an attribution.

    Signals:
        cancelled(): stop, and keep what was computed.
    """

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words: tuple[AttributedWord, ...] = ()
        self._rows: list[AttributedWord] = []
        self._starts: list[int] = []  # of the words, in the shown text
        self._is_busy = False
        self.summary = ElidedLabel(ui_text("generation.words.empty"), fills=True)
        self.cancel = push_button(
            ui_text("common.button.cancel"), ui_text("generation.pane.cancel_tip"), clicked=self.cancelled.emit
        )
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setFixedHeight(_BAR)
        self.text = QTextEdit()
        self.text.setObjectName("words-text")
        self.text.setReadOnly(True)
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(ui_text("generation.words.text"))
        self.text.viewport().installEventFilter(self)
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setObjectName("words-table")
        self.table.setAccessibleName(ui_text("generation.words.table"))
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setHighlightSections(False)
        for column, name in enumerate(_COLUMNS):
            header = QTableWidgetItem(ui_text(f"generation.words.column.{name}"))
            header.setTextAlignment(_alignment(column))
            header.setToolTip(plain_text(ui_text(f"generation.words.column_tip.{name}")))
            self.table.setHorizontalHeaderItem(column, header)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.itemSelectionChanged.connect(self._colour)
        theme.themes.changed.connect(self._colour)
        self._build()
        self._set_busy(is_busy=False)

    def begin(self) -> None:
        """Show that the work has started."""
        self._show_words(())
        self.bar.setRange(0, 0)
        self.summary.setText(ui_text("generation.words.computing"))
        self._set_busy(is_busy=True)

    def show_answer(self, answer: AttributionAnswer | Progress) -> None:
        """Show what was computed so far, or the progress."""
        if isinstance(answer, Progress):
            self.bar.setRange(0, answer.total or 0)
            self.bar.setValue(answer.done)
            return
        self._show_words(answer.words)
        self._set_busy(is_busy=not answer.done)
        self.summary.setText(ui_text("generation.words.summary", token=answer.token, step=answer.step + 1))

    def stop(self, why: str) -> None:
        """Report why nothing more will come."""
        self._set_busy(is_busy=False)
        self.summary.setText(why)

    def _set_busy(self, *, is_busy: bool) -> None:
        self._is_busy = is_busy
        self.bar.setVisible(is_busy)
        self.cancel.setVisible(is_busy)

    def _show_words(self, words: tuple[AttributedWord, ...]) -> None:
        pieces, self._starts, length = list[str](), [], 0
        for number, word in enumerate(words):
            if number and word.message != words[number - 1].message:
                pieces.append("\n")
                length += 1
            self._starts.append(length)
            pieces.append(word.text)
            length += len(word.text)
        text = "".join(pieces)
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
        self._words = words
        known = [word for word in words if word.change is not None]
        self._rows = sorted(known, key=lambda word: (-(word.change or 0.0), word.message, word.start))
        self.table.setRowCount(len(self._rows))
        for row, word in enumerate(self._rows):
            for column, shown in enumerate(
                (visible(word.text.strip().encode()), _nats(word.change), _nats(word.gradient))
            ):
                item = QTableWidgetItem(shown)
                item.setFont(tabular(theme.ui_font()) if column else theme.mono_font())
                item.setTextAlignment(_alignment(column))
                self.table.setItem(row, column, item)
        self._colour()

    def _colour(self) -> None:
        """Give each word the colour of its change, and a line to the selected one."""
        row = self.table.currentRow() if self.table.selectionModel().hasSelection() else -1
        chosen = self._rows[row] if 0 <= row < len(self._rows) else None
        top = max((abs(word.change) for word in self._words if word.change is not None), default=0.0)
        selections = []
        for start, word in zip(self._starts, self._words, strict=True):
            if word.change is None:
                continue
            heat = WARMEST * abs(word.change) / top if top else 0.0
            role = theme.Role.WARNING if word.change > 0 else theme.Role.HINT
            form = QTextCharFormat()
            form.setBackground(mix(theme.colour(theme.Role.PANEL), theme.colour(role), heat))
            form.setFontUnderline(word is chosen)
            selection = QTextEdit.ExtraSelection()
            selection.format, selection.cursor = form, self.text.textCursor()
            selection.cursor.setPosition(start)
            end = start + len(word.text.rstrip())
            selection.cursor.setPosition(max(end, start + 1), QTextCursor.MoveMode.KeepAnchor)
            selections.append(selection)
        self.text.setExtraSelections(selections)

    def tip_of(self, position: int) -> str:
        """Return the numbers of the word at a position of the text; empty without one."""
        for start, word in zip(self._starts, self._words, strict=True):
            if start <= position < start + len(word.text) and word.change is not None:
                lines = [ui_text("generation.words.tip", change=_nats(word.change))]
                if word.gradient is not None:
                    lines.append(ui_text("generation.words.gradient_tip", gradient=_nats(word.gradient)))
                return "\n".join(lines)
        return ""

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Show the numbers of the word under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            cursor = self.text.cursorForPosition(event.pos())
            QToolTip.showText(event.globalPos(), plain_text(self.tip_of(cursor.position())), self.text.viewport())
            return True
        return False

    def _build(self) -> None:
        parts = QSplitter(Qt.Orientation.Horizontal)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.text)
        parts.addWidget(self.table)
        parts.setSizes([300, 320])
        head = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_S, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(head)
        layout.addWidget(self.bar)
        layout.addWidget(parts, 1)
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self.summary, 1)
        head.addWidget(self.cancel)


def _alignment(column: int) -> Qt.AlignmentFlag:
    return (Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignVCenter


def _nats(value: float | None) -> str:
    """Return a change in nats with its sign."""
    return "–" if value is None else f"{value:+.3f}".replace("-", MINUS)
