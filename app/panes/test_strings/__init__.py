"""The tests pane: texts that the grammar should accept or reject, checked while the user types."""

from app.panes.test_strings.presenter import PANE

__all__ = ["PANE"]
