"""The pane of forced runs: their spellings, the model calls that taking them saves, and the token index."""

from app.panes.forced.presenter import PANE

__all__ = ["PANE"]
