"""The branches pane: the present and the archived branches as trees, and two of them side by side."""

from app.panes.branches.presenter import PANE

__all__ = ["PANE"]
