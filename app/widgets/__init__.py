"""Widgets and delegates that several panes and dialogs share."""
