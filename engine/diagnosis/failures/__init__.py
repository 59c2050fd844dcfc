"""Causes of failed requests: what went wrong, the evidence for it, and the fix."""
