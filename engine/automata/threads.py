"""Threads: where one nondeterministic run of a program stands.

A configuration is a set of threads, any of which may go on to accept. What a
look-ahead asks of the future rides along as the thread's obligations, each a
configuration of its own that must (or must not) come to accept, so the machine
is an alternating one: Chandra, Kozen and Stockmeyer, *Alternation*, JACM 28(1),
1981. A look-behind asks of the past, which is known: a tracker runs what it
looks for from every position on, and its verdict is passed in as `past`.

Everything here is pure and remembered: a step of a thread depends on the
thread, the byte class and the verdicts on the past, and on nothing else.

Rejected: backtracking (exponential, and it cannot say what may follow), and
derivatives of the expression itself (each step then rebuilds and normalises a
tree, and the source map is lost on the way).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from engine.automata.byte_classes import ByteClasses
from engine.automata.program import Accept, Anything, Atom, Condition, CountPass, CountStart, Pc, Program, Split
from engine.automata.utf8 import FINAL
from engine.source import Limits

ThreadId: TypeAlias = int
Threads: TypeAlias = frozenset[ThreadId]
Past: TypeAlias = tuple[Threads, ...]
"""Of each look, inner ones first, what a look-behind comes to here; empty for a look-ahead."""


class Obligation(NamedTuple):
    """What the text from here on must (or, negated, must not) come to."""

    negated: bool
    threads: Threads


Obligations: TypeAlias = frozenset[Obligation]


class Thread(NamedTuple):
    """One run: at instruction `pc`, `node` deep in its character, with the counters of the loops around it."""

    pc: Pc
    node: int
    counters: tuple[int, ...]
    obligations: Obligations


NOTHING: Threads = frozenset()
FREE: Obligations = frozenset()

# A counter with this flag has had an empty pass: its minimum is met.
_MET = 1 << 40

# Beyond this many alternatives at one place, comparing them costs more than carrying them.
_LARGEST_COMPARED = 256


class ThreadMachine:
    """Steps threads of one program. Thread ids are its own."""

    def __init__(self, program: Program, classes: ByteClasses, limits: Limits) -> None:
        self.program = program
        self.classes = classes
        self._limits = limits
        self._code = program.instructions
        self._ids: dict[Thread, ThreadId] = {}
        self._threads: list[Thread] = []
        self._steps: dict[tuple[ThreadId, int, Past], Threads] = {}
        self._closures: dict[tuple[Pc, tuple[int, ...], Past], Threads] = {}
        self._accepts: dict[ThreadId, bool] = {}

    def __getitem__(self, thread: ThreadId) -> Thread:
        return self._threads[thread]

    def intern(self, thread: Thread) -> ThreadId:
        """The id of a thread."""
        number = self._ids.get(thread)
        if number is None:
            number = self._ids[thread] = len(self._threads)
            self._threads.append(thread)
        return number

    # ------------------------------------------------------------------ acceptance

    def accepts(self, threads: Threads) -> bool:
        """Whether the text may end here."""
        return any(self._thread_accepts(thread) for thread in threads)

    def _thread_accepts(self, number: ThreadId) -> bool:
        verdict = self._accepts.get(number)
        if verdict is None:
            thread = self._threads[number]
            verdict = isinstance(self._code[thread.pc], Accept | Anything) and all(
                self.accepts(duty.threads) != duty.negated for duty in thread.obligations
            )
            self._accepts[number] = verdict
        return verdict

    def is_certain(self, threads: Threads) -> bool:
        """Whether anything is accepted from here on, known or not."""
        for number in threads:
            thread = self._threads[number]
            if not thread.obligations and isinstance(self._code[thread.pc], Anything):
                return True
        return False

    def ended(self, threads: Threads) -> Threads:
        """The threads at which something looked for has just ended."""
        return frozenset(t for t in threads if isinstance(self._code[self._threads[t].pc], Anything))

    def open_conditions(self, threads: Threads) -> int:
        """How many conditions the thread with the fewest still has to meet."""
        return min(sum(not duty.negated for duty in self._threads[number].obligations) for number in threads)

    # ------------------------------------------------------------------ steps

    def step(self, threads: Threads, byte_class: int, past: Past) -> Threads:
        """The threads after a byte of the class; `past` is the verdict at the position after it."""
        if len(threads) == 1:
            return self._step_thread(next(iter(threads)), byte_class, past)
        after: set[ThreadId] = set()
        for number in threads:
            after |= self._step_thread(number, byte_class, past)
        return self._reduce(after)

    def _step_thread(self, number: ThreadId, byte_class: int, past: Past) -> Threads:
        key = (number, byte_class, past)
        result = self._steps.get(key)
        if result is None:
            result = self._steps[key] = self._compute_step(self._threads[number], byte_class, past)
        return result

    def _compute_step(self, thread: Thread, byte_class: int, past: Past) -> Threads:
        instruction = self._code[thread.pc]
        if isinstance(instruction, Accept):
            return NOTHING
        node = 0
        if isinstance(instruction, Atom):
            target = instruction.automaton.step(thread.node, self.classes.representatives[byte_class])
            if target is None:
                return NOTHING
            node = target
        obligations = FREE
        if thread.obligations:
            stepped = self._step_obligations(thread.obligations, byte_class, past)
            if stepped is None:
                return NOTHING
            obligations = stepped
        if isinstance(instruction, Atom) and node == FINAL:
            reached = self.closure(instruction.to, thread.counters, past)
            if not obligations:
                return reached
            return self._reduce({self._with(other, obligations) for other in reached})
        return frozenset((self.intern(Thread(thread.pc, node, thread.counters, obligations)),))

    def _with(self, number: ThreadId, obligations: Obligations) -> ThreadId:
        thread = self._threads[number]
        return self.intern(thread._replace(obligations=thread.obligations | obligations))

    def _step_obligations(self, obligations: Obligations, byte_class: int, past: Past) -> Obligations | None:
        """The obligations after a byte; None where one of them is broken."""
        after = set()
        for negated, threads in obligations:
            settled = self._settle(negated, self.step(threads, byte_class, past))
            if settled is False:
                return None
            if settled is not True:
                after.add(settled)
        return frozenset(after)

    def _settle(self, negated: bool, threads: Threads) -> Obligation | bool:
        """An obligation, or whether it is met (True) or broken (False) already."""
        if not threads:
            return negated
        if self.is_certain(threads):
            return not negated
        return Obligation(negated, threads)

    # ------------------------------------------------------------------ what is reached without reading

    def closure(self, pc: Pc, counters: tuple[int, ...], past: Past) -> Threads:
        """The threads that an instruction leads to without reading a byte.

        `past` may hold the verdicts of inner looks only, where this closure is part of an outer one.
        """
        key = (pc, counters, past)
        result = self._closures.get(key)
        if result is None:
            result = self._closures[key] = self._compute_closure(pc, counters, past)
        return result

    def _compute_closure(self, pc: Pc, counters: tuple[int, ...], past: Past) -> Threads:
        # `fresh` counters, the last ones, are those whose present pass has read nothing.
        start = (pc, counters, len(counters), FREE)
        todo, seen = [start], {start}
        reached: set[ThreadId] = set()
        while todo:
            pc, counters, fresh, obligations = todo.pop()
            instruction = self._code[pc]
            following: list[tuple[Pc, tuple[int, ...], int, Obligations]] = []
            match instruction:
                case Atom() | Accept() | Anything():
                    reached.add(self.intern(Thread(pc, 0, counters, obligations)))
                    self._limits.check("alternatives of one configuration", len(reached), self._limits.threads)
                case Split():
                    following = [(target, counters, fresh, obligations) for target in instruction.targets]
                case CountStart():
                    following = [(instruction.to, (*counters, 0), fresh, obligations)]
                case CountPass():
                    following = [(to, c, f, obligations) for to, c, f in _passes(instruction, counters, fresh)]
                case Condition():
                    settled = self._condition(instruction.look, past)
                    if settled is True:
                        following = [(instruction.to, counters, fresh, obligations)]
                    elif settled is not False:
                        following = [(instruction.to, counters, fresh, obligations | {settled})]
            for state in following:
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        return self._reduce(reached)

    def _condition(self, look: int, past: Past) -> Obligation | bool:
        program = self.program.looks[look]
        threads = self.closure(program.start, (), past[:look]) if program.ahead else past[look]
        return self._settle(program.negated, threads)

    # ------------------------------------------------------------------ fewer threads, same language

    def _reduce(self, numbers: set[ThreadId]) -> Threads:
        """Without the threads that another one covers."""
        if len(numbers) > 1:
            groups: dict[tuple[Pc, int], list[ThreadId]] = {}
            for number in numbers:
                thread = self._threads[number]
                groups.setdefault((thread.pc, thread.node), []).append(number)
            for group in groups.values():
                if 1 < len(group) <= _LARGEST_COMPARED:
                    numbers = numbers - self._covered(group)
            self._limits.check("alternatives of one configuration", len(numbers), self._limits.threads)
        return frozenset(numbers)

    def _covered(self, group: list[ThreadId]) -> set[ThreadId]:
        minima = self.program.minima[self._threads[group[0]].pc]
        covered: set[ThreadId] = set()
        for number in group:
            if number in covered:
                continue
            thread = self._threads[number]
            for other in group:
                if other != number and other not in covered and _covers(thread, self._threads[other], minima):
                    covered.add(other)
        return covered


def _covers(one: Thread, other: Thread, minima: tuple[int, ...]) -> bool:
    """Whether whatever `other` may still accept, `one` may too; both stand at the same place."""
    if not one.obligations <= other.obligations:
        return False
    for mine, theirs, minimum in zip(one.counters, other.counters, minima, strict=True):
        free = mine >= minimum  # true with `_MET` as well
        if mine != theirs and not (free and mine & ~_MET <= theirs & ~_MET):
            return False
    return True


def _passes(loop: CountPass, counters: tuple[int, ...], fresh: int) -> list[tuple[Pc, tuple[int, ...], int]]:
    """Where a pass that is over may lead: (instruction, counters, first fresh counter)."""
    *outer, count = counters
    around, depth = tuple(outer), len(outer)
    if fresh <= depth:
        if not loop.hollow or count & _MET:
            return []
        count |= _MET
    elif loop.maximum is None:
        count = count if count & _MET else min(count + 1, loop.minimum)
    else:
        count += 1
    passes = count & ~_MET
    ways: list[tuple[Pc, tuple[int, ...], int]] = []
    if count & _MET or passes >= loop.minimum:
        ways.append((loop.to, around, min(fresh, depth)))
    if loop.maximum is None or passes < loop.maximum:
        ways.append((loop.body, (*around, count), min(fresh, depth)))
    return ways
