"""The text widget of the editor: highlighting, line numbers, marks and tool tips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QFocusEvent,
    QHelpEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QMenu, QPlainTextDocumentLayout, QPlainTextEdit, QToolTip, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.models.findings import Sign, kind_text, rank_of, sign_of
from app.models.heat import HeatRow
from app.panes.editor import marks
from app.panes.editor.folding import Folding, is_foldable, is_folded
from app.panes.editor.hanging import HangingIndentation
from app.panes.editor.highlighter import LONG_TEXT, Highlighter, Resume, next_visible
from app.panes.editor.marks import named_at, paint_invisible, paint_sign
from app.panes.editor.notation_history import NotationHistory
from app.panes.editor.offsets import Offsets
from app.panes.editor.slices import SLICE, SlicedChange, replace_in_slices, slices_of
from app.panes.editor.target_badges import Badge, badge_of, badge_rect, paint_badge
from app.panes.editor.typing_keys import TypingKeys
from app.theme import Role
from app.theme.labels import plain_text
from app.theme.mnemonics import add_mnemonics
from app.widgets.clean_paste import without_secrets
from app.widgets.document_text import document_text
from engine.diagnosis.targets.findings import TargetDiagnostic
from engine.notations.editing import Edit, apply_edits
from engine.notations.lexing import LineLexer, partners, plain_line
from engine.source import Diagnostic, Span

_PASTE = QKeySequence.StandardKey.Paste
_SIGN = 8
_LEAST_DIGITS = 2
MAX_PARSED_LENGTH = 50_000  # a longer text takes too long to parse at every key, for names and completions
_MAX_MATCHED_LENGTH = 10_000  # a longer text has no bracket matching, which reads it completely at every cursor move
_MOST_FOLLOWED = 16  # live positions that are looked for in view
_SLICE_OF_EDITS = 500  # are made before waiting events have their turn: 8 ms
_LIST_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab}
_CURSOR_KEYS = {Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End}
_COMMAND_MODIFIERS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text that is not shown for a while.

    Attributes:
        document: has the text and its undo history.
        history: that of its notation.
        cursor: the cursor with the selection.
        scrolled: the first visible line.
        has_folds: whether lines may be hidden.
    """

    document: QTextDocument
    history: NotationHistory
    cursor: QTextCursor
    scrolled: int
    has_folds: bool


