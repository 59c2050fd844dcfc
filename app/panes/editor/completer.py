"""The completion list: opened by a key, and while typing if that is useful."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QCompleter,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app import theme
from app.catalogue import ui_text
from app.panes.editor.code_edit import MAX_PARSED_LENGTH, CodeEdit
from app.panes.editor.highlighter import LONG_TEXT
from app.theme import Role
from engine.notations import NOTATIONS
from engine.notations.editing import Edit, Proposal, Proposals

_ROWS = 9
_WIDEST = 620
_DETAIL = Qt.ItemDataRole.UserRole


class Completer(QObject):
    """Proposes completions at the cursor of an editor."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self._shown: Proposals | None = None
        self._model = QStandardItemModel(self)
        self._completer = QCompleter(self._model, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._completer.setMaxVisibleItems(_ROWS)
        self._completer.setWidget(edit)
        self.list = QListView()
        self.list.setAccessibleName(ui_text("editor.completion.name"))
        self.list.setUniformItemSizes(True)
        self._completer.setPopup(self.list)
        self.list.setItemDelegate(_Row(self.list))  # after `setPopup`, which sets its own delegate
        self.list.setProperty("role", "popup")
        theme.apply_font(self.list)  # `setPopup` detaches the list from the window
        self._completer.activated.connect(self._take)
        edit.typed.connect(self._on_typed)
        edit.popup_is_open = self.list.isVisible

    @property
    def proposals(self) -> Sequence[Proposal]:
        """Return the proposals in the list."""
        return self._shown.proposals if self._shown is not None and self.list.isVisible() else ()

    def open(self) -> None:
        """Show the completions at the cursor, or a message if there are none."""
        if len(self._edit.text()) > MAX_PARSED_LENGTH:
            self._edit.show_tip(ui_text("editor.completion.too_long", limit=MAX_PARSED_LENGTH))
            return
        found = self._find()
        if found.proposals:
            self._show(found)
        else:
            self.close()
            self._edit.show_tip(ui_text("editor.completion.none"))

    def close(self) -> None:
        """Hide the list."""
        self.list.hide()

    def _on_typed(self, typed: str) -> None:
        is_open = self.list.isVisible()
        if len(self._edit.text()) > LONG_TEXT:
            return
        if not is_open and not (typed.isalnum() or typed in {'"', "\\", "$", "#", "_", "-"}):
            return
        found = self._find()
        if found.proposals and found.opens_unasked:
            self._show(found)
        elif is_open:
            self.close()

    def _find(self) -> Proposals:
        return NOTATIONS[self._edit.notation].propose(self._edit.text(), self._edit.caret)

    def _show(self, found: Proposals) -> None:
        self._shown = found
        self._model.clear()
        metrics = QFontMetrics(self._edit.font())
        small = QFontMetrics(theme.ui_font())
        width = 0
        for proposal in found.proposals:
            item = QStandardItem(proposal.label)
            item.setEditable(False)
            item.setData(proposal.detail, _DETAIL)
            item.setData(f"{proposal.label}, {proposal.detail}", Qt.ItemDataRole.AccessibleTextRole)
            self._model.appendRow(item)
            needed = metrics.horizontalAdvance(proposal.label) + small.horizontalAdvance(proposal.detail)
            width = max(width, needed)
        self.list.setFont(self._edit.font())
        rect = self._edit.cursorRect()
        rect.translate(self._edit.viewport().pos())
        rect.setLeft(rect.left() - metrics.horizontalAdvance(found.typed) - theme.SPACE_S)
        rect.setWidth(min(width + 2 * theme.SPACE_L + theme.SPACE_L, _WIDEST))
        self._completer.complete(rect)
        rows = min(len(found.proposals), _ROWS)
        edges = 2 * self.list.frameWidth() + self.list.contentsMargins().top() + self.list.contentsMargins().bottom()
        self.list.resize(self.list.width(), rows * self.list.sizeHintForRow(0) + max(edges, 2))
        self.list.setCurrentIndex(self._completer.completionModel().index(0, 0))

    def _take(self, label: str) -> None:
        proposal = next((p for p in self._shown.proposals if p.label == label), None) if self._shown else None
        if self._shown is None or proposal is None:
            return
        start = self._shown.span.start
        caret = start + (len(proposal.text) if proposal.caret is None else proposal.caret)
        self._edit.apply((Edit(self._shown.span, proposal.text),), caret)
        if proposal.text.endswith((": ", '""')):  # a keyword whose value may have completions, too
            found = self._find()
            if found.proposals:
                self._show(found)


class _Row(QStyledItemDelegate):
    """A proposal on the left, its description on the right."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the same height for all rows."""
        return QSize(super().sizeHint(option, index).width(), option.fontMetrics.height() + theme.SPACE_S)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint both texts; the right one is elided."""
        super().paint(painter, option, index)
        label = option.fontMetrics.horizontalAdvance(str(index.data()))
        detail = str(index.data(_DETAIL) or "")
        painter.save()
        painter.setFont(theme.ui_font())
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setPen(theme.colour(Role.TEXT if is_current else Role.MUTED))
        box: QRect = option.rect.adjusted(label + theme.SPACE_L, 0, -theme.SPACE_S, 0)
        shown = painter.fontMetrics().elidedText(detail, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()
