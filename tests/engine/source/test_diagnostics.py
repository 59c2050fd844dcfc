"""Each diagnostic of the catalogue is reported for an input, in words that are complete."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from string import Formatter

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.export import to_gbnf, to_regex
from engine.source import Diagnostic, GrammarError, Limits, Severity, Span, diagnostic
from engine.source.catalogue import CatalogueError
from engine.source.diagnostics import diagnostic_keys, diagnostic_texts
from engine.source.processes import start_python
from tests.corpus.case import cases

SMALL = Limits(nesting=3, repetition=10)
ECMA = CompileOptions(dialect="ecma")
LOOK_BEHIND = "".join(f"(?<=[{chr(0x400 + i)}-{chr(0x600 + i)}].*)" for i in range(300))
LATER = '{"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}'
MANY_CONDITIONS = [{"if": {"minProperties": i + 1}, "then": {"patternProperties": {f"^{i}": {}}}} for i in range(9)]
MANY_CONTAINS = [{"if": {"minItems": i + 1}, "then": {"contains": {"const": i}}} for i in range(9)]
TREE = '{"type": "array", "items": {"$ref": "#"}, "maxItems": 1}'

# What the corpus does not report: texts by notation, with options that make limits small.
TEXTS: list[tuple[str, CompileOptions, list[str]]] = [
    (
        "regex",
        CompileOptions(),
        [
            *(f"\\{letter}" for letter in "cehikmoquzEGKMQRX"),
            *("[\\8]", "[\\400]", "\\400", "\\p{greek}", "\\p{foo}", "\\ud83d\\ude00", "(?", "(?i", "(?a-u:a)"),
            *("(?-)", "(?-i)", "(?-:a)", "(?i-i:a)", "(?au)", "(?zi:a)", "(?i)[\\w]\\w", "[\\D]\\D", "(?<a>b)"),
            *("\\N{nothing}", "[a-z--[b]]", "^{2}", "[a&&b]", "(?L)a", "a{3,2}", "(?@a)", "(?P<1>a)", "(?P<a", "a(?i)"),
        ],
    ),
    (
        "regex",
        ECMA,
        [
            *(f"\\{letter}" for letter in "aAzZUN"),
            *("[\\B]", "[\\1]", "(?#a)", "(?P<a>b)", "(?zi:a)", "(?i)a", "(?-:a)", "(?ii:a)", "a{,3}", "\\-", "a]"),
            *("[\\w-.]", "(?<a>b)|(?<a>c)", "\\p{greek}"),
        ],
    ),
    ("regex", CompileOptions(limits=SMALL), ["((((a))))", "(a{4}){5}", "(?>a*[ab])"]),
    ("regex", CompileOptions(limits=Limits(source_length=4)), ["abcde"]),
    ("regex", CompileOptions(limits=Limits(instructions=9)), ["a{1000}"]),
    ("regex", CompileOptions(limits=Limits(threads=1)), ["(a|b)*c"]),
    (
        "gbnf",
        CompileOptions(),
        [
            *("", 'a ::= "b"', 'Root ::= "a"', "::= x", "root = x", "root ::= %", 'root ::= "a")', "root ::= *"),
            *('root ::= (other ::= "a"', 'root ::= "a" other ::= "b"', "root ::= [b", 'root ::= "b', 'root ::= ("b"'),
            *('root ::= "a\nb', "root ::= [a\nb] )", 'root ::= "a\nb" )', 'root ::= "a\nb"', "root ::= [] [^]"),
            *("root ::= [z-a]", r'root ::= "\ud800" "\q" "\%" "\x4" "\U00110000"', 'root ::= "a"{', "root ::= !x"),
            *('root ::= "a"{3,2}', "root ::= <[x]>", "root ::= <[99999999999]>", "root ::= <think", "root ::= root"),
            *('root ::= nubmer moth\nnumber ::= "1"', 'root ::= a_b\na_b ::= "x"', 'root ::= "x"\nroot ::= "y"'),
            *('root ::= a\na_b ::= "x"\na ::= "y"', "root ::= a\na ::= [b-a]", 'root ::= root "a" | "b"'),
            *('root ::= ws root "a" | "b"\nws ::= " "*', 'root ::= ("a" |)*', 'root ::= "a"\n  | "b"', 'root ::= ""*'),
            *(
                'root ::= "a"{5000}',
                'root ::= "a"{1,5000}',
                'root ::= ("a"{,50}){50}',
                'root ::= a_b\na_b ::= "x"\na_c ::= "y"',
                'root ::= "a"{,5}',
            ),
        ],
    ),
    ("gbnf", CompileOptions(limits=SMALL), ['root ::= (((("a"))))', 'root ::= ("a"{4}){5}']),
    (
        "json_schema",
        CompileOptions(),
        [
            *(
                "",
                "{",
                "[1 2]",
                '{"a" 1}',
                "{1}",
                '"a',
                '"\n"',
                r'"\q"',
                "{} 1",
                "[NaN]",
                "1",
                '{"type": "text"}',
                LATER,
            ),
            *('{"type": "string", "type": "null"}', '{"maximum": 1e99999}', '{"$recursiveRef": "#"}', '{"$ref": "#"}'),
            *('{"pattern": "("}', '{"$schema": "mine"}', '{"format": "mine"}', '{"type": "string", "maxLenght": 1}'),
            *('{"type": "string", "qqq": 1}', '{"propertys": 1}', '{"a": 1}', '{"a": {"type": "null"}}', "false"),
            *('{"type": "string", "propertys": 1}', '{"a": {"b": {"type": "null"}}}', '{"$ref": "https://a.b/c"}'),
            *('{"$ref": "#/$defs/a"}', '{"items": {"not": {"uniqueItems": true}}}'),
            '{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "maxLength": 1}',
            *(json.dumps({keyword: 0.5}) for keyword in ("$ref", "$dynamicRef", "$recursiveRef", "type", "enum")),
            *(json.dumps({keyword: 0.5}) for keyword in ("multipleOf", "minLength", "pattern", "format", "allOf")),
            *(json.dumps({keyword: 0.5}) for keyword in ("uniqueItems", "properties", "required", "dependentRequired")),
            *('{"multipleOf": 0}', '{"maximum": "1"}', '{"properties": {"a": {"required": true}}}'),
            '{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": 1}',
            json.dumps({"type": "string", "pattern": LOOK_BEHIND}),
            json.dumps({"allOf": MANY_CONDITIONS, "unevaluatedProperties": False}),
            json.dumps({"allOf": MANY_CONTAINS, "unevaluatedItems": False}),
        ],
    ),
    ("json_schema", CompileOptions(limits=SMALL), ["[[[[1]]]]"]),
    ("json_schema", CompileOptions(limits=Limits(source_length=20)), ['{"title": "a schema that is too long"}']),
    ("json_schema", CompileOptions(limits=Limits(search=1)), ['{"type": "object", "minProperties": 3}']),
]
# Reported if a search leaves the last bound, for which no text is known, or by a worker process.
OF_NO_TEXT = frozenset({"limit-exceeded.anywhere", "limit-exceeded.values", "limit-exceeded.other"})
CONVERSIONS: list[tuple[Callable[..., object], str, str, CompileOptions]] = [
    (to_regex, "json_schema", '{"type": "object", "properties": {"a": {"type": "null"}}}', CompileOptions()),
    (to_regex, "gbnf", "root ::= <[1]>", CompileOptions()),
    (to_gbnf, "json_schema", '{"type": "object"}', CompileOptions(limits=Limits(threads=9))),
    (to_regex, "json_schema", TREE, CompileOptions()),
    (to_gbnf, "json_schema", '{"type": "array", "uniqueItems": true}', CompileOptions()),
]


def compiled(notation: str, text: str, options: CompileOptions) -> tuple[Diagnostic, ...]:
    try:
        return compile_grammar(notation, text, options).diagnostics
    except GrammarError as error:
        return error.diagnostics


@pytest.fixture(scope="module")
def reported() -> frozenset[Diagnostic]:
    found: list[Diagnostic] = []
    for case in cases():
        found += compiled(case.notation, case.source, case.compile_options)
    for notation, options, texts in TEXTS:
        for text in texts:
            found += compiled(notation, text, options)
    for convert, notation, text, options in CONVERSIONS:
        with pytest.raises(GrammarError) as caught:
            convert(compile_grammar(notation, text, options))
        found += caught.value.diagnostics
    return frozenset(found)


def is_written_by(key: str, found: Diagnostic) -> bool:
    texts = diagnostic_texts(key)
    return texts.code == found.code and all(
        re.fullmatch(_pattern(template), text, re.DOTALL)
        for template, text in ((texts.message, found.message), (texts.hint, found.hint))
    )


def _pattern(template: str) -> str:
    return "".join(re.escape(text) + (".*" if field else "") for text, field, _, _ in Formatter().parse(template))


def test_each_diagnostic_and_each_variant_is_reported_for_an_input(reported):
    missing = {key for key in diagnostic_keys() if not any(is_written_by(key, found) for found in reported)}
    assert missing == OF_NO_TEXT


def test_a_message_is_one_sentence_without_a_period(reported):
    for found in reported:
        for text in (found.message, found.hint):
            assert text == text.strip()
            assert not text.endswith(".")
        assert found.message


def test_user_text_with_braces_is_a_value_and_no_template():
    found = diagnostic("regex-bad-group-name", Span(0, 1), name="{0} {name.x} {{")
    assert "`{0} {name.x} {{`" in found.message


def test_unknown_codes_variants_and_fields_are_errors():
    with pytest.raises(CatalogueError, match=r"'regex-bad-group-nam'.*regex-bad-group-name"):
        diagnostic("regex-bad-group-nam", Span(0, 1), name="x")
    with pytest.raises(CatalogueError, match=r"gbnf-bad-token\.unclosed"):
        diagnostic("gbnf-bad-token.unclose", Span(0, 1))
    with pytest.raises(CatalogueError, match="No text"):
        diagnostic("gbnf-bad-token", Span(0, 1))
    with pytest.raises(CatalogueError, match="has the fields name; given: nam"):
        diagnostic("regex-bad-group-name", Span(0, 1), nam="x")


def test_a_variant_has_the_parts_of_its_code():
    texts = diagnostic_texts("gbnf-compat-name.several")
    assert (texts.code, texts.severity) == ("gbnf-compat-name", Severity.HINT)
    assert texts.hint == diagnostic_texts("gbnf-compat-name").hint
    assert texts.fields == {"name", "instead", "others"}
    found = diagnostic("schema-not-enforced.draft-3", Span(0, 1), Severity.WARNING, where="/a")
    assert (found.code, found.severity) == ("schema-not-enforced", Severity.WARNING)


def test_a_compile_without_findings_reads_no_text():
    program = (
        "import sys; from engine.compile import compile_grammar;"
        """compile_grammar("json_schema", '{"type": "object"}'); compile_grammar("gbnf", 'root ::= "a"');"""
        "sys.exit('tomllib' in sys.modules)"
    )
    with start_python(["-c", program]) as process:
        assert process.wait() == 0
