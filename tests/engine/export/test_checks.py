"""Walks tell two languages apart, and the plain reader of rule automata is right."""

from __future__ import annotations

import pytest
from error_keys import raises_key
from exports import job_of
from rule_interpreter import RuleInterpreter

from engine.compile import compile_grammar
from engine.export.checks import CompiledRecogniser, DfaRecogniser, RuleRecogniser, walk_side_by_side
from engine.export.graph.networks import automata_of
from engine.export.target import MismatchError


def sides(one: str, other: str):
    return CompiledRecogniser(compile_grammar("regex", one)), CompiledRecogniser(compile_grammar("regex", other))


def test_the_same_language_agrees():
    walks, steps = walk_side_by_side(job_of("heading"), *sides("(ab)*c?", "(?:a(?:ba)*b)?c?"), walks=7)
    assert walks == 7
    assert steps > 0


OTHER_TEXTS = "errors.export.checks.other_texts"


@pytest.mark.parametrize(
    ("one", "other", "key", "values"),
    [
        ("ab", "ac", OTHER_TEXTS, {"allowed": "the bytes 62", "given": "the bytes 63"}),
        ("ab?", "ab", OTHER_TEXTS, {"allowed": "the bytes 62 and the end", "given": "the bytes 62"}),
        ("[a-c]", "[a-d]", OTHER_TEXTS, {"allowed": "the bytes 61-63", "given": "the bytes 61-64"}),
        ("a", r"[^\s\S]", "errors.export.checks.empty_export", {}),
        (r"[^\s\S]", "a", "errors.export.checks.empty_grammar", {}),
    ],
)
def test_a_difference_is_told_with_its_place(one, other, key, values):
    with raises_key(MismatchError, key, **values):
        walk_side_by_side(job_of("heading"), *sides(one, other))


def test_an_export_may_hold_fewer_only_where_that_was_said():
    whole, part = sides("[a-z]+", "[a-c]{2}")
    with pytest.raises(MismatchError):
        walk_side_by_side(job_of("heading"), whole, part)
    assert walk_side_by_side(job_of("heading"), whole, part, holds_fewer=True)[0] == 40
    with pytest.raises(MismatchError):
        walk_side_by_side(job_of("heading"), part, whole, holds_fewer=True)
    with raises_key(
        MismatchError, "errors.export.checks.other_texts", given="the bytes 62 and the end"
    ):  # it may not end where the grammar does not
        walk_side_by_side(job_of("heading"), *sides("ab", "ab?"), holds_fewer=True)


def test_a_minimal_automaton_is_a_recogniser():
    compiled = job_of("heading").compiled
    walk_side_by_side(job_of("heading"), CompiledRecogniser(compiled), DfaRecogniser(compiled.materialise()))


@pytest.mark.parametrize("case", ["nested", "hidden left recursion", "person", "tree", "names", "open"])
def test_the_reader_of_rules_agrees_with_the_stupid_one(case):
    job = job_of(case, whitespace="compact")
    automata, _ = automata_of(job.compiled)
    side, stupid = RuleRecogniser(automata), RuleInterpreter(automata)
    texts = [
        b"",
        b"(bx)",
        b"x",
        b"(b(bx))",
        b"(b(bx)",
        b"ba",
        b"true",
        b"yxx",
        b"-yx",
        b"yxy",
        b"bbb",
        b"b",
        b'"a"',
        b"12",
        b'{"a":1}',
    ]
    texts += [b'{"value":1}', b'{"value":1,"children":[]}', b'{"fullName":"x"}', b"null", b'{"a":1,"b":[]}', b"{}"]
    for text in texts:
        place = side.start
        for byte in text:
            place = side.step(place, byte) if place is not None else None
        assert (place is not None and side.accepts(place)) == stupid.accepts(text), text
