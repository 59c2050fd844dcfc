"""The form in which a request has a grammar."""

from __future__ import annotations

from enum import StrEnum


class GrammarForm(StrEnum):
    """The form in which a request has a grammar."""

    JSON_SCHEMA = "json_schema"
    GRAMMAR = "grammar"  # rules in GBNF, which xgrammar reads as EBNF
    REGEX = "regex"
    CHOICE = "choice"  # a list of texts
