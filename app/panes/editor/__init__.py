"""The editor pane: the grammar's text, its diagnostics, and the live positions."""

from app.panes.editor.presenter import PANE

__all__ = ["PANE"]
