"""A set of bytes in words: what may stand at a place, as a reader of text would say it.

A grammar runs over UTF-8 bytes, but nobody thinks in lead bytes: one of them is
told as the characters that it can begin. The words can name more characters than
the grammar takes (the bytes that follow decide), never fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.automata.labels import split_at_kinds

Ranges = tuple[tuple[int, int], ...]

MOST_ITEMS = 10
_NAMES = {0x09: "a tab", 0x0A: "a line feed", 0x0D: "a carriage return", 0x20: "a space", 0x60: "a backtick"}
_VISIBLE = range(0x21, 0x7F)
_FEW_HIDDEN = 16
_LEADS = frozenset(range(0xC2, 0xF5))


def byte_prose(ranges: Ranges) -> str:
    """Inclusive byte ranges in words: "`a-z`, a space or `:`"; "nothing" for none."""
    members = {byte for first, last in ranges for byte in range(first, last + 1)}
    if not members:
        return "nothing"
    if len(members) == 256:
        return "any byte"
    ascii_part = {byte for byte in members if byte < 0x80}
    missing = [byte for byte in range(0x80) if byte not in ascii_part]
    signs = [byte for byte in missing if byte >= 0x20]
    # A newcomer reads "any character except a line feed" sooner than a list of what is left.
    everything = members >= _LEADS
    if len(missing) < 0x20 or (everything and len(missing) - len(signs) == 0x20 and len(signs) < _FEW_HIDDEN):
        kind = "any character" if everything else "any ASCII character"
        has_controls = len(missing) - len(signs) < 0x20
        unsaid = list(_ascii_items(missing)) if has_controls else [*_ascii_items(signs), "control characters"]
        all_but = f"{kind} except {_joined(unsaid, 'and')}" if missing else kind
        return _joined([all_but, *([] if everything else _other_items(members))], "or")
    hidden = [byte for byte in _VISIBLE if byte not in ascii_part]
    if len(hidden) < _FEW_HIDDEN:
        kind = "any visible ASCII character"
        visible = f"{kind} except {_joined(_ascii_items(hidden), 'and')}" if hidden else kind
        return _joined([visible, *_ascii_items(ascii_part - set(_VISIBLE)), *_other_items(members)], "or")
    return _joined([*_ascii_items(ascii_part), *_other_items(members)], "or")


def byte_name(byte: int) -> str:
    """One byte in words: a character where it is one by itself."""
    if byte in _NAMES:
        return _NAMES[byte]
    return f"`{chr(byte)}`" if 0x20 < byte < 0x7F else f"the byte {byte:02X}"


def _ascii_items(members: Iterable[int]) -> Iterator[str]:
    """Ranges first, then single signs, then what has only a name, then the control bytes."""
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
    """What is not ASCII."""
    leads = sorted(members & _LEADS)
    if len(leads) == len(_LEADS):
        yield "any character beyond ASCII"
    else:
        for first, last in _runs(leads):
            yield f"a character from U+{_reach(first)[0]:04X} to U+{_reach(last)[1]:04X}"
    for first, last in _runs(sorted(byte for byte in members if 0x80 <= byte < 0xC0)):
        span = f"{first:02X}" if first == last else f"{first:02X} to {last:02X}"
        yield f"the rest of a character (byte {span})"
    for byte in sorted(byte for byte in members if byte >= 0xC0 and byte not in _LEADS):
        yield byte_name(byte)


def _reach(lead: int) -> tuple[int, int]:
    """The first and last code point that a UTF-8 lead byte begins."""
    if lead < 0xE0:
        return (lead & 0x1F) << 6, (lead & 0x1F) << 6 | 0x3F
    if lead < 0xF0:
        return max(0x800, (lead & 0x0F) << 12), (lead & 0x0F) << 12 | 0xFFF
    return max(0x10000, (lead & 0x07) << 18), min(0x10FFFF, (lead & 0x07) << 18 | 0x3FFFF)


def _runs(values: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending values as inclusive runs."""
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


def _joined(items: Iterable[str], conjunction: str) -> str:
    parts = list(items)
    if len(parts) > MOST_ITEMS:
        parts = [*parts[: MOST_ITEMS - 1], f"{len(parts) - MOST_ITEMS + 1} others"]
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}"
