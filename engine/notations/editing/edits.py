"""Text changes as values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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


def moved(place: int, edits: Iterable[Edit]) -> int:
    """Return an offset after all edits; an offset inside a replaced span moves to the end of the replacement."""
    grown = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        length = edit.span.end - edit.span.start
        if edit.span.end <= place:
            grown += len(edit.replacement) - length
        elif edit.span.start <= place:
            return edit.span.start + grown + len(edit.replacement)
    return place + grown


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits whose spans refer to the original text.

    Raises:
        InvariantError: two of them overlap, or one is beyond the text.
    """
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        if edit.span.start < at or edit.span.end > len(text):
            raise InvariantError("edits overlap, or lie beyond the text")
        parts += (text[at : edit.span.start], edit.replacement)
        at = edit.span.end
    return "".join((*parts, text[at:]))
