"""A grammar within what a server is sent, for whoever pastes the request instead of the grammar.

A schema that failed is mostly at hand as a `response_format`, a tool, or the field
of a server's own (`guided_json`, `grammar`). Read as a schema such a request is
refused, or worse, it allows everything: none of its keys is a keyword.

The way in is by the names of fields alone, and ends at the first value that is a
grammar; a request with several tools has several, and is left as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from app.pasting.notation_detection import likely_notation

_LARGEST: Final = 200_000  # code points; it is read on the window's thread
_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_FENCE: Final = "```"
_FIELDS: Final = (
    *("response_format", "json_schema", "schema", "structured_outputs", "extra_body", "guided_json", "json"),
    *("tools", "function", "parameters", "input_schema", "inputSchema", "text", "format"),
    *("guided_grammar", "grammar", "guided_regex", "regex"),
)
_KEYWORDS: Final = frozenset(
    ("$schema", "$ref", "$defs", "definitions", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const")
)
_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))


def unwrapped(text: str) -> tuple[str, str] | None:
    """The grammar within a text, and where it was found; None where the text is no wrapping.

    Args:
        text: what was pasted.
    """
    if len(text) > _LARGEST:
        return None
    bare = _without_fence(text)
    found = _within(bare)
    if found is None and bare is not text:
        return bare, "the code block"
    return found


def _without_fence(text: str) -> str:
    """What stands in a Markdown code block that is all of the text."""
    lines = text.strip().split("\n")
    if len(lines) < len(("fence", "text", "fence")) or not lines[0].startswith(_FENCE) or lines[-1].strip() != _FENCE:
        return text
    return "\n".join(lines[1:-1]) + "\n"


def _within(text: str) -> tuple[str, str] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    path: list[str | int] = []
    while not _is_schema(value):
        step = _step(value)
        if step is None:
            return None
        path.append(step)
        value = value[step]
        if isinstance(value, str):
            return (value, _told(path)) if likely_notation(value) else None
    return (_slice(text, path), _told(path)) if path else None


def _step(value: Any) -> str | int | None:
    """The field that leads on; None where none does."""
    if isinstance(value, list):
        return 0 if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    return next((name for name in _FIELDS if isinstance(value.get(name), dict | list | str)), None)


def _is_schema(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    named = value.get("type")
    types = named if isinstance(named, list) else [named]
    return bool(value.keys() & _KEYWORDS) or any(isinstance(one, str) and one in _TYPES for one in types)


def _slice(text: str, path: list[str | int]) -> str:
    """The value as it is written, moved to the left; the engine's reader, with its spans, would take long to load."""
    start = _after_blanks(text, 0)
    for step in path:
        start = _after_blanks(text, start + 1) if step == 0 else _member(text, start, str(step))
    first, *rest = text[start : _DECODER.raw_decode(text, start)[1]].split("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    least = min(indents, default=0)
    return "\n".join([first, *(line[least:] for line in rest)]) + "\n"


def _member(text: str, start: int, name: str) -> int:
    """Where the value of a member begins, of an object that begins at `start`; the last one of that name counts."""
    found = start
    at = _after_blanks(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _after_blanks(text, _after_blanks(text, at) + 1)
        found = at if key == name else found
        at = _after_blanks(text, _DECODER.raw_decode(text, at)[1])
        at = _after_blanks(text, at + 1) if text[at] == "," else at
    return found


def _after_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _told(path: list[str | int]) -> str:
    return ".".join(str(step) for step in path if isinstance(step, str))
