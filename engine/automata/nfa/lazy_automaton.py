"""The lazy automaton of a program: regular grammars, and grammars whose rules call one another.

Only live configurations have an id, those that some string completes. Without
conditions every thread is live by construction. With conditions a search for an
accepting configuration decides, and its verdicts are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import cached_property
from typing import TypeAlias

from engine.automata.byte_automaton import DEAD, MISS
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, Completion, LengthBound
from engine.automata.dfa.searched_table import SearchedTable
from engine.automata.nfa.length_bounds import ByteCosts, ProgramLengths
from engine.automata.nfa.program import CharClass, Program, TokenAtom
from engine.automata.nfa.rule_network import RuleState
from engine.automata.nfa.stack_listing import MOST_STACKS, StackListing, StackSplit, list_stacks
from engine.automata.nfa.thread_values import NOTHING, Past, Threads
from engine.automata.nfa.threads import ThreadMachine
from engine.grammar import TokenSet
from engine.source import CancelToken, Limits, Span, is_work_limited, limited_work

MANY_CLASSES = 16
"""A program with conditions and at least this many byte classes steps groups of them instead of single ones."""

MOST_SEARCHED = 100_000
"""An automaton with more configurations is not searched for completions itself."""

_Key: TypeAlias = tuple[Threads, tuple[Threads, ...]]


class LazyAutomaton(SearchedTable[_Key]):
    """The `ByteAutomaton` of a program.

    Attributes:
        is_grouped: whether byte classes are stepped in groups.
    """

    is_grouped = False

    def __init__(
        self,
        program: Program | None,
        limits: Limits,
        cancel: CancelToken | None = None,
        classes: ByteClasses | None = None,
    ) -> None:
        """Create the automaton.

        Args:
            program: the program; None for the empty language.
            limits: the limits of steps and searches.
            cancel: cancels the search for a match from the start.
            classes: the byte classes, if they are known already.
        """
        super().__init__(classes or ByteClasses.of(program.automata if program else ()), (NOTHING, ()), limits)
        self._live = [False]
        self._lengths: dict[Alphabet, ProgramLengths] = {}
        self._grouped: tuple[int, list[list[int]]] = (DEAD, [])  # the last configuration, with its groups
        if program is not None:
            self.token_elements = program.token_sets
            self._machine = ThreadMachine(program, self.classes, limits)
            self._program = program
            self._has_past = any(not look.ahead for look in program.looks)
            self.is_grouped = bool(program.looks) and self.n_classes >= MANY_CLASSES
            trackers, past = self._track((), None)
            start = self._intern((self._machine.threads_at(program.start, past), trackers))
            self.start = start if self._is_live(start, cancel) else DEAD

    def restart(self, start: _Key) -> None:
        """Drop all configurations except a start; threads keep their numbers."""
        self._clear((NOTHING, ()))
        self._live = [False]
        self._grouped = (DEAD, [])
        self.start = self._intern(start)

    def adopt(self, key: _Key) -> int:
        """Return the number of a configuration of an automaton that this one was copied from."""
        return self._intern(key)

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """Return the shortest text that completes a match, as far as a search of so many steps finds it.

        A search interns the configurations it visits. In a large automaton it would meet a limit that matching needs,
        and its answer would depend on earlier searches; so it uses a scratch automaton then.

        Args:
            configuration: the configuration.
            effort: the largest number of steps.
            cancel: cancels the search.
            alphabet: the bytes to use; None for all.
        """
        if self.size <= MOST_SEARCHED:
            return super().shortest_completion(configuration, effort, cancel, alphabet)
        scratch = copy(self)
        scratch.restart(self._keys[self.start])
        return scratch.shortest_completion(scratch.adopt(self._keys[configuration]), effort, cancel, alphabet)

    @property
    def stack_sets(self) -> int:
        """Return the number of distinct sets of stacks so far."""
        return len(self._machine.stacks)

    # ------------------------------------------------------------------ tokens as units

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """Return the token sets of which one token may come next as a unit."""
        if not self.token_elements:
            return frozenset()
        found = set()
        for number in self._keys[configuration][0]:
            instruction = self._program.instructions[self._machine[number].pc]
            if isinstance(instruction, TokenAtom):
                found.add(instruction.tokens)
        return frozenset(found)

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """Return the configuration after a token: as its bytes, and as a unit where `takes` accepts a token set.

        Args:
            configuration: the configuration.
            data: the token's bytes.
            takes: whether the token belongs to a set.
        """
        unit = self._machine.step_token(self._keys[configuration][0], takes)
        by_bytes = self.run(configuration, data) if data else DEAD
        if by_bytes == DEAD or not unit:
            return self._intern((unit, ())) if unit else by_bytes
        return self._intern((self._machine.union(self._keys[by_bytes][0], unit), ()))

    # ------------------------------------------------------------------ properties of a configuration

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Return the source locations of the characters and tokens that may come next, including look-aheads."""
        found: set[Span] = set()
        todo, seen = [self._keys[configuration][0]], set[int]()
        while todo:
            for number in todo.pop() - seen:
                seen.add(number)
                thread = self._machine[number]
                instruction = self._program.instructions[thread.pc]
                if isinstance(instruction, CharClass):
                    found.add(instruction.span)
                elif isinstance(instruction, TokenAtom):
                    found.add(instruction.tokens.span)
                todo += [duty.threads for duty in thread.obligations]
        return tuple(sorted(found))

    def rule_states(self, configuration: int) -> frozenset[RuleState]:
        """Return the states of the rules that read what comes next, or where the text may end; none of look-aheads."""
        threads = (self._machine[number] for number in self._keys[configuration][0])
        return frozenset(RuleState(thread.pc, thread.counters, thread.node) for thread in threads)

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """Return the source locations of the characters that read a byte of the class."""
        byte = self.classes.representatives[byte_class]
        found = set()
        for number in self._keys[configuration][0]:
            thread = self._machine[number]
            instruction = self._program.instructions[thread.pc]
            if isinstance(instruction, CharClass) and instruction.automaton.step(thread.node, byte) is not None:
                found.add(instruction.span)
        return tuple(sorted(found))

    def stacks(self, configuration: int, limit: int = MOST_STACKS) -> StackListing:
        """Return the stacks of the match; at most `limit` are listed."""
        if configuration == DEAD:
            return StackListing((), 0)
        return list_stacks(self._program, self._machine, self._keys[configuration][0], limit)

    def min_remaining(self, configuration: int, alphabet: Alphabet = None) -> LengthBound:
        """Return bounds of the bytes that complete a configuration, exact without lookarounds."""
        if configuration == DEAD:
            return LengthBound(None, exact=True)
        if self.accepting[configuration]:
            return LengthBound.of(accepting=True, at_least=0, exact=True)
        lengths = self._lengths.get(alphabet)
        if lengths is None:
            lengths = self._lengths[alphabet] = self._lengths_of(alphabet)
        at_least, exact = lengths.of(self._keys[configuration][0])
        return LengthBound.of(accepting=False, at_least=at_least, exact=exact)

    def _lengths_of(self, alphabet: Alphabet) -> ProgramLengths:
        return ProgramLengths(self._program, self._machine, ByteCosts(alphabet))

    def split_stacks(self, configuration: int, most: int) -> tuple[int, ...]:
        """Return one configuration for each stack of the match; the stacks beyond `most` are one configuration."""
        if configuration == DEAD:
            return ()
        threads, trackers = self._keys[configuration]
        parts = (self._intern((part, trackers)) for part in self._stack_split.split_stacks(threads, most))
        return tuple(part for part in parts if self._is_live(part))

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """Return the names of the open rules, the innermost first; for several stacks the innermost of each."""
        return self._stack_split.open_rules(self._keys[configuration][0]) if configuration != DEAD else ()

    @cached_property
    def _stack_split(self) -> StackSplit:
        return StackSplit(self._program, self._machine)

    # ------------------------------------------------------------------ interning and stepping, including dead ends

    def _is_accepting(self, key: _Key) -> bool:
        return self._machine.accepts(key[0])

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

    def step(self, configuration: int, byte_class: int) -> int:
        """Return the configuration after a byte of the class; `DEAD` if it has no completion."""
        following = int(self.rows[configuration, byte_class])
        if following == MISS:
            following = self._follow(configuration, byte_class)
            if self.is_grouped:
                group = next(group for group in self._groups(configuration) if byte_class in group)
                self.rows[configuration, group] = following
            else:
                self.rows[configuration, byte_class] = following
        return following

    def _groups(self, configuration: int) -> list[list[int]]:
        """Return the byte classes in groups that certainly lead to the same configuration."""
        if self._grouped[0] != configuration:
            threads, trackers = self._keys[configuration]
            self._grouped = configuration, self._machine.groups((threads, *trackers))
        return self._grouped[1]

    def complete(self, state: int) -> None:
        """Compute a whole row; what several classes share is computed once."""
        threads = self._keys[state][0]
        if not threads or (self._has_past and not self.is_grouped):
            super().complete(state)
            return
        if not (self.rows[state] == MISS).any():
            return
        if is_work_limited():
            self._complete(state, threads)
            return
        with limited_work("errors.limit.step_work", self._limits.work):
            self._complete(state, threads)

    def _complete(self, state: int, threads: Threads) -> None:
        if self.is_grouped:
            for group in self._groups(state):
                self.step(state, group[0])
            return
        entries = [DEAD] * self.n_classes
        for after, classes in self._machine.row(threads):
            following = self._follow_to(after) if after else DEAD
            for byte_class in classes:
                entries[byte_class] = following
        self.rows[state] = entries

    def _successors(self, configuration: int) -> Iterable[int]:
        threads = self._keys[configuration][0]
        if threads and self.is_grouped:
            return (self._step(configuration, group[0]) for group in self._groups(configuration))
        if not threads or self._has_past:
            return super()._successors(configuration)
        return (self._intern((after, ())) for after, _ in self._machine.row(threads) if after)

    def _follow_to(self, after: Threads) -> int:
        following = self._intern((after, ()))
        return following if self._is_live(following) else DEAD

    def _track(self, trackers: tuple[Threads, ...], byte_class: int | None) -> tuple[tuple[Threads, ...], Past]:
        """Return the state of every look-behind after a byte (None: before the first), and its verdict."""
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
            threads = machine.threads_at(look.start, known)
            if byte_class is not None:
                threads |= machine.step(trackers[index], byte_class, known)
            verdict = machine.accepting_threads(threads)
            following.append(threads - verdict)
            past.append(verdict)
        return tuple(following), tuple(past)

    # ------------------------------------------------------------------ liveness

    def _is_plainly_live(self, configuration: int) -> bool | None:
        if self.accepting[configuration]:
            return True
        threads = self._keys[configuration][0]
        unconditional = self._program.unconditional
        for number in threads:
            thread = self._machine[number]
            if not thread.obligations and unconditional[thread.pc]:
                return True
        return None if threads else False

    def _priority(self, configuration: int, order: int) -> tuple[tuple[int, int], int]:
        """Return the fewest conditions left to meet, then the distance to the end; ties prefer the latest.

        A search that ignores conditions tries every path to the end of the text before the first that meets them, and
        one that ignores distances may repeat a loop as long as its count allows.
        """
        return self._machine.open_conditions(self._keys[configuration][0]), -order
