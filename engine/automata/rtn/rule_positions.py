"""The states of a text in the automata of its grammar's rules, as a self-contained value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RulePositions:
    """The states of a text in the automata of its grammar's rules.

    Attributes:
        reading: the states that read what comes next, each as a rule and a state; and that of the start rule if the
            text may end.
        waiting: the open calls, each as a rule, a state of it, and the rule that is called.
        accepting: whether the text may end here.
    """

    reading: frozenset[tuple[int, int]] = frozenset()
    waiting: frozenset[tuple[int, int, int]] = frozenset()
    accepting: bool = False
