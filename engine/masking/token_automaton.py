"""A grammar over a vocabulary: the automaton whose letters are tokens, built as it is used.

A state knows its mask and where each token taken so far leads, so that what was
done once is a copy and a lookup. All matchers of a grammar and a vocabulary
share these states.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, ByteAutomaton, Loop
from engine.masking.jit import Kernels, ready
from engine.masking.mask_cache import Mask, store
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
from engine.masking.walk import NOTHING, WORK, TrieWalk
from engine.source import limited_work
from engine.vocabulary import Vocabulary

_MOST_STEPS = 1_000_000  # remembered steps of one grammar and vocabulary, about 100 bytes each


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

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary) -> None:
        self._states: dict[int, TokenState] = {}  # first of all, since `__del__` asks for them whatever fails
        self._automaton = ref(automaton)
        self._trie = vocabulary.trie
        self._tokens = vocabulary.tokens
        self._eos_ids = vocabulary.eos_ids
        self._regions: TokenSlices = token_slices_of(vocabulary.trie)
        self._loops = LoopFinder()
        # An array of its own, read only as the kernels were compiled for.
        self._class_of_byte = np.array(automaton.class_of_byte, np.uint8)
        self._class_of_byte.setflags(write=False)
        self._height = self._trie.height + 1
        self._walk = TrieWalk(self._trie, self._class_of_byte)
        self._found: dict[tuple[int, int, int | None], TokenSlice] = {}
        self._known_loops: dict[int, tuple[LoopTable, npt.NDArray[np.bool_]]] = {}
        self._generation = automaton.generation
        self._by_look: dict[tuple[int, ...], Mask] = {}
        self._depths: dict[int, list[int]] = {}  # of a reading state, how many frames its masks are known by
        self._ends: dict[int, TokenState] = {}
        self._steps = 0
        self._token_sets = TokenSets(vocabulary, automaton.token_elements) if automaton.token_elements else None
        store.users.add(self)

    def __del__(self) -> None:
        """Cut the circles in which states lead to one another, so that they go at once and not with a collection."""
        self._forget_steps()

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
        configuration = self._living().run(state.configuration, token) if token else DEAD
        return None if configuration == DEAD else self.state(configuration)

    def run(self, state: TokenState, data: bytes) -> TokenState | None:
        """The state after bytes; None where they cannot stand."""
        if state.finished:
            return None
        configuration = self._living().run(state.configuration, data)
        return None if configuration == DEAD else self.state(configuration)

    def mask(self, state: TokenState) -> Mask:
        """What may come next, computed if nobody asked before."""
        if state.mask is None:
            state.mask = self._find(state)
        return state.mask

    def forget_masks(self) -> None:
        """Drop every state's mask."""
        self._by_look.clear()
        self._depths.clear()
        for state in (*self._states.values(), *self._ends.values()):
            state.mask = None

    def _living(self) -> ByteAutomaton:
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

    def _find(self, state: TokenState) -> Mask:
        if state.finished or state.configuration == DEAD:
            return store.share(np.zeros(self.words, np.uint32))
        automaton, kernels = self._living(), ready()
        if kernels is None:
            with limited_work(WORK, automaton.limits.work):
                plain = compute_reference_mask(self._trie, automaton, state.configuration)
            return store.share(self._with_whole(state, plain))
        loops = automaton.string_loops
        if loops and loops not in self._regions.prepared:
            self._regions.prepared.add(loops)
            self._regions.prepare(kernels, self._trie, [self._table_of(automaton, loop) for loop in loops])
        automaton.evict_states()
        if automaton.generation != self._generation:
            self._generation = automaton.generation
            self._by_look.clear()
            self._depths.clear()
            self._loops = LoopFinder()
        reading, frames = automaton.stack_top(state.configuration, self._height)
        reading = automaton.widen(reading, self._trie.height)
        at = state.configuration, reading, frames
        if not frames:
            self._run(kernels, automaton, at)
            return store.share(self._with_whole(state, self._walk.words))
        known = self._look_up(reading, frames)
        if known is not None:
            mask = known[0]
        else:
            self._run(kernels, automaton, at)
            mask = store.share(self._walk.words, self._walk.digest)
            self._note(reading, frames, self._walk.looked, mask)
        if state.accepting:
            mask = store.share(self._with_whole(state, np.array(mask, np.int32).view(np.uint32)))
        return mask

    def _look_up(self, reading: int, frames: list[int]) -> tuple[Mask, int] | None:
        """The mask of a reading state on a stack, if one that is alike as far as it was looked at is known.

        Returns:
            It, and the lowest frame that was looked at, -1 for none.
        """
        for depth in self._depths.get(reading, ()):
            mask = self._by_look.get((reading, *frames[:depth]))
            if mask is not None:
                return mask, depth - 1
        return None

    def _note(self, reading: int, frames: list[int], looked: int, mask: Mask) -> None:
        """Remember a mask by what was looked at: `looked` is the lowest frame, -1 none."""
        if looked >= len(frames):
            return
        depths = self._depths.setdefault(reading, [])
        if looked + 1 not in depths:
            depths.append(looked + 1)
        self._by_look[reading, *frames[: looked + 1]] = mask

    def _with_whole(self, state: TokenState, words: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Add what is no text: tokens taken whole, and the end."""
        if self._token_sets is not None:
            for tokens in self._living().token_sets(state.configuration):
                words |= self._token_sets.words(tokens)
        if state.accepting:
            for token_id in self._eos_ids:
                words[token_id >> 5] |= np.uint32(1 << (token_id & 31))
        return words

    def _run(self, kernels: Kernels, automaton: ByteAutomaton, at: tuple[int, int, list[int]]) -> None:
        """Walk along the tokens that can be read."""
        if self._run_far(kernels, automaton, at):
            return
        walk, reading = self._walk, at[1]
        walk.begin(at)
        loop = automaton.loop_at(reading)
        if loop is not None:
            part = self._region(kernels, automaton, loop)
            if loop.marked:
                leaving = self._regions.leaving(part, self._table_of(automaton, loop)[1], self._trie)
                walk.add(kernels, automaton, leaving.all_tokens, (reading, reading, 0), trie=leaving.trie)
            else:
                walk.add(kernels, automaton, part, (loop.first, loop.first, 0))
        elif automaton.may_have_loop(reading):
            self._run_along_loops(kernels, automaton)
        else:
            walk.add(kernels, automaton, self._regions.all_tokens, (reading, reading, 0))

    def _run_far(self, kernels: Kernels, automaton: ByteAutomaton, at: tuple[int, int, list[int]]) -> bool:
        """Walk along long tokens, where short ones do not come near a bound of the length; whether they do not."""
        configuration, reading, frames = at
        relaxed = automaton.widen(reading, LONG)
        if relaxed == reading:
            return False
        walk, known = self._walk, self._look_up(relaxed, frames)
        if known is None:
            self._run(kernels, automaton, (configuration, relaxed, frames))
            self._note(relaxed, frames, walk.looked, store.share(walk.words))
        else:
            walk.go_on(at, np.array(known[0]).view(np.uint32), known[1])
        longer = self._regions.long_tokens(self._trie)
        walk.words &= ~longer.mask
        walk.add(kernels, automaton, longer.all_tokens, (reading, reading, 0), trie=longer.trie)
        return True

    def _region(self, kernels: Kernels, automaton: ByteAutomaton, loop: Loop) -> TokenSlice:
        least = min(loop.least, self._height)
        most = None if loop.most is None or loop.most >= self._height else loop.most
        region = self._found.get((loop.first, least, most))
        if region is None:
            table, _ = self._table_of(automaton, loop)
            region = self._regions.region(kernels, self._trie, table)
            if least or most is not None:
                region = self._regions.counted(kernels, self._trie, table, least, most)
            self._found[loop.first, least, most] = region
        return region

    def _table_of(self, automaton: ByteAutomaton, loop: Loop) -> tuple[LoopTable, npt.NDArray[np.bool_]]:
        """The table of a loop that is known beforehand, and bool[256]: the bytes that end the reading there."""
        known = self._known_loops.get(loop.first)
        if known is None:
            block = automaton.rows[loop.first : loop.last + 1][:, self._class_of_byte]
            table = np.where((block >= loop.first) & (block <= loop.last), block - loop.first, -1)
            known = self._known_loops[loop.first] = table.astype(np.int8, order="C"), block[0] < DEAD
        return known

    def _run_along_loops(self, kernels: Kernels, automaton: ByteAutomaton) -> None:
        """A walk out of a loop, if there is one; below bytes that many tokens begin with, of another."""
        walk = self._walk
        region, inside, within = self._regions.all_tokens, walk.reading, None
        found, odd = self._loops.nearly_at(automaton, walk.reading), set[int]()
        if found is not None:
            inside, loop, away = found
            region, within = self._regions.region(kernels, self._trie, loop), loop[0]
            if away:
                region, odd = self._regions.without(region, away, self._trie), set(away)
        apart = NOTHING
        for byte in self._regions.broad_bytes:
            if within is not None and within[byte] >= 0 and byte not in odd:
                continue  # it stays in the loop
            entered = entry_of(automaton, walk.reading, int(self._class_of_byte[byte]))
            below = self._loops.loop_at(automaton, entered) if entered > DEAD else None
            if below is not None:
                home, loop = below
                part = self._regions.region(kernels, self._trie, loop, byte)
                walk.add(kernels, automaton, part, (entered, home, 1))
                apart = apart.copy()
                apart[byte] = 1
                odd.discard(byte)
        walk.add(kernels, automaton, region, (walk.reading, inside, 0), apart)
        if odd:
            walk.add(kernels, automaton, all_tokens(self._trie, tuple(sorted(odd))), (walk.reading, walk.reading, 0))


_known: WeakKeyDictionary[ByteAutomaton, WeakKeyDictionary[Vocabulary, TokenAutomaton]] = WeakKeyDictionary()


def token_automaton(automaton: ByteAutomaton, vocabulary: Vocabulary) -> TokenAutomaton:
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
