"""The dense table, held against a dictionary of transitions, one row at a time."""

from __future__ import annotations

import numpy as np
import pytest
from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors import Context, DfaTable
from engine.source import InvariantError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

AROUND = [(1, 0, 2), (2, 1, 3), (3, 2, 1)]


def run(table: DfaTable, histories: list[list[int]], steps: int, width: int, choose=np.argmax):
    """What is left at each step, and the tokens taken."""
    rng, state, left = np.random.default_rng(0), table.init(len(histories)), []
    for _ in range(steps):
        masked, state = table.process(state, rng.normal(size=(len(histories), width)), Context.of(histories))
        assert not np.isnan(masked).any()
        left.append([np.flatnonzero(np.isfinite(row)).tolist() for row in masked])
        for history, row in zip(histories, masked, strict=True):
            history.append(int(choose(row)))
    return left


def test_one_two_three_and_around():
    left = run(DfaTable(AROUND, initial=1, width=4), [[]], 7, 4)
    assert [rows[0] for rows in left] == [[0], [1], [2], [0], [1], [2], [0]]


def test_row_0_is_no_state_and_column_0_is_token_0():
    table = DfaTable(AROUND, initial=1, width=4)
    assert table.table.shape == (4, 4)
    assert table.table.dtype == np.int32
    assert not table.table[0].any()
    assert table.table[1].tolist() == [2, 0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        table.table[0, 0] = 1


def test_the_first_call_moves_nothing_whatever_the_prompt_ends_with():
    left = run(DfaTable(AROUND, initial=1, width=4), [[3, 1], [0], []], 2, 4)
    assert left == [[[0]] * 3, [[1]] * 3]


def test_the_state_is_recovered_from_the_token_that_was_taken():
    table = DfaTable([(1, 0, 1), (1, 1, 2), (2, 2, 1)], initial=1, width=3)
    _, state = table.process(table.init(2), np.zeros((2, 3)), Context.of([[], []]))
    masked, after = table.process(state, np.zeros((2, 3)), Context.of([[0], [1]]))
    assert np.isfinite(masked).tolist() == [[True, True, False], [False, False, True]]
    assert state.states.tolist() == [1, 1]  # a state is a value
    assert after.states.tolist() == [1, 2]
    other, _ = table.process(state, np.zeros((2, 3)), Context.of([[1], [1]]))
    assert np.isfinite(other).tolist() == [[False, False, True]] * 2


def test_the_end_is_a_transition_and_ended_rows_have_a_row_of_their_own():
    table = DfaTable([(1, 0, 2), (1, 1, 1), (2, 3, 5)], initial=1, width=4, end_ids=[3])
    histories = [[], []]
    state = table.init(2)
    for taken, expected in (
        ([0, 1], [[0, 1], [0, 1]]),
        ([3, 1], [[3], [0, 1]]),
        ([3, 0], [[3], [0, 1]]),  # the first row has ended: it is left with the end token, whatever the logits
        ([0, 3], [[3], [3]]),
        ([2, 3], [[3], [3]]),
    ):
        masked, state = table.process(state, np.full((2, 4), -3.0), Context.of(histories))
        assert [np.flatnonzero(np.isfinite(row)).tolist() for row in masked] == expected
        for history, token_id in zip(histories, taken, strict=True):
            history.append(token_id)


def test_an_end_without_a_transition_cannot_come():
    table = DfaTable([(1, 0, 1)], initial=1, vocabulary=Vocabulary([b"a", None], [1]))
    assert table.allowed(1).tolist() == [True, False]
    assert not table.is_accepting(1)


def test_where_nothing_leads_on_the_row_is_over():
    table = DfaTable([(1, 2, 2)], initial=1, width=3, pad_id=1)
    left = run(table, [[]], 3, 3)
    assert [rows[0] for rows in left] == [[2], [1], [1]]


def test_a_token_without_a_transition_is_an_error_that_says_which():
    table = DfaTable(AROUND, initial=1, width=4)
    _, state = table.process(table.init(2), np.zeros((2, 4)), Context.of([[], []]))
    with raises_key(EmptyMaskError, "errors.decoding.empty_mask"):
        table.process(state, np.zeros((2, 4)), Context.of([[0], [3]]))


def test_logits_that_leave_nothing_are_an_error_that_says_what_was_expected():
    table = DfaTable(AROUND, initial=3, width=4)
    logits = np.array([[0.0, 0.0, -np.inf, 0.0]])
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        expected=catalogue_text("errors.decoding.fragment.expected", expected="token 2 in state 3"),
    ):
        table.process(table.init(1), logits, Context.of([[]]))


@pytest.mark.parametrize(
    ("transitions", "initial", "key", "values"),
    [
        ([(0, 1, 1)], 1, "errors.decoding.table.state", {"state": 0}),
        ([(1, 1, 0)], 1, "errors.decoding.table.state", {"state": 0}),
        ([(1, 1, 1)], 0, "errors.decoding.table.state", {"state": 0}),
        ([(1, 9, 1)], 1, "errors.decoding.table.token", {"token": 9, "last": 3}),
        ([(1, -1, 1)], 1, "errors.decoding.table.token", {"token": -1}),
        ([(1, 2, 1), (1, 2, 3)], 1, "errors.decoding.table.two_states", {"state": 1, "token": 2}),
    ],
)
def test_a_list_that_is_no_dfa_is_refused(transitions, initial, key, values):
    with raises_key(InvariantError, key, **values):
        DfaTable(transitions, initial, width=4)


def test_a_table_that_is_too_large_is_refused_with_its_numbers():
    with raises_key(LimitExceededError, "errors.limit.table_entries", limit=500000000):
        DfaTable([(1, 0, 10_000)], 1, width=131_072)


TRIPLES = st.dictionaries(
    st.tuples(st.integers(1, 5), st.integers(0, 7)), st.integers(1, 5), min_size=1, max_size=25
).map(lambda found: [(state, token, after) for (state, token), after in found.items()])


@given(TRIPLES, st.integers(1, 5), st.integers(0, 99), st.integers(1, 4))
def test_a_batch_of_rows_is_what_a_dictionary_says_of_each(transitions, initial, seed, rows):
    following = {(state, token): after for state, token, after in transitions}
    table = DfaTable(transitions, initial, width=8, end_ids=[7])
    rng, state = np.random.default_rng(seed), table.init(rows)
    histories, at, ended = [[] for _ in range(rows)], [initial] * rows, [False] * rows
    for _ in range(6):
        logits = rng.normal(size=(rows, 8))
        masked, state = table.process(state, logits, Context.of(histories))
        for row in range(rows):
            open_tokens = [token for token in range(8) if (at[row], token) in following]
            over = ended[row] or not open_tokens
            left = [table.pad_id] if over else open_tokens
            assert np.flatnonzero(np.isfinite(masked[row])).tolist() == left
            if not over:
                assert masked[row, left].tolist() == logits[row, left].tolist()
            token = int(rng.choice(left))
            histories[row].append(token)
            if not over:
                at[row], ended[row] = following[at[row], token], token == 7
