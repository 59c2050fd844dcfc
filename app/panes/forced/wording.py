"""Texts that several pages of this pane show."""

from __future__ import annotations

from app.catalogue import ui_text
from app.workers.requests.forced import ListedForm
from engine.vocabulary.visible import visible

_LONGEST = 18


def form_note(form: ListedForm) -> str:
    """Return a sentence about the listed form of a grammar; empty if that is the grammar itself."""
    return "" if form is ListedForm.GRAMMAR else ui_text(f"forced.form.{form}.long")


def sentences(*texts: str) -> str:
    """Join texts without a period at their end; if there are several that are not empty, each becomes a sentence."""
    shown = [text for text in texts if text]
    return f"{'. '.join(shown)}." if len(shown) > 1 else "".join(shown)


def begins(data: bytes, most: int = _LONGEST) -> str:
    """Return the beginning of a text, in one line."""
    text = visible(data)
    return text if len(text) <= most else text[: most - 1] + "…"


def continuation(data: bytes) -> str:
    """Return the title of a continuation's column."""
    return begins(data) if data else ui_text("common.fragment.end")


def part_of(data: bytes) -> str:
    """Return the part of a run that is compared first: its first word, else all of it."""
    text = data.decode("utf-8", "ignore")
    words = "".join(char if char.isalpha() or char == "_" else " " for char in text).split()
    return next((word for word in words if len(word) > 1), text)
