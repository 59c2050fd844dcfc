"""The explanation of the grammar: a description as a tree, each phrase linked to its source span.

Hovering a phrase marks its text, and hovering the text marks its phrase; the cursor selects its phrase, a click on a
phrase goes to its text, a double click (or one with Ctrl) to what it refers to. While the text has errors the last tree
stays, paler. While it belongs to an older text the links are off, since the spans would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.models.phrases import PHRASE_ROLE, PhrasesModel
from app.theme.buttons import icon_button
from app.theme.labels import Label
from app.widgets.find_bar import FindBar
from app.widgets.keyboard import delegate_focus
from app.widgets.linked_tree import LinkedTree
from engine.notations.explanation import MOST_PHRASES, Description, Phrase
from engine.source import Span

Role = theme.Role
_PADDING = 4  # around quoted code
_QUOTED = re.compile(r"(`+) ?(.+?) ?\1(?!`)")  # as in Markdown
_ELLIPSIS = "…"


@lru_cache(maxsize=4_096)
def runs(words: str) -> tuple[tuple[str, bool], ...]:
    """Split a text into runs: text, and whether it is quoted."""
    found: list[tuple[str, bool]] = []
    at = 0
    for quote in _QUOTED.finditer(words):
        found += [(words[at : quote.start()], False), (quote[2], True)]
        at = quote.end()
    return tuple((text, is_quoted) for text, is_quoted in (*found, (words[at:], False)) if text)


class PhraseDelegate(QStyledItemDelegate):
    """Paints phrases: words in the interface font, quoted code in the fixed-width font with a background.

    Attributes:
        hovered_phrase: the number of the phrase under the pointer in the text; None for none.
        is_stale: whether the description belongs to an older text and is painted paler.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hovered_phrase: int | None = None
        self.is_stale = False
        self.refresh_fonts()

    def refresh_fonts(self) -> None:
        """Reload the theme's fonts."""
        self._words, self._code = theme.ui_font(), theme.mono_font()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the size of a row: all have the same height, and the width of their text."""
        words, code = QFontMetricsF(self._words), QFontMetricsF(self._code)
        phrase = index.data(PHRASE_ROLE)
        width = sum(
            code.horizontalAdvance(text) + 2 * _PADDING if is_quoted else words.horizontalAdvance(text)
            for text, is_quoted in (runs(phrase.text) if isinstance(phrase, Phrase) else ())
        )
        return QSize(round(width) + 2 * theme.SPACE_S, round(max(words.height(), code.height())) + theme.SPACE_S)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one phrase."""
        phrase = index.data(PHRASE_ROLE)
        if not isinstance(phrase, Phrase):
            return
        painter.save()
        box = QRectF(option.rect)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_selected:
            painter.fillRect(box, theme.colour(Role.SELECTION))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(box, theme.colour(Role.HOVER))
        if index.internalId() == self.hovered_phrase:
            painter.setPen(QPen(theme.colour(Role.ACCENT), 1, Qt.PenStyle.DotLine))
            painter.drawRect(box.adjusted(0.5, 0.5, -1.5, -1.5))
        self._paint_words(painter, box.adjusted(theme.SPACE_XS, 0, -theme.SPACE_XS, 0), phrase, is_on=is_selected)
        painter.restore()

    def _paint_words(self, painter: QPainter, box: QRectF, phrase: Phrase, *, is_on: bool) -> None:
        x = box.left()
        plain = theme.colour(Role.MUTED if self.is_stale else Role.TEXT)
        link = theme.colour(Role.MUTED if self.is_stale else Role.ACCENT)
        text_runs = runs(phrase.text)
        last = max((at for at, (_text, is_quoted) in enumerate(text_runs) if is_quoted), default=-1)
        for at, (text, is_quoted) in enumerate(text_runs):
            font = self._code if is_quoted else self._words
            metrics = QFontMetricsF(font)
            available = box.right() - x
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, available - 2 * _PADDING * is_quoted)
            has_background = is_quoted and bool(shown.rstrip(_ELLIPSIS))  # an empty background would show nothing
            shown = shown or _ELLIPSIS
            width = metrics.horizontalAdvance(shown)
            baseline = box.center().y() + (metrics.ascent() - metrics.descent()) / 2
            if has_background:
                background = QRectF(x, box.top() + 3, width + 2 * _PADDING, box.height() - 6)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.colour(Role.PANEL if is_on else Role.GRID))
                painter.drawRoundedRect(background, 3, 3)
                x += _PADDING
            painter.setFont(font)
            painter.setPen(link if at == last and phrase.target is not None else plain)
            painter.drawText(QPointF(x, baseline), shown)
            x += width + _PADDING * has_background
            if shown != text:
                return


_MOST_EXPANDED = 60  # phrases; a larger tree opens with its outermost ones expanded, if these are few
_FEW = 20
_REMEMBERED = 2_000  # maximum number of rows that keep their expanded state across an edit

