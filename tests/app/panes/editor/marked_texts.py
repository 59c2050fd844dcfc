"""Texts for the editor with a mark where the cursor stands."""

from __future__ import annotations

from app.panes.editor.pane import EditorPane
from engine.source import Span


def write(pane: EditorPane, notation: str, text: str) -> str:
    """Show a text with the cursor at its `¦`; returns it without."""
    pane.set_notation(notation)
    at = text.index("¦")
    text = text.replace("¦", "")
    pane.set_text(text)
    pane.edit.select(Span(at, at))
    return text
