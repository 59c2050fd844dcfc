"""A grammar as a processor: its mask, for every row of a batch.

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

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.processors.logits import Allowed
from engine.decoding.processors.mask_processor import MaskProcessor
from engine.masking.token_automaton import TokenState, token_automaton
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
        return state.following.get(token_id) or self._shared.advance(state, token_id)

    def allowed(self, state: TokenState) -> Allowed:
        """Return the grammar's mask."""
        words = np.frombuffer(self._shared.mask(state), dtype="<i4")
        return np.unpackbits(words.view(np.uint8), bitorder="little", count=self.vocabulary.size).view(np.bool_)

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
    wanted += [" or ".join(tokens.names) or "a token" for tokens in automaton.token_sets(configuration)]
    if automaton.accepts(configuration):
        wanted.append("the end")
    return f"{', '.join(wanted[:-1])} or {wanted[-1]}" if len(wanted) > 1 else "".join(wanted)


def _range(first: int, last: int) -> str:
    least, most = visible(bytes((first,))), visible(bytes((last,)))
    return f"`{least}`" if first == last else f"`{least}` to `{most}`"
