"""The live stacks: every stack of the match, with its open rules."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem

from app import theme
from app.catalogue import ui_text
from app.theme.labels import plain_text
from app.workers.compile_messages import OpenFrame, OpenStack, StackAnswer
from engine.source import SourceText

_FRAMES = Qt.ItemDataRole.UserRole
_SHOWN = 8  # of the names of a stack, in its line
_LONGEST = 60


class StackPanel(QTreeWidget):
    """One line for each stack, the innermost rule first; below it, one for each open rule.

    Signals:
        picked: the selected frames, innermost first; empty for none.
        span_wanted: a source span to go to.
    """

    frames_selected = Signal(tuple)
    span_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._answer: StackAnswer | None = None
        self._source: SourceText | None = None
        self.setAccessibleName(ui_text("automaton.stacks.name"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setColumnCount(2)
        self.setHeaderLabels([ui_text("automaton.stacks.column.rules"), ui_text("automaton.stacks.column.next")])
        self.setRootIsDecorated(True)
        self.setIndentation(theme.SPACE_L)
        self.setUniformRowHeights(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMinimumHeight(self.fontMetrics().height() * 5)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        self.header().setStretchLastSection(False)
        self.header().resizeSection(1, 170)
        self.header().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.itemSelectionChanged.connect(self._emit_picked)
        self.itemActivated.connect(lambda item, _column: self._go_to_source(item))

    @property
    def count(self) -> int:
        """Return the number of stacks, as far as they are counted."""
        return 0 if self._answer is None else len(self._answer.stacks) + self._answer.more

    def show_answer(self, answer: StackAnswer | None, source: SourceText | None = None) -> None:
        """Show other stacks; the selection is kept if possible."""
        if (
            self._answer is not None
            and answer is not None
            and answer.stacks == self._answer.stacks
            and source == self._source
        ):
            return
        chosen, expanded = self._names_of(self.currentItem()), self._expanded()
        self._answer, self._source = answer, source
        was_blocked = self.blockSignals(True)
        self.clear()
        for stack in answer.stacks if answer is not None else ():
            item = self._line(stack)
            self.addTopLevelItem(item)
            item.setExpanded(self._names_of(item) in expanded)
            if chosen and self._names_of(item) == chosen:
                self.setCurrentItem(item)
        if answer is not None and answer.more:
            self._note(ui_text("automaton.stacks.more", count=answer.more))
        if answer is not None and not answer.stacks:
            self._note(ui_text("automaton.stacks.dead"))
        self.blockSignals(was_blocked)
        self._emit_picked()

    def _line(self, stack: OpenStack) -> QTreeWidgetItem:
        names = [frame.name for frame in stack.frames]
        if len(names) > _SHOWN:
            names = [
                *names[: _SHOWN - 2],
                ui_text("automaton.stacks.fragment.hidden", count=len(names) - _SHOWN + 1),
                names[-1],
            ]
        expects, end = stack.expects, ui_text("automaton.stacks.fragment.end") if stack.may_end else ""
        if expects and end:
            expects = ui_text("automaton.stacks.fragment.or", first=expects, second=end)
        item = QTreeWidgetItem([" ‹ ".join(names) or ui_text("automaton.stacks.fragment.root"), expects or end])
        item.setFont(1, theme.mono_font(-0.5))
        item.setData(0, _FRAMES, stack.frames)
        item.setToolTip(0, plain_text("\n".join(frame.name for frame in stack.frames)))
        item.setToolTip(1, plain_text(item.text(1)))
        if len(stack.frames) > 1:
            for number, frame in enumerate(stack.frames):
                if stack.left_out and number == len(stack.frames) // 2:
                    item.addChild(
                        QTreeWidgetItem([ui_text("automaton.stacks.fragment.left_out", count=stack.left_out)])
                    )
                item.addChild(self._frame(frame))
        return item

    def _frame(self, frame: OpenFrame) -> QTreeWidgetItem:
        texts = [" ".join(self._source.excerpt(span).split()) for span in frame.spans] if self._source else []
        follows = " | ".join(
            [*dict.fromkeys(texts), *([ui_text("automaton.stacks.fragment.end_of_rule")] if frame.may_end else [])]
        )
        item = QTreeWidgetItem([frame.name, follows[:_LONGEST]])
        item.setFont(1, theme.mono_font(-0.5))
        item.setData(0, _FRAMES, (frame,))
        item.setToolTip(1, plain_text(ui_text("automaton.stacks.frame", texts=follows)))
        return item

    def _note(self, text: str) -> None:
        item = QTreeWidgetItem([text])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.addTopLevelItem(item)
        item.setFirstColumnSpanned(True)

    def _emit_picked(self) -> None:
        items = self.selectedItems()
        self.frames_selected.emit(tuple(items[0].data(0, _FRAMES) or ()) if items else ())

    def _go_to_source(self, item: QTreeWidgetItem) -> None:
        frames: tuple[OpenFrame, ...] = item.data(0, _FRAMES) or ()
        span = next((span for frame in frames for span in frame.spans), None)
        if span is not None:
            self.span_wanted.emit(span)

    def _expanded(self) -> set[tuple[str, ...]]:
        items = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return {self._names_of(item) for item in items if item is not None and item.isExpanded()}

    def _names_of(self, item: QTreeWidgetItem | None) -> tuple[str, ...]:
        frames: tuple[OpenFrame, ...] = (item.data(0, _FRAMES) or ()) if item is not None else ()
        return tuple(frame.name for frame in frames)
