"""Every kind of fix, applied: the finding must be gone."""

from __future__ import annotations

import pytest

from engine import CompileOptions, GrammarError, compile_grammar
from engine.diagnosis import fixes as module
from engine.diagnosis.fixes import fixes
from engine.notations.editing import apply_edits
from engine.notations.json_schema.fixes import SCHEMA_FIXES
from engine.source import Diagnostic, Severity, Span
from engine.source.catalogue import catalogue_text


def title(key: str, /, **fields: str) -> str:
    return catalogue_text(f"fixes.{key}", **fields)


CASES = [
    # GBNF: text, finding, title of the first fix, text after it
    ('root ::= itm\nitem ::= "a"', "gbnf-undefined-rule", title("replace", new="item"), 'root ::= item\nitem ::= "a"'),
    ("root ::= foo", "gbnf-undefined-rule", title("rule.define", name="foo"), 'root ::= foo\nfoo ::= ""\n'),
    ('Root ::= "a" | Root', "gbnf-no-root", title("rule.rename", name="Root", new="root"), 'root ::= "a" | root'),
    ('a ::= "a"', "gbnf-no-root", title("rule.begin", name="a"), 'root ::= a\na ::= "a"'),
    ("", "gbnf-no-root", title("rule.define", name="root"), 'root ::= ""'),
    ('root ::= "\\q"', "gbnf-unknown-escape", title("replace", new="q"), 'root ::= "q"'),
    ('root ::= "\\x4"', "gbnf-short-escape", title("replace", new="\\x04"), 'root ::= "\\x04"'),
    ('root ::= ("a"\nb ::= "c" # d', "gbnf-unclosed-group", title("add", new=")"), 'root ::= ("a")\nb ::= "c" # d'),
    ('root ::= "a\nb ::= "c"', "gbnf-unclosed-literal", title("add", new='"'), 'root ::= "a"\nb ::= "c"'),
    ('root ::= [a\nb ::= "c"', "gbnf-unclosed-class", title("add", new="]"), 'root ::= [a]\nb ::= "c"'),
    ('root ::= "a")', "gbnf-no-group", title("remove.code", code=")"), 'root ::= "a"'),
    ('root ::= "b" | *', "gbnf-nothing-to-repeat", title("remove.code", code="*"), 'root ::= "b" | '),
    ('root ::= "a"\nb ::= "c"\n', "gbnf-unreachable-rule", title("rule.remove", name="b"), 'root ::= "a"\n'),
    ('root ::= "a"\nroot ::= "b"', "gbnf-duplicate-rule", title("rule.remove", name="root"), 'root ::= "b"'),
    ("root ::= []", "gbnf-empty-class", title("replace", new="."), "root ::= ."),
    ("root ::= [z-a]", "gbnf-bad-range", title("replace", new="a-z"), "root ::= [a-z]"),
    ('root ::= "a"{3,2}', "gbnf-bad-repetition", title("replace", new="{2,3}"), 'root ::= "a"{2,3}'),
    ('root ::= "a"{0,20', "gbnf-bad-repetition", title("replace", new="{0,20}"), 'root ::= "a"{0,20}'),
    ('root ::= ("a"{2 | "b")', "gbnf-bad-repetition", title("replace", new="{2}"), 'root ::= ("a"{2} | "b")'),
    ('root ::= "a"{ 1 , "b"', "gbnf-bad-repetition", title("replace", new="{1,}"), 'root ::= "a"{1,} "b"'),
    ('root ::= "a"{,5', "gbnf-bad-repetition", title("replace", new="{0,5}"), 'root ::= "a"{0,5}'),
    ('root = "a"', "gbnf-no-definition", title("replace", new="::="), 'root ::= "a"'),
    ("root ::= 'it\\'s \"'", "gbnf-unexpected", title("replace", new='"it\'s \\""'), 'root ::= "it\'s \\""'),
    ('root ::= a_b\na_b ::= "c"', "gbnf-compat-name", title("hyphens"), 'root ::= a-b\na-b ::= "c"'),
    ('root ::= "a\nb"', "gbnf-line-inside", title("line_end"), 'root ::= "a\\nb"'),
    # Regular expressions
    ("(a", "regex-unclosed-group", title("add", new=")"), "(a)"),
    ("a)", "regex-unopened-group", title("escape", character=")"), "a\\)"),
    ("[a", "regex-unclosed-class", title("add", new="]"), "[a]"),
    ("a\\", "regex-trailing-backslash", title("escape", character="\\"), "a\\\\"),
    ("*a", "regex-nothing-to-repeat", title("escape", character="*"), "\\*a"),
    ("a{3,2}", "regex-repeat-reversed", title("replace", new="{2,3}"), "a{2,3}"),
    ("[z-a]", "regex-reversed-range", title("replace", new="a-z"), "[a-z]"),
    ("[[:alpha:]]", "regex-posix-class", title("replace", new="\\p{L}"), "[\\p{L}]"),
    ("[A-z]", "regex-letter-range", title("replace", new="A-Za-z"), "[A-Za-z]"),
    ("\\d", "regex-unicode-class", title("replace", new="[0-9]"), "[0-9]"),
    ("a\\w", "regex-unicode-class", title("replace", new="[0-9A-Za-z_]"), "a[0-9A-Za-z_]"),
    ("[\\s-]", "regex-unicode-class", title("replace", new=" \\t\\n\\r\\f\\v"), "[ \\t\\n\\r\\f\\v-]"),
    ("(?i)\\w", "regex-unicode-class", title("replace", new="(?a:\\w)"), "(?i)(?a:\\w)"),
    ("\\W", "regex-unicode-complement", title("replace", new="[^0-9A-Za-z_]"), "[^0-9A-Za-z_]"),
    ("(a?)++", "regex-possessive", title("replace", new="+"), "(a?)+"),
    ("(?>a*[ab])", "regex-atomic", title("replace", new="(?:"), "(?:a*[ab])"),
    ("\\q", "regex-bad-escape", title("replace", new="q"), "q"),
    ("\\x4", "regex-incomplete-escape", title("replace", new="\\x41"), "\\x41"),
    ("(?<n>a)", "regex-unknown-group", title("replace", new="(?P<n>"), "(?P<n>a)"),
    # JSON Schema
    ('{"type":"strin"}', "schema-unknown-type", title("replace", new="string"), '{"type":"string"}'),
    (
        '{"type":["null","intger"]}',
        "schema-unknown-type",
        title("replace", new="integer"),
        '{"type":["null","integer"]}',
    ),
    ('{"format":"emial"}', "schema-unknown-format", title("replace", new="email"), '{"format":"email"}'),
    ('{"format":"qqq"}', "schema-unknown-format", title("remove.keyword", name="format"), "{}"),
    ('{"propertes":{}}', "schema-misspelled-keyword", title("replace", new="properties"), '{"properties":{}}'),
    ('{"propertys":{}}', "schema-unknown-keyword", title("replace", new="properties"), '{"properties":{}}'),
    ('{"faker":{},"type":"null"}', "schema-unknown-keyword", title("remove.keyword", name="faker"), '{"type":"null"}'),
    (
        '{"$schema":"http://json-schema.org/draft-04/schema#","const":1}',
        "schema-later-keyword",
        title("remove.keyword", name="const"),
        '{"$schema":"http://json-schema.org/draft-04/schema#"}',
    ),
    (
        '{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","minimum":1,"definitions":{"s":{}}}',
        "schema-beside-reference",
        title("remove.keyword", name="minimum"),
        '{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","definitions":{"s":{}}}',
    ),
    ('{"$recursiveRef":"#"}', "schema-former-keyword", title("remove.keyword", name="$recursiveRef"), "{}"),
    ('{"$def":{}}', "schema-misspelled-keyword", title("replace", new="$defs"), '{"$defs":{}}'),
    (
        '{"$ref":"#/$defs/itm","$defs":{"item":{}}}',
        "schema-unresolved-reference",
        title("replace", new="#/$defs/item"),
        '{"$ref":"#/$defs/item","$defs":{"item":{}}}',
    ),
    (
        '{\n  "$ref": "#/$defs/q"\n}',
        "schema-unresolved-reference",
        title("definition.add", name="q", keyword="$defs"),
        '{\n  "$ref": "#/$defs/q",\n  "$defs": {"q": {}}\n}',
    ),
    (
        '{"items": {"$ref": "#/$defs/q"}, "$defs": {"other": {}}}',
        "schema-unresolved-reference",
        title("definition.add", name="q", keyword="$defs"),
        '{"items": {"$ref": "#/$defs/q"}, "$defs": {"other": {}, "q": {}}}',
    ),
    (
        '{"minLength":-1, "maxLength": 2}',
        "schema-invalid-keyword",
        title("remove.keyword", name="minLength"),
        '{"maxLength": 2}',
    ),
    (
        '{"maxLength": 2, "minLength":-1}',
        "schema-invalid-keyword",
        title("remove.keyword", name="minLength"),
        '{"maxLength": 2}',
    ),
    ('{"pattern":"("}', "schema-pattern", title("remove.keyword", name="pattern"), "{}"),
    ('{"not":{"$ref":"http://a"}}', "schema-remote-reference", title("remove.keyword", name="$ref"), '{"not":{}}'),
    (
        '{"type":"string","type":"null"}',
        "schema-doubled-key",
        title("remove.earlier"),
        '{"type":"null"}',
    ),
    (
        '{"required": true, "type": "object"}',
        "schema-not-enforced",
        title("remove.keyword", name="required"),
        '{"type": "object"}',
    ),
    ('{"a":1,}', "schema-no-json", title("remove.comma"), '{"a":1}'),
    ('{"a":1 "b":2}', "schema-no-json", title("add_comma"), '{"a":1, "b":2}'),
    ('{"a" {}}', "schema-no-json", title("add_colon"), '{"a": {}}'),
    ("{'a':1}", "schema-no-json", title("replace", new="a"), '{"a":1}'),
    ("{a: 1}", "schema-no-json", title("replace", new="a"), '{"a": 1}'),
    ('{"a":True}', "schema-no-json", title("replace", new="true"), '{"a":true}'),
    ('{"a":[{"b": 1', "schema-no-json", title("add", new="}]}"), '{"a":[{"b": 1}]}'),
    ('{"type": "null"}\nDescribe it', "schema-no-json", title("remove.text_after"), '{"type": "null"}'),
    ("{}}", "schema-no-json", title("remove.text_after"), "{}"),
    ("Answer as {} only", "schema-no-json", title("remove.text_around"), "{}"),
    ("```json\n{}", "schema-no-json", title("remove.text_before"), "{}"),
    ('{"a": 1, // b\n "c": 2}', "schema-no-json", title("remove.comment"), '{"a": 1, \n "c": 2}'),
]


