"""What a session asks of a grammar, and of its absence.

A session without a grammar steps through the same code with a constraint that
allows all, so that constrained and free generation cannot drift apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.matching import Matcher
from engine.matching.explanation import Explanation, Reason
from engine.matching.explanation_text import with_sentence
from engine.vocabulary import Vocabulary


class Constraint(Protocol):
    """Where a text stands: what may follow, and steps forth and back."""

    @property
    def configuration(self) -> int:
        """The id of the automaton's configuration; 0 without one."""

    @property
    def is_accepting(self) -> bool:
        """Whether the text matches in full."""

    @property
    def is_finished(self) -> bool:
        """Whether an EOS was taken."""

    @property
    def stops_itself(self) -> bool:
        """Whether a match says that a text without EOS may end."""

    def allowed(self) -> NDArray[np.bool_]:
        """The mask, bool[V]."""

    def accept(self, token_id: int) -> bool:
        """Take a token; False, and no change, where it is not allowed."""

    def force(self, token_id: int) -> bool:
        """Take a token that is not allowed: nothing is forbidden from there on, and nothing matches any more."""

    def rollback(self, count: int) -> None:
        """Undo the last accepts, what was forced included."""

    def forced_bytes(self) -> bytes:
        """What every continuation begins with."""

    def explain(self, token: int | bytes) -> Explanation:
        """Why a token is or is not allowed here."""

    def matcher(self) -> Matcher | None:
        """A matcher that stands here, to look ahead with; None without a grammar, and after a token was forced."""


class GrammarConstraint:
    """A grammar's matcher, its mask unpacked.

    What is forced against the grammar leaves it: from there on the matcher stays where it was, and the steps are
    counted by a constraint that allows all.
    """

    stops_itself = True

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._matcher = Matcher(grammar, vocabulary)
        self._beyond = Unconstrained(vocabulary)  # has steps only after a token was forced

    @property
    def configuration(self) -> int:
        """The id of the automaton's configuration; 0 after a token was forced."""
        return DEAD if self._beyond.taken else self._matcher.configuration

    @property
    def is_accepting(self) -> bool:
        """Whether the text matches in full."""
        return not self._beyond.taken and self._matcher.is_accepting

    @property
    def is_finished(self) -> bool:
        """Whether an EOS was taken."""
        return self._beyond.is_finished or self._matcher.is_finished

    def allowed(self) -> NDArray[np.bool_]:
        """The mask, bool[V]."""
        if self._beyond.taken:
            return self._beyond.allowed()
        words = self._matcher.bitmask().astype("<i4", copy=False)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little", count=self._vocabulary.size)
        return bits.view(np.bool_)

    def accept(self, token_id: int) -> bool:
        """Take a token; False, and no change, where it is not allowed."""
        return self._beyond.accept(token_id) if self._beyond.taken else self._matcher.accept(token_id)

    def force(self, token_id: int) -> bool:
        """Take a token that is not allowed; False, and no change, after the end or beyond the vocabulary."""
        return not self.is_finished and self._beyond.accept(token_id)

    def rollback(self, count: int) -> None:
        """Undo the last accepts, what was forced included."""
        beyond = min(count, self._beyond.taken)
        self._beyond.rollback(beyond)
        self._matcher.rollback(count - beyond)

    def forced_bytes(self) -> bytes:
        """What every continuation begins with."""
        return b"" if self._beyond.taken else self._matcher.forced_bytes()

    def explain(self, token: int | bytes) -> Explanation:
        """Why a token is or is not allowed here."""
        if self._beyond.taken:
            found = replace(self._beyond.explain(token), accepting=False)
            return with_sentence(found, token, None, self._vocabulary)
        return self._matcher.explain(token)

    def matcher(self) -> Matcher | None:
        """A matcher that stands here, to look ahead with; None after a token was forced."""
        return None if self._beyond.taken else self._matcher.fork()


class Unconstrained:
    """No grammar: every id may follow until an EOS."""

    configuration = 0
    is_accepting = True
    stops_itself = False  # whatever matches, so a match says nothing about the end

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._taken: list[int] = []

    @property
    def taken(self) -> int:
        """How many tokens were taken."""
        return len(self._taken)

    @property
    def is_finished(self) -> bool:
        """Whether an EOS was taken."""
        return bool(self._taken) and self._taken[-1] in self._vocabulary.eos_ids

    def allowed(self) -> NDArray[np.bool_]:
        """The mask, bool[V]: all, until the end."""
        return np.full(self._vocabulary.size, not self.is_finished)

    def accept(self, token_id: int) -> bool:
        """Take a token; False, and no change, after the end or beyond the vocabulary."""
        if self.is_finished or not 0 <= token_id < self._vocabulary.size:
            return False
        self._taken.append(token_id)
        return True

    def force(self, token_id: int) -> bool:
        """Nothing is forbidden, so nothing can be forced."""
        return self.accept(token_id)

    def rollback(self, count: int) -> None:
        """Undo the last accepts."""
        del self._taken[len(self._taken) - count :]

    def forced_bytes(self) -> bytes:
        """Nothing is forced."""
        return b""

    def explain(self, token: int | bytes) -> Explanation:
        """Allowed, but for ids that are not there and what comes after the end."""
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
        """There is nothing to match."""
        return None


def constraint_for(grammar: CompiledGrammar | None, vocabulary: Vocabulary) -> Constraint:
    """A fresh constraint at the start of a text."""
    return Unconstrained(vocabulary) if grammar is None else GrammarConstraint(grammar, vocabulary)
