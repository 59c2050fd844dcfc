"""Token slices: the tokens that a loop over characters allows, computed once per loop and vocabulary.

Inside a JSON string or `[a-z]*` nearly every token leads back to the state in
which it began, and a walk visits most of the trie to find that out. But which
tokens stay in a loop depends only on the loop's bytes. So each distinct loop is
walked once per vocabulary: its slice keeps the mask of the tokens that stay and
the nodes at which tokens leave (its exits), grouped by byte. A mask is then a
copy of the slice's mask and a walk below the exits that are alive, which are few.

Half of the tokens of a vocabulary begin with a space, followed by a word. So a loop
that is entered by such a byte has a slice of its own below that byte's node.

A loop here is a configuration (its home), the bytes that lead from it back to
it, and the configurations inside a UTF-8 character that can only return to it.
The table of these states over bytes is the loop's canonical form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, MISS, ByteAutomaton, Loop
from engine.masking.bitmask import mask_of, pack_mask
from engine.masking.jit import Kernels
from engine.masking.kernels import GROUP_START, TRIE_NODES, TRIE_TOKENS, address_of
from engine.source.lru import LruCache
from engine.vocabulary import Trie

_OUTSIDE = -1
_MIN_BYTES = 8  # walking a smaller loop is faster than looking it up
_MAX_INNER = 16  # states inside a character; "any character" needs 7
_MAX_ODD = 16  # bytes that leave the loop from one state only; the walk visits the tokens that begin with them
_MAX_DEPTH = 3  # continuation bytes of a character
_BROAD_FRACTION = 8  # a byte is broad if at least one node in 8 lies below it
LONG = 16  # bytes; few tokens are longer
_CACHE_SIZE = 32  # per vocabulary; a slice has up to as many exits as the trie has nodes
_STRING_CACHE_SIZE = 4  # the loops of JSON strings: names and values, each with shortest and with any escapes

Targets: TypeAlias = npt.NDArray[np.int32]
LoopTable: TypeAlias = npt.NDArray[np.int8]
"""int8[states, 256], a loop's canonical form: 0 is its home, others are inside a character, -1 is outside."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenSlice:
    """The tokens and exits of a loop; the exits of the empty loop are the first bytes of all tokens.

    Attributes:
        mask: uint32[words], the tokens that stay in the loop.
        roots: int32[R], the nodes at which tokens leave it, grouped by byte.
        group_start: int32[257], where each byte's group begins in `roots`.
        kernel_args: the first fields of a walk's record, from the trie to `SEED`. They do not keep the trie alive.
    """

    mask: npt.NDArray[np.uint32]
    roots: npt.NDArray[np.int32]
    group_start: npt.NDArray[np.int32]
    kernel_args: memoryview

    @classmethod
    def of(cls, trie: Trie, mask: npt.NDArray[np.uint32], exits: npt.NDArray[np.int32]) -> TokenSlice:
        """Build a slice.

        Args:
            trie: the vocabulary.
            mask: uint32[words], the tokens that stay in the loop.
            exits: int32[R], the nodes at which tokens leave it, in any order.
        """
        labels = trie.byte[exits]
        roots = exits[np.argsort(labels, kind="stable")]
        group_start = np.zeros(257, np.int32)
        np.cumsum(np.bincount(labels, minlength=256), out=group_start[1:])
        of_trie = [address_of(trie.byte, np.uint8), *(address_of(array, np.int32) for array in trie.arrays[1:])]
        return cls._build(of_trie, (len(trie.byte), len(trie.token_ids)), mask, roots, group_start)

    def part(self, mask: npt.NDArray[np.uint32], kept: npt.NDArray[np.bool_]) -> TokenSlice:
        """Return a slice with another mask and a subset of the exits."""
        before = np.zeros(len(kept) + 1, np.int32)
        np.cumsum(kept, out=before[1:])
        kernel_args = self.kernel_args.tolist()
        sizes = kernel_args[TRIE_NODES], kernel_args[TRIE_TOKENS]
        return self._build(kernel_args[:GROUP_START], sizes, mask, self.roots[kept], before[self.group_start])

    @classmethod
    def _build(
        cls,
        of_trie: list[int],
        sizes: tuple[int, int],
        mask: npt.NDArray[np.uint32],
        roots: npt.NDArray[np.int32],
        group_start: npt.NDArray[np.int32],
    ) -> TokenSlice:
        for array in (mask, roots, group_start):
            array.setflags(write=False)
        exits = address_of(group_start, np.int32), address_of(roots, np.int32)
        seed = address_of(mask, np.uint32) if mask.any() else 0
        kernel_args = np.array([*of_trie, *exits, *sizes, len(roots), seed], np.int64).data
        return cls(mask, roots, group_start, kernel_args)


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """The number of characters of each token in a loop.

    Attributes:
        of_token: int16[V], the characters of each token that stays in the loop, an incomplete one at its end included;
            -1 for other tokens.
        of_exit: int16[R], the characters before each exit of the loop's slice.
    """

    of_token: npt.NDArray[np.int16]
    of_exit: npt.NDArray[np.int16]
    _masks: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)

    def cut(self, loop_slice: TokenSlice, minimum: int, maximum: int | None) -> TokenSlice:
        """Restrict a loop's slice by the number of characters in the loop.

        Args:
            loop_slice: the slice of the loop.
            minimum: the smallest number of characters before the loop is left.
            maximum: the largest number of characters; None for no limit.
        """
        largest = int(self.of_token.max(initial=0)) if maximum is None else maximum
        kept = (self.of_exit >= minimum) & (self.of_exit <= largest)
        return loop_slice.part(self._up_to(largest), kept)

    def _up_to(self, largest: int) -> npt.NDArray[np.uint32]:
        """Return the mask of tokens of at most `largest` characters; there are as many masks as lengths of tokens."""
        mask = self._masks.get(largest)
        if mask is None:
            mask = self._masks[largest] = pack_mask((self.of_token > _OUTSIDE) & (self.of_token <= largest))
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class ExitTrie:
    """A trie of the tokens that leave a loop, and the slice of it whose mask has the tokens that stay."""

    trie: Trie
    all_tokens: TokenSlice


