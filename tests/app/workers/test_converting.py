"""Other notations, without any process."""

from __future__ import annotations

import pytest
from catalogue_texts import shows

from app.catalogue import ui_text
from app.workers.judge import StringTestHandler
from app.workers.requests.compile import CompileRequest
from app.workers.requests.judge import ConvertRequest, GenerateRequest, ReadRequest
from engine.compile import CompileOptions, compile_grammar
from engine.export import NumberSpelling, to_gbnf
from engine.source import CancelledError, CancelToken
from engine.source.catalogue import capitalised

SCHEMA = '{"type": "object", "properties": {"age": {"type": "integer"}}, "additionalProperties": false}'
NESTED = 'root ::= "(" root ")" | "x"'


@pytest.fixture
def handler() -> StringTestHandler:
    return StringTestHandler()


def ask(handler, request, cancel=None):
    return handler.handle(request, cancel or CancelToken(), lambda _value: None)


def compiled(notation, text):
    return CompileRequest(3, notation, text, CompileOptions())


@pytest.mark.parametrize("spelling", ["plain", "any"])
def test_a_schema_as_gbnf_with_its_links(handler, spelling):
    answer = ask(handler, GenerateRequest(compiled("json_schema", SCHEMA), spelling))
    assert (answer.revision, answer.spelling, answer.error) == (3, spelling, "")
    assert bool(answer.notes) == (spelling == "plain")
    linked = {rule.name: [SCHEMA[place.start : place.end] for place in rule.source_spans] for rule in answer.rules}
    assert linked["integer"] == ['"age": {"type": "integer"}']
    texts = [answer.text[rule.span.start : rule.span.end] for rule in answer.rules]
    assert all(text.startswith(f"{rule.name} ::= ") for text, rule in zip(texts, answer.rules, strict=True))


def test_why_there_is_no_gbnf(handler):
    answer = ask(handler, GenerateRequest(compiled("json_schema", '{"uniqueItems": true}')))
    assert answer.text == ""
    assert shows(answer.error, "diagnostics.export-not-context-free.message", where="/uniqueItems")
    assert answer.error_span is not None
    assert '{"uniqueItems": true}'[answer.error_span.start : answer.error_span.end] == "true"
    assert (
        ask(handler, GenerateRequest(compiled("gbnf", NESTED))).error
        == capitalised(ui_text("errors.export.conversion.already_gbnf")) + "."
    )


def test_what_is_too_long_to_be_read_is_not_sent(handler, monkeypatch):
    monkeypatch.setattr("app.workers.judge.LONGEST", 20)
    answer = ask(handler, GenerateRequest(compiled("json_schema", SCHEMA)))
    whole = to_gbnf(compile_grammar("json_schema", SCHEMA), NumberSpelling.PLAIN).text
    assert (answer.text, answer.error) == ("", ui_text("workers.convert.too_long", count=len(whole)))


def test_a_conversion_is_checked(handler):
    answer = ask(handler, ConvertRequest(compiled("regex", "[a-z]+|x{3}"), "gbnf", number=7))
    assert (answer.number, answer.error, answer.losses) == (7, "", ())
    assert shows(answer.checked, "export.checked.walks")
    assert compile_grammar("gbnf", answer.text).fullmatch("xxx")


def test_recursion_asks_for_a_depth(handler):
    answer = ask(handler, ConvertRequest(compiled("gbnf", NESTED), "regex"))
    assert answer.text == ""
    assert answer.error.endswith(ui_text("workers.convert.cut", reason="refers to itself"))
    cut = ask(handler, ConvertRequest(compiled("gbnf", NESTED), "regex", depth=2))
    assert (bool(cut.text), cut.error) == (True, "")


def test_a_broken_grammar_is_not_converted(handler):
    answer = ask(handler, ConvertRequest(compiled("regex", "(a"), "gbnf"))
    assert answer.error.startswith(ui_text("workers.convert.error", reason=""))


def test_findings_of_another_reading(handler):
    assert ask(handler, ReadRequest(compiled("gbnf", "a+b"), 5)).diagnostics[0].severity == "error"
    assert ask(handler, ReadRequest(compiled("regex", "a+b"))).diagnostics == ()


def test_all_of_it_can_be_cancelled(handler):
    cancel = CancelToken()
    cancel.cancel()
    source = compiled("regex", "a{3}")
    for request in (GenerateRequest(source), ConvertRequest(source, "gbnf"), ReadRequest(source)):
        with pytest.raises(CancelledError):
            ask(handler, request, cancel)
