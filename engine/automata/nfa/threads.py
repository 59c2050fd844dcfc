"""The thread machine: steps nondeterministic runs of a program.

A configuration is a set of threads, any of which may go on to accept. What a look-ahead
requires of the future is kept as the thread's obligations, each a configuration of its
own that must (or must not) come to accept, so the machine is an alternating one: Chandra,
Kozen and Stockmeyer, *Alternation*, JACM 28(1), 1981. A look-behind depends on the past,
which is known: a tracker runs its pattern from every position, and the verdict is passed
in as `past`. A called rule returns to a set of stacks (see `stacks`). Corners (see
`closures`) are entered, and returned to, last of all, once for all threads; otherwise a
step would take time proportional to the pairs of rules.

Everything here is pure and memoised: a step of a thread depends on the thread, the byte
class and the verdicts on the past, and on nothing else.

Rejected: backtracking (exponential, and it cannot say what may follow), and
derivatives of the expression itself (each step then rebuilds and normalises a
tree, and loses the source map).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from engine.automata.byte_classes import ByteClasses
from engine.automata.nfa.closures import Closure, Closures, Counters
from engine.automata.nfa.program import Accept, AcceptAny, CharClass, Pc, Program, TokenAtom
from engine.automata.nfa.stacks import BOTTOM, CallFrame, Stacks, StackSet, begun, called
from engine.automata.nfa.thread_values import (
    FREE,
    NOTHING,
    NOWHERE,
    CornerEntry,
    Obligations,
    Past,
    StepResult,
    Thread,
    ThreadId,
    Threads,
    simplify,
    subsumes,
)
from engine.automata.utf8 import FINAL, Utf8Automaton
from engine.grammar import TokenSet
from engine.source import Limits, checkpoint

# Beyond this many alternatives at one instruction, comparing them costs more than keeping them.
_LARGEST_COMPARED = 256
# Most bytes lead to the same threads; the reduction of sets of up to this size is memoised.
_MOST_REMEMBERED = 64
# The closure of a rule that has ended.
_OVER = Closure((), (), returns=True)
# From this number on, threads are sorted by the byte classes they read before they are stepped.
MANY_THREADS = 16


class ThreadMachine:
    """Steps the threads of one program. It assigns the thread ids."""

    def __init__(self, program: Program, classes: ByteClasses, limits: Limits) -> None:
        self.program = program
        self.classes = classes
        self.stacks = Stacks()
        self._closures = Closures(program)
        self._limits = limits
        self._code = program.instructions
        self._ids: dict[Thread, ThreadId] = {}
        self._threads: list[Thread] = []
        self._steps: dict[tuple[ThreadId, int, Past], StepResult] = {}
        self._moves: dict[ThreadId, list[tuple[StepResult, Collection[int]]]] = {}
        self._reached: dict[tuple[Pc, Counters, StackSet, Past], StepResult] = {}
        self._entered: dict[tuple[frozenset[CornerEntry], frozenset[StackSet], Past], Threads] = {}
        self._accepts: dict[ThreadId, bool] = {}
        self._merged: dict[Threads, Threads] = {}
        self._open: dict[ThreadId, tuple[int, int]] = {}
        self._sorted = NOTHING
        self._by_class: dict[int, list[ThreadId]] = {}
        self._node_classes: dict[tuple[int, int], frozenset[int]] = {}
        self._node_labels: dict[tuple[int, int], bytes] = {}

    def __getitem__(self, thread: ThreadId) -> Thread:
        return self._threads[thread]

    def intern(self, thread: Thread) -> ThreadId:
        """Return the id of a thread."""
        number = self._ids.get(thread)
        if number is None:
            number = self._ids[thread] = len(self._threads)
            self._threads.append(thread)
        return number

    # ------------------------------------------------------------------ acceptance

    def accepts(self, threads: Threads) -> bool:
        """Return whether the text may end here."""
        return any(self._thread_accepts(thread) for thread in threads)

    def _thread_accepts(self, number: ThreadId) -> bool:
        verdict = self._accepts.get(number)
        if verdict is None:
            thread = self._threads[number]
            verdict = isinstance(self._code[thread.pc], Accept | AcceptAny) and all(
                self.accepts(duty.threads) != duty.negated for duty in thread.obligations
            )
            self._accepts[number] = verdict
        return verdict

    def _may_match(self, number: ThreadId) -> bool:
        """Return False for a thread at the end of the match whose obligations the empty text breaks.

        Such a thread reads nothing, so it is dropped. A thread at `Accept` therefore always accepts, and everything
        that looks for one (distances, stacks, liveness) agrees with `accepts`.
        """
        thread = self._threads[number]
        at_end = bool(thread.obligations) and isinstance(self._code[thread.pc], Accept)
        return not at_end or self._thread_accepts(number)

    def is_unconditional(self, threads: Threads) -> bool:
        """Return whether every continuation is accepted, as far as it is obvious."""
        for number in threads:
            thread = self._threads[number]
            if not thread.obligations and isinstance(self._code[thread.pc], AcceptAny):
                return True
        return False

    def accepting_threads(self, threads: Threads) -> Threads:
        """Return the threads at which the pattern of a lookaround has just ended."""
        return frozenset(t for t in threads if isinstance(self._code[self._threads[t].pc], AcceptAny))

    def open_conditions(self, threads: Threads) -> tuple[int, int]:
        """Return how far the nearest thread is from a match, as a search's priority.

        First the number of conditions that it has to meet; then the fewest characters and calls before the end, of the
        match or of the farthest condition.
        """
        return min(self._open_conditions_of(number) for number in threads)

    def _open_conditions_of(self, number: ThreadId) -> tuple[int, int]:
        known = self._open.get(number)
        if known is None:
            thread = self._threads[number]
            wanted = [
                min(self._open_conditions_of(inner)[1] for inner in duty.threads)
                for duty in thread.obligations
                if not duty.negated
            ]
            distance = max((self.program.distances[thread.pc], *wanted))
            known = self._open[number] = (len(wanted), distance)
        return known

    # ------------------------------------------------------------------ steps

    def step(self, threads: Threads, byte_class: int, past: Past) -> Threads:
        """Return the threads after a byte of the class; `past` is the verdict at the position after it.

        Args:
            threads: the configuration.
            byte_class: the class of the byte.
            past: the verdicts of the look-behinds at the position after the byte.
        """
        if len(threads) == 1:
            alone = self._step_thread(next(iter(threads)), byte_class, past)
            return self._all_threads(alone, past) if alone.is_open else alone.threads
        return self._joined(
            (self._step_thread(each, byte_class, past) for each in self._movers(threads, byte_class)), past
        )

    def row(self, threads: Threads) -> Iterator[tuple[Threads, list[int]]]:
        """Yield the threads after each byte with its classes, without look-behinds; classes that end all are left out.

        Most classes lead to the same threads as others, which are computed once.
        """
        by_any: list[StepResult] = []
        moved: list[list[StepResult]] = [[] for _ in range(len(self.classes))]
        for number in threads:
            for step_result, classes in self._moves_of(number):
                if len(classes) == len(moved):
                    by_any.append(step_result)
                    continue
                for byte_class in classes:
                    moved[byte_class].append(step_result)
        groups: dict[tuple[int, ...], list[int]] = {}
        for byte_class, step_results in enumerate(moved):
            groups.setdefault(tuple(map(id, step_results)), []).append(byte_class)  # `_moves` keeps the objects alive
        for of_classes in groups.values():
            checkpoint()
            step_results = by_any + moved[of_classes[0]]
            if len(threads) > 1:
                yield self._joined(step_results, ()), of_classes
            elif step_results:
                alone = step_results[0]
                yield self._all_threads(alone, ()) if alone.is_open else alone.threads, of_classes

    def groups(self, parts: Iterable[Threads]) -> list[list[int]]:
        """Return the byte classes in groups that no thread distinguishes, neither in these parts nor in obligations.

        All classes of a group have the same successors, so one of them is stepped for all. A program with large
        character classes has a hundred byte classes, of which a node of a character distinguishes a dozen.
        """
        seen: set[ThreadId] = set()
        nodes: set[tuple[int, int]] = set()
        labels: list[bytes] = []
        todo = list(parts)
        while todo:
            for number in todo.pop() - seen:
                checkpoint()
                seen.add(number)
                thread = self._threads[number]
                instruction = self._code[thread.pc]
                todo += [duty.threads for duty in thread.obligations]
                if isinstance(instruction, CharClass) and (id(instruction.automaton), thread.node) not in nodes:
                    nodes.add((id(instruction.automaton), thread.node))
                    labels.append(self._labels_at(instruction.automaton, thread.node))
        groups: dict[tuple[int, ...], list[int]] = {}
        for byte_class, label in enumerate(zip(*labels, strict=True) if labels else [()] * len(self.classes)):
            groups.setdefault(label, []).append(byte_class)
        return list(groups.values())

    def _labels_at(self, automaton: Utf8Automaton, node: int) -> bytes:
        """Return for each byte class the number of the row of a character's node that reads it; 0 for none."""
        key = (id(automaton), node)  # the program keeps the automata alive
        known = self._node_labels.get(key)
        if known is None:
            targets: dict[int, int] = {}
            labels = bytearray(len(self.classes))
            of_byte = self.classes.of_byte
            for first, last, target in automaton.nodes[node]:
                label = targets.setdefault(target, len(targets) + 1)
                for byte in range(first, last + 1):
                    labels[of_byte[byte]] = label
            known = self._node_labels[key] = bytes(labels)
        return known

    def _moves_of(self, number: ThreadId) -> list[tuple[StepResult, Collection[int]]]:
        """Return the successors of a thread, with their byte classes."""
        known = self._moves.get(number)
        if known is None:
            known = self._moves[number] = self._find_moves(self._threads[number])
        return known

    def _find_moves(self, thread: Thread) -> list[tuple[StepResult, Collection[int]]]:
        instruction = self._code[thread.pc]
        of_byte = self.classes.of_byte
        classes_of_moves: list[Collection[int]] = []
        if isinstance(instruction, AcceptAny):
            classes_of_moves = [range(len(self.classes))]
        elif isinstance(instruction, CharClass):
            by_node: dict[int, set[int]] = {}
            for first, last, target in instruction.automaton.nodes[thread.node]:
                by_node.setdefault(target, set()).update(of_byte[first : last + 1])
            classes_of_moves = list(by_node.values())
        if thread.obligations:
            classes_of_moves = [(byte_class,) for classes in classes_of_moves for byte_class in classes]
        moves = ((self._compute_step(thread, next(iter(classes)), ()), classes) for classes in classes_of_moves)
        return [(step_result, classes) for step_result, classes in moves if step_result is not NOWHERE]

    def _joined(self, step_results: Iterable[StepResult], past: Past) -> Threads:
        """Return the union of some step results as threads."""
        after: set[ThreadId] = set()
        entries: set[CornerEntry] = set()
        returns: set[StackSet] = set()
        for step_result in step_results:
            checkpoint()
            after |= step_result.threads
            if step_result.is_open:
                entries |= step_result.entries
                returns |= step_result.returns
        if entries or returns:
            after |= self._enter(frozenset(entries), frozenset(returns), past)
        if len(after) > _MOST_REMEMBERED:
            return self._reduce(after)
        merged = frozenset(after)
        result = self._merged.get(merged)
        if result is None:
            result = self._merged[merged] = self._reduce(after)
        return result

    def _movers(self, threads: Threads, byte_class: int) -> Iterable[ThreadId]:
        """Return the threads that may read a byte of the class; all of them if they are few.

        A configuration is stepped by one class after the other, so the last one is kept sorted.
        """
        if len(threads) < MANY_THREADS:
            return threads
        if threads is not self._sorted:
            self._sorted, self._by_class = threads, self._sort(threads)
        return self._by_class.get(byte_class, ())

    def _sort(self, threads: Threads) -> dict[int, list[ThreadId]]:
        by_class: dict[int, list[ThreadId]] = {}
        for number in threads:
            checkpoint()
            thread = self._threads[number]
            instruction = self._code[thread.pc]
            classes: Iterable[int] = ()
            if isinstance(instruction, CharClass):
                classes = self._classes_at(instruction.automaton, thread.node)
            elif isinstance(instruction, AcceptAny):
                classes = range(len(self.classes))
            for byte_class in classes:
                by_class.setdefault(byte_class, []).append(number)
        return by_class

    def _classes_at(self, automaton: Utf8Automaton, node: int) -> frozenset[int]:
        """Return the byte classes that a node of a character reads."""
        key = (id(automaton), node)  # the program keeps the automata alive
        known = self._node_classes.get(key)
        if known is None:
            of_byte = self.classes.of_byte
            reads = (range(first, last + 1) for first, last, _ in automaton.nodes[node])
            known = self._node_classes[key] = frozenset(of_byte[byte] for run in reads for byte in run)
        return known

    def step_token(self, threads: Threads, takes: Callable[[TokenSet], bool]) -> Threads:
        """Return the threads after a token taken as a unit; `takes` says which sets contain it."""
        after: set[ThreadId] = set()
        for number in threads:
            thread = self._threads[number]
            instruction = self._code[thread.pc]
            if isinstance(instruction, TokenAtom) and takes(instruction.tokens):
                after |= self.threads_at(instruction.to, (), thread.counters, thread.stacks)
        return self._reduce(after)

    def union(self, one: Threads, other: Threads) -> Threads:
        """Return the union of two configurations."""
        return self._reduce({*one, *other})

    def _step_thread(self, number: ThreadId, byte_class: int, past: Past) -> StepResult:
        key = (number, byte_class, past)
        result = self._steps.get(key)
        if result is None:
            result = self._steps[key] = self._compute_step(self._threads[number], byte_class, past)
        return result

    def _compute_step(self, thread: Thread, byte_class: int, past: Past) -> StepResult:
        instruction = self._code[thread.pc]
        if not isinstance(instruction, CharClass | AcceptAny):
            return NOWHERE
        node = 0
        if isinstance(instruction, CharClass):
            target = instruction.automaton.step(thread.node, self.classes.representatives[byte_class])
            if target is None:
                return NOWHERE
            node = target
        obligations = FREE
        if thread.obligations:
            stepped = self._step_obligations(thread.obligations, byte_class, past)
            if stepped is None:
                return NOWHERE
            obligations = stepped
        if isinstance(instruction, CharClass) and node == FINAL:
            reached = self._reach(instruction.to, past, thread.counters, thread.stacks)
            if not obligations:
                return reached
            if reached.returns:  # they would need obligations of their own; no notation has both
                reached = StepResult(self._all_threads(reached, past))
            entries = (entry._replace(obligations=entry.obligations | obligations) for entry in reached.entries)
            extended = (self._with(other, obligations) for other in reached.threads)
            threads = self._reduce({number for number in extended if self._may_match(number)})
            return StepResult(threads, frozenset(entries))
        return StepResult(frozenset((self.intern(thread._replace(node=node, obligations=obligations)),)))

    def _with(self, number: ThreadId, obligations: Obligations) -> ThreadId:
        thread = self._threads[number]
        return self.intern(thread._replace(obligations=thread.obligations | obligations))

    def _step_obligations(self, obligations: Obligations, byte_class: int, past: Past) -> Obligations | None:
        """Return the obligations after a byte; None if one of them is broken."""
        after = set()
        for negated, threads in obligations:
            simplified = simplify(negated, self.step(threads, byte_class, past), self.is_unconditional)
            if simplified is False:
                return None
            if simplified is not True:
                after.add(simplified)
        return frozenset(after)

    # ------------------------------------------------------------------ epsilon steps

    def threads_at(self, pc: Pc, past: Past, counters: Counters = (), stacks: StackSet = BOTTOM) -> Threads:
        """Return the threads that an instruction leads to without reading a byte, on these stacks.

        Args:
            pc: the instruction.
            past: the verdicts of the looks; within a look, those of the inner ones suffice.
            counters: the counters of the loops around it.
            stacks: the stacks to return to.
        """
        step_result = self._reach(pc, past, counters, stacks)
        return self._all_threads(step_result, past) if step_result.is_open else step_result.threads

    def _reach(self, pc: Pc, past: Past, counters: Counters, stacks: StackSet) -> StepResult:
        key = (pc, counters, stacks, past)
        result = self._reached.get(key)
        if result is None:
            result = self._reached[key] = self._compute_reach(pc, counters, stacks, past)
        return result

    def _compute_reach(self, pc: Pc, counters: Counters, stacks: StackSet, past: Past) -> StepResult:
        return self._follow(self._closures.closure(pc, counters), stacks, past, into_corners=False)

    def _follow(self, closure: Closure, stacks: StackSet, past: Past, *, into_corners: bool) -> StepResult:
        """Return what a closure leads to on these stacks.

        Returns into corners are left to the caller, who does them for all threads at once, unless `into_corners`.
        """
        reached: set[ThreadId] = set()
        entries: set[CornerEntry] = set()
        returns: set[StackSet] = set()
        todo, seen = [(closure, stacks)], set[StackSet]()
        while todo:
            closure, below = todo.pop()
            self._add_reached(closure, below, past, reached)
            if closure.entered:
                entries.update(self._entries(closure, below, past))
            if closure.returns and below not in seen:
                seen.add(below)
                if not into_corners and any(frame.is_corner for frame in self.stacks.tops(below)):
                    returns.add(below)
                else:
                    todo += self._returned(below)
        return StepResult(self._reduce(reached), frozenset(entries), frozenset(returns))

    def _add_reached(
        self, closure: Closure, stacks: StackSet, past: Past, into: set[ThreadId], extra: Obligations = FREE
    ) -> None:
        for pc, counters, pushed, looks in closure.reached:
            checkpoint()
            obligations = self._obligations(looks, past)
            if obligations is None:
                continue
            number = self.intern(Thread(pc, 0, counters, obligations | extra, self._push(pushed, stacks)))
            if self._may_match(number):
                into.add(number)
            self._limits.check("errors.limit.configuration_alternatives", len(into), self._limits.threads, "threads")

    def _push(self, frames: tuple[CallFrame, ...], stacks: StackSet) -> StackSet:
        for frame in frames:
            stacks = self.stacks.push(frame, stacks)
        return stacks

    def _entries(
        self, closure: Closure, stacks: StackSet, past: Past, extra: Obligations = FREE
    ) -> Iterator[CornerEntry]:
        for corner, rule, pushed, looks in closure.entered:
            obligations = self._obligations(looks, past)
            if obligations is not None:
                on = self.stacks.push_called(rule, self._push(pushed, stacks), partial(self._closures.ends, goal=rule))
                yield CornerEntry(corner, obligations | extra, on)

    def _all_threads(self, step_result: StepResult, past: Past) -> Threads:
        """Return all threads of a step result, including those within corners."""
        return self._reduce({*step_result.threads, *self._enter(step_result.entries, step_result.returns, past)})

    def _enter(self, entries: frozenset[CornerEntry], returns: frozenset[StackSet], past: Past) -> Threads:
        """Return the threads after the rules of corners that have ended, and those within the corners that are entered.

        Each is computed once on all stacks together.
        """
        key = entries, returns, past
        known = self._entered.get(key)
        if known is None:
            reached: set[ThreadId] = set()
            todo = entries
            if returns:
                after = self._follow(_OVER, self.stacks.union_all(sorted(returns)), past, into_corners=True)
                reached |= after.threads
                todo |= after.entries
            while todo:
                on: dict[tuple[int, Obligations], list[StackSet]] = {}
                for corner, obligations, stacks in todo:
                    on.setdefault((corner, obligations), []).append(stacks)
                inner: set[CornerEntry] = set()
                for (corner, obligations), sets in on.items():
                    closure, united = self._closures.inside(corner), self.stacks.union_all(sorted(sets))
                    self._add_reached(closure, united, past, reached, obligations)
                    inner.update(self._entries(closure, united, past, obligations))
                todo = frozenset(inner)  # other corners, none of which leads back
            known = self._entered[key] = frozenset(reached)
        return known

    def _returned(self, stacks: StackSet) -> list[tuple[Closure, StackSet]]:
        """Return where the rule on top of the stacks continues when it has ended."""
        continuations = []
        todo, seen = [stacks], {stacks}
        while todo:
            for frame, below in self.stacks.tops(todo.pop()).items():
                checkpoint(2)
                if not frame.is_corner:
                    continuations.append((self._closures.closure(frame.to, frame.counters), below))
                    continue
                for site in self._closures.sites(frame.current):
                    checkpoint(4)
                    on = self.stacks.push(begun(site.rule), below)
                    continuations.append((self._closures.closure(site.to, site.counters), on))
                rest = self.stacks.tops(below).get(called(frame.current))
                if rest is not None and rest not in seen:
                    seen.add(rest)
                    todo.append(rest)
        return continuations

    def _obligations(self, looks: frozenset[int], past: Past) -> Obligations | None:
        """Return the obligations of some conditions; None if one of them does not hold."""
        obligations = FREE
        for look in looks:
            program = self.program.looks[look]
            threads = self.threads_at(program.start, past[:look]) if program.ahead else past[look]
            simplified = simplify(program.negated, threads, self.is_unconditional)
            if simplified is False:
                return None
            if simplified is not True:
                obligations |= {simplified}
        return obligations

    # ------------------------------------------------------------------ fewer threads, same language

    def _reduce(self, numbers: set[ThreadId]) -> Threads:
        """Unite threads that differ in their stacks alone, and drop those that another one subsumes."""
        if len(numbers) > 1:
            groups: dict[tuple[Pc, int], list[ThreadId]] = {}
            for number in numbers:
                checkpoint()
                thread = self._threads[number]
                groups.setdefault((thread.pc, thread.node), []).append(number)
            if len(groups) < len(numbers):
                numbers = set()
                for group in groups.values():
                    numbers |= self._uncovered(self._united(group)) if len(group) > 1 else set(group)
            self._limits.check("errors.limit.configuration_alternatives", len(numbers), self._limits.threads, "threads")
        return frozenset(numbers)

    def _united(self, group: list[ThreadId]) -> set[ThreadId]:
        if not self.program.rules:
            return set(group)
        stacks: dict[Thread, list[StackSet]] = {}
        for number in group:
            thread = self._threads[number]
            stacks.setdefault(thread._replace(stacks=BOTTOM), []).append(thread.stacks)
        return {self.intern(key._replace(stacks=self.stacks.union_all(on))) for key, on in stacks.items()}

    def _uncovered(self, group: set[ThreadId]) -> set[ThreadId]:
        if not 1 < len(group) <= _LARGEST_COMPARED:
            return group
        threads = {number: self._threads[number] for number in group}
        minima = self.program.minima[next(iter(threads.values())).pc]
        covered: set[ThreadId] = set()
        for number, thread in threads.items():
            checkpoint(2 + len(group) // 2)  # each thread is compared with all others
            if number not in covered:
                covered |= {
                    other
                    for other, its in threads.items()
                    if other != number and other not in covered and subsumes(thread, its, minima)
                }
        return group - covered
