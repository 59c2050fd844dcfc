"""Masks for drafts in one call, against one step after the other."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine import Matcher, Vocabulary, compile_grammar

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


def step_by_step(matcher, drafts):
    rows, fork = [matcher.bitmask()], matcher.fork()
    for accepted, draft in enumerate(drafts):
        if not fork.accept(draft):
            return accepted, rows + [np.zeros_like(rows[0])] * (len(drafts) - accepted)
        rows.append(fork.bitmask())
    return len(drafts), rows


@pytest.mark.parametrize(
    ("notation", "text"),
    [("regex", "(ab|foo)*x?"), ("gbnf", 'root ::= "a" root "b" | " the"'), ("json_schema", SCHEMA)],
)
def test_drafts_are_masked_as_step_by_step(notation, text, small, walk):
    grammar, chance = compile_grammar(notation, text), random.Random(0)
    for _ in range(30):
        matcher = Matcher(grammar, small)
        drafts = []
        ahead = matcher.fork()
        for _ in range(chance.randrange(8)):
            allowed = [i for i in range(small.size) if ahead.is_allowed(i)]
            drafts.append(chance.choice(allowed) if allowed and chance.random() < 0.9 else chance.randrange(small.size))
            ahead.accept(drafts[-1])
        out = np.full((len(drafts) + 1, len(matcher.bitmask())), -1, np.int32)
        configuration = matcher.configuration
        accepted, rows = step_by_step(matcher, drafts)
        assert matcher.fill_draft_bitmasks(out, drafts) == accepted
        assert out.tolist() == [row.tolist() for row in rows]
        assert matcher.configuration == configuration


def test_an_end_may_be_a_draft():
    matcher = Matcher(compile_grammar("regex", "a*"), Vocabulary([b"a", None], eos_ids=[1]))
    out = np.full((4, 1), -1, np.int32)
    assert matcher.fill_draft_bitmasks(out, [0, 1, 0]) == 2
    assert out.tolist() == [[3], [3], [0], [0]]
    assert not matcher.is_finished


def test_no_drafts_are_one_mask():
    matcher = Matcher(compile_grammar("regex", "a"), Vocabulary([b"a", None], eos_ids=[1]))
    out = np.full((1, 1), -1, np.int32)
    assert matcher.fill_draft_bitmasks(out, []) == 0
    assert out.tolist() == [[1]]


def test_rows_of_a_larger_batch_can_be_filled():
    matcher = Matcher(compile_grammar("regex", "ab"), Vocabulary([b"a", b"b"], eos_ids=[]))
    batch = np.full((5, 3), -1, np.int32)
    assert matcher.fill_draft_bitmasks(batch[1:4, 1:2], np.array([0, 1])) == 2
    assert batch.tolist() == [[-1, -1, -1], [-1, 1, -1], [-1, 2, -1], [-1, 0, -1], [-1, -1, -1]]


@pytest.mark.parametrize(
    "out", [np.zeros((2, 1), np.int32), np.zeros((3, 2), np.int32), np.zeros((3, 1), np.int64), np.zeros(3), [[0]] * 3]
)
def test_another_shape_is_refused(out):
    matcher = Matcher(compile_grammar("regex", "ab"), Vocabulary([b"a", b"b"], eos_ids=[]))
    with pytest.raises(ValueError, match="3 rows of that"):
        matcher.fill_draft_bitmasks(out, [0, 1])
