"""Every kind of fix, applied: the finding must be gone."""

from __future__ import annotations

import pytest

from engine import CompileOptions, GrammarError, compile_grammar
from engine.diagnosis import fixes as module
from engine.diagnosis.fixes import fixes
from engine.notations.editing import apply_edits
from engine.notations.json_schema.fixes import SCHEMA_FIXES
from engine.source import Diagnostic, Severity, Span

CASES = [
    # GBNF: text, finding, titles of all fixes, text after the first
    ('root ::= itm\nitem ::= "a"', "gbnf-undefined-rule", "Replace by `item`", 'root ::= item\nitem ::= "a"'),
    ("root ::= foo", "gbnf-undefined-rule", "Define the rule `foo`", 'root ::= foo\nfoo ::= ""\n'),
    ('Root ::= "a" | Root', "gbnf-no-root", "Rename `Root` to `root`", 'root ::= "a" | root'),
    ('a ::= "a"', "gbnf-no-root", "Begin with `a`", 'root ::= a\na ::= "a"'),
    ("", "gbnf-no-root", "Define the rule `root`", 'root ::= ""'),
    ('root ::= "\\q"', "gbnf-unknown-escape", "Replace by `q`", 'root ::= "q"'),
    ('root ::= "\\x4"', "gbnf-short-escape", "Replace by `\\x04`", 'root ::= "\\x04"'),
    ('root ::= ("a"\nb ::= "c" # d', "gbnf-unclosed-group", "Add `)`", 'root ::= ("a")\nb ::= "c" # d'),
    ('root ::= "a\nb ::= "c"', "gbnf-unclosed-literal", 'Add `"`', 'root ::= "a"\nb ::= "c"'),
    ('root ::= [a\nb ::= "c"', "gbnf-unclosed-class", "Add `]`", 'root ::= [a]\nb ::= "c"'),
    ('root ::= "a")', "gbnf-no-group", "Remove `)`", 'root ::= "a"'),
    ('root ::= "b" | *', "gbnf-nothing-to-repeat", "Remove `*`", 'root ::= "b" | '),
    ('root ::= "a"\nb ::= "c"\n', "gbnf-unreachable-rule", "Remove the rule `b`", 'root ::= "a"\n'),
    ('root ::= "a"\nroot ::= "b"', "gbnf-duplicate-rule", "Remove the rule `root`", 'root ::= "b"'),
    ("root ::= []", "gbnf-empty-class", "Replace by `.`", "root ::= ."),
    ("root ::= [z-a]", "gbnf-bad-range", "Replace by `a-z`", "root ::= [a-z]"),
    ('root ::= "a"{3,2}', "gbnf-bad-repetition", "Replace by `{2,3}`", 'root ::= "a"{2,3}'),
    ('root ::= "a"{0,20', "gbnf-bad-repetition", "Replace by `{0,20}`", 'root ::= "a"{0,20}'),
    ('root ::= ("a"{2 | "b")', "gbnf-bad-repetition", "Replace by `{2}`", 'root ::= ("a"{2} | "b")'),
    ('root ::= "a"{ 1 , "b"', "gbnf-bad-repetition", "Replace by `{1,}`", 'root ::= "a"{1,} "b"'),
    ('root ::= "a"{,5', "gbnf-bad-repetition", "Replace by `{0,5}`", 'root ::= "a"{0,5}'),
    ('root = "a"', "gbnf-no-definition", "Replace by `::=`", 'root ::= "a"'),
    ("root ::= 'it\\'s \"'", "gbnf-unexpected", 'Replace by `"it\'s \\""`', 'root ::= "it\'s \\""'),
    ('root ::= a_b\na_b ::= "c"', "gbnf-compat-name", "Write `-` for `_` in names", 'root ::= a-b\na-b ::= "c"'),
    ('root ::= "a\nb"', "gbnf-line-inside", "Write `\\n` for the line's end", 'root ::= "a\\nb"'),
    # Regular expressions
    ("(a", "regex-unclosed-group", "Add `)`", "(a)"),
    ("a)", "regex-unopened-group", "Escape this: `\\)`", "a\\)"),
    ("[a", "regex-unclosed-class", "Add `]`", "[a]"),
    ("a\\", "regex-trailing-backslash", "Escape this: `\\\\`", "a\\\\"),
    ("*a", "regex-nothing-to-repeat", "Escape this: `\\*`", "\\*a"),
    ("a{3,2}", "regex-repeat-reversed", "Replace by `{2,3}`", "a{2,3}"),
    ("[z-a]", "regex-reversed-range", "Replace by `a-z`", "[a-z]"),
    ("[[:alpha:]]", "regex-posix-class", "Replace by `\\p{L}`", "[\\p{L}]"),
    ("[A-z]", "regex-letter-range", "Replace by `A-Za-z`", "[A-Za-z]"),
    ("\\d", "regex-unicode-class", "Replace by `[0-9]`", "[0-9]"),
    ("a\\w", "regex-unicode-class", "Replace by `[0-9A-Za-z_]`", "a[0-9A-Za-z_]"),
    ("[\\s-]", "regex-unicode-class", "Replace by ` \\t\\n\\r\\f\\v`", "[ \\t\\n\\r\\f\\v-]"),
    ("(?i)\\w", "regex-unicode-class", "Replace by `(?a:\\w)`", "(?i)(?a:\\w)"),
    ("\\W", "regex-unicode-complement", "Replace by `[^0-9A-Za-z_]`", "[^0-9A-Za-z_]"),
    ("(a?)++", "regex-possessive", "Replace by `+`", "(a?)+"),
    ("(?>a*[ab])", "regex-atomic", "Replace by `(?:`", "(?:a*[ab])"),
    ("\\q", "regex-bad-escape", "Replace by `q`", "q"),
    ("\\x4", "regex-incomplete-escape", "Replace by `\\x41`", "\\x41"),
    ("(?<n>a)", "regex-unknown-group", "Replace by `(?P<n>`", "(?P<n>a)"),
    # JSON Schema
    ('{"type":"strin"}', "schema-unknown-type", "Replace by `string`", '{"type":"string"}'),
    ('{"type":["null","intger"]}', "schema-unknown-type", "Replace by `integer`", '{"type":["null","integer"]}'),
    ('{"format":"emial"}', "schema-unknown-format", "Replace by `email`", '{"format":"email"}'),
    ('{"format":"qqq"}', "schema-unknown-format", "Remove the keyword `format`", "{}"),
    ('{"propertes":{}}', "schema-misspelled-keyword", "Replace by `properties`", '{"properties":{}}'),
    ('{"propertys":{}}', "schema-unknown-keyword", "Replace by `properties`", '{"properties":{}}'),
    ('{"faker":{},"type":"null"}', "schema-unknown-keyword", 'Remove the keyword "faker"', '{"type":"null"}'),
    (
        '{"$schema":"http://json-schema.org/draft-04/schema#","const":1}',
        "schema-later-keyword",
        "Remove the keyword `const`",
        '{"$schema":"http://json-schema.org/draft-04/schema#"}',
    ),
    (
        '{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","minimum":1,"definitions":{"s":{}}}',
        "schema-beside-reference",
        "Remove the keyword `minimum`",
        '{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","definitions":{"s":{}}}',
    ),
    ('{"$recursiveRef":"#"}', "schema-former-keyword", "Remove the keyword `$recursiveRef`", "{}"),
    ('{"$def":{}}', "schema-misspelled-keyword", "Replace by `$defs`", '{"$defs":{}}'),
    (
        '{"$ref":"#/$defs/itm","$defs":{"item":{}}}',
        "schema-unresolved-reference",
        "Replace by `#/$defs/item`",
        '{"$ref":"#/$defs/item","$defs":{"item":{}}}',
    ),
    (
        '{\n  "$ref": "#/$defs/q"\n}',
        "schema-unresolved-reference",
        "Define `q` under `$defs`",
        '{\n  "$ref": "#/$defs/q",\n  "$defs": {"q": {}}\n}',
    ),
    (
        '{"items": {"$ref": "#/$defs/q"}, "$defs": {"other": {}}}',
        "schema-unresolved-reference",
        "Define `q` under `$defs`",
        '{"items": {"$ref": "#/$defs/q"}, "$defs": {"other": {}, "q": {}}}',
    ),
    (
        '{"minLength":-1, "maxLength": 2}',
        "schema-invalid-keyword",
        "Remove the keyword `minLength`",
        '{"maxLength": 2}',
    ),
    (
        '{"maxLength": 2, "minLength":-1}',
        "schema-invalid-keyword",
        "Remove the keyword `minLength`",
        '{"maxLength": 2}',
    ),
    ('{"pattern":"("}', "schema-pattern", "Remove the keyword `pattern`", "{}"),
    ('{"not":{"$ref":"http://a"}}', "schema-remote-reference", "Remove the keyword `$ref`", '{"not":{}}'),
    (
        '{"type":"string","type":"null"}',
        "schema-doubled-key",
        "Remove the one before, which does not count",
        '{"type":"null"}',
    ),
    (
        '{"required": true, "type": "object"}',
        "schema-not-enforced",
        "Remove the keyword `required`",
        '{"type": "object"}',
    ),
    ('{"a":1,}', "schema-no-json", "Remove the comma", '{"a":1}'),
    ('{"a":1 "b":2}', "schema-no-json", "Add a comma", '{"a":1, "b":2}'),
    ('{"a" {}}', "schema-no-json", "Add a colon", '{"a": {}}'),
    ("{'a':1}", "schema-no-json", "Replace by `a`", '{"a":1}'),
    ("{a: 1}", "schema-no-json", "Replace by `a`", '{"a": 1}'),
    ('{"a":True}', "schema-no-json", "Replace by `true`", '{"a":true}'),
    ('{"a":[{"b": 1', "schema-no-json", "Add `}]}`", '{"a":[{"b": 1}]}'),
    ('{"type": "null"}\nDescribe it', "schema-no-json", "Remove the text after the schema", '{"type": "null"}'),
    ("{}}", "schema-no-json", "Remove the text after the schema", "{}"),
    ("Answer as {} only", "schema-no-json", "Remove the text around the schema", "{}"),
    ("```json\n{}", "schema-no-json", "Remove the text before the schema", "{}"),
    ('{"a": 1, // b\n "c": 2}', "schema-no-json", "Remove the comment", '{"a": 1, \n "c": 2}'),
]


