"""A grammar in another notation: it has the same language, and what is lost is told."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from error_keys import raises_code
from lockstep import difference, excess, texts
from schemas import PERSON, SCHEMAS

from engine.compile import CompileOptions, compile_grammar
from engine.export import NumberSpelling
from engine.export.conversion_preview import ConvertOptions, convert
from engine.export.text.conversion import NotConvertibleError
from engine.source import CancelledError, CancelToken, GrammarError
from engine.source.catalogue import catalogue_text

PATTERNS = [
    (r"[A-Z]+: [a-z]+\n", "python"),
    (r"(?i:(?P<hour>[01]\d|2[0-3]):[0-5]\d) ?([ap]m)?", "python"),
    (r"(?=.*b)[ab]{2,6}", "python"),
    (r"\bfoo\b|é€😀|\"\\/", "python"),
    (r"[^]\u{1F600}?\/[\w-]{0,3}", "ecma"),
    ("", "python"),
]
RULES = [
    'root ::= pair ("," pair)*\npair ::= [a-z]{1,3} "=" ("\\"" [^"\\n]* "\\"" | [0-9]+)\n',
    'root ::= "a" root | "b" # a loop\n',
    'root ::= [\\x00-\\x1F"\\\\] | "€😀"{2}\n',
]
NESTED = 'root ::= "(" root ")" | "x"\n'


@pytest.mark.parametrize(("pattern", "dialect"), PATTERNS)
@pytest.mark.parametrize("notation", ["gbnf", "json_schema"])
def test_a_regex_elsewhere(pattern, dialect, notation):
    regex = compile_grammar("regex", pattern, CompileOptions(dialect=dialect))
    found = convert(regex, notation, ConvertOptions())
    assert found.check.steps >= 0
    written = compile_grammar(notation, found.text)
    if notation == "gbnf":
        assert difference(regex, written) == ""
    else:
        assert_strings_of(written, regex)


def test_what_means_the_same_in_both_dialects_stays_as_it_is():
    for pattern in ("[0-9]{4}|x", "(?!no)[a-z]{1,9}", r"(?<year>\d+)"):
        assert pattern_in_schema(pattern, "ecma" if "<year>" in pattern else "python") == f"^(?:{pattern})$"
    for shorthand in (r"\s", r"\d", r"\w", r"\bx"):
        assert pattern_in_schema(shorthand) != rf"^(?:{shorthand})$", "ECMAScript means other characters"
    assert pattern_in_schema("(?i)b") == "^(?:[Bb])$"


def pattern_in_schema(pattern: str, dialect: str = "python") -> str:
    regex = compile_grammar("regex", pattern, CompileOptions(dialect=dialect))
    return json.loads(convert(regex, "json_schema", ConvertOptions()).text)["pattern"]


@pytest.mark.parametrize("source", RULES)
@pytest.mark.parametrize("dialect", ["python", "ecma"])
def test_rules_as_a_regex(source, dialect):
    gbnf = compile_grammar("gbnf", source)
    found = convert(gbnf, "regex", ConvertOptions(dialect=dialect))
    assert difference(gbnf, compile_grammar("regex", found.text, CompileOptions(dialect=dialect))) == ""


@pytest.mark.parametrize("source", RULES)
def test_rules_as_a_schema_of_strings(source):
    gbnf = compile_grammar("gbnf", source)
    found = convert(gbnf, "json_schema", ConvertOptions())
    assert found.losses[0] == catalogue_text("export.note.fragment.quoted")
    assert_strings_of(compile_grammar("json_schema", found.text), gbnf)


@pytest.mark.parametrize("notation", ["gbnf", "regex"])
@pytest.mark.parametrize("name", ["person", "patterns", "numbers"])
def test_a_schema_elsewhere(name, notation):
    schema = compile_grammar("json_schema", json.dumps(SCHEMAS[name]), CompileOptions(whitespace="one-space"))
    exact = convert_or_skip(schema, notation, NumberSpelling.ANY)
    assert difference(schema, compile_grammar(notation, exact.text)) == ""
    assert exact.check.walks > 0
    plain = convert_or_skip(schema, notation, NumberSpelling.PLAIN)
    assert excess(compile_grammar(notation, plain.text), schema) == ""
    assert shows(plain.losses[0], "export.note.fragment.plain")


def convert_or_skip(schema, notation, spelling):
    try:
        return convert(schema, notation, ConvertOptions(spelling))
    except GrammarError as error:
        pytest.skip(error.diagnostics[0].message)


def assert_strings_of(schema, grammar) -> None:
    """A schema's texts are the grammar's, as JSON strings."""
    for text in texts(grammar, count=8):
        assert schema.fullmatch(json.dumps(text.decode(), ensure_ascii=False)), text
        for wrong in (text[:-1], text + b"?"):
            try:
                spelled = json.dumps(wrong.decode(), ensure_ascii=False)
            except UnicodeDecodeError:
                continue
            assert schema.fullmatch(spelled) == grammar.fullmatch(wrong), wrong
    for match in texts(schema, count=8):
        value = json.loads(match)
        if not any(0xD800 <= ord(char) <= 0xDFFF for char in value):
            assert grammar.fullmatch(value), match


def test_recursion_is_refused_or_cut():
    nested = compile_grammar("gbnf", NESTED)
    for notation in ("regex", "json_schema"):
        with raises_code("export-recursive"):
            convert(nested, notation, ConvertOptions())
    cut = convert(nested, "regex", ConvertOptions(depth=2))
    assert [compile_grammar("regex", cut.text).fullmatch(text) for text in ("x", "(x)", "((x))")] == [True, True, False]
    assert catalogue_text("export.note.fragment.cut", depth=2) in cut.losses
    assert excess(compile_grammar("regex", cut.text), nested) == ""


def test_words_that_are_lost_are_told():
    schema = {**PERSON, "title": "A person", "description": "Somebody", "additionalProperties": False}
    found = convert(compile_grammar("json_schema", json.dumps(schema)), "gbnf", ConvertOptions())
    assert found.losses[-1] == catalogue_text("export.note.fragment.keywords_lost", keywords="title, description")
    silent = {"properties": {"title": {"const": {"description": 1}}}, "type": "object", "additionalProperties": False}
    found = convert(compile_grammar("json_schema", json.dumps(silent)), "gbnf", ConvertOptions(NumberSpelling.ANY))
    assert found.losses == ()
    rules = compile_grammar("gbnf", 'root ::= x # a comment\nx ::= "a"')
    assert convert(rules, "regex", ConvertOptions()).losses == (
        catalogue_text("export.note.fragment.comments_lost"),
        catalogue_text("export.note.fragment.rule_names_lost"),
    )
    assert convert(compile_grammar("gbnf", 'root ::= "#"'), "regex", ConvertOptions()).losses == ()
    named = compile_grammar("regex", r"(?P<word>a)(b)(?:<c>)")
    assert convert(named, "gbnf", ConvertOptions()).losses == (catalogue_text("export.note.fragment.group_names_lost"),)
    for pattern in (r"(<a>)(?:<)", r"(?>a|ab)c"):
        assert convert(compile_grammar("regex", pattern), "gbnf", ConvertOptions()).losses == ()


@pytest.mark.parametrize(("notation", "text"), [("regex", "a"), ("gbnf", 'root ::= "a"'), ("json_schema", "{}")])
def test_nothing_is_converted_to_what_it_is(notation, text):
    with pytest.raises(NotConvertibleError, match="already"):
        convert(compile_grammar(notation, text), notation, ConvertOptions())


def test_it_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        convert(compile_grammar("regex", "a{3}"), "gbnf", ConvertOptions(), cancel)
