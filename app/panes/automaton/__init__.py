"""The automaton pane: the automaton as a graph and as a table."""

from app.panes.automaton.presenter import PANE

__all__ = ["PANE"]
