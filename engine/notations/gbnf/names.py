"""The rule names of a GBNF text: definitions and uses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from engine.notations.editing.edits import Change, Edit
from engine.notations.editing.names import Name
from engine.notations.gbnf.lexer import NAME, tokens
from engine.source import Span


def rule_span(text: str, name: Span) -> Span:
    """Return the span of a rule, given the span of its defined name: up to the next rule, without trailing blanks."""
    end = next((one.start for one in tokens(text) if one.kind == "defined" and one.start > name.start), len(text))
    return Span(name.start, name.start + len(text[name.start : end].rstrip()))


_START: Final = "root"


@lru_cache(maxsize=8)  # called for each finding of a text
def rule_names(text: str) -> tuple[Name, ...]:
    """Return the rules of a text with their uses, in order of first occurrence."""
    return tuple(_rules(text))


def _rules(text: str) -> Iterator[Name]:
    defined: dict[str, list[Span]] = {}
    used: dict[str, list[Span]] = {}
    for token in tokens(text):
        if token.kind in {"name", "defined"}:
            name = text[token.start : token.end]
            defined.setdefault(name, [])
            used.setdefault(name, [])
            (defined if token.kind == "defined" else used)[name].append(token.span)
    for name, spans in defined.items():
        fixed = f"A grammar begins with `{_START}`, so its name stays" if name == _START and spans else ""
        yield Name(name, "rule", tuple(spans), tuple(used[name]), fixed)


def rename_rule(text: str, name: Name, new: str) -> Change:
    """Rename a rule; see `Notation.rename`."""
    if not NAME.fullmatch(new):
        return Change(refusal="A rule's name is made of letters A to Z, digits, `-` and `_`")
    other = next((other for other in rule_names(text) if other.text == new), None)
    if other is not None and other.definitions and name.definitions:
        return Change(refusal=f"There is a rule `{new}` already")
    return Change(tuple(Edit(span, new) for span in name.occurrences))
