"""What the text of a JSON output tells by itself: which properties an ending adds, and where a text was cut."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+|\s+', re.DOTALL)
_OPEN_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?\Z")


def added_properties(ending: bytes) -> tuple[str, ...]:
    """The names of the properties that an ending adds to the object that is open where it begins.

    The shortest ending adds none but those that are needed.
    """
    found: list[str] = []
    depth, key = 0, b""
    for token in _TOKEN.findall(ending):
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                break
        elif token == b":" and depth == 0 and key:
            try:
                found.append(str(json.loads(key)))
            except ValueError:
                return ()
        key = token if token.startswith(b'"') else b""
    return tuple(found)


def open_path(text: bytes) -> tuple[str | int, ...]:
    """Where in a JSON value its text ends: the keys and indices that lead to what comes next."""
    path: list[str | int] = []
    key: str | None = None
    for token in _TOKEN.findall(text):
        if token == b"{":
            path.append("")
            key = None
        elif token == b"[":
            path.append(0)
        elif token in (b"}", b"]"):
            del path[-1:]
        elif token == b"," and path:
            at = path[-1]
            path[-1] = at + 1 if isinstance(at, int) else ""
        elif token == b":" and path and key is not None:
            path[-1] = key
        elif token.startswith(b'"'):
            try:
                key = str(json.loads(token))
            except ValueError:
                key = None
    return tuple(part for part in path if part != "")


def is_in_string(text: bytes) -> bool:
    """Whether a JSON text ends within a string."""
    inside = escaped = False
    for byte in text:
        if escaped:
            escaped = False
        elif inside and byte == 0x5C:
            escaped = True
        elif byte == 0x22:
            inside = not inside
    return inside


def is_in_escape(text: bytes) -> bool:
    """Whether a JSON text ends within an escape of a string."""
    return is_in_string(text) and _OPEN_ESCAPE.search(text) is not None


def is_in_character(data: bytes) -> bool:
    """Whether bytes end within a character of UTF-8."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back < length
        if byte < 0x80:
            return False
    return False
