"""Formatter of GBNF: `::=` in one column, long rules one alternative per line.

Lines break where llama.cpp permits it, after a `|` and inside parentheses. A rule that fits stays on one line. A longer
one breaks at its own alternatives; where that is not enough, or it contains comments, the author's own line breaks
stay. Comments keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from engine.grammar.options import CompileOptions
from engine.notations.editing.edits import Change
from engine.notations.editing.formatting import WIDTH, flat_nodes, formatted
from engine.notations.gbnf.lexer import GbnfKind, tokens
from engine.notations.gbnf.parser import parse
from engine.source import SourceText

_WIDEST_NAME: Final = 24  # a longer name does not indent the other rules
_GBNF_INDENT: Final = 2
_NESTING: Final[dict[GbnfKind, int]] = {"open": 1, "close": -1}
_BLANKS: Final = re.compile(r"\s+")


@dataclass(slots=True)
class _Piece:
    text: str
    kind: GbnfKind
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


def format_text(text: str, options: CompileOptions) -> Change:
    """Format rules; see `Notation.format`."""
    return formatted(text, _lay_out, lambda text: flat_nodes(parse(SourceText(text), options.limits)[0]))


def _lay_out(text: str) -> str:
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
    for kind, start, end in tokens(text, ends_at_rules=False):
        written = text[start:end]
        if kind == "line_end":
            ended += 1
            if current is not None and current.pieces and not waiting and not current.trailing:
                current.pieces[-1].breaks = True
        elif kind == "defined":
            rules += waiting
            current = _Rule(written, gap=ended > 1 and not waiting)
            rules.append(current)
            waiting, ended = [], 0
        elif kind == "comment":
            written = written.rstrip()
            if current is not None and ended == 0 and not waiting:
                _put_comment(current, written)
            else:
                waiting.append(_Rule(comment=written, gap=ended > 1))
            ended = 0
        elif current is not None and kind not in {"blank", "defines"}:
            for comment in waiting:
                current.pieces.append(_Piece(comment.comment, "comment", breaks=True))
            waiting, ended = [], 0
            _keep_trailing(current)
            current.pieces.append(_Piece(_BLANKS.sub("", written) if kind == "count" else written, kind))
    return [*rules, *waiting]


def _put_comment(rule: _Rule, comment: str) -> None:
    _keep_trailing(rule)
    rule.trailing = comment


def _keep_trailing(rule: _Rule) -> None:
    """Move the trailing comment into the rule, since the rule continues."""
    if rule.trailing:
        rule.pieces.append(_Piece(rule.trailing, "comment", breaks=True))
        rule.trailing = ""


def _laid_out(rule: _Rule, width: int) -> list[str]:
    head = f"{rule.name:<{width}} ::="
    indent = len(head) + 1
    lines = _body(rule.pieces, WIDTH - indent)
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
        depth += _NESTING.get(piece.kind, 0)
        part.append(piece)
        if piece.kind == "bar" and depth == 0:
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
        goes_on = following is not None and following.kind == "bar"
        ends = piece.kind == "comment" or (piece.breaks and not goes_on)
        if goes_on and piece.breaks and following is not None and piece.kind != "comment":
            following.breaks = True
        if ends or following is None:
            closing = _leading_closings(line)
            lines.append(" " * (_GBNF_INDENT * max(depth - closing, 0)) + _joined(line))
            depth += sum(_NESTING.get(piece.kind, 0) for piece in line)
            line = []
    return lines


def _leading_closings(line: list[_Piece]) -> int:
    count = 0
    for piece in line:
        if piece.kind != "close":
            break
        count += 1
    return count


def _joined(pieces: list[_Piece]) -> str:
    """Join pieces with a space, except inside the edges of parentheses and before quantifiers; two before `#`."""
    parts: list[str] = []
    previous: _Piece | None = None
    for piece in pieces:
        is_tight = previous is None or piece.kind in {"sign", "count", "close"} or previous.kind == "open"
        gap = "" if is_tight else " "
        if piece.kind == "comment" and previous is not None:
            gap = "  "
        parts.append(gap + piece.text)
        previous = piece
    return "".join(parts)
