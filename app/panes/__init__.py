"""The panes of the window. None imports another; the window wires them to the session."""
