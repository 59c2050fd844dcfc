"""One file per target: what leaves Turnstile, and needs nothing of it."""

from engine.export.conversion import Conversion, to_gbnf, to_regex
from engine.export.dot import to_dot
from engine.export.json_characters import Spelling
from engine.export.rules import graph_of, is_exported_by_rules, rules_to_json
from engine.export.schema_automata import drawable_automata, without_white_space
from engine.export.token_index import TokenIndex, build_token_index, to_json

TARGETS = ("json", "dot", "gbnf", "regex")
"""What can be written, by the names that the command line uses."""

__all__ = [
    "TARGETS",
    "Conversion",
    "Spelling",
    "TokenIndex",
    "build_token_index",
    "drawable_automata",
    "graph_of",
    "is_exported_by_rules",
    "rules_to_json",
    "to_dot",
    "to_gbnf",
    "to_json",
    "to_regex",
    "without_white_space",
]
