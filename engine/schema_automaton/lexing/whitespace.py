"""White space between the tokens of a JSON text, as an automaton for each option.

A state is one small integer, 0 before the first byte of white space.
"""

from __future__ import annotations

from enum import StrEnum


class Whitespace(StrEnum):
    """The white space that is allowed where JSON allows it.

    `compact`: none. `one-space`: one space after each comma and colon, none elsewhere, as Python's `json.dumps`
    writes. `flexible`: at most one space, or a newline and up to 32 spaces or tabs. `any`: any at all.
    """

    COMPACT = "compact"
    ONE_SPACE = "one-space"
    FLEXIBLE = "flexible"
    ANY = "any"


_SPACE, _NEWLINE, _TAB = 0x20, 0x0A, 0x09
_BLANKS = (0x20, 0x09, 0x0A, 0x0D)
_MOST_INDENT = 32


def step(mode: Whitespace, state: int, byte: int, *, after_separator: bool) -> int | None:
    """Return the state after a byte of white space; None if it is not allowed.

    Args:
        mode: the option.
        state: the state before the byte.
        byte: any byte.
        after_separator: whether the white space follows a comma or a colon.
    """
    match mode:
        case Whitespace.FLEXIBLE:
            if state == 0:
                return 1 if byte == _SPACE else 2 if byte == _NEWLINE else None
            indented = state >= 2 and byte in (_SPACE, _TAB) and state < 2 + _MOST_INDENT
            return state + 1 if indented else None
        case Whitespace.ANY:
            return 0 if byte in _BLANKS else None
        case Whitespace.ONE_SPACE:
            return 1 if after_separator and state == 0 and byte == _SPACE else None
        case Whitespace.COMPACT:
            return None


def is_complete(mode: Whitespace, state: int, *, after_separator: bool) -> bool:
    """Return whether a token may follow.

    Args:
        mode: the option.
        state: the state of the white space.
        after_separator: whether it follows a comma or a colon.
    """
    return mode is not Whitespace.ONE_SPACE or not after_separator or state == 1
