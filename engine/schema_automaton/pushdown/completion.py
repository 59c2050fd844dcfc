"""The shortest completion of a JSON text, found level by level.

Frames do not depend on the stack below them, so the shortest text that ends a value is
computed once for each frame and each ending, whatever the stack is (Knuth, *A
generalization of Dijkstra's algorithm*, IPL 6(1), 1977; the tabulation of Reps, Horwitz
and Sagiv, POPL 1995). One queue holds the states of all levels, ordered by the length
read within the level: when the end of a value leaves the queue, there is no shorter
one, and every caller that opened such a value continues. A lexeme is one step: what the lexer
of a frame reads does not depend on the stack either, so the completions of a lexer state
are computed once, shortest first. Members that an object does not need are left out.

Rejected: A* over whole configurations, as for NFA programs. Levels multiply.
"""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

from engine.automata.actions import NEEDS_TEXT, POP, PUSH, STAY, decode
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.completion import Alphabet, Completion
from engine.automata.completion_search import legible_bytes, search_completion
from engine.schema_automaton.lexing.lexer import LexerTable, symbol_of
from engine.schema_automaton.pushdown.frame_table import FrameTable
from engine.schema_automaton.pushdown.frames import ParsePosition
from engine.source import CancelToken, LimitExceededError, checkpoint

LONGEST_TEXT: Final = 100_000
"""The most bytes of a completion that is written out; nested required members can need far more."""

_STEPS: Final = 10  # steps of this search per step of `search_completion`, which does more in one
_EFFORT_OF_REST: Final = 10  # the fraction of the effort that is left for a completion that is not the shortest
_CHECK_EVERY: Final = 256
_ENDED: Final = -1  # instead of a frame: the value has ended


class _SearchNode(NamedTuple):
    """A search state of one level.

    Attributes:
        level: the frame with which the value began; -1, -2, … from the top for the levels open at the start.
        frame: the current frame; `_ENDED` after the value.
        state: the lexer state; after the value, the number of its ending.
    """

    level: int
    frame: int
    state: int


class _Predecessor(NamedTuple):
    """A predecessor of a search state: the state, the bytes read after it, and the value that follows them."""

    before: _SearchNode | None
    read: bytes
    value: _SearchNode | None


_BEGIN: Final = _Predecessor(None, b"", None)
_FIRST: Final = -1  # instead of a completion's index: the state is new in the queue


