"""The pane of strategies that draw texts: several at once, beside the exact distribution."""

from app.panes.strategies.presenter import PANE

__all__ = ["PANE"]
