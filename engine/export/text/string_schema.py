r"""A regex or GBNF as a JSON Schema of strings that match the grammar.

A schema's texts are JSON, so it cannot have the same texts. Users who convert to a schema want a field of a record: a
string with such a text, for example `"2024-05-17"` for a date. So the result uses `pattern`, and a note says that the
quotes are new.

`pattern` is a search in ECMAScript's dialect: an expression that means the same there stays unchanged, any other is
rewritten; both are between `^` and `$`.
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
    """Return a JSON Schema whose values are the strings that the grammar matches.

    Args:
        compiled: the grammar, with its options.
        depth: how often a rule may be nested in itself, itself included; None to refuse recursion.
        cancel: cancels the conversion.

    Raises:
        GrammarError: its rules are recursive and there is no `depth`, or the regex would be too large.
        LimitExceededError: an expression with lookaround has too large an automaton.
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
    """Return a regex unchanged if it means the same in ECMAScript, else rewritten; None if it has lookaround."""
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
    """Return the expression for a full match, in ECMAScript's dialect, of a text from `to_schema`."""
    pattern: str = json.loads(text)["pattern"]
    return pattern.removeprefix(_BEFORE).removesuffix(_BEHIND)