class JsonCompletion:
    """A search for the shortest completion of one configuration."""

    def __init__(
        self,
        automaton: ByteAutomaton,
        frame_table: FrameTable,
        effort: int,
        cancel: CancelToken | None,
        alphabet: Alphabet,
    ) -> None:
        self._automaton, self._frame_table, self._alphabet = automaton, frame_table, alphabet
        self._effort, self._cancel = effort, cancel
        self._endings = _LexemeCompletions(
            frame_table.lexer_table, legible_bytes(automaton.classes, alphabet), alphabet
        )
        # The length read at least, whether the state was expanded before, a number that breaks ties, the state, and
        # the index of its next lexeme completion.
        self._queue: list[tuple[int, bool, int, _SearchNode, int]] = []
        self._count = 0
        self._best: dict[_SearchNode, int] = {}
        self._predecessors: dict[_SearchNode, _Predecessor] = {}
        self._callers: dict[int, list[tuple[_SearchNode, int, int, bytes]]] = {}
        self._ends: dict[int, list[_SearchNode]] = {}
        self._begun: set[_SearchNode] = set()
        self._stack: list[int] = []
        self._all_followed = True  # whether no path was skipped

    def run(self, configuration: int) -> Completion:
        """Return the shortest completion; only bounds if the effort does not suffice or the text decides."""
        state, self._stack = self._automaton.stack_top(
            configuration, self._automaton.size + len(self._frame_table.frames)
        )
        self._reach(_SearchNode(-1, self._stack[0], state), 0, _BEGIN)
        least = steps = 0  # some state of the shortest path is always in the queue
        while self._queue and steps + self._endings.steps < self._effort * _STEPS:
            if self._cancel is not None and steps % _CHECK_EVERY == 0:
                self._cancel.report("progress.ending", steps)
            steps += 1
            checkpoint(8)
            least, _, _, node, number = heapq.heappop(self._queue)
            if number == _FIRST:
                if node in self._begun:
                    continue  # a shorter path to it was found since
                self._begun.add(node)
            if (
                node.level < 0
                and node.frame != _ENDED
                and self._frame_table.frames[node.frame].position is ParsePosition.DONE
            ):
                return self._found(configuration, node, least)
            try:
                self._expand(node, max(0, number), least)
            except LimitExceededError:
                return self._rest(configuration, least)  # a state was dropped, so an empty queue proves nothing
        if not self._queue and self._all_followed:
            return Completion(None)
        return self._rest(configuration, least)

    def _found(self, configuration: int, end: _SearchNode, length: int) -> Completion:
        least = self._automaton.min_remaining(self._automaton.cursor(configuration)).at_least
        text = self._text(end) if length <= LONGEST_TEXT else None
        return Completion(length if self._all_followed else least, length, text)

    def _rest(self, configuration: int, least: int) -> Completion:
        """Return the result of a search over configurations, which knows texts but not levels."""
        effort = self._effort // _EFFORT_OF_REST if self._all_followed else self._effort
        other = search_completion(self._automaton, configuration, effort, self._cancel, self._alphabet)
        if other.at_least is None:
            return other
        return Completion(
            max(other.at_least, least) if self._all_followed else other.at_least, other.at_most, other.text
        )

    def _reach(self, node: _SearchNode, cost: int, predecessor: _Predecessor) -> None:
        known = self._best.get(node)
        if known is None or cost < known:
            self._best[node], self._predecessors[node] = cost, predecessor
            self._push(cost, node, _FIRST)

    def _push(self, cost: int, node: _SearchNode, number: int) -> None:
        self._count += 1
        heapq.heappush(self._queue, (cost, number > 0, self._count, node, number))

    def _expand(self, node: _SearchNode, number: int, least: int) -> None:
        """Follow the next lexeme completion of a state, and queue the state again for the one after it."""
        cost = self._best[node]
        if node.frame == _ENDED:
            self._end(node, cost)
            return
        ending = self._endings.nth(node.state, number, least - cost)
        if isinstance(ending, _LexemeCompletion):
            self._act(node, ending, cost)
            self._push(least, node, number + 1)
        elif ending is not None:
            self._push(cost + ending, node, number)

    def _act(self, node: _SearchNode, ending: _LexemeCompletion, cost: int) -> None:
        action = self._automaton.stack_action(node.frame, ending.symbol)
        if action == NEEDS_TEXT:
            self._all_followed = False
            return
        kind, top, under, reread = decode(action)
        read = ending.text if reread else ending.text + ending.last
        after = cost + len(read)
        if kind == STAY and self._is_wanted(node, top):
            self._reach(self._begin(node.level, top), after, _Predecessor(node, read, None))
        elif kind == POP:
            self._reach(_SearchNode(node.level, _ENDED, top), after, _Predecessor(node, read, None))
        elif kind == PUSH:
            self._callers.setdefault(top, []).append((node, under, after, read))
            self._reach(self._begin(top, top), 0, _BEGIN)
            for end in self._ends.get(top, ()):
                self._return(end, (node, under, after, read))

    def _is_wanted(self, node: _SearchNode, top: int) -> bool:
        """Return whether a key that just ended begins a member that the shortest completion may contain.

        A member that changes nothing that its object needs can be left out, including its comma, unless its key or
        that comma was read before the search began.
        """
        position, alternatives = self._frame_table.frames[node.frame]
        before = self._predecessors[node].before
        if position is not ParsePosition.KEY or before is None:
            return True
        if (
            self._frame_table.frames[before.frame].position is ParsePosition.MEMBER
            and self._predecessors[before].before is None
        ):
            return True
        wants: dict[object, set[object]] = {}
        for state, _ in alternatives:
            wants.setdefault(state.machine, set()).add(state.machine.wants(state))
        transitions = self._frame_table.frames[top].alternatives
        return any(
            wants[transition.state.machine] != {transition.state.machine.wants(transition.state)}
            for transition, _ in transitions
        )

    def _end(self, end: _SearchNode, cost: int) -> None:
        """Continue after the end of a value, wherever it began."""
        if end.level < 0:
            following = self._below(self._stack[-end.level], end.state)
            if following:
                self._reach(self._begin(end.level - 1, following), cost, _Predecessor(end, b"", None))
            return
        self._ends.setdefault(end.level, []).append(end)
        checkpoint(len(self._callers[end.level]))
        for caller in self._callers[end.level]:
            self._return(end, caller)

    def _return(self, end: _SearchNode, caller: tuple[_SearchNode, int, int, bytes]) -> None:
        node, under, cost, read = caller
        following = self._below(under, end.state)
        if following:
            self._reach(self._begin(node.level, following), cost + self._best[end], _Predecessor(node, read, end))

    def _below(self, frame: int, ending: int) -> int:
        following = self._automaton.return_action(frame, ending)
        if following == NEEDS_TEXT:  # the text of the value decides, and different values have different texts
            self._all_followed = False
            return DEAD
        return following

    def _begin(self, level: int, frame: int) -> _SearchNode:
        return _SearchNode(level, frame, self._frame_table.actions.start(frame))

    def _text(self, end: _SearchNode) -> bytes:
        pieces: list[bytes] = []
        todo: list[_SearchNode | bytes] = [end]
        while todo:
            part = todo.pop()
            if isinstance(part, bytes):
                pieces.append(part)
                continue
            predecessor = self._predecessors[part]
            todo += [piece for piece in (predecessor.before, predecessor.read, predecessor.value) if piece]
        return b"".join(reversed(pieces))