def findings(notation: str, text: str, dialect: str = "python") -> tuple[Diagnostic, ...]:
    try:
        return compile_grammar(notation, text, CompileOptions(dialect=dialect)).diagnostics  # type: ignore[arg-type]
    except GrammarError as error:
        return error.diagnostics


def notation_of(code: str) -> str:
    return {"gbnf": "gbnf", "regex": "regex", "schema": "json_schema"}[code.split("-", 1)[0]]


@pytest.mark.parametrize(("text", "code", "named", "after"), CASES)
def test_a_fix_repairs_its_finding(text: str, code: str, named: str, after: str) -> None:
    notation = notation_of(code)
    finding = next(found for found in findings(notation, text) if found.code == code)
    offered = fixes(text, finding)
    assert offered[0].title == named
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
    assert {case[1] for case in CASES} | ecma_only == {*module.FIXERS, *SCHEMA_FIXES}


def test_a_finding_of_another_text_has_no_fix() -> None:
    old = Diagnostic("gbnf-undefined-rule", Severity.ERROR, Span(90, 93), "", "")
    assert fixes("root ::= a", old) == ()
    assert fixes("root ::= a", Diagnostic("no-such-code", Severity.ERROR, Span(0, 1), "", "")) == ()


def test_a_new_rule_is_written_on() -> None:
    text = "root ::= foo"
    (define,) = fixes(text, findings("gbnf", text)[0])
    assert apply_edits(text, define.edits)[: define.caret] == 'root ::= foo\nfoo ::= "'


def test_a_hint_with_a_form_to_complete_has_no_fix() -> None:
    text = "[\\Wa]"
    finding = next(found for found in findings("regex", text) if found.code == "regex-unicode-complement")
    assert "…" in finding.hint
    assert fixes(text, finding) == ()
