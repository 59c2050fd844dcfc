"""The generation pane: prompt, output, candidates, and explanations."""

from app.panes.generation.presenter import PANE

__all__ = ["PANE"]
