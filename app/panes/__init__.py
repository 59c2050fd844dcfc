"""The panes of the window. None imports another; presenters connect them to the session."""
