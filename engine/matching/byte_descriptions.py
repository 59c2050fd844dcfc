"""Descriptions of byte sets in English, for messages about what the grammar expects.

A grammar runs over UTF-8 bytes, but users think in characters, so a lead byte is
described by the characters that it can begin. The description may name more
characters than the grammar allows (the following bytes decide), never fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.automata.labels import split_at_kinds

Ranges = tuple[tuple[int, int], ...]

MOST_ITEMS = 10
_NAMES = {0x09: "a tab", 0x0A: "a line feed", 0x0D: "a carriage return", 0x20: "a space", 0x60: "a backtick"}
_VISIBLE = range(0x21, 0x7F)
_MAX_EXCEPT = 16
_LEAD_BYTES = frozenset(range(0xC2, 0xF5))


def byte_prose(ranges: Ranges) -> str:
    """Describe inclusive byte ranges: "`a-z`, a space or `:`"; "nothing" if there are none."""
    members = {byte for first, last in ranges for byte in range(first, last + 1)}
    if not members:
        return "nothing"
    if len(members) == 256:
        return "any byte"
    ascii_part = {byte for byte in members if byte < 0x80}
    missing = [byte for byte in range(0x80) if byte not in ascii_part]
    printable = [byte for byte in missing if byte >= 0x20]
    # "Any character except a line feed" is easier to read than a list of all the others.
    everything = members >= _LEAD_BYTES
    if len(missing) < 0x20 or (everything and len(missing) - len(printable) == 0x20 and len(printable) < _MAX_EXCEPT):
        kind = "any character" if everything else "any ASCII character"
        has_controls = len(missing) - len(printable) < 0x20
        exceptions = list(_ascii_items(missing)) if has_controls else [*_ascii_items(printable), "control characters"]
        all_but = f"{kind} except {_join(exceptions, 'and')}" if missing else kind
        return _join([all_but, *([] if everything else _other_items(members))], "or")
    hidden = [byte for byte in _VISIBLE if byte not in ascii_part]
    if len(hidden) < _MAX_EXCEPT:
        kind = "any visible ASCII character"
        visible = f"{kind} except {_join(_ascii_items(hidden), 'and')}" if hidden else kind
        return _join([visible, *_ascii_items(ascii_part - set(_VISIBLE)), *_other_items(members)], "or")
    return _join([*_ascii_items(ascii_part), *_other_items(members)], "or")


def byte_name(byte: int) -> str:
    """Describe one byte, as a character if it is ASCII."""
    if byte in _NAMES:
        return _NAMES[byte]
    return f"`{chr(byte)}`" if 0x20 < byte < 0x7F else f"the byte {byte:02X}"


def _ascii_items(members: Iterable[int]) -> Iterator[str]:
    """Describe ASCII bytes: ranges first, then single characters, then named characters, then control bytes."""
    ordered = sorted(members)
    visible = _runs(byte for byte in ordered if 0x20 < byte < 0x7F and byte not in _NAMES)
    runs = split_at_kinds(tuple(visible))
    yield from (f"`{chr(first)}-{chr(last)}`" for first, last in runs if last - first >= 2)
    for first, last in runs:
        if last - first < 2:
            yield from (byte_name(byte) for byte in range(first, last + 1))
    yield from (_NAMES[byte] for byte in ordered if byte in _NAMES)
    for first, last in _runs(byte for byte in ordered if byte not in _NAMES and not 0x20 < byte < 0x7F):
        yield byte_name(first) if first == last else f"the bytes {first:02X} to {last:02X}"


def _other_items(members: set[int]) -> Iterator[str]:
    """Describe the bytes that are not ASCII."""
    leads = sorted(members & _LEAD_BYTES)
    if len(leads) == len(_LEAD_BYTES):
        yield "any character beyond ASCII"
    else:
        for first, last in _runs(leads):
            yield f"a character from U+{_code_points_of_lead(first)[0]:04X} to U+{_code_points_of_lead(last)[1]:04X}"
    for first, last in _runs(sorted(byte for byte in members if 0x80 <= byte < 0xC0)):
        span = f"{first:02X}" if first == last else f"{first:02X} to {last:02X}"
        yield f"the rest of a character (byte {span})"
    for byte in sorted(byte for byte in members if byte >= 0xC0 and byte not in _LEAD_BYTES):
        yield byte_name(byte)


def _code_points_of_lead(lead: int) -> tuple[int, int]:
    """Return the first and last code point that a UTF-8 lead byte can begin."""
    if lead < 0xE0:
        return (lead & 0x1F) << 6, (lead & 0x1F) << 6 | 0x3F
    if lead < 0xF0:
        return max(0x800, (lead & 0x0F) << 12), (lead & 0x0F) << 12 | 0xFFF
    return max(0x10000, (lead & 0x07) << 18), min(0x10FFFF, (lead & 0x07) << 18 | 0x3FFFF)


def _runs(values: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Group ascending values into inclusive ranges."""
    first = last = None
    for value in values:
        if first is None or last is None:
            first = last = value
        elif value == last + 1:
            last = value
        else:
            yield first, last
            first = last = value
    if first is not None and last is not None:
        yield first, last


def _join(items: Iterable[str], conjunction: str) -> str:
    parts = list(items)
    if len(parts) > MOST_ITEMS:
        parts = [*parts[: MOST_ITEMS - 1], f"{len(parts) - MOST_ITEMS + 1} others"]
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}"
