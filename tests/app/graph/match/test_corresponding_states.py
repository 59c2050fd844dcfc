"""States of an edited automaton that are those of the one before."""

from __future__ import annotations

import pytest

from app.graph.match.paths import match_states
from engine.compile import compile_grammar


def dfa(pattern: str):
    return compile_grammar("regex", pattern).materialise(100)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(red|green|blue|black)", "(red|green|blue|black|white)"),
        ("(yes|no|maybe)", "(yes|no|never|maybe)"),
        (r"[A-Z]+: [a-z]+\n", r"[A-Z]+: [a-z]+!\n"),
    ],
)
def test_states_are_joined_by_the_texts_that_lead_to_them(before, after):
    old, new = dfa(before), dfa(after)
    found = match_states(old, new)
    assert len(found) == len(set(found.values())) >= len(old.states) - 2
    for text in (b"r", b"re", b"gree", b"bl", b"y", b"may", b"A", b"A:", b"A: a"):
        if (state := new.run(text)) is not None:
            assert found[state] == old.run(text)


def test_of_another_language_only_the_start_is_the_same():
    assert match_states(dfa("abc"), dfa("xyz")) == {dfa("xyz").start: dfa("abc").start}


def test_nothing_is_joined_to_what_has_no_states():
    assert match_states(dfa("(?!)"), dfa("a")) == match_states(dfa("a"), dfa("(?!)")) == {}
