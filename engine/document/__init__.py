"""Readers of saved work: `.turnstile` documents to share, and saved traces."""
