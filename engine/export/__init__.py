"""One file per target: what leaves Turnstile, and needs nothing of it."""

from engine.export.dot import to_dot
from engine.export.token_index import TokenIndex, build_token_index, to_json

TARGETS = ("json", "dot")
"""What can be written, by the names that the command line uses."""

__all__ = ["TARGETS", "TokenIndex", "build_token_index", "to_dot", "to_json"]
