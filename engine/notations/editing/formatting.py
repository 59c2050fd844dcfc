"""Formats grammar texts: the part that all notations share.

Only white space and line ends change. Each call verifies this: it parses both texts and compares their content, so that
formatting can never change a grammar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, Final

from engine.notations.editing.edits import Change, Edit
from engine.source import GrammarError, LimitExceededError, Severity, SourceText, Span

WIDTH: Final = 100
"""The longest line of a formatted text, in code points."""

_NOTHING_TO_DO: Final = "It is formatted already"


def formatted(text: str, lay_out: Callable[[str], str], content: Callable[[str], list[Any]]) -> Change:
    """Format a text.

    Args:
        text: the text.
        lay_out: formats a well-formed text.
        content: parses a text and returns its content as a flat list; equal lists mean equal content.

    Returns:
        One edit, from the first to the last change; none, with a reason, if the text is invalid or is formatted
        already.
    """
    try:
        before = content(text)
        after = lay_out(text)
        if after == text:
            return Change(refusal=_NOTHING_TO_DO)
        is_same = "".join(after.split()) == "".join(text.split()) and content(after) == before
    except GrammarError as error:
        return Change(refusal=_refusal_of(error, text))
    except LimitExceededError as error:
        return Change(refusal=f"Nothing is changed: {error}")
    if not is_same:
        return Change(refusal="Nothing is changed: this text would mean something else if it were formatted")
    return Change((_edit(text, after),))


def _edit(before: str, after: str) -> Edit:
    """Return the edit from the first to the last difference."""
    start = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        start = min(len(before), len(after))
    most = min(len(before), len(after)) - start
    same = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    return Edit(Span(start, len(before) - same), after[start : len(after) - same])


def _refusal_of(error: GrammarError, text: str) -> str:
    """Return why an invalid text is not formatted."""
    first = min(
        (found for found in error.diagnostics if found.severity is Severity.ERROR), key=lambda found: found.span
    )
    line, column = SourceText(text).line_column(first.span.start)
    return f"Correct it first: line {line:,}, column {column:,}: {first.message}"


def flat_nodes(root: object) -> list[Any]:
    """Flatten nodes in order, without spans; a work list replaces recursion."""
    found: list[Any] = []
    todo: list[object] = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, Span):
            continue
        if is_dataclass(part) and not isinstance(part, type):
            found.append(type(part).__name__)
            todo += [getattr(part, field.name) for field in reversed(fields(part))]
        elif isinstance(part, tuple):
            found.append(len(part))
            todo += reversed(part)
        else:
            found.append(part)
    return found
