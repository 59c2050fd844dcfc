"""Forced runs: which there are, how they may be spelled, what it saves to take them, and the index of their tokens."""

from app.panes.forced.pane import ForcedPane

__all__ = ["ForcedPane"]
