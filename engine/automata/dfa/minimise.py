"""Minimisation: the coarsest partition of states that no continuation distinguishes.

Hopcroft, *An n log n algorithm for minimizing states in a finite automaton*,
1971, over a partial automaton: a missing edge leads to one dead state, which is
not in the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.source import CancelToken, checkpoint

_CHECK_EVERY = 1 << 10


def equivalence_classes(
    rows: Sequence[Sequence[int]], accepting: Sequence[bool], cancel: CancelToken | None = None
) -> list[int]:
    """Return the equivalence class of every state.

    Args:
        rows: for each state the target by symbol, -1 for none.
        accepting: whether each state accepts.
        cancel: checked now and then.

    Returns:
        A number for each state; equal numbers mean equal languages. They are dense, from 0.
    """
    partition = _Partition(accepting)
    sources = _sources(rows)
    symbols = range(len(rows[0]) if rows else 0)
    pending = {(block, symbol) for block in range(len(partition.blocks)) for symbol in symbols}
    rounds = 0
    while pending:
        block, symbol = pending.pop()
        rounds += 1
        if cancel is not None and rounds % _CHECK_EVERY == 0:
            cancel.report("progress.minimising", len(partition.blocks), len(rows))
        checkpoint(2 + len(partition.blocks[block]))
        entering = {state for target in partition.blocks[block] for state in sources[target].get(symbol, ())}
        for split, fresh in partition.refine(entering):
            smaller = min(split, fresh, key=lambda number: len(partition.blocks[number]))
            pending |= {(fresh if (split, other) in pending else smaller, other) for other in symbols}
    dense: dict[int, int] = {}
    return [dense.setdefault(partition.block_of[state], len(dense)) for state in range(len(rows))]


def _sources(rows: Sequence[Sequence[int]]) -> list[dict[int, list[int]]]:
    """Return for each state the states that lead to it, by symbol; the dead state comes last."""
    dead = len(rows)
    sources: list[dict[int, list[int]]] = [{} for _ in range(dead + 1)]
    for state, row in enumerate(rows):
        checkpoint(2 + len(row) // 2)
        for symbol, target in enumerate(row):
            sources[target if target >= 0 else dead].setdefault(symbol, []).append(state)
    for symbol in range(len(rows[0]) if rows else 0):
        sources[dead].setdefault(symbol, []).append(dead)
    return sources


class _Partition:
    """Blocks of states, initially the accepting ones and the others; the dead state is the last one."""

    def __init__(self, accepting: Sequence[bool]) -> None:
        dead = len(accepting)
        accept = {state for state in range(dead) if accepting[state]}
        self.blocks = [block for block in (accept, set(range(dead + 1)) - accept) if block]
        self.block_of = [0] * (dead + 1)
        for number, block in enumerate(self.blocks):
            for state in block:
                self.block_of[state] = number

    def refine(self, states: set[int]) -> list[tuple[int, int]]:
        """Split every block that `states` cuts; return pairs of the remaining block and the new one."""
        inside: dict[int, set[int]] = {}
        for state in states:
            inside.setdefault(self.block_of[state], set()).add(state)
        pairs = []
        for split, members in inside.items():
            if len(members) == len(self.blocks[split]):
                continue
            self.blocks[split] -= members
            fresh = len(self.blocks)
            self.blocks.append(members)
            for state in members:
                self.block_of[state] = fresh
            pairs.append((split, fresh))
        return pairs
