"""A grammar as a processor: its mask for every row of a batch, alone or within a token budget.

A row's state is a state of the grammar's token automaton. All matchers of a grammar and a vocabulary share these
states, and what a mask depends on never changes in them, so a row costs a look-up and a copy.

An EOS token is allowed exactly where the grammar accepts. `engine.decoding.constraints.zones` makes grammars that begin
after a trigger or repeat; they run here like any other.

    >>> from engine import Vocabulary, compile_grammar
    >>> words = Vocabulary([b"a", b"b", None], eos_ids=[2])
    >>> mask = GrammarMask(compile_grammar("regex", "ab"), words)
    >>> mask.allowed(mask.start()).tolist()
    [True, False, False]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.analysis.token_budget import BudgetSearch
from engine.compile import CompiledGrammar
from engine.decoding.processors.logits import Allowed
from engine.decoding.processors.mask_processor import MaskProcessor, either
from engine.decoding.values import BudgetState
from engine.masking.bitmask import unpack_mask
from engine.masking.token_automaton import TokenState, token_automaton
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, visible


class GrammarMask(MaskProcessor[TokenState]):
    """Removes the tokens that a grammar does not allow.

    Args:
        grammar: what every row must match.
        vocabulary: the vocabulary of the mask.
        pad_id: as in `RowMachine`.
    """

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary, pad_id: int | None = None) -> None:
        super().__init__(vocabulary, pad_id)
        self.grammar = grammar
        self._shared = token_automaton(grammar.automaton, vocabulary)

    def start(self) -> TokenState:
        """Return the grammar's initial state."""
        return self._shared.state(self.grammar.automaton.start)

    def advance(self, state: TokenState, token_id: int) -> TokenState | None:
        """Return the state after the token; None if it is not allowed."""
        return state.next_states.get(token_id) or self._shared.advance(state, token_id)

    def allowed(self, state: TokenState) -> Allowed:
        """Return the grammar's mask."""
        return unpack_mask(self._shared.mask(state), self.vocabulary.size)

    def is_accepting(self, state: TokenState) -> bool:
        """Return whether the grammar accepts."""
        return state.accepting

    def expected(self, state: TokenState) -> str:
        """Describe the bytes that the grammar expects."""
        return expected_bytes(self.grammar, state.configuration)


def expected_bytes(grammar: CompiledGrammar, configuration: int) -> str:
    """Describe what a grammar expects in a configuration: byte ranges, and tokens that it names."""
    automaton = grammar.automaton
    wanted = [_range(first, last) for first, last in automaton.expected(configuration)]
    any_token = catalogue_text("decoding.expected.any_token")
    wanted += [either(tokens.names) or any_token for tokens in automaton.token_sets(configuration)]
    if automaton.accepts(configuration):
        wanted.append(catalogue_text("decoding.expected.end"))
    return either(wanted)


def _range(first: int, last: int) -> str:
    least, most = visible(bytes((first,))), visible(bytes((last,)))
    return f"`{least}`" if first == last else catalogue_text("decoding.expected.range", least=least, most=most)


class Left(NamedTuple):
    """A state of the grammar and the rest of the budget.

    Attributes:
        state: the state of the grammar.
        tokens: the number of tokens left.
        pinned: tokens that end the output in time, if a token was allowed because of them; see
            `BudgetSearch.pinned_completion`.
    """

    state: TokenState
    tokens: int
    pinned: tuple[int, ...] = ()


