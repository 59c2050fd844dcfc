"""Formatter of JSON: two spaces per level; keys, numbers and escapes keep their form.

What the author wrote on one line stays on one line if it fits: a small schema is easiest to read as
`{ "type": "string" }`. A text on a single line has no layout to keep, so there only arrays of scalars stay on one line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from engine.grammar.options import CompileOptions
from engine.notations.editing.edits import Change
from engine.notations.editing.formatting import WIDTH, formatted
from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.notations.json_schema.lexer import json_tokens
from engine.source import GrammarError, Limits, SourceText

_JSON_INDENT: Final = "  "
_OPENING: Final = {"[", "{"}
_CLOSING: Final = {"]", "}"}
_BREAKING: Final = {"[", "{", ","}


def format_text(text: str, options: CompileOptions) -> Change:
    """Format a JSON text; see `Notation.format`."""
    return formatted(text, _lay_out, lambda text: _content(text, options.limits))


def _lay_out(text: str) -> str:
    """Format a well-formed JSON text."""
    formatted = "".join(_json_lines(_JsonTokens(text)))
    return formatted + "\n" if text.endswith("\n") else formatted


class _JsonTokens:
    """The tokens of a text, and which brackets may be kept on one line."""

    def __init__(self, text: str) -> None:
        found = list(json_tokens(text))
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
            line, end = pieces.in_line(at, WIDTH - column)
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


def _content(text: str, limits: Limits) -> list[Any]:
    """Return the content of a JSON text; see `formatted`.

    Raises:
        GrammarError: the text is invalid.
        LimitExceededError: it is too long.
    """
    try:
        return list(_flat_json(read_json(text, limits.nesting)))
    except JsonTextError as error:
        raise GrammarError((error.diagnostic,), SourceText(text)) from None


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
