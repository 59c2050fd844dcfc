"""A verbose pattern formatted: lines indented by their groups, no blanks behind them, one blank line at most.

Blanks mean something in a pattern, but where it begins with `(?x)`; and there,
too, within a class, behind a backslash, and where a part switches `x` off.
"""

from __future__ import annotations

import re
from typing import Final

_VERBOSE: Final = re.compile(r"\s*\(\?[a-wyzA-Z]*x[a-zA-Z]*\)")
_OFF: Final = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*x")
_TOKEN: Final = re.compile(
    r"(?P<comment>#(?:[^\\\n]|\\.)*)"
    r"|(?P<escape>\\.)"
    r"|(?P<class>\[\^?\]?(?:[^\]\\]|\\.)*\])"
    r"|(?P<remark>\(\?\#(?:[^\\)]|\\.)*\))"
    r"|(?P<flags>\(\?[a-zA-Z]*\))"
    r"|(?P<open>\((?:\?(?:P?<[^>=!]*>|<?[=!]|[a-zA-Z-]*:))?)"
    r"|(?P<close>\))"
    r"|(?P<line>\n)"
    r"|(?P<blank>[ \t\r\v\f]+)"
    r"|(?P<text>.)",
    re.DOTALL,
)
_INDENT: Final = "  "


def why_not_verbose(text: str, dialect: str) -> str:
    """Why a pattern is not formatted; empty where it may be."""
    if dialect != "python":
        return "Every blank of an ECMAScript pattern matches itself, so there is nothing to format"
    if not _VERBOSE.match(text):
        return "Every blank of this pattern matches itself; only one that begins with `(?x)` is formatted"
    if _OFF.search(text):
        return "A part of this pattern switches `x` off, so its blanks are left alone"
    return ""


def formatted_verbose(text: str) -> str:
    """A well-formed pattern that begins with `(?x)`, formatted."""
    lines: list[str] = []
    line, depth, closes_first = "", 0, 0
    indent = 0
    for found in _TOKEN.finditer(text):
        kind, written = found.lastgroup or "", found.group()
        if kind == "line":
            _end(lines, line, indent - closes_first)
            line, indent, closes_first = "", depth, 0
        elif kind == "blank":
            line += written if line else ""
        else:
            if kind == "close":
                depth -= 1
                closes_first += not line.strip(")")
            elif kind == "open":
                depth += 1
            line += written
    _end(lines, line, indent - closes_first)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def _end(lines: list[str], line: str, indent: int) -> None:
    """Add a line; of blank ones that follow one another, the first only, and none at the beginning."""
    stripped = _stripped(line)
    if stripped or (lines and lines[-1]):
        lines.append(_INDENT * max(indent, 0) + stripped if stripped else "")


def _stripped(line: str) -> str:
    """A line without the blanks behind it; one that a backslash takes along stays."""
    bare = line.rstrip(" \t\r\v\f")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + 1] if backslashes % 2 and len(line) > len(bare) else bare
