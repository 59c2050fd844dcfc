"""Common parts of targets: a small base for each kind, and shared functions.

Python packages, drawings, rules as text, and the treatment of schemas by servers.
"""
