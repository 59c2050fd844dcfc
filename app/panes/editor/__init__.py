"""The editor pane: the grammar's text, what is wrong with it, and where the match stands in it."""

from app.panes.editor.pane import EditorPane

__all__ = ["EditorPane"]
