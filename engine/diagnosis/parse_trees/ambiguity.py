"""The shortest text with two readings: a bounded search, which proves that there is none where it can exhaust it.

Two runs of the grammar's network read the same text. A run is a state and the stack of open rules; runs that have
parted stay a pair, and a text with two readings leads a pair to the end (the product of an automaton with itself: Book,
Even, Greibach, Ott, *Ambiguity in graphs and expressions*, IEEE Trans. Computers C-20, 1971; over stacks it need not
end). Pairs are explored by length, and a stack that needs more bytes than are left is not entered. So left recursion
ends, and the first text found is a shortest one. If nothing was left out for want of bytes, the answer is a proof.

A call with nothing left to do after it adds no frame, so that right recursion, too, has finitely many stacks.

Rejected: all texts in order of length. There are too many of eight bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

from engine.automata.byte_classes import ByteRanges
from engine.compile import CompiledGrammar
from engine.diagnosis.parse_trees.network import MOST_PATHS, ParseNetwork
from engine.diagnosis.parse_trees.parser import TextParser, network_of
from engine.diagnosis.parse_trees.values import AmbiguityAnswer, AmbiguityVerdict
from engine.grammar.analysis import left_recursion
from engine.source import CancelToken, EngineError, LimitExceededError, checkpoint
from engine.source.catalogue import catalogue_text

_MOST_REFUTED = 20
_REPORT_EVERY = 1_000
_MANY = 2
_READABLE = (range(ord("a"), ord("z") + 1), range(ord("0"), ord("9") + 1), range(0x21, 0x7F))


@dataclass(frozen=True, slots=True)
class AmbiguityLimits:
    """The limits of a search.

    Attributes:
        length: the longest text, in bytes, of a grammar that is not regular.
        pairs: the most pairs of runs, in all lengths together.
    """

    length: int = 64
    pairs: int = 150_000


def shortest_ambiguous_text(
    grammar: CompiledGrammar, limits: AmbiguityLimits = AmbiguityLimits(), cancel: CancelToken | None = None
) -> AmbiguityAnswer:
    """Search for a shortest text with two readings.

    A text of a JSON Schema has one: it is that of the JSON value.

    Args:
        grammar: the grammar.
        limits: the limits.
        cancel: receives the progress and cancels.

    Raises:
        CancelledError: `cancel` was used.
    """
    if grammar.describes_json or grammar.is_empty:
        return AmbiguityAnswer(AmbiguityVerdict.UNAMBIGUOUS)
    try:
        search = _Search(network_of(grammar), limits, cancel or CancelToken(), is_regular=grammar.is_regular)
        confirmed = TextParser(grammar) if search.has_conditions else None
        recursion = () if grammar.grammar is None else left_recursion(grammar.grammar)
        return search.run(confirmed, is_left_recursive=bool(recursion))
    except EngineError as error:
        if cancel is not None:
            cancel.check()
        return AmbiguityAnswer(AmbiguityVerdict.UNKNOWN, reason=str(error))


_Run: TypeAlias = tuple[int, int]
"""A state, and the number of a stack."""
_Pair: TypeAlias = tuple[_Run, _Run | None]
"""Two runs that have parted; or one run alone."""


class _Stack(NamedTuple):
    """A stack: where its innermost rule returns to after a text or none, the stack below, and the bytes to end it."""

    after: int
    after_empty: int
    below: int
    least: int


class _Moves(NamedTuple):
    """The next moves of a run: the runs after each class of bytes, one for each path, and the number of its ends."""

    following: dict[int, list[_Run]]
    ends: int


class _Search:
    def __init__(
        self, network: ParseNetwork, limits: AmbiguityLimits, cancel: CancelToken, *, is_regular: bool
    ) -> None:
        self._network, self._limits, self._cancel, self._is_regular = network, limits, cancel, is_regular
        self._stacks = [_Stack(-1, -1, -1, 0)]
        self._stack_ids: dict[tuple[int, int, int], int] = {}
        self._moves: dict[tuple[_Run, int | None], _Moves] = {}
        self._is_cut = False  # whether a limit ended the search
        self._done = 0  # no text up to this length has two readings
        self._count = 0
        self._letters = tuple(map(_letter_of, network.classes.ranges))

    @property
    def has_conditions(self) -> bool:
        """Return whether runs are followed that a condition may forbid."""
        return bool(self._network.looks)

    def run(self, confirmed: TextParser | None, *, is_left_recursive: bool) -> AmbiguityAnswer:
        """Search all texts, or, where closures of left recursion need a bound, those of up to 1, 2, 4… bytes.

        Args:
            confirmed: parses a text that was found, if conditions may forbid one of its readings.
            is_left_recursive: whether a rule may begin with itself.
        """
        bound, refuted = 1 if is_left_recursive else None, 0
        while True:
            for text in self._found(bound):
                if confirmed is None or confirmed.parse(text, self._cancel).is_ambiguous:
                    return AmbiguityAnswer(AmbiguityVerdict.AMBIGUOUS, text, len(text))
                refuted += 1
                if refuted == _MOST_REFUTED:
                    break
            if refuted:
                return AmbiguityAnswer(AmbiguityVerdict.UNKNOWN, reason=catalogue_text("errors.parse_trees.conditions"))
            if self._is_cut or bound == self._limits.length:
                return AmbiguityAnswer(AmbiguityVerdict.NOT_FOUND, length=self._done)
            if bound is None:
                return AmbiguityAnswer(AmbiguityVerdict.UNAMBIGUOUS)
            bound = min(2 * bound, self._limits.length)

    def _found(self, bound: int | None) -> Iterator[bytes]:
        """Yield texts with two readings, of at most `bound` bytes, the shortest first."""
        self._moves.clear()
        start: _Pair = (self._network.starts[0], 0), None
        came: dict[_Pair, tuple[_Pair, int] | None] = {start: None}
        layer, length = [start], 0
        while layer:
            following: list[_Pair] = []
            for pair in layer:
                checkpoint()
                self._count += 1
                if self._count % _REPORT_EVERY == 0:
                    self._cancel.report("progress.ambiguity", length)
                if self._count > self._limits.pairs or (length > self._limits.length and not self._is_regular):
                    self._is_cut = True
                    return
                may_end, after = self._after(pair, None if bound is None else bound - length)
                if may_end:
                    yield self._text(came, pair)
                for byte_class, others in after:
                    for other in others:
                        if other not in came:
                            came[other] = pair, byte_class
                            following.append(other)
            self._done = max(self._done, length)
            layer, length = following, length + 1
        self._done = max(self._done, bound or 0)

    def _after(self, pair: _Pair, left: int | None) -> tuple[bool, Iterable[tuple[int, Iterable[_Pair]]]]:
        """Return whether the text may end with two readings, and the pairs after each class of bytes."""
        first, second = pair
        moves = self._moves_of(first, left)
        if second is None:
            alone = (
                (byte_class, [*((run, None) for run in runs), *(_ordered(*two) for two in combinations(runs, 2))])
                for byte_class, runs in moves.following.items()
            )
            return moves.ends > 1, alone
        others = self._moves_of(second, left)
        both = (
            (byte_class, (_ordered(*two) for two in product(runs, others.following[byte_class])))
            for byte_class, runs in moves.following.items()
            if byte_class in others.following
        )
        return bool(moves.ends and others.ends), both

    def _moves_of(self, run: _Run, left: int | None) -> _Moves:
        known = self._moves.get((run, left))
        if known is None:
            known = self._moves[run, left] = self._find(run, left)
        return known

    def _find(self, run: _Run, left: int | None) -> _Moves:
        """Follow all paths of a run that read nothing: through calls and ends of rules."""
        network, following, ends = self._network, defaultdict[int, list[_Run]](list), 0
        # a state, a stack, how many frames of it were added here, and the calls that may be a cycle without a text
        todo: list[tuple[int, int, int, tuple[int, ...]]] = [(*run, 0, ())]
        while todo:
            checkpoint()
            state, stack, fresh, cycle = todo.pop()
            below = self._stacks[stack]
            leaving = network.leaving(state)
            if leaving.reads:
                self._read(state, stack, left, following)
            for path in leaving.calls:
                is_last = network.is_end(path.after) and network.is_end(path.after_empty)
                inner = stack if is_last else self._push(path.after, path.after_empty, stack)
                calls = cycle if network.least(path.after) else (*cycle, path.after)
                start = network.starts[path.rule]
                is_in_reach = left is None or network.least(start) + self._stacks[inner].least <= left
                if is_in_reach and calls.count(path.after) <= _MANY:
                    todo.append((start, inner, fresh + (not is_last), calls))
            for _ in leaving.ends:
                if not stack:
                    ends += 1
                else:
                    after = below.after_empty if fresh else below.after
                    todo.append((after, below.below, max(0, fresh - 1), cycle))
            if len(todo) > MOST_PATHS:
                raise LimitExceededError("errors.limit.followed_ways", given=len(todo), limit=MOST_PATHS)
        return _Moves(following, ends)

    def _read(self, state: int, stack: int, left: int | None, following: dict[int, list[_Run]]) -> None:
        """Add the runs after each class of bytes that a state reads."""
        network = self._network
        for byte_class, byte in enumerate(network.classes.representatives):
            for arrival in network.arrivals(state, byte):
                least = network.least(arrival.state) + self._stacks[stack].least
                if left is None or least < left:
                    following[byte_class].append((arrival.state, stack))

    def _push(self, after: int, after_empty: int, below: int) -> int:
        key = after, after_empty, below
        number = self._stack_ids.get(key)
        if number is None:
            number = self._stack_ids[key] = len(self._stacks)
            least = min(self._network.least(after), self._network.least(after_empty)) + self._stacks[below].least
            self._stacks.append(_Stack(*key, least))
        return number

    def _text(self, came: dict[_Pair, tuple[_Pair, int] | None], pair: _Pair) -> bytes:
        """Return the text that leads to a pair, with readable characters of each class."""
        found = bytearray()
        while (step := came[pair]) is not None:
            pair, byte_class = step
            found.append(self._letters[byte_class])
        return bytes(reversed(found))


def _ordered(first: _Run, second: _Run) -> _Pair:
    return (first, second) if first <= second else (second, first)


def _letter_of(ranges: ByteRanges) -> int:
    """Return a byte of a class that is easy to read."""
    found = (byte for good in _READABLE for byte in good if any(first <= byte <= last for first, last in ranges))
    return next(found, ranges[0][0])
