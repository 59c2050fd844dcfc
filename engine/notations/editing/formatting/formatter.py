"""Formatter for all notations: a text to its formatted form, or the reason why it has none."""

from __future__ import annotations

from typing import Final

from engine.notations.editing.edits import Change, Edit
from engine.notations.editing.formatting.gbnf import formatted_gbnf
from engine.notations.editing.formatting.json_text import formatted_json
from engine.notations.editing.formatting.meaning import read_as, refusal_of
from engine.notations.editing.formatting.verbose import formatted_verbose, why_not_verbose
from engine.source import GrammarError, LimitExceededError, Limits, Span

_NOTHING_TO_DO: Final = "It is formatted already"


def format_text(notation: str, text: str, dialect: str = "python") -> Change:
    """Format a text: a schema with two spaces per level, GBNF rules in columns, a verbose pattern by its groups.

    Args:
        notation: the notation of the text.
        text: the text.
        dialect: the dialect of a pattern.

    Returns:
        One edit, from the first to the last change; none, with a reason, if the text is invalid, has no white space
        that may change, or is formatted already.
    """
    why_not = why_not_verbose(text, dialect) if notation == "regex" else ""
    if why_not:
        return Change(refusal=why_not)
    limits = Limits()
    try:
        before = read_as(notation, text, dialect, limits)
        after = _FORMATTERS[notation](text)
        if after == text:
            return Change(refusal=_NOTHING_TO_DO)
        is_same = (
            "".join(after.split()) == "".join(text.split()) and read_as(notation, after, dialect, limits) == before
        )
    except GrammarError as error:
        return Change(refusal=refusal_of(error, text))
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


_FORMATTERS: Final = {"json_schema": formatted_json, "gbnf": formatted_gbnf, "regex": formatted_verbose}
