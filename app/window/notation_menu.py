"""The notation menu: how the grammar's text is read, and an example of each other notation.

Text of one notation is hardly ever text of another. So whoever edited it is asked
what is meant: the same text read anew, or a new document. Converting is to come.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QMessageBox, QWidget

from app.document import GrammarPart
from app.document.gallery import examples
from app.panes.editor import EditorPane
from app.session import Session
from app.window.files import Files
from app.window.toolbar import Toolbar


@dataclass(frozen=True, slots=True)
class _Reading:
    """An entry of the menu: a notation with those of its options that the entry sets."""

    name: str
    tip: str
    notation: str
    options: tuple[tuple[str, str], ...] = ()

    def of(self, grammar: GrammarPart) -> GrammarPart:
        """The grammar, read this way."""
        return msgspec.structs.replace(grammar, notation=self.notation, **dict(self.options))

    def is_of(self, grammar: GrammarPart) -> bool:
        """Whether the grammar is read this way already."""
        return self.of(grammar) == grammar


READINGS = (
    _Reading("Regex · Python", "As in Python's re module", "regex", (("dialect", "python"),)),
    _Reading(
        "Regex · ECMAScript",
        "As in ECMAScript with the u flag, which JSON Schema's pattern uses",
        "regex",
        (("dialect", "ecma"),),
    ),
    _Reading("GBNF", "Rules as llama.cpp reads them", "gbnf"),
    _Reading("JSON Schema", "Drafts 4 to 2020-12", "json_schema"),
)
WHITESPACE = {
    "compact": ("Compact", "None at all"),
    "one-space": ("One space", "One behind each comma and colon, none elsewhere"),
    "flexible": ("Flexible", "At most one space, or a line break and up to 32 of indentation, where JSON allows it"),
    "any": ("Any", "As much as JSON allows: a model may go on with blanks for ever"),
}


class NotationMenu(QObject):
    """Fills the toolbar's notation menu, and does what it says."""

    def __init__(self, toolbar: Toolbar, editor: EditorPane, session: Session, files: Files, window: QWidget) -> None:
        super().__init__(window)
        self._toolbar, self._editor, self._files, self._window = toolbar, editor, files, window
        self._document = session.document
        self._shown: GrammarPart | None = None
        self.whitespace_menu = QMenu("White space", toolbar.notation_menu)
        self._fill()
        self._document.changed.connect(lambda _revision: self._show())
        self._show()

    def choose(self, name: str) -> None:
        """Read the grammar as the entry of that name says, or begin a document of its notation."""
        reading = next(reading for reading in READINGS if reading.name == name)
        grammar = self._document.content.grammar
        if reading.notation == grammar.notation or not grammar.text.strip():
            self._document.set_reading(reading.of(grammar))
        elif self._document.is_modified or self._document.path is not None:
            self._ask(reading)
        else:
            self._begin(reading)
        self._show()

    def choose_whitespace(self, whitespace: str) -> None:
        """Allow other white space between the tokens of JSON."""
        grammar = self._document.content.grammar
        self._document.set_reading(msgspec.structs.replace(grammar, whitespace=whitespace))

    def _ask(self, reading: _Reading) -> None:
        kept = _named(self._document.content.grammar).name
        box = QMessageBox(self._window)
        box.setObjectName("reading")
        box.setWindowTitle("Another notation")
        box.setText(f"Read this text as {reading.name}?")
        box.setInformativeText(f"It was written as {kept}. A new document begins with an example instead.")
        same = box.addButton("Keep the text", QMessageBox.ButtonRole.AcceptRole)
        new = box.addButton("New document", QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(same)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        same.clicked.connect(lambda: self._document.set_reading(reading.of(self._document.content.grammar)))
        new.clicked.connect(lambda: self._begin_if_free(reading))
        box.finished.connect(lambda _result: self._show())
        box.open()

    def _begin_if_free(self, reading: _Reading) -> None:
        if self._files.may_leave():
            self._begin(reading)

    def _begin(self, reading: _Reading) -> None:
        document = next(example for example in examples() if example.notation == reading.notation).document()
        self._document.replace(msgspec.structs.replace(document, grammar=reading.of(document.grammar)))

    def _show(self) -> None:
        """Name the reading, check its entry, and colour the text by it."""
        grammar = self._document.content.grammar
        reading = _named(grammar)
        self._toolbar.show_notation(reading.name, reading.tip)
        for action in self._entries.actions():
            action.setChecked(action.data() == reading.name)
        for action in self._spaces.actions():
            action.setChecked(action.data() == grammar.whitespace)
        self.whitespace_menu.setEnabled(grammar.notation == "json_schema")
        if self._shown is None or self._shown.notation != grammar.notation:
            self._editor.set_notation(grammar.notation)
        self._shown = grammar

    def _fill(self) -> None:
        menu = self._toolbar.notation_menu
        menu.setToolTipsVisible(True)
        self.whitespace_menu.setToolTipsVisible(True)
        self._entries, self._spaces = QActionGroup(menu), QActionGroup(self.whitespace_menu)
        for reading in READINGS:
            menu.addAction(_entry(reading.name, reading.tip, reading.name, self._entries))
        menu.addSeparator()
        menu.addMenu(self.whitespace_menu)
        for value, (text, tip) in WHITESPACE.items():
            self.whitespace_menu.addAction(_entry(text, tip, value, self._spaces))
        self._entries.triggered.connect(lambda action: self.choose(action.data()))
        self._spaces.triggered.connect(lambda action: self.choose_whitespace(action.data()))


def _named(grammar: GrammarPart) -> _Reading:
    return next((reading for reading in READINGS if reading.is_of(grammar)), READINGS[0])


def _entry(text: str, tip: str, value: str, group: QActionGroup) -> QAction:
    action = QAction(text, group, checkable=True)
    action.setData(value)
    action.setToolTip(tip)
    return action
