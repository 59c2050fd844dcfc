"""Runs a program: regular grammars, and those whose rules call one another.

Only live configurations have an id, those that some string completes. Without
conditions every thread is live by construction. With conditions a search for
an accepting configuration decides, and its findings are kept.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias

from engine.automata.byte_classes import ByteClasses
from engine.automata.program import Atom, Program, TokenAtom
from engine.automata.runtime import DEAD
from engine.automata.table import LazyTable
from engine.automata.threads import NOTHING, Past, ThreadMachine, Threads
from engine.grammar import TokenSet
from engine.source import CancelToken, Limits, Span

_Key: TypeAlias = tuple[Threads, tuple[Threads, ...]]


class LazyAutomaton(LazyTable[_Key]):
    """The `Runtime` of a program."""

    def __init__(self, program: Program | None, limits: Limits, cancel: CancelToken | None = None) -> None:
        super().__init__(ByteClasses.of(program.automata if program else ()), (NOTHING, ()), limits)
        # What is found out about each configuration: live (True), dead (False), or open (None).
        self._live: list[bool | None] = [False]
        if program is not None:
            self.token_elements = frozenset(i.tokens for i in program.instructions if isinstance(i, TokenAtom))
            self._machine = ThreadMachine(program, self.classes, limits)
            self._program = program
            self._has_past = any(not look.ahead for look in program.looks)
            trackers, past = self._track((), None)
            start = self._intern((self._machine.place(program.start, past), trackers))
            self.start = start if self._is_live(start, cancel) else DEAD

    # ------------------------------------------------------------------ tokens taken whole

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """The sets of which one token, taken whole, may come next."""
        if not self.token_elements:
            return frozenset()
        found = set()
        for number in self._keys[configuration][0]:
            instruction = self._program.instructions[self._machine[number].pc]
            if isinstance(instruction, TokenAtom):
                found.add(instruction.tokens)
        return frozenset(found)

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """The configuration after a token: as its bytes, none where it has none, and whole, where `takes` says so."""
        whole = self._machine.step_token(self._keys[configuration][0], takes)
        spelled = self.run(configuration, data) if data else DEAD
        if spelled == DEAD or not whole:
            return self._intern((whole, ())) if whole else spelled
        return self._intern((self._machine.unite(self._keys[spelled][0], whole), ()))

    # ------------------------------------------------------------------ what a configuration means

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Where in the source the match stands: the atoms that may come next, conditions on the rest included."""
        found: set[Span] = set()
        todo, seen = [self._keys[configuration][0]], set[int]()
        while todo:
            for number in todo.pop() - seen:
                seen.add(number)
                thread = self._machine[number]
                instruction = self._program.instructions[thread.pc]
                if isinstance(instruction, Atom):
                    found.add(instruction.span)
                elif isinstance(instruction, TokenAtom):
                    found.add(instruction.tokens.span)
                todo += [duty.threads for duty in thread.obligations]
        return tuple(sorted(found))

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """The atoms that read a byte of the class."""
        byte = self.classes.representatives[byte_class]
        found = set()
        for number in self._keys[configuration][0]:
            thread = self._machine[number]
            instruction = self._program.instructions[thread.pc]
            if isinstance(instruction, Atom) and instruction.automaton.step(thread.node, byte) is not None:
                found.add(instruction.span)
        return tuple(sorted(found))

    # ------------------------------------------------------------------ interning and stepping, dead ends included

    def _is_accepting(self, key: _Key) -> bool:
        return self._machine.accepts(key[0])

    def _intern(self, key: _Key) -> int:
        number = super()._intern(key)
        if number == len(self._live):
            self._live.append(self._is_plainly_live(number, key[0]))
        return number

    def _follow(self, configuration: int, byte_class: int) -> int:
        following = self._step(configuration, byte_class)
        return following if self._is_live(following) else DEAD

    def _step(self, configuration: int, byte_class: int) -> int:
        threads, trackers = self._keys[configuration]
        if not threads:
            return DEAD
        if not self._has_past:
            after = self._machine.step(threads, byte_class, ())
            return self._intern((after, ())) if after else DEAD
        tracked, past = self._track(trackers, byte_class)
        after = self._machine.step(threads, byte_class, past)
        return self._intern((after, tracked)) if after else DEAD

    def _track(self, trackers: tuple[Threads, ...], byte_class: int | None) -> tuple[tuple[Threads, ...], Past]:
        """What every look-behind has seen after a byte (None: before the first), and what it comes to."""
        if not self._has_past:
            return (), ()
        following: list[Threads] = []
        past: list[Threads] = []
        machine = self._machine
        for index, look in enumerate(self._program.looks):
            if look.ahead:
                following.append(NOTHING)
                past.append(NOTHING)
                continue
            known = tuple(past)
            threads = machine.place(look.start, known)
            if byte_class is not None:
                threads |= machine.step(trackers[index], byte_class, known)
            verdict = machine.ended(threads)
            following.append(threads - verdict)
            past.append(verdict)
        return tuple(following), tuple(past)

    # ------------------------------------------------------------------ liveness

    def _is_plainly_live(self, configuration: int, threads: Threads) -> bool | None:
        if self.accepting[configuration]:
            return True
        certain = self._program.certain
        for number in threads:
            thread = self._machine[number]
            if not thread.obligations and certain[thread.pc]:
                return True
        return None if threads else False

    def _is_live(self, configuration: int, cancel: CancelToken | None = None) -> bool:
        verdict = self._live[configuration]
        if verdict is None:
            verdict = self._search(configuration, cancel)
        return verdict

    def _search(self, configuration: int, cancel: CancelToken | None) -> bool:
        """Best first for a live configuration; what leads to one is live, and if there is none, all seen are dead.

        Best is what has the fewest conditions left to meet, then what is nearest to its end, and among equals what
        was found last: a search that ignores conditions tries every way to run out of text before the first that
        meets them, and one that ignores distances may go round in a loop for as long as a count lets it.
        """
        reached_from = {configuration: DEAD}
        frontier = [((0, 0), 0, configuration)]
        while frontier:
            if cancel is not None:
                cancel.report("looking for a match", len(reached_from))
            current = heapq.heappop(frontier)[2]
            for byte_class in range(self.n_classes):
                following = self._step(current, byte_class)
                verdict = self._live[following]
                if verdict:
                    while current != DEAD:
                        self._live[current] = True
                        current = reached_from[current]
                    return True
                if verdict is None and following not in reached_from:
                    reached_from[following] = current
                    self._limits.check("configurations searched for a match", len(reached_from), self._limits.search)
                    open_conditions = self._machine.open_conditions(self._keys[following][0])
                    heapq.heappush(frontier, (open_conditions, -len(reached_from), following))
        for number in reached_from:
            self._live[number] = False
        return False
