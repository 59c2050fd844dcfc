"""The window: it puts the panes together and wires them to the session; no pane knows either."""
