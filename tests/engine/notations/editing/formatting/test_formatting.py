"""Formatting: what it makes of a text, that it means the same, and that it is done after once."""

from __future__ import annotations

import json
from typing import Any

import corpora
import pytest
from fuzzing import fuzz, joined
from hypothesis import example, given
from spoken import rules_of

from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.editing import apply_edits
from engine.notations.editing.edits import offset_after_formatting
from engine.notations.regex.parser import parse
from engine.source import GrammarError, Limits, SourceText, Span
from engine.source.catalogue import catalogue_text

DONE = "It is formatted already"
CASES = [
    (
        "json_schema",
        '{"b":1.50,"a":[ "\\u0041" ,-1e3],"o":{},"l":[],"n":[[1],{"x":true}]}',
        (
            '{\n  "b": 1.50,\n  "a": ["\\u0041", -1e3],\n  "o": {},\n  "l": [],\n'
            '  "n": [\n    [1],\n    {\n      "x": true\n    }\n  ]\n}'
        ),
    ),
    ("json_schema", "true\n", None),
    (
        "json_schema",
        '{"a":{"type":"string"},\n"b":{\n"type":"null"},"c":[{"x":[]}, {}]}',
        '{\n  "a": { "type": "string" },\n  "b": {\n    "type": "null"\n  },\n  "c": [{ "x": [] }, {}]\n}',
    ),
    (
        "json_schema",
        '{\n"a":{"' + "x" * 80 + '":[1,2,3]}}',
        '{\n  "a": {\n    "' + "x" * 80 + '": [1, 2, 3]\n  }\n}',
    ),
    ("json_schema", '{"a": ["' + "x" * 90 + '", 1]}', '{\n  "a": [\n    "' + "x" * 90 + '",\n    1\n  ]\n}'),
    ("json_schema", '{"a b":  "c  d"}\n', '{\n  "a b": "c  d"\n}\n'),
    (
        "gbnf",
        'root::="a"|b *\nlonger ::=[a-z]{2, 3}("x"| "y" )\nb::="c"',
        'root   ::= "a" | b*\nlonger ::= [a-z]{2,3} ("x" | "y")\nb      ::= "c"',
    ),
    ("gbnf", '# top\nroot  ::= b # why\n\n\n\nb ::= "c"\n# end\n', '# top\nroot ::= b  # why\n\nb    ::= "c"\n# end\n'),
    (
        "gbnf",
        'root ::= "' + "a" * 50 + '" | "' + "b" * 50 + '"',
        'root ::= "' + "a" * 50 + '" |\n         "' + "b" * 50 + '"',
    ),
    ("gbnf", 'root ::=\n  "a"\n  | "b"\n', 'root ::= "a" | "b"\n'),
    ("gbnf", 'root ::= "a" |\n  # or\n "b"\n', 'root ::= "a" |\n         # or\n         "b"\n'),
    ("gbnf", 'root ::= ( # in\n"a" "b"\n|"c")\n', 'root ::= (  # in\n           "a" "b" |\n           "c")\n'),
    ("gbnf", 'root ::= "x  y" [ \t] <a b> !<[1]>  .\n', 'root ::= "x  y" [ \t] <a b> !<[1]> .\n'),
    (
        "gbnf",
        'a-very-long-name-of-a-rule ::= "x"\nroot ::= "y"\n',
        'a-very-long-name-of-a-rule ::= "x"\nroot ::= "y"\n',
    ),
    ("regex", "(?x)\na # b  \n(?: c \n | [ x]\n)\n\n\n\\ \n", "(?x)\na # b\n(?: c\n  | [ x]\n)\n\n\\ \n"),
]


def fix_first(column, key, **fields):
    """Return the refusal of a text with an error in its first line."""
    return f"Correct it first: line 1, column {column}: {catalogue_text(f'diagnostics.{key}', **fields)}"


REFUSALS = [
    ("regex", "a b", "Every blank of this pattern matches itself; only one that begins with `(?x)` is formatted"),
    ("regex", "(?x) a (?-x: b)", "A part of this pattern switches `x` off, so its blanks are left alone"),
    ("regex", "(?x) (a", fix_first(6, "regex-unclosed-group.message", opening="(")),
    ("gbnf", "root ::=  x", fix_first(11, "gbnf-undefined-rule.message", name="x")),
    ("json_schema", '{"a": }', fix_first(7, "schema-no-json.value.message")),
    ("json_schema", '{\n  "a": 1\n}', DONE),
    ("gbnf", 'root ::= "a"', DONE),
]


def formatted(notation: str, text: str) -> str:
    changed = NOTATIONS[notation].format(text, CompileOptions())
    assert changed.edits or changed.refusal == DONE
    return apply_edits(text, changed.edits)


