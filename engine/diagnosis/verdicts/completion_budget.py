"""The distance to the end of an output, compared with a token budget; and when the end became unreachable.

The rest of a budget minus the length of the shortest ending never grows: a token costs one, and brings the end nearer
by at most one. So the first position from which the end was unreachable is found by bisection.

All searches together may take `Limits.work` turns; what they find until then are bounds.
"""

from __future__ import annotations

from contextlib import suppress

from engine.analysis.token_completion import TokenCompletion, search_token_completion
from engine.automata.completion import Completion
from engine.compile import CompiledGrammar
from engine.diagnosis.verdicts.replay_walk import ReplayWalk
from engine.diagnosis.verdicts.tokenisation import OutputTokens
from engine.diagnosis.verdicts.verdict import CompletionBudget
from engine.source import CancelToken, LimitExceededError, limited_work
from engine.vocabulary import Vocabulary

EFFORT = 2_000
NODES = 1_000_000
"""The largest number of trie nodes that one search visits; beyond it the result is a bound."""
NODES_OF_ALL_LOOKS = 2_000_000
"""The same limit for all searches that locate where the end became unreachable."""


def measure_completion(
    grammar: CompiledGrammar,
    walked: ReplayWalk,
    tokens: OutputTokens | None,
    vocabulary: Vocabulary | None,
    budget: int | None,
    cancel: CancelToken | None = None,
) -> CompletionBudget:
    """Compute the shortest legal ending after the legal part of an output.

    Args:
        grammar: the grammar.
        walked: the walk over the output.
        tokens: the tokens of the output.
        vocabulary: the vocabulary; None to compute the ending in bytes only.
        budget: the token budget of the output.
        cancel: cancels the search.

    Raises:
        CancelledError: `cancel` was used.
    """
    with limited_work("errors.limit.completion_work", grammar.automaton.limits.work):
        return _measured(grammar, walked, tokens, vocabulary, budget, cancel)


def _measured(
    grammar: CompiledGrammar,
    walked: ReplayWalk,
    tokens: OutputTokens | None,
    vocabulary: Vocabulary | None,
    budget: int | None,
    cancel: CancelToken | None,
) -> CompletionBudget:
    automaton = grammar.automaton
    try:
        in_bytes = automaton.shortest_completion(walked.last, EFFORT, cancel)
    except LimitExceededError:
        in_bytes = Completion(0 if automaton.accepts(walked.last) else 1)
    used = None if tokens is None else _tokens_within(tokens, walked.legal)
    if vocabulary is None:
        return CompletionBudget(in_bytes, used=used, budget=budget)
    try:
        found = search_token_completion(automaton, vocabulary, walked.last, NODES, cancel)
    except LimitExceededError:
        found = TokenCompletion(0 if automaton.accepts(walked.last) else 1)
    late_at = late_needs = None
    if budget is not None and used is not None and tokens is not None and found.at_least is not None:
        known = _Needs(grammar, vocabulary, {walked.last: found.at_least}, cancel)
        with suppress(LimitExceededError):
            late_at, late_needs = _late(known, walked, tokens, budget, used)
    return CompletionBudget(
        in_bytes,
        found.at_least,
        found.at_most,
        found.is_dead_end,
        found.token_ids,
        used,
        budget,
        late_at,
        late_needs,
    )


def _tokens_within(tokens: OutputTokens, legal: int) -> int:
    """Return how many tokens are within the first `legal` bytes."""
    starts = tokens.starts
    return sum(1 for index in range(tokens.text_count) if starts[index + 1] <= legal)


class _Needs:
    """The least number of tokens to an end, cached by configuration: most positions in a string share one."""

    def __init__(
        self,
        grammar: CompiledGrammar,
        vocabulary: Vocabulary,
        known: dict[int, int | None],
        cancel: CancelToken | None,
    ) -> None:
        self._grammar, self._vocabulary, self._cancel = grammar, vocabulary, cancel
        self._known = known
        self._left = NODES_OF_ALL_LOOKS

    def at(self, configuration: int) -> int | None:
        """Return a proven lower bound; None if no tokens lead to an end."""
        if configuration not in self._known:
            effort = min(NODES, self._left)
            self._left -= effort // 2  # few searches use their full limit
            found = search_token_completion(
                self._grammar.automaton, self._vocabulary, configuration, effort, self._cancel
            )
            self._known[configuration] = found.at_least
        return self._known[configuration]


def _late(
    known: _Needs, walked: ReplayWalk, tokens: OutputTokens, budget: int, used: int
) -> tuple[int | None, int | None]:
    """Return after how many tokens the end was unreachable, and how many it needed there."""
    starts = tokens.starts

    def needs(taken: int) -> int:
        found = known.at(walked.configurations[starts[taken]])
        return budget + 1 if found is None else found

    if needs(used) <= budget - used:
        return None, None
    low, high = -1, used  # reachable after `low` tokens, unreachable after `high`
    while high - low > 1:
        middle = (low + high) // 2
        if needs(middle) > budget - middle:
            high = middle
        else:
            low = middle
    return high, needs(high)
