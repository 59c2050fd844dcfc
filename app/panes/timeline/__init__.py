"""The timeline pane: every step of the shown path, in several strips."""

from app.panes.timeline.pane import ROWS, TimelinePane, worst_of

__all__ = ["ROWS", "TimelinePane", "worst_of"]
