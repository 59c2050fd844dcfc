"""Verdicts on texts with something wrong, against the matcher asked the slow way."""

import random

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.test_strings.suggestions import random_texts
from engine.diagnosis.verdicts.replay import TokenSource, replay_text
from engine.diagnosis.verdicts.verdict import ReplayedTokenState, VerdictOutcome
from engine.matching import Matcher
from engine.vocabulary import Vocabulary

GRAMMARS = [
    ("regex", "[a-c]{2,4}(-[0-9]+)*|é+"),
    ("regex", "(?=.*b)[abc]{3,6}"),
    ("gbnf", 'root ::= "[" ws item ("," ws item)* "]"\nws ::= [ \\n]*\nitem ::= [a-z]+ | "\\"" [^"]* "\\"" | root'),
    ("gbnf", 'root ::= root "+" root | [0-9]+ | "(" root ")"'),
    ("json_schema", '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "é"]}}}'),
    ("json_schema", '{"type": "array", "items": {"type": "string", "pattern": "^a"}, "minItems": 1}'),
]
PIECES = [b"ab", b'"a', b'":', b", ", b"[]", b"12", b'{"a"', "é".encode()]
VOCABULARY = Vocabulary([*(bytes((byte,)) for byte in range(256)), *PIECES], [])


def broken(text, draw):
    """A text with up to two things changed."""
    data = bytearray(text.encode())
    for _ in range(draw.randint(0, 2)):
        at = draw.randint(0, len(data))
        kind = draw.choice(("cut", "insert", "replace", "drop"))
        if kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = draw.choice((b" ", b'"', b"}", b"x", b"0", b"\n\n", b"\xc3"))
        elif data and at < len(data):
            data[at : at + 1] = draw.choice((b"", b"z")) if kind == "replace" else b""
    return bytes(data)


@pytest.mark.parametrize(("notation", "source"), GRAMMARS)
def test_verdicts_say_what_the_matcher_says(notation, source):
    grammar = compile_grammar(notation, source)
    draw = random.Random(source)
    seeds = [one.text for seed in range(4) for one in random_texts(grammar, 5, seed)]
    for _ in range(60):
        text = broken(draw.choice(seeds), draw)
        whose = TokenSource(VOCABULARY) if draw.random() < 0.5 else None
        found = replay_text(grammar, text, whose, advise=False)
        legal = max(k for k in range(len(text) + 1) if Matcher(grammar, VOCABULARY).accept_bytes(text[:k]))
        assert found.is_complete is grammar.fullmatch(text)
        assert found.is_prefix is (legal == len(text))
        assert (found.outcome is VerdictOutcome.COMPLETE) is found.is_complete
        if found.outcome is VerdictOutcome.TEXT_BEFORE:
            assert legal < found.skipped[0]
            assert grammar.automaton.run(grammar.automaton.start, text[found.skipped[0] : found.legal])
            continue
        assert found.legal == legal
        assert (found.failure is None) is found.is_prefix
        if found.ending is not None and found.ending.in_bytes.text is not None:
            assert grammar.fullmatch(text[:legal] + found.ending.in_bytes.text)
        if found.failure is not None:
            allowed = {byte for first, last in found.failure.expected for byte in range(first, last + 1)}
            at = grammar.automaton.run(grammar.automaton.start, text[:legal])
            assert allowed == {byte for byte in range(256) if grammar.automaton.run(at, bytes((byte,)))}
        assert b"".join(token.data for token in found.tokens) == (text if whose else b"")
        matcher = Matcher(grammar, VOCABULARY)
        taken = next((i for i, token in enumerate(found.tokens) if not matcher.accept(token.token_id)), None)
        states = [token.state for token in found.tokens]
        assert (states.index(ReplayedTokenState.ILLEGAL) if ReplayedTokenState.ILLEGAL in states else None) == taken
