"""The matcher: where a text stands in a grammar, which tokens may come next, and why others may not."""

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

_FORCED_BYTES_LOOKED_FOR = 4096
_EFFORT = 2_000
_NODES = 300_000


class _Past(NamedTuple):
    """Steps that several matchers share, and that none of them changes: what lets a fork copy nothing.

    Attributes:
        states: the states before each step.
        steps: how many of them are meant.
        before: the steps before these.
        total: how many there are, those before included.
    """

    states: list[TokenState]
    steps: int
    before: _Past | None
    total: int

    def without(self, last: int) -> _Past | None:
        """All but some of the last ones; None where nothing is left."""
        if last == self.steps:
            return self.before
        return self._replace(steps=self.steps - last, total=self.total - last)


class Matcher:
    """Follows one text through a grammar, token by token.

    A token is allowed exactly when its bytes keep the text a prefix of some string of the language; an EOS id
    exactly where the grammar accepts. Matchers of one grammar share what they find out, and one thread at a time
    may use them.
    """

    __slots__ = ("_automaton", "_before", "_grammar", "_history", "_shared", "_state", "_vocabulary")

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        require("grammar", grammar, CompiledGrammar, "a CompiledGrammar, as compile_grammar returns it")
        require("vocabulary", vocabulary, Vocabulary, "a Vocabulary")
        self._grammar, self._vocabulary = grammar, vocabulary
        self._automaton = grammar.automaton
        self._shared = token_automaton(grammar.automaton, vocabulary)
        self._state: TokenState = self._shared.state(grammar.automaton.start)
        self._history: list[TokenState] = []
        self._before: _Past | None = None

    # ------------------------------------------------------------------ what may come next

    def fill_bitmask(self, out: npt.NDArray[np.int32]) -> None:
        """Write the mask: bit `i & 31` of word `i >> 5` is set where token `i` may come next.

        Args:
            out: int32[ceil(V / 32)]; every word is written, and the bits beyond V are 0.

        Raises:
            ValueError: `out` has another shape or dtype.
        """
        mask = self._state.mask
        if mask is None:
            mask = self._shared.mask(self._state)
        try:
            out.data[:] = mask  # checks shape and dtype itself, and at no cost
        except (AttributeError, ValueError, TypeError, NotImplementedError) as error:
            raise ValueError(_misfit(out, self._shared.words)) from error

    def bitmask(self) -> npt.NDArray[np.int32]:
        """A new array with the mask, as `fill_bitmask` writes it."""
        return np.array(self._shared.mask(self._state), np.int32)

    def is_allowed(self, token_id: int) -> bool:
        """Whether one token may come next; computes no mask."""
        if token_id in self._state.following:
            return True
        return self._shared.peek(self._state, _id_of(token_id)) is not None

    def forced_bytes(self, limit: int = _FORCED_BYTES_LOOKED_FOR) -> bytes:
        """The bytes that every continuation begins with, at most `limit` of them.

        They stop where the text may end, or where two bytes may follow.
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

    def fill_draft_bitmasks(self, token_ids: Sequence[int], out: npt.NDArray[np.int32]) -> int:
        """Write the masks along K draft tokens, as verifying them needs: row i is the mask behind the first i.

        The matcher stays where it is. Rows behind a draft that is not allowed are 0.

        Args:
            token_ids: the drafts; none of them is taken.
            out: int32[K + 1, ceil(V / 32)]; every word is written.

        Returns:
            How many drafts are allowed, one after the other.

        Raises:
            ValueError: `out` has another shape or dtype.
        """
        shared, state = self._shared, self._state
        shape = len(token_ids) + 1, shared.words
        if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.int32 or not out.flags.writeable:
            raise ValueError(f"{_misfit(out, shared.words)}; {shape[0]} rows of that are needed")
        for row, token_id in enumerate(token_ids):
            out[row].data[:] = state.mask or shared.mask(state)
            following = state.following.get(token_id) or shared.advance(state, index(token_id))
            if following is None:
                out[row + 1 :] = 0
                return row
            state = following
        out[-1].data[:] = shared.mask(state)
        return len(token_ids)

    # ------------------------------------------------------------------ steps

    def accept(self, token_id: int) -> bool:
        """Take a token. One that is not allowed changes nothing.

        Returns:
            Whether it was allowed.
        """
        following = self._state.following.get(token_id)
        if following is None:
            following = self._shared.advance(self._state, _id_of(token_id))
            if following is None:
                return False
        self._history.append(self._state)
        self._state = following
        return True

    def accept_bytes(self, data: bytes) -> bool:
        """Take text that is no token, as one step that `rollback` undoes. Text that cannot stand changes nothing."""
        require("data", data, bytes, "bytes")
        following = self._shared.run(self._state, data)
        if following is None:
            return False
        self._history.append(self._state)
        self._state = following
        return True

    def rollback(self, n_accepts: int) -> None:
        """Undo the last steps, those that took an EOS included.

        Raises:
            ValueError: there were not so many.
            TypeError: `n_accepts` is no integer.
        """
        require("n_accepts", n_accepts, Integral, "an integer")
        taken = len(self._history)
        if 0 < n_accepts <= taken:
            self._state = self._history[taken - n_accepts]
            del self._history[taken - n_accepts :]
        elif n_accepts:
            self._undo_before(n_accepts)

    def _undo_before(self, n_accepts: int) -> None:
        """Undo steps that a fork shares."""
        part = self._past()
        taken = part.total if part else 0
        if not 0 < n_accepts <= taken:
            raise ValueError(f"cannot undo {n_accepts} steps: {taken} were taken")
        while part is not None and n_accepts > part.steps:
            n_accepts -= part.steps
            part = part.before
        assert part is not None
        self._state = part.states[part.steps - n_accepts]
        self._history, self._before = [], part.without(n_accepts)

    def _past(self) -> _Past | None:
        """The steps so far, no more of them to be changed."""
        if not self._history:
            return self._before
        steps = len(self._history)
        return _Past(self._history, steps, self._before, steps + (self._before.total if self._before else 0))

    def fork(self) -> Matcher:
        """A second matcher that stands where this one does and goes its own way, with the same past."""
        self._before, self._history = self._past(), []
        return self._copy_of(self)

    @classmethod
    def _copy_of(cls, other: Matcher) -> Matcher:
        self = cls.__new__(cls)
        self._grammar, self._vocabulary = other._grammar, other._vocabulary
        self._automaton, self._shared = other._automaton, other._shared
        self._state, self._before, self._history = other._state, other._before, []
        return self

    # ------------------------------------------------------------------ where the match stands

    @property
    def grammar(self) -> CompiledGrammar:
        """The grammar that is matched."""
        return self._grammar

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary that masks are over."""
        return self._vocabulary

    @property
    def configuration(self) -> int:
        """The automaton's configuration; 0 where nothing matches at all. An EOS does not change it."""
        return self._state.configuration

    @property
    def is_accepting(self) -> bool:
        """Whether the text so far matches in full."""
        return self._state.accepting

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing but an end may follow. A text that is accepted as it is may well go on."""
        state, automaton = self._state, self._automaton
        if state.finished or not state.accepting:
            return state.finished or state.configuration == DEAD
        return not automaton.expected(state.configuration) and not automaton.token_sets(state.configuration)

    @property
    def is_finished(self) -> bool:
        """Whether an EOS was taken: every mask is empty from here on."""
        return self._state.finished

    # ------------------------------------------------------------------ why, and how far

    def stacks(self) -> tuple[StackVerdict, ...]:
        """What each stack that the match stands on expects next, by itself."""
        return () if self._state.finished else stack_verdicts_of(self._grammar, self._state.configuration)

    def explain(self, token: int | bytes) -> Explanation:
        """Explain what happens to a token, or to any bytes, if it comes next.

        Args:
            token: an id, which may be outside the vocabulary, or bytes.

        Returns:
            The verdict as data; its `sentence` says it in plain English.

        Raises:
            TypeError: `token` is neither an integer nor bytes.
        """
        token = token if isinstance(token, bytes) else _id_of(token, "token", "an id or bytes")
        with self._limited("work of one explanation"):
            return with_sentence(self._explained(token), token, self._grammar.source, self._vocabulary)

    def _explained(self, token: int | bytes) -> Explanation:
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
                return self._at(following.configuration, Reason.ALLOWED, data)
        if token in self._vocabulary.eos_ids:
            return self._at(state.configuration, Reason.NOT_ACCEPTING, expects=True)
        if data:
            return self._explain_bytes(data)
        reason = Reason.SPECIAL if token in self._vocabulary.special else Reason.NO_BYTES
        return replace(self._at(state.configuration, reason), tokens=self._elements(state.configuration))

    def _explain_bytes(self, data: bytes) -> Explanation:
        configuration = self._state.configuration
        for offset in range(len(data)):
            following = self._automaton.run(configuration, data[offset : offset + 1])
            if following == DEAD:
                return self._at(configuration, Reason.DEAD_BYTE, data, offset, expects=True)
            configuration = following
        return self._at(configuration, Reason.ALLOWED, data)

    def _at(
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

    def shortest_completion(self, effort: int = _EFFORT, cancel: CancelToken | None = None) -> Completion:
        """The fewest bytes that complete the text, and which.

        Args:
            effort: how many steps a search may take; beyond them the answer is a bound.
            cancel: asked now and then.
        """
        if self._state.finished:
            return Completion(0, 0, b"")
        try:
            with self._limited("work of one completion"):
                return self._automaton.shortest_completion(self._state.configuration, effort, cancel)
        except LimitExceededError:
            return Completion(0 if self._state.accepting else 1)

    def shortest_token_completion(self, effort: int = _NODES, cancel: CancelToken | None = None) -> TokenCompletion:
        """The fewest tokens that complete the text, and which; an end's own token is not counted.

        Args:
            effort: how many nodes of the byte trie may be looked at; beyond them the answer is a bound.
            cancel: asked now and then.
        """
        if self._state.finished:
            return TokenCompletion(0, 0, ())
        try:
            with self._limited("work of one completion"):
                return search_token_completion(
                    self._automaton, self._vocabulary, self._state.configuration, effort, cancel
                )
        except LimitExceededError:
            return TokenCompletion(0 if self._state.accepting else 1)

    def _limited(self, what: str) -> limited_work:
        return limited_work(what, self._automaton.limits.work)


def _id_of(token: object, name: str = "token_id", wanted: str = "an integer") -> int:
    """Return a token's id as an integer.

    Raises:
        TypeError: it is no integer.
    """
    try:
        return index(token)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be {wanted}, not {type(token).__name__}") from None


def _misfit(out: object, words: int) -> str:
    given = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
    return f"a mask over this vocabulary is an int32 array of {words} words, writable; this is {given}"
