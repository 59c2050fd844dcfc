"""The tokens after which a grammar can still be completed within a token budget.

Every result depends only on the configuration and the number of tokens, never on earlier queries: the same seed must
give the same output, no matter how often a user looked ahead, stepped back or asked for an explanation. So every cached
value is an exact function of its key and can be dropped at any time, and every limit counts the work of one query as
if it were the first.

Each state (a configuration that is not interned) has a lower and an upper bound of the tokens of a completion:

- `ByteAutomaton.min_remaining` is a lower bound in bytes. Divided by the length of the longest token it is a lower
  bound in tokens; if it is exact and every byte is a token, it is an upper bound too.
- The greedy completion of a state is an upper bound. Each next byte is a function of the state, so the greedy
  completions of the states along it are its suffixes, and each of its tokens lowers the upper bound by one.
- The shortest completion in bytes (`ByteAutomaton.shortest_completion`) gives both bounds. A search from a later state
  need not find its suffix, so a caller that relies on it must keep its tokens: see `pinned_completion`.
- If tokens lead to very many states (keys that may not occur twice are distinguished by their whole text), the known
  completion of the state before them is tried after each token; again, a caller must keep its tokens.
- If a regular grammar has few states, the distances of all of them are computed exactly (breadth first, backwards from
  the accepting states).

A token is allowed if the upper bound of the state after it fits. If the bounds do not decide, a search explores all
relevant states, one token further in each layer. It is exact unless it exceeds its limits; then the upper bounds
decide, which mask some tokens that could finish in time, but allow none that cannot. The states that a search visits
after a token are among those that it visited before the token, so a search that was within the limits stays within
them, and a completion that was found is found again.

Rejected: bounds that improve from query to query (iterative deepening with a transposition table: Korf, AI 27, 1985).
They make the next query cheaper, but its result depends on earlier queries. Also rejected: the fewest tokens of every
state by A* (`engine.analysis.token_completion`). It is good for one query; a mask needs a hundred at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.analysis.token_graph import Steps, TokenGraph
from engine.analysis.token_successors import TokenSuccessors
from engine.automata.completion_search import legible_bytes
from engine.compile import CompiledGrammar
from engine.source.lru import LruCache
from engine.vocabulary import Vocabulary

MAX_STATES: Final = 30_000  # cached states; beyond this, all are dropped and computed again
_CACHED_MASKS: Final = 64
_MAX_GREEDY_BYTES: Final = 600  # bytes of a greedy completion
_MAX_BYTE_STEPS: Final = 300  # configurations that the search for a shortest completion may expand
_MAX_GREEDY: Final = 256  # states whose greedy completions one mask or one search computes
_MAX_TRIED_BYTES: Final = 7_000  # bytes that are read to try one completion at many states
_MAX_SHORTEST: Final = 4  # states after the tokens of one mask for which a shortest completion is searched
_MAX_EXACT_STATES: Final = 2_000  # states of a regular grammar whose exact distances are computed …
_MAX_EXACT_NODES: Final = 4_000_000  # … and nodes of the trie that this may visit
_MAX_EXPANDED: Final = 300  # states that a search may expand …
_MAX_MET: Final = 1_500  # … states that these walks may meet, byte by byte …
_MAX_NODES: Final = 2_000_000  # … and nodes of the trie that they may visit
_WHITE_SPACE: Final = b" \t\r\n"
_CLOSERS: Final = b"\"'}]):,;>"  # bytes that often close a construct


@dataclass(frozen=True, slots=True)
class BudgetMask:
    """The tokens that are allowed within a budget.

    Attributes:
        allowed: bool[V], read-only: the tokens after which the grammar can be completed in time; EOS ids are not
            among them.
        is_exact: whether these are all of them; otherwise some may be missing.
    """

    allowed: NDArray[np.bool_]
    is_exact: bool


class _Bounds(NamedTuple):
    """Bounds on the completions of a state, from `ByteAutomaton.min_remaining`.

    Attributes:
        bytes: the lower bound of the bytes of a completion; infinite if there is none.
        at_least: the lower bound of its tokens.
        at_most: the upper bound of its tokens.
    """

    bytes: float
    at_least: float
    at_most: float

    def is_undecided(self, tokens: int) -> bool:
        """Return whether these bounds leave open if some completion has at most `tokens` tokens."""
        return self.at_least <= tokens < self.at_most


class _Greedy(NamedTuple):
    """The greedy completion of a state.

    Attributes:
        length: its number of bytes; infinite if it loops or is too long.
        after: the state after its first byte.
        byte: its first byte.
        tokens: the fewest tokens that it splits into; infinite if there are none.
        token_id: the first of these tokens.
        size: the number of bytes of this token.
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
        at_least: the lower bound of the tokens of a completion.
        ids: the fewest tokens of the shortest completion; None if none was found or it has no tokens.
    """

    at_least: float
    ids: tuple[int, ...] | None


class _RenumberedError(Exception):
    """The automaton renumbered its states during a query."""


class BudgetSearch:
    """Queries about token budgets of one grammar over one vocabulary."""

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._automaton = grammar.automaton
        self._grammar = grammar  # keeps the owner of the automaton alive
        self._tokens = vocabulary.tokens
        self._steps = TokenSuccessors(grammar.automaton, vocabulary)
        self._graph = TokenGraph(grammar.automaton, vocabulary)
        readable = legible_bytes(grammar.automaton.classes, self._steps.alphabet)
        is_narrow = len(readable) <= len(_CLOSERS)
        self._first_choice_bytes = readable if is_narrow else bytes(byte for byte in _CLOSERS if byte in readable)
        self._other_bytes = bytes(byte for byte in readable if byte not in self._first_choice_bytes)
        self._is_small = grammar.is_regular  # until it turns out to have many states
        self._clear()

    def _clear(self) -> None:
        """Clear all caches, because the automaton has renumbered its states."""
        self._shortest: dict[Any, _Shortest] = {}
        self._masks: LruCache[tuple[Any, int], BudgetMask] = LruCache(_CACHED_MASKS)
        self._evict_states()

    def _evict_states(self) -> None:
        self._graph.evict_states()
        self._bounds: dict[int, _Bounds] = {}
        self._greedy_step: dict[int, tuple[int, int] | None] = {}
        self._greedy: dict[int, _Greedy] = {}
        self._distances: dict[int, float] | None = None

    # ------------------------------------------------------------------ queries

    def allowed_within(self, configuration: int, tokens: int) -> BudgetMask:
        """Return the tokens after which the grammar can be completed within `tokens` tokens more."""
        while True:
            number = self._number_of(configuration)
            key = self._graph.cursor_of(number), tokens
            with suppress(_RenumberedError):
                return self._masks.get(key, partial(self._compute_mask, number, tokens))

    def pinned_completion(self, configuration: int, tokens: int, before: int | None = None) -> tuple[int, ...]:
        """Return tokens that complete the output in time, if later calls of `allowed_within` might not find them.

        A token may be allowed because a shortest completion is known after it. A caller that accepts the token keeps
        the result of this method: the first of these tokens is allowed even if `allowed_within` then allows nothing.

        Args:
            configuration: the configuration after the token.
            tokens: the number of tokens left after it.
            before: the configuration before the token; None at the start.

        Returns:
            The tokens; empty if `allowed_within` finds a completion by itself, or none is known.
        """
        while True:
            number = self._number_of(configuration)
            if not self._is_open(number, tokens):
                return ()
            try:
                ids = self._find_shortest(number).ids
                if (ids is None or len(ids) > tokens) and before is not None:
                    ids = self._known_completion(self._graph.cursor(before))
                    if ids is not None and not self._ends_with(number, self._text(ids)):
                        ids = None
            except _RenumberedError:
                continue
            return ids if ids is not None and len(ids) <= tokens else ()

    def distance(self, configuration: int) -> tuple[int | None, int | None]:
        """Return bounds of the fewest tokens of a completion.

        Returns:
            The lower bound, None if there is no completion; and the upper bound, None if no completion was found.
        """
        while True:
            number = self._number_of(configuration)
            exact = self._exact(number)
            at_most, at_least = self._upper_bound(number), self._bound(number).at_least if exact is None else exact
            if at_least < at_most:
                try:
                    shortest = self._find_shortest(number)
                except _RenumberedError:
                    continue
                at_least = max(at_least, shortest.at_least)
                at_most = min(at_most, inf if shortest.ids is None else len(shortest.ids))
            return _as_count(at_least), _as_count(at_most)

    def _compute_mask(self, number: int, tokens: int) -> BudgetMask:
        steps = self._graph.steps(number)
        fitting = {state for state in steps.targets if self._bound(state).at_most <= tokens}
        undecided = {state for state in steps.targets if self._bound(state).is_undecided(tokens)}
        if len(undecided) > _MAX_GREEDY and not self._has_exact_distances():
            within_budget = self._try_known_completion(number, steps, undecided, tokens)
        else:
            within_budget = {state for state in undecided if self._upper_bound(state) <= tokens}
            undecided = {state for state in undecided if self._is_open(state, tokens)}
        fitting |= within_budget
        undecided -= within_budget
        if 0 < len(undecided) <= _MAX_SHORTEST:
            for state in tuple(undecided):
                shortest = self._find_shortest(state)
                if shortest.ids is not None and len(shortest.ids) <= tokens:
                    fitting.add(state)
                    undecided.remove(state)
                elif shortest.at_least > tokens:
                    undecided.remove(state)
        found = self._search(undecided, tokens) if undecided else undecided
        fits = np.zeros(len(self._graph), dtype=np.bool_)
        fits[[*fitting, *(found or ())]] = True
        allowed = np.zeros(len(self._tokens), dtype=np.bool_)
        allowed[steps.tokens[fits[steps.after]]] = True
        allowed.setflags(write=False)
        return BudgetMask(allowed, found is not None)

    # ------------------------------------------------------------------ states and their bounds

    def _number_of(self, configuration: int) -> int:
        if len(self._graph) > MAX_STATES:
            self._evict_states()
            self._automaton.evict_states()
        if self._automaton.generation != self._graph.generation:
            self._clear()
        return self._graph.cursor(configuration)

    def _bound(self, number: int) -> _Bounds:
        """Return the bounds of a state that do not depend on other states."""
        known = self._bounds.get(number)
        if known is None:
            steps = self._steps
            missing = self._automaton.min_remaining(self._graph.cursor_of(number), steps.alphabet)
            if missing.at_least is None:
                known = _Bounds(inf, 1 if self._automaton.token_elements else inf, inf)
            else:
                fewest = -(-missing.at_least // steps.longest)
                # A single token element may be enough.
                at_least = min(1, fewest) if self._automaton.token_elements else fewest
                is_enough = missing.at_least == 0 or (missing.exact and steps.by_bytes)
                known = _Bounds(missing.at_least, at_least, missing.at_least if is_enough else inf)
            self._bounds[number] = known
        return known

    def _is_open(self, number: int, tokens: int) -> bool:
        """Return whether the bounds do not decide if a completion is within the budget."""
        return (
            self._bound(number).is_undecided(tokens)
            and self._exact(number) is None
            and self._upper_bound(number) > tokens
        )

    def _is_near(self, number: int, tokens: int) -> bool:
        """Return whether a completion is within the budget by the upper bound."""
        bound = self._bound(number)
        return bound.at_most <= tokens or (bound.at_least <= tokens and self._upper_bound(number) <= tokens)

    def _upper_bound(self, number: int) -> float:
        """Return the upper bound of a state; those of the states along its greedy completion are consistent with it."""
        exact = self._exact(number)
        return min(self._bound(number).at_most, self._find_greedy(number).tokens) if exact is None else exact

    # ------------------------------------------------------------------ many successor states

    def _try_known_completion(self, number: int, steps: Steps, undecided: set[int], tokens: int) -> set[int]:
        """Return those of very many successor states that the known completion of their predecessor completes in time.

        Args:
            number: the predecessor.
            steps: its tokens.
            undecided: the successor states; if trying all would take too long, those with the smallest token ids are
                tried.
            tokens: the number of tokens left.
        """
        within_budget: set[int] = set()
        greedy = self._find_greedy(number)
        if 0 < greedy.tokens < inf:  # the upper bound of the predecessor relies on this token
            (after,) = steps.after[steps.tokens == greedy.token_id]
            if after in undecided and self._upper_bound(int(after)) <= tokens:
                within_budget.add(int(after))
        ids = self._known_completion(number)
        if ids is None or len(ids) > tokens:
            return within_budget
        text = self._text(ids)
        in_order = dict.fromkeys(steps.after[np.argsort(steps.tokens)].tolist())
        candidates = [state for state in in_order if state in undecided]
        within_budget.update(
            state for state in candidates[: _MAX_TRIED_BYTES // max(1, len(text))] if self._ends_with(state, text)
        )
        return within_budget

    def _known_completion(self, number: int) -> tuple[int, ...] | None:
        """Return the tokens of the greedy or the shortest completion, whichever are fewer; None if there is neither."""
        ids = self._find_shortest(number).ids
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
        """Return whether a text completes the match."""
        state = self._graph.cursor_of(number)
        for byte in text:
            state = self._automaton.advance(state, byte)
            if state is None:
                return False
        return self._automaton.min_remaining(state, self._steps.alphabet).at_least == 0

    # ------------------------------------------------------------------ exact distances

    def _exact(self, number: int) -> float | None:
        """Return the fewest tokens of a completion; None if exact distances are not known."""
        return self._distances.get(number) if self._has_exact_distances() and self._distances is not None else None

    def _has_exact_distances(self) -> bool:
        """Return whether the exact distances of all states are known, computing them for a small regular grammar."""
        if self._is_small and self._distances is None:
            self._distances = self._find_distances()
            self._is_small = self._distances is not None
        return self._distances is not None

    def _find_distances(self) -> dict[int, float] | None:
        """Return the fewest tokens of a completion for all states; None if there are too many states."""
        start = self._graph.cursor(self._automaton.start)
        order, sources, nodes = [start], {start: list[int]()}, 0
        for state in order:  # which grows during the loop
            nodes += self._graph.cost(state).nodes
            if len(order) > _MAX_EXACT_STATES or nodes > _MAX_EXACT_NODES:
                return None
            for after in self._graph.successors(state):
                if after not in sources:
                    sources[after] = []
                    order.append(after)
                sources[after].append(state)
        distances = dict.fromkeys(order, inf)
        distances |= {state: 0 for state in order if self._bound(state).bytes == 0}
        waiting = deque(state for state in order if distances[state] == 0)
        while waiting:
            state = waiting.popleft()
            for source in sources[state]:
                if distances[source] == inf:
                    distances[source] = distances[state] + 1
                    waiting.append(source)
        return distances

    # ------------------------------------------------------------------ greedy completions

    def _find_greedy(self, number: int) -> _Greedy:
        """Return the greedy completion of a state, computing those of the states along it."""
        path, seen = [number], {number}
        while (known := self._greedy.get(path[-1])) is None:
            state = path[-1]
            if self._bound(state).bytes + len(path) > _MAX_GREEDY_BYTES:
                self._greedy[number] = _ENDLESS  # only this state: later ones may be close enough
                return _ENDLESS
            if self._bound(state).bytes == 0:
                known = self._greedy[state] = _ENDED
                break
            step = self._next_greedy_step(state)
            if step is None or step[1] in seen:
                known = self._greedy[state] = _ENDLESS
                break
            path.append(step[1])
            seen.add(step[1])
        for state in reversed(path[:-1]):
            known = self._greedy[state] = self._extend_greedy(state, known)
        return known

    def _extend_greedy(self, state: int, rest: _Greedy) -> _Greedy:
        """Return the greedy completion of a state, given that of the state after its first byte."""
        step = self._greedy_step[state]
        if rest.length + 1 >= _MAX_GREEDY_BYTES or step is None:  # a walk from this state has the same result
            return _ENDLESS
        byte, after = step
        text, rests = bytearray((byte,)), [rest]
        while len(text) < self._steps.longest and rests[-1].length > 0:
            text.append(rests[-1].byte)
            rests.append(self._greedy[rests[-1].after])
        tokens, size, token_id = inf, 0, 0
        for end, found in self._steps.prefixes(bytes(text)):
            if rests[end - 1].tokens + 1 <= tokens:  # of equal splits, the one with the longest first token
                tokens, size, token_id = rests[end - 1].tokens + 1, end, found
        return _Greedy(rest.length + 1, after, byte, tokens, token_id, size)

    def _next_greedy_step(self, number: int) -> tuple[int, int] | None:
        """Return the greedy byte of a state and the state after it: closing bytes first, then the fewest bytes left."""
        if number not in self._greedy_step:
            self._greedy_step[number] = None
            for some in (self._first_choice_bytes, self._other_bytes):
                found = ((byte, self._graph.advance(number, byte)) for byte in some)
                candidates = [(byte, after) for byte, after in found if after is not None]
                if candidates:
                    self._greedy_step[number] = min(candidates, key=self._greedy_key)
                    break
        return self._greedy_step[number]

    def _greedy_key(self, step: tuple[int, int]) -> tuple[bool, float]:
        return step[0] in _WHITE_SPACE, self._bound(step[1]).bytes

    # ------------------------------------------------------------------ shortest completions

    def _find_shortest(self, number: int) -> _Shortest:
        """Return the result of a bounded search for the shortest completion."""
        state = self._graph.cursor_of(number)
        known = self._shortest.get(state)
        if known is None:
            configuration = self._graph.configuration(number)
            if self._automaton.generation != self._graph.generation:
                raise _RenumberedError
            found = self._automaton.shortest_completion(configuration, _MAX_BYTE_STEPS, None, self._steps.alphabet)
            at_least = self._bound(number).at_least
            if not self._automaton.token_elements:
                bound = inf if found.at_least is None else -(-found.at_least // self._steps.longest)
                at_least = max(at_least, bound)
            ids = None if found.text is None else self._steps.fewest_tokens(found.text)
            known = self._shortest[state] = _Shortest(at_least, ids)
        return known

    # ------------------------------------------------------------------ a search of bounded width

    def _search(self, states: set[int], tokens: int) -> set[int] | None:
        """Return those of some states that can be completed within `tokens` tokens; None if a limit is exceeded.

        The search goes layer by layer, one token further in each, and expands the states that the bounds leave open.
        """
        if len(states) > _MAX_EXPANDED:
            return None
        layers, walked, met, greedy, nodes = [states], set[int](), set[int](), set[int](), 0
        left = tokens
        while layers[-1] and left > 0:
            left -= 1
            following: set[int] = set()
            for state in layers[-1]:
                if state not in walked:
                    cost = self._graph.cost(state)
                    walked.add(state)
                    met.update(cost.met)
                    nodes += cost.nodes
                    if len(walked) > _MAX_EXPANDED or len(met) > _MAX_MET or nodes > _MAX_NODES:
                        return None
                undecided = [after for after in self._graph.successors(state) if self._bound(after).is_undecided(left)]
                greedy.update(undecided)
                if len(greedy) > _MAX_GREEDY:
                    return None
                following.update(after for after in undecided if self._is_open(after, left))
            layers.append(following)
        productive = set[int]()
        for layer in reversed(layers):
            productive = {state for state in layer if self._can_finish(state, left, productive)}
            left += 1
        return productive

    def _can_finish(self, number: int, tokens: int, productive: Iterable[int]) -> bool:
        """Return whether a token leads from a state to one that can be completed with the tokens left."""
        if tokens <= 0:
            return False
        following = self._graph.successors(number)
        return any(after in productive or self._is_near(after, tokens - 1) for after in following)


def _as_count(bound: float) -> int | None:
    return None if bound == inf else int(bound)
