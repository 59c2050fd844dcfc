"""Formatter for all notations: a text to its formatted form, or the reason why it has none.

Only white space and line ends change. Each call verifies this: it parses both texts and compares their content, so that
formatting can never change a grammar.

**JSON**: two spaces per level; keys, numbers and escapes keep their form. What the author wrote on one line stays on
one line if it fits: a small schema is easiest to read as `{ "type": "string" }`. A text on a single line has no
layout to keep, so there only arrays of scalars stay on one line.

**GBNF**: `::=` in one column, long rules one alternative per line. Lines break where llama.cpp permits it, after a `|`
and inside parentheses. A rule that fits stays on one line. A longer one breaks at its own alternatives; where that is
not enough, or it contains comments, the author's own line breaks stay. Comments keep their lines.

**Verbose patterns**: lines indented by groups, no trailing spaces, at most one blank line in a row. White space is
significant in a pattern unless it begins with `(?x)`; even then inside a class, after a backslash, and where a part
turns `x` off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Final

from engine.notations import gbnf, regex
from engine.notations.editing.edits import Change, Edit
from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.source import GrammarError, LimitExceededError, Limits, Severity, SourceText, Span

_WIDTH: Final = 100
_NOTHING_TO_DO: Final = "It is formatted already"


def format_text(notation: str, text: str, dialect: str = "python") -> Change:
    """Format a text: a schema with two spaces per level, GBNF rules in columns, a verbose pattern by its groups.

    Args:
        notation: the notation of the text.
        text: the text.
        dialect: the dialect of a pattern.

    Returns:
        One edit, from the first to the last change; none, with a reason, if the text is invalid, has no white space
        that may change, or is formatted already.
    """
    why_not = _why_not_verbose(text, dialect) if notation == "regex" else ""
    if why_not:
        return Change(refusal=why_not)
    limits = Limits()
    try:
        before = _read_as(notation, text, dialect, limits)
        after = _FORMATTERS[notation](text)
        if after == text:
            return Change(refusal=_NOTHING_TO_DO)
        is_same = (
            "".join(after.split()) == "".join(text.split()) and _read_as(notation, after, dialect, limits) == before
        )
    except GrammarError as error:
        return Change(refusal=_refusal_of(error, text))
    except LimitExceededError as error:
        return Change(refusal=f"Nothing is changed: {error}")
    if not is_same:
        return Change(refusal="Nothing is changed: this text would mean something else if it were formatted")
    return Change((_edit(text, after),))


def _edit(before: str, after: str) -> Edit:
    """Return the edit from the first to the last difference."""
    start = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        start = min(len(before), len(after))
    most = min(len(before), len(after)) - start
    same = next((at for at in range(most) if before[-1 - at] != after[-1 - at]), most)
    return Edit(Span(start, len(before) - same), after[start : len(after) - same])


# ---------------------------------------------------------------------- the content of a text


def _read_as(notation: str, text: str, dialect: str, limits: Limits) -> list[Any]:
    """Parse a text and return its content as a flat list; equal lists mean equal content.

    Args:
        notation: the notation of the text.
        text: the text.
        dialect: the dialect of a pattern.
        limits: the limits for parsing.

    Raises:
        GrammarError: the text is invalid.
        LimitExceededError: it is too long.
    """
    source = SourceText(text)
    if notation == "json_schema":
        try:
            return list(_flat_json(read_json(text, limits.nesting)))
        except JsonTextError as error:
            raise GrammarError((error.diagnostic,), source) from None
    if notation == "gbnf":
        return _flat_nodes(gbnf.parse(source, limits)[0])
    return _flat_nodes(regex.parse(source, regex.Dialect(dialect), limits)[0])


def _refusal_of(error: GrammarError, text: str) -> str:
    """Return why an invalid text is not formatted."""
    first = min(
        (found for found in error.diagnostics if found.severity is Severity.ERROR), key=lambda found: found.span
    )
    line, column = SourceText(text).line_column(first.span.start)
    return f"Correct it first: line {line:,}, column {column:,}: {first.message}"


def _flat_nodes(root: object) -> list[Any]:
    """Flatten nodes in order, without spans; a work list replaces recursion."""
    found: list[Any] = []
    todo: list[object] = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, Span):
            continue
        if is_dataclass(part) and not isinstance(part, type):
            found.append(type(part).__name__)
            todo += [getattr(part, field.name) for field in reversed(fields(part))]
        elif isinstance(part, tuple):
            found.append(len(part))
            todo += reversed(part)
        else:
            found.append(part)
    return found


def _flat_json(root: Json) -> list[Any]:
    """Flatten a JSON text in order; duplicate keys are represented by their number."""
    found: list[Any] = []
    todo: list[Json | str] = [root]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part.value, dict):
            found += ("object", len(part.value), len(part.duplicate_keys))
            for name, inner in reversed(part.value.items()):
                todo += (inner, name)
        elif isinstance(part.value, list):
            found += ("array", len(part.value))
            todo += reversed(part.value)
        else:
            found += (type(part.value).__name__, part.value)
    return found


# ---------------------------------------------------------------------- JSON

_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+|[\[\]{},:]', re.DOTALL)
_JSON_INDENT: Final = "  "
_OPENING: Final = {"[", "{"}
_CLOSING: Final = {"]", "}"}
_BREAKING: Final = {"[", "{", ","}


def _formatted_json(text: str) -> str:
    """Format a well-formed JSON text."""
    formatted = "".join(_json_lines(_JsonTokens(text)))
    return formatted + "\n" if text.endswith("\n") else formatted


class _JsonTokens:
    """The tokens of a text, and which brackets may be kept on one line."""

    def __init__(self, text: str) -> None:
        found = list(_JSON_TOKEN.finditer(text))
        self.texts = [piece.group() for piece in found]
        self._ends = [-1] * len(found)  # the index of the closing bracket, by that of the opening one
        self._is_in_line = [False] * len(found)
        was_laid_out = "\n" in text.strip()
        opened: list[int] = []
        plain: list[bool] = []
        for number, piece in enumerate(self.texts):
            if piece in _OPENING:
                if plain:
                    plain[-1] = False
                opened.append(number)
                plain.append(piece == "[")
            elif piece in _CLOSING:
                start = opened.pop()
                has_break = text.find("\n", found[start].start(), found[number].start()) >= 0
                self._ends[start] = number
                self._is_in_line[start] = plain.pop() or number == start + 1 or (was_laid_out and not has_break)

    def in_line(self, start: int, width: int) -> tuple[str, int]:
        """Return a bracketed value on one line and the index of its end; an empty text if it must break."""
        end = self._ends[start]
        if not self._is_in_line[start] or end - start > width:
            return "", start
        line = "".join(self._gapped(start, end))
        return (line, end) if len(line) <= width else ("", start)

    def _gapped(self, start: int, end: int) -> Iterator[str]:
        """Yield the tokens with spaces after commas and colons, and inside non-empty braces."""
        previous = ""
        for piece in self.texts[start : end + 1]:
            is_inside = (previous == "{" and piece != "}") or (piece == "}" and previous != "{")
            if is_inside or previous in {",", ":"}:
                yield " "
            yield piece
            previous = piece


def _json_lines(pieces: _JsonTokens) -> Iterator[str]:
    texts = pieces.texts
    depth = column = at = 0
    while at < len(texts):
        piece = texts[at]
        if piece in _OPENING:
            line, end = pieces.in_line(at, _WIDTH - column)
            if line:
                piece, at = line, end
            else:
                depth += 1
        yield piece
        column += len(piece)
        at += 1
        following = texts[at] if at < len(texts) else ""
        if piece == ":":
            yield " "
            column += 1
        elif piece in _BREAKING or following in _CLOSING:
            depth -= following in _CLOSING
            yield "\n" + _JSON_INDENT * depth
            column = depth * len(_JSON_INDENT)


# ---------------------------------------------------------------------- GBNF

_WIDEST_NAME: Final = 24  # a longer name does not indent the other rules
_GBNF_TOKEN: Final = re.compile(
    r"(?P<comment>#[^\r\n]*)"
    r'|(?P<literal>"(?:[^"\\]|\\.)*")'
    r"|(?P<class>\[(?:[^\]\\]|\\.)*\])"
    r"|(?P<token>!?<[^>]*>)"
    r"|(?P<count>\{[^}]*\}|[*+?])"
    r"|(?P<name>[A-Za-z0-9_-]+)(?P<defines>[ \t]*::=)?"
    r"|(?P<mark>[|().])"
    r"|(?P<line>\r\n|\n|\r)",
    re.DOTALL,
)
_GBNF_INDENT: Final = 2
_BLANKS: Final = re.compile(r"\s+")


@dataclass(slots=True)
class _Piece:
    text: str
    kind: str
    breaks: bool = False  # whether the author ended the line after it


@dataclass(slots=True)
class _Rule:
    """A rule, or a comment between rules, which has no name.

    Attributes:
        trailing: the comment after its last piece, on the same line.
        gap: whether a blank line precedes it.
    """

    name: str = ""
    pieces: list[_Piece] = field(default_factory=list)
    comment: str = ""
    trailing: str = ""
    gap: bool = False


def _formatted_gbnf(text: str) -> str:
    """Format a well-formed grammar."""
    lines: list[str] = []
    rules = _rules(text)
    width = max((len(rule.name) for rule in rules if len(rule.name) <= _WIDEST_NAME), default=0)
    for rule in rules:
        if rule.gap and lines:
            lines.append("")
        lines += [rule.comment] if not rule.name else _laid_out(rule, max(width, len(rule.name)))
    formatted = "\n".join(lines)
    return formatted + "\n" if text.endswith(("\n", "\r")) else formatted


def _rules(text: str) -> list[_Rule]:
    """Split a text into rules and the comments between them; a comment in an unfinished rule belongs to the rule."""
    rules: list[_Rule] = []
    current: _Rule | None = None
    waiting: list[_Rule] = []  # comments that belong to the rule if it continues
    ended = 2  # line ends since the last piece
    for found in _GBNF_TOKEN.finditer(text):
        kind, written = found.lastgroup or "", found.group()
        if kind == "line":
            ended += 1
            if current is not None and current.pieces and not waiting and not current.trailing:
                current.pieces[-1].breaks = True
        elif found["defines"]:
            rules += waiting
            current = _Rule(found["name"], gap=ended > 1 and not waiting)
            rules.append(current)
            waiting, ended = [], 0
        elif kind == "comment":
            written = written.rstrip()
            if current is not None and ended == 0 and not waiting:
                _put_comment(current, written)
            else:
                waiting.append(_Rule(comment=written, gap=ended > 1))
            ended = 0
        elif current is not None:
            for comment in waiting:
                current.pieces.append(_Piece(comment.comment, "comment", breaks=True))
            waiting, ended = [], 0
            _keep_trailing(current)
            current.pieces.append(_Piece(_normal(written, kind), kind))
    return [*rules, *waiting]


def _put_comment(rule: _Rule, comment: str) -> None:
    _keep_trailing(rule)
    rule.trailing = comment


def _keep_trailing(rule: _Rule) -> None:
    """Move the trailing comment into the rule, since the rule continues."""
    if rule.trailing:
        rule.pieces.append(_Piece(rule.trailing, "comment", breaks=True))
        rule.trailing = ""


def _normal(written: str, kind: str) -> str:
    return _BLANKS.sub("", written) if kind == "count" else written


def _laid_out(rule: _Rule, width: int) -> list[str]:
    head = f"{rule.name:<{width}} ::="
    indent = len(head) + 1
    lines = _body(rule.pieces, _WIDTH - indent)
    body = [lines[0], *(" " * indent + line for line in lines[1:])]
    body[0] = f"{head} {body[0]}".rstrip()
    if rule.trailing:
        body[-1] = f"{body[-1]}  {rule.trailing}"
    return body


def _body(pieces: list[_Piece], width: int) -> list[str]:
    """Lay out the lines of a rule's body."""
    has_comments = any(piece.kind == "comment" for piece in pieces)
    single_line = _joined(pieces)
    if not has_comments and (len(single_line) <= width or "\n" in single_line):
        return [single_line]
    if has_comments:
        return _own_lines(pieces)
    lines: list[str] = []
    for alternative in _alternatives(pieces):
        line = _joined(alternative)
        lines += [line] if len(line) <= width else _own_lines(alternative)
    return lines


