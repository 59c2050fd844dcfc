"""The parts of this installation with their licences, filtered by typing; the text of the selected one is below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.catalogue import ui_text
from app.widgets.filter_dialog import FilterTableDialog
from app.workers.requests.judge import LicensedPart

_COLUMNS = ("part", "version", "licence")


class LicencesDialog(FilterTableDialog):
    """Lists parts and their licences.

    Attributes:
        text: the text of the selected part's licence.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            ui_text("dialogs.licences.title"),
            ui_text("dialogs.licences.hint"),
            ui_text("dialogs.licences.table"),
            [ui_text(f"dialogs.licences.column.{name}") for name in _COLUMNS],
            parent,
        )
        self._texts: list[str] = []
        self.text = QPlainTextEdit(ui_text("dialogs.licences.reading"), readOnly=True, tabChangesFocus=True)
        self.text.setAccessibleName(ui_text("dialogs.licences.text"))
        self.content.addWidget(self.text, 1)
        self.table.itemSelectionChanged.connect(self._show_text)

    def show_parts(self, parts: Sequence[LicensedPart]) -> None:
        """Show the parts, once they are read."""
        self._texts = [part.text or ui_text("dialogs.licences.no_text") for part in parts]
        unknown = ui_text("dialogs.licences.unknown")
        self.show_rows([(part.name, part.version, part.licence or unknown) for part in parts])
        self.apply_filter(self.field.text())

    def _show_text(self) -> None:
        row = self.table.currentRow()
        self.text.setPlainText(self._texts[row] if 0 <= row < len(self._texts) else "")
