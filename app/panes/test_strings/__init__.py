"""The tests pane: texts that the grammar should accept or reject, checked while the user types."""

from app.panes.test_strings.pane import StringTestsPane

__all__ = ["StringTestsPane"]
