"""Labelled questions: how they are read, which answers are right, and what a grammar does to them."""

from __future__ import annotations

import json

import pytest
from error_keys import raises_key
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.values import Chat
from engine.diagnosis.accuracy import (
    Accuracy,
    AnswerMatch,
    GrammarEffect,
    LabelledQuestion,
    QuestionsError,
    answer_questions,
    read_questions,
)
from engine.source import CancelledError, CancelToken


def test_questions_have_a_prompt_or_messages_and_values():
    lines = (
        {"prompt": "A", "expected": "yes"},
        {"messages": [{"role": "user", "content": "B"}], "any_of": [1, "one"]},
    )
    found = read_questions("\n\n".join(map(json.dumps, lines)) + "\n")
    assert found == (LabelledQuestion(1, "A", ("yes",)), LabelledQuestion(3, Chat((("user", "B"),)), (1, "one")))


@pytest.mark.parametrize(
    ("text", "key", "line", "column"),
    [
        ("", "none", None, None),
        ('{"prompt": "A", "expected": 1}\n{"prompt" "A"}', "not_json", 2, 11),
        ("[1]", "no_object", 1, 1),
        ('{"prompt": "A", "expect": 1}', "unknown_key", 1, 17),
        ('{"prompt": "A"}', "one_of", 1, 1),
        ('{"prompt": "A", "expected": 1, "any_of": [1]}', "one_of", 1, 1),
        ('{"prompt": "A", "any_of": []}', "no_list", 1, 17),
        ('{"prompt": 1, "expected": 1}', "no_text", 1, 2),
        ('{"expected": 1, "messages": [{"role": "you", "content": "A"}]}', "no_messages", 1, 17),
        ("[" * 100_000, "too_deep", 1, 1),
    ],
)
def test_a_line_that_is_not_as_it_should_be_is_named(text, key, line, column):
    with raises_key(QuestionsError, f"errors.diagnosis.questions.{key}") as caught:
        read_questions(text)
    if line is not None:
        assert (caught.value.fields["line"], caught.value.fields["column"]) == (line, column)


@pytest.mark.parametrize(
    ("expected", "answer", "match", "right"),
    [
        ("yes", " yes\n", AnswerMatch.EXACT, True),
        ("yes", "yes, it is", AnswerMatch.EXACT, False),
        ("yes", "yes, it is", AnswerMatch.START, True),
        ({"a": [1.0]}, '{ "a": [1] }', AnswerMatch.EXACT, True),
        ({"a": 1}, '{"a": true}', AnswerMatch.EXACT, False),
        ([1], "[1] and more", AnswerMatch.EXACT, False),
        ([1], "[1] and more", AnswerMatch.START, True),
        (None, "nothing", AnswerMatch.EXACT, False),
    ],
)
def test_an_answer_is_right_if_it_is_the_value(expected, answer, match, right):
    assert LabelledQuestion(1, "", (expected,)).is_right(answer, match) is right


def test_both_ways_answer_every_question():
    questions = read_questions('{"prompt": "A", "expected": "ab"}\n{"prompt": "B", "any_of": ["ab", "cd"]}')
    answered = list(answer_questions(compile_grammar("regex", "ab"), RandomModel(), questions, max_tokens=3))
    assert [one.is_right for one in answered] == [True, True]
    assert [len(one.free) for one in answered] == [3, 3]
    assert Accuracy.of(answered).right == (2, 0)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        list(answer_questions(compile_grammar("regex", "ab"), RandomModel(), questions, cancel=cancel))


@pytest.mark.parametrize(
    ("counts", "effect"),
    [
        ((5, 10, 1, 3), GrammarEffect.HELPS),
        ((5, 1, 10, 3), GrammarEffect.HURTS),
        ((5, 3, 2, 3), GrammarEffect.UNKNOWN),
        ((9, 0, 0, 0), GrammarEffect.UNKNOWN),
    ],
)
def test_an_effect_is_stated_only_if_it_was_shown(counts, effect):
    accuracy = Accuracy(*counts)
    assert accuracy.effect is effect
    for count, (low, high) in zip(accuracy.right, accuracy.intervals, strict=True):
        assert low <= count / accuracy.total <= high
