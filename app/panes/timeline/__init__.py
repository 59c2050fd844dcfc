"""The timeline pane: every step of the shown path, in several strips."""

from app.panes.timeline.presenter import PANE

__all__ = ["PANE"]
