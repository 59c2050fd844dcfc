"""Text changes as values, offsets after a change, and the toggling of line comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.source import InvariantError, Span


@dataclass(frozen=True, slots=True)
class Edit:
    """A span of a text, and its replacement."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a text, or the reason why it is impossible.

    Attributes:
        edits: the changes of the text.
        refusal: why nothing can be changed; empty if it can.
        note: what else the change does, in a sentence; empty for nothing.
    """

    edits: tuple[Edit, ...] = ()
    refusal: str = ""
    note: str = ""


def offset_after_edits(offset: int, edits: Iterable[Edit]) -> int:
    """Return an offset after all edits; an offset inside a replaced span moves to the end of the replacement."""
    grown = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        length = edit.span.end - edit.span.start
        if edit.span.end <= offset:
            grown += len(edit.replacement) - length
        elif edit.span.start <= offset:
            return edit.span.start + grown + len(edit.replacement)
    return offset + grown


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits whose spans refer to the original text.

    Raises:
        InvariantError: two of them overlap, or one is beyond the text.
    """
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if edit.span.start < at or edit.span.end > len(text):
            raise InvariantError("errors.invariant.edits")
        parts += (text[at : edit.span.start], edit.replacement)
        at = edit.span.end
    return "".join((*parts, text[at:]))


_COMMENT: Final = re.compile(r"[ \t]*(#[ ]?)")
_INDENT: Final = re.compile(r"[ \t]*")


def toggle_line_comments(text: str, selected: Span) -> Change:
    """Comment the lines of a selection with `#`, or uncomment them if all are comments.

    Args:
        text: the text.
        selected: the selection, in code points.
    """
    lines = [line for line in _lines(text, selected) if text[line.start : line.end].strip()]
    if not lines:
        return Change(refusal="An empty line is no comment")
    comments = [_COMMENT.match(text, line.start, line.end) for line in lines]
    if all(comments):
        return Change(tuple(Edit(Span(*found.span(1)), "") for found in comments if found))
    indents = [found.end() - line.start for line in lines if (found := _INDENT.match(text, line.start, line.end))]
    offsets = [line.start + min(indents) for line in lines]
    return Change(tuple(Edit(Span(offset, offset), "# ") for offset in offsets))


def _lines(text: str, selected: Span) -> list[Span]:
    """Return the lines that a selection touches, without a line that only its end touches."""
    start = text.rfind("\n", 0, selected.start) + 1
    last = max(selected.end - 1, selected.start) if selected.end > selected.start else selected.end
    found: list[Span] = []
    while True:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        found.append(Span(start, end))
        if end >= last or end == len(text):
            return found
        start = end + 1


def offset_after_formatting(before: str, after: str, offset: int) -> int:
    """Return the offset in a text that differs only in white space: after the same characters.

    Args:
        before: the original text.
        after: the changed text.
        offset: the offset in the original text, in code points.
    """
    count = len("".join(before[:offset].split()))
    for at, char in enumerate(after):
        if count == 0:
            # Before the following white space, unless the position was after it.
            is_behind = before[offset : offset + 1].strip() != "" and not char.strip()
            if not is_behind:
                return at
        elif char.strip():
            count -= 1
    return len(after)
