"""The text widget of a grammar, in code points, with an undo history that includes notation changes.

Qt's document counts UTF-16 units; this widget's interface uses code points. Undo and redo always go through the
widget's own methods, since Qt's would ignore notation changes (`notation_history`).
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
    """An editor of plain text.

    Signals:
        edited: the text, after the user changed it.
        switched(text, reading): the notation or its options changed, maybe by undo or redo, and the text may have
        changed, too.
        pasted_over(text): pasted text replaced the whole text; after `edited`.
        typed_over: typed text replaced the whole text.
        replaced: the whole text was replaced, by pasting or typing over it, or by undo or redo of that.
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
        self._is_silent = False  # the code that changes the text reports it
        self._history = NotationHistory(self.document())
        self.textChanged.connect(self._on_text)

    def _prepare(self, length: int) -> None:
        """Prepare for a text of this many code points."""

    def _on_text_changed(self) -> None:
        """Update after a change of the text, before it is reported."""

    def text(self) -> str:
        """Return the text."""
        return self._text

    def set_text(self, text: str, reading: object = None) -> None:
        """Replace the text and its notation; this is not an edit, and cannot be undone."""
        with self._without_signals():
            self._prepare(len(text))
            self.setPlainText(text)
        self._history.begin(reading)

    def switch(self, reading: object, text: str | None = None) -> None:
        """Change the notation, and the text if given, as one undo step."""
        cursor = self.textCursor()
        with self._without_signals():
            self._history.switch(reading, cursor, text)
        self.setTextCursor(cursor)
        self.switched.emit(self._text, reading)

    def undo(self) -> None:
        """Undo the last step, an edit or a change of the notation."""
        self._go_in_history(super().undo)

    def redo(self) -> None:
        """Redo the last undone step."""
        self._go_in_history(super().redo)

    def _go_in_history(self, go: Callable[[], None]) -> None:
        text, reading, depth = self._text, self._history.current, self._history.depth
        with self._without_signals():
            go()
        if self._history.is_replacement(depth):
            self.replaced.emit()
        self._history.follow()
        if self._history.current != reading:
            self.switched.emit(self._text, self._history.current)
        elif self._text != text:
            self.edited.emit(self._text)

    @contextmanager
    def _without_signals(self) -> Iterator[None]:
        before, self._is_silent = self._is_silent, True
        try:
            yield
        finally:
            self._is_silent = before

    def select(self, span: Span) -> None:
        """Select a span and scroll to it."""
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
        """Return the cursor's position in code points."""
        return self._offsets.to_code_points(self.textCursor().position())

    @property
    def selection(self) -> Span:
        """Return the selection; an empty span at the cursor if there is none."""
        cursor, to_points = self.textCursor(), self._offsets.to_code_points
        return Span(to_points(cursor.selectionStart()), to_points(cursor.selectionEnd()))

    def apply(self, edits: Sequence[Edit], caret: int | None = None) -> None:
        """Change the text, as one undo step.

        Args:
            edits: the changes; their spans refer to the current text.
            caret: the new cursor position; by default after the last edit.
        """
        ordered = sorted(edits, key=lambda edit: edit.span)
        if not ordered:
            return
        after = apply_edits(self._text, ordered)
        growth = sum(len(edit.replacement) - (edit.span.end - edit.span.start) for edit in ordered)
        caret_after = ordered[-1].span.end + growth if caret is None else caret
        units = [(self._offsets.to_utf16(e.span.start), self._offsets.to_utf16(e.span.end)) for e in ordered]
        cursor = self.textCursor()
        cursor.beginEditBlock()
        for (start, end), edit in zip(reversed(units), reversed(ordered), strict=True):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(edit.replacement)
        cursor.setPosition(Offsets(after).to_utf16(caret_after))
        cursor.endEditBlock()
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def make_menu(self) -> QMenu:
        """Return the standard menu of a text, which is deleted when it is closed."""
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        history_actions: dict[str, Callable[[], None]] = {"edit-undo": self.undo, "edit-redo": self.redo}
        for action in menu.actions():
            if action.objectName() in history_actions:
                action.triggered.disconnect()
                action.triggered.connect(history_actions[action.objectName()])
        return menu

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste, and report if the whole text was replaced."""
        replaces_all, depth = self._selection_is_all, self._history.depth
        super().insertFromMimeData(source)
        if replaces_all and self._text.strip():
            self._history.note_replacement(depth)
            self.replaced.emit()
            self.pasted_over.emit(self._text)

    @property
    def _selection_is_all(self) -> bool:
        """Return whether replacing the selection would leave nothing of the text."""
        selected = self.selection
        return not (self._text[: selected.start] + self._text[selected.end :]).strip()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle undo and redo; treat Shift+Return as Return, since Qt's line separator is no line feed."""
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self.redo()
        elif event.matches(QKeySequence.StandardKey.InsertLineSeparator):
            self.textCursor().insertBlock()
            self.ensureCursorVisible()
        else:
            replaces_all, before, depth = self._selection_is_all, self._text, self._history.depth
            super().keyPressEvent(event)
            if replaces_all and self._text != before and self._text.strip() and not event.matches(_PASTE):
                self._history.note_replacement(depth)
                self.replaced.emit()
                self.typed_over.emit()

    def _on_text(self) -> None:
        if not self._is_silent:
            self._history.edited()
        # Not toPlainText(), which turns no-break spaces into spaces.
        text = self.document().toRawText().replace("\u2029", "\n").replace("\u2028", "\n")
        if text == self._text:
            return  # formats changed, not text
        self._text, self._offsets = text, Offsets(text)
        self._on_text_changed()
        if not self._is_silent:
            self.edited.emit(text)
