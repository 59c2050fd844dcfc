"""A pane that shows the number of words of the grammar's text."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.pane_spec import Area, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy


class WordsPane(QLabel):
    """Shows a number."""

    def __init__(self):
        super().__init__(objectName="words")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


class WordsPresenter(PanePresenter):
    """Counts the words of the document's grammar."""

    def __init__(self, context):
        super().__init__(context)
        self.view = Lazy(self.make)

    def make(self):
        """Build the pane and bind it to the document."""
        pane, document = WordsPane(), self.session.document

        def show():
            pane.setText(str(len(document.content.grammar.text.split())))

        document.changed.connect(show)
        show()
        return pane


PANE = PaneSpec("words", "Ctrl+L, Z", (1, 11), Area.BOTTOM, WordsPresenter)
