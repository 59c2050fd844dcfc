"""Whether a grammar can still end within so many tokens.

Of every place a lower and an upper bound are kept, and they move together only as
far as a question needs it. The upper one is always a way that was found, and every
place along it knows its part; so whoever takes only tokens that lead to places whose
upper bound fits what is left can follow one to the end, whatever happens.

- The bytes that a match lacks (`Runtime.remaining`), written one by one, and the
  longest token, give the first two bounds; mostly they settle it.
- A place one byte before a known one lacks one token more.
- Any text that leads to an end, spelled by as few tokens as can be, is a way; the shortest text often the best.
- Where the automaton is finite, all places around are looked at once, and the
  fewest tokens of each are exact (breadth first, backwards from the matches).
- Elsewhere a search of bounded depth says exactly whether an end is within reach
  (deepening depth first, with what was learned kept: Korf, AI 27, 1985), as long as
  the question is about at most `MOST_TOKENS` tokens and the search stays within
  its effort. Otherwise the upper bound stands: nothing is let through that cannot
  end, and something may be held back that could.

Rejected: the fewest tokens of every place by A* (`engine.masking.token_distance`).
It answers one question well; a mask asks a hundred at once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from engine.automata.completion import legible
from engine.compile import CompiledGrammar
from engine.decoding.budget.token_graph import TokenGraph
from engine.masking.token_steps import TokenSteps
from engine.source import LimitExceededError
from engine.vocabulary import Vocabulary

MOST_TOKENS = 64
"""So many tokens ahead a grammar without a finite automaton is searched."""

_FINITE_PLACES = 2_000
_MOST_PLACES = 30_000
_EFFORT_BYTES = 300  # configurations that the search for a shortest text may step from
_LEAST_BYTES = 4
_MOST_DIVED = 600
_EFFORT_WALKS = 300  # places whose tokens may be walked for one mask
_LEAST_WALKS = 10
_EFFORT_VISITS = 30_000
_MASKS_KEPT = 16
_BLANKS = b" \t\r\n"
_CLOSERS = b"\"'}]):,;>"  # what mostly ends something


@dataclass(frozen=True, slots=True)
class Reach:
    """What may come within a budget.

    Attributes:
        allowed: bool[V], tokens of the grammar behind which it can end in time; end tokens are not among them. Not
            to be written to.
        is_exact: whether it is all of them; else some may be held back that could end in time.
    """

    allowed: NDArray[np.bool_]
    is_exact: bool


class _SpentError(Exception):
    """A search has used up its effort."""


class _RenumberedError(Exception):
    """The automaton gave its states other numbers on the way."""


class TokenReach:
    """Answers for one grammar over one vocabulary."""

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._automaton = grammar.automaton
        self._grammar = grammar  # keeps the automaton's owner alive
        self._tokens = vocabulary.tokens
        self._steps = TokenSteps(grammar.automaton, vocabulary)
        self._graph = TokenGraph(grammar.automaton, vocabulary)
        readable = legible(grammar.automaton.classes, self._steps.alphabet)
        is_narrow = len(readable) <= len(_CLOSERS)
        self._likely = readable if is_narrow else bytes(byte for byte in _CLOSERS if byte in readable)
        self._others = bytes(byte for byte in readable if byte not in self._likely)
        self._is_finite = grammar.is_regular
        self._most_walks, self._most_bytes = _EFFORT_WALKS, _EFFORT_BYTES
        self._forget()

    def _forget(self) -> None:
        self._graph.forget()
        self._least: list[float] = []
        self._most: list[float] = []
        self._lacks: list[float] = []  # bytes, as `Runtime.remaining` has it
        self._dived: set[int] = set()
        self._spelled: set[int] = set()
        self._settled: set[int] = set()
        self._masks: OrderedDict[tuple[int, int], Reach] = OrderedDict()

    def _forget_all_but_a_way(self, configuration: int) -> None:
        """Start anew with what was promised: the way on from where the output stands."""
        if self._automaton.generation != self._graph.generation:
            self._forget()  # the places mean nothing any more
            return
        number, ids = self._enter(configuration), list[int]()
        while 0 < self._most[number] < inf:
            steps = self._graph.steps(number)
            self._note_new()
            number = min(steps.places, key=self._most.__getitem__)
            ids.append(int(steps.tokens[np.argmax(steps.after == number)]))
        is_way = self._most[number] == 0
        self._forget()
        if is_way:
            self._note_tokens(self._enter(configuration), ids)

    # ------------------------------------------------------------------ what is asked

    def within(self, configuration: int, tokens: int) -> Reach:
        """The tokens behind which the grammar can end within so many more."""
        if len(self._graph) > _MOST_PLACES:
            self._forget_all_but_a_way(configuration)
        while True:
            number = self._enter(configuration)
            known = self._masks.get((number, tokens))
            if known is None:
                try:
                    known = self._reckon(number, tokens)
                except _RenumberedError:
                    continue
                self._masks[number, tokens] = known
                if len(self._masks) > _MASKS_KEPT:
                    self._masks.popitem(last=False)
            return known

    def distance(self, configuration: int) -> tuple[int | None, int | None]:
        """The fewest tokens to an end, as bounds: at least so many, None where there is no end; at most so many."""
        while True:
            number = self._enter(configuration)
            try:
                for look in (self._settle, self._dive, self._spell):
                    look(number)
            except _RenumberedError:
                continue
            return _whole(self._least[number]), _whole(self._most[number])

    def _reckon(self, number: int, tokens: int) -> Reach:
        steps = self._graph.steps(number)
        self._note_new()
        self._walks, self._visits = self._most_walks, _EFFORT_VISITS
        fits = np.zeros(len(self._graph), dtype=np.bool_)
        is_exact = True
        for place in steps.places:
            verdict = self._fits(place, tokens)
            fits[place] = bool(verdict)
            is_exact = is_exact and verdict is not None
        if is_exact and not fits.any():
            self._least[number] = max(self._least[number], min(1, self._least[number]) * (tokens + 2))
        allowed = np.zeros(len(self._tokens), dtype=np.bool_)
        allowed[steps.tokens[fits[steps.after]]] = True
        allowed.setflags(write=False)
        return Reach(allowed, is_exact)

    def _fits(self, number: int, tokens: int) -> bool | None:
        """Whether an end is within reach; None where that is not known."""
        verdict = self._glance(number, tokens)
        for look in (self._ask_neighbours, self._settle, self._dive, self._spell):
            if verdict is None:
                look(number)
                verdict = self._glance(number, tokens)
        if verdict is None and tokens <= MOST_TOKENS and self._walks > 0:
            try:
                verdict = self._search(number, tokens)
            except (_SpentError, LimitExceededError):
                # Where a search came to nothing, the next ones mostly do: each may cost half of the last.
                self._most_walks = max(_LEAST_WALKS, self._most_walks // 2)
        return verdict

    def _glance(self, number: int, tokens: int) -> bool | None:
        if self._most[number] <= tokens:
            return True
        return False if self._least[number] > tokens else None

    # ------------------------------------------------------------------ places and their first bounds

    def _enter(self, configuration: int) -> int:
        if self._automaton.generation != self._graph.generation:
            self._forget()
        number = self._graph.enter(configuration)
        self._note_new()
        return number

    def _note_new(self) -> None:
        steps = self._steps
        for number in range(len(self._least), len(self._graph)):
            lacks = self._automaton.remaining(self._graph.place(number), steps.alphabet)
            self._lacks.append(inf if lacks.at_least is None else lacks.at_least)
            if lacks.at_least is None:
                self._least.append(1 if self._automaton.token_elements else inf)
                self._most.append(inf)
                continue
            fewest = -(-lacks.at_least // steps.longest)
            # One token taken whole may be all that is wanted.
            self._least.append(min(1, fewest) if self._automaton.token_elements else fewest)
            is_way = lacks.at_least == 0 or (lacks.exact and steps.by_bytes)
            self._most.append(lacks.at_least if is_way else inf)

    def _ask_neighbours(self, number: int) -> None:
        """One byte further may be a place that is known."""
        if not self._steps.by_bytes:
            return
        for byte in self._likely:
            after = self._graph.follow(number, byte)
            if after is not None:
                if after >= len(self._most):
                    self._note_new()
                self._most[number] = min(self._most[number], self._most[after] + 1)

    # ------------------------------------------------------------------ closer bounds

    def _dive(self, number: int) -> None:
        """A way, but hardly ever the shortest: byte by byte to where least is lacking, back from where it circles."""
        if number in self._settled or number in self._dived:
            return
        self._dived.add(number)
        path, seen = [(number, self._nearest(number))], {number}
        text = bytearray()
        while path and len(seen) < _MOST_DIVED:
            place, ways = path[-1]
            if self._most[place] < inf:
                self._note_way(number, bytes(text), self._most[place])
                return
            byte, after = next(ways, (0, None))
            if after is None:
                path.pop()
                del text[-1:]
            elif after not in seen:
                seen.add(after)
                text.append(byte)
                path.append((after, self._nearest(after)))

    def _nearest(self, number: int) -> Iterator[tuple[int, int]]:
        """Bytes that may come and the places behind them; what closes comes first, then what is nearest to an end."""
        for some in (self._likely, self._others):
            found = ((byte, self._graph.follow(number, byte)) for byte in some)
            ways = [(byte, after) for byte, after in found if after is not None]
            self._note_new()
            yield from sorted(ways, key=self._order)

    def _order(self, way: tuple[int, int]) -> tuple[bool, float]:
        return way[0] in _BLANKS, self._lacks[way[1]]

    def _spell(self, number: int) -> None:
        """A way: the shortest text, by as few tokens as can be."""
        if number in self._settled or number in self._spelled:
            return
        self._spelled.add(number)
        configuration = self._graph.configuration(number)
        if self._automaton.generation != self._graph.generation:
            raise _RenumberedError
        found = self._automaton.shortest_completion(configuration, self._most_bytes, None, self._steps.alphabet)
        if found.at_least is None and not self._automaton.token_elements:
            self._least[number] = inf
        elif found.at_least is not None and not self._automaton.token_elements:
            self._least[number] = max(self._least[number], -(-found.at_least // self._steps.longest))
        if found.text is not None:
            self._note_way(number, found.text)
        else:
            self._most_bytes = max(_LEAST_BYTES, self._most_bytes // 2)

    def _note_way(self, number: int, text: bytes, rest: float = 0) -> None:
        """Every place along a text learns how far the end is; nothing, where no tokens spell it.

        Args:
            number: where the text begins.
            text: leads to a place that is known.
            rest: how many tokens that one lacks at most.
        """
        ids = self._steps.fewest(text)
        if ids is not None:
            self._note_tokens(number, ids, rest)

    def _note_tokens(self, number: int, ids: Sequence[int], rest: float = 0) -> None:
        place, left = number, len(ids) + rest
        self._most[place] = min(self._most[place], left)
        for token_id in ids:
            after = self._after(place, token_id)
            if after is None:
                return
            self._note_new()
            place, left = after, left - 1
            self._most[place] = min(self._most[place], left)

    def _after(self, number: int, token_id: int) -> int | None:
        if self._automaton.token_elements:  # it may be taken whole, too
            steps = self._graph.steps(number)
            found = steps.after[steps.tokens == token_id]
            return int(found[0]) if found.shape[0] else None
        after: int | None = number
        for byte in self._tokens[token_id] or b"":
            after = None if after is None else self._graph.follow(after, byte)
        return after

    def _settle(self, number: int) -> None:
        """All places that tokens lead to from here, and the fewest tokens of each; too many, and none."""
        if not self._is_finite or number in self._settled:
            return
        order, sources = [number], {number: list[int]()}
        for place in order:  # it grows on the way
            if len(order) > _FINITE_PLACES:
                self._is_finite = False
                return
            for after in self._graph.following(place):
                if after not in sources:
                    sources[after] = []
                    order.append(after)
                sources[after].append(place)
        self._note_new()
        distances = {place: 0 for place in order if self._least[place] == 0}
        waiting = deque(distances)
        while waiting:
            place = waiting.popleft()
            for source in sources[place]:
                if source not in distances:
                    distances[source] = distances[place] + 1
                    waiting.append(source)
        for place in order:
            self._least[place] = self._most[place] = distances.get(place, inf)
        self._settled.update(order)

    # ------------------------------------------------------------------ a search of bounded depth

    def _search(self, number: int, tokens: int) -> bool:
        """Whether an end is so near; what is found out of the places on the way is kept."""
        verdict = self._glance(number, tokens)
        if verdict is not None:
            return verdict
        self._visits -= 1
        self._walks -= not self._graph.is_expanded(number)
        if self._visits < 0 or self._walks < 0:
            raise _SpentError
        following = self._graph.following(number)
        self._note_new()
        for after in sorted(following, key=lambda place: (self._most[place], self._least[place])):
            if self._search(after, tokens - 1):
                self._most[number] = min(self._most[number], self._most[after] + 1)
                return True
        self._least[number] = max(self._least[number], tokens + 1)
        return False


def _whole(bound: float) -> int | None:
    return None if bound == inf else int(bound)