@dataclass(frozen=True, slots=True, eq=False)
class LongTokens:
    """A trie of the tokens of more than some number of bytes, and the slice of all of them.

    Attributes:
        mask: uint32[words], the tokens.
    """

    trie: Trie
    all_tokens: TokenSlice
    mask: npt.NDArray[np.uint32]


def long_tokens(trie: Trie, length: int) -> LongTokens:
    """Return the tokens of a vocabulary with more than `length` bytes."""
    part = trie.below(np.flatnonzero(trie.depth == length + 1).astype(np.int32))
    return LongTokens(part, all_tokens(part), mask_of(part.token_ids, trie.size))


def all_tokens(trie: Trie, first: tuple[int, ...] = tuple(range(256))) -> TokenSlice:
    """Return the slice of the empty loop, which no token stays in, restricted to some first bytes."""
    top = trie.top[list(first)]
    return TokenSlice.of(trie, np.zeros(trie.words, np.uint32), top[top >= 0])


class TokenSlices:
    """The most recently used token slices of one vocabulary.

    Attributes:
        all_tokens: the slice of the empty loop.
        by_loop: the slices of loops, a bounded cache.
        broad_bytes: the bytes with which many tokens begin.
        prepared: the string loops that `prepare` was called for. It only saves time: loops of other grammars may have
            the same state numbers.
    """

    def __init__(self, trie: Trie) -> None:
        self.by_loop: LruCache[tuple[bytes, int], TokenSlice] = LruCache(_CACHE_SIZE)
        self.all_tokens = all_tokens(trie)
        self._by_length: LruCache[tuple[bytes, int, int | None], TokenSlice] = LruCache(_CACHE_SIZE)
        self._lengths: LruCache[bytes, Lengths] = LruCache(_STRING_CACHE_SIZE)
        self._exit_tries: LruCache[TokenSlice, ExitTrie] = LruCache(_STRING_CACHE_SIZE)
        self._without: LruCache[tuple[TokenSlice, tuple[int, ...]], TokenSlice] = LruCache(_CACHE_SIZE)
        self._long_tokens: LongTokens | None = None
        self.prepared: set[tuple[Loop, ...]] = set()
        nodes = np.where(trie.top >= 0, trie.skip[trie.top] - trie.top, 0) if len(trie.byte) else trie.top
        self.broad_bytes: list[int] = np.flatnonzero(nodes * _BROAD_FRACTION > len(trie.byte)).tolist()

    def loop_slice(self, kernels: Kernels, trie: Trie, loop: LoopTable, entry: int | None = None) -> TokenSlice:
        """Return the slice of a loop, or its part below the byte by which the loop is entered.

        Args:
            kernels: the compiled kernels.
            trie: the vocabulary.
            loop: the loop's table.
            entry: the byte by which the loop is entered; None if it is entered before the first byte.
        """
        byte = -1 if entry is None else entry
        root = -1 if entry is None else int(trie.top[entry])
        return self.by_loop.get((loop.tobytes(), byte), lambda: find_loop_slice(kernels, trie, loop, root))

    def exit_trie(self, loop_slice: TokenSlice, ends: npt.NDArray[np.bool_], trie: Trie) -> ExitTrie:
        """Return the tokens that leave a loop by some bytes.

        Args:
            loop_slice: the loop's slice.
            ends: bool[256], the bytes.
            trie: the vocabulary.
        """

        def compute() -> ExitTrie:
            part = trie.below(loop_slice.roots[ends[trie.byte[loop_slice.roots]]])
            return ExitTrie(part, TokenSlice.of(part, loop_slice.mask, part.top[part.top >= 0]))

        return self._exit_tries.get(loop_slice, compute)

    def long_tokens(self, trie: Trie) -> LongTokens:
        """Return the tokens of more than `LONG` bytes."""
        if self._long_tokens is None:
            self._long_tokens = long_tokens(trie, LONG)
        return self._long_tokens

    def prepare(self, kernels: Kernels, trie: Trie, loops: Sequence[tuple[LoopTable, npt.NDArray[np.bool_]]]) -> None:
        """Compute the slices that nearly all schemas need, so that the first step is not slower.

        Args:
            kernels: the compiled kernels.
            trie: the vocabulary.
            loops: the loops of JSON strings, and bool[256] for each, the bytes that end it. The character counts of
                the first one are computed too.
        """
        for loop, ends in loops:
            self.exit_trie(self.loop_slice(kernels, trie, loop), ends, trie)
        self._lengths_of(kernels, trie, loops[0][0])
        self.long_tokens(trie)

    def without(self, loop_slice: TokenSlice, odd: tuple[int, ...], trie: Trie) -> TokenSlice:
        """Return a slice without the tokens that begin with some bytes.

        Args:
            loop_slice: the slice of a loop.
            odd: the bytes.
            trie: the vocabulary.
        """
        return self._without.get((loop_slice, odd), lambda: _without_bytes(loop_slice, odd, trie))

    def counted_slice(
        self, kernels: Kernels, trie: Trie, loop: LoopTable, minimum: int, maximum: int | None
    ) -> TokenSlice:
        """Return the slice of a loop that must be left after `minimum` to `maximum` characters.

        Args:
            kernels: the compiled kernels.
            trie: the vocabulary.
            loop: the loop's table.
            minimum: the smallest number of characters.
            maximum: the largest number of characters; None for no limit.
        """

        def compute() -> TokenSlice:
            return self._lengths_of(kernels, trie, loop).cut(self.loop_slice(kernels, trie, loop), minimum, maximum)

        return self._by_length.get((loop.tobytes(), minimum, maximum), compute)

    def _lengths_of(self, kernels: Kernels, trie: Trie, loop: LoopTable) -> Lengths:
        def compute() -> Lengths:
            of_token, of_node = np.full(trie.size, _OUTSIDE, np.int16), np.zeros(len(trie.byte), np.int16)
            path, counts = np.zeros((2, trie.height + 1), np.int32)
            kernels.measure_loop(trie.arrays, loop, path, counts, of_token, of_node)
            return Lengths(of_token, of_node[self.loop_slice(kernels, trie, loop).roots])

        return self._lengths.get(loop.tobytes(), compute)


