"""The samples of failed requests: filtered by typing, each with its story, its grammar and its output.

A chosen sample opens as a document with the output check, which finds its cause again.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QPlainTextEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.dialogs.gallery_dialog import COUNT, RowDelegate
from app.display_text import unmarked
from app.document.failure_samples import FailureSample, failure_samples
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.filter_dialog import FilterDialog
from app.widgets.rich_text import prose

_LIST_WIDTH = 520


class FailuresDialog(FilterDialog):
    """A dialog to choose a failed request.

    Signals:
        opened(FailureSample): the user opens this sample.
    """

    opened = Signal(FailureSample)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.list = QListWidget()
        super().__init__(ui_text("dialogs.failures.title"), self.list, ui_text("dialogs.failures.hint"), parent=parent)
        self.resize(1080, 600)
        self._samples = failure_samples()
        self.list.setAccessibleName(ui_text("dialogs.failures.list"))
        self.list.setProperty("role", "field")
        self.list.setFixedWidth(_LIST_WIDTH)
        self.list.setItemDelegate(RowDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.story = Label(wraps=True, is_html=True)
        self.threads = Label(wraps=True)
        self.threads.setProperty("role", "muted")
        self.threads.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.grammar = _preview(ui_text("common.word.grammar"))
        self.output = _preview(ui_text("common.word.output"))
        self.open_button = push_button(ui_text("dialogs.failures.open"), role="primary", clicked=self.accept)
        self.open_button.setDefault(True)
        self.cancel_button = push_button(ui_text("common.button.cancel"), clicked=self.reject)
        self._lay_out()
        for sample in self._samples:
            item = QListWidgetItem(unmarked(sample.title))
            item.setData(COUNT, sample.cause)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{unmarked(sample.title)}, {sample.cause}")
            self.list.addItem(item)
        self.list.currentRowChanged.connect(lambda _row: self._show())
        self.list.itemDoubleClicked.connect(lambda _item: self.accept())
        self.list.setCurrentRow(0)
        self.field.setFocus()

    @property
    def chosen(self) -> FailureSample | None:
        """Return the selected sample; None if none matches the filter."""
        row = self.list.currentRow()
        return self._samples[row] if row >= 0 and not self.list.isRowHidden(row) else None

    def accept(self) -> None:
        """Open the selected sample; without one, do nothing."""
        sample = self.chosen
        if sample is not None:
            super().accept()
            self.opened.emit(sample)

    def apply_filter(self, text: str) -> None:
        """Show the samples that have all words of a text, and select the first one."""
        words = text.casefold().split()
        first = -1
        for row, sample in enumerate(self._samples):
            parts = (sample.title, sample.story, sample.cause, sample.server, *sample.threads)
            is_shown = all(word in "\n".join(parts).casefold() for word in words)
            self.list.setRowHidden(row, not is_shown)
            if is_shown and first < 0:
                first = row
        self.list.setCurrentRow(first)
        self._show()

    def _show(self) -> None:
        sample = self.chosen
        self.open_button.setEnabled(sample is not None)
        if sample is None:
            self.story.setText(prose(ui_text("dialogs.failures.none")))
            self.threads.setText("")
            self.grammar.setPlainText("")
            self.output.setPlainText("")
            return
        self.story.setText(prose(sample.story))
        self.threads.setText(ui_text("dialogs.failures.threads", threads=", ".join(sample.threads)))
        self.grammar.setPlainText(sample.grammar.rstrip("\n"))
        self.output.setPlainText(ui_text("dialogs.failures.no_output") if sample.output is None else sample.output)

    def _lay_out(self) -> None:
        title = Label(ui_text("dialogs.failures.heading"))
        title.setProperty("role", "title")
        about = Label(ui_text("dialogs.failures.about"), wraps=True)
        about.setProperty("role", "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        for widget in (title, about, self.field):
            layout.addWidget(widget)
        columns, right, buttons = QHBoxLayout(), QVBoxLayout(), QHBoxLayout()
        columns.setSpacing(theme.SPACE_M)
        right.setSpacing(theme.SPACE_S)
        layout.addLayout(columns, 1)
        layout.addLayout(buttons)
        columns.addWidget(self.list)
        columns.addLayout(right, 1)
        right.addWidget(self.story)
        right.addWidget(self.threads)
        for word, preview, stretch in (("grammar", self.grammar, 3), ("output", self.output, 2)):
            heading = Label(ui_text(f"common.word.{word}"))
            heading.setProperty("role", "heading")
            right.addWidget(heading)
            right.addWidget(preview, stretch)
        buttons.addStretch()
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.open_button)


def _preview(name: str) -> QPlainTextEdit:
    preview = QPlainTextEdit(readOnly=True)
    preview.setProperty("role", "field")
    preview.setFont(theme.mono_font())
    preview.setAccessibleName(name)
    preview.setTabChangesFocus(True)
    return preview
