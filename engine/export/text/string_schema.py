r"""A regex or GBNF as a JSON Schema: of a string that holds what the grammar matches.

A schema's texts are JSON, so it cannot have the same texts. What people want who
ask for it is a field of a record: a string whose content is one of them, such as
`"2024-05-17"` for a date. So that is what is written, with `pattern`, and a note
says that the quotes are new.

`pattern` is a search in ECMAScript's dialect: an expression that means the same
there stays as it is, any other is written for it; between `^` and `$`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final

from engine.compile import CompiledGrammar
from engine.export.rules.rule_builder import START
from engine.export.text.conversion import Conversion, NotConvertibleError, looks_around, to_regex
from engine.export.text.print_regex import print_regex
from engine.grammar import Grammar, Rule
from engine.grammar.simplify import simplify
from engine.notations.regex import parse as parse_regex
from engine.source import CancelToken, GrammarError

_BEFORE: Final = "^(?:"
_BEHIND: Final = ")$"
QUOTED: Final = "each text stands between double quotes, spelled as JSON spells a string"


def to_schema(compiled: CompiledGrammar, *, depth: int | None = None, cancel: CancelToken | None = None) -> Conversion:
    """A JSON Schema whose values are the strings that the grammar matches.

    Args:
        compiled: the grammar, with its options.
        depth: how often a rule may stand within itself, itself included; None where none may.
        cancel: asked now and then.

    Raises:
        GrammarError: its rules are recursive and there is no `depth`, or no text of a bearable size can say it.
        LimitExceededError: an expression that looks around has too large an automaton.
        NotConvertibleError: it is a JSON Schema already.
        CancelledError: `cancel` was used.
    """
    if compiled.notation == "json_schema":
        raise NotConvertibleError("the grammar is a JSON Schema already")
    content = _kept(compiled) if compiled.notation == "regex" else None
    if content is None:
        content = to_regex(compiled, depth=depth, dialect="ecma", cancel=cancel)
    schema = {"type": "string", "pattern": f"{_BEFORE}{content.text}{_BEHIND}"}
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return Conversion(text, content.grammar, (QUOTED, *content.notes))


def _kept(compiled: CompiledGrammar) -> Conversion | None:
    """A regex as it stands where that means the same in ECMAScript, else written anew; None where it looks around."""
    limits = compiled.options.limits
    node, _ = parse_regex(compiled.source, compiled.options.dialect, limits)
    text = ""
    with suppress(GrammarError):
        if parse_regex(compiled.source, "ecma", limits)[0] == node:
            text = compiled.source.text
    if not text and looks_around(compiled):
        return None
    node = simplify(node)
    return Conversion(text or print_regex(node, "ecma", limits), Grammar((Rule(START, node, node.span),), START))


def pattern_of(text: str) -> str:
    """The expression for a full match, in ECMAScript's dialect, of a text that `to_schema` wrote."""
    pattern: str = json.loads(text)["pattern"]
    return pattern.removeprefix(_BEFORE).removesuffix(_BEHIND)
