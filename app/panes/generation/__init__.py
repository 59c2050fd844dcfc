"""The generation pane: prompt, output, what may come next and why not."""

from app.panes.generation.pane import GenerationPane

__all__ = ["GenerationPane"]
