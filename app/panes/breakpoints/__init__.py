"""The breakpoints pane: the breakpoints of the document, with switches."""

from app.panes.breakpoints.presenter import PANE

__all__ = ["PANE"]
