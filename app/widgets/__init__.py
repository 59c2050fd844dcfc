"""Small parts that several panes are made of, or that one pane would be too long with."""
