"""`Explanation.sentence`: full sentences in plain English, for every kind of verdict."""

from __future__ import annotations

import pytest

from engine import Matcher, Vocabulary, compile_grammar
from engine.decoding.constraints.constraint import GrammarConstraint, Unconstrained
from engine.matching import Reason
from engine.matching.explanation_text import explain

VOCABULARY = Vocabulary([b"20", b"2", b"-", b"x", None, None, b"24"], eos_ids=[4], special={4: "<end>", 5: "<think>"})
GRAMMAR = compile_grammar("regex", "20[0-9]-")


def matcher(*taken: int) -> Matcher:
    found = Matcher(GRAMMAR, VOCABULARY)
    assert all(found.accept(token_id) for token_id in taken)
    return found


@pytest.mark.parametrize(
    ("taken", "token", "reason", "beginning"),
    [
        ((), 0, Reason.ALLOWED, "`20` is allowed here. The match is at line 1, column 3"),
        ((), 3, Reason.DEAD_BYTE, "`x` is not allowed here: it begins with `x`. Expected here: `2`."),
        ((), 6, Reason.DEAD_BYTE, "`24` is not allowed here: `2` fits, but not `4` after it. Expected there: `0`."),
        ((), b"21", Reason.DEAD_BYTE, "`21` is not allowed here: `2` fits, but not `1` after it."),
        ((), 4, Reason.NOT_ACCEPTING, "The text cannot end here. Expected here: `2`."),
        ((), 5, Reason.SPECIAL, "`<think>` is a special token: it has no text, so the grammar never allows it."),
        ((), 99, Reason.UNKNOWN_ID, "Token #99 is not in the vocabulary."),
        ((), b"", Reason.NO_BYTES, "This token has no text, so the grammar never allows it."),
        ((0, 1, 2, 4), 0, Reason.FINISHED, "The generation is over: nothing may follow."),
    ],
)
def test_every_kind_of_verdict_has_its_sentence(taken, token, reason, beginning):
    found = matcher(*taken).explain(token)
    assert found.reason is reason
    assert found.sentence.startswith(beginning)
    assert found.sentence.endswith(".")


def test_it_is_the_one_that_is_shown_everywhere():
    found = matcher().explain(3)
    assert found.sentence == explain(found, GRAMMAR.source, VOCABULARY, token_id=3)


def test_without_a_grammar_there_is_a_sentence_too():
    free = Unconstrained(VOCABULARY)
    assert free.explain(0).sentence == "`20` is allowed here. The text may end after it."
    assert free.explain(99).sentence == "Token #99 is not in the vocabulary."
    forced = GrammarConstraint(GRAMMAR, VOCABULARY)
    assert forced.force(3)
    assert forced.explain(0).sentence == "`20` is allowed here."


def test_two_explanations_are_equal_by_their_data():
    assert matcher().explain(3) == matcher().explain(3)
    assert matcher().explain(3) != matcher().explain(0)
