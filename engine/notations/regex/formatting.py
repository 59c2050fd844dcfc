"""Formatter of verbose patterns: lines indented by groups, no trailing spaces, at most one blank line in a row.

White space is significant in a pattern unless it begins with `(?x)`; even then inside a class, after a backslash, and
where a part turns `x` off.
"""

from __future__ import annotations

import re
from typing import Final

from engine.grammar.options import CompileOptions
from engine.notations.editing.edits import Change
from engine.notations.editing.formatting import flat_nodes, formatted
from engine.notations.regex.parser import parse
from engine.source import SourceText

_VERBOSE: Final = re.compile(r"\s*\(\?[a-wyzA-Z]*x[a-zA-Z]*\)")
_OFF: Final = re.compile(r"\(\?[a-zA-Z]*-[a-zA-Z]*x")
_VERBOSE_TOKEN: Final = re.compile(
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
_VERBOSE_INDENT: Final = "  "


def format_text(text: str, options: CompileOptions) -> Change:
    """Format a verbose expression; see `Notation.format`."""
    if why_not := _why_not(text, options.dialect):
        return Change(refusal=why_not)
    return formatted(
        text, _lay_out, lambda text: flat_nodes(parse(SourceText(text), options.dialect, options.limits)[0])
    )


def _why_not(text: str, dialect: str) -> str:
    """Return why a pattern is not formatted; empty if it can be."""
    if dialect != "python":
        return "Every blank of an ECMAScript pattern matches itself, so there is nothing to format"
    if not _VERBOSE.match(text):
        return "Every blank of this pattern matches itself; only one that begins with `(?x)` is formatted"
    if _OFF.search(text):
        return "A part of this pattern switches `x` off, so its blanks are left alone"
    return ""


def _lay_out(text: str) -> str:
    """Format a well-formed pattern that begins with `(?x)`."""
    lines: list[str] = []
    line, depth, closes_first = "", 0, 0
    indent, kind = 0, ""
    for found in _VERBOSE_TOKEN.finditer(text):
        kind, written = found.lastgroup or "", found.group()
        if kind == "line":
            _end_line(lines, line, indent - closes_first)
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
    _end_line(lines, line, indent - closes_first)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + ("\n" if kind == "line" else "")  # an escaped line end is part of the pattern


def _end_line(lines: list[str], line: str, indent: int) -> None:
    """Append a line; of consecutive blank lines keep the first, and none at the beginning."""
    stripped = _stripped(line)
    if stripped or (lines and lines[-1]):
        lines.append(_VERBOSE_INDENT * max(indent, 0) + stripped if stripped else "")


def _stripped(line: str) -> str:
    """Remove trailing white space except an escaped space."""
    bare = line.rstrip(" \t\r\v\f")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + 1] if backslashes % 2 and len(line) > len(bare) else bare
