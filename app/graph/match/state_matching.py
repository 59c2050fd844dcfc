"""Matches the states of an automaton with those of the previous one after an edit of the grammar.

State numbers cannot be compared: a minimal automaton is numbered again after every edit, and one more alternative
changes nearly all numbers. States are matched by the path from the start: the same characters lead to them.
"""

from __future__ import annotations

from collections import defaultdict, deque

from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa


def match_states(before: ByteDfa, after: ByteDfa) -> dict[int, int]:
    """Return the states of the later automaton with those of the earlier one that the same edges lead to."""
    if before.start is None or after.start is None:
        return {}
    edges_of: defaultdict[int, list[tuple[ByteRanges, int]]] = defaultdict(list)
    for edge in before.edges:
        edges_of[edge.source].append((edge.ranges, edge.target))
    same = {(edge.source, edge.ranges): edge.target for edge in after.edges}
    found, taken, queue = {after.start: before.start}, {before.start}, deque([after.start])
    while queue:
        state = queue.popleft()
        for ranges, old in edges_of[found[state]]:
            new = same.get((state, ranges))
            if new is not None and new not in found and old not in taken:
                found[new] = old
                taken.add(old)
                queue.append(new)
    return found
