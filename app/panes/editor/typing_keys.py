"""Keys that write more than their character: Tab and Return indent, and brackets and quotes close themselves.

A closing character that was written by itself is typed over by the same key, and goes with its partner on Backspace.
Each key is one step of undo. In a single regular expression Tab moves the focus and Return does not indent, since white
space would be a part of it; elsewhere Esc, followed by Tab, moves the focus, so that nobody is caught in the editor.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from engine.notations import NOTATIONS

_INDENT = 2  # blanks
_LONGEST_LINE = 10_000  # characters: a longer line is not searched for strings
_PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"'}
_BLOCKS = {"{": "}", "[": "]", "(": ")"}
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier  # as Windows reports it
_MODIFIERS = {Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta}
_COMMANDS = _ALT_GR | Qt.KeyboardModifier.MetaModifier
_BEFORE_CLOSING = " \t)]},:|;"  # a bracket before another character is probably meant for what follows


@dataclass(frozen=True, slots=True)
class _Syntax:
    """The parts of a notation that are read literally."""

    has_quotes: bool
    has_classes: bool
    has_comments: bool

    def is_in_text(self, before: str) -> bool:
        """Return whether the end of the beginning of a line is in a string, a class or a comment, or is escaped."""
        opened, is_escaped = "", False
        for character in before:
            if is_escaped:
                is_escaped = False
            elif character == "\\":
                is_escaped = True
            elif opened:
                if character == opened:
                    opened = ""
            elif self.has_quotes and character == '"':
                opened = '"'
            elif self.has_classes and character == "[":
                opened = "]"
            elif self.has_comments and character == "#":
                return True
        return bool(opened) or is_escaped


class TypingKeys:
    """Handles such keys for one editor.

    Args:
        edit: the editor.
    """

    def __init__(self, edit: QPlainTextEdit) -> None:
        self._edit = edit
        self._closers: list[QTextCursor] = []  # before each closing character that was written by itself
        self._syntax = _Syntax(has_quotes=False, has_classes=True, has_comments=False)
        self._indents = False
        self._leaves = False  # whether Tab moves the focus once

    def set_notation(self, notation: str) -> None:
        """Follow another notation."""
        found = NOTATIONS[notation]
        self._indents = not found.is_expression
        self._syntax = _Syntax(
            has_quotes=not found.is_expression, has_classes=not found.describes_json, has_comments=found.has_named_rules
        )
        self.forget()

    def forget(self) -> None:
        """Forget which closing characters were written by themselves."""
        self._closers.clear()

    def note_release(self, event: QKeyEvent) -> None:
        """Let Tab leave the editor after Esc, until another key is pressed."""
        if event.key() == Qt.Key.Key_Escape:
            self._leaves = True

    @property
    def has_tab(self) -> bool:
        """Return whether Tab indents now; otherwise it moves the focus."""
        return self._indents and not self._leaves and not self._edit.isReadOnly()

    def handle(self, event: QKeyEvent) -> bool:
        """Handle a key; return whether it is handled."""
        self._leaves = self._leaves and event.key() in _MODIFIERS
        commands = event.modifiers() & _COMMANDS
        if commands and commands != _ALT_GR:
            return False
        match event.key():
            case Qt.Key.Key_Tab if self.has_tab:
                self._indent()
            case Qt.Key.Key_Backtab if self.has_tab:
                self._outdent()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                return self._indents and self._break_line()
            case Qt.Key.Key_Backspace:
                return self._delete_pair()
            case _:
                return bool(event.text()) and self._type(event.text())
        return True

    # --- indentation -------------------------------------------------------------------------------------------------

    def _lines(self) -> list[QTextBlock]:
        """Return the lines of the selection, without one that it only reaches."""
        cursor, document = self._edit.textCursor(), self._edit.document()
        block, last = document.findBlock(cursor.selectionStart()), document.findBlock(cursor.selectionEnd())
        if last != block and last.position() == cursor.selectionEnd():
            last = last.previous()
        lines = [block]
        while block != last:
            block = block.next()
            lines.append(block)
        return lines

    def _indent(self) -> None:
        cursor, lines = self._edit.textCursor(), self._lines()
        cursor.beginEditBlock()
        if len(lines) == 1:
            cursor.removeSelectedText()
            cursor.insertText(" " * (_INDENT - cursor.positionInBlock() % _INDENT))
        else:
            for block in lines:
                if block.text().strip():
                    QTextCursor(block).insertText(" " * _INDENT)
        cursor.endEditBlock()
        if len(lines) == 1:
            self._edit.setTextCursor(cursor)

    def _outdent(self) -> None:
        cursor = self._edit.textCursor()
        cursor.beginEditBlock()
        for block in self._lines():
            text = block.text()
            blanks = 1 if text.startswith("\t") else min(len(text) - len(text.lstrip(" ")), _INDENT)
            before = QTextCursor(block)
            before.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, blanks)
            before.removeSelectedText()
        cursor.endEditBlock()

    def _break_line(self) -> bool:
        """Begin a line as far in as this one, further in after an opening bracket; its partner gets its own line."""
        cursor = self._edit.textCursor()
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        text, at = cursor.block().text(), cursor.positionInBlock()
        own = text[: len(text) - len(text.lstrip(" \t"))][:at]
        before, after = text[:at].rstrip()[-1:], text[at:].lstrip()[:1]
        opens = before in _BLOCKS and len(text) <= _LONGEST_LINE and not self._syntax.is_in_text(text[: at - 1])
        cursor.insertText("\n" + own + " " * (_INDENT if opens else 0))
        position = cursor.position()
        if opens and after == _BLOCKS[before]:
            cursor.insertText("\n" + own)
            cursor.setPosition(position)
        cursor.endEditBlock()
        self._edit.setTextCursor(cursor)
        self._edit.ensureCursorVisible()
        return True

    # --- pairs -------------------------------------------------------------------------------------------------------

    def _type(self, typed: str) -> bool:
        cursor = self._edit.textCursor()
        if self._is_closer(cursor, typed):
            self._closers.pop()
            cursor.movePosition(QTextCursor.MoveOperation.Right)
            self._edit.setTextCursor(cursor)
            return True
        closing = _PAIRS.get(typed, "")
        if not closing or (typed == '"' and not self._syntax.has_quotes):
            return False
        if cursor.hasSelection():
            return self._surround(cursor, typed, closing)
        text, at = cursor.block().text(), cursor.positionInBlock()
        is_before_word = at < len(text) and text[at] not in _BEFORE_CLOSING
        is_after_word = typed == '"' and (text[at - 1 : at].isalnum() or text[at - 1 : at] == '"')
        if is_before_word or is_after_word or len(text) > _LONGEST_LINE or self._syntax.is_in_text(text[:at]):
            return False
        cursor.beginEditBlock()
        cursor.insertText(typed + closing)
        cursor.endEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.Left)
        self._edit.setTextCursor(cursor)
        self._edit.ensureCursorVisible()
        closer = QTextCursor(cursor)
        self._closers = [one for one in self._closers if one.block() == cursor.block()]
        self._closers.append(closer)
        return True

    def _surround(self, cursor: QTextCursor, typed: str, closing: str) -> bool:
        """Put a selection within one line between a pair, unless it is all of the text, which typing replaces."""
        start, end = cursor.selectionStart(), cursor.selectionEnd()
        document = self._edit.document()
        is_all = end - start >= document.characterCount() - 1
        if is_all or document.findBlock(start) != document.findBlock(end):
            return False
        chosen = cursor.selectedText()
        cursor.beginEditBlock()
        cursor.insertText(typed + chosen + closing)
        cursor.endEditBlock()
        cursor.setPosition(start + 1)
        cursor.setPosition(end + 1, QTextCursor.MoveMode.KeepAnchor)
        self._edit.setTextCursor(cursor)
        return True

    def _is_closer(self, cursor: QTextCursor, typed: str) -> bool:
        """Return whether the character after the cursor was written by itself, and is the typed one."""
        while self._closers and not self._stands(self._closers[-1]):
            self._closers.pop()
        return (
            bool(self._closers)
            and not cursor.hasSelection()
            and self._closers[-1].position() == cursor.position()
            and self._edit.document().characterAt(cursor.position()) == typed
        )

    def _stands(self, closer: QTextCursor) -> bool:
        """Return whether the character at a remembered position is still a closing one of the cursor's line."""
        is_here = closer.block() == self._edit.textCursor().block()
        return is_here and self._edit.document().characterAt(closer.position()) in _PAIRS.values()

    def _delete_pair(self) -> bool:
        """Delete the closing character with the opening one right before it."""
        cursor = self._edit.textCursor()
        before = self._edit.document().characterAt(cursor.position() - 1)
        if before not in _PAIRS or not self._is_closer(cursor, _PAIRS[before]):
            return False
        self._closers.pop()
        cursor.beginEditBlock()
        cursor.deleteChar()
        cursor.deletePreviousChar()
        cursor.endEditBlock()
        self._edit.setTextCursor(cursor)
        return True