@pytest.mark.parametrize(("notation", "before", "after"), CASES)
def test_what_becomes_of_a_text(notation: str, before: str, after: str | None) -> None:
    assert formatted(notation, before) == (before if after is None else after)
    assert NOTATIONS[notation].format(after or before, CompileOptions()).refusal == DONE


@pytest.mark.parametrize(("notation", "text", "why"), REFUSALS)
def test_why_nothing_changes(notation: str, text: str, why: str) -> None:
    changed = NOTATIONS[notation].format(text, CompileOptions())
    assert (changed.edits, changed.refusal) == ((), why)


def test_an_ecmascript_pattern_is_left_alone() -> None:
    assert "ECMAScript" in NOTATIONS["regex"].format("(?x) a", CompileOptions(dialect="ecma")).refusal


def test_only_what_changes_is_replaced() -> None:
    (edit,) = NOTATIONS["gbnf"].format('root ::= "a"   |   "b"\n', CompileOptions()).edits
    assert (edit.span, edit.replacement) == (Span(13, 18), "|")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a":¦1}', '{\n  "a": ¦1\n}'),
        ('{¦"a":1}', '{\n  ¦"a": 1\n}'),
        ('{"a¦":1}', '{\n  "a¦": 1\n}'),
        ('{"a":1}¦', '{\n  "a": 1\n}¦'),
        ('¦{"a":1}', '¦{\n  "a": 1\n}'),
        ('{"a":1¦,"b":2}', '{\n  "a": 1¦,\n  "b": 2\n}'),
    ],
)
def test_the_cursor_stays_at_its_token(before: str, after: str) -> None:
    offset = offset_after_formatting(before.replace("¦", ""), after.replace("¦", ""), before.index("¦"))
    assert offset == after.index("¦")


# --- the same language -----------------------------------------------------------------------------------------------


def meaning(notation: str, text: str) -> Any:
    """What a text means, by other means than the formatter's own check."""
    if notation == "json_schema":
        return json.dumps(json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str))
    if notation == "gbnf":
        grammar = compile_grammar("gbnf", text).grammar
        assert grammar is not None
        return rules_of(grammar)
    grammar = compile_grammar("regex", text)
    return [(edge.source, edge.target, edge.ranges) for edge in grammar.materialise().edges]


def hold(notation: str, text: str) -> bool:
    changed = NOTATIONS[notation].format(text, CompileOptions())
    assert "something else" not in changed.refusal
    if not changed.edits:
        return False
    after = apply_edits(text, changed.edits)
    assert meaning(notation, after) == meaning(notation, text)
    assert NOTATIONS[notation].format(after, CompileOptions()).refusal == DONE
    assert "".join(after.split()) == "".join(text.split())
    return True


def test_the_schemas_of_the_corpora() -> None:
    count = 0
    for name in ("jsts_2020", "jsts_7", "llama", "outlines", "xgrammar", "maskbench"):
        for case in corpora.cases(name)[::2]:
            if case.get("kind", "json_schema") == "json_schema":
                text = json.dumps(case["schema"]) if "schema" in case else case["source"]
                count += hold("json_schema", text)
    assert count > 80


def test_the_grammars_of_the_corpora() -> None:
    texts = [c["source"] for name in ("llama", "xgrammar") for c in corpora.cases(name) if c["kind"] == "gbnf"]
    assert sum(hold("gbnf", text) for text in texts) > len(texts) / 3


def test_the_patterns_of_the_corpora_made_verbose() -> None:
    count = 0
    for name in ("regex", "xgrammar"):
        for case in corpora.cases(name)[::3]:
            if case["kind"] != "regex" or len(case["source"]) > 60:
                continue
            text = "(?x)\n  " + case["source"].replace("(", "( \n") + "  \n"
            try:
                parse(SourceText(text), "python", Limits())
            except GrammarError:
                continue
            count += hold("regex", text)
    assert count > 10


GBNF_WORDS = [
    *('"a"', '"x  y"', "[a-z ]", "root", " | ", "|", "(", ")", "( ", " )", "*", " +", "{2, 3}", "<t>", "."),
    *(" ", "\n", "  \n", "# note\n", "# note  \n\n", "\nroot ::= ", "\nb  ::=", "\n\n\nc ::= ", '"' + "l" * 60 + '"'),
]
VERBOSE_WORDS = [
    *"ab|()",
    " ",
    "\n",
    "  \n ",
    "# c \n",
    "\\ ",
    "[ x]",
    "(?: ",
    "(?P<n>",
    ")+",
    "\\",
    "\n\n\n",
    "(?#d )",
]


@fuzz(150)
@given(joined(GBNF_WORDS))
def test_any_grammar(text: str) -> None:
    hold("gbnf", 'b ::= "b"\nc ::= b\nroot ::= ' + text)


@fuzz(150)
@given(joined(VERBOSE_WORDS))
@example("\\\n\n\n ")  # ends in an escaped line end
def test_any_verbose_pattern(text: str) -> None:
    hold("regex", "(?x)" + text)