RowPath = tuple[int, ...]


class ExplanationPage(QWidget):
    """Shows a grammar in words.

    Signals:
        pointed: the spans of the hovered phrase; empty for none.
        span_wanted: a `Span` to go to.
        focus_left: the focus should return to the text.
    """

    focus_left = Signal()
    pointed = Signal(tuple)
    span_wanted = Signal(Span)

    def __init__(self, text_now: Callable[[], str], parent: QWidget | None = None) -> None:
        """Create the page; `text_now` returns the current text."""
        super().__init__(parent)
        self._text_now = text_now
        self._text = ""
        self.description = Description(())
        self._expanded: dict[RowPath, bool] = {}  # rows that the user expanded or collapsed
        self._is_going = False
        self.model = PhrasesModel(self)
        self.tree = LinkedTree(ui_text("editor.explanation.name"))
        self.tree.setModel(self.model)
        self.tree.setHeaderHidden(True)
        self.tree.has_target = lambda index: self.model.phrase(index).target is not None
        self.delegate = PhraseDelegate(self.tree)
        self.tree.setItemDelegate(self.delegate)
        self.find_bar = FindBar(ui_text("editor.explanation.find"), is_permanent=True, on_down=self.tree.setFocus)
        self.expand_button = icon_button(
            "ph.arrows-out-line-vertical",
            ui_text("editor.explanation.expand"),
            clicked=lambda: self.set_expanded(is_open=True),
        )
        self.collapse_button = icon_button(
            "ph.arrows-in-line-vertical",
            ui_text("editor.explanation.collapse"),
            clicked=lambda: self.set_expanded(is_open=False),
        )
        self.copy_button = icon_button("ph.copy", ui_text("editor.explanation.copy"), clicked=self.copy)
        self.empty = Label()
        self.empty.setProperty("role", "empty")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.tree)
        self._lay_out()
        delegate_focus(self, self.tree)
        self.tree.left.connect(lambda: self.pointed.emit(()))
        self.tree.pointed.connect(self._emit_hovered)
        self.tree.clicked_row.connect(self._go_to_text)
        self.tree.entered_row.connect(self._go_to_text)
        self.tree.target_chosen.connect(self._go_to_target)
        self.tree.copy_wanted.connect(self._copy_row)
        self.tree.doubleClicked.connect(self._go_to_target)
        self.tree.expanded.connect(lambda index: self._store_expanded(index, is_open=True))
        self.tree.collapsed.connect(lambda index: self._store_expanded(index, is_open=False))
        self.find_bar.text_changed.connect(lambda _text: self._search(0))
        self.find_bar.step_requested.connect(self._search)
        self.find_bar.escaped.connect(self._leave_field)
        theme.themes.changed.connect(self._recolour)
        self._recolour()
        self.set_stale("")

    # --- contents ----------------------------------------------------------------------------------------------------

    def show_description(self, description: Description, text: str) -> None:
        """Show a description; collapsed rows stay collapsed."""
        self._text, self.description = text, description
        self.delegate.hovered_phrase = None
        expanded, position = dict(list(self._expanded.items())[-_REMEMBERED:]), self.tree.verticalScrollBar().value()
        self.model.show(description)
        self._restore_expanded(expanded)
        self._expanded = expanded
        self.tree.verticalScrollBar().setValue(position)
        self.set_stale("")
        self._search(0)

    def set_stale(self, reason: str) -> None:
        """Set why the description belongs to an older text; empty if it is current."""
        self.delegate.is_stale = bool(reason)
        if reason:
            self.delegate.hovered_phrase = None
        has_words = self.model.count > 0
        waiting = ui_text("editor.explanation.waiting")
        self.empty.setText(ui_text("editor.explanation.none", reason=reason) if reason else waiting)
        self._stack.setCurrentWidget(self.tree if has_words else self.empty)
        older = ui_text("editor.explanation.stale", reason=reason) if reason else ""
        cut = "" if self.description.is_whole else ui_text("editor.explanation.cut", count=MOST_PHRASES)
        self.notice.setText(older or cut)
        self.notice.setVisible(bool(older or cut) and has_words)
        for widget in (self.expand_button, self.collapse_button, self.copy_button, self.find_bar.field):
            widget.setEnabled(has_words)
        self.tree.viewport().update()

    def clear(self) -> None:
        """Clear the description and the expanded state for another document."""
        self._expanded, self._text, self.description = {}, "", Description(())
        self.model.show(self.description)
        self.set_stale("")

    def point_at(self, offset: int) -> None:
        """Mark the phrase of the hovered code point, as far as the tree is expanded; -1 for none."""
        number = self.model.innermost(offset) if offset >= 0 and self._is_current else None
        if number is not None:
            number = self.model.number(self._visible(self.model.index_of(number)))
        if number != self.delegate.hovered_phrase:
            self.delegate.hovered_phrase = number
            self.tree.viewport().update()

    def select_at(self, offset: int) -> None:
        """Select the smallest phrase at or right before the cursor; expand its parents."""
        if self._is_going or not self._is_current:
            return
        offsets = (offset, offset - 1) if offset else (offset,)
        found = [
            self.model.index_of(number)
            for position in offsets
            if (number := self.model.innermost(position)) is not None
        ]
        if found:
            index = max(found, key=lambda one: self.model.phrase(one).depth)
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def copy(self) -> None:
        """Copy the tree as text."""
        QGuiApplication.clipboard().setText("\n".join(self.description.lines()) + "\n")

    def set_expanded(self, *, is_open: bool) -> None:
        """Expand or collapse everything."""
        if is_open:
            self.tree.expandAll()
        else:
            self.tree.collapseAll()

    @property
    def _is_current(self) -> bool:
        """Return whether the description belongs to the current text, so that its spans are valid."""
        return self._text == self._text_now()

    def _visible(self, index: QModelIndex) -> QModelIndex:
        """Return a row, or its innermost visible ancestor."""
        shown, above = index, index.parent()
        while above.isValid():
            if not self.tree.isExpanded(above):
                shown = above
            above = above.parent()
        return shown

    # --- expanding ---------------------------------------------------------------------------------------------------

    def _restore_expanded(self, expanded: dict[RowPath, bool]) -> None:
        """Restore the user's expanded state; expand a new tree if it is small."""
        is_small = self.model.count <= _MOST_EXPANDED
        are_few = self.model.rowCount() <= _FEW
        pending: list[tuple[RowPath, QModelIndex]] = [((), QModelIndex())]
        seen = 0
        while pending and seen < _REMEMBERED:
            path, parent = pending.pop()
            for row in range(self.model.rowCount(parent)):
                index, row_path = self.model.index(row, 0, parent), (*path, row)
                seen += 1
                is_open = expanded.get(row_path, is_small or (are_few and not path))
                if is_open and self.model.hasChildren(index):
                    self.tree.expand(index)
                    pending.append((row_path, index))

    def _store_expanded(self, index: QModelIndex, *, is_open: bool) -> None:
        path: list[int] = []
        while index.isValid():
            path.append(index.row())
            index = index.parent()
        self._expanded[tuple(reversed(path))] = is_open

    # --- mouse and keyboard ------------------------------------------------------------------------------------------

    def _emit_hovered(self, index: QModelIndex) -> None:
        self.pointed.emit((self.model.phrase(index).span,) if self._is_current else ())

    def _go_to_text(self, index: QModelIndex) -> None:
        if self._is_current:
            self._go_to(self.model.phrase(index).span)

    def _go_to_target(self, index: QModelIndex) -> None:
        target = self.model.phrase(index).target
        if self._is_current and target is not None:
            self._go_to(target)
            found = self.model.innermost(target.start)
            if found is not None:
                self.tree.setCurrentIndex(self.model.index_of(found))
                self.tree.scrollTo(self.tree.currentIndex())

    def _go_to(self, span: Span) -> None:
        self._is_going = True
        try:
            self.span_wanted.emit(span)
        finally:
            self._is_going = False

    def _copy_row(self, index: QModelIndex) -> None:
        QGuiApplication.clipboard().setText(self.model.phrase(index).text)

    # --- searching ---------------------------------------------------------------------------------------------------

    def _search(self, step: int) -> None:
        """Go to the first phrase with the text, to the next one (1) or to the previous one (-1), wrapping around."""
        found = self.model.find(self.find_bar.text())
        self.find_bar.set_can_step(can_step=bool(found))
        if not found:
            self.find_bar.set_result(ui_text("common.find.nothing") if self.find_bar.text() else "")
            return
        current = self.tree.currentIndex()
        current_number = self.model.number(current) if current.isValid() else -1
        if step > 0:
            number = next((number for number in found if number > current_number), found[0])
        elif step < 0:
            number = next((number for number in reversed(found) if number < current_number), found[-1])
        else:
            number = next((number for number in found if number >= current_number), found[0])
        index = self.model.index_of(number)
        self.tree.setCurrentIndex(index)
        self.tree.scrollTo(index)
        self.find_bar.set_result(ui_text("common.find.position", number=found.index(number) + 1, count=len(found)))
        self._emit_hovered(index)

    def _leave_field(self) -> None:
        if self.find_bar.text():
            self.find_bar.field.clear()
            self.pointed.emit(())
        else:
            self.focus_left.emit()

    # --- building ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.notice = Label()
        self.notice.setProperty("role", "muted")
        self.notice.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_XS)
        self.notice.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for button in (self.expand_button, self.collapse_button, self.copy_button):
            self.find_bar.add_control(button, at_end=True)
        layout.addWidget(self.find_bar)
        layout.addWidget(self.notice)
        layout.addWidget(self._stack, 1)

    def _recolour(self) -> None:
        self.delegate.refresh_fonts()
        self.tree.viewport().update()
