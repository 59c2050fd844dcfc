"""Delta debugging of requests, schemas and grammars."""

import json
import random

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.reduce.minimise import minimise
from engine.diagnosis.reduce.reduction import reduce_text
from engine.source import CancelledError, CancelToken, EngineError

REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in {
            "search": {"q": {"type": "string"}, "n": {"type": "integer", "maximum": 10}},
            "order": {"id": {"type": "string", "pattern": "^[A-Z]{2}-\\d{4}$"}, "note": {"type": "string"}},
            "send": {"to": {"type": "string", "format": "email"}},
        }.items()
    ],
}
GRAMMAR = r"""# a comment
root ::= item ("," ws item)*
item ::= name "=" num
name ::= [a-z]+ | "_" [a-z0-9]{0,40}
num ::= digits ("." digits)?
digits ::= [0-9]{1,3000}
ws ::= [ \t]*
unused ::= "x"
"""


def subschemas(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from subschemas(inner)


def has(text, test):
    return any(isinstance(part, dict) and test(part) for part in subschemas(json.loads(text)))


@pytest.mark.parametrize("seed", range(40))
def test_a_minimised_list_fails_and_needs_each_of_its_items(seed):
    draw = random.Random(seed)
    items = list(range(draw.randrange(1, 60)))
    wanted = [set(draw.sample(items, draw.randrange(1, 1 + min(4, len(items))))) for _ in range(draw.randrange(1, 4))]
    found = minimise(items, lambda part: any(each <= set(part) for each in wanted))
    assert found == sorted(found)
    assert any(each <= set(found) for each in wanted)
    for item in found:
        assert not any(each <= set(found) - {item} for each in wanted)


def test_a_list_that_is_not_needed_at_all_becomes_empty():
    assert minimise([1, 2, 3], lambda _: True) == []


def test_the_guilty_tool_and_keyword_of_a_request_are_named():
    def fails(text):
        tools = json.loads(text).get("tools", [])
        return any(
            has(json.dumps(tool["function"]["parameters"]), lambda part: "\\d" in str(part.get("pattern", "")))
            for tool in tools
            if "parameters" in tool.get("function", {})
        )

    found = reduce_text(json.dumps(REQUEST), "json_schema", fails)
    assert (found.pointer, found.tool) == ("/tools/1/function/parameters/properties/id/pattern", "order")
    assert json.loads(found.text) == {"tools": [{"function": {"parameters": {"pattern": "\\d"}}}]}
    assert fails(found.text)


def test_two_keywords_that_fail_together_are_named_by_the_schema_that_has_them():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 3},
            "b": {"type": "string", "pattern": "^a", "maxLength": 5},
        },
    }
    found = reduce_text(
        json.dumps(schema), "json_schema", lambda text: has(text, lambda part: {"pattern", "maxLength"} <= part.keys())
    )
    assert found.pointer == "/properties/b"
    assert json.loads(found.text).keys() == {"pattern", "maxLength"}


def test_the_spelling_of_scalars_stays():
    text = '{"minimum": 1.50e2, "title": "t", "maximum": 9}'
    found = reduce_text(text, "json_schema", lambda each: "1.50e2" in each)
    assert json.loads(found.text, parse_float=str) == {"minimum": "1.50e2"}
    assert (found.pointer, found.tool) == ("/minimum", "")


def test_a_property_that_is_called_like_a_scaffolding_member_can_be_guilty():
    schema = {"type": "object", "properties": {"name": {"minLength": 1}, "size": {"minLength": 2}}}
    found = reduce_text(
        json.dumps(schema),
        "json_schema",
        lambda text: {"name", "size"} <= json.loads(text).get("properties", {}).keys(),
    )
    assert found.pointer == "/properties"


def test_the_guilty_rule_of_a_grammar_is_named_and_the_result_compiles():
    def fails(text):
        return not compile_grammar("gbnf", text).fullmatch("a=1") and "3000" in text

    def is_long(text):
        grammar = compile_grammar("gbnf", text)
        return any("3000" in line and "digits" in line for line in text.splitlines()) and not grammar.is_empty

    found = reduce_text(GRAMMAR, "gbnf", is_long)
    assert (found.rule, found.pointer) == ("digits", None)
    assert len(found.text) < 45
    assert is_long(found.text)
    assert fails(found.text)


def test_a_reference_is_followed_to_the_guilty_rule():
    def fails(text):
        return compile_grammar("gbnf", text).fullmatch("7" * 2500)

    found = reduce_text(GRAMMAR.replace('name "=" num', "num"), "gbnf", fails)
    assert found.rule == "digits"
    assert compile_grammar("gbnf", found.text).fullmatch("7" * 2500)
    assert "ws" not in found.text
    assert "#" not in found.text


def test_a_regex_is_reduced_to_what_is_guilty():
    found = reduce_text(r"(ab|cd)+(?=x)[xyz]{2,4}(?:foo)?", "regex", lambda text: "(?=" in text)
    assert (found.rule, found.pointer) == (None, None)
    assert found.text in ("(?=x)", "(?=)")


@pytest.mark.parametrize(
    ("notation", "text"),
    [("gbnf", 'root ::= "a" ("b"'), ("regex", "a(b[c"), ("gbnf", 'root ::= "a" |\n\n  | moth')],
)
def test_a_text_with_an_error_is_reduced_too(notation, text):
    found = reduce_text(text, notation, lambda each: "a" in each)
    assert "a" in found.text
    assert len(found.text) <= len(text)


def test_candidates_compile_if_the_original_does():
    seen = []
    reduce_text(GRAMMAR, "gbnf", lambda text: seen.append(text) or True)
    for text in seen:
        compile_grammar("gbnf", text)


def test_a_check_that_does_not_fail_on_the_original_is_an_error():
    with pytest.raises(EngineError) as error:
        reduce_text("a", "regex", lambda _: False)
    assert error.value.key == "errors.diagnosis.check_does_not_fail"


def test_the_number_of_checks_is_limited_and_the_reduction_can_be_cancelled():
    found = reduce_text(json.dumps(REQUEST), "json_schema", lambda text: "pattern" in text, most_checks=5)
    assert found.checks == 5
    assert "pattern" in found.text
    cancel = CancelToken()

    def fails(_):
        cancel.cancel()
        return True

    with pytest.raises(CancelledError):
        reduce_text(json.dumps(REQUEST), "json_schema", fails, cancel=cancel)
