"""Grammars for the tests of exports, jobs of them, the guide of their tables, and packages as others import them."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st
from schemas import PERSON, TREE

from engine.compile import CompileOptions, compile_grammar
from engine.export.runtimes.guide import Guide
from engine.export.tables.rule_tables import tables_document, tables_of
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

_WORDS = [b"ab", b"abc", b'"a"', b'{"', b'":', b", ", b'",\n', b"[[", b"]]", b"true", b"null", b"00", b"((", b"))"]

_LEAVES = ["root", "a", "b", '"a"', '"ab"', '""', "[a-b]", ".", '"é"', "<think>", "!<[97]>"]
_BODIES = st.recursive(
    st.sampled_from(_LEAVES),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(" ".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({' | '.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{0,3}"])).map(lambda p: f"({p[0]}){p[1]}"),
    ),
    max_leaves=6,
)
RULES = st.tuples(_BODIES, _BODIES, _BODIES).map(lambda bodies: "root ::= {}\na ::= {}\nb ::= {}".format(*bodies))
"""Any small GBNF, most of it recursive, some of it without a text."""


def vocabulary(*, eos: bool = True) -> Vocabulary:
    """Every byte, some words, ids that share bytes, holes, a special token, and an end: 300 ids, so no whole word."""
    tokens: list[bytes | None] = [
        *(bytes((byte,)) for byte in range(256)),
        *_WORDS,
        b"a",
        b"ab",
        "é".encode(),
        None,
        b"",
    ]
    tokens += [None] * (300 - len(tokens))
    return Vocabulary(tokens, [298] if eos else [], {297: "<think>"} | ({298: "</s>"} if eos else {}))


def job_of(case: str | tuple[str, str], vocabulary: Vocabulary | None = None, **options: Any) -> ExportJob:
    """A job of a case, compiled as a schema is by default, or as told by `whitespace`."""
    notation, source = GRAMMARS[case] if isinstance(case, str) else case
    told = CompileOptions(whitespace=options.pop("whitespace", "flexible"))
    return ExportJob(compile_grammar(notation, source, told), vocabulary, ExportOptions(**options))


def job(notation: str, source: str, of: Vocabulary | None, name: str = "grammar", **options: object) -> ExportJob:
    """A grammar to be exported, with options of its compile."""
    compiled = compile_grammar(notation, source, CompileOptions(**options))
    return ExportJob(compiled, of, ExportOptions(name=name))


def guide(of: ExportJob) -> Guide:
    """The guide of a grammar, its data once through JSON."""
    return Guide(json.loads(json.dumps(tables_document(of, tables_of(of.compiled)))))


@contextmanager
def imported(folder: Path, name: str) -> Iterator[ModuleType]:
    """A package of an export, imported from its folder; forgotten afterwards."""
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for module in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
            del sys.modules[module]
        importlib.invalidate_caches()
