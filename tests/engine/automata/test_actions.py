"""Stack actions as integers."""

from hypothesis import given
from hypothesis import strategies as st

from engine.automata.actions import (
    FRAME_MASK,
    MISS,
    NEAR,
    NEEDS_TEXT,
    POP,
    PUSH,
    STAY,
    ActionTable,
    decode,
    encode,
)

FRAMES = st.integers(0, FRAME_MASK)


@given(st.sampled_from([STAY, PUSH, POP]), FRAMES, FRAMES, st.booleans())
def test_an_action_is_decoded_as_it_was_encoded(kind, top, below, reread):
    action = encode(kind, top, below, reread=reread)
    assert 0 < action < 1 << 63
    assert decode(action) == (kind, top, below, reread)


@given(st.sampled_from([0, NEAR - 1, NEAR, NEAR + 300]))
def test_that_the_text_decides_is_neither_missing_nor_an_action(symbol):
    table = ActionTable()
    table.begin(1, 7)
    assert table.get(1, symbol) == MISS
    table.put(1, symbol, NEEDS_TEXT)
    assert table.get(1, symbol) == NEEDS_TEXT < 0
    assert NEEDS_TEXT != MISS
