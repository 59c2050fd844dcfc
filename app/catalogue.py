"""The texts of the window by key; `engine.source.catalogue` says how they are written and found."""

from engine.source.catalogue import capitalised, has_text
from engine.source.catalogue import catalogue_text as ui_text

__all__ = ["capitalised", "has_text", "ui_text"]