_slices_by_trie: WeakKeyDictionary[Trie, TokenSlices] = WeakKeyDictionary()


def token_slices_of(trie: Trie) -> TokenSlices:
    """Return the token slices of a vocabulary; they live as long as its trie."""
    token_slices = _slices_by_trie.get(trie)
    if token_slices is None:
        token_slices = _slices_by_trie[trie] = TokenSlices(trie)
    return token_slices


def _without_bytes(loop_slice: TokenSlice, odd: tuple[int, ...], trie: Trie) -> TokenSlice:
    removed = np.zeros(trie.size, np.bool_)
    kept = np.ones(len(loop_slice.roots), np.bool_)
    for top in trie.top[list(odd)].tolist():
        if top >= 0:
            end = trie.skip[top]
            removed[trie.ids_below(top)] = True
            kept &= (loop_slice.roots < top) | (loop_slice.roots >= end)
    return loop_slice.part(loop_slice.mask & ~pack_mask(removed), kept)


def find_loop_slice(kernels: Kernels, trie: Trie, loop: LoopTable, root: int) -> TokenSlice:
    """Compute the slice of a loop below a node; `TokenSlices.loop_slice` caches it.

    Args:
        kernels: the compiled kernels.
        trie: the trie of the vocabulary.
        loop: the bytes of the loop.
        root: the node of the trie.
    """
    mask, exits = np.zeros(trie.words, np.uint32), np.empty(len(trie.byte), np.int32)
    stack = np.zeros(trie.height + 1, np.int32)
    count = kernels.scan_loop(trie.arrays, loop, root, stack, exits, mask)
    return TokenSlice.of(trie, mask, exits[:count])


