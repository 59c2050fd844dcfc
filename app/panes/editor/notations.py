"""The names of the notations in the editor, and their tokenisers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.panes.editor.gbnf import tokenise_gbnf
from app.panes.editor.regex import tokenise_regex
from app.panes.editor.schema import tokenise_json
from app.panes.editor.tokens import Tokeniser

NAMES: Final[Mapping[str, str]] = {"regex": "Regular expression", "gbnf": "GBNF", "json_schema": "JSON Schema"}
TOKENISERS: Final[Mapping[str, Tokeniser]] = {
    "regex": tokenise_regex,
    "gbnf": tokenise_gbnf,
    "json_schema": tokenise_json,
}
