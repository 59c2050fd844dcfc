"""Formatting of grammar texts: only white space and line ends change.

The meaning of a text stays the same, and so does every other character. Each call verifies this by parsing both texts,
so that formatting can never change a grammar.
"""

from engine.notations.editing.formatting.position import place_after

__all__ = ["place_after"]
