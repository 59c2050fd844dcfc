"""Export: choose a target, see how the file begins, write it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.workers.messages import ExportAnswer

_TARGETS = {
    "json": (
        "Token index (JSON)",
        "Which token leads from which state to which, for the loaded model; where rules nest, an automaton for each.",
    ),
    "dot": ("Graph (Graphviz DOT)", "The byte automaton, or that of each rule, to draw or to put into a text."),
}


class ExportDialog(QDialog):
    """Asks for previews and files; `show_answer` takes what comes back.

    Args:
        title: the document's, for the name of the file.
        parent: the window.
        has_model: whether there is a vocabulary to make an index of.
        waits_for: what the model's process does before an index, as a part of a sentence; empty for nothing.

    Signals:
        wanted(target, path): an export; without a path, how it would begin.
    """

    wanted = Signal(str, str)

    def __init__(
        self,
        title: str,
        parent: QWidget | None = None,
        *,
        has_model: bool = True,
        waits_for: Callable[[], str] = str,
    ) -> None:
        super().__init__(parent)
        self._waits_for = waits_for
        self._document_title = title
        self.setWindowTitle("Export")
        self.resize(720, 560)
        heading = QLabel("Export the compiled grammar")
        heading.setProperty("role", "title")
        self._choices = QButtonGroup(self)
        self._about = QLabel()
        self._about.setProperty("role", "muted")
        self._about.setWordWrap(True)
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setProperty("role", "field")
        self.preview.setFont(theme.mono_font())
        self.preview.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.preview.setAccessibleName("Preview")
        self._note = QLabel()
        self._note.setWordWrap(True)
        self._note.setProperty("role", "muted")
        choices = QHBoxLayout()
        choices.setSpacing(theme.SPACE_L)
        for target, (text, _) in _TARGETS.items():
            button = QRadioButton(text)
            button.setObjectName(target)
            button.setEnabled(has_model or target != "json")
            self._choices.addButton(button)
            choices.addWidget(button)
        choices.addStretch()
        self.write_button = QPushButton("Write file…")
        self.write_button.setProperty("role", "primary")
        self.write_button.clicked.connect(self._choose_file)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addWidget(self._note, 1)
        buttons.addWidget(close)
        buttons.addWidget(self.write_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(heading)
        layout.addLayout(choices)
        layout.addWidget(self._about)
        layout.addWidget(self.preview, 1)
        layout.addLayout(buttons)
        self._choices.buttonClicked.connect(lambda _button: self.ask())
        self._choices.buttons()[0 if has_model else 1].setChecked(True)

    @property
    def target(self) -> str:
        """The chosen target."""
        return next(button.objectName() for button in self._choices.buttons() if button.isChecked())

    def ask(self) -> None:
        """Ask for a preview of the chosen target."""
        self._about.setText(_TARGETS[self.target][1])
        self._note.setText(self._delay() or "Preparing the preview…")
        self.preview.clear()
        self.write_button.setEnabled(False)
        self.wanted.emit(self.target, "")

    def write(self, path: str) -> None:
        """Ask for the file."""
        self._note.setText(self._delay() or "Writing…")
        self.wanted.emit(self.target, path)

    def show_answer(self, answer: ExportAnswer) -> None:
        """Show a preview, or that a file was written, or why not."""
        if answer.target != self.target:
            return
        self.write_button.setEnabled(not answer.error or bool(answer.path))
        if answer.error:
            self._note.setText(answer.error)
        elif answer.path:
            self._note.setText(f"Wrote {Path(answer.path).name}, {answer.size:,} bytes.")
        else:
            shown = len(answer.preview.encode())
            cut = f", of which the preview shows the first {shown:,}" if shown < answer.size else ""
            self._note.setText(f"{answer.size:,} bytes{cut}.")
            self.preview.setPlainText(answer.preview)

    def _delay(self) -> str:
        before = self._waits_for() if self.target == "json" else ""
        return f"Waits for {before}. To have it sooner, close this and cancel them." if before else ""

    def _choose_file(self) -> None:
        suggestion = f"{self._document_title}.{self.target}"
        path, _ = QFileDialog.getSaveFileName(self, "Export", suggestion, f"*.{self.target}")
        if path:
            self.write(path)
