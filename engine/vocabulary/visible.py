"""How a token is shown: every byte of it can be seen.

Blanks and line ends become the marks that editors use; what is no character
(broken UTF-8, control characters) becomes an escape. It is for eyes: a token
whose text happens to read `\\x41` looks the same as that escape.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_MARKS = {" ": "␣", "\n": "↵", "\r": "␍", "\t": "⇥"}
_CARRIER = "\N{DOTTED CIRCLE}"  # what a mark that combines with its left neighbour stands on


def visible(token: bytes) -> str:
    """A token's bytes as text without blanks, control characters or broken characters.

    Args:
        token: any bytes; tokens often end in the middle of a character.

    Returns:
        `␣` for a space, `↵` `␍` `⇥` for line feed, carriage return and tab, `\\xNN` for a byte that is no
        character or a control, `\\u{N}` for another code point that cannot be seen.
    """
    text = "".join(_pieces(token))
    return _CARRIER + text if text and unicodedata.combining(text[0]) else text


def _pieces(token: bytes) -> Iterator[str]:
    for char in token.decode("utf-8", errors="surrogateescape"):
        code_point = ord(char)
        if char in _MARKS:
            yield _MARKS[char]
        elif 0xDC80 <= code_point <= 0xDCFF:  # how surrogateescape writes a byte that is no character
            yield f"\\x{code_point - 0xDC00:02x}"
        elif code_point < 0x20 or code_point == 0x7F:
            yield f"\\x{code_point:02x}"
        elif not char.isprintable():
            yield f"\\u{{{code_point:x}}}"
        else:
            yield char
