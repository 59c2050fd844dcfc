"""Work that is done ahead of the first grammar: kernels, and the tables that most compiles share."""

from __future__ import annotations

from engine.compile.compiler import compile_grammar
from engine.masking import jit
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.lexer import common
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.vocabulary.vocabulary import Vocabulary

_SCHEMAS = "{}", r'{"pattern": "^[a-z]+$"}', r'{"pattern": "^.+$"}', r'{"pattern": "^\\S+$"}'
"""Schemas whose compile builds the tables that most schemas need: alphabets that separate ASCII, line breaks and
white space."""


def warm(wait: bool = True) -> None:
    """Load the kernels, compiling them if they are not cached, and build the tables that all compiles share.

    Args:
        wait: whether to return only when the kernels are ready. Otherwise a thread loads them, and the reference
            implementation computes masks until it is done.
    """
    jit.load(_build_shared_tables, wait=wait)


def _build_shared_tables() -> None:
    """Build the tables that nearly every grammar needs, so that the first grammar of the process is not slower."""
    from engine.matching.matcher import Matcher  # start-up time: with `wait=False`, this is not the caller's thread

    vocabulary = Vocabulary([b'"', b"a"], eos_ids=[])
    for schema in _SCHEMAS:
        grammar = compile_grammar("json_schema", schema)
        grammar.fullmatch('"a"')
        Matcher(grammar, vocabulary).bitmask()
    common(Whitespace.FLEXIBLE, Escapes.SHORTEST)
