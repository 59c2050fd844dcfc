"""A grammar's text: counted in code points, with an undo that knows how it was read.

Qt's document counts UTF-16 units; everything that this widget says or is told
counts code points. Undo and redo go through the widget's own methods, whoever asks
for them: Qt's would not tell of another reading (`history`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor
from PySide6.QtWidgets import QMenu, QPlainTextEdit

from app.panes.editor.notation_history import NotationHistory
from app.panes.editor.offsets import Offsets
from app.panes.editor.scroll import bring_into_view
from engine.notations.editing import Edit, apply_edits
from engine.source import Span

_PASTE = QKeySequence.StandardKey.Paste


class GrammarEditor(QPlainTextEdit):
    """Plain text to be edited.

    Signals:
        edited: the text, after the user changed it.
        switched(text, reading): the text is read another way from here on, or again, and may be another.
        pasted_over(text): what was pasted is the whole text now; after `edited`.
        typed_over: so is what was typed.
        replaced: the text as a whole is another, by pasting or typing over it, or by undo or redo of that.
    """

    edited = Signal(str)
    switched = Signal(str, object)
    pasted_over = Signal(str)
    typed_over = Signal()
    replaced = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._offsets = Offsets("")
        self._text = ""
        self._is_silent = False  # whoever changes the text tells of it
        self._readings = NotationHistory(self.document())
        self.textChanged.connect(self._on_text)

    def _prepare(self, length: int) -> None:
        """A text of so many code points comes."""

    def _renew(self) -> None:
        """The text is another; before anybody is told."""

    def text(self) -> str:
        """The text."""
        return self._text

    def set_text(self, text: str, reading: object = None) -> None:
        """Replace the text, and how it is read; it is not an edit, and cannot be undone."""
        with self._silence():
            self._prepare(len(text))
            self.setPlainText(text)
        self._readings.begin(reading)

    def switch(self, reading: object, text: str | None = None) -> None:
        """Read the text another way from here on, or another text: one step of undo, which takes both back."""
        cursor = self.textCursor()
        with self._silence():
            self._readings.switch(reading, cursor, text)
        self.setTextCursor(cursor)
        self.switched.emit(self._text, reading)

    def undo(self) -> None:
        """Take back the last step, be it an edit or another reading."""
        self._travel(super().undo)

    def redo(self) -> None:
        """Do again what was taken back."""
        self._travel(super().redo)

    def _travel(self, go: Callable[[], None]) -> None:
        text, reading, depth = self._text, self._readings.current, self._readings.depth
        with self._silence():
            go()
        if self._readings.is_replacement(depth):
            self.replaced.emit()
        self._readings.follow()
        if self._readings.current != reading:
            self.switched.emit(self._text, self._readings.current)
        elif self._text != text:
            self.edited.emit(self._text)

    @contextmanager
    def _silence(self) -> Iterator[None]:
        before, self._is_silent = self._is_silent, True
        try:
            yield
        finally:
            self._is_silent = before

    def select(self, span: Span) -> None:
        """Select a span and bring it into view."""
        cursor = self.textCursor()
        cursor.setPosition(self._offsets.to_utf16(span.start))
        cursor.setPosition(self._offsets.to_utf16(span.end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def bring_into_view(self, span: Span) -> None:
        """Scroll to a span; the cursor stays."""
        bring_into_view(self, self._offsets.to_utf16(span.start))

    @property
    def caret(self) -> int:
        """Where the cursor stands, in code points."""
        return self._offsets.to_code_points(self.textCursor().position())

    @property
    def selection(self) -> Span:
        """What is selected; an empty span where the cursor stands for nothing."""
        cursor, to_points = self.textCursor(), self._offsets.to_code_points
        return Span(to_points(cursor.selectionStart()), to_points(cursor.selectionEnd()))

    def apply(self, edits: Sequence[Edit], caret: int | None = None) -> None:
        """Change the text, as one step of undo.

        Args:
            edits: what changes; their spans are of the text as it is.
            caret: where the cursor goes then; behind the last edit by default.
        """
        ordered = sorted(edits, key=lambda edit: edit.span)
        if not ordered:
            return
        after = apply_edits(self._text, ordered)
        grown = sum(len(edit.replacement) - (edit.span.end - edit.span.start) for edit in ordered)
        place = ordered[-1].span.end + grown if caret is None else caret
        places = [(self._offsets.to_utf16(e.span.start), self._offsets.to_utf16(e.span.end)) for e in ordered]
        cursor = self.textCursor()
        cursor.beginEditBlock()
        for (start, end), edit in zip(reversed(places), reversed(ordered), strict=True):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(edit.replacement)
        cursor.setPosition(Offsets(after).to_utf16(place))
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def make_menu(self) -> QMenu:
        """The usual menu of a text, which goes when it is closed."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        travels: dict[str, Callable[[], None]] = {"edit-undo": self.undo, "edit-redo": self.redo}
        for action in menu.actions():
            if action.objectName() in travels:
                action.triggered.disconnect()
                action.triggered.connect(travels[action.objectName()])
        return menu

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste, and tell where nothing of the text before is left."""
        is_over, depth = self._goes_at_a_key, self._readings.depth
        super().insertFromMimeData(source)
        if is_over and self._text.strip():
            self._readings.note_replacement(depth)
            self.replaced.emit()
            self.pasted_over.emit(self._text)

    @property
    def _goes_at_a_key(self) -> bool:
        """Whether nothing of the text would be left where something takes the place of the selection."""
        selected = self.selection
        return not (self._text[: selected.start] + self._text[selected.end :]).strip()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Undo and redo are the widget's own. Shift+Return is a Return: Qt's line separator is no line feed."""
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self.redo()
        elif event.matches(QKeySequence.StandardKey.InsertLineSeparator):
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        else:
            is_over, before, depth = self._goes_at_a_key, self._text, self._readings.depth
            super().keyPressEvent(event)
            if is_over and self._text != before and self._text.strip() and not event.matches(_PASTE):
                self._readings.note_replacement(depth)
                self.replaced.emit()
                self.typed_over.emit()

    def _on_text(self) -> None:
        if not self._is_silent:
            self._readings.edited()
        # Not toPlainText(), which turns no-break spaces into spaces.
        text = self.document().toRawText().replace("\u2029", "\n").replace("\u2028", "\n")
        if text == self._text:
            return  # colours changed, not text
        self._text, self._offsets = text, Offsets(text)
        self._renew()
        if not self._is_silent:
            self.edited.emit(text)
