"""A pane that shows the number of words of the grammar's text."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.widgets.lazy import Lazy
from app.window.main_window import PaneSpec


class WordsPane(QLabel):
    """Shows a number."""

    def __init__(self):
        super().__init__(objectName="words")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def make(window):
    """Build the pane and bind it to the document."""
    pane, document = WordsPane(), window.session.document

    def show():
        pane.setText(str(len(document.content.grammar.text.split())))

    document.changed.connect(show)
    show()
    return pane


PANE = PaneSpec("words", "Ctrl+L, W", (1, 11), lambda window: Lazy(lambda: make(window)), is_tab=True)
