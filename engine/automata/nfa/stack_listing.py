"""The stacks of a configuration: listed, with the open rules of each and what comes next in them; or split.

The stacks are shown as the automaton keeps them. A rule with nothing left to do after a
call is not on them (a tail call). A left-recursive rule is represented by its left
corner, for whatever may continue with the rule that is being read (see `closures`).

A set of stacks may be far too large to list, since it is shared like a trie. So the
stacks are counted without being listed, and only the first ones are listed.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import NamedTuple, TypeAlias

from engine.automata.nfa.closures import Closures
from engine.automata.nfa.program import CharClass, Program, TokenAtom
from engine.automata.nfa.rule_network import RuleNetwork, owners, span_of
from engine.automata.nfa.stacks import BOTTOM, CallFrame, StackSet
from engine.automata.nfa.thread_values import Threads
from engine.automata.nfa.threads import ThreadMachine
from engine.source import Span

MOST_STACKS = 20
MOST_FRAMES = 100
"""The most frames of one stack that are listed; of a deeper one those in the middle are left out."""

ONLY_RULE = "root"
"""The name for a match without rules."""

_Frames: TypeAlias = tuple[CallFrame, ...]


class StackFrame(NamedTuple):
    """An open rule.

    Attributes:
        spans: the source locations that may come next in it, once the rules above it have ended.
        may_end: whether it may then end itself.
        is_corner: whether it is left-recursive, and begins with the rule above it in one of several ways.
    """

    rule: str
    spans: tuple[Span, ...]
    may_end: bool = False
    is_corner: bool = False


class ParseStack(NamedTuple):
    """One stack, from the root to the rule that reads next; without frames if the text may end.

    Attributes:
        left_out: the number of frames that are not listed, between the first and the last ones.
    """

    frames: tuple[StackFrame, ...]
    left_out: int = 0


class StackListing(NamedTuple):
    """The stacks of a configuration, and the number of those that are not listed."""

    stacks: tuple[ParseStack, ...]
    more: int


def list_stacks(program: Program, machine: ThreadMachine, threads: Threads, limit: int = MOST_STACKS) -> StackListing:
    """List the stacks of a configuration, without those of look-aheads.

    Args:
        program: the program.
        machine: the thread machine of the program.
        threads: the configuration.
        limit: the most stacks that are listed.
    """
    return _Lister(program, machine, threads).stacks(limit)


class _Lister:
    def __init__(self, program: Program, machine: ThreadMachine, threads: Threads) -> None:
        self._program = program
        self._stacks = machine.stacks
        self._closures = Closures(program)
        self._owner = owners(program)
        # By the rule that reads next (empty at the end): what it reads, and its stacks.
        self._tops: dict[str, list[tuple[Span | None, StackSet]]] = {}
        for number in threads:
            thread = machine[number]
            symbol = program.instructions[thread.pc]
            if isinstance(symbol, CharClass | TokenAtom):
                rule = self._owner.get(thread.pc, ONLY_RULE)
                self._tops.setdefault(rule, []).append((span_of(symbol), thread.stacks))
            else:
                self._tops.setdefault("", []).append((None, thread.stacks))

    def stacks(self, limit: int) -> StackListing:
        listed: list[ParseStack] = []
        total = 0
        for rule, tops in sorted(self._tops.items(), key=lambda found: (not found[0], found[0])):
            united = self._stacks.union_all([stacks for _, stacks in tops])
            total += self._count(united)
            for frames in islice(self._stacks.each(united), limit - len(listed)):
                spans = {span for span, stacks in tops if span is not None and self._holds(stacks, frames)}
                top = (StackFrame(rule, tuple(sorted(spans))),) if rule else ()
                listed.append(self._stack(frames, top))
        return StackListing(tuple(listed), total - len(listed))

    def _count(self, stacks: StackSet) -> int:
        """Return the number of stacks in a set. The empty stack is in its own set only, since every call returns."""
        counts: dict[StackSet, int] = {BOTTOM: 1}
        todo = [stacks]
        while todo:
            below = self._stacks.tops(todo[-1]).values()
            missing = [other for other in below if other not in counts]
            if missing:
                todo += missing
            else:
                counts[todo.pop()] = sum(counts[other] for other in below) or 1
        return counts[stacks]

    def _holds(self, stacks: StackSet, frames: _Frames) -> bool:
        for frame in frames:
            below = dict(self._stacks.whole_tops(stacks)).get(frame)
            if below is None:
                return False
            stacks = below
        return True

    def _stack(self, below: _Frames, top: tuple[StackFrame, ...]) -> ParseStack:
        # The last frame is that of the match itself, to which the start rule returns.
        open_rules = below[-2::-1]
        left_out = max(0, len(open_rules) - MOST_FRAMES)
        if left_out:
            half = MOST_FRAMES // 2
            open_rules = (*open_rules[:half], *open_rules[-half:])
        return ParseStack((*map(self._frame, open_rules), *top), left_out)

    def _frame(self, frame: CallFrame) -> StackFrame:
        network = self._network
        if not frame.is_corner:
            return StackFrame(
                self._owner[frame.to],
                network.spans(frame.to, frame.counters),
                network.may_end(frame.to, frame.counters),
            )
        spans: set[Span] = set()
        todo, over = [frame.current], {frame.current}  # the rules of the corner that may have ended by then
        while todo:
            for site in self._closures.sites(todo.pop()):
                spans.update(network.spans(site.to, site.counters))
                if network.may_end(site.to, site.counters) and site.rule not in over:
                    over.add(site.rule)
                    todo.append(site.rule)
        name = self._program.rules[frame.goal].name
        return StackFrame(name, tuple(sorted(spans)), frame.goal in over, is_corner=True)

    @cached_property
    def _network(self) -> RuleNetwork:
        return RuleNetwork(self._program)


MOST_NAMES = 32
"""The largest number of open rules that are named."""


class StackSplit:
    """Splits the configurations of one program into parts with one thread on one stack each.

    Together the parts read what the configuration reads, so each can be followed by itself to see where it ends and
    what it expects there. A set of stacks may be very large, so it is split up to a limit. `StackListing` has the same
    stacks for display; these can be stepped.
    """

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
