"""The pane of a sample text, in which the matches of the grammar and the first failures are shown while one types."""

from app.panes.sample.presenter import PANE

__all__ = ["PANE"]