class CodeEdit(QPlainTextEdit):
    """An editor of one grammar.

    Qt's document counts UTF-16 units; the interface of this widget uses code points. Undo and redo go through the
    widget's own methods, since Qt's would ignore changes of the notation (`notation_history`).

    Signals:
        edited: the text, after the user changed it.
        switched(text, choice): the notation or its options changed, maybe by undo or redo, and the text may have
        changed, too.
        pasted_over(text): pasted text replaced the whole text; after `edited`.
        secrets_removed(number): pasted text had secrets, which were removed before it was inserted.
        typed_over: typed text replaced the whole text.
        replaced: the whole text was replaced, by pasting or typing over it, or by undo or redo of that.
        offset_hovered: the code point under the pointer, -1 for none.
        typed: a typed character, or an empty text for a deleted one.
        definition_wanted: the code point that was clicked with Ctrl.
    """

    edited = Signal(str)
    switched = Signal(str, object)
    pasted_over = Signal(str)
    secrets_removed = Signal(int)
    typed_over = Signal()
    replaced = Signal()
    typed = Signal(str)
    definition_wanted = Signal(int)
    offset_hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._offsets = Offsets("")
        self._text = ""
        self._is_silent = False  # the code that changes the text reports it
        self._slices = SlicedChange(self)
        self._is_changing = False  # in slices, so that `_text` is the text before
        self._owned = _empty_document()  # the document that is shown; the widget does not own it
        self.setDocument(self._owned)
        self._history = NotationHistory(self._owned)
        self.notation = ""
        self.fix_text: Callable[[Diagnostic], str] = lambda _finding: ""
        self.fill_menu: Callable[[QMenu, int], None] = lambda _menu, _offset: None
        self.popup_is_open: Callable[[], bool] = lambda: False
        self._highlighter = Highlighter(self, plain_line)
        self._pairs: dict[int, int] | None = None
        self._hovered = -1
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._diagnosed_text = ""
        self._found: tuple[Span, ...] = ()
        self._live: tuple[Span, ...] = ()
        self._pointed: tuple[Span, ...] = ()
        self._heat: tuple[HeatRow, ...] = ()
        self._heat_is_lost = False
        self._line_marks: dict[int, Sign] = {}
        self._badges: dict[int, Badge] = {}  # by line
        self.folding = Folding(self, self._slices)
        self.folding.changed.connect(self._highlighter.show_visible)
        self.gutter = Gutter(self, self.sign_of_line, self.tip_of_line, self.folding)
        self.typing_keys = TypingKeys(self)
        self.hanging = HangingIndentation(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.setTabChangesFocus(True)  # where `TypingKeys` does not indent
        self.setAccessibleName(ui_text("common.word.grammar"))
        self.textChanged.connect(self._on_text_changed)
        self.blockCountChanged.connect(self._resize_gutter)
        self.updateRequest.connect(self._on_update)
        self.cursorPositionChanged.connect(self._update_marks)
        self._follow_length(0)
        self.recolour()

    # --- text --------------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """Return the text."""
        self._complete_change()
        return self._text

    @property
    def notation_choice(self) -> object:
        """Return the notation and its options, as set by `set_text` or `switch`, at this step of the undo history."""
        return self._history.current

    def complete(self) -> None:
        """Make what remains of a long text or of a long change now."""
        self._slices.complete()

    def _complete_change(self) -> None:
        if self._is_changing:
            self.complete()

    def set_text(self, text: str, choice: object = None) -> None:
        """Replace the text and its notation; this is not an edit, and cannot be undone.

        A long text is shown from its beginning at once, and inserted completely between events.
        """
        self.complete()
        slices = slices_of(text)
        with self._without_signals():
            if len(text) > LONG_TEXT:
                self.setPlainText("")  # so that a narrower gutter does not lay a long line out once more
            self._prepare_for(text)
            if len(slices) == 1:
                self.setPlainText(text)
            else:
                self._take_text(text)
                self._slices.begin(self._fill(slices), self._on_filled)
                self._highlighter.show_visible()
                self.gutter.update()
        self._history.begin(choice)

    def hold(self) -> HeldText | None:
        """Return the text with what belongs to it, and show an empty one; None for a long one that is not complete."""
        if self._slices.is_running and not self._is_changing:
            self._slices.abandon()
            self.setUndoRedoEnabled(True)
            return None
        self.complete()
        cursor, scrolled = self.textCursor(), self.verticalScrollBar().value()
        held = HeldText(self._owned, self._history, cursor, scrolled, self.folding.has_folds)
        empty = _empty_document()
        self._highlighter.follow(empty)
        self.folding.follow(empty)
        self._show_document(empty, NotationHistory(empty), has_folds=False)
        return held

    def resume(self, held: HeldText) -> None:
        """Show a text that was held, where it was left."""
        self._show_document(held.document, held.history, has_folds=held.has_folds)
        self.setTextCursor(held.cursor)
        self.verticalScrollBar().setValue(held.scrolled)

    def _show_document(self, document: QTextDocument, history: NotationHistory, *, has_folds: bool) -> None:
        self._slices.complete()
        self.setExtraSelections([])
        if document.defaultFont() != self.font():
            document.setDefaultFont(self.font())
        # First the width that it has beside it: in another one, all of a long text would be laid out once more.
        self.setViewportMargins(self.gutter.width_for(document.blockCount()), 0, 0, 0)
        self.setVerticalScrollBarPolicy(_bar_policy(document.characterCount()))
        with self._without_signals():
            self.setDocument(document)
            self._owned, self._history = document, history
            self._on_text_changed()
        self.folding.restart(has_folds=has_folds)
        self.typing_keys.forget()
        self._follow_length(len(self._text))
        self._resize_gutter()
        self._highlighter.restart()
        self._update_marks()
        self.gutter.update()

    def _fill(self, slices: Sequence[str]) -> Iterator[None]:
        """Show the first slice, and append the others."""
        self.setPlainText(slices[0])
        self.setUndoRedoEnabled(False)
        for one in slices[1:]:
            yield
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(one)

    def _on_filled(self) -> None:
        self.setUndoRedoEnabled(True)
        self._history.follow()
        with self._without_signals():
            self._on_text_changed()
        if self.current_diagnostics:
            self.show_diagnostics(self.diagnostics)  # those of lines that were not there yet
        self._update_marks()

    def _change(self, steps: Iterator[None], done: Callable[[], object], *, is_silent: bool = False) -> None:
        """Change the text in slices, as one undo step; nothing of it is shown before it is complete.

        Args:
            steps: makes a slice whenever it is asked for the next value.
            done: called when the text is complete.
            is_silent: whether `done` reports the change.
        """
        below = self._history.depth
        self.setExtraSelections([])
        self.viewport().setUpdatesEnabled(False)
        self._is_changing = True

        def on_complete() -> None:
            self._is_changing, before = False, self._text
            if not is_silent:
                self._history.edited()
            self._history.note_slices(below)
            with self._without_signals() if is_silent else nullcontext():
                self._on_text_changed()
            if self._text is before:
                self._update_marks()
            self.viewport().setUpdatesEnabled(True)
            done()

        self._slices.begin(steps, on_complete)

    def switch(self, choice: object, text: str | None = None) -> None:
        """Change the notation, and the text if given, as one undo step."""
        self.complete()
        cursor = self.textCursor()
        slices = slices_of(text or "")
        if text is not None and len(slices) + len(slices_of(self._text)) > 2:
            cursor.select(QTextCursor.SelectionType.Document)
            self._change(self._switch(choice, cursor, slices), lambda: self._on_switched(cursor), is_silent=True)
            return
        with self._without_signals():
            self._history.switch(choice, cursor, text)
        self._on_switched(cursor)

    def _switch(self, choice: object, cursor: QTextCursor, slices: list[str]) -> Iterator[None]:
        yield from replace_in_slices(cursor, slices)
        cursor.movePosition(QTextCursor.MoveOperation.Start)
        self._history.switch(choice, cursor)

    def _on_switched(self, cursor: QTextCursor) -> None:
        self.setTextCursor(cursor)
        self.switched.emit(self._text, self._history.current)

    def undo(self) -> None:
        """Undo the last step, an edit or a change of the notation."""
        self._go_in_history(super().undo, is_back=True)

    def redo(self) -> None:
        """Redo the last undone step."""
        self._go_in_history(super().redo, is_back=False)

    def _go_in_history(self, go: Callable[[], None], *, is_back: bool) -> None:
        self.complete()
        text, choice, depth = self._text, self._history.current, self._history.depth

        def report() -> None:
            if self._history.is_replacement(depth):
                self.replaced.emit()
            self._history.follow()
            if self._history.current != choice:
                self.switched.emit(self._text, self._history.current)
            elif self._text != text:
                self.edited.emit(self._text)

        if self._history.has_slices(below=is_back):
            self._change(self._go_over_slices(go), report, is_silent=True)
            return
        with self._without_signals(), self._without_marks():
            go()
        report()

    def _go_over_slices(self, go: Callable[[], None]) -> Iterator[None]:
        go()
        while self._history.is_between_slices:
            yield
            go()

    @contextmanager
    def _without_signals(self) -> Iterator[None]:
        before, self._is_silent = self._is_silent, True
        try:
            yield
        finally:
            self._is_silent = before

    @contextmanager
    def _without_marks(self) -> Iterator[None]:
        """Remove the marks while the text changes: each change moves the cursors of all of them."""
        before = self._text
        self.setExtraSelections([])
        try:
            yield
        finally:
            if self._text is before:
                self._update_marks()

    def select(self, span: Span) -> None:
        """Select a span and scroll to it."""
        self.complete()
        cursor = self.textCursor()
        cursor.setPosition(self._offsets.to_utf16(span.start))
        cursor.setPosition(self._offsets.to_utf16(span.end), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def bring_into_view(self, span: Span) -> None:
        """Scroll to a span; the cursor stays."""
        self.complete()
        bring_into_view(self, self._offsets.to_utf16(span.start))

    @property
    def caret(self) -> int:
        """Return the cursor's position in code points."""
        self._complete_change()
        return self._offsets.to_code_points(self.textCursor().position())

    @property
    def selection(self) -> Span:
        """Return the selection; an empty span at the cursor if there is none."""
        self._complete_change()
        cursor, to_points = self.textCursor(), self._offsets.to_code_points
        return Span(to_points(cursor.selectionStart()), to_points(cursor.selectionEnd()))

    def apply(self, edits: Sequence[Edit], caret: int | None = None) -> None:
        """Change the text, as one undo step.

        Args:
            edits: the changes; their spans refer to the current text.
            caret: the new cursor position; by default after the last edit.
        """
        self.complete()
        ordered = sorted(edits, key=lambda edit: edit.span)
        if not ordered:
            return
        after = apply_edits(self._text, ordered)
        growth = sum(len(edit.replacement) - (edit.span.end - edit.span.start) for edit in ordered)
        caret_after = Offsets(after).to_utf16(ordered[-1].span.end + growth if caret is None else caret)
        steps = self._make_edits(ordered)
        if len(ordered) > _SLICE_OF_EDITS or len(slices_of(max((e.replacement for e in ordered), key=len))) > 1:
            self._change(steps, lambda: self._place_cursor(caret_after))
            return
        with self._without_marks():
            next(steps, None)
        self._place_cursor(caret_after)

    def _make_edits(self, ordered: Sequence[Edit]) -> Iterator[None]:
        to_utf16 = self._offsets.to_utf16
        cursor = self.textCursor()
        for end in range(len(ordered), 0, -_SLICE_OF_EDITS):
            cursor.beginEditBlock()
            for edit in reversed(ordered[max(end - _SLICE_OF_EDITS, 0) : end]):
                cursor.setPosition(to_utf16(edit.span.start))
                cursor.setPosition(to_utf16(edit.span.end), QTextCursor.MoveMode.KeepAnchor)
                slices = slices_of(edit.replacement)
                cursor.insertText(slices[0])
                for one in slices[1:]:
                    cursor.endEditBlock()
                    yield
                    cursor.beginEditBlock()
                    cursor.insertText(one)
            cursor.endEditBlock()
            yield

    def _place_cursor(self, position: int) -> None:
        cursor = self.textCursor()
        cursor.setPosition(position)
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

    def set_lexer(self, lexer: LineLexer, resume: Resume) -> None:
        """Highlight another notation; see `Highlighter.set_lexer`."""
        self._pairs = None
        self._highlighter.set_lexer(lexer, resume)
        self._update_marks()

    def offset_at(self, position: QPoint) -> int:
        """Return the code point at a position of the viewport; -1 if there is no text."""
        cursor = self.cursorForPosition(position)
        line = self.cursorRect(cursor)
        if not line.top() <= position.y() <= line.bottom():
            return -1
        unit = cursor.position() - (1 if position.x() < line.left() else 0)
        if unit < cursor.block().position() or self.document().characterAt(unit) in {"\u2029", "\0", ""}:
            return -1
        return self._offsets.to_code_points(unit)

    def point_of(self, offset: int) -> QPoint:
        """Return the position of a code point in the viewport."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._offsets.to_utf16(offset))
        return self.cursorRect(cursor).center()

    # --- marks -------------------------------------------------------------------------------------------------------

    def show_diagnostics(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Underline the findings; those about the target have a badge behind their line, too."""
        self.diagnostics, self._diagnosed_text = diagnostics, self._text
        self._line_marks.clear()
        for_target: dict[int, list[TargetDiagnostic]] = {}
        for finding in sorted(diagnostics, key=rank_of, reverse=True):
            line = self._line_of(finding)
            self._line_marks[line] = sign_of(finding)
            if isinstance(finding, TargetDiagnostic):
                for_target.setdefault(line, []).insert(0, finding)
        self._badges = {line: badge_of(found) for line, found in for_target.items()}
        self._update_marks()
        self.gutter.update()
        self.viewport().update()

    @property
    def current_diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the findings, if they belong to the current text."""
        return self.diagnostics if self._diagnosed_text == self._text else ()

    def show_found(self, spans: tuple[Span, ...]) -> None:
        """Mark search results."""
        self._found = spans
        self._update_marks()

    def show_tip(self, text: str) -> None:
        """Show a tool tip at the cursor for a moment."""
        QToolTip.showText(
            self.viewport().mapToGlobal(self.cursorRect().bottomLeft()), plain_text(text), self.viewport()
        )

    def show_live(self, spans: tuple[Span, ...]) -> None:
        """Mark the live positions, and follow them: where one was in view, one stays in view.

        The text stays where it is while the user works in it, has scrolled away, or has folded the position.
        """
        follows = not self.hasFocus() and not self._slices.is_running and self._is_any_in_view(self._live)
        self._live = spans
        self._update_marks()
        if follows and spans and not self._is_any_in_view(spans):
            position = self._offsets.to_utf16(spans[0].start)
            if self.document().findBlock(position).isVisible():
                bring_into_view(self, position)

    def _is_any_in_view(self, spans: tuple[Span, ...]) -> bool:
        positions = [self._offsets.to_utf16(span.start) for span in spans[:_MOST_FOLLOWED]]
        return not positions or any(_is_in_view(self, _cursor_at(self, position)) for position in positions)

    def show_heat(self, rows: tuple[HeatRow, ...], *, is_lost: bool = False) -> None:
        """Mark rules, keywords and other parts by their heat, the hottest first; `is_lost` if it is what was lost."""
        if rows or self._heat:
            self._heat, self._heat_is_lost = rows, is_lost
            self._update_marks()

    def show_hover(self, spans: tuple[Span, ...]) -> None:
        """Mark the spans of an element that is hovered elsewhere."""
        self._pointed = spans
        self._update_marks()

    def tip_at(self, offset: int) -> str:
        """Return the findings at a code point, the names of invisible characters there, and the heat."""
        document = self.document()
        found = [f for f in self.diagnostics if offset in marks.visible_span(f.span, document)]
        hidden = [ui_text("editor.text.invisible", name=name) for name in named_at(self._text, offset)]
        inside = [row for row in self._heat if row.span.start <= offset < row.span.end]
        hottest = min(inside, key=lambda row: row.span.end - row.span.start, default=None)
        heat = () if hottest is None else (f"{hottest.name}: {hottest.text}",)
        return "\n\n".join((*(self._finding_text(finding) for finding in found), *hidden, *heat))

    def _finding_text(self, finding: Diagnostic) -> str:
        """Return a finding for a tool tip: the problem, the hint, and the quick fix."""
        what = f"{kind_text(finding)}: {finding.message}"
        return unmarked("\n".join(part for part in (what, finding.hint, self.fix_text(finding)) if part))

    def sign_of_line(self, number: int) -> Sign | None:
        """Return the sign of the most severe finding of a line, counted from 0."""
        return self._line_marks.get(number)

    def badge_of_line(self, number: int) -> Badge | None:
        """Return the badge of a line, counted from 0, while the text is the one that the findings are about."""
        return self._badges.get(number) if self.current_diagnostics else None

    def badge_area(self, number: int) -> QRectF:
        """Return the area of the badge of a line, in the coordinates of the viewport; empty if there is none."""
        badge, block = self.badge_of_line(number), self.document().findBlockByNumber(number)
        return badge_rect(self, block, badge) if badge is not None else QRectF()

    def tip_of_line(self, number: int) -> str:
        """Return the texts of a line's findings."""
        return "\n\n".join(
            self._finding_text(finding) for finding in self.diagnostics if self._line_of(finding) == number
        )

    def recolour(self) -> None:
        """Apply the colours and the font of the current theme."""
        self.setFont(theme.mono_font(1.0))
        self._highlighter.recolour()
        self._resize_gutter()
        self._update_marks()

    def _update_marks(self) -> None:
        if self._is_changing:
            return
        document, to_utf16 = self.document(), self._offsets.to_utf16
        self.setExtraSelections(
            [
                *marks.heated(document, to_utf16, self._heat, is_lost=self._heat_is_lost),
                *marks.live(document, to_utf16, self._live),
                *marks.searched(document, to_utf16, self._found),
                *marks.hovered(document, to_utf16, self._pointed),
                *marks.brackets(document, to_utf16, self.bracket_pair()),
                *marks.squiggles(document, to_utf16, self.diagnostics),
            ]
        )

    def _line_of(self, finding: Diagnostic) -> int:
        return self.document().findBlock(self._offsets.to_utf16(finding.span.start)).blockNumber()

    def bracket_pair(self) -> tuple[int, ...]:
        """Return the bracket at the cursor, or right before it, and its partner; empty while the cursor is hidden."""
        if not self.hasFocus():
            return ()
        if self._pairs is None:
            is_short = len(self._text) <= _MAX_MATCHED_LENGTH
            self._pairs = partners(self._text, self._highlighter.lexer) if is_short else {}
        at = self._offsets.to_code_points(self.textCursor().position())
        for position in (at, at - 1):
            if position in self._pairs:
                return position, self._pairs[position]
        return ()

    # --- changes -----------------------------------------------------------------------------------------------------

    def _on_text_changed(self) -> None:
        if not self._is_silent:
            self._history.edited()
        # Not toPlainText(), which turns no-break spaces into spaces.
        text = document_text(self.document())
        if text == self._text:
            return  # formats changed, not text
        self._take_text(text)
        self._follow_length(len(text))
        self._update_marks()
        if not self._is_silent:
            self.edited.emit(text)

    def _take_text(self, text: str) -> None:
        self._text, self._offsets = text, Offsets(text)
        self._pairs = None
        self._live = self._pointed = self._found = ()
        self._heat = ()

    def _prepare_for(self, text: str) -> None:
        """Hide blanks and widen the gutter before a long text is inserted, so that it is laid out but once."""
        self._follow_length(max(len(text), len(self._text)))
        lines = text.count("\n") + 1
        if lines > self.blockCount():
            self.setViewportMargins(self.gutter.width_for(lines), 0, 0, 0)

    def _follow_length(self, length: int) -> None:
        """Show blanks in a text that is not long."""
        is_long = length > LONG_TEXT
        option = self.document().defaultTextOption()
        flags = QTextOption.Flag(0) if is_long else QTextOption.Flag.ShowTabsAndSpaces
        if option.flags() != flags:
            option.setFlags(flags)
            self.document().setDefaultTextOption(option)
        self.setVerticalScrollBarPolicy(_bar_policy(length))

    # --- events ------------------------------------------------------------------------------------------------------

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Let Tab accept a completion while the list is open, and indent where it does."""
        return not (self.popup_is_open() or self.typing_keys.has_tab) and super().focusNextPrevChild(forward)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Notice Esc, whose press is a command of the window."""
        super().keyReleaseEvent(event)
        self.typing_keys.note_release(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the keys of the completion list to it, and report other typed characters."""
        self.complete()
        if self.popup_is_open() and event.key() in _LIST_KEYS:
            event.ignore()
            return
        self._edit_by_key(event)
        is_deleted = event.key() in {Qt.Key.Key_Backspace, Qt.Key.Key_Delete}
        if is_deleted or (event.text().isprintable() and event.text() and not event.modifiers() & _COMMAND_MODIFIERS):
            self.typed.emit("" if is_deleted else event.text())
        elif self.popup_is_open() and event.text() == "" and event.key() in _CURSOR_KEYS:
            self.typed.emit("")

    @property
    def _selection_is_all(self) -> bool:
        """Return whether replacing the selection would leave nothing of the text."""
        selected = self.selection
        return not (self._text[: selected.start] + self._text[selected.end :]).strip()

    def _edit_by_key(self, event: QKeyEvent) -> None:
        """Handle undo, redo and `TypingKeys`; treat Shift+Return as Return: Qt's line separator is no line feed."""
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self.redo()
        elif self.typing_keys.handle(event):
            pass
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

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste without secrets, and report if the whole text was replaced."""
        self.complete()
        replaces_all, depth = self._selection_is_all, self._history.depth
        clean, removed = without_secrets(source)

        def report() -> None:
            if removed:
                self.secrets_removed.emit(removed)
            if replaces_all and self._text.strip():
                self._history.note_replacement(depth)
                self.replaced.emit()
                self.pasted_over.emit(self._text)

        self._prepare_for(clean.text())
        slices, cursor = slices_of(clean.text()), self.textCursor()
        selected = cursor.selectedText().count("\u2029")
        if len(slices) > 1 or selected > SLICE:

            def show_end() -> None:
                self._place_cursor(cursor.position())
                report()

            self._change(replace_in_slices(cursor, slices), show_end)
            return
        with self._without_marks():
            super().insertFromMimeData(clean)
        report()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Insert what an input method composed."""
        self.complete()
        super().inputMethodEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Move the cursor."""
        self.complete()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the definition of a name that is clicked with Ctrl; unfold a line whose mark is clicked."""
        super().mouseReleaseEvent(event)
        is_left = event.button() is Qt.MouseButton.LeftButton
        line = self.cursorForPosition(event.position().toPoint()).block()
        if is_left and self.folding.is_on_mark(line, event.position()):
            self.folding.toggle(line)
            return
        if is_left and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            offset = self.offset_at(event.position().toPoint())
            if offset >= 0:
                self.definition_wanted.emit(offset)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the standard menu with the commands of grammars."""
        self.complete()
        position = event.pos()
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        if by_mouse and not self.textCursor().hasSelection():
            self.setTextCursor(self.cursorForPosition(position))
        menu = self.make_menu()
        self.fill_menu(menu, self.caret)
        add_mnemonics(menu)
        menu.popup(event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the code point under the pointer."""
        super().mouseMoveEvent(event)
        self._hover(self.offset_at(event.position().toPoint()))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Mark the bracket at the cursor."""
        super().focusInEvent(event)
        self._update_marks()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove the bracket marks."""
        super().focusOutEvent(event)
        self._update_marks()

    def leaveEvent(self, event: QEvent) -> None:
        """Report that no code point is hovered."""
        super().leaveEvent(event)
        self._hover(-1)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the findings under the pointer as a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), plain_text(self.tip_under(event.pos())), self.viewport())
            return True
        return super().viewportEvent(event)

    def tip_under(self, position: QPoint) -> str:
        """Return the findings at a position of the viewport: those of a character, or of a badge."""
        offset = self.offset_at(position)
        if offset >= 0:
            return self.tip_at(offset)
        line = self.cursorForPosition(position).blockNumber()
        return self.tip_of_line(line) if self.badge_area(line).contains(position.toPointF()) else ""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, marks over invisible characters, and the badges of findings about the target."""
        self.hanging.apply(self._blocks_in(event.rect()))
        super().paintEvent(event)
        paint_invisible(self, self._blocks_in(event.rect()))
        if self.folding.has_folds:
            self.folding.paint(self._blocks_in(event.rect()))
        for block in self._blocks_in(event.rect()) if self._badges else ():
            badge = self.badge_of_line(block.blockNumber())
            if badge is not None:
                paint_badge(self, block, badge)

    def _blocks_in(self, rect: QRect) -> Iterator[QTextBlock]:
        block = self.firstVisibleBlock()
        while block.isValid():
            geometry = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if geometry.top() > rect.bottom():
                return
            if geometry.bottom() >= rect.top():
                yield block
            block = next_visible(block)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adjust the gutter to the text's height."""
        super().resizeEvent(event)
        rect = self.contentsRect()
        self.gutter.setGeometry(QRect(rect.left(), rect.top(), self.gutter.sizeHint().width(), rect.height()))

    def _hover(self, offset: int) -> None:
        if offset != self._hovered:
            self._hovered = offset
            self.offset_hovered.emit(offset)

    def _resize_gutter(self) -> None:
        self.setViewportMargins(self.gutter.sizeHint().width(), 0, 0, 0)

    def _on_update(self, rect: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, rect.y(), self.gutter.width(), rect.height())


def _bar_policy(length: int) -> Qt.ScrollBarPolicy:
    """Return when a text has a scroll bar: one that appears late would lay a long line out once more."""
    return Qt.ScrollBarPolicy.ScrollBarAlwaysOn if length > LONG_TEXT else Qt.ScrollBarPolicy.ScrollBarAsNeeded


def _empty_document() -> QTextDocument:
    document = QTextDocument()
    document.setDocumentLayout(QPlainTextDocumentLayout(document))
    return document


def bring_into_view(edit: QPlainTextEdit, position: int) -> None:
    """Scroll until a position is visible; do nothing if it already is.

    Args:
        edit: the text. Its scroll bar counts wrapped lines.
        position: the position, in UTF-16 units.
    """
    cursor = _cursor_at(edit, position)
    if isinstance(edit, CodeEdit):
        edit.folding.reveal(cursor.block())
    if _is_in_view(edit, cursor):
        return
    block = cursor.block()
    line = block.layout().lineForTextPosition(cursor.positionInBlock())
    number = block.firstLineNumber() + max(line.lineNumber() if line.isValid() else 0, 0)
    in_view = edit.viewport().height() // max(edit.fontMetrics().lineSpacing(), 1)
    edit.verticalScrollBar().setValue(number - in_view // 3)


def _cursor_at(edit: QPlainTextEdit, position: int) -> QTextCursor:
    cursor = QTextCursor(edit.document())
    cursor.setPosition(min(max(position, 0), edit.document().characterCount() - 1))
    return cursor


def _is_in_view(edit: QPlainTextEdit, cursor: QTextCursor) -> bool:
    rect = edit.cursorRect(cursor)
    return rect.top() >= 0 and rect.bottom() <= edit.viewport().height()


def _can_toggle(block: QTextBlock) -> bool:
    return is_folded(block) or is_foldable(block)


class Gutter(QWidget):
    """The gutter of one text widget.

    Signals:
        line_clicked(line): a line, counted from 0, was clicked.
    """

    line_clicked = Signal(int)

    def __init__(
        self,
        edit: QPlainTextEdit,
        sign_of_line: Callable[[int], Sign | None],
        tip_of_line: Callable[[int], str],
        folding: Folding,
    ) -> None:
        super().__init__(edit)
        self._edit = edit
        self._folding = folding
        folding.changed.connect(self.update)
        self._is_pointed = False  # arrows of lines that are not folded are shown to the pointer alone
        self._sign_of_line = sign_of_line
        self._tip_of_line = tip_of_line
        self._breakpoints: Mapping[int, bool] = {}

    @property
    def breakpoints(self) -> Mapping[int, bool]:
        """Return the lines with a breakpoint, and whether each is enabled."""
        return self._breakpoints

    def show_breakpoints(self, lines: Mapping[int, bool]) -> None:
        """Set the lines with a breakpoint, and whether each is enabled."""
        if lines != self._breakpoints:
            self._breakpoints = lines
            self.update()

    def sizeHint(self) -> QSize:
        """Return the width of a sign and the highest number."""
        return QSize(self.width_for(self._edit.blockCount()), 0)

    def width_for(self, lines: int) -> int:
        """Return the width for a text with so many lines."""
        digits = max(_LEAST_DIGITS, len(str(lines)))
        numbers = self._edit.fontMetrics().horizontalAdvance("9") * digits
        return theme.SPACE_S + _SIGN + theme.SPACE_XS + numbers + theme.SPACE_S

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the numbers of the visible lines; that of the cursor's line is brighter."""
        painter = QPainter(self)
        painter.setFont(self._edit.font())
        current = self._edit.textCursor().blockNumber()
        height = self._edit.fontMetrics().height()
        block, top = self._first()
        while block.isValid() and top <= event.rect().bottom():
            number = block.blockNumber()
            rect = QRectF(0, top, self.width() - theme.SPACE_S, height)
            if number in self._breakpoints:
                self._paint_breakpoint(painter, rect, is_on=self._breakpoints[number])
            else:
                painter.setPen(theme.colour(Role.TEXT if number == current else Role.DISABLED))
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(number + 1))
            sign = self._sign_of_line(number)
            if sign is not None:
                paint_sign(painter, sign, QRectF(theme.SPACE_S, top + (height - _SIGN) / 2, _SIGN, _SIGN))
            folded = is_folded(block)
            if folded or (self._is_pointed and is_foldable(block)):
                self._paint_arrow(painter, top + height / 2, folded=folded)
            top += self._edit.blockBoundingRect(block).height()
            block = next_visible(block)
        painter.end()

    def _paint_arrow(self, painter: QPainter, middle: float, *, folded: bool) -> None:
        """Paint the arrow that folds a line, or unfolds it, behind the number."""
        x = self.width() - theme.SPACE_S / 2
        tips = [(-1.5, -3), (-1.5, 3), (1.5, 0)] if folded else [(-3, -1), (3, -1), (0, 2)]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(Role.ACCENT if folded else Role.MUTED))
        painter.drawPolygon([QPointF(x + across, middle + down) for across, down in tips])
        painter.restore()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show the arrows of lines that can be folded."""
        super().enterEvent(event)
        self._is_pointed = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Show the arrows of folded lines only."""
        super().leaveEvent(event)
        self._is_pointed = False
        self.update()

    def _paint_breakpoint(self, painter: QPainter, rect: QRectF, *, is_on: bool) -> None:
        """Paint a filled box if it is enabled, an outline if not; sets the pen for the number."""
        width = self._edit.fontMetrics().horizontalAdvance("9" * max(_LEAST_DIGITS, len(str(self._edit.blockCount()))))
        box = QRectF(rect.right() - width - 4, rect.top() + 1, width + 8, rect.height() - 2)
        colour = theme.colour(Role.FORBIDDEN)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour, 1))
        painter.setBrush(colour if is_on else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.restore()
        painter.setPen(theme.colour(Role.PANEL if is_on else Role.FORBIDDEN))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Accept the press, so that the release comes here too."""
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Report a click on a line; one on its arrow folds or unfolds it."""
        line = self.line_at(event.position().toPoint())
        block = self._edit.document().findBlockByNumber(line)
        is_on_arrow = event.position().x() >= self.width() - theme.SPACE_S - 2
        if line >= 0 and event.button() is Qt.MouseButton.LeftButton and is_on_arrow and _can_toggle(block):
            self._folding.toggle(block)
        elif line >= 0 and event.button() is Qt.MouseButton.LeftButton:
            self.line_clicked.emit(line)

    def event(self, event: QEvent) -> bool:
        """Show the findings of the hovered line as a tool tip."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), plain_text(self._tip_of_line(self.line_at(event.pos()))), self)
            return True
        return super().event(event)

    def line_at(self, position: QPoint) -> int:
        """Return the line at a position, counted from 0; -1 below the last."""
        block, top = self._first()
        while block.isValid():
            top += self._edit.blockBoundingRect(block).height()
            if position.y() < top:
                return block.blockNumber()
            block = next_visible(block)
        return -1

    def _first(self) -> tuple[QTextBlock, float]:
        """Return the first visible line, and its top."""
        block = self._edit.firstVisibleBlock()
        return block, self._edit.blockBoundingGeometry(block).translated(self._edit.contentOffset()).top()
