"""Handlers of the window's commands, by area."""
