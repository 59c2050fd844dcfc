"""The intermediate form to which the regex and GBNF parsers compile, and its transformations."""

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
