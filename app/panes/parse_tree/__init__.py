"""The pane of the parse tree of the output, or of another text, as a tree and as an icicle."""

from app.panes.parse_tree.presenter import PANE

__all__ = ["PANE"]
