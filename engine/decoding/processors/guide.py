"""A finite-state guide: states, and sets of tokens that lead from one to another.

The form in which one writes such a machine by hand. A state has any name. One
that is made final may end the output; one that nothing leads out of ends it.

Few sets of tokens are told apart, so tokens that no set tells apart share a token
class, and a state is a row over those: a hundred states over 131,072 tokens take
kilobytes.

    >>> from engine.vocabulary import Vocabulary
    >>> letters = Vocabulary([b"A", b"a", b":"], eos_ids=[])
    >>> guide = FiniteStateGuide(letters, start="name")
    >>> guide.add_transition("name", "UPPER", "name")
    >>> guide.add_transition("name", ":", "done")
    >>> guide.allowed(guide.start()).tolist()
    [True, False, True]
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.character_classes import TokenSpec, token_set
from engine.decoding.processors.logits import Allowed
from engine.decoding.processors.mask_processor import MaskProcessor
from engine.source import InvariantError
from engine.vocabulary import Vocabulary

NOWHERE = -1


class _Table(NamedTuple):
    """The machine as arrays: int32[V], the class of each token, and int32[S, C], the state after a class."""

    class_of_token: NDArray[np.int32]
    rows: NDArray[np.int32]


class FiniteStateGuide(MaskProcessor[int]):
    """A finite automaton over tokens. The state is the number of a state, in the order in which they were named.

    Args:
        vocabulary: whose tokens.
        start: the state before the first token.
        pad_id: as `Machine` has it.
    """

    def __init__(self, vocabulary: Vocabulary, start: Hashable = 0, pad_id: int | None = None) -> None:
        super().__init__(vocabulary, pad_id)
        self._numbers: dict[Hashable, int] = {start: 0}
        self._transitions: list[tuple[int, int, int]] = []  # state, number of a set, next state
        self._sets: list[Allowed] = []
        self._set_numbers: dict[bytes, int] = {}
        self._finals: set[int] = set()
        self._compiled: _Table | None = None
        self._masks: dict[int, Allowed] = {}

    # ------------------------------------------------------------------ making it

    def add_transition(self, state: Hashable, tokens: TokenSpec, following: Hashable) -> None:
        """Let tokens lead from a state to a state; both are made where they are new.

        Args:
            state: from where.
            tokens: which, as `token_set` takes them.
            following: to where.

        Raises:
            InvariantError: no token is meant, or one leads somewhere else already.
        """
        mask = token_set(self.vocabulary, tokens)
        source, target = self._number(state), self._number(following)
        for other, known, elsewhere in self._transitions:
            if other == source and elsewhere != target and (both := self._sets[known] & mask).any():
                token = int(np.argmax(both))
                raise InvariantError(f"in state {state!r}, token {token} leads to another state already")
        number = self._set_numbers.setdefault(np.packbits(mask).tobytes(), len(self._sets))
        if number == len(self._sets):
            self._sets.append(mask)
        self._transitions.append((source, number, target))
        self._compiled = None

    def add_final(self, state: Hashable) -> None:
        """Let the output end in a state, though more may follow there."""
        self._finals.add(self._number(state))
        self._compiled = None

    def _number(self, state: Hashable) -> int:
        return self._numbers.setdefault(state, len(self._numbers))

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states by number."""
        return tuple(self._numbers)

    # ------------------------------------------------------------------ running it

    def start(self) -> int:
        """The number of the first state."""
        return 0

    def advance(self, state: int, token_id: int) -> int | None:
        """Where the token leads."""
        table = self._table()
        following = int(table.rows[state, table.class_of_token[token_id]])
        return None if following == NOWHERE else following

    def allowed(self, state: int) -> Allowed:
        """The tokens that lead anywhere, and end tokens in a final state."""
        table = self._table()
        if state not in self._masks:
            mask = (table.rows[state] != NOWHERE)[table.class_of_token]
            mask[list(self.vocabulary.eos_ids)] = self.is_accepting(state)
            mask.setflags(write=False)
            self._masks[state] = mask
        return self._masks[state]

    def is_accepting(self, state: int) -> bool:
        """Whether the state is final, or nothing leads out of it."""
        return state in self._finals or bool((self._table().rows[state] == NOWHERE).all())

    def _table(self) -> _Table:
        if self._compiled is None:
            self._compiled, self._masks = self._compile(), {}
        return self._compiled

    def _compile(self) -> _Table:
        class_of_token, members = token_classes(self.vocabulary.size, self._sets)
        rows = np.full((len(self._numbers), members.shape[1]), NOWHERE, dtype=np.int32)
        for source, number, target in self._transitions:
            rows[source, members[number]] = target
        return _Table(class_of_token, rows)

    def transitions(self) -> tuple[tuple[int, int, int], ...]:
        """The same machine as triples of a state, a token id and the next state, as `DfaTable` and a session take them.

        States are numbered from 1, the first one is 1. In a table the end is a transition like any other, so from a
        final state end tokens lead to it. Without end tokens only a state that nothing leads out of is final there.
        """
        found: list[tuple[int, int, int]] = []
        for state in range(len(self._numbers)):
            targets = self.targets(state)
            tokens = np.flatnonzero(targets != NOWHERE)
            found += [(state + 1, t, n + 1) for t, n in zip(tokens.tolist(), targets[tokens].tolist(), strict=True)]
            if self.is_accepting(state):
                found += [(state + 1, token_id, state + 1) for token_id in sorted(self.vocabulary.eos_ids)]
        return tuple(found)

    # ------------------------------------------------------------------ comparing it

    def is_same_machine(self, other: FiniteStateGuide) -> bool:
        """Whether the two are the same but for the names of their states (isomorphic, what cannot be reached aside)."""
        if self.vocabulary.fingerprint != other.vocabulary.fingerprint:
            return False
        twin, back, waiting = {0: 0}, {0: 0}, [0]
        while waiting:
            state = waiting.pop()
            if self.is_accepting(state) != other.is_accepting(twin[state]):
                return False
            pairs = np.unique(np.stack((self.targets(state), other.targets(twin[state]))), axis=1)
            for ours, theirs in pairs.T.tolist():
                if (ours == NOWHERE) != (theirs == NOWHERE):
                    return False
                if ours not in twin and ours != NOWHERE:
                    twin[ours] = theirs
                    waiting.append(ours)
                if ours != NOWHERE and (twin[ours] != theirs or back.setdefault(theirs, ours) != ours):
                    return False
        return True

    def targets(self, state: int) -> NDArray[np.int32]:
        """int32[V], the state after each token; -1 where it may not come."""
        table = self._table()
        return np.asarray(table.rows[state][table.class_of_token])


def token_classes(size: int, sets: list[Allowed]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The tokens that no set tells apart.

    Args:
        size: how many tokens there are.
        sets: bool[size] each.

    Returns:
        int32[size], the class of each token, and bool[sets, classes], which classes a set is made of.
    """
    class_of_token = np.zeros(size, dtype=np.int64)
    for mask in sets:
        _, class_of_token = np.unique(class_of_token * 2 + mask, return_inverse=True)
    classes = int(class_of_token.max(initial=0)) + 1
    a_token = np.zeros(classes, dtype=np.int64)
    a_token[class_of_token] = np.arange(size)
    members = np.array([mask[a_token] for mask in sets], dtype=np.bool_).reshape(len(sets), classes)
    return class_of_token.astype(np.int32), members
