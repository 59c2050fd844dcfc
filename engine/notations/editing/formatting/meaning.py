"""The meaning of a text without its positions, to compare two texts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from engine.notations import gbnf, regex
from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.source import Diagnostic, GrammarError, Limits, Severity, SourceText, Span


def read_as(notation: str, text: str, dialect: str, limits: Limits) -> list[Any]:
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
            raise GrammarError(
                (Diagnostic("schema-no-json", Severity.ERROR, error.span, error.message),), source
            ) from None
    if notation == "gbnf":
        return _flat_nodes(gbnf.parse(source, limits)[0])
    return _flat_nodes(regex.parse(source, regex.Dialect(dialect), limits)[0])


def refusal_of(error: GrammarError, text: str) -> str:
    """Return why an invalid text is not formatted."""
    first = min(
        (found for found in error.diagnostics if found.severity is Severity.ERROR), key=lambda found: found.span
    )
    line, column = SourceText(text).line_column(first.span.start)
    return f"Mend it first: line {line:,}, column {column:,}: {first.message}"


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
            found += ("object", len(part.value), len(part.doubled))
            for name, inner in reversed(part.value.items()):
                todo += (inner, name)
        elif isinstance(part.value, list):
            found += ("array", len(part.value))
            todo += reversed(part.value)
        else:
            found += (type(part.value).__name__, part.value)
    return found
