"""The display form of a token, in which every byte is visible.

White space becomes the symbols that editors use; invalid UTF-8 and control
characters become escapes. The form is not reversible: a token with the text
`\\x41` looks the same as that escape.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_MARKS = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥"}
_DOTTED_CIRCLE = "\N{DOTTED CIRCLE}"  # precedes a combining character at the start


def visible(token: bytes) -> str:
    """Return a token's bytes as text in which every character is visible.

    Args:
        token: any bytes; tokens often end in the middle of a character.

    Returns:
        `␣` for a space, `↵` `␍` `⇥` for line feed, carriage return and tab, `\\xNN` for a control character or a byte
        of invalid UTF-8, `\\u{N}` for another code point that is not printable.
    """
    text = "".join(_pieces(token))
    return _DOTTED_CIRCLE + text if text and unicodedata.combining(text[0]) else text


def _pieces(token: bytes) -> Iterator[str]:
    for char in token.decode("utf-8", errors="surrogateescape"):
        code_point = ord(char)
        if char in _MARKS:
            yield _MARKS[char]
        elif 0xDC80 <= code_point <= 0xDCFF:  # surrogateescape's form of a byte of invalid UTF-8
            yield f"\\x{code_point - 0xDC00:02x}"
        elif code_point < 0x20 or code_point == 0x7F:
            yield f"\\x{code_point:02x}"
        elif not char.isprintable():
            yield f"\\u{{{code_point:x}}}"
        else:
            yield char