def _alternatives(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """Split a rule's body at its top-level bars; each part includes the bar after it."""
    depth, part = 0, list[_Piece]()
    for piece in pieces:
        depth += {"(": 1, ")": -1}.get(piece.text, 0) if piece.kind == "mark" else 0
        part.append(piece)
        if piece.kind == "mark" and piece.text == "|" and depth == 0:
            yield part
            part = []
    if part:
        yield part


def _own_lines(pieces: list[_Piece]) -> list[str]:
    """Lay out pieces with the author's line breaks, indented by the enclosing parentheses."""
    lines: list[str] = []
    line: list[_Piece] = []
    depth = 0
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        line.append(piece)
        # A bar stays on the line of what precedes it: llama.cpp permits a line end only after it.
        goes_on = following is not None and following.text == "|" and following.kind == "mark"
        ends = piece.kind == "comment" or (piece.breaks and not goes_on)
        if goes_on and piece.breaks and following is not None and piece.kind != "comment":
            following.breaks = True
        if ends or following is None:
            closing = _leading_closings(line)
            lines.append(" " * (_GBNF_INDENT * max(depth - closing, 0)) + _joined(line))
            depth += sum({"(": 1, ")": -1}.get(p.text, 0) for p in line if p.kind == "mark")
            line = []
    return lines


def _leading_closings(line: list[_Piece]) -> int:
    count = 0
    for piece in line:
        if piece.kind != "mark" or piece.text != ")":
            break
        count += 1
    return count


def _joined(pieces: list[_Piece]) -> str:
    """Join pieces with a space, except inside the edges of parentheses and before quantifiers; two before `#`."""
    parts: list[str] = []
    previous: _Piece | None = None
    for piece in pieces:
        is_tight = (
            previous is None
            or piece.kind == "count"
            or (piece.kind == "mark" and piece.text == ")")
            or (previous.kind == "mark" and previous.text == "(")
        )
        gap = "" if is_tight else " "
        if piece.kind == "comment" and previous is not None:
            gap = "  "
        parts.append(gap + piece.text)
        previous = piece
    return "".join(parts)


# ---------------------------------------------------------------------- verbose patterns

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


def _why_not_verbose(text: str, dialect: str) -> str:
    """Return why a pattern is not formatted; empty if it can be."""
    if dialect != "python":
        return "Every blank of an ECMAScript pattern matches itself, so there is nothing to format"
    if not _VERBOSE.match(text):
        return "Every blank of this pattern matches itself; only one that begins with `(?x)` is formatted"
    if _OFF.search(text):
        return "A part of this pattern switches `x` off, so its blanks are left alone"
    return ""


def _formatted_verbose(text: str) -> str:
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


_FORMATTERS: Final = {"json_schema": _formatted_json, "gbnf": _formatted_gbnf, "regex": _formatted_verbose}
