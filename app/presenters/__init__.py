"""Bind dialogs that belong to no pane to the session: export, share and the output check."""
