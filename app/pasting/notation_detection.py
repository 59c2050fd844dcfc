"""Which notation a text looks like, for whoever pastes a grammar where another notation is read.

Few words, and none of them in doubt: a text that might be meant as it is read stays
so. A JSON object is a legal regex, and a list of rules is one, too; nobody means
them as such.
"""

from __future__ import annotations

import re
from typing import Final

_LOOKED_AT: Final = 20_000  # code points; a grammar says what it is long before
_OBJECT: Final = re.compile(r'\s*\{\s*"(?:[^"\\\n]|\\.)*"\s*:')
_RULE: Final = re.compile(r"^[ \t]*[A-Za-z][A-Za-z0-9_-]*\s*::=", re.MULTILINE)
_REGEX: Final = re.compile(r"\\[dwsbDWSB]|\[\^?[^\]\"\s]+\][*+?{]|\{\d+(?:,\d*)?\}|\(\?[:=!P<]")


def likely_notation(text: str) -> str | None:
    """The notation that a text is in, by the engine's name; None where that is in doubt.

    Args:
        text: a whole grammar, which need not be without mistakes.
    """
    looked_at = text[:_LOOKED_AT]
    if _OBJECT.match(looked_at):
        return "json_schema"
    if _RULE.search(looked_at):
        return "gbnf"
    line = looked_at.strip()
    is_one_line = bool(line) and "\n" not in line and line[0] not in '{"'
    return "regex" if is_one_line and _REGEX.search(line) else None
