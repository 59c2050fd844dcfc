"""The matcher: follows a text through a grammar and computes which tokens are allowed next, and why others are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from operator import index
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.analysis.token_completion import TokenCompletion, search_token_completion
from engine.automata.byte_automaton import DEAD
from engine.automata.completion import Completion
from engine.compile import CompiledGrammar
from engine.masking.token_automaton import TokenState, token_automaton
from engine.matching.explanation import Explanation, Reason, StackVerdict
from engine.matching.explanation_text import with_sentence
from engine.matching.stack_verdicts import elements, stack_verdicts_of
from engine.source import CancelToken, LimitExceededError, limited_work
from engine.source.arguments import require
from engine.vocabulary import Vocabulary

_MAX_FORCED_BYTES = 4096
_MAX_SEARCH_STEPS = 2_000
_MAX_NODES = 300_000


class _SharedHistory(NamedTuple):
    """A node of an immutable linked list of steps, which several matchers share so that a fork copies nothing.

    Attributes:
        states: the state before each step.
        steps: how many entries of `states` belong to this node.
        before: the node with the earlier steps.
        total: the number of steps, those of earlier nodes included.
    """

    states: list[TokenState]
    steps: int
    before: _SharedHistory | None
    total: int

    def without(self, last: int) -> _SharedHistory | None:
        """Return the history without its last `last` steps; None if nothing is left."""
        if last == self.steps:
            return self.before
        return self._replace(steps=self.steps - last, total=self.total - last)


class Matcher:
    """A matcher, which follows one text through a grammar token by token.

    A token is allowed if and only if its bytes keep the text a prefix of some string of the language; an EOS id if
    and only if the grammar accepts the text. Matchers of one grammar share their caches, and only one thread at a
    time may use them.
    """

    __slots__ = ("_automaton", "_grammar", "_history", "_shared", "_shared_history", "_state", "_vocabulary")

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        require("grammar", grammar, CompiledGrammar, "a CompiledGrammar, as compile_grammar returns it")
        require("vocabulary", vocabulary, Vocabulary, "a Vocabulary")
        self._grammar, self._vocabulary = grammar, vocabulary
        self._automaton = grammar.automaton
        self._shared = token_automaton(grammar.automaton, vocabulary)
        self._state: TokenState = self._shared.state(grammar.automaton.start)
        self._history: list[TokenState] = []
        self._shared_history: _SharedHistory | None = None

    # ------------------------------------------------------------------ masks

    def fill_bitmask(self, out: npt.NDArray[np.int32]) -> None:
        """Write the mask: bit `i & 31` of word `i >> 5` is set if token `i` is allowed next.

        Args:
            out: int32[ceil(V / 32)]; every word is written, and the bits beyond V are 0.

        Raises:
            ValueError: `out` has another shape or dtype.
        """
        mask = self._state.mask
        if mask is None:
            mask = self._shared.mask(self._state)
        try:
            out.data[:] = mask  # the assignment checks shape and dtype, at no cost
        except (AttributeError, ValueError, TypeError, NotImplementedError) as error:
            raise ValueError(_mismatch(out, self._shared.words)) from error

    def bitmask(self) -> npt.NDArray[np.int32]:
        """Return the mask as a new array, in the layout of `fill_bitmask`."""
        return np.array(self._shared.mask(self._state), np.int32)

    def is_allowed(self, token_id: int) -> bool:
        """Return whether one token is allowed next, without computing a mask."""
        if token_id in self._state.next_states:
            return True
        return self._shared.peek(self._state, _id_of(token_id)) is not None

    def forced_bytes(self, limit: int = _MAX_FORCED_BYTES) -> bytes:
        """Return the bytes that every continuation begins with, at most `limit` of them.

        They stop where the text may end or where more than one byte is possible.
        """
        automaton, configuration = self._automaton, self._state.configuration
        forced = bytearray()
        while len(forced) < limit and not self._state.finished:
            if configuration == DEAD or automaton.accepts(configuration) or automaton.token_sets(configuration):
                break
            expected = automaton.expected(configuration)
            if len(expected) != 1 or expected[0][0] != expected[0][1]:
                break
            forced.append(expected[0][0])
            configuration = automaton.run(configuration, bytes(forced[-1:]))
        return bytes(forced)

    def fill_draft_bitmasks(self, out: npt.NDArray[np.int32], draft_ids: Sequence[int]) -> int:
        """Write the masks that verify K draft tokens: row i is the mask after the first i of them.

        The state of the matcher does not change. Rows after a draft token that is not allowed are 0.

        Args:
            out: int32[K + 1, ceil(V / 32)]; every word is written.
            draft_ids: the K draft tokens; none of them is accepted.

        Returns:
            The number of draft tokens that are allowed before the first one that is not.

        Raises:
            ValueError: `out` has another shape or dtype.
        """
        shared, state = self._shared, self._state
        shape = len(draft_ids) + 1, shared.words
        if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.int32 or not out.flags.writeable:
            raise ValueError(f"{_mismatch(out, shared.words)}; {shape[0]} rows of that are needed")
        for row, token_id in enumerate(draft_ids):
            out[row].data[:] = state.mask or shared.mask(state)
            following = state.next_states.get(token_id) or shared.advance(state, index(token_id))
            if following is None:
                out[row + 1 :] = 0
                return row
            state = following
        out[-1].data[:] = shared.mask(state)
        return len(draft_ids)

    # ------------------------------------------------------------------ steps

    def accept(self, token_id: int) -> bool:
        """Advance by a token and return whether it was allowed; a token that is not allowed changes nothing."""
        following = self._state.next_states.get(token_id)
        if following is None:
            following = self._shared.advance(self._state, _id_of(token_id))
            if following is None:
                return False
        self._history.append(self._state)
        self._state = following
        return True

    def accept_bytes(self, data: bytes) -> bool:
        """Advance by text that need not be a token, as one step for `rollback`.

        Returns:
            Whether the text was allowed; text that is not allowed changes nothing.
        """
        require("data", data, bytes, "bytes")
        following = self._shared.run(self._state, data)
        if following is None:
            return False
        self._history.append(self._state)
        self._state = following
        return True

    def rollback(self, n_accepts: int) -> None:
        """Undo the last `n_accepts` steps; an accepted EOS counts as a step.

        Raises:
            ValueError: fewer steps were taken.
            TypeError: `n_accepts` is not an integer.
        """
        require("n_accepts", n_accepts, Integral, "an integer")
        taken = len(self._history)
        if 0 < n_accepts <= taken:
            self._state = self._history[taken - n_accepts]
            del self._history[taken - n_accepts :]
        elif n_accepts:
            self._undo_shared(n_accepts)

    def _undo_shared(self, n_accepts: int) -> None:
        """Undo steps that include some shared with a fork."""
        node = self._freeze_history()
        taken = node.total if node else 0
        if not 0 < n_accepts <= taken:
            raise ValueError(f"cannot undo {n_accepts} steps: {taken} were taken")
        while node is not None and n_accepts > node.steps:
            n_accepts -= node.steps
            node = node.before
        assert node is not None
        self._state = node.states[node.steps - n_accepts]
        self._history, self._shared_history = [], node.without(n_accepts)

    def _freeze_history(self) -> _SharedHistory | None:
        """Return all steps so far as a shared history; `_history` may not change afterwards."""
        if not self._history:
            return self._shared_history
        steps = len(self._history)
        before = self._shared_history
        return _SharedHistory(self._history, steps, before, steps + (before.total if before else 0))

    def fork(self) -> Matcher:
        """Return an independent matcher with the same state and history."""
        self._shared_history, self._history = self._freeze_history(), []
        return self._copy_of(self)

    @classmethod
    def _copy_of(cls, other: Matcher) -> Matcher:
        self = cls.__new__(cls)
        self._grammar, self._vocabulary = other._grammar, other._vocabulary
        self._automaton, self._shared = other._automaton, other._shared
        self._state, self._shared_history, self._history = other._state, other._shared_history, []
        return self

    # ------------------------------------------------------------------ the state

    @property
    def grammar(self) -> CompiledGrammar:
        """Return the grammar."""
        return self._grammar

    @property
    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary."""
        return self._vocabulary

    @property
    def configuration(self) -> int:
        """Return the automaton's configuration; 0 if the language is empty. An EOS does not change it."""
        return self._state.configuration

    @property
    def is_accepting(self) -> bool:
        """Return whether the text so far matches the grammar."""
        return self._state.accepting

    @property
    def is_exhausted(self) -> bool:
        """Return whether only an EOS may follow. A text that is accepted need not be exhausted."""
        state, automaton = self._state, self._automaton
        if state.finished or not state.accepting:
            return state.finished or state.configuration == DEAD
        return not automaton.expected(state.configuration) and not automaton.token_sets(state.configuration)

    @property
    def is_finished(self) -> bool:
        """Return whether an EOS was accepted, after which every mask is empty."""
        return self._state.finished

    # ------------------------------------------------------------------ explanations and completions

    def stacks(self) -> tuple[StackVerdict, ...]:
        """Return what each stack of the current configuration expects next."""
        return () if self._state.finished else stack_verdicts_of(self._grammar, self._state.configuration)

    def explain(self, token: int | bytes) -> Explanation:
        """Explain why a token, or a byte string, is allowed or not allowed next.

        Args:
            token: an id, which may be outside the vocabulary, or bytes.

        Returns:
            The verdict as data; its `sentence` is the explanation in plain English.

        Raises:
            TypeError: `token` is neither an integer nor bytes.
        """
        token = token if isinstance(token, bytes) else _id_of(token, "token", "an id or bytes")
        with self._limited("errors.limit.explanation_work"):
            return with_sentence(self._verdict(token), token, self._grammar.source, self._vocabulary)

    def _verdict(self, token: int | bytes) -> Explanation:
        state = self._state
        if isinstance(token, bytes):
            data: bytes | None = token
        else:
            if not 0 <= token < self._vocabulary.size:
                return Explanation(Reason.UNKNOWN_ID, None)
            data = self._vocabulary.tokens[token]
        if state.finished:
            return Explanation(Reason.FINISHED, data, accepting=True)
        if not isinstance(token, bytes):
            following = self._shared.peek(state, token)
            if following is not None:
                return self._explanation_at(following.configuration, Reason.ALLOWED, data)
        if token in self._vocabulary.eos_ids:
            return self._explanation_at(state.configuration, Reason.NOT_ACCEPTING, expects=True)
        if data:
            return self._explain_bytes(data)
        reason = Reason.SPECIAL if token in self._vocabulary.special else Reason.NO_BYTES
        return replace(self._explanation_at(state.configuration, reason), tokens=self._elements(state.configuration))

    def _explain_bytes(self, data: bytes) -> Explanation:
        configuration = self._state.configuration
        for offset in range(len(data)):
            following = self._automaton.run(configuration, data[offset : offset + 1])
            if following == DEAD:
                return self._explanation_at(configuration, Reason.DEAD_BYTE, data, offset, expects=True)
            configuration = following
        return self._explanation_at(configuration, Reason.ALLOWED, data)

    def _explanation_at(
        self,
        configuration: int,
        reason: Reason,
        data: bytes | None = None,
        offset: int | None = None,
        *,
        expects: bool = False,
    ) -> Explanation:
        automaton = self._automaton
        return Explanation(
            reason,
            data,
            offset,
            expected=tuple(automaton.expected(configuration)) if expects else (),
            spans=automaton.spans(configuration),
            accepting=automaton.accepts(configuration),
            tokens=self._elements(configuration) if expects else (),
            stacks=stack_verdicts_of(self._grammar, self._state.configuration, data or b"") if expects else (),
        )

    def _elements(self, configuration: int) -> tuple[str, ...]:
        return elements(self._automaton, self._grammar, configuration)

    def shortest_completion(self, effort: int = _MAX_SEARCH_STEPS, cancel: CancelToken | None = None) -> Completion:
        """Return a completion with the fewest bytes.

        Args:
            effort: the number of steps that a search may take; beyond it the result is a bound.
            cancel: checked regularly.
        """
        if self._state.finished:
            return Completion(0, 0, b"")
        try:
            with self._limited("errors.limit.completion_work"):
                return self._automaton.shortest_completion(self._state.configuration, effort, cancel)
        except LimitExceededError:
            return Completion(0 if self._state.accepting else 1)

    def shortest_token_completion(self, effort: int = _MAX_NODES, cancel: CancelToken | None = None) -> TokenCompletion:
        """Return a completion with the fewest tokens; the EOS is not counted.

        Args:
            effort: the number of nodes of the byte trie that a search may visit; beyond it the result is a bound.
            cancel: checked regularly.
        """
        if self._state.finished:
            return TokenCompletion(0, 0, ())
        try:
            with self._limited("errors.limit.completion_work"):
                return search_token_completion(
                    self._automaton, self._vocabulary, self._state.configuration, effort, cancel
                )
        except LimitExceededError:
            return TokenCompletion(0 if self._state.accepting else 1)

    def _limited(self, what: str) -> limited_work:
        return limited_work(what, self._automaton.limits.work)


def _id_of(token: object, name: str = "token_id", expected_type: str = "an integer") -> int:
    """Return a token's id as an integer.

    Raises:
        TypeError: `token` is not an integer.
    """
    try:
        return index(token)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be {expected_type}, not {type(token).__name__}") from None


def _mismatch(out: object, words: int) -> str:
    given = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
    return f"a mask over this vocabulary is an int32 array of {words} words, writable; this is {given}"
