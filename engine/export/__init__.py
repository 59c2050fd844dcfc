"""Exports that run without Turnstile; each target is a file under `targets`.

The folders build on one another: `rules` · `schema` · `text` · `tables` · `graph` · `checks` · `targets` · `writing`.
"""

from engine.export.graph.dot import to_dot
from engine.export.graph.networks import to_networkx
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.rule_automata import (
    drawable_automata,
    drawable_nfas,
    offsets_without_white_space,
    without_white_space,
)
from engine.export.tables.token_index import TokenIndex, build_token_index
from engine.export.target import Artifact, Check, ExportError, ExportJob, ExportOptions
from engine.export.targets import TARGETS
from engine.export.text.conversion import (
    Conversion,
    WrittenRule,
    close_objects,
    needs_closing,
    open_objects,
    to_gbnf,
    to_regex,
)
from engine.export.writing import export as write

__all__ = [
    "TARGETS",
    "Artifact",
    "Check",
    "Conversion",
    "ExportError",
    "ExportJob",
    "ExportOptions",
    "NumberSpelling",
    "TokenIndex",
    "WrittenRule",
    "build_token_index",
    "close_objects",
    "drawable_automata",
    "drawable_nfas",
    "needs_closing",
    "offsets_without_white_space",
    "open_objects",
    "to_dot",
    "to_gbnf",
    "to_networkx",
    "to_regex",
    "without_white_space",
    "write",
]
