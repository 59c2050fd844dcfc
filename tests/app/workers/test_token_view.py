"""The decode group says which tokens may come at a state."""

from __future__ import annotations

from model_doubles import EOS, LETTERS, decode_handler

from app.workers.decode import DecodeHandler
from app.workers.requests.decode import OpenModel, SetGrammar, StepOnce, Take, TokensAnswer, TokensRequest
from engine.grammar.options import CompileOptions
from engine.source import CancelToken


def ask(handler: DecodeHandler, request: object) -> TokensAnswer:
    return handler.handle(request, CancelToken(), lambda _value: None)  # type: ignore[no-any-return]


def opened(pattern: str) -> DecodeHandler:
    handler = decode_handler()
    ask(handler, OpenModel("letters"))
    ask(handler, SetGrammar(3, "regex", pattern, CompileOptions()))
    return handler


def test_tokens_are_told_where_the_session_stands_with_the_models_mass() -> None:
    handler = opened("[a-c]+!?")
    ask(handler, Take(LETTERS.index(b"a")))
    answer = ask(handler, TokensRequest(3, None))
    assert answer.total == 6  # a, b, c, ab, ! and the end
    assert {(group.examples[0], group.count) for group in answer.groups} == {(b"a", 4), (b"!", 1)}
    letters = next(group for group in answer.groups if group.count == 4)
    assert letters.mass is not None
    assert abs(letters.mass - 4 / len(LETTERS)) < 1e-6
    assert set(letters.shown) == {"a", "b", "c", "ab"}


def test_tokens_are_told_elsewhere_without_a_mass() -> None:
    answer = ask(opened("x[a-c]"), TokensRequest(3, b"x"))
    assert [group.mass for group in answer.groups] == [None]
    assert answer.groups[0].count == 3


def test_of_another_grammar_nothing_is_told() -> None:
    handler = opened("[a-c]")
    assert ask(handler, TokensRequest(3)).groups
    assert ask(handler, TokensRequest(2)) == TokensAnswer(TokensRequest(2))
    assert ask(handler, TokensRequest(3, b"zz")) == TokensAnswer(TokensRequest(3, b"zz"))


def test_after_the_end_nothing_comes() -> None:
    handler = opened("a")
    ask(handler, StepOnce())
    ask(handler, Take(EOS))
    answer = ask(handler, TokensRequest(3, None))
    assert (answer.total, answer.groups) == (0, ())
