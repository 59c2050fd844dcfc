"""The notice about parts of the output that the tokenizer would write in other tokens."""

from __future__ import annotations

import pytest
from random_model import RandomModel

from app.workers.decode import DecodeHandler
from app.workers.requests.decode import Back, OpenModel, Respelling, Respellings, SetGrammar, Take
from engine.grammar.options import CompileOptions
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

A, B, AB, END = range(4)
VOCABULARY = Vocabulary([b"a", b"b", b"ab", b"</s>"], eos_ids=[END])


class Joining(RandomModel):
    """Writes `ab` as one token."""

    def encode(self, text):
        found = []
        while text:
            token = AB if text.startswith("ab") else A if text[0] == "a" else B
            found.append(token)
            text = text[len(self.vocabulary.tokens[token]) :]
        return found or [A]


def respelled(handler):
    found = [one for one in handler.notices(CancelToken()) if isinstance(one, Respellings)]
    return [one.parts for one in found]


@pytest.fixture
def ask():
    handler = DecodeHandler(lambda _spec, _cancel: Joining(VOCABULARY))

    def ask(request):
        return handler.handle(request, CancelToken(), lambda _message: None)

    ask.handler = handler
    ask(OpenModel("any"))
    ask(SetGrammar(1, "regex", "(a|b)*", CompileOptions()))
    return ask


def test_a_step_is_told_with_the_probability_of_what_the_tokenizer_writes(ask):
    ask(Take(A))
    assert respelled(ask.handler) == []
    view = ask(Take(B))
    ((part,),) = respelled(ask.handler)
    p = {one.token_id: one.p for one in view.trace.nodes[0].step.top}[AB]
    assert part == Respelling(0, 2, (b"ab",), pytest.approx(p, rel=1e-6), is_exact=True)
    ask(Back())
    assert respelled(ask.handler) == [()]
    ask(Take(A))
    assert respelled(ask.handler) == []
