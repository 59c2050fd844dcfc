"""Entries of a notation's quick reference: the constructs, each with a description and an example.

Each notation has its own (`Notation.reference`). An example is a complete grammar with a text that it accepts; tests
compile them all, so every line of a reference is true. Descriptions are in `resources/texts/reference.toml`, and
completion shows the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HOLE: Final = "…"
"""Marks what goes into a form."""


@dataclass(frozen=True, slots=True)
class ReferenceEntry:
    """One construct of a notation.

    Attributes:
        form: its syntax; `…` marks what goes into it.
        meaning: what it does, in one line.
        example: a complete grammar that uses it.
        takes: a text that the example accepts.
        text: the text to insert.
        caret: the cursor position in `text` after the insertion.
    """

    form: str
    meaning: str
    example: str
    takes: str
    text: str
    caret: int


@dataclass(frozen=True, slots=True)
class ReferenceGroup:
    """Related entries."""

    title: str
    entries: tuple[ReferenceEntry, ...]


def without_holes(form: str) -> tuple[str, int]:
    """Return the text that a form inserts, and the cursor position in it: where the first hole was, or the end."""
    hole = form.find(HOLE)
    text = form.replace(HOLE, "")
    return text, hole if hole >= 0 else len(text)


def form_entry(form: str, meaning: str, example: str, takes: str) -> ReferenceEntry:
    """Return the entry of a form, from which the inserted text follows.

    Args:
        form: its syntax; `…` marks what goes into it.
        meaning: what it does, in one line.
        example: a complete grammar that uses it.
        takes: a text that the example accepts.
    """
    return ReferenceEntry(form, meaning, example, takes, *without_holes(form))
