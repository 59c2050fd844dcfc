"""The redistribution pane: probabilities before and after the mask, and the effect of each sampler stage."""

from app.panes.probabilities.pane import MOST_BARS, ProbabilitiesPane, axis_label, most_probable

__all__ = ["MOST_BARS", "ProbabilitiesPane", "axis_label", "most_probable"]
