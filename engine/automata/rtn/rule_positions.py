"""Where a text stands in the automata of its grammar's rules, as a value that needs nothing but itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RulePositions:
    """Where a text stands.

    Attributes:
        reading: the states, each with its rule before it, that read what comes next; and that of the start rule where
            the text may end.
        waiting: the calls under way, each as a rule, a state of it, and the rule that is called.
        accepting: whether the text may end here.
    """

    reading: frozenset[tuple[int, int]] = frozenset()
    waiting: frozenset[tuple[int, int, int]] = frozenset()
    accepting: bool = False
