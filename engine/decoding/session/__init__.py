"""A decode session: a model stepped through a grammar, as a tree of decisions."""

from engine.decoding.session.session import DecodeSession

__all__ = ["DecodeSession"]
