"""JSON Pointers of source spans in a schema."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from engine.notations.json_schema.json_tree import Json, read_json
from engine.source import SourceText, Span


def pointers(source: SourceText, spans: Iterable[Span]) -> tuple[str, ...]:
    """Return the pointers of spans without repetition: a span is that of a value, or of a value's key."""
    known = _pointers(source)
    return tuple(dict.fromkeys(known[span] for span in spans if span in known))


@lru_cache(maxsize=8)
def _pointers(source: SourceText) -> dict[Span, str]:
    """Return the pointers of all values and keys by span."""
    found: dict[Span, str] = {}
    todo: list[tuple[Json, str]] = [(read_json(source.text), "")]
    while todo:
        value, pointer = todo.pop()
        found[value.span] = pointer
        for name, member in value.members.items():
            below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            found[value.key_spans[name]] = below
            todo.append((member, below))
        todo += ((item, f"{pointer}/{index}") for index, item in enumerate(value.items))
    return found
