"""The handlers that run in the worker processes, and the messages between them and the window."""
