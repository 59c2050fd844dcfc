"""The one intermediate form that every notation compiles to."""

from engine.grammar.charset import CharSet
from engine.grammar.nodes import (
    EMPTY,
    NEVER,
    Chars,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
)

__all__ = [
    "EMPTY",
    "NEVER",
    "CharSet",
    "Chars",
    "Choice",
    "Empty",
    "Grammar",
    "Lookaround",
    "Never",
    "Node",
    "Repeat",
    "Rule",
    "RuleReference",
    "Sequence",
    "TokenSet",
]
