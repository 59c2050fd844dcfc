"""The token index: for each state, the allowed tokens and their target states, as it is printed and copied."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from app import theme
from app.display_text import CLOSE_OBJECTS, CLOSE_OBJECTS_TIP, count
from app.panes.forced.page_headings import empty_ground, headed, sentence
from app.theme.buttons import tool_button
from app.workers.forced_messages import IndexAnswer

_WAITING = "The index is being made…"
_COPIES = "Copy the whole index as {state: {token: next}}"
_TOO_LONG = "It is too long to be copied: File, Export writes it as JSON."


class IndexPage(QWidget):
    """Shows an index.

    Signals:
        closing_wanted(): restrict the schema's objects to their declared properties.
    """

    closing_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full_text = ""
        self.said = sentence(_WAITING)
        self.close_objects = tool_button(CLOSE_OBJECTS, CLOSE_OBJECTS_TIP, role="outlined")
        self.copy = tool_button("Copy", _COPIES, role="outlined")
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName("Token index")
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self._empty_background = empty_ground()
        layout = headed(self, self.said, self.close_objects, self.copy)
        layout.addWidget(self.text, 1)
        layout.addWidget(self._empty_background, 1)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._full_text))
        self.close_objects.clicked.connect(self.closing_wanted)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()
        self.forget()

    def show_answer(self, answer: IndexAnswer) -> None:
        """Show an index, or why there is none."""
        self._full_text = answer.whole
        self.text.setPlainText(answer.shown)
        self.text.setVisible(bool(answer.shown))
        self._empty_background.setVisible(not answer.shown)
        self.close_objects.setVisible(answer.can_close)
        self.copy.setEnabled(bool(answer.whole))
        self.copy.setToolTip(_COPIES if answer.whole or answer.why_not else _TOO_LONG)
        if answer.why_not:
            self.said.setText(f"There is no index: {answer.why_not}.")
            return
        size = f"{count(answer.states, 'state')}, {count(answer.transitions, 'transition')}: {{token: next state}}."
        self.said.setText(" ".join(part for part in (size, answer.form, "" if answer.whole else _TOO_LONG) if part))

    def forget(self) -> None:
        """Clear the page: what it shows belongs to another grammar or vocabulary."""
        self._full_text = ""
        self.text.clear()
        self.text.hide()
        self.close_objects.hide()
        self._empty_background.show()
        self.copy.setEnabled(False)
        self.said.setText(_WAITING)

    def _apply_theme(self) -> None:
        self.text.setFont(theme.mono_font())
