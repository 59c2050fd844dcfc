"""The expected acceptance of the states of a DFA, with the model as a distribution of tokens for each state.

A(s) = Σ_t u_s(t) · A(s after t), and an EOS token where s accepts leads to 1: a system of linear equations over the
states. u_s is the mean of the model's distributions where some drawn texts were at s. A state that none has seen gets
the mean allowed mass of all positions, divided among its tokens as the mean distribution has them: with the
probabilities of that distribution itself, longer texts would seem hopeless. A wrong u costs particles, not exactness.

Where the vocabulary has no EOS, a text ends in states without a successor, or in every accepting one, as the tree says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.automata.dfa.dfa import ByteDfa
from engine.decoding.strategies.particles import Moved, draw_under_masks
from engine.decoding.strategies.prefix_tree import AllowedTokens, Inquiry, TokenPrefix, drawn_index
from engine.source import EngineError
from engine.vocabulary import Vocabulary

_MOST_STATES: Final = 400
_TEXTS: Final = 8  # that the distributions are learnt from
_EVEN: Final = 0.01  # the share of an even distribution in the mean one, so that no token is impossible
_LEAK: Final = 0.999  # so that no loop is endless
_LEAST: Final = 1e-200


class LookaheadError(EngineError):
    """A grammar has no DFA to look ahead on; the text says why."""


class ExpectedAcceptance:
    """The expected acceptance after each prefix, and the proposal that follows it.

    Args:
        inquiry: the run's access to the tree of a regular grammar.
        rng: draws the texts that the distributions are learnt from, by local masking.

    Raises:
        LookaheadError: the grammar is not regular.
        LimitExceededError: it has too many states.
    """

    def __init__(self, inquiry: Inquiry, rng: np.random.Generator) -> None:
        matcher = inquiry.tree.root.matcher
        grammar, vocabulary = matcher.grammar, matcher.vocabulary
        if not grammar.is_regular or grammar.automaton.token_elements:
            raise LookaheadError("errors.decoding.strategies.not_regular")
        dfa = grammar.materialise(_MOST_STATES)
        self._steps = _TokenSteps(dfa, vocabulary)
        self._start = 0 if dfa.start is None else dfa.start
        self._eos_ids = sorted(vocabulary.eos_ids)
        self._states: dict[TokenPrefix, int] = {}
        self._of_state = self._solved(dfa, self._learnt(inquiry, rng), ends_early=inquiry.tree.ends_early)

    def _learnt(self, inquiry: Inquiry, rng: np.random.Generator) -> dict[int, NDArray[np.float64]]:
        """Return the mean probabilities of the allowed tokens at each state that some texts pass, float64[V]."""
        seen: defaultdict[int, list[AllowedTokens]] = defaultdict(list)
        for draw in draw_under_masks(inquiry, _TEXTS, rng):
            for prefix in draw.prefix.path:
                if prefix.is_open:
                    seen[self._state(prefix)].append(inquiry.allowed(prefix))
        found = {}
        for state, answers in seen.items():
            mean = found[state] = np.zeros(self._steps.width)
            for allowed in answers:
                mean[allowed.ids] += allowed.shares * allowed.z / len(answers)
        return found

    def advance(self, inquiry: Inquiry, prefixes: Sequence[TokenPrefix], rng: np.random.Generator) -> Moved:
        """Draw the next token of each open prefix; the factor is that of p · A.

        A prefix with no token that has mass stays, with the factor 0.

        Args:
            inquiry: the run's access to the tree.
            prefixes: the open prefixes.
            rng: the random generator.
        """
        moved: Moved = []
        points = rng.random(len(prefixes)).tolist()
        for prefix, allowed, point in zip(prefixes, inquiry.allowed_of_all(prefixes), points, strict=True):
            if not allowed.ids.shape[0]:
                moved.append((prefix, -np.inf))
                continue
            weights = allowed.shares * self._after(prefix, allowed)
            child = inquiry.take(prefix, allowed, drawn_index(weights, point))
            log_total = float(np.log(weights.sum()))
            moved.append((child, allowed.log_z + log_total - float(np.log(self._of_prefix(prefix)))))
        return moved

    def _of_prefix(self, prefix: TokenPrefix) -> float:
        return 1.0 if prefix.parent is None else float(self._of_state[self._state(prefix)])

    def _after(self, prefix: TokenPrefix, allowed: AllowedTokens) -> NDArray[np.float64]:
        """Return A after each allowed token, float64[k]."""
        found: NDArray[np.float64] = self._of_state[self._steps.after(self._state(prefix))[allowed.ids]]
        found[np.isin(allowed.ids, self._eos_ids)] = 1.0
        return found

    def _state(self, prefix: TokenPrefix) -> int:
        if prefix.parent is None:
            return self._start
        state = self._states.get(prefix)
        if state is None:
            state = int(self._steps.after(self._state(prefix.parent))[prefix.token_id])
            self._states[prefix] = state
        return state

    def _solved(
        self, dfa: ByteDfa, learnt: Mapping[int, NDArray[np.float64]], *, ends_early: bool
    ) -> NDArray[np.float64]:
        """Return A of each state, float64[S + 1]; the last is that of refused texts."""
        count, width = len(dfa.states), self._steps.width
        mean = _EVEN / width + sum(learnt.values()) / max(len(learnt), 1)
        mass = float(np.mean([one.sum() for one in learnt.values()] or [1.0]))
        system, given = np.eye(count), np.zeros(count)
        for state in dfa.states:
            after = self._steps.after(state.id)
            allowed = after < count
            allowed[self._eos_ids] = state.accepting
            if not self._eos_ids and state.accepting and (ends_early or not allowed.any()):
                given[state.id] = 1.0
                continue
            spread = mean * allowed
            u = learnt.get(state.id, spread * (mass / max(float(spread.sum()), _LEAST)))
            system[state.id] -= _LEAK * np.bincount(after, u, count + 1)[:count]
            given[state.id] = float(u[self._eos_ids].sum()) if state.accepting else 0.0
        return np.append(np.clip(np.linalg.solve(system, given), _LEAST, 1.0), _LEAST)


class _TokenSteps:
    """The states after each token.

    Attributes:
        width: the number of tokens.
    """

    def __init__(self, dfa: ByteDfa, vocabulary: Vocabulary) -> None:
        count = len(dfa.states)
        self._refused, self.width = count, vocabulary.size
        self._table = np.full((count + 1, 256), count, np.int64)
        for edge in dfa.edges:
            for first, last in edge.ranges:
                self._table[edge.source, first : last + 1] = edge.target
        spelled = [(i, one) for i, one in enumerate(vocabulary.tokens) if one and i not in vocabulary.eos_ids]
        spelled.sort(key=lambda pair: -len(pair[1]))
        self._ids = np.array([i for i, _ in spelled], np.int64)
        lengths = np.array([len(one) for _, one in spelled], np.int64)
        self._columns = [
            np.array([one[at] for _, one in spelled[: int(np.count_nonzero(lengths > at))]], np.int64)
            for at in range(int(lengths.max(initial=0)))
        ]
        self._known: dict[int, NDArray[np.int64]] = {}

    def after(self, state: int) -> NDArray[np.int64]:
        """Return the state after each token, int64[V]; the number of states if it is refused."""
        found = self._known.get(state)
        if found is None:
            ends = np.full(self._ids.shape[0], state, np.int64)
            for column in self._columns:
                ends[: column.shape[0]] = self._table[ends[: column.shape[0]], column]
            found = np.full(self.width, self._refused, np.int64)
            found[self._ids] = ends
            self._known[state] = found
        return found
