"""The tests pane: texts that the grammar should accept or refuse, judged while one types."""

from app.panes.test_strings.pane import StringTestsPane

__all__ = ["StringTestsPane"]
