"""A grammar as a processor: its mask, for every row of a batch.

What is in a state is a place of the grammar's token automaton. Those are shared
by all matchers of a grammar and a vocabulary, and nothing that a mask depends on
ever changes in them, so a row costs a look-up and a copy.

An end token may come exactly where the grammar accepts. A grammar that begins
after a trigger, or comes several times, is made by `engine.decoding.constraints.zones` and
runs here like any other.

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
    """Removes what a grammar does not allow.

    Args:
        grammar: what every row must match.
        vocabulary: whose tokens.
        pad_id: as `Machine` has it.
    """

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary, pad_id: int | None = None) -> None:
        super().__init__(vocabulary, pad_id)
        self.grammar = grammar
        self._shared = token_automaton(grammar.automaton, vocabulary)

    def start(self) -> TokenState:
        """Where the grammar starts."""
        return self._shared.state(self.grammar.automaton.start)

    def advance(self, state: TokenState, token_id: int) -> TokenState | None:
        """The place after the token."""
        return state.following.get(token_id) or self._shared.advance(state, token_id)

    def allowed(self, state: TokenState) -> Allowed:
        """The grammar's mask."""
        words = np.frombuffer(self._shared.mask(state), dtype="<i4")
        return np.unpackbits(words.view(np.uint8), bitorder="little", count=self.vocabulary.size).view(np.bool_)

    def is_accepting(self, state: TokenState) -> bool:
        """Whether the grammar accepts."""
        return state.accepting

    def expected(self, state: TokenState) -> str:
        """The bytes that the grammar wants."""
        return expected_bytes(self.grammar, state.configuration)


def expected_bytes(grammar: CompiledGrammar, configuration: int) -> str:
    """What a grammar wants at a configuration: ranges of bytes, and tokens that it names."""
    automaton = grammar.automaton
    wanted = [_range(first, last) for first, last in automaton.expected(configuration)]
    wanted += [" or ".join(tokens.names) or "a token" for tokens in automaton.token_sets(configuration)]
    if automaton.accepts(configuration):
        wanted.append("the end")
    return f"{', '.join(wanted[:-1])} or {wanted[-1]}" if len(wanted) > 1 else "".join(wanted)


def _range(first: int, last: int) -> str:
    least, most = visible(bytes((first,))), visible(bytes((last,)))
    return f"`{least}`" if first == last else f"`{least}` to `{most}`"