class TokenBudget(MaskProcessor[Left]):
    """A mask of the tokens after which the grammar can end within the remaining tokens; it includes the grammar's mask.

    With n tokens left, a token is allowed if the grammar can end after it within n - 1, the EOS token included if the
    vocabulary has one. So an output that starts within its budget is complete when the budget is used up, whatever the
    model prefers. `engine.analysis.token_budget` documents what is exact and what is a bound.

        >>> from engine import Vocabulary, compile_grammar
        >>> words = Vocabulary([b"(", b")", b"()", None], eos_ids=[3])
        >>> nested = compile_grammar("gbnf", 'root ::= ("(" root ")")*')
        >>> budget = TokenBudget(nested, words, tokens=3)
        >>> budget.allowed(budget.start()).tolist()
        [True, False, True, True]
        >>> state = budget.advance(budget.start(), 0)
        >>> budget.allowed(state).tolist()
        [False, True, False, False]

    Args:
        grammar: what every row must match.
        vocabulary: the vocabulary of the mask.
        tokens: the budget of a complete output, EOS included.
        never: bool[V], tokens that no ending may use because another stage always removes them.
        pad_id: as in `RowMachine`.

    Raises:
        InvariantError: the budget is below 0.
    """

    def __init__(
        self,
        grammar: CompiledGrammar,
        vocabulary: Vocabulary,
        tokens: int,
        *,
        never: Allowed | None = None,
        pad_id: int | None = None,
    ) -> None:
        super().__init__(vocabulary, pad_id)
        if tokens < 0:
            raise InvariantError("errors.decoding.setting.budget", count=tokens)
        self.tokens = tokens
        self._grammar = GrammarMask(grammar, vocabulary)
        self._search = BudgetSearch(grammar, vocabulary if never is None else _without(vocabulary, never))
        self._end = 1 if vocabulary.eos_ids else 0

    def with_tokens(self, tokens: int) -> TokenBudget:
        """Return the same processor with another budget; search results are shared."""
        other = TokenBudget.__new__(TokenBudget)
        other.__dict__.update(self.__dict__, tokens=tokens)
        return other

    @property
    def nothing_left(self) -> str:
        """What an empty mask means, in words."""
        return catalogue_text("decoding.empty.budget")

    def start(self) -> Left:
        """Return the start of the grammar with the full budget."""
        return self._left(self._grammar.start(), self.tokens)

    def advance(self, state: Left, token_id: int) -> Left | None:
        """Return the state after a token; a token that only the budget masks is followed too."""
        following = self._grammar.advance(state.state, token_id)
        if following is None:
            return None
        if state.pinned[:1] == (token_id,) and not following.finished:
            return Left(following, state.tokens - 1, state.pinned[1:])
        return self._left(following, state.tokens - 1, state.state.configuration)

    def _left(self, state: TokenState, tokens: int, before: int | None = None) -> Left:
        if state.finished or tokens < self._end:
            return Left(state, tokens)
        return Left(state, tokens, self._search.pinned_completion(state.configuration, tokens - self._end, before))

    def allowed(self, state: Left) -> Allowed:
        """Return the tokens after which the grammar can end in time, bool[V]."""
        grammar_state, left, pinned = state
        allowed = np.zeros(self.vocabulary.size, dtype=np.bool_)
        if not grammar_state.finished and left > 0:
            allowed |= self._search.allowed_within(grammar_state.configuration, left - 1 - self._end).allowed
            if grammar_state.accepting:
                allowed[list(self.vocabulary.eos_ids)] = True
            elif pinned and not allowed.any():
                allowed[pinned[0]] = True
        return allowed

    def is_accepting(self, state: Left) -> bool:
        """Return whether the grammar accepts."""
        return state.state.accepting

    def report(self, state: Left) -> BudgetState:
        """Return how many tokens are left and how many are needed, EOS included in both."""
        grammar_state, left, end = state.state, state.tokens, self._end
        if grammar_state.finished:
            return BudgetState(left, 0, 0, is_exact=True)
        least, most = self._search.distance(grammar_state.configuration)
        is_exact = True
        if left > 0:
            found = self._search.allowed_within(grammar_state.configuration, left - 1 - end)
            is_exact = found.is_exact
            if is_exact and least is not None and least > 0 and not found.allowed.any():
                least = max(least, left - end + 1)
        if state.pinned:
            most = min(len(state.pinned), len(state.pinned) if most is None else most)
        return BudgetState(left, None if least is None else least + end, None if most is None else most + end, is_exact)

    def expected(self, state: Left) -> str:
        """Describe how many tokens an ending takes."""
        needs = self.report(state)
        if needs.at_least is None:
            return catalogue_text("decoding.expected.any_ending")
        wanted = f"{needs.at_least:,}"
        if needs.at_most is None:
            wanted = catalogue_text("decoding.expected.at_least", count=needs.at_least)
        elif needs.at_most > needs.at_least:
            wanted = catalogue_text("decoding.expected.between", least=needs.at_least, most=needs.at_most)
        return catalogue_text("decoding.expected.ending", wanted=wanted, left=state.tokens)

    def why_not(self, state: Left, token_id: int) -> str:
        """Describe what the budget lacks after the token."""
        after = self.advance(state, token_id)
        if after is None or token_id in self.vocabulary.eos_ids:
            return catalogue_text("decoding.expected.not_grammar")
        return catalogue_text("decoding.expected.after", expected=self.expected(after))


def _without(vocabulary: Vocabulary, never: Allowed) -> Vocabulary:
    tokens = [None if gone else token for token, gone in zip(vocabulary.tokens, never.tolist(), strict=True)]
    return Vocabulary(tokens, vocabulary.eos_ids, vocabulary.special)
