"""Lower bounds of the bytes that complete a configuration of a program, exact without lookarounds.

The shortest text of every rule, and of every instruction up to the end of its rule,
look or pass, is a least fixed point (Knuth, *A generalization of Dijkstra's algorithm*,
IPL 6(1), 1977). The bound of a thread is then a sum: the rest of its character, the
passes that its loops still need, and the rest of each frame of its stack. Nothing is
searched, however deep the stack and high the counts.

A condition counts as free here, and the completion of a look-ahead is a bound of its
own, so with lookarounds the sum is a lower bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import TypeAlias

from engine.automata.completion import Alphabet, LengthBound
from engine.automata.nfa.closures import MET, Closures, Counters
from engine.automata.nfa.program import (
    Accept,
    AcceptAny,
    Call,
    CharClass,
    CountPass,
    CountStart,
    Instruction,
    Pc,
    Program,
    Return,
    Split,
    TokenAtom,
    successors,
)
from engine.automata.nfa.stacks import BOTTOM, CallFrame, StackSet
from engine.automata.nfa.thread_values import Obligation, Obligations, Thread, Threads
from engine.automata.nfa.threads import ThreadMachine
from engine.automata.utf8 import FINAL, Utf8Automaton
from engine.source import check_cancelled, checkpoint

Length: TypeAlias = int | None
"""A number of bytes; None if no bytes lead there."""


class ProgramLengths:
    """The completion lengths of the threads of one program."""

    def __init__(self, program: Program, machine: ThreadMachine, characters: ByteCosts) -> None:
        self._program = program
        self._machine = machine
        self._characters = characters
        self._lengths = _shortest(program, self._characters)
        self._loops = _loops(program)
        self._closures = Closures(program)
        self._stacks: dict[StackSet, Length] = {BOTTOM: 0}
        self._frames: dict[CallFrame, Length] = {}
        self._lengths_by_goal: dict[int, dict[int, int]] = {}
        self._threads: dict[Thread, Length] = {}

    def of(self, threads: Threads) -> LengthBound:
        """Return bounds of the bytes that complete a configuration of these threads."""
        return LengthBound(self._of_threads(threads), exact=not self._program.looks)

    def _of_threads(self, threads: Threads) -> Length:
        return _least(self._of_thread(self._machine[number]) for number in threads)

    def _of_thread(self, thread: Thread) -> Length:
        if thread not in self._threads:
            lengths = [self._own_length(thread)]
            lengths += (self._of_threads(duty.threads) for duty in _positive(thread.obligations))
            self._threads[thread] = None if None in lengths else max(filter(None, lengths), default=0)
        return self._threads[thread]

    def _own_length(self, thread: Thread) -> Length:
        instruction = self._program.instructions[thread.pc]
        if isinstance(instruction, CharClass):
            here = _sum(self._characters.left(instruction.automaton, thread.node), self._lengths[instruction.to])
            return _sum(here, self._remaining_passes(instruction.to, thread.counters), self._below(thread.stacks))
        return _sum(
            self._lengths[thread.pc], self._remaining_passes(thread.pc, thread.counters), self._below(thread.stacks)
        )

    def _remaining_passes(self, pc: Pc, counters: Counters) -> Length:
        """Return the length from the end of the current pass of an instruction to the end of the rule."""
        owed: Length = 0
        for loop, count in zip(self._loops.get(pc, ()), counters, strict=True):
            instruction = self._program.instructions[loop]
            assert isinstance(instruction, CountPass)
            missing = 0 if count & MET else max(0, instruction.minimum - (count & ~MET) - 1)
            owed = _sum(owed, _times(missing, self._lengths[instruction.body]), self._lengths[instruction.to])
        return owed

    # ------------------------------------------------------------------ the rest of a stack

    def _below(self, stacks: StackSet) -> Length:
        todo = [stacks]
        while todo:
            tops = list(self._machine.stacks.whole_tops(todo[-1]))
            checkpoint(1 + len(tops))
            missing = [below for _, below in tops if below not in self._stacks]
            if missing:
                todo += missing
                continue
            lengths = (_sum(self._frame(frame), self._stacks[below]) for frame, below in tops)
            self._stacks.setdefault(todo.pop(), _least(lengths))
        return self._stacks[stacks]

    def _frame(self, frame: CallFrame) -> Length:
        if frame not in self._frames:
            if frame.is_corner:
                self._frames[frame] = self._corner(frame)
            else:
                self._frames[frame] = _sum(self._lengths[frame.to], self._remaining_passes(frame.to, frame.counters))
        return self._frames[frame]

    def _corner(self, frame: CallFrame) -> Length:
        """Return the length from a matched rule, through rules that begin with it, to the end of the called one."""
        known = self._lengths_by_goal.get(frame.goal)
        if known is None:
            known = self._lengths_by_goal[frame.goal] = self._lengths_to(frame.goal)
        return known.get(frame.current)

    def _lengths_to(self, goal: int) -> dict[int, int]:
        """Return the length from each rule of a corner to one of them, found from that one backwards."""
        before: dict[int, list[tuple[int, int]]] = {}
        for rule in self._closures.corner(goal):
            sites = self._closures.sites(rule)
            checkpoint(1 + len(sites))
            for site in sites:
                length = _sum(self._lengths[site.to], self._remaining_passes(site.to, site.counters))
                if length is not None:
                    before.setdefault(site.rule, []).append((length, rule))
        lengths: dict[int, int] = {}
        nearest = [(0, goal)]
        while nearest:
            checkpoint()
            length, rule = heapq.heappop(nearest)
            if rule not in lengths:
                lengths[rule] = length
                for more, other in before.get(rule, ()):
                    heapq.heappush(nearest, (length + more, other))
        return lengths


class ByteCosts:
    """The number of bytes of an alphabet that characters need."""

    def __init__(self, alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        # By identity: the program keeps the automata, and hashing one reads all of it.
        self._left: dict[int, list[Length]] = {}

    def left(self, automaton: Utf8Automaton, node: int = 0) -> Length:
        """Return the fewest bytes from a node to the end of the character."""
        known = self._left.get(id(automaton))
        if known is None:
            known = self._left[id(automaton)] = _bytes_left(automaton, self._alphabet)
        return known[node]


def _bytes_left(automaton: Utf8Automaton, alphabet: Alphabet) -> list[Length]:
    fewest: list[Length] = [None] * len(automaton.nodes)
    level, length = {FINAL}, 0
    while level:
        length += 1
        check_cancelled()
        level = {
            node
            for node, row in enumerate(automaton.nodes)
            if fewest[node] is None
            and any(target in level and _holds(alphabet, first, last) for first, last, target in row)
        }
        for node in level:
            fewest[node] = length
    return fewest


def _holds(alphabet: Alphabet, first: int, last: int) -> bool:
    return alphabet is None or not alphabet.isdisjoint(range(first, last + 1))


def _shortest(program: Program, characters: ByteCosts) -> list[Length]:
    """Return for each instruction the fewest bytes to the end of the rule, look or pass that it is in."""
    code = program.instructions
    passes = _passes(program)
    lengths: list[Length] = [None] * len(code)
    dependents: list[list[Pc]] = [[] for _ in code]
    for pc, instruction in enumerate(code):
        checkpoint()
        for needed in _needed(instruction, program, passes):
            dependents[needed].append(pc)

    def length(instruction: Instruction) -> Length:
        needed = [lengths[pc] for pc in _needed(instruction, program, passes)]
        match instruction:
            case TokenAtom():
                return None
            case Split():
                return _least(needed)
            case CountStart(body):
                return _sum(_times(passes[body].minimum, needed[0]), needed[1])
            case CharClass():
                return _sum(characters.left(instruction.automaton), needed[0])
            case _:
                return _sum(*needed)

    nearest = [(0, pc) for pc, item in enumerate(code) if isinstance(item, Accept | AcceptAny | Return | CountPass)]
    queued = set[Pc]()  # lengths are final in ascending order, so the first one that is found is the least
    while nearest:
        checkpoint()
        least, pc = heapq.heappop(nearest)
        lengths[pc] = least
        for dependent in dependents[pc]:
            found = length(code[dependent]) if dependent not in queued else None
            if found is not None:
                queued.add(dependent)
                heapq.heappush(nearest, (found, dependent))
    return lengths


def _passes(program: Program) -> dict[Pc, CountPass]:
    """Return the ends of the counting loops, by the start of their bodies."""
    return {item.body: item for item in program.instructions if isinstance(item, CountPass)}


def _needed(instruction: Instruction, program: Program, passes: dict[Pc, CountPass]) -> tuple[Pc, ...]:
    """Return the instructions on which the length of an instruction depends."""
    match instruction:
        case Call(rule=rule, to=to) if not program.rules[rule].nullable:
            return program.rules[rule].start, to
        case CountStart(body):
            return body, passes[body].to
        case CountPass():
            return ()
        case _:
            return successors(instruction)


def _loops(program: Program) -> dict[Pc, tuple[Pc, ...]]:
    """Return for each instruction the counting loops around it, outermost first, each as the end of its pass."""
    code = program.instructions
    ends = {instruction.body: pc for pc, instruction in enumerate(code) if isinstance(instruction, CountPass)}
    around: dict[Pc, tuple[Pc, ...]] = {}
    todo: list[tuple[Pc, tuple[Pc, ...]]] = [
        (pc, ())
        for pc in (program.start, *(rule.start for rule in program.rules), *(look.start for look in program.looks))
    ]
    while todo:
        checkpoint()
        pc, loops = todo.pop()
        if pc in around:
            continue
        around[pc] = loops
        match code[pc]:
            case CountStart(body):
                todo.append((body, (*loops, ends[body])))
            case CountPass(body=body, to=to):
                todo += [(body, loops), (to, loops[:-1])]
            case instruction:
                todo += [(target, loops) for target in successors(instruction)]
    return around


def _positive(obligations: Obligations) -> Iterable[Obligation]:
    return (duty for duty in obligations if not duty.negated)


def _sum(*lengths: Length) -> Length:
    total = 0
    for length in lengths:
        if length is None:
            return None
        total += length
    return total


def _times(count: int, length: Length) -> Length:
    return 0 if count == 0 else None if length is None else count * length


def _least(lengths: Iterable[Length]) -> Length:
    return min((length for length in lengths if length is not None), default=None)
