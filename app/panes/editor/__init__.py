"""The editor pane: the grammar's text, its diagnostics, and the live positions."""

from app.panes.editor.pane import EditorPane

__all__ = ["EditorPane"]
