"""The positions that views carry, over random walks through grammars."""

from __future__ import annotations

import random

import pytest
from model_doubles import decode_handler

from app.workers.grammar_position import PositionReader
from app.workers.requests.decode import Back, DecodeView, GoTo, OpenModel, Restart, SetGrammar, Take
from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.source import CancelToken

GRAMMARS = [
    ("gbnf", 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "ab" | "(" expr ")" | [0-9]+'),
    ("gbnf", 'root ::= root "a" | "b" root | "ab"'),
    ("json_schema", '{"properties": {"a": {"items": {"type": ["integer", "boolean"]}}}}'),
    ("regex", "(?:[a-c]+@|\\d{2,4}-)+"),
]


@pytest.mark.parametrize(("notation", "text"), GRAMMARS)
@pytest.mark.parametrize("draws_part", [False, True])
def test_each_view_of_a_walk_has_the_position_of_a_replay_from_the_start(
    notation: str, text: str, draws_part: bool
) -> None:
    handler, chance, draws_rules = decode_handler(), random.Random(11), notation != "regex"

    def ask(request: OpenModel | SetGrammar | Take | Back | GoTo | Restart) -> DecodeView:
        answer = handler.handle(request, CancelToken(), lambda _value: None)
        assert isinstance(answer, DecodeView)
        assert not answer.error
        return answer

    ask(OpenModel("letters"))
    view = ask(SetGrammar(1, notation, text, CompileOptions(), draws_rules=draws_rules, draws_part=draws_part))
    for _ in range(40):
        assert view.position is not None
        assert view.grammar_prefix is not None
        replayed = PositionReader(compile_grammar(notation, text))
        if draws_rules:
            replayed.read_rules(CancelToken())
        expected = replayed.position(view.grammar_prefix, CancelToken(), draws_part=draws_part)
        assert view.grammar_position == expected
        moves: list[Take | Back | GoTo | Restart] = [Restart()]
        if view.trace.path:
            moves += [Back(), GoTo(chance.choice(view.trace.nodes).id)]
        allowed = [one.token_id for one in view.position.candidates if one.allowed]
        is_forward = allowed and view.position.finish is None and chance.random() < 0.8
        view = ask(Take(chance.choice(allowed)) if is_forward else chance.choice(moves))
