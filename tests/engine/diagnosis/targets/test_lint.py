"""The lint of a target: each finding names the keyword itself, and each rewrite is equivalent and is taken."""

from __future__ import annotations

import json

import pytest

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.intake import read_failure
from engine.diagnosis.targets.lint import UnknownTargetError, lint_grammar, lint_schema, parse_target
from engine.diagnosis.targets.request_lint import counts, lint_text, request_schemas
from engine.diagnosis.targets.rewrites import verified_pattern
from engine.targets import ENGINES, Effect, EvidenceSource


def string(pattern: str) -> str:
    return json.dumps({"type": "string", "pattern": pattern})


def rewritten(text: str, finding) -> str:
    for edit in sorted(finding.rewrite.edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def test_a_finding_has_the_pointer_and_the_span_of_the_keyword_itself():
    text = '{"type": "object", "properties": {"a/b": {"type": "array", "uniqueItems": true}}}'
    found = [one for one in lint_schema(text, "llguidance") if one.keyword == "uniqueItems"]
    assert [(one.effect, one.pointer) for one in found] == [(Effect.REFUSES, "/properties/a~1b/uniqueItems")]
    assert text[found[0].span.start : found[0].span.end] == '"uniqueItems"'
    assert found[0].source is EvidenceSource.RUN
    assert found[0].version == "1.9.1"


@pytest.mark.parametrize(
    ("pattern", "engine", "effect", "expected"),
    [
        (r"^\d{11,}$", "llama.cpp", Effect.DROPS, "^[0-9]{11,}$"),
        (r"^[\w-]+$", "llama.cpp", Effect.DROPS, "^[A-Za-z0-9_-]+$"),
        (r"^a\!$", "llama.cpp", Effect.DROPS, "^a!$"),
        (r"^\bfoo\b$", "xgrammar", Effect.REFUSES, "^foo$"),
        ("[0-9]", "outlines-core", Effect.APPROXIMATES, "^(.|[^.])*[0-9](.|[^.])*$"),
        ("[0-9]", "ollama", Effect.REFUSES, "^(.|[^.])*[0-9](.|[^.])*$"),
        ("^(?=.*[0-9])[a-z0-9]+$", "xgrammar", Effect.DROPS, "^([a-z]*[0-9][0-9a-z]*)$"),
        ("^(?=.*[0-9])[a-z0-9]+$", "llguidance", Effect.REFUSES, "^([a-z]*[0-9][0-9a-z]*)$"),
    ],
)
def test_a_pattern_is_rewritten_to_an_equivalent_one_that_the_engine_takes(pattern, engine, effect, expected):
    text = string(pattern)
    found = lint_schema(text, engine)
    assert [one.effect for one in found] == [effect]
    changed = rewritten(text, found[0])
    assert json.loads(changed)["pattern"] == expected
    assert verified_pattern(pattern, expected)
    assert not [one for one in lint_schema(changed, engine) if one.keyword == "pattern"]


def test_a_pattern_without_an_equivalent_form_has_no_rewrite():
    assert not verified_pattern(r"^\bfoo\b", "^foo")
    assert not verified_pattern("a|b", "^a|b$")
    found = lint_schema(string(r"^(?:\p{L}|\d)+$"), "xgrammar")
    assert [one.rewrite for one in found] == [None]


def test_a_list_in_items_and_all_of_are_rewritten():
    text = '{"type": "array", "items": [{"type": "integer"}], "additionalItems": false}'
    (finding,) = [one for one in lint_schema(text, "xgrammar") if one.keyword == "items"]
    assert finding.effect is Effect.REFUSES
    assert json.loads(rewritten(text, finding)) == {
        "type": "array",
        "prefixItems": [{"type": "integer"}],
        "items": False,
    }
    text = '{"allOf": [{"type": "string", "minLength": 1}, {"maxLength": 3, "minLength": 2}]}'
    (finding,) = [one for one in lint_schema(text, "xgrammar") if one.keyword == "allOf"]
    assert json.loads(rewritten(text, finding)) == {"type": "string", "minLength": 2, "maxLength": 3}
    conflict = '{"allOf": [{"type": "string", "pattern": "a"}, {"pattern": "b"}]}'
    (finding,) = [one for one in lint_schema(conflict, "xgrammar") if one.keyword == "allOf"]
    assert finding.rewrite is None


@pytest.mark.parametrize(
    ("version", "effect"), [("b10034", Effect.REFUSES), ("b11549", Effect.DROPS), ("", Effect.DROPS)]
)
def test_the_version_decides_what_llama_cpp_does(version, effect):
    assert [one.effect for one in lint_schema(string(r"^\d+$"), "llama.cpp", version)] == [effect]
    long = '{"type": "string", "maxLength": 10000}'
    assert [one.keyword for one in lint_schema(long, "llama.cpp", version)] == (
        ["maxLength"] if version == "b10034" else []
    )


def test_vllm_has_the_findings_of_the_backend_that_it_chooses():
    text = '{"type": "array", "uniqueItems": true, "items": {"type": "string"}}'
    (finding,) = lint_schema(text, "vllm")
    assert (finding.engine, finding.version, finding.effect) == ("vllm", "0.33", Effect.REFUSES)
    assert "llguidance" in finding.sentence
    assert [one.effect for one in lint_schema('{"not": {}}', "vllm")] == [Effect.DROPS]


def test_rules_and_expressions_are_linted_too():
    found = lint_grammar("gbnf", 'root ::= root "a" | [0-9]{2001}', "llama.cpp")
    assert [one.effect for one in found] == [Effect.REFUSES, Effect.REFUSES]
    assert lint_grammar("gbnf", r'root ::= "\d"', "llama.cpp")[0].span.start == 10
    assert not lint_grammar("gbnf", 'root ::= root "a" | "b"', "xgrammar")
    (lookahead,) = lint_grammar("regex", "(?=a)[a-z]+", "xgrammar")
    assert rewritten("(?=a)[a-z]+", lookahead) == "(a[a-z]*)"
    (anchor,) = lint_grammar("regex", "^a+$", "outlines-core")
    assert rewritten("^a+$", anchor) == "a+"


@pytest.mark.parametrize(
    ("text", "construct", "engines"),
    [
        (r"\bfoo\b", "word-boundary", {"llguidance", "outlines-core", "sglang", "vllm", "xgrammar"}),
        (r"(\w)\1", "backreference", {"llguidance", "outlines-core", "sglang", "vllm", "xgrammar"}),
        (r"\p{L}+", "unicode-property", {"sglang", "xgrammar"}),
        ("(?i)a", "group-modifier", {"sglang", "xgrammar"}),
        (r"\\b[\b]", "", set()),
        ("^(|a*)", "anchor", {"outlines-core"}),
    ],
)
def test_the_constructs_that_an_engine_refuses_in_an_expression_are_found(text, construct, engines):
    found = {name: lint_grammar("regex", text, name, rewrites=False) for name in ENGINES}
    assert {name for name, findings in found.items() if findings} == engines
    assert {one.construct for findings in found.values() for one in findings} == ({construct} if construct else set())


@pytest.mark.parametrize("dialect", ["python", "ecma"])
def test_an_expression_is_linted_in_its_own_dialect(dialect):
    text, options = r"(?!0)\d", CompileOptions(dialect=dialect)
    (finding,) = lint_grammar("regex", text, "xgrammar", options=options)
    assert (finding.rewrite is not None) or dialect == "python"  # Unicode has too many digits to write them
    if finding.rewrite is not None:
        one, other = (compile_grammar("regex", each, options) for each in (text, rewritten(text, finding)))
        assert [one.fullmatch(digit) for digit in "0١9"] == [other.fullmatch(digit) for digit in "0١9"]


def test_the_construct_of_a_pattern_is_named():
    text = string(r"^(?:a|\d)\b$")
    found = {one.construct for one in lint_schema(text, "xgrammar", rewrites=False)}
    assert found == {"word-boundary"}
    assert {one.construct for one in lint_schema(string("[0-9]"), "ollama", rewrites=False)} == {""}


def test_each_tool_of_a_request_is_linted_with_its_name():
    text = json.dumps(
        {
            "tools": [
                {"type": "function", "function": {"name": "good", "parameters": {"type": "string"}}},
                {"name": "bad", "input_schema": json.loads(string(r"^\d$"))},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"schema": {"type": "string", "maxLength": 2000}},
            },
        }
    )
    parts = lint_text("json_schema", text, "llama.cpp", "b10034")
    assert [(part.tool, [one.pointer for one in part.findings]) for part in parts] == [
        ("good", []),
        ("bad", ["/tools/1/input_schema/pattern"]),
        ("", ["/response_format/json_schema/schema/maxLength"]),
    ]
    assert counts(parts) == {Effect.REFUSES: 2}
    finding = parts[1].findings[0]
    assert text[finding.span.start : finding.span.end] == '"pattern"'
    compile_grammar("json_schema", json.dumps(json.loads(rewritten(text, finding))["tools"][1]["input_schema"]))
    assert not request_schemas("[1]")
    assert not request_schemas('{"type": "object", "properties": {"format": {"type": "object"}}}')
    assert not request_schemas('{"messages": [], "response_format": {"type": "json_object"}}')
    assert not request_schemas('{"type": "object"')


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"extra_body": {"guided_json": {"type": "string"}}}, "/extra_body/guided_json"),
        ({"structured_outputs": {"json": {"type": "string"}}}, "/structured_outputs/json"),
        ([{"name": "t", "inputSchema": {"type": "string"}}], "/0/inputSchema"),
        (
            {"messages": [], "text": {"format": {"type": "json_schema", "schema": {"type": "string"}}}},
            "/text/format/schema",
        ),
    ],
)
def test_the_lint_reads_a_request_as_the_intake_does(body, pointer):
    assert [found[1] for found in request_schemas(json.dumps(body))] == [pointer]
    (constraint,) = read_failure([json.dumps(body)]).constraints
    assert constraint.pointer == pointer


def test_a_target_is_a_name_and_perhaps_a_version():
    assert parse_target("llama.cpp@b10034") == ("llama.cpp", "b10034")
    assert parse_target("vllm") == ("vllm", "")
    with pytest.raises(UnknownTargetError) as error:
        parse_target("frob@1")
    assert error.value.key == "errors.diagnosis.target"


def test_a_text_that_is_no_json_has_no_findings():
    assert lint_schema("{", "xgrammar") == ()
    assert lint_schema("", "xgrammar") == ()
