"""Labels of edges: bytes as `a-z`, `␣`, `\\n` or `80-BF`, a call as `‹rule›`, a token as `<name>`."""

from __future__ import annotations

from engine.automata.byte_classes import ByteRanges
from engine.grammar import TokenSet

_KINDS = ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))  # digits, capitals, small letters
_MOST = 32  # bytes: a longer range usually means everything
_FEW_SIGNS = 8
_NAMES = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x20: "␣"}


def label(ranges: ByteRanges, width: int = 24) -> str:
    """Return the bytes of an edge as text, cut with an ellipsis beyond `width` characters.

    A set that contains most of ASCII is described by its complement: `not " \\`. Neighbours are separated, since `12`
    would look like a number, and `ab` like a word.
    """
    if ranges == ((0x00, 0xFF),):
        return "any byte"
    ascii_count = sum(min(last, 0x7F) - first + 1 for first, last in ranges if first < 0x80)
    if ascii_count > 0x60 and all(last <= 0x7F for _, last in ranges):
        missing = _gaps(ranges)
        return _cut("not " + " ".join(_pair(*gap) for gap in missing), width) if missing else "any ASCII"
    return _cut(" ".join(_pair(*pair) for pair in split_at_kinds(ranges)), width)


def split_at_kinds(ranges: ByteRanges) -> ByteRanges:
    """Split ranges that cross from one kind of character into another: nobody knows what `)-9` contains.

    Digits, and letters of either case, are a kind each; signs are listed one by one if they are few. A long range, such
    as `!-~`, is understood as everything, and stays.
    """
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if last - first >= _MOST or last > 0x7E or first < 0x20:
            found.append((first, last))
            continue
        start = first
        if first == 0x20 < last:
            found.append((first, first))
            start = first + 1
        for kind_first, kind_last in (*_KINDS, (0x7F, 0x7F)):
            if start < min(kind_first, last + 1):  # signs before the kind
                end = min(kind_first - 1, last)
                signs = [(byte, byte) for byte in range(start, end + 1)]
                found += signs if len(signs) <= _FEW_SIGNS else [(start, end)]
                start = end + 1
            if kind_first <= start <= min(kind_last, last):
                found.append((start, min(kind_last, last)))
                start = min(kind_last, last) + 1
    return tuple(found)


def class_label(ranges: ByteRanges, width: int = 24) -> str:
    """Return the bytes of an edge as a character class within a longer text: `[23]`, `[a-z0-9]`, `[^"\\]`."""
    text = label(ranges, width)
    if text.startswith("any "):
        return f"[{text}]"
    return f"[{text.replace('not ', '^', 1).replace(' ', '')}]"


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
    joint = " " if last == first + 1 else "-"
    return byte_name(first) + joint + byte_name(last)


def byte_name(byte: int) -> str:
    """Return one byte as text: the character in ASCII, otherwise two hexadecimal digits."""
    if byte in _NAMES:
        return _NAMES[byte]
    return chr(byte) if 0x21 <= byte <= 0x7E else f"{byte:02X}"


def call_label(rule: str) -> str:
    """Return the label of a call; the brackets distinguish it from characters, and from a token's `<name>`."""
    return f"‹{rule}›"


def token_label(tokens: TokenSet) -> str:
    """Return the label of a token set, as GBNF writes it."""
    elements = [*tokens.names, *(f"<[{token_id}]>" for token_id in tokens.ids)]
    return ("!" if tokens.negated else "") + " ".join(elements)
