"""The comparison of a schema with `jsonschema` on generated texts and mutants."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.dialogs.work_page import WorkPage
from app.models.rows import RowsModel
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.workers.requests.engines import FuzzAnswer, FuzzRow

_MOST_TEXTS, _TEXTS = 100_000, 100
_MOST_SEED = 2**31 - 1
_TEXT_WIDTH = 320  # pixels


class DifferencesModel(RowsModel):
    """One row for each text on which both differ."""

    names = ("text", "own", "other", "reason")
    titles = tuple(ui_text(f"dialogs.fuzz.column.{name}") for name in names)
    tips = titles
    numbers: frozenset[int] = frozenset()

    def text(self, row: FuzzRow, column: int) -> str:
        """Return the text of a cell."""
        name = self.names[column]
        accepts = {"own": row.is_accepted, "other": not row.is_accepted}
        if name not in accepts:
            return str(getattr(row, name))
        return ui_text("dialogs.fuzz.accepts" if accepts[name] else "dialogs.fuzz.refuses")

    def look(self, row: FuzzRow, column: int, role: int) -> object:
        """Return the font of texts and the colour of reasons."""
        name = self.names[column]
        match role:
            case Qt.ItemDataRole.FontRole if name == "text":
                return theme.mono_font()
            case Qt.ItemDataRole.ForegroundRole if name == "reason":
                return theme.colour(theme.Role.MUTED)
        return None


class FuzzPage(WorkPage):
    """The texts on which both differ.

    Signals:
        wanted(texts, seed): run the comparison.
    """

    wanted = Signal(int, int)

    def __init__(self) -> None:
        super().__init__("fuzz", DifferencesModel())
        self.run_button.setProperty("role", "primary")
        self.texts, self.seed = QSpinBox(), QSpinBox()
        self.texts.setRange(1, _MOST_TEXTS)
        self.texts.setValue(_TEXTS)
        self.seed.setRange(0, _MOST_SEED)
        for at, (name, box) in enumerate((("texts", self.texts), ("seed", self.seed))):
            box.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
            box.setToolTip(ui_text(f"dialogs.fuzz.{name}_tip"))
            box.setAccessibleName(ui_text(f"dialogs.fuzz.{name}"))
            self.controls.insertWidget(2 * at, Label(ui_text(f"dialogs.fuzz.{name}")))
            self.controls.insertWidget(2 * at + 1, box)

    def start(self) -> None:
        """Request the comparison."""
        if not self.is_running:
            self._set_running(is_running=True)
            self.wanted.emit(self.texts.value(), self.seed.value())

    def show_answer(self, answer: FuzzAnswer) -> None:
        """Show the differences, or why there are none."""
        if not self.is_running:
            return
        self._set_running(is_running=False)
        if answer.error or not answer.rows:
            self._show_hint(answer.error or ui_text("dialogs.fuzz.none"))
        else:
            self.model.show_rows(answer.rows)
            self.table.resizeColumnsToContents()
            self.table.setColumnWidth(0, min(self.table.columnWidth(0), _TEXT_WIDTH))
            self._show_table()
            self.table.selectRow(0)
        if not answer.error:
            fields = {"legal": answer.legal, "mutants": answer.mutants, "refused": answer.refused}
            self.summary.set_text(
                ui_text("dialogs.fuzz.summary", count=len(answer.rows), unjudged=answer.unjudged, **fields)
            )
        announce(self, self.summary.text() or self.hint.text())


class FuzzDialog(QDialog):
    """Compares the schema of the editor with `jsonschema`.

    Signals:
        test_wanted(text): add this text to the test strings.
    """

    test_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(ui_text("dialogs.fuzz.title"))
        self.resize(960, 480)
        self.page = FuzzPage()
        self.test_button = push_button(ui_text("dialogs.check.keep_test"), ui_text("dialogs.fuzz.keep_tip"))
        self.copy_button = push_button(ui_text("dialogs.fuzz.copy"), ui_text("dialogs.fuzz.copy_tip"))
        close = push_button(ui_text("common.button.close"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        layout.addWidget(self.page, 1)
        buttons = QHBoxLayout()
        layout.addLayout(buttons)
        buttons.addWidget(self.test_button)
        buttons.addWidget(self.copy_button)
        buttons.addStretch()
        buttons.addWidget(close)
        self.test_button.clicked.connect(self._keep)
        self.copy_button.clicked.connect(self._copy)
        close.clicked.connect(self.reject)
        self.page.model.modelReset.connect(self._enable)
        self._enable()

    def _keep(self) -> None:
        row = self.page.table.currentIndex().row()
        if 0 <= row < len(self.page.model.rows):
            self.test_wanted.emit(self.page.model.rows[row].text)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(row.text for row in self.page.model.rows))

    def _enable(self) -> None:
        for button in (self.test_button, self.copy_button):
            button.setEnabled(bool(self.page.model.rows))
