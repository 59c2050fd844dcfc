"""The redistribution pane: probabilities before and after the mask, and the effect of each sampler stage."""

from app.panes.probabilities.presenter import PANE

__all__ = ["PANE"]
