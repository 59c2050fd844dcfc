"""Hopcroft's partition against Moore's, which is short enough to be seen right."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.automata.dfa.minimise import equivalence_classes


def moore(rows: list[list[int]], accepting: list[bool]) -> list[int]:
    block = [int(a) for a in accepting]
    while True:
        signature = [(block[s], *[block[t] if t >= 0 else -1 for t in row]) for s, row in enumerate(rows)]
        # A state from which nothing is accepted equals the missing edge; it is told apart from it only by name.
        numbers: dict[tuple[int, ...], int] = {}
        refined = [numbers.setdefault(sign, len(numbers)) for sign in signature]
        if len(numbers) == len(set(block)):
            return refined
        block = refined


@st.composite
def automata(draw: st.DrawFn) -> tuple[list[list[int]], list[bool]]:
    size = draw(st.integers(1, 12))
    symbols = draw(st.integers(1, 3))
    target = st.integers(-1, size - 1)
    rows = draw(st.lists(st.lists(target, min_size=symbols, max_size=symbols), min_size=size, max_size=size))
    return _live_part(rows, draw(st.lists(st.booleans(), min_size=size, max_size=size)))


def _live_part(rows: list[list[int]], accepting: list[bool]) -> tuple[list[list[int]], list[bool]]:
    live = {s for s, accepts in enumerate(accepting) if accepts}
    for _ in rows:
        live |= {s for s, row in enumerate(rows) if live & set(row)}
    order = sorted(live)
    index = {s: i for i, s in enumerate(order)}
    return [[index.get(t, -1) for t in rows[s]] for s in order], [accepting[s] for s in order]


@given(automata())
def test_the_partition_is_the_same(automaton: tuple[list[list[int]], list[bool]]) -> None:
    rows, accepting = automaton
    ours, theirs = equivalence_classes(rows, accepting), moore(rows, accepting)
    assert [ours.index(block) for block in ours] == [theirs.index(block) for block in theirs]


def test_nothing_has_no_classes() -> None:
    assert equivalence_classes([], []) == []
