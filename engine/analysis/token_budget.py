"""Whether a grammar can still end within so many tokens.

Every answer is a function of the configuration and the number of tokens alone, never of earlier questions: the same
seed must give the same output, however often somebody looked ahead, went back or asked why. So everything that is
kept here is an exact function of its key and can be dropped at any time, and every limit counts the work of one
question as if it were the first.

Each place (a configuration that is not interned) has a lower and an upper bound of the tokens to an end:

- `Runtime.remaining` gives a lower bound in bytes. Divided by the longest token it is a lower bound in tokens; where
  it is exact and every byte is a token, it is an upper bound, too.
- The greedy text of a place is an upper bound: each next byte is a function of the place, so the greedy texts of the
  places along it are its suffixes, and whoever follows its fewest tokens meets an upper bound that falls by one.
- The shortest text in bytes (`Runtime.shortest_completion`) gives both bounds. Its suffixes need not be what a search
  finds behind it, so whoever relies on it must keep its tokens: see `promise`.
- Where tokens lead to very many places (keys that may not come twice are told apart by their whole text), the nearest
  ending of the place before them is tried behind each; again, its tokens must be kept.
- If a regular grammar has few places, the fewest tokens of each are exact (breadth first, backwards from the matches).

A token is allowed if the upper bound of the place behind it fits. If the bounds do not decide, a search looks at all
places that matter, layer by layer, one token further in each. It is exact unless it exceeds its limits; then the upper
bounds decide, which hold back some tokens that could end in time, but allow none that cannot. What a search looks at
behind a token is part of what it looked at before the token, so a search that was within the limits stays within
them, and an ending that was found is found again.

Rejected: bounds that are learned from question to question (iterative deepening with a transposition table: Korf,
AI 27, 1985). They make the next question cheaper and its answer depend on the questions before it. Rejected too: the
fewest tokens of every place by A* (`engine.analysis.token_completion`). It answers one question well; a mask asks a
hundred at once.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.analysis.token_graph import Steps, TokenGraph
from engine.analysis.token_successors import TokenSuccessors
from engine.automata.completion_search import legible
from engine.compile import CompiledGrammar
from engine.vocabulary import Vocabulary

_MOST_PLACES: Final = 30_000  # kept; beyond, all are dropped and computed again
_MASKS_KEPT: Final = 64
_LONGEST_GREEDY: Final = 600  # bytes
_EFFORT_BYTES: Final = 300  # configurations that the search for a shortest text may step from
_MOST_GREEDY: Final = 256  # places whose greedy texts one mask or one search computes
_MOST_TRIED: Final = 7_000  # bytes that are followed to try one text behind many places
_MOST_SPELLED: Final = 4  # places behind the tokens of one mask for which the shortest text is searched
_FINITE_PLACES: Final = 2_000  # of a regular grammar whose exact distances are computed …
_FINITE_NODES: Final = 4_000_000  # … and nodes of the trie that this may visit
_MOST_WALKED: Final = 300  # places whose tokens a search may walk …
_MOST_MET: Final = 1_500  # … places that these walks may meet, byte by byte …
_MOST_NODES: Final = 2_000_000  # … and nodes of the trie that they may visit
_BLANKS: Final = b" \t\r\n"
_CLOSERS: Final = b"\"'}]):,;>"  # bytes that often end something


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


class _Bounds(NamedTuple):
    """Bounds on the completions of a state, from `Runtime.remaining`.

    Attributes:
        bytes: the least number of bytes of a completion; infinite if there is none.
        least: no completion has fewer tokens.
        first: some completion has no more tokens.
    """

    bytes: float
    least: float
    first: float

    def is_undecided(self, tokens: int) -> bool:
        """Return whether these bounds leave open if some completion has at most `tokens` tokens."""
        return self.least <= tokens < self.first


class _Greedy(NamedTuple):
    """The greedy completion of a state.

    Attributes:
        length: its bytes; infinite if it loops or is too long.
        after: the state after its first byte.
        byte: its first byte.
        tokens: the fewest tokens that spell it; infinite if none do.
        token_id: the first of these tokens.
        size: the bytes of this token.
    """

    length: float
    after: int = 0
    byte: int = 0
    tokens: float = inf
    token_id: int = 0
    size: int = 0


_ENDLESS: Final = _Greedy(inf)
_ENDED: Final = _Greedy(0, tokens=0)


class _Shortest(NamedTuple):
    """The result of a bounded search for the shortest completion of a state.

    Attributes:
        at_least: no completion has fewer tokens.
        ids: the fewest tokens that spell the text; None if there is no text or no tokens spell it.
    """

    at_least: float
    ids: tuple[int, ...] | None


class _RenumberedError(Exception):
    """The automaton gave its states other numbers during a question."""


class BudgetSearch:
    """Answers for one grammar over one vocabulary."""

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._automaton = grammar.automaton
        self._grammar = grammar  # keeps the automaton's owner alive
        self._tokens = vocabulary.tokens
        self._steps = TokenSuccessors(grammar.automaton, vocabulary)
        self._graph = TokenGraph(grammar.automaton, vocabulary)
        readable = legible(grammar.automaton.classes, self._steps.alphabet)
        is_narrow = len(readable) <= len(_CLOSERS)
        self._likely = readable if is_narrow else bytes(byte for byte in _CLOSERS if byte in readable)
        self._others = bytes(byte for byte in readable if byte not in self._likely)
        self._is_small = grammar.is_regular  # until it proves to have many places
        self._forget()

    def _forget(self) -> None:
        """Drop everything: the automaton's numbers mean something else now."""
        self._shortest: dict[Any, _Shortest] = {}
        self._masks: OrderedDict[tuple[Any, int], Reach] = OrderedDict()
        self._forget_places()

    def _forget_places(self) -> None:
        self._graph.evict_states()
        self._bounds: dict[int, _Bounds] = {}
        self._next: dict[int, tuple[int, int] | None] = {}
        self._greedy: dict[int, _Greedy] = {}
        self._distances: dict[int, float] | None = None

    # ------------------------------------------------------------------ questions

    def within(self, configuration: int, tokens: int) -> Reach:
        """Return the tokens behind which the grammar can end within so many more."""
        while True:
            number = self._enter(configuration)
            key = self._graph.place(number), tokens
            known = self._masks.get(key)
            if known is None:
                try:
                    known = self._compute_mask(number, tokens)
                except _RenumberedError:
                    continue
                self._masks[key] = known
                if len(self._masks) > _MASKS_KEPT:
                    self._masks.popitem(last=False)
            return known

    def promise(self, configuration: int, tokens: int, before: int | None = None) -> tuple[int, ...]:
        """Return tokens that end the output in time, if `within` behind them might not find that they do.

        A token may be allowed because a shortest text is known behind it. Whoever takes the token keeps what this
        returns there: the first of these tokens is allowed, too, if `within` allows nothing.

        Args:
            configuration: the configuration after the token.
            tokens: how many tokens are left after it.
            before: the configuration before the token; None at the start.

        Returns:
            The tokens; none if `within` finds an ending by itself, or none is known.
        """
        while True:
            number = self._enter(configuration)
            if not self._is_open(number, tokens):
                return ()
            try:
                ids = self._spell(number).ids
                if (ids is None or len(ids) > tokens) and before is not None:
                    ids = self._nearest(self._graph.cursor(before))
                    if ids is not None and not self._ends_with(number, self._text(ids)):
                        ids = None
            except _RenumberedError:
                continue
            return ids if ids is not None and len(ids) <= tokens else ()

    def distance(self, configuration: int) -> tuple[int | None, int | None]:
        """Return bounds of the fewest tokens to an end.

        Returns:
            At least so many, None if there is no end; at most so many, None if no end was found.
        """
        while True:
            number = self._enter(configuration)
            exact = self._exact(number)
            most, least = self._most(number), self._bound(number).least if exact is None else exact
            if least < most:
                try:
                    shortest = self._spell(number)
                except _RenumberedError:
                    continue
                least = max(least, shortest.at_least)
                most = min(most, inf if shortest.ids is None else len(shortest.ids))
            return _whole(least), _whole(most)

    def _compute_mask(self, number: int, tokens: int) -> Reach:
        steps = self._graph.steps(number)
        fitting = {place for place in steps.places if self._bound(place).first <= tokens}
        undecided = {place for place in steps.places if self._bound(place).is_undecided(tokens)}
        if len(undecided) > _MOST_GREEDY and not self._is_settled():
            near = self._try_nearest(number, steps, undecided, tokens)
        else:
            near = {place for place in undecided if self._most(place) <= tokens}
            undecided = {place for place in undecided if self._is_open(place, tokens)}
        fitting |= near
        undecided -= near
        if 0 < len(undecided) <= _MOST_SPELLED:
            for place in tuple(undecided):
                shortest = self._spell(place)
                if shortest.ids is not None and len(shortest.ids) <= tokens:
                    fitting.add(place)
                    undecided.remove(place)
                elif shortest.at_least > tokens:
                    undecided.remove(place)
        found = self._search(undecided, tokens) if undecided else undecided
        fits = np.zeros(len(self._graph), dtype=np.bool_)
        fits[[*fitting, *(found or ())]] = True
        allowed = np.zeros(len(self._tokens), dtype=np.bool_)
        allowed[steps.tokens[fits[steps.after]]] = True
        allowed.setflags(write=False)
        return Reach(allowed, found is not None)

    # ------------------------------------------------------------------ places and their first bounds

    def _enter(self, configuration: int) -> int:
        if len(self._graph) > _MOST_PLACES:
            self._forget_places()
            self._automaton.evict_states()
        if self._automaton.generation != self._graph.generation:
            self._forget()
        return self._graph.cursor(configuration)

    def _bound(self, number: int) -> _Bounds:
        """Return the bounds of a place that need no look at other places."""
        known = self._bounds.get(number)
        if known is None:
            steps = self._steps
            lacks = self._automaton.min_remaining(self._graph.place(number), steps.alphabet)
            if lacks.at_least is None:
                known = _Bounds(inf, 1 if self._automaton.token_elements else inf, inf)
            else:
                fewest = -(-lacks.at_least // steps.longest)
                # A token that is taken whole may be enough.
                least = min(1, fewest) if self._automaton.token_elements else fewest
                is_enough = lacks.at_least == 0 or (lacks.exact and steps.by_bytes)
                known = _Bounds(lacks.at_least, least, lacks.at_least if is_enough else inf)
            self._bounds[number] = known
        return known

    def _is_open(self, number: int, tokens: int) -> bool:
        """Return whether the bounds do not tell if an end is within reach."""
        return self._bound(number).is_undecided(tokens) and self._exact(number) is None and self._most(number) > tokens

    def _is_near(self, number: int, tokens: int) -> bool:
        """Return whether the upper bound says that an end is within reach."""
        bound = self._bound(number)
        return bound.first <= tokens or (bound.least <= tokens and self._most(number) <= tokens)

    def _most(self, number: int) -> float:
        """Return the upper bound of a place; the places that its greedy text leads to have one that is as close."""
        exact = self._exact(number)
        return min(self._bound(number).first, self._find_greedy(number).tokens) if exact is None else exact

    # ------------------------------------------------------------------ many places

    def _try_nearest(self, number: int, steps: Steps, undecided: set[int], tokens: int) -> set[int]:
        """Return those of very many places behind which the nearest ending of the place before them ends in time.

        Args:
            number: the place before them.
            steps: its tokens.
            undecided: the places; if the ending is too long to try it behind all, those with the least token ids count.
            tokens: how many tokens are left.
        """
        near: set[int] = set()
        greedy = self._find_greedy(number)
        if 0 < greedy.tokens < inf:  # what the upper bound of the place relies on
            (after,) = steps.after[steps.tokens == greedy.token_id]
            if after in undecided and self._most(int(after)) <= tokens:
                near.add(int(after))
        ids = self._nearest(number)
        if ids is None or len(ids) > tokens:
            return near
        text = self._text(ids)
        in_order = dict.fromkeys(steps.after[np.argsort(steps.tokens)].tolist())
        candidates = [place for place in in_order if place in undecided]
        near.update(place for place in candidates[: _MOST_TRIED // max(1, len(text))] if self._ends_with(place, text))
        return near

    def _nearest(self, number: int) -> tuple[int, ...] | None:
        """Return the fewest tokens of the greedy and of the shortest text of a place; None if it has neither."""
        ids = self._spell(number).ids
        greedy = self._find_greedy(number)
        if greedy.tokens == inf or (ids is not None and len(ids) <= greedy.tokens):
            return ids
        found: list[int] = []
        while greedy.length:
            found.append(greedy.token_id)
            for _ in range(greedy.size):
                greedy = self._find_greedy(greedy.after)
        return tuple(found)

    def _text(self, ids: Sequence[int]) -> bytes:
        return b"".join(self._tokens[token_id] or b"" for token_id in ids)

    def _ends_with(self, number: int, text: bytes) -> bool:
        """Return whether the grammar ends behind a text."""
        place = self._graph.place(number)
        for byte in text:
            place = self._automaton.advance(place, byte)
            if place is None:
                return False
        return self._automaton.min_remaining(place, self._steps.alphabet).at_least == 0

    # ------------------------------------------------------------------ few places

    def _exact(self, number: int) -> float | None:
        """Return the fewest tokens to an end, if all places of the grammar are few."""
        return self._distances.get(number) if self._is_settled() and self._distances is not None else None

    def _is_settled(self) -> bool:
        """Return whether the fewest tokens of all places are known."""
        if self._is_small and self._distances is None:
            self._distances = self._find_distances()
            self._is_small = self._distances is not None
        return self._distances is not None

    def _find_distances(self) -> dict[int, float] | None:
        """Return the fewest tokens of all places; None if there are too many places."""
        start = self._graph.cursor(self._automaton.start)
        order, sources, nodes = [start], {start: list[int]()}, 0
        for place in order:  # it grows meanwhile
            nodes += self._graph.cost(place).nodes
            if len(order) > _FINITE_PLACES or nodes > _FINITE_NODES:
                return None
            for after in self._graph.following(place):
                if after not in sources:
                    sources[after] = []
                    order.append(after)
                sources[after].append(place)
        distances = dict.fromkeys(order, inf)
        distances |= {place: 0 for place in order if self._bound(place).bytes == 0}
        waiting = deque(place for place in order if distances[place] == 0)
        while waiting:
            place = waiting.popleft()
            for source in sources[place]:
                if distances[source] == inf:
                    distances[source] = distances[place] + 1
                    waiting.append(source)
        return distances

    # ------------------------------------------------------------------ greedy texts

    def _find_greedy(self, number: int) -> _Greedy:
        """Return the greedy text of a place, and compute those of the places along it."""
        path, seen = [number], {number}
        while (known := self._greedy.get(path[-1])) is None:
            place = path[-1]
            if self._bound(place).bytes + len(path) > _LONGEST_GREEDY:
                self._greedy[number] = _ENDLESS  # places further on may be near enough
                return _ENDLESS
            if self._bound(place).bytes == 0:
                known = self._greedy[place] = _ENDED
                break
            way = self._next_byte(place)
            if way is None or way[1] in seen:
                known = self._greedy[place] = _ENDLESS
                break
            path.append(way[1])
            seen.add(way[1])
        for place in reversed(path[:-1]):
            known = self._greedy[place] = self._prolong(place, known)
        return known

    def _prolong(self, place: int, rest: _Greedy) -> _Greedy:
        """Return the greedy text of a place, given that of the place behind its first byte."""
        way = self._next[place]
        if rest.length + 1 >= _LONGEST_GREEDY or way is None:  # as a walk from here finds it
            return _ENDLESS
        byte, after = way
        text, behind = bytearray((byte,)), [rest]
        while len(text) < self._steps.longest and behind[-1].length > 0:
            text.append(behind[-1].byte)
            behind.append(self._greedy[behind[-1].after])
        tokens, size, token_id = inf, 0, 0
        for end, found in self._steps.beginnings(bytes(text)):
            if behind[end - 1].tokens + 1 <= tokens:  # of equals the longest
                tokens, size, token_id = behind[end - 1].tokens + 1, end, found
        return _Greedy(rest.length + 1, after, byte, tokens, token_id, size)

    def _next_byte(self, number: int) -> tuple[int, int] | None:
        """Return the greedy byte of a place and where it leads: closing bytes first, then what lacks least."""
        if number not in self._next:
            self._next[number] = None
            for some in (self._likely, self._others):
                found = ((byte, self._graph.advance(number, byte)) for byte in some)
                ways = [(byte, after) for byte, after in found if after is not None]
                if ways:
                    self._next[number] = min(ways, key=self._order)
                    break
        return self._next[number]

    def _order(self, way: tuple[int, int]) -> tuple[bool, float]:
        return way[0] in _BLANKS, self._bound(way[1]).bytes

    # ------------------------------------------------------------------ shortest texts

    def _spell(self, number: int) -> _Shortest:
        """Return what a bounded search for the shortest text finds."""
        place = self._graph.place(number)
        known = self._shortest.get(place)
        if known is None:
            configuration = self._graph.configuration(number)
            if self._automaton.generation != self._graph.generation:
                raise _RenumberedError
            found = self._automaton.shortest_completion(configuration, _EFFORT_BYTES, None, self._steps.alphabet)
            at_least = self._bound(number).least
            if not self._automaton.token_elements:
                bound = inf if found.at_least is None else -(-found.at_least // self._steps.longest)
                at_least = max(at_least, bound)
            ids = None if found.text is None else self._steps.fewest(found.text)
            known = self._shortest[place] = _Shortest(at_least, ids)
        return known

    # ------------------------------------------------------------------ a search of bounded width

    def _search(self, places: set[int], tokens: int) -> set[int] | None:
        """Return those of some places from which an end is within so many tokens.

        Layer by layer, one token further in each; a place is followed if its bounds leave it open.

        Returns:
            None if the search exceeds a limit.
        """
        if len(places) > _MOST_WALKED:
            return None
        layers, walked, met, greedy, nodes = [places], set[int](), set[int](), set[int](), 0
        left = tokens
        while layers[-1] and left > 0:
            left -= 1
            following: set[int] = set()
            for place in layers[-1]:
                if place not in walked:
                    cost = self._graph.cost(place)
                    walked.add(place)
                    met.update(cost.met)
                    nodes += cost.nodes
                    if len(walked) > _MOST_WALKED or len(met) > _MOST_MET or nodes > _MOST_NODES:
                        return None
                undecided = [after for after in self._graph.following(place) if self._bound(after).is_undecided(left)]
                greedy.update(undecided)
                if len(greedy) > _MOST_GREEDY:
                    return None
                following.update(after for after in undecided if self._is_open(after, left))
            layers.append(following)
        reaching = set[int]()
        for layer in reversed(layers):
            reaching = {place for place in layer if self._reaches(place, left, reaching)}
            left += 1
        return reaching

    def _reaches(self, number: int, tokens: int, reaching: Iterable[int]) -> bool:
        """Return whether a token leads from a place to one with an end within the tokens that are left then."""
        if tokens <= 0:
            return False
        following = self._graph.following(number)
        return any(after in reaching or self._is_near(after, tokens - 1) for after in following)


def _whole(bound: float) -> int | None:
    return None if bound == inf else int(bound)
