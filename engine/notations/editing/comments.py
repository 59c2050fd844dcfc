"""Toggling of line comments in the notations that have comments."""

from __future__ import annotations

import re
from typing import Final

from engine.notations.editing.edits import Change, Edit
from engine.source import Span

_VERBOSE: Final = re.compile(r"\s*\(\?[a-wyzA-Z]*x")
_COMMENT: Final = re.compile(r"[ \t]*(#[ ]?)")
_INDENT: Final = re.compile(r"[ \t]*")


def toggle_comment(notation: str, text: str, selected: Span) -> Change:
    """Comment the lines of a selection, or uncomment them if all are comments.

    Args:
        notation: the notation of the text.
        text: the text.
        selected: the selection, in code points.

    Returns:
        The edits; none, with a reason, if the notation has no comments.
    """
    if notation == "json_schema":
        return Change(refusal="JSON has no comments; a schema may say something in `$comment`")
    if notation == "regex" and not _VERBOSE.match(text):
        return Change(refusal="A pattern has comments only where it begins with `(?x)`")
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
