"""The problems pane: every finding about the grammar, in source order, one line each."""

from app.panes.problems.presenter import PANE

__all__ = ["PANE"]