class LoopFinder:
    """A finder of the loops of one automaton, which caches them by their home states."""

    def __init__(self) -> None:
        self._loops: dict[int, LoopTable | None] = {}
        self._shared: dict[bytes, LoopTable] = {}  # many homes have equal tables

    def loop_at(self, automaton: ByteAutomaton, configuration: int) -> tuple[int, LoopTable] | None:
        """Return the loop whose home a configuration is, or into which every byte of the loop leads from it.

        In `[a-z]+` the first byte leads into the loop from outside. If that configuration has the same transitions as
        the home for the loop's bytes, their masks differ only in tokens that begin with other bytes.

        Returns:
            The home and the loop's table; None if there is no loop that is worth a slice.
        """
        found = self.nearly_loop_at(automaton, configuration)
        return None if found is None or found[2] else found[:2]

    def nearly_loop_at(
        self, automaton: ByteAutomaton, configuration: int
    ) -> tuple[int, LoopTable, tuple[int, ...]] | None:
        """Find a loop as `loop_at` does, but allow and return a few of its bytes that lead elsewhere."""
        targets = targets_of(automaton, configuration)
        if np.count_nonzero(targets) < _MIN_BYTES:
            return None
        home = int(np.bincount(targets[targets != DEAD]).argmax())
        if home not in self._loops:
            loop = _loop_table(automaton, home)
            self._loops[home] = None if loop is None else self._shared.setdefault(loop.tobytes(), loop)
        loop = self._loops[home]
        if loop is None:
            return None
        if home == configuration:
            return home, loop, ()
        within = loop[0] != _OUTSIDE
        odd = np.flatnonzero(within & (targets != targets_of(automaton, home)))
        return (home, loop, tuple(odd.tolist())) if len(odd) <= _MAX_ODD else None


def targets_of(automaton: ByteAutomaton, state: int) -> Targets:
    """Return int32[256]: the next lexer state for each byte, `DEAD` if it ends the lexeme. Completes the row."""
    automaton.complete(state)
    targets: Targets = np.maximum(automaton.rows[state][automaton.class_of_byte], DEAD)
    return targets


def entry_of(automaton: ByteAutomaton, state: int, byte_class: int) -> int:
    """Return an entry of a lexer state's row, computing it if it is missing.

    Args:
        automaton: the automaton of the grammar.
        state: the lexer state.
        byte_class: the class of the byte.
    """
    if automaton.rows[state, byte_class] == MISS:
        automaton.fill(state, byte_class)
    return int(automaton.rows[state, byte_class])


def _loop_table(automaton: ByteAutomaton, home: int) -> LoopTable | None:
    targets = targets_of(automaton, home)
    inner: dict[int, Targets] = {home: targets}
    for lead in dict.fromkeys(targets[0xC2:0xF5].tolist()):
        if lead not in (DEAD, home):
            found = _inner_states(automaton, lead, inner, _MAX_DEPTH)
            inner = found or inner
    index_of_state = np.full(len(automaton.rows), _OUTSIDE, np.int8)
    index_of_state[list(inner)] = np.arange(len(inner))
    loop: LoopTable = index_of_state[np.stack(list(inner.values()))]
    return loop if np.count_nonzero(loop[0] != _OUTSIDE) >= _MIN_BYTES else None


def _inner_states(
    automaton: ByteAutomaton, configuration: int, inner: dict[int, Targets], depth: int
) -> dict[int, Targets] | None:
    """Return `inner` with a configuration and its successors, or None if one of them can leave the loop."""
    if configuration in inner:
        return inner
    if depth == 0 or len(inner) > _MAX_INNER:
        return None
    targets = targets_of(automaton, configuration)
    if not targets.any() or (automaton.rows[configuration] < DEAD).any():
        return None  # a lexeme cannot end inside a character
    found: dict[int, Targets] | None = {**inner, configuration: targets}
    for following in dict.fromkeys(targets.tolist()):
        if following != DEAD and found is not None:
            found = _inner_states(automaton, following, found, depth - 1)
    return found
