"""The railroad pane: the rule at the cursor as a railroad diagram."""

from app.panes.railroad.presenter import PANE

__all__ = ["PANE"]
