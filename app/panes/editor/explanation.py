"""The explanation of the grammar: its text in words, each phrase joined with its place.

The pointer on a phrase marks its text, and on the text its phrase; the cursor
selects the phrase that it stands in, a click on a phrase goes to its text, a
double click (or one with Ctrl) to what it refers to. While the text is broken
the last tree stays, paler. Where it is of an older text nothing is joined, for
the places would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QStackedWidget,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.models.phrases import PhrasesModel
from app.theme.buttons import icon_button
from app.theme.labels import Label
from app.widgets.delegate_focus import delegate_focus
from app.widgets.field_keys import FieldKeys
from app.widgets.phrase_delegate import PhraseDelegate
from engine.diagnosis.explanation_tree import MOST_PHRASES, Description
from engine.source import Span

_UNFOLDED_AT_ONCE = 60  # phrases; a larger tree opens with its outermost ones unfolded, if these are few
_FEW = 20
_REMEMBERED = 2_000  # rows at most that stay folded or unfolded over an edit

Way = tuple[int, ...]


class ExplanationPage(QWidget):
    """Shows a grammar in words.

    Signals:
        pointed: the spans of the phrase that is pointed at; none where there is no such phrase.
        span_wanted: a `Span` to go to.
        left: the keys should go back to the text.
    """

    left = Signal()
    pointed = Signal(object)
    span_wanted = Signal(object)

    def __init__(self, text_now: Callable[[], str], parent: QWidget | None = None) -> None:
        """Build it; `text_now` gives the text as it stands."""
        super().__init__(parent)
        self._text_now = text_now
        self._text = ""
        self.description = Description(())
        self._ways: dict[Way, bool] = {}  # what the user folded or unfolded
        self._is_going = False
        self.model = PhrasesModel(self)
        self.tree = _Tree()
        self.tree.setModel(self.model)
        self.delegate = PhraseDelegate(self.tree)
        self.tree.setItemDelegate(self.delegate)
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in the explanation")
        self.field.setAccessibleName("Find in the explanation")
        self.field.setClearButtonEnabled(True)
        FieldKeys(self.field, self._search, self._leave_field, self.tree.setFocus)
        self.says = Label()
        self.says.setProperty("role", "muted")
        self.unfold_button = icon_button("ph.arrows-out-line-vertical", "Unfold all")
        self.fold_button = icon_button("ph.arrows-in-line-vertical", "Fold all")
        self.copy_button = icon_button("ph.copy", "Copy as text")
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
        self.tree.pointed.connect(self._point)
        self.tree.chosen.connect(self._go)
        self.tree.target_chosen.connect(self._go_to_target)
        self.tree.copy_wanted.connect(self._copy_row)
        self.tree.doubleClicked.connect(self._go_to_target)
        self.tree.expanded.connect(lambda index: self._note(index, is_open=True))
        self.tree.collapsed.connect(lambda index: self._note(index, is_open=False))
        self.field.textChanged.connect(lambda _text: self._search(0))
        self.unfold_button.clicked.connect(lambda: self.unfold(is_open=True))
        self.fold_button.clicked.connect(lambda: self.unfold(is_open=False))
        self.copy_button.clicked.connect(self.copy)
        theme.themes.changed.connect(self._recolour)
        self._recolour()
        self.set_stale("")

    # --- what is shown -----------------------------------------------------------------------------------------------

    def show_description(self, description: Description, text: str) -> None:
        """Show a text in words; what the user folded stays folded."""
        self._text, self.description = text, description
        self.delegate.pointed = None
        ways, place = dict(list(self._ways.items())[-_REMEMBERED:]), self.tree.verticalScrollBar().value()
        self.model.show(description)
        self._unfold_rows(ways)
        self._ways = ways
        self.tree.verticalScrollBar().setValue(place)
        self.set_stale("")
        self._search(0)

    def set_stale(self, reason: str) -> None:
        """Say why the words are not those of the text as it stands; nothing where they are."""
        self.delegate.is_stale = bool(reason)
        if reason:
            self.delegate.pointed = None
        has_words = self.model.count > 0
        self.empty.setText(f"{reason}: mend it, then it is explained here" if reason else "The grammar is being read")
        self._stack.setCurrentWidget(self.tree if has_words else self.empty)
        older = f"{reason}. These are the words of the last text without one." if reason else ""
        cut = "" if self.description.is_whole else f"No more than {MOST_PHRASES:,} parts are explained."
        self.notice.setText(older or cut)
        self.notice.setVisible(bool(older or cut) and has_words)
        for widget in (self.unfold_button, self.fold_button, self.copy_button, self.field):
            widget.setEnabled(has_words)
        self.tree.viewport().update()

    def clear(self) -> None:
        """Forget the words, and what was folded: another document is shown."""
        self._ways, self._text, self.description = {}, "", Description(())
        self.model.show(self.description)
        self.set_stale("")

    def point_at(self, offset: int) -> None:
        """Mark the phrase of a code point that the pointer is on, as far as the tree is unfolded; none for -1."""
        number = self.model.innermost(offset) if offset >= 0 and self._is_current else None
        if number is not None:
            number = self.model.number(self._visible(self.model.index_of(number)))
        if number != self.delegate.pointed:
            self.delegate.pointed = number
            self.tree.viewport().update()

    def select_at(self, offset: int) -> None:
        """Select the smallest phrase that the cursor stands in or right behind; unfold what holds it."""
        if self._is_going or not self._is_current:
            return
        places = (offset, offset - 1) if offset else (offset,)
        found = [self.model.index_of(number) for place in places if (number := self.model.innermost(place)) is not None]
        if found:
            index = max(found, key=lambda one: self.model.phrase(one).depth)
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def copy(self) -> None:
        """Copy the tree as text."""
        QGuiApplication.clipboard().setText("\n".join(self.description.lines()) + "\n")

    def unfold(self, *, is_open: bool) -> None:
        """Unfold everything, or fold it."""
        if is_open:
            self.tree.expandAll()
        else:
            self.tree.collapseAll()

    @property
    def _is_current(self) -> bool:
        """Whether the words are those of the text as it stands, so that their places are right."""
        return self._text == self._text_now()

    def _visible(self, index: QModelIndex) -> QModelIndex:
        """A row, or the innermost that holds it and can be seen."""
        shown, above = index, index.parent()
        while above.isValid():
            if not self.tree.isExpanded(above):
                shown = above
            above = above.parent()
        return shown

    # --- folding -----------------------------------------------------------------------------------------------------

    def _unfold_rows(self, ways: dict[Way, bool]) -> None:
        """Unfold as the user left it, and a new tree as far as it is read at a glance."""
        is_small = self.model.count <= _UNFOLDED_AT_ONCE
        are_few = self.model.rowCount() <= _FEW
        todo: list[tuple[Way, QModelIndex]] = [((), QModelIndex())]
        seen = 0
        while todo and seen < _REMEMBERED:
            way, holder = todo.pop()
            for row in range(self.model.rowCount(holder)):
                index, here = self.model.index(row, 0, holder), (*way, row)
                seen += 1
                is_open = ways.get(here, is_small or (are_few and not way))
                if is_open and self.model.hasChildren(index):
                    self.tree.expand(index)
                    todo.append((here, index))

    def _note(self, index: QModelIndex, *, is_open: bool) -> None:
        way: list[int] = []
        while index.isValid():
            way.append(index.row())
            index = index.parent()
        self._ways[tuple(reversed(way))] = is_open

    # --- the pointer and the keys ------------------------------------------------------------------------------------

    def _point(self, index: QModelIndex) -> None:
        self.pointed.emit((self.model.phrase(index).span,) if self._is_current else ())

    def _go(self, index: QModelIndex) -> None:
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
        """Go to the first phrase with the text, to the next one (1) or to the one before (-1), around the end."""
        found = self.model.find(self.field.text())
        if not found:
            self.says.setText("Nothing found" if self.field.text() else "")
            return
        current = self.tree.currentIndex()
        here = self.model.number(current) if current.isValid() else -1
        if step > 0:
            number = next((number for number in found if number > here), found[0])
        elif step < 0:
            number = next((number for number in reversed(found) if number < here), found[-1])
        else:
            number = next((number for number in found if number >= here), found[0])
        index = self.model.index_of(number)
        self.tree.setCurrentIndex(index)
        self.tree.scrollTo(index)
        self.says.setText(f"{found.index(number) + 1:,} of {len(found):,}")
        self._point(index)

    def _leave_field(self) -> None:
        if self.field.text():
            self.field.clear()
            self.pointed.emit(())
        else:
            self.left.emit()

    # --- building ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        self.notice = Label()
        self.notice.setProperty("role", "muted")
        self.notice.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_XS)
        self.notice.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(row)
        row.addWidget(self.field, 1)
        row.addWidget(self.says)
        for button in (self.unfold_button, self.fold_button, self.copy_button):
            row.addWidget(button)
        layout.addWidget(self.notice)
        layout.addWidget(self._stack, 1)

    def _recolour(self) -> None:
        self.delegate.refresh_fonts()
        self.tree.viewport().update()


class _Tree(QTreeView):
    """A tree whose rows are pointed at, gone to and copied.

    Signals:
        pointed, chosen, target_chosen, copy_wanted: with the row's index.
        left: the pointer is on no row.
    """

    pointed = Signal(QModelIndex)
    chosen = Signal(QModelIndex)
    target_chosen = Signal(QModelIndex)
    copy_wanted = Signal(QModelIndex)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Explanation")
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(theme.SPACE_L)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._at: QModelIndex | None = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell which row the pointer is on."""
        super().mouseMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        if not index.isValid():
            self._leave()
        elif self._at is None or index != self._at:
            self._at = index
            self.pointed.emit(index)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer is on no row."""
        super().leaveEvent(event)
        self._leave()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on the words goes to the text; with Ctrl, to what they refer to."""
        super().mouseReleaseEvent(event)
        place = event.position().toPoint()
        index = self.indexAt(place)
        if event.button() is Qt.MouseButton.LeftButton and index.isValid() and self._is_on_words(index, place):
            has_ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.target_chosen if has_ctrl else self.chosen).emit(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return goes to the text, Shift+Return to what the words refer to, the copy key copies the words."""
        index = self.currentIndex()
        if index.isValid() and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.target_chosen if has_shift else self.chosen).emit(index)
        elif index.isValid() and event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit(index)
        else:
            super().keyPressEvent(event)
            if self.currentIndex() != index and self.currentIndex().isValid():
                self.pointed.emit(self.currentIndex())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with a row."""
        index = self.indexAt(event.pos())
        model = self.model()
        if not index.isValid() or not isinstance(model, PhrasesModel):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Go to the text").triggered.connect(lambda: self.chosen.emit(index))
        target: QAction = menu.addAction("Go to what it refers to")
        target.setEnabled(model.phrase(index).target is not None)
        target.triggered.connect(lambda: self.target_chosen.emit(index))
        menu.addAction("Copy").triggered.connect(lambda: self.copy_wanted.emit(index))
        menu.popup(event.globalPos())

    def _is_on_words(self, index: QModelIndex, place: QPoint) -> bool:
        return place.x() >= self.visualRect(index).left()

    def _leave(self) -> None:
        if self._at is not None:
            self._at = None
            self.left.emit()
