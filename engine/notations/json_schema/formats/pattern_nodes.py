"""Patterns to nodes: formats are written as regular expressions, piece by piece."""

from __future__ import annotations

from engine.grammar import Node
from engine.notations.regex.dialect import Flags
from engine.notations.regex.parser import parse
from engine.source import Limits, SourceText


def matching(pattern: str) -> Node:
    """Return the node of a pattern in the `python` dialect under `(?a)`: `\\d` is one of ten digits."""
    return parse(SourceText(pattern), "python", Limits(), Flags(ascii=True))[0]


def one_of(alternatives: list[str]) -> str:
    """Return a group of alternatives."""
    return f"(?:{'|'.join(alternatives)})"
