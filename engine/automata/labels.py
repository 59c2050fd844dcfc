"""What is written on an edge: bytes as `a-z`, `␣`, `\\n` or `80-BF`, a call as `‹rule›`, a token as `<name>`."""

from __future__ import annotations

from engine.automata.byte_classes import ByteRanges
from engine.grammar import TokenSet

_NAMES = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x20: "␣"}


def label(ranges: ByteRanges, width: int = 24) -> str:
    """The bytes of an edge for a person, cut with an ellipsis beyond `width` characters.

    A set that holds most of ASCII is written as what it leaves out: `not "\\`.
    """
    if ranges == ((0x00, 0xFF),):
        return "any byte"
    ascii_count = sum(min(last, 0x7F) - first + 1 for first, last in ranges if first < 0x80)
    if ascii_count > 0x60 and all(last <= 0x7F for _, last in ranges):
        missing = _gaps(ranges)
        return _cut("not " + " ".join(_pair(*gap) for gap in missing), width) if missing else "any ASCII"
    return _cut(" ".join(_pair(*pair) for pair in ranges), width)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _gaps(ranges: ByteRanges) -> list[tuple[int, int]]:
    gaps, following = [], 0
    for first, last in ranges:
        if following < first:
            gaps.append((following, first - 1))
        following = last + 1
    if following <= 0x7F:
        gaps.append((following, 0x7F))
    return gaps


def _pair(first: int, last: int) -> str:
    if first == last:
        return byte_name(first)
    joint = "" if last == first + 1 else "-"
    return byte_name(first) + joint + byte_name(last)


def byte_name(byte: int) -> str:
    """One byte for a person: the character in ASCII, else two hexadecimal digits."""
    if byte in _NAMES:
        return _NAMES[byte]
    return chr(byte) if 0x21 <= byte <= 0x7E else f"{byte:02X}"


def call_label(rule: str) -> str:
    """The call of a rule; the brackets tell it from characters, and from a token's `<name>`."""
    return f"‹{rule}›"


def token_label(tokens: TokenSet) -> str:
    """One token taken whole, as GBNF writes it."""
    elements = [*tokens.names, *(f"<[{token_id}]>" for token_id in tokens.ids)]
    return ("!" if tokens.negated else "") + " ".join(elements)
