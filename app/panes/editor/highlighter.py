"""Syntax highlighting of an editor's text with a notation's lexer, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFont, QTextBlock, QTextCharFormat, QTextDocument, QTextLayout
from PySide6.QtWidgets import QPlainTextEdit

from app import theme
from app.panes.editor.offsets import Offsets
from app.theme import Role
from engine.notations.lexing import CachedLexer, LineLexer, LineTokens, TokenKind

LONG_TEXT = 30_000  # code points; a longer text is not read from its beginning to highlight a line
LONGEST_LINE = 5_000  # code points; of a longer line, the visible part is highlighted at most
_LONGEST_HIGHLIGHTED = 100_000  # code points; Qt lays a longer line out for 10 ms and more whenever its colours change
_MOST_PARTS = 50  # of long lines, which are known to be highlighted
_AROUND = 500  # code points before and after a visible part, which a few keys move into it
Resume = Callable[[str, int], int | None]
"""Returns where to lex a part of a long line from; see `Notation.resume_at`."""

_ROLES = {
    TokenKind.LITERAL: Role.SYNTAX_LITERAL,
    TokenKind.CLASS: Role.SYNTAX_CLASS,
    TokenKind.ESCAPE: Role.SYNTAX_ESCAPE,
    TokenKind.QUANTIFIER: Role.SYNTAX_QUANTIFIER,
    TokenKind.GROUP: Role.SYNTAX_GROUP,
    TokenKind.OPERATOR: Role.SYNTAX_OPERATOR,
    TokenKind.ANCHOR: Role.SYNTAX_ANCHOR,
    TokenKind.NAME: Role.SYNTAX_NAME,
    TokenKind.COMMENT: Role.SYNTAX_COMMENT,
    TokenKind.SPACE: Role.DISABLED,
}
_POSITIVE = 0x7FFFFFFF
_BOLD = {TokenKind.QUANTIFIER, TokenKind.OPERATOR}


class Highlighter(QObject):
    """Highlights the lines that an editor shows, whatever the length of its text.

    A line keeps its colours while it is out of view, and its `userState` says what they were made from. In a text that
    is longer than `LONG_TEXT`, a line that is shown after others that were not begins in the initial state: right for
    JSON, and for other notations unless a string or a class of several lines begins above. Of a line that is longer
    than `LONGEST_LINE`, only what is visible is lexed, if the notation says from where; one that is longer than
    `_LONGEST_HIGHLIGHTED` has no colours.

    A line that is edited gets its colours before Qt lays it out, so that this is done once: 20 ms for 300 KB in a line.

    Attributes:
        lexer: the lexer of the notation, which keeps the lines that it read.

    Rejected: Qt's own highlighter calls a method for each line of a change, shown or not: half a second for a megabyte.
    """

    def __init__(self, edit: QPlainTextEdit, lexer: LineLexer) -> None:
        super().__init__(edit)
        self._edit = edit
        self.lexer = CachedLexer(lexer)
        self._resume: Resume = _from_beginning
        self._formats = _formats()
        self._states = [0]  # in which the first lines begin, as far as they are known
        self._look = 0  # of lexer and colours
        self._parts: dict[int, range] = {}  # what is highlighted of long lines, by their `userState`
        self.follow(edit.document())
        edit.textChanged.connect(self.show_visible)
        edit.verticalScrollBar().valueChanged.connect(self.show_visible)
        edit.viewport().installEventFilter(self)

    def follow(self, document: QTextDocument) -> None:
        """Notice the changes of a document, whenever the editor shows it."""
        document.contentsChange.connect(self._on_change)

    def restart(self) -> None:
        """Highlight another document that the editor shows now."""
        self._states = [0]
        self.show_visible()

    def set_lexer(self, lexer: LineLexer, resume: Resume | None = None) -> None:
        """Highlight another notation.

        Args:
            lexer: its lexer.
            resume: returns where to lex a part of a long line from; None if such lines are not highlighted.
        """
        self.lexer, self._resume, self._states = CachedLexer(lexer), resume or _from_beginning, [0]
        self._look += 1
        self.show_visible()

    def recolour(self) -> None:
        """Apply the colours of the current theme."""
        self._formats = _formats()
        self._look += 1
        self.show_visible()

    def show_visible(self) -> None:
        """Highlight the lines that are visible now."""
        document = self._edit.document()
        spacing = max(self._edit.fontMetrics().lineSpacing(), 1)
        block = self._edit.firstVisibleBlock()
        state = self._state_before(block)
        for _ in range(self._edit.viewport().height() // spacing + 2):
            if not block.isValid():
                return
            state, below = self._highlight(document, block, state), next_visible(block)
            if below.blockNumber() != block.blockNumber() + 1:
                state = self._state_before(below)
            block = below

    def eventFilter(self, _viewport: QObject, event: QEvent) -> bool:
        """Highlight the lines that another size shows."""
        if event.type() == QEvent.Type.Resize:
            self.show_visible()
        return False

    def _on_change(self, position: int, _removed: int, added: int) -> None:
        """Forget what was known of the lines below a change; highlight a line that changed alone."""
        document = self._edit.document()
        block = document.findBlock(position)
        del self._states[max(block.blockNumber(), 0) + 1 :]
        if block.contains(position + added) and block.layout().lineCount():
            self._highlight(document, block, self._state_before(block))

    def _state_before(self, block: QTextBlock) -> int:
        """Return the state in which a line begins; the initial one in a long text."""
        document, number = self._edit.document(), block.blockNumber()
        if document.characterCount() > LONG_TEXT:
            return 0
        above = document.findBlockByNumber(len(self._states) - 1)
        while len(self._states) <= number:
            self._states.append(self._lexed(above.text(), self._states[-1]).state)
            above = above.next()
        return self._states[max(number, 0)]

    def _lexed(self, text: str, before: int) -> LineTokens:
        return self.lexer(text, before) if len(text) <= LONGEST_LINE else LineTokens((), before)

    def _highlight(self, document: QTextDocument, block: QTextBlock, before: int) -> int:
        """Highlight one line, and return the state after it."""
        text = block.text()
        made_from = hash((text, before, self._look)) & _POSITIVE
        if len(text) > LONGEST_LINE:
            self._highlight_part(document, block, text, made_from)
            return before
        result = self.lexer(text, before)
        if block.userState() != made_from:
            self._colour(document, block, made_from, list(self._ranges(text, result)))
        return result.state

    def _highlight_part(self, document: QTextDocument, block: QTextBlock, text: str, made_from: int) -> None:
        """Highlight what is visible of a long line."""
        if len(text) > _LONGEST_HIGHLIGHTED:
            if block.userState() != made_from:
                self._colour(document, block, made_from, [])
            return
        visible = self._visible_part(block, Offsets(text))
        is_known, around = block.userState() == made_from, _AROUND
        if is_known:
            done = self._parts.get(made_from, range(0))
            if done.start <= visible.start and visible.stop <= done.stop:
                return
            around = len(visible)  # scrolling goes on, and with each part, Qt lays the line out anew
        if len(self._parts) > _MOST_PARTS:
            self._parts.clear()
        self._parts[made_from] = range(visible.start - around, visible.stop + around)
        start, stop = self._resume(text, max(visible.start - around, 0)), min(visible.stop + around, len(text))
        if start is None or stop - start > 2 * around + len(visible) + LONGEST_LINE:
            result, start = LineTokens((), 0), 0
        else:
            result = self.lexer(text[start:stop], 0)
        self._colour(document, block, made_from, list(self._ranges(text, result, start)))

    def _colour(
        self, document: QTextDocument, block: QTextBlock, made_from: int, ranges: list[QTextLayout.FormatRange]
    ) -> None:
        block.setUserState(made_from)
        if ranges or block.layout().formats():
            block.layout().setFormats(ranges)
            document.markContentsDirty(block.position(), block.length())

    def _visible_part(self, block: QTextBlock, offsets: Offsets) -> range:
        """Return the visible code points of a line; of one that is not laid out, those at its beginning."""
        layout = block.layout()
        rows = self._edit.viewport().height() // max(self._edit.fontMetrics().lineSpacing(), 1) + 2
        if not layout.lineCount():
            return range(rows * self._edit.viewport().width() // max(self._edit.fontMetrics().averageCharWidth(), 1))
        first = min(max(self._edit.verticalScrollBar().value() - block.firstLineNumber(), 0), layout.lineCount() - 1)
        last = layout.lineAt(min(first + rows, layout.lineCount() - 1))
        start, stop = layout.lineAt(first).textStart(), last.textStart() + last.textLength()
        return range(offsets.to_code_points(start), offsets.to_code_points(stop))

    def _ranges(self, text: str, result: LineTokens, start: int = 0) -> Iterator[QTextLayout.FormatRange]:
        offsets = Offsets(text)
        for token in result.tokens:
            found = QTextLayout.FormatRange()
            found.start = offsets.to_utf16(start + token.start)
            found.length = offsets.to_utf16(start + token.end) - found.start
            found.format = self._formats[token.kind]
            yield found


def _from_beginning(_line: str, _offset: int) -> int | None:
    return None


def next_visible(block: QTextBlock) -> QTextBlock:
    """Return the line after a line and after those that are hidden below it; an invalid one after the last."""
    below = block.next()
    if not below.isValid() or below.isVisible():
        return below
    # The number of the first line that a block shows counts no hidden ones: found without reading these.
    below = block.document().findBlockByLineNumber(block.firstLineNumber() + block.lineCount())
    while below.isValid() and not below.isVisible():
        below = below.next()
    return below if below.blockNumber() > block.blockNumber() else QTextBlock()


def _formats() -> dict[TokenKind, QTextCharFormat]:
    formats = {}
    for kind, role in _ROLES.items():
        formats[kind] = QTextCharFormat()
        formats[kind].setForeground(theme.colour(role))
        if kind in _BOLD:
            formats[kind].setFontWeight(QFont.Weight.DemiBold)
        if kind is TokenKind.COMMENT:
            formats[kind].setFontItalic(True)
    return formats
