"""Grammars for the tests of export targets, and how a job of one is made."""

from __future__ import annotations

import json
from typing import Any

from schemas import PERSON, TREE

from engine.compile import CompileOptions, compile_grammar
from engine.export.target import ExportJob, ExportOptions
from engine.vocabulary import Vocabulary

GRAMMARS: dict[str, tuple[str, str]] = {
    "heading": ("regex", r"[A-Z]+: [a-z]+\n"),
    "looks around": ("regex", r"(?=a)[a-z]+\b.[^x]"),
    "beyond ASCII": ("regex", "é+|[α-ω]{2}|😀"),
    "hostile": ("regex", "/[\"\\\\/\\]\\[^-]{1,3}`'\n\x00?"),
    "nested": ("gbnf", 'root ::= "(" inner_rule ")" | 1a\ninner_rule ::= [^a] root?\n1a ::= "x"'),
    "left recursive": ("gbnf", 'root ::= root "a" | true\ntrue ::= "b" | .'),
    "nested to the left": ("gbnf", 'root ::= root "+" item | item\nitem ::= "1" | "(" root ")"'),
    "dead part": ("gbnf", 'root ::= "a" dead | [b-c]{2,} | [b-a]\ndead ::= "x" dead'),
    "hidden left recursion": ("gbnf", 'root ::= empty root "x" | "y"\nempty ::= "-"?'),
    "left by another way": ("gbnf", 'root ::= other "a" | "(" root ")"\nother ::= root "b" | "c"'),
    "classes": ("gbnf", 'root ::= .? [^x\\]^-]{2,3} [^ab]* "\\U0001F600"?'),
    "person": ("json_schema", json.dumps(PERSON)),
    "tree": ("json_schema", json.dumps(TREE)),
    "names": ("json_schema", '{"enum": ["a", "b\\"c", "é\\n", 12, null]}'),
    "open": ("json_schema", '{"type": "object", "properties": {"a": {"type": "integer"}}}'),
}
TOKENS = ("gbnf", 'root ::= <think> "a"+ </think> "b"')
EMPTY = ("regex", r"[^\s\S]")


def job_of(case: str | tuple[str, str], vocabulary: Vocabulary | None = None, **options: Any) -> ExportJob:
    """A job of a case, compiled as a schema is by default, or as told by `whitespace`."""
    notation, source = GRAMMARS[case] if isinstance(case, str) else case
    told = CompileOptions(whitespace=options.pop("whitespace", "flexible"))
    return ExportJob(compile_grammar(notation, source, told), vocabulary, ExportOptions(**options))
