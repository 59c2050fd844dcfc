"""A finite-state guide: states, and token sets that lead from one to another; and masks by position alone.

This is the form in which such an automaton is written by hand. A state has any name. The output may end in a final
state, and ends in a state without outgoing transitions.

There are few distinct token sets, so tokens that no set separates share a token class, and a state is a row over the
classes: a hundred states over 131,072 tokens take kilobytes.

    >>> from engine.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary([b"A", b"a", b":"], eos_ids=[])
    >>> guide = FiniteStateGuide(vocabulary, start="name")
    >>> guide.add_transition("name", "UPPER", "name")
    >>> guide.add_transition("name", ":", "done")
    >>> guide.allowed(guide.start()).tolist()
    [True, False, True]
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
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
    """The automaton as arrays: int32[V], the class of each token, and int32[S, C], the state after a class."""

    class_of_token: NDArray[np.int32]
    rows: NDArray[np.int32]


class FiniteStateGuide(MaskProcessor[int]):
    """A finite automaton over tokens. Its state is a state's number, in the order in which the states were named.

    Args:
        vocabulary: the vocabulary of the token sets.
        start: the state before the first token.
        pad_id: as in `RowMachine`.
    """

    def __init__(self, vocabulary: Vocabulary, start: Hashable = 0, pad_id: int | None = None) -> None:
        super().__init__(vocabulary, pad_id)
        self._numbers: dict[Hashable, int] = {start: 0}
        self._transitions: list[tuple[int, int, int]] = []  # state, index of a token set, next state
        self._sets: list[Allowed] = []
        self._set_numbers: dict[bytes, int] = {}
        self._finals: set[int] = set()
        self._compiled: _Table | None = None
        self._masks: dict[int, Allowed] = {}

    # ------------------------------------------------------------------ construction

    def add_transition(self, state: Hashable, tokens: TokenSpec, following: Hashable) -> None:
        """Add a transition; unknown states are created.

        Args:
            state: the source state.
            tokens: the tokens, as `token_set` takes them.
            following: the target state.

        Raises:
            InvariantError: no token is selected, or one leads to another state already.
        """
        mask = token_set(self.vocabulary, tokens)
        source, target = self._number(state), self._number(following)
        for other, known, elsewhere in self._transitions:
            if other == source and elsewhere != target and (both := self._sets[known] & mask).any():
                token = int(np.argmax(both))
                raise InvariantError("errors.decoding.table.another_state", state=repr(state), token=token)
        number = self._set_numbers.setdefault(np.packbits(mask).tobytes(), len(self._sets))
        if number == len(self._sets):
            self._sets.append(mask)
        self._transitions.append((source, number, target))
        self._compiled = None

    def add_final(self, state: Hashable) -> None:
        """Make a state final: the output may end there, even if more may follow."""
        self._finals.add(self._number(state))
        self._compiled = None

    def _number(self, state: Hashable) -> int:
        return self._numbers.setdefault(state, len(self._numbers))

    @property
    def states(self) -> tuple[Hashable, ...]:
        """The states by number."""
        return tuple(self._numbers)

    # ------------------------------------------------------------------ execution

    def start(self) -> int:
        """Return the number of the initial state."""
        return 0

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the state after the token; None if it is not allowed."""
        table = self._table()
        following = int(table.rows[state, table.class_of_token[token_id]])
        return None if following == NOWHERE else following

    def allowed(self, state: int) -> Allowed:
        """Return the tokens with a transition, and EOS tokens in a final state."""
        table = self._table()
        if state not in self._masks:
            mask = (table.rows[state] != NOWHERE)[table.class_of_token]
            mask[list(self.vocabulary.eos_ids)] = self.is_accepting(state)
            mask.setflags(write=False)
            self._masks[state] = mask
        return self._masks[state]

    def is_accepting(self, state: int) -> bool:
        """Return whether the state is final or has no outgoing transitions."""
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
        """Return the automaton as triples (state, token id, next state), as `DfaTable` and a session take them.

        States are numbered from 1; the initial state is 1. In a table the end is a transition like any other, so EOS
        tokens lead from a final state to itself. Without EOS tokens only a state without outgoing transitions is final
        there.
        """
        found: list[tuple[int, int, int]] = []
        for state in range(len(self._numbers)):
            targets = self.targets(state)
            tokens = np.flatnonzero(targets != NOWHERE)
            found += [(state + 1, t, n + 1) for t, n in zip(tokens.tolist(), targets[tokens].tolist(), strict=True)]
            if self.is_accepting(state):
                found += [(state + 1, token_id, state + 1) for token_id in sorted(self.vocabulary.eos_ids)]
        return tuple(found)

    # ------------------------------------------------------------------ comparison

    def is_same_machine(self, other: FiniteStateGuide) -> bool:
        """Return whether the reachable parts of both automata are isomorphic (equal up to the names of states)."""
        if self.vocabulary.fingerprint != other.vocabulary.fingerprint:
            return False
        matched, back, waiting = {0: 0}, {0: 0}, [0]
        while waiting:
            state = waiting.pop()
            if self.is_accepting(state) != other.is_accepting(matched[state]):
                return False
            pairs = np.unique(np.stack((self.targets(state), other.targets(matched[state]))), axis=1)
            for ours, theirs in pairs.T.tolist():
                if (ours == NOWHERE) != (theirs == NOWHERE):
                    return False
                if ours not in matched and ours != NOWHERE:
                    matched[ours] = theirs
                    waiting.append(ours)
                if ours != NOWHERE and (matched[ours] != theirs or back.setdefault(theirs, ours) != ours):
                    return False
        return True

    def targets(self, state: int) -> NDArray[np.int32]:
        """Return int32[V], the state after each token; -1 where it is not allowed."""
        table = self._table()
        return np.asarray(table.rows[state][table.class_of_token])


