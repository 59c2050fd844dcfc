"""The automaton of a grammar over the tokens of a vocabulary, built lazily.

A state stores its mask and the next state for each token accepted so far, so a
repeated step is one copy and one look-up. All matchers of a grammar and a
vocabulary share these states.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, ByteAutomaton, Loop
from engine.masking.jit import Kernels, loaded_kernels
from engine.masking.reference_mask import compute_reference_mask
from engine.masking.token_sets import TokenSets
from engine.masking.token_slices import (
    LONG,
    LoopFinder,
    LoopTable,
    TokenSlice,
    TokenSlices,
    all_tokens,
    entry_of,
    token_slices_of,
)
from engine.masking.walk import NOTHING, WORK, TrieWalk, initial_frames
from engine.source import limited_work
from engine.vocabulary import Vocabulary

Mask = memoryview
"""int32[words], read only. A memory view is copied faster than an array."""

BUDGET_BYTES = 256 * 1024 * 1024


class MaskCache:
    """A bounded cache of masks for all grammars, in which equal masks are stored once.

    A mask of 131,072 tokens takes 16 KB, and many configurations have the same one. When the cache is full, all masks
    are dropped at once, as lazy automata do with their states: the masks in use are soon computed again. Rejected:
    dropping the least recently used masks. Every use would need a record, and a use is a copy that takes half a
    microsecond.

    Attributes:
        users: the token automata whose states hold masks of this cache.
        used_bytes: the size of all masks.
    """

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._masks: dict[int, tuple[bytes, Mask]] = {}
        self.used_bytes = 0
        self.users: WeakSet[TokenAutomaton] = WeakSet()

    def share(self, words: npt.NDArray[np.uint32], key: int | None = None) -> Mask:
        """Return the cached mask with this content, adding a copy if there is none.

        Args:
            words: uint32[words], the content.
            key: a hash of the content; computed if it is None.
        """
        content = words.tobytes()
        if key is None:
            key = hash(content)
        known = self._masks.get(key)
        if known is not None and known[0] == content:
            return known[1]
        if self.used_bytes + len(content) > self._budget:
            self.clear()
        mask = memoryview(content).cast("i")
        self._masks.setdefault(key, (content, mask))
        self.used_bytes += len(content)
        return mask

    def clear(self) -> None:
        """Drop all masks, including those that token states hold."""
        self._masks.clear()
        self.used_bytes = 0
        for user in list(self.users):
            user.clear_masks()


mask_cache = MaskCache()

MAX_STEPS = 1_000_000  # cached steps of one grammar and vocabulary, about 100 bytes each


class TokenState:
    """A state of the token automaton.

    Attributes:
        configuration: the configuration of the byte automaton.
        accepting: whether the text may end here.
        finished: whether an EOS was accepted; no token follows.
        mask: the allowed tokens; None until it is computed.
        next_states: the next state for each token accepted here so far.
    """

    __slots__ = ("accepting", "configuration", "finished", "mask", "next_states")

    def __init__(self, configuration: int, accepting: bool, finished: bool = False) -> None:
        self.configuration = configuration
        self.accepting = accepting
        self.finished = finished
        self.mask: Mask | None = None
        self.next_states: dict[int, TokenState] = {}


class TokenAutomaton:
    """The token states and masks of one grammar over one vocabulary.

    It lives as long as both, so it refers to the byte automaton weakly and to the vocabulary not at all; a matcher
    holds both.

    Attributes:
        states: the states so far, by configuration.
        walk: the walk that computed the last mask, in the kernels.
    """

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary) -> None:
        self.states: dict[int, TokenState] = {}  # set first: `__del__` needs it even if the constructor fails
        self._automaton = ref(automaton)
        self._trie = vocabulary.trie
        self._tokens = vocabulary.tokens
        self._eos_ids = vocabulary.eos_ids
        self._slices: TokenSlices = token_slices_of(vocabulary.trie)
        self._loops = LoopFinder()
        # A copy, read-only because the kernels are compiled for a read-only array.
        self._class_of_byte = np.array(automaton.class_of_byte, np.uint8)
        self._class_of_byte.setflags(write=False)
        self._height, self._frames = self._trie.height + 1, initial_frames(self._trie)
        self.walk = TrieWalk(self._trie, self._class_of_byte)
        self._slice_of_loop: dict[tuple[int, int, int | None], TokenSlice] = {}
        self._loop_tables: dict[int, tuple[LoopTable, npt.NDArray[np.bool_]]] = {}
        self._generation = automaton.generation
        self._mask_by_stack: dict[tuple[int, ...], Mask] = {}
        self._depths_by_state: dict[int, list[int]] = {}  # by lexer state: the lengths of keys in `_mask_by_stack`
        self._finished_states: dict[int, TokenState] = {}
        self._steps = 0
        self._token_sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        mask_cache.users.add(self)

    def __del__(self) -> None:
        """Break the reference cycles between states, so that they are freed without a garbage collection."""
        self._clear_steps()

    @property
    def words(self) -> int:
        """Return the number of words of a mask."""
        return self._trie.words

    def state(self, configuration: int) -> TokenState:
        """Return the state of a configuration."""
        state = self.states.get(configuration)
        if state is None:
            accepting = bool(self._require_automaton().accepting[configuration])
            state = self.states[configuration] = TokenState(configuration, accepting)
        return state

    def advance(self, state: TokenState, token_id: int) -> TokenState | None:
        """Return the state after a token, None if it is not allowed, and cache an allowed step."""
        following = self.peek(state, token_id)
        if following is not None:
            if self._steps >= MAX_STEPS:
                self._clear_steps()
            self._steps += 1
            state.next_states[token_id] = following
        return following

    def peek(self, state: TokenState, token_id: int) -> TokenState | None:
        """Return the state after a token, None if it is not allowed, without caching the step."""
        if state.finished or not 0 <= token_id < len(self._tokens):
            return None
        if token_id in self._eos_ids:
            return self._finished_state(state) if state.accepting else None
        token = self._tokens[token_id]
        if self._token_sets is not None:
            configuration = self._require_automaton().take_token(
                state.configuration, token or b"", self._token_sets.holding(token_id)
            )
            return None if configuration == DEAD else self.state(configuration)
        configuration = self._require_automaton().run(state.configuration, token) if token else DEAD
        return None if configuration == DEAD else self.state(configuration)

    def run(self, state: TokenState, data: bytes) -> TokenState | None:
        """Return the state after bytes; None if they are not allowed."""
        if state.finished:
            return None
        configuration = self._require_automaton().run(state.configuration, data)
        return None if configuration == DEAD else self.state(configuration)

    def mask(self, state: TokenState) -> Mask:
        """Return the mask of a state, computing it if needed."""
        if state.mask is None:
            state.mask = self._compute_mask(state)
        return state.mask

    def clear_masks(self) -> None:
        """Drop every state's mask."""
        self._mask_by_stack.clear()
        self._depths_by_state.clear()
        for state in (*self.states.values(), *self._finished_states.values()):
            state.mask = None

    def _require_automaton(self) -> ByteAutomaton:
        automaton = self._automaton()
        if automaton is None:
            raise ReferenceError("the grammar of this matcher is gone")
        return automaton

    def _finished_state(self, state: TokenState) -> TokenState:
        end = self._finished_states.get(state.configuration)
        if end is None:
            end = self._finished_states[state.configuration] = TokenState(
                state.configuration, accepting=True, finished=True
            )
        return end

    def _clear_steps(self) -> None:
        for state in self.states.values():
            state.next_states.clear()
        self._steps = 0

    def _compute_mask(self, state: TokenState) -> Mask:
        if state.finished or state.configuration == DEAD:
            return mask_cache.share(np.zeros(self.words, np.uint32))
        automaton, kernels = self._require_automaton(), loaded_kernels()
        if kernels is None:
            with limited_work(WORK, automaton.limits.work):
                words = compute_reference_mask(self._trie, automaton, state.configuration)
            return mask_cache.share(self._add_special(state, words))
        loops = automaton.string_loops
        if loops and loops not in self._slices.prepared:
            self._slices.prepared.add(loops)
            self._slices.prepare(kernels, self._trie, [self._table_of(automaton, loop) for loop in loops])
        automaton.evict_states()
        if automaton.generation != self._generation:
            self._generation = automaton.generation
            self._mask_by_stack.clear()
            self._depths_by_state.clear()
            self._loops = LoopFinder()
        lexer_state, frames = automaton.stack_top(state.configuration, self._frames)
        lexer_state = automaton.widen(lexer_state, self._trie.height)
        at = state.configuration, lexer_state, frames
        if not frames:
            self._walk_allowed(kernels, automaton, at)
            return mask_cache.share(self._add_special(state, self.walk.words))
        known = self._recall(lexer_state, frames)
        if known is not None:
            mask = known[0]
        else:
            self._walk_allowed(kernels, automaton, at)
            mask = mask_cache.share(self.walk.words, self.walk.digest)
            self._remember(lexer_state, frames, self.walk.lowest_frame, mask)
        if state.accepting:
            mask = mask_cache.share(self._add_special(state, np.array(mask, np.int32).view(np.uint32)))
        return mask

    def _recall(self, lexer_state: int, frames: list[int]) -> tuple[Mask, int] | None:
        """Look up the mask of a lexer state on a stack, by the frames that the walk of a known mask read.

        Returns:
            The mask, and the lowest frame that was read to compute it, -1 for none; None if no mask is known.
        """
        for depth in self._depths_by_state.get(lexer_state, ()):
            mask = self._mask_by_stack.get((lexer_state, *frames[:depth]))
            if mask is not None:
                return mask, depth - 1
        return None

    def _remember(self, lexer_state: int, frames: list[int], lowest_frame: int, mask: Mask) -> None:
        """Cache a mask by the frames that its walk read, `lowest_frame` being the lowest, -1 for none."""
        if lowest_frame >= len(frames):
            return
        depths = self._depths_by_state.setdefault(lexer_state, [])
        if lowest_frame + 1 not in depths:
            depths.append(lowest_frame + 1)
        self._mask_by_stack[lexer_state, *frames[: lowest_frame + 1]] = mask

    def _add_special(self, state: TokenState, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Add to a mask the tokens of token elements, and the EOS ids if the state accepts."""
        if self._token_sets is not None:
            for tokens in self._require_automaton().token_sets(state.configuration):
                words |= self._token_sets.words(tokens)
        if state.accepting:
            for token_id in self._eos_ids:
                words[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        return words

    def _walk_allowed(self, kernels: Kernels, automaton: ByteAutomaton, at: tuple[int, int, list[int]]) -> None:
        """Compute in `_walk` the tokens whose bytes can be read."""
        if self._walk_long_tokens(kernels, automaton, at):
            return
        walk, lexer_state = self.walk, at[1]
        walk.begin(at)
        loop = automaton.loop_at(lexer_state)
        if loop is not None:
            part = self._slice_of(kernels, automaton, loop)
            if loop.marked:
                exits = self._slices.exit_trie(part, self._table_of(automaton, loop)[1], self._trie)
                walk.add(kernels, automaton, exits.all_tokens, (lexer_state, lexer_state, 0), trie=exits.trie)
            else:
                walk.add(kernels, automaton, part, (loop.first, loop.first, 0))
        elif automaton.may_have_loop(lexer_state):
            self._walk_loop_exits(kernels, automaton)
        else:
            walk.add(kernels, automaton, self._slices.all_tokens, (lexer_state, lexer_state, 0))

    def _walk_long_tokens(self, kernels: Kernels, automaton: ByteAutomaton, at: tuple[int, int, list[int]]) -> bool:
        """Compute the mask from that of a widened lexer state, whose length bounds are relaxed, and the long tokens.

        Short tokens stay far from the bounds, so for them the widened state is equivalent.

        Returns:
            Whether there is a widened state; otherwise nothing is done.
        """
        configuration, lexer_state, frames = at
        widened = automaton.widen(lexer_state, LONG)
        if widened == lexer_state:
            return False
        walk, known = self.walk, self._recall(widened, frames)
        if known is None:
            self._walk_allowed(kernels, automaton, (configuration, widened, frames))
            self._remember(widened, frames, walk.lowest_frame, mask_cache.share(walk.words))
        else:
            walk.begin_with_mask(at, np.array(known[0]).view(np.uint32), known[1])
        long_tokens = self._slices.long_tokens(self._trie)
        walk.words &= ~long_tokens.mask
        walk.add(kernels, automaton, long_tokens.all_tokens, (lexer_state, lexer_state, 0), trie=long_tokens.trie)
        return True

    def _slice_of(self, kernels: Kernels, automaton: ByteAutomaton, loop: Loop) -> TokenSlice:
        minimum = min(loop.least, self._height)
        maximum = None if loop.most is None or loop.most >= self._height else loop.most
        tokens = self._slice_of_loop.get((loop.first, minimum, maximum))
        if tokens is None:
            table, _ = self._table_of(automaton, loop)
            tokens = self._slices.loop_slice(kernels, self._trie, table)
            if minimum or maximum is not None:
                tokens = self._slices.counted_slice(kernels, self._trie, table, minimum, maximum)
            self._slice_of_loop[loop.first, minimum, maximum] = tokens
        return tokens

    def _table_of(self, automaton: ByteAutomaton, loop: Loop) -> tuple[LoopTable, npt.NDArray[np.bool_]]:
        """Return the table of a loop that the automaton declares, and bool[256], the bytes that end its lexeme."""
        known = self._loop_tables.get(loop.first)
        if known is None:
            block = automaton.rows[loop.first : loop.last + 1][:, self._class_of_byte]
            table = np.where((block >= loop.first) & (block <= loop.last), block - loop.first, -1)
            known = self._loop_tables[loop.first] = table.astype(np.int8, order="C"), block[0] < DEAD
        return known

    def _walk_loop_exits(self, kernels: Kernels, automaton: ByteAutomaton) -> None:
        """Walk the exits of the loop at the lexer state; below each broad byte, those of the loop that it enters."""
        walk = self.walk
        tokens, inner_state, transitions = self._slices.all_tokens, walk.lexer_state, None
        found, odd = self._loops.nearly_loop_at(automaton, walk.lexer_state), set[int]()
        if found is not None:
            inner_state, loop, odd_bytes = found
            tokens, transitions = self._slices.loop_slice(kernels, self._trie, loop), loop[0]
            if odd_bytes:
                tokens, odd = self._slices.without(tokens, odd_bytes, self._trie), set(odd_bytes)
        excluded = NOTHING
        for byte in self._slices.broad_bytes:
            if transitions is not None and transitions[byte] >= 0 and byte not in odd:
                continue  # the byte stays in the loop
            entered = entry_of(automaton, walk.lexer_state, int(self._class_of_byte[byte]))
            below = self._loops.loop_at(automaton, entered) if entered > DEAD else None
            if below is not None:
                home, loop = below
                part = self._slices.loop_slice(kernels, self._trie, loop, byte)
                walk.add(kernels, automaton, part, (entered, home, 1))
                excluded = excluded.copy()
                excluded[byte] = 1
                odd.discard(byte)
        walk.add(kernels, automaton, tokens, (walk.lexer_state, inner_state, 0), excluded)
        if odd:
            walk.add(
                kernels, automaton, all_tokens(self._trie, tuple(sorted(odd))), (walk.lexer_state, walk.lexer_state, 0)
            )


_automata: WeakKeyDictionary[ByteAutomaton, WeakKeyDictionary[Vocabulary, TokenAutomaton]] = WeakKeyDictionary()


def token_automaton(automaton: ByteAutomaton, vocabulary: Vocabulary) -> TokenAutomaton:
    """Return the token automaton that all matchers of a grammar and a vocabulary share."""
    by_vocabulary = _automata.get(automaton)
    if by_vocabulary is None:
        by_vocabulary = _automata[automaton] = WeakKeyDictionary()
    shared = by_vocabulary.get(vocabulary)
    if shared is None:
        shared = by_vocabulary[vocabulary] = TokenAutomaton(automaton, vocabulary)
    return shared


def clear_caches() -> None:
    """Drop the token states and masks of all grammars; the token slices of vocabularies stay."""
    _automata.clear()
    mask_cache.clear()
