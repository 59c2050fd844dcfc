"""Detects the notation of pasted text.

The patterns are few and unambiguous: a text that may be valid in the current notation is left alone. A JSON object is a
legal regex, and so is a list of rules; nobody intends that.
"""

from __future__ import annotations

import re
from typing import Final

_LENGTH: Final = 20_000  # code points; a grammar can be recognised long before
_OBJECT: Final = re.compile(r'\s*\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
_RULE: Final = re.compile(r"^[ \t]*[A-Za-z][A-Za-z0-9_-]*\s*::=", re.MULTILINE)
_REGEX: Final = re.compile(r"\\[dwsbDWSB]|\[\^?[^\]\"\s]+\][*+?{]|\{\d+(?:,\d*)?\}|\(\?[:=!P<]")


def likely_notation(text: str) -> str | None:
    """Return the notation of a text, by the engine's name; None if in doubt.

    Args:
        text: a complete grammar, which may have errors.
    """
    beginning = text[:_LENGTH]
    if _OBJECT.match(beginning):
        return "json_schema"
    if _RULE.search(beginning):
        return "gbnf"
    line = beginning.strip()
    is_one_line = bool(line) and "\n" not in line and line[0] not in '{"'
    return "regex" if is_one_line and _REGEX.search(line) else None