def token_classes(size: int, sets: list[Allowed]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Group the tokens that no set separates.

    Args:
        size: the number of tokens.
        sets: bool[size] each.

    Returns:
        int32[size], the class of each token, and bool[sets, classes], the classes that make up each set.
    """
    class_of_token = np.zeros(size, dtype=np.int64)
    for mask in sets:
        _, class_of_token = np.unique(class_of_token * 2 + mask, return_inverse=True)
    classes = int(class_of_token.max(initial=0)) + 1
    a_token = np.zeros(classes, dtype=np.int64)
    a_token[class_of_token] = np.arange(size)
    members = np.array([mask[a_token] for mask in sets], dtype=np.bool_).reshape(len(sets), classes)
    return class_of_token.astype(np.int32), members


class StaticMask(MaskProcessor[int]):
    """One token set for each position, independent of the tokens at other positions. The state is the position.

    The simplest constraint, and a check on the others: five lower-case letters and a new line need no automaton. After
    the last position the output is over; if the vocabulary has EOS tokens, only they are allowed there.

        >>> from engine.vocabulary import Vocabulary
        >>> vocabulary = Vocabulary([b"a", b"b", b"\\n"], eos_ids=[])
        >>> masks = StaticMask(vocabulary, ["LOWER", "NEWLINE"])
        >>> masks.allowed(masks.start()).tolist()
        [True, True, False]
        >>> masks.allowed(1).tolist()
        [False, False, True]

    Args:
        vocabulary: the vocabulary of the token sets.
        sets: the allowed tokens at each position, as `token_set` takes them.
        pad_id: as in `RowMachine`.

    Raises:
        InvariantError: a set is empty, or an id is outside the vocabulary.
    """

    def __init__(self, vocabulary: Vocabulary, sets: Sequence[TokenSpec], pad_id: int | None = None) -> None:
        super().__init__(vocabulary, pad_id)
        known: dict[str | bytes, Allowed] = {}
        masks: list[Allowed] = []
        for spec in sets:
            if not isinstance(spec, str | bytes):
                masks.append(token_set(vocabulary, spec))
                continue
            if spec not in known:
                known[spec] = token_set(vocabulary, spec)
            masks.append(known[spec])
        end = np.zeros(vocabulary.size, dtype=np.bool_)
        end[list(vocabulary.eos_ids)] = True
        end.setflags(write=False)
        self._masks = (*masks, end)

    def start(self) -> int:
        """Return the first position."""
        return 0

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the next position; None if the token is not allowed."""
        return state + 1 if self._masks[state][token_id] else None

    def allowed(self, state: int) -> Allowed:
        """Return the token set of a position."""
        return self._masks[state]

    def is_accepting(self, state: int) -> bool:
        """Return whether all positions are filled."""
        return state == len(self._masks) - 1
