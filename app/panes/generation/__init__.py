"""The generation pane: prompt, output, candidates, and explanations."""

from app.panes.generation.pane import GenerationPane

__all__ = ["GenerationPane"]