# ---------------------------------------------------------------------- lexemes


class _LexemeCompletion(NamedTuple):
    """One completion of a lexeme.

    Attributes:
        symbol: the symbol with which the lexeme ends.
        text: the bytes before the last one.
        last: the byte that ends it.
    """

    symbol: int
    text: bytes
    last: bytes


class _LexemeCompletions:
    """The lexeme completions of all lexer states of one grammar.

    Attributes:
        lexer_table: the lexer states.
        alphabet: the bytes that a completion may contain; None for all.
        steps: the number of states expanded so far.
    """

    def __init__(self, lexer_table: LexerTable, legible: bytes, alphabet: Alphabet) -> None:
        self.lexer_table = lexer_table
        self.alphabet = alphabet
        self.steps = 0
        self._legible = legible
        self._of_state: dict[int, _LexemeSearch] = {}
        self._exits: dict[int, list[tuple[int, bytes]]] = {}

    def nth(self, state: int, number: int, up_to: int) -> _LexemeCompletion | int | None:
        """Return the completion of a lexer state with index `number`, shortest first; each has another symbol.

        Args:
            state: the lexer state.
            number: the index of the completion.
            up_to: the most bytes before its last one.

        Returns:
            The completion, if no more than `up_to` bytes come before its last one; otherwise a lower bound of these
            bytes, or None if there is no such completion.
        """
        search = self._of_state.get(state)
        if search is None:
            search = self._of_state[state] = _LexemeSearch(state, self.lexer_table.owners[state][0].most_ends)
        while len(search.found) <= number and search.queue and search.queue[0][0] <= up_to:
            search.expand(self)
        if number < len(search.found):
            return search.found[number]
        return search.queue[0][0] if search.queue else None

    def exits(self, state: int) -> list[tuple[int, bytes]]:
        """Return the successors of a lexer state, each with one byte. Optional white space is skipped."""
        exits = self._exits.get(state)
        if exits is None:
            self.steps += 1
            self.lexer_table.complete(state)
            row = self.lexer_table.rows[state].tolist()
            chosen: dict[int, bytes] = {}
            for byte in self._legible:
                if row[byte] != DEAD:
                    chosen.setdefault(row[byte], bytes((byte,)))
            lexer, _ = self.lexer_table.owners[state]
            # The byte after a number ends it and is read again; at the end of the text there is none.
            for byte in lexer.reread_ends:
                if row[byte] < DEAD:
                    chosen.setdefault(row[byte], bytes((byte,)))
            ends = [exit_ for exit_ in chosen.items() if exit_[0] < DEAD]
            exits = self._exits[state] = ends if lexer.reads_whitespace and ends else list(chosen.items())
        return exits

    def min_remaining(self, state: int) -> int | None:
        """Return a lower bound of the bytes before the one that ends the lexeme; None if it has no completion."""
        lexer, name = self.lexer_table.owners[state]
        return lexer.min_remaining(name, self.alphabet)


class _LexemeSearch:
    """An A* search from one lexer state to all completions."""

    def __init__(self, start: int, most: int | None) -> None:
        self.found: list[_LexemeCompletion] = []
        self._most = most
        self._symbols: set[int] = set()
        self._came: dict[int, tuple[int, int, bytes]] = {start: (0, DEAD, b"")}
        self._count = 0
        # The estimated length, then the longest first, then the first found; a state; and for the end of the lexeme,
        # the entry of the table and the byte.
        self.queue: list[tuple[int, int, int, int, int, bytes]] = []
        self._push(0, 0, start)

    def _push(self, least: int, read: int, state: int, entry: int = DEAD, last: bytes = b"") -> None:
        self._count += 1
        heapq.heappush(self.queue, (least, -read, self._count, state, entry, last))

    def expand(self, completions: _LexemeCompletions) -> None:
        """Expand the most promising entry of the queue."""
        least, negated, _, state, entry, last = heapq.heappop(self.queue)
        read = -negated
        if entry < DEAD:
            symbol = symbol_of(entry)
            if symbol not in self._symbols:
                self._symbols.add(symbol)
                self.found.append(_LexemeCompletion(symbol, self._text(state), last))
                if len(self.found) == self._most:
                    self.queue.clear()
            return
        if read > self._came[state][0]:
            return
        exits = completions.exits(state)
        checkpoint(2 + 2 * len(exits))
        for following, byte in exits:
            if following < DEAD:
                if symbol_of(following) not in self._symbols:
                    self._push(read, read, state, following, byte)
            elif following not in self._came or read + 1 < self._came[following][0]:
                missing = completions.min_remaining(following)
                if missing is not None:
                    self._came[following] = read + 1, state, byte
                    self._push(max(least, read + 1 + missing), read + 1, following)

    def _text(self, state: int) -> bytes:
        pieces: list[bytes] = []
        while self._came[state][0]:
            _, state, byte = self._came[state]
            pieces.append(byte)
        return b"".join(reversed(pieces))
