"""The constraint of a decode session: a grammar, or none.

A session without a grammar runs the same code with a constraint that allows every token, so constrained and free
generation cannot drift apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.matching.explanation import Explanation, Reason
from engine.matching.explanation_text import with_sentence
from engine.vocabulary import Vocabulary


class Constraint(Protocol):
    """The state of a text under a constraint: allowed tokens, and steps forward and back."""

    @property
    def configuration(self) -> int:
        """The id of the automaton's configuration; 0 without one."""

    @property
    def is_accepting(self) -> bool:
        """True if the text is a complete match."""

    @property
    def is_finished(self) -> bool:
        """True if an EOS token was accepted."""

    @property
    def stops_itself(self) -> bool:
        """True if a text without EOS may end where the constraint matches."""

    @property
    def zone(self) -> int | None:
        """The zone that the text is in, as in `Step`; None without zones."""

    def allowed(self) -> NDArray[np.bool_]:
        """Return the mask of allowed tokens, bool[V]."""

    def accept(self, token_id: int) -> bool:
        """Accept a token; return False and change nothing if it is not allowed."""

    def force(self, token_id: int) -> bool:
        """Take a token that is not allowed; afterwards every token is allowed and nothing matches."""

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted or forced tokens."""

    def forced_bytes(self) -> bytes:
        """Return the bytes that every continuation begins with."""

    def explain(self, token: int | bytes) -> Explanation:
        """Explain why a token is or is not allowed next."""

    def matcher(self) -> Matcher | None:
        """Return a matcher in the current state for look-ahead; None without a grammar or after a forced token."""


class GrammarConstraint:
    """A grammar's matcher with its mask unpacked.

    A token that is forced against the grammar leaves the grammar: the matcher keeps its last state, and a constraint
    that allows every token counts the steps that follow.
    """

    stops_itself = True

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._matcher = Matcher(grammar, vocabulary)
        self._after_force = Unconstrained(vocabulary)  # counts the tokens from the first forced one on

    @property
    def configuration(self) -> int:
        """The id of the automaton's configuration; 0 after a token was forced."""
        return DEAD if self._after_force.taken else self._matcher.configuration

    @property
    def is_accepting(self) -> bool:
        """True if the text is a complete match."""
        return not self._after_force.taken and self._matcher.is_accepting

    @property
    def is_finished(self) -> bool:
        """True if an EOS token was accepted."""
        return self._after_force.is_finished or self._matcher.is_finished

    @property
    def zone(self) -> None:
        """None: there are no zones."""

    def allowed(self) -> NDArray[np.bool_]:
        """Return the mask of allowed tokens, bool[V]."""
        if self._after_force.taken:
            return self._after_force.allowed()
        return unpack_mask(self._matcher.bitmask(), self._vocabulary.size)

    def accept(self, token_id: int) -> bool:
        """Accept a token; return False and change nothing if it is not allowed."""
        return self._after_force.accept(token_id) if self._after_force.taken else self._matcher.accept(token_id)

    def force(self, token_id: int) -> bool:
        """Take a token that is not allowed; return False after the end or if the id is outside the vocabulary."""
        return not self.is_finished and self._after_force.accept(token_id)

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted or forced tokens."""
        forced_count = min(count, self._after_force.taken)
        self._after_force.rollback(forced_count)
        self._matcher.rollback(count - forced_count)

    def forced_bytes(self) -> bytes:
        """Return the bytes that every continuation begins with."""
        return b"" if self._after_force.taken else self._matcher.forced_bytes()

    def explain(self, token: int | bytes) -> Explanation:
        """Explain why a token is or is not allowed next."""
        if self._after_force.taken:
            explanation = replace(self._after_force.explain(token), accepting=False)
            return with_sentence(explanation, token, None, self._vocabulary)
        return self._matcher.explain(token)

    def matcher(self) -> Matcher | None:
        """Return a fork of the matcher for look-ahead; None after a forced token."""
        return None if self._after_force.taken else self._matcher.fork()


class Unconstrained:
    """A constraint without a grammar: every token is allowed until an EOS token."""

    configuration = 0
    is_accepting = True
    stops_itself = False  # every text matches, so a match does not mean that the text may end

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._taken: list[int] = []

    @property
    def taken(self) -> int:
        """The number of accepted tokens."""
        return len(self._taken)

    @property
    def is_finished(self) -> bool:
        """True if an EOS token was accepted."""
        return bool(self._taken) and self._taken[-1] in self._vocabulary.eos_ids

    @property
    def zone(self) -> None:
        """None: there are no zones."""

    def allowed(self) -> NDArray[np.bool_]:
        """Return the mask of allowed tokens, bool[V]: all tokens until the end."""
        return np.full(self._vocabulary.size, not self.is_finished)

    def accept(self, token_id: int) -> bool:
        """Accept a token; return False after the end or if the id is outside the vocabulary."""
        if self.is_finished or not 0 <= token_id < self._vocabulary.size:
            return False
        self._taken.append(token_id)
        return True

    def force(self, token_id: int) -> bool:
        """Accept a token; no token is masked, so none needs to be forced."""
        return self.accept(token_id)

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted tokens."""
        del self._taken[len(self._taken) - count :]

    def forced_bytes(self) -> bytes:
        """Return no bytes: nothing is forced."""
        return b""

    def explain(self, token: int | bytes) -> Explanation:
        """Explain a token: allowed unless its id is unknown or the text has ended."""
        return with_sentence(self._explained(token), token, None, self._vocabulary)

    def _explained(self, token: int | bytes) -> Explanation:
        if self.is_finished:
            return Explanation(Reason.FINISHED, None)
        if isinstance(token, bytes):
            return Explanation(Reason.ALLOWED, token, accepting=True)
        if not 0 <= token < self._vocabulary.size:
            return Explanation(Reason.UNKNOWN_ID, None)
        return Explanation(Reason.ALLOWED, self._vocabulary.token_bytes(token), accepting=True)

    def matcher(self) -> Matcher | None:
        """Return None: there is no grammar to match."""
        return None


def constraint_for(grammar: CompiledGrammar | None, vocabulary: Vocabulary) -> Constraint:
    """Create a constraint at the start of a text."""
    return Unconstrained(vocabulary) if grammar is None else GrammarConstraint(grammar, vocabulary)
