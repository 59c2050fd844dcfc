"""A grammar's text formatted: blanks and line ends change, and nothing else.

What a text means stays as it is, and so does every other character of it. That
is checked here each time, by reading both texts: whoever presses a key to make a
grammar look better must not get another grammar.
"""

from engine.notations.editing.formatting.position import place_after

__all__ = ["place_after"]
