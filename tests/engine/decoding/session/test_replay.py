"""A trace held against another grammar."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_model import LETTERS, RandomModel

from engine.compile import CompileOptions, compile_grammar
from engine.decoding.errors import NotAllowedError
from engine.decoding.session import DecodeSession
from engine.decoding.values import Replay
from engine.source import LimitExceededError, Limits


def typed(pattern: str, text: str) -> DecodeSession:
    session = DecodeSession(compile_grammar("regex", pattern), RandomModel())
    for char in text:
        session.take(LETTERS.index(char.encode()))
    return session


def test_a_grammar_that_allows_all_keeps_all():
    session = typed("[a-z]+", "abc")
    assert session.replace_grammar(compile_grammar("regex", "abcd*")) == Replay(3, None)
    assert session.text == "abc"
    assert session.position().allowed == 1


def test_the_longest_legal_prefix_stays_and_the_tail_becomes_a_branch():
    session = typed("[a-z]+", "abcd")
    assert session.replace_grammar(compile_grammar("regex", "ab[A-Z]")) == Replay(2, 2)
    assert session.text == "ab"
    assert session.trace.path == (0, 1, 2, 3)
    assert session.trace.current == 1
    assert session.trace.illegal == {2}
    session.step()
    assert session.trace.path == (0, 1, 4)


def test_the_model_is_not_asked():
    session = typed("[a-z]+", "abcd")
    model = session.model
    assert isinstance(model, RandomModel)
    asked = len(model.asked)
    session.replace_grammar(compile_grammar("regex", "ab[A-Z]"))
    session.position()
    assert len(model.asked) == asked


def test_steps_are_accounted_for_anew():
    session = typed("[a-z]+", "ab")
    session.replace_grammar(compile_grammar("regex", "a[a-c]x"))
    fresh = typed("a[a-c]x", "ab")
    assert [replace(step, configuration=0) for step in session.steps] == [
        replace(step, configuration=0) for step in fresh.steps
    ]
    assert session.steps[0].forced


def test_a_grammar_broken_and_mended_stands_where_it_stood():
    session = typed("[a-z]+", "abcd")
    session.replace_grammar(compile_grammar("regex", "ab"))
    session.replace_grammar(compile_grammar("regex", "x"))
    assert session.text == ""
    session.replace_grammar(compile_grammar("regex", "[a-z]+"))
    assert session.text == "abcd"
    assert session.trace.illegal == frozenset()


def test_but_not_after_the_user_went_elsewhere():
    session = typed("[a-z]+", "abcd")
    session.replace_grammar(compile_grammar("regex", "abc?"))
    session.back()
    session.replace_grammar(compile_grammar("regex", "[a-z]+"))
    assert session.text == "ab"


def test_other_branches_are_judged_too_and_an_illegal_one_cannot_be_entered():
    session = typed("[a-z]+", "abc")
    session.go_to(0)
    for char in "xyz":
        session.take(LETTERS.index(char.encode()))
    session.replace_grammar(compile_grammar("regex", "axyz|a[a-b]"))
    assert session.text == "axyz"
    assert session.trace.illegal == {2}
    with pytest.raises(NotAllowedError):
        session.go_to(2)
    assert session.text == "axyz"
    assert session.position().accepting
    session.go_to(1)
    assert session.text == "ab"


def test_to_no_grammar_and_back():
    session = typed("[a-z]+", "abc")
    assert session.replace_grammar(None) == Replay(3, None)
    assert session.position().z == 1.0
    assert session.replace_grammar(compile_grammar("regex", "a[A-Z]")) == Replay(1, 1)


def test_a_grammar_that_outgrows_a_limit_on_the_way_changes_nothing():
    session = typed("[a-z]+", "abcd")
    grammar = session.grammar
    tight = compile_grammar("regex", "[ab]{9}[a-z]{99}|.{40}x", CompileOptions(limits=Limits(configurations=4)))
    with pytest.raises(LimitExceededError):
        session.replace_grammar(tight)
    assert session.grammar is grammar
    assert session.text == "abcd"
    assert session.trace.illegal == frozenset()


@given(st.text("abc", max_size=8), st.sampled_from(["[ab]*c?", "a.*", "(abc)*", "[a-c]{3}", "b|ab*"]))
def test_the_kept_prefix_is_what_a_fresh_session_would_take(text, pattern):
    session = typed("[a-z]*", text)
    kept = session.replace_grammar(compile_grammar("regex", pattern)).kept
    typed(pattern, text[:kept])
    assert session.text == text[:kept]
    if kept < len(text):
        assert not session.explain(text[kept].encode()).allowed


def test_a_saved_trace_is_taken_over_whole():
    session = typed("[a-z]+", "abc")
    session.go_to(0)
    session.step()
    session.back()
    fresh = typed("[a-z]+", "z")
    assert fresh.restore(session.trace) == 0
    assert fresh.trace == session.trace
    assert fresh.text == "a"
    assert fresh.position().candidates == session.position().candidates
    fresh.go_to(2)
    assert fresh.text == "abc"


def test_a_saved_trace_under_another_grammar_stands_where_that_allows_it():
    saved = typed("[a-z]+", "abcd").trace
    session = typed("ab[A-Z]|.{4}", "")
    session.replace_grammar(compile_grammar("regex", "ab[A-Z]"))
    session.restore(saved)
    assert session.text == "ab"
    assert session.trace.illegal == {2}
    session.replace_grammar(compile_grammar("regex", "[a-z]+"))
    assert session.text == "abcd"


def test_a_trace_that_outgrows_a_limit_on_the_way_changes_nothing():
    saved = typed("[a-z]+", "abcd").trace
    tight = compile_grammar("regex", "[ab]{9}[a-z]{99}|.{40}x", CompileOptions(limits=Limits(configurations=4)))
    session = DecodeSession(tight, RandomModel())
    with pytest.raises(LimitExceededError):
        session.restore(saved)
    assert session.trace.nodes == ()
    assert session.text == ""
