"""Which states of an automaton are those of the one before, after the grammar was edited.

Numbers do not tell: a minimal automaton is numbered anew by every edit, and one more alternative moves nearly all
of them. What tells is the way there: states that the same characters lead to, from the start on.
"""

from __future__ import annotations

from collections import defaultdict, deque

from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa


def match_states(before: ByteDfa, after: ByteDfa) -> dict[int, int]:
    """The states of the later automaton with those of the earlier one that the same edges lead to."""
    if before.start is None or after.start is None:
        return {}
    ways: defaultdict[int, list[tuple[ByteRanges, int]]] = defaultdict(list)
    for edge in before.edges:
        ways[edge.source].append((edge.ranges, edge.target))
    same = {(edge.source, edge.ranges): edge.target for edge in after.edges}
    found, taken, to_do = {after.start: before.start}, {before.start}, deque([after.start])
    while to_do:
        state = to_do.popleft()
        for ranges, old in ways[found[state]]:
            new = same.get((state, ranges))
            if new is not None and new not in found and old not in taken:
                found[new] = old
                taken.add(old)
                to_do.append(new)
    return found
