"""Bind panes to the session: what each pane shows and what it asks for."""
