"""The texts of the window by key; `engine.source.catalogue` says how they are written and found."""

from engine.source.catalogue import catalogue_text as ui_text
from engine.source.catalogue import has_text

__all__ = ["capitalised", "has_text", "ui_text"]


def capitalised(text: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
