"""How far the end is, as a person reads it."""

from __future__ import annotations

import pytest

from engine.analysis.token_completion import TokenCompletion
from engine.automata.completion import Completion
from engine.diagnosis.distance import distance_prose
from engine.source.catalogue import catalogue_text


@pytest.mark.parametrize(
    ("completion", "tokens", "words"),
    [
        (Completion(0, 0, b""), None, catalogue_text("verdicts.distance.here")),
        (Completion(1, 1, b"}"), None, catalogue_text("verdicts.distance.bytes", bounds=1, ending=": `}`", count=1)),
        (
            Completion(2, 2, b'"}'),
            TokenCompletion(1, 1, (7,)),
            catalogue_text("verdicts.distance.bytes", bounds=2, ending=': `"}`', count=2)
            + " "
            + catalogue_text("verdicts.distance.tokens", bounds=1),
        ),
        (
            Completion(50_001, 50_001),
            None,
            catalogue_text("verdicts.distance.bytes", bounds="50,001", ending="", count=2),
        ),
        (
            Completion(3, 9, b"x" * 9),
            None,
            catalogue_text("verdicts.distance.bytes", bounds="between 3 and 9", ending=": `xxxxxxxxx`", count=2),
        ),
        (
            Completion(3),
            TokenCompletion(2, None),
            catalogue_text("verdicts.distance.bytes", bounds="at least 3", ending="", count=2)
            + " "
            + catalogue_text("verdicts.distance.tokens", bounds="at least 2"),
        ),
        (Completion(None), None, catalogue_text("verdicts.distance.token")),
        (Completion(None), TokenCompletion(1, 1, (3,)), catalogue_text("verdicts.distance.tokens", bounds=1)),
        (
            Completion(1, 1, b"z"),
            TokenCompletion(None),
            catalogue_text("verdicts.distance.bytes", bounds=1, ending=": `z`", count=1)
            + " "
            + catalogue_text("verdicts.budget.dead_end"),
        ),
    ],
)
def test_a_distance_in_words(completion, tokens, words):
    assert distance_prose(completion, tokens) == words


def test_a_long_ending_is_cut():
    prose = distance_prose(Completion(500, 500, b"x" * 500))
    assert prose == catalogue_text("verdicts.distance.bytes", bounds=500, ending=f": `{'x' * 79}…`", count=500)
