"""The main window: it arranges the panes and connects them to the session; the panes know neither."""
