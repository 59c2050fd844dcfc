"""The `.turnstile` document: its content, its one codec, and saved outputs.

The window, the command line, replay and shared pages all read documents through `codec`.
"""
