"""The engines pane: where the masks of installed engines differ on the grammar, and their measurements."""

from app.panes.engines.presenter import PANE

__all__ = ["PANE"]
