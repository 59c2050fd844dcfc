"""A configuration of a program, split into parts with one thread on one stack each.

Together the parts read what the configuration reads, so each can be followed by itself to
see where it ends and what it expects there. A set of stacks may be very large, so it is
split up to a limit. `stack_listing` lists the same stacks for display; here they can be
stepped.
"""

from __future__ import annotations

from itertools import islice

from engine.automata.nfa.program import Program
from engine.automata.nfa.stacks import BOTTOM, CallFrame
from engine.automata.nfa.thread_values import Threads
from engine.automata.nfa.threads import ThreadMachine
from engine.automata.rtn.rule_network import owners

MOST_NAMES = 32
"""The most open rules that are named."""


class StackSplit:
    """Splits the configurations of one program."""

    def __init__(self, program: Program, machine: ThreadMachine) -> None:
        self._program = program
        self._machine = machine
        self._owner = owners(program)

    def split_stacks(self, threads: Threads, most: int) -> list[Threads]:
        """Return at most `most` parts; if there are more, the last one contains the rest."""
        ordered = sorted(threads)
        parts: list[Threads] = []
        for index, number in enumerate(ordered):
            stacks = self._machine[number].stacks
            found = list(islice(self._machine.stacks.each(stacks), most - len(parts) + 1))
            free = most - len(parts) - (index + 1 < len(ordered))
            if len(found) > free:
                return [*parts, frozenset(ordered[index:])]
            parts += (frozenset((self._on(number, chain),)) for chain in found)
        return parts

    def open_rules(self, threads: Threads) -> tuple[str, ...]:
        """Return the open rules, the innermost first; for several threads the innermost rule of each."""
        if len(threads) != 1:
            names = (self._owner.get(self._machine[number].pc) for number in sorted(threads))
            return tuple(dict.fromkeys(name for name in names if name is not None))
        thread = self._machine[next(iter(threads))]
        chain = next(self._machine.stacks.each(thread.stacks))
        open_rules = [self._owner.get(thread.pc), *map(self._rule_of_frame, chain[:MOST_NAMES])]
        return tuple(name for name in open_rules if name is not None)[:MOST_NAMES]

    def _on(self, number: int, chain: tuple[CallFrame, ...]) -> int:
        """Return a thread on one of its stacks."""
        stacks_below = BOTTOM
        for frame in reversed(chain):
            stacks_below = self._machine.stacks.push(frame, stacks_below)
        return self._machine.intern(self._machine[number]._replace(stacks=stacks_below))

    def _rule_of_frame(self, frame: CallFrame) -> str | None:
        return self._program.rules[frame.goal].name if frame.is_corner else self._owner.get(frame.to)
