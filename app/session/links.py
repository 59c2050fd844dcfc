"""Selections and requests that one pane passes to another, so that no pane imports another."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from engine.source import Diagnostic, Span


class PaneLinks(QObject):
    """Passes selections and requests between panes.

    Attributes:
        cursor_offset: returns the offset of the cursor in the grammar's text.
        selected_state: returns the rule and number of the selected state of the automaton; None if none is selected.

    Signals:
        span_chosen(Span): go to a span of the grammar's text.
        problem_chosen(Span): go to the span of a finding.
        fix_wanted(Diagnostic): offer the fixes of a finding.
        edits_wanted(edits): change the grammar's text by a tuple of `Edit`, as one undo step.
        spans_hovered(spans): highlight spans of the grammar's text; an empty tuple removes the highlight.
        span_pointed(span): scroll to a span of the grammar's text and highlight it; the focus stays.
        cursor_moved(offset): the cursor in the grammar's text is at another offset.
        offset_hovered(offset): highlight what an offset of the text belongs to; -1 for none.
        token_hovered(token): highlight the path of a token's bytes; None for none.
        output_pointed(bytes): mark a range of bytes of the output; an empty tuple removes the mark.
        output_hovered(bytes): the pointer is on these bytes of the output; an empty tuple for none.
        output_wanted(bytes): check an output.
        branch_read(branch): show the archived branch in a tuple in place of the output; an empty one shows that again.
        grammar_replaced(): the text becomes another grammar, not an edited one.
        closing_wanted(): restrict the schema's objects to their declared properties.
    """

    span_chosen = Signal(Span)
    problem_chosen = Signal(Span)
    fix_wanted = Signal(Diagnostic)
    edits_wanted = Signal(tuple)
    spans_hovered = Signal(tuple)
    span_pointed = Signal(Span)
    cursor_moved = Signal(int)
    offset_hovered = Signal(int)
    token_hovered = Signal(object)
    output_pointed = Signal(tuple)
    output_hovered = Signal(tuple)
    output_wanted = Signal(bytes)
    branch_read = Signal(tuple)
    grammar_replaced = Signal()
    closing_wanted = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.cursor_offset: Callable[[], int] = lambda: 0
        self.selected_state: Callable[[], tuple[str, int] | None] = lambda: None
