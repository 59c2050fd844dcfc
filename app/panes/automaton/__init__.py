"""The automaton pane: the automaton as a graph and as a table."""

from app.panes.automaton.pane import AutomatonPane

__all__ = ["AutomatonPane"]
