"""The matcher: where a text stands in a grammar, which tokens may come next, and why others may not."""

from __future__ import annotations

from operator import index

import numpy as np
import numpy.typing as npt

from engine.automata.runtime import DEAD
from engine.compile import CompiledGrammar
from engine.masking.explanation import Explanation, Reason
from engine.masking.token_automaton import TokenState, token_automaton
from engine.vocabulary import Vocabulary

_FORCED_BYTES_LOOKED_FOR = 4096


class Matcher:
    """Follows one text through a grammar, token by token.

    A token is allowed exactly when its bytes keep the text a prefix of some string of the language; an EOS id
    exactly where the grammar accepts. Matchers of one grammar share what they find out, and one thread at a time
    may use them.
    """

    __slots__ = ("_automaton", "_grammar", "_history", "_shared", "_state", "_vocabulary")

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._grammar, self._vocabulary = grammar, vocabulary
        self._automaton = grammar.automaton
        self._shared = token_automaton(grammar.automaton, vocabulary)
        self._state: TokenState = self._shared.state(grammar.automaton.start)
        self._history: list[TokenState] = []

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
        return self._shared.peek(self._state, index(token_id)) is not None

    def forced_bytes(self, limit: int = _FORCED_BYTES_LOOKED_FOR) -> bytes:
        """The bytes that every continuation begins with, at most `limit` of them.

        They stop where the text may end, or where two bytes may follow.
        """
        automaton, configuration = self._automaton, self._state.configuration
        forced = bytearray()
        while len(forced) < limit and not self._state.finished:
            if configuration == DEAD or automaton.accepting[configuration]:
                break
            expected = automaton.expected(configuration)
            if len(expected) != 1 or expected[0][0] != expected[0][1]:
                break
            forced.append(expected[0][0])
            configuration = automaton.run(configuration, bytes(forced[-1:]))
        return bytes(forced)

    # ------------------------------------------------------------------ steps

    def accept(self, token_id: int) -> bool:
        """Take a token. One that is not allowed changes nothing.

        Returns:
            Whether it was allowed.
        """
        following = self._state.following.get(token_id)
        if following is None:
            following = self._shared.advance(self._state, index(token_id))
            if following is None:
                return False
        self._history.append(self._state)
        self._state = following
        return True

    def accept_bytes(self, data: bytes) -> bool:
        """Take text that is no token, as one step that `rollback` undoes. Text that cannot stand changes nothing."""
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
        """
        taken = len(self._history)
        if not 0 <= n_accepts <= taken:
            raise ValueError(f"cannot undo {n_accepts} steps: {taken} were taken")
        if n_accepts:
            self._state = self._history[taken - n_accepts]
            del self._history[taken - n_accepts :]

    def fork(self) -> Matcher:
        """A second matcher that stands where this one does and goes its own way, with the same past."""
        return self._copy_of(self)

    @classmethod
    def _copy_of(cls, other: Matcher) -> Matcher:
        self = cls.__new__(cls)
        for name in cls.__slots__:
            setattr(self, name, getattr(other, name))
        self._history = self._history.copy()
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
    def is_finished(self) -> bool:
        """Whether an EOS was taken: every mask is empty from here on."""
        return self._state.finished

    def explain(self, token: int | bytes) -> Explanation:
        """What happens to a token, or to any bytes, if it comes next."""
        if isinstance(token, bytes):
            data: bytes | None = token
        else:
            token = index(token)
            if not 0 <= token < self._vocabulary.size:
                return Explanation(Reason.UNKNOWN_ID, None)
            data = self._vocabulary.tokens[token]
        if self._state.finished:
            return Explanation(Reason.FINISHED, data, accepting=True)
        if token in self._vocabulary.eos_ids:
            return self._explain_end()
        if data:
            return self._explain_bytes(data)
        return self._at(
            self._state.configuration, Reason.SPECIAL if token in self._vocabulary.special else Reason.NO_BYTES
        )

    def _explain_end(self) -> Explanation:
        if self._state.accepting:
            return self._at(self._state.configuration, Reason.ALLOWED)
        return self._at(self._state.configuration, Reason.NOT_ACCEPTING, expects=True)

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
            accepting=bool(automaton.accepting[configuration]),
        )


def _misfit(out: object, words: int) -> str:
    given = f"{out.dtype}{list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
    return f"a mask over this vocabulary is an int32 array of {words} words, writable; this is {given}"
