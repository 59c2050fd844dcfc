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
        (Completion(1, 1, b"}"), None, "The shortest ending takes 1 byte: `}`."),
        (
            Completion(2, 2, b'"}'),
            TokenCompletion(1, 1, (7,)),
            'The shortest ending takes 2 bytes: `"}`. In tokens it takes 1.',
        ),
        (Completion(50_001, 50_001), None, "The shortest ending takes 50,001 bytes."),
        (Completion(3, 9, b"x" * 9), None, "The shortest ending takes between 3 and 9 bytes: `xxxxxxxxx`."),
        (
            Completion(3),
            TokenCompletion(2, None),
            "The shortest ending takes at least 3 bytes. In tokens it takes at least 2.",
        ),
        (Completion(None), None, catalogue_text("verdicts.distance.token")),
        (Completion(None), TokenCompletion(1, 1, (3,)), "In tokens it takes 1."),
        (
            Completion(1, 1, b"z"),
            TokenCompletion(None),
            "The shortest ending takes 1 byte: `z`. No tokens of this vocabulary complete it: this is a dead end.",
        ),
    ],
)
def test_a_distance_in_words(completion, tokens, words):
    assert distance_prose(completion, tokens) == words


def test_a_long_ending_is_cut():
    prose = distance_prose(Completion(500, 500, b"x" * 500))
    assert prose == f"The shortest ending takes 500 bytes: `{'x' * 79}…`."
