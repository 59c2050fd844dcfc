"""The positions that views carry, over random walks through grammars."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from model_doubles import EOS, LETTERS, decode_handler

from app.workers.compile import CompileHandler
from app.workers.grammar_position import PositionReader
from app.workers.requests.compile import CompileAnswer, CompileRequest
from app.workers.requests.decode import Back, DecodeView, GoTo, OpenModel, Restart, SetGrammar, Take
from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.matching import Matcher
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

VOCABULARY = Vocabulary(LETTERS, [EOS], {EOS: "<end>"})
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
    handler, chance = decode_handler(), random.Random(11)
    compiled = CompileHandler().handle(
        CompileRequest(1, notation, text, CompileOptions()), CancelToken(), lambda _value: None
    )
    assert isinstance(compiled, CompileAnswer)
    draws_rules = compiled.rules is not None
    assert bool(compiled.rule_automata) == draws_rules

    def ask(request: OpenModel | SetGrammar | Take | Back | GoTo | Restart) -> DecodeView:
        answer = handler.handle(request, CancelToken(), lambda _value: None)
        assert isinstance(answer, DecodeView)
        assert not answer.error
        return answer

    ask(OpenModel("letters"))
    view = ask(SetGrammar(1, notation, text, CompileOptions(), compiled.rule_automata, draws_part))
    for _ in range(40):
        assert view.position is not None
        assert view.grammar_prefix is not None
        replayed = PositionReader(compile_grammar(notation, text))
        if draws_rules:
            replayed.rule_charts(CancelToken())
        expected = replayed.position(view.grammar_prefix, CancelToken(), draws_part=draws_part)
        assert view.grammar_position == expected
        matcher = Matcher(replayed.grammar, VOCABULARY)
        taken = {node.id: node.step.token_id for node in view.trace.nodes}
        assert all(matcher.accept(taken[node_id]) for node_id in view.trace.path[: view.position.index])
        allowed_ids = (one for one in range(VOCABULARY.size) if matcher.is_allowed(one))
        first = Counter(token[0] for one in allowed_ids if (token := VOCABULARY.tokens[one]) and one != EOS)
        assert view.position.first_bytes is not None
        assert {byte: count for byte, count in enumerate(view.position.first_bytes.counts) if count} == first
        moves: list[Take | Back | GoTo | Restart] = [Restart()]
        if view.trace.path:
            moves += [Back(), GoTo(chance.choice(view.trace.nodes).id)]
        allowed = [one.token_id for one in view.position.candidates if one.allowed]
        is_forward = allowed and view.position.finish is None and chance.random() < 0.8
        view = ask(Take(chance.choice(allowed)) if is_forward else chance.choice(moves))