def findings(notation: str, text: str, dialect: str = "python") -> tuple[Diagnostic, ...]:
    try:
        return compile_grammar(notation, text, CompileOptions(dialect=dialect)).diagnostics  # type: ignore[arg-type]
    except GrammarError as error:
        return error.diagnostics


def notation_of(code: str) -> str:
    return {"gbnf": "gbnf", "regex": "regex", "schema": "json_schema"}[code.split("-", 1)[0]]


@pytest.mark.parametrize(("text", "code", "title", "after"), CASES)
def test_a_fix_repairs_its_finding(text: str, code: str, title: str, after: str) -> None:
    notation = notation_of(code)
    finding = next(found for found in findings(notation, text) if found.code == code)
    offered = fixes(text, finding)
    assert offered[0].title == title
    assert apply_edits(text, offered[0].edits).split() == after.split()
    for fix in offered:
        fixed = apply_edits(text, fix.edits)
        assert fixed != text
        assert code not in {found.code for found in findings(notation, fixed)}, fix.title
        assert fix.caret is None or fix.caret <= len(fixed)


@pytest.mark.parametrize(
    ("text", "code", "after"),
    [
        ("\\-", "regex-needless-escape", "-"),
        ("a]", "regex-lone-bracket", "a\\]"),
        ("(?P<n>a)", "regex-unknown-group", "(?<n>a)"),
    ],
)
def test_what_ecmascript_asks_for(text: str, code: str, after: str) -> None:
    finding = next((found for found in findings("regex", text, "ecma") if found.code == code), None)
    assert finding is not None
    first = fixes(text, finding)[0]
    assert apply_edits(text, first.edits) == after
    assert findings("regex", after, "ecma") == ()


def test_every_fixer_has_a_case() -> None:
    ecma_only = {"regex-needless-escape", "regex-lone-bracket"}
    assert {case[1] for case in CASES} | ecma_only == {*module._FIXERS, *SCHEMA_FIXES}


def test_a_finding_of_another_text_has_no_fix() -> None:
    old = Diagnostic("gbnf-undefined-rule", Severity.ERROR, Span(90, 93), "", "")
    assert fixes("root ::= a", old) == ()
    assert fixes("root ::= a", Diagnostic("no-such-code", Severity.ERROR, Span(0, 1), "", "")) == ()


def test_a_new_rule_is_written_on() -> None:
    text = "root ::= foo"
    (define,) = fixes(text, findings("gbnf", text)[0])
    assert apply_edits(text, define.edits)[: define.caret] == 'root ::= foo\nfoo ::= "'
