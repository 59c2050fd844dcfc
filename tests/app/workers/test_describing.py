"""The compile worker says a grammar in words, and formats a text."""

from __future__ import annotations

import pytest

from app.workers.compile import CompileHandler
from app.workers.requests.compile import CompileRequest, DescribeRequest, FormatRequest
from engine.grammar.options import CompileOptions
from engine.source import CancelledError, CancelToken


def ask(request: object) -> object:
    return CompileHandler().handle(request, CancelToken(), lambda _news: None)


def test_a_text_in_words() -> None:
    compiled = CompileRequest(3, "regex", "(?<n>a)", CompileOptions(dialect="ecma"))
    answer = ask(DescribeRequest(compiled))
    assert answer.revision == 3
    assert [phrase.text for phrase in answer.description.phrases] == ["Group `n`: the text `a`"]


def test_it_can_be_cancelled() -> None:
    text = "root ::= " + " | ".join('("a" "b")' for _ in range(3_000))
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        CompileHandler().handle(
            DescribeRequest(CompileRequest(1, "gbnf", text, CompileOptions())), cancel, lambda _news: None
        )


def test_a_text_formatted() -> None:
    answer = ask(FormatRequest("gbnf", 'root::="a"', "python"))
    assert answer.after == 'root ::= "a"'
    assert len(answer.change.edits) == 1


def test_what_cannot_be_formatted() -> None:
    answer = ask(FormatRequest("regex", "a b", "ecma"))
    assert answer.after == "a b"
    assert "ECMAScript" in answer.change.refusal
