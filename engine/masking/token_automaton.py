"""A grammar over a vocabulary: the automaton whose letters are tokens, built as it is used.

A state knows its mask and where each token taken so far leads, so that what was
done once is a copy and a lookup. All matchers of a grammar and a vocabulary
share these states.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from engine.automata.runtime import DEAD, Runtime
from engine.masking.kernels import DONE
from engine.masking.plain import plain_mask
from engine.masking.regions import LoopFinder, Region, Regions, regions_of
from engine.masking.runtime import Kernels, ready
from engine.masking.store import Mask, store
from engine.masking.token_sets import TokenSets
from engine.vocabulary import Vocabulary

_MOST_STEPS = 1_000_000  # remembered steps of one grammar and vocabulary, about 100 bytes each
_NOTHING = np.zeros(256, np.uint8)
_NOTHING.setflags(write=False)


class TokenState:
    """Where a match stands, in tokens.

    Attributes:
        configuration: the automaton's.
        accepting: whether the text may end here.
        finished: whether an end was taken; nothing follows.
        mask: what may come next; None until somebody asks.
        following: the states after the tokens taken from here so far.
    """

    __slots__ = ("accepting", "configuration", "finished", "following", "mask")

    def __init__(self, configuration: int, accepting: bool, finished: bool = False) -> None:
        self.configuration = configuration
        self.accepting = accepting
        self.finished = finished
        self.mask: Mask | None = None
        self.following: dict[int, TokenState] = {}


class TokenAutomaton:
    """The states of one grammar over one vocabulary.

    It is kept as long as both live, so it refers to the automaton weakly and to the vocabulary not at all; a
    matcher holds both.
    """

    def __init__(self, automaton: Runtime, vocabulary: Vocabulary) -> None:
        self._automaton = ref(automaton)
        self._trie = vocabulary.trie
        self._tokens = vocabulary.tokens
        self._eos_ids = vocabulary.eos_ids
        self._regions: Regions = regions_of(vocabulary.trie)
        self._loops = LoopFinder()
        # An array of its own, read only as the kernels were compiled for.
        self._class_of_byte = np.array(automaton.class_of_byte, np.uint8)
        self._class_of_byte.setflags(write=False)
        self._stack = np.zeros(self._trie.height + 1, np.int32)
        self._states: dict[int, TokenState] = {}
        self._ends: dict[int, TokenState] = {}
        self._steps = 0
        self._token_sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        store.users.add(self)

    @property
    def words(self) -> int:
        """The length of a mask."""
        return self._trie.words

    def state(self, configuration: int) -> TokenState:
        """The state of a configuration."""
        state = self._states.get(configuration)
        if state is None:
            accepting = bool(self._living().accepting[configuration])
            state = self._states[configuration] = TokenState(configuration, accepting)
        return state

    def advance(self, state: TokenState, token_id: int) -> TokenState | None:
        """The state after a token; None where it is not allowed. A step that is allowed is remembered."""
        following = self.peek(state, token_id)
        if following is not None:
            if self._steps >= _MOST_STEPS:
                self._forget_steps()
            self._steps += 1
            state.following[token_id] = following
        return following

    def peek(self, state: TokenState, token_id: int) -> TokenState | None:
        """As `advance`, remembering nothing."""
        if state.finished or not 0 <= token_id < len(self._tokens):
            return None
        if token_id in self._eos_ids:
            return self._end(state) if state.accepting else None
        token = self._tokens[token_id]
        if self._token_sets is not None:
            configuration = self._living().take_token(
                state.configuration, token or b"", self._token_sets.holding(token_id)
            )
            return None if configuration == DEAD else self.state(configuration)
        return self.run(state, token) if token else None

    def run(self, state: TokenState, data: bytes) -> TokenState | None:
        """The state after bytes; None where they cannot stand."""
        if state.finished:
            return None
        configuration = self._living().run(state.configuration, data)
        return None if configuration == DEAD else self.state(configuration)

    def mask(self, state: TokenState) -> Mask:
        """What may come next, computed if nobody asked before."""
        if state.mask is None:
            state.mask = store.share(self._words(state))
        return state.mask

    def forget_masks(self) -> None:
        """Drop every state's mask."""
        for state in (*self._states.values(), *self._ends.values()):
            state.mask = None

    def _living(self) -> Runtime:
        automaton = self._automaton()
        if automaton is None:
            raise ReferenceError("the grammar of this matcher is gone")
        return automaton

    def _end(self, state: TokenState) -> TokenState:
        end = self._ends.get(state.configuration)
        if end is None:
            end = self._ends[state.configuration] = TokenState(state.configuration, accepting=True, finished=True)
        return end

    def _forget_steps(self) -> None:
        for state in self._states.values():
            state.following.clear()
        self._steps = 0

    def _words(self, state: TokenState) -> npt.NDArray[np.uint32]:
        if state.finished or state.configuration == DEAD:
            return np.zeros(self.words, np.uint32)
        kernels = ready()
        if kernels is None:
            words = plain_mask(self._trie, self._living(), state.configuration)
        else:
            words = self._walk(kernels, self._living(), state.configuration)
        if self._token_sets is not None:
            for tokens in self._living().token_sets(state.configuration):
                words |= self._token_sets.words(tokens)
        if state.accepting:
            for token_id in self._eos_ids:
                words[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        return words

    def _walk(self, kernels: Kernels, automaton: Runtime, configuration: int) -> npt.NDArray[np.uint32]:
        region, inside, within = self._regions.whole, configuration, None
        found = self._loops.loop_at(automaton, configuration)
        if found is not None:
            inside, loop = found
            region, within = self._regions.region(kernels, self._trie, loop), loop[0]
        words = region.mask.copy()
        apart = _NOTHING
        for byte in self._regions.broad_bytes:
            if within is not None and within[byte] >= 0:
                continue  # it stays in the loop
            entered = automaton.step(configuration, int(self._class_of_byte[byte]))
            below = self._loops.loop_at(automaton, entered) if entered != DEAD else None
            if below is not None:
                home, loop = below
                part = self._regions.region(kernels, self._trie, loop, byte)
                words |= part.mask
                self._add(kernels, automaton, part, (entered, home, 1), _NOTHING, words)
                apart = apart.copy()
                apart[byte] = 1
        self._add(kernels, automaton, region, (configuration, inside, 0), apart, words)
        return words

    def _add(
        self,
        kernels: Kernels,
        automaton: Runtime,
        region: Region,
        start: tuple[int, int, int],
        apart: npt.NDArray[np.uint8],
        words: npt.NDArray[np.uint32],
    ) -> None:
        """Walk below the exits of a region, filling in the automaton's table where it has gaps."""
        trie, exits, progress = self._trie, (region.group_start, region.roots), np.zeros(4, np.uint64)
        while True:
            table = (automaton.rows, self._class_of_byte)  # anew: a step may replace the rows
            node = kernels.walk(trie.arrays, exits, table, start, apart, self._stack, progress, words)
            if node == DONE:
                return
            automaton.step(int(self._stack[trie.depth[node] - 1]), int(self._class_of_byte[trie.byte[node]]))


_known: WeakKeyDictionary[Runtime, WeakKeyDictionary[Vocabulary, TokenAutomaton]] = WeakKeyDictionary()


def token_automaton(automaton: Runtime, vocabulary: Vocabulary) -> TokenAutomaton:
    """The states that all matchers of a grammar and a vocabulary share."""
    of_grammar = _known.get(automaton)
    if of_grammar is None:
        of_grammar = _known[automaton] = WeakKeyDictionary()
    shared = of_grammar.get(vocabulary)
    if shared is None:
        shared = of_grammar[vocabulary] = TokenAutomaton(automaton, vocabulary)
    return shared


def clear_caches() -> None:
    """Forget all that belongs to grammars: states and masks. What belongs to a vocabulary stays."""
    _known.clear()
    store.clear()
