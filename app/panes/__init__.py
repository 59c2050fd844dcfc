"""The panes of the window: views, which know values, and a presenter for each, which binds it to the session."""
