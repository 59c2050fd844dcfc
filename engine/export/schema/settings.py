"""Settings for writing a schema's rules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.source import CancelToken, Limits


class NumberSpelling(StrEnum):
    """Which encodings a grammar's text has for values that JSON can write in several ways.

    `any`: every encoding that the compiled schema accepts, so that the grammar has the same texts; the escapes of
    strings are a compile option. `plain`: one encoding, for characters the shortest, for numbers the one without
    exponent, and approximations of a few formats; the grammar then has fewer texts.
    """

    ANY = "any"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class SchemaRuleSettings:
    """The settings for writing a schema.

    Attributes:
        spelling: the encodings of strings and numbers.
        whitespace, compiled_escapes: the options that the schema was compiled with.
        loops_as_rules: whether a loop may become mutually recursive rules; otherwise only the schema's recursion does.
        may_recurse: whether arrays and objects may contain themselves; otherwise the first one found ends the work.
        merges_copies: whether copies of a subschema are written once, under the name of the first; that is faster, but
            which copy comes first is not what a reader would choose, and the places of the others are not known.
        limits: the limits of the result.
        cancel: cancels the work.
    """

    spelling: NumberSpelling
    whitespace: Whitespace
    compiled_escapes: Escapes
    loops_as_rules: bool
    may_recurse: bool
    merges_copies: bool
    limits: Limits
    cancel: CancelToken

    @property
    def escapes(self) -> Escapes:
        """The escapes of names and of strings with conditions."""
        return Escapes.SHORTEST if self.spelling is NumberSpelling.PLAIN else self.compiled_escapes

    @property
    def free_escapes(self) -> Escapes:
        """The escapes of string values without constraints."""
        return Escapes.SHORTEST if self.spelling is NumberSpelling.PLAIN else self.compiled_escapes.of_free_values
