"""Connect panes to the session: the data of each pane, and the requests that it sends."""
