"""What the writers of a schema's rules are told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.source import CancelToken, Limits


class NumberSpelling(StrEnum):
    """How a grammar's text spells what a JSON text may spell in several ways.

    `any`: every way that the compiled schema takes, so that the grammar holds the same texts; which escapes strings may
    have is an option of the compile. `plain`: one way, for characters the shortest, for numbers the one without
    exponent, and a few formats in an everyday form; the grammar then holds fewer texts.
    """

    ANY = "any"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class SchemaRuleSettings:
    """How a schema is written.

    Attributes:
        spelling: of strings and numbers.
        whitespace, compiled_escapes: what the schema was compiled with.
        loops_as_rules: whether a loop may be rules that refer to each other; otherwise only recursion of the schema is.
        limits: how large it may become.
        cancel: asked now and then.
    """

    spelling: NumberSpelling
    whitespace: Whitespace
    compiled_escapes: Escapes
    loops_as_rules: bool
    limits: Limits
    cancel: CancelToken

    @property
    def escapes(self) -> Escapes:
        """The escapes of names and of strings with conditions."""
        return Escapes.SHORTEST if self.spelling is NumberSpelling.PLAIN else self.compiled_escapes

    @property
    def free_escapes(self) -> Escapes:
        """The escapes of string values that no keyword is about."""
        return Escapes.SHORTEST if self.spelling is NumberSpelling.PLAIN else self.compiled_escapes.of_free_values
