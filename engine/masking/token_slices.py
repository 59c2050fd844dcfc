"""Loop regions: what a loop over characters allows, found once per vocabulary.

Inside a JSON string or `[a-z]*` nearly every token leads back to where it
started, and a walk visits most of the trie to find that out. But which tokens
stay in a loop depends on the loop's bytes alone. So each distinct loop is
walked once per vocabulary: its mask is kept, with the nodes at which tokens
leave it, grouped by the byte with which they do. A mask is then a copy of the
loop's and a walk below the exits that are alive, which are few.

Half of a vocabulary begins with a blank, and words begin after one. So a loop
that is entered by such a byte has a region of its own below that byte's node.

A loop here is a configuration (its home), the bytes that lead from it back to
it, and the configurations inside a character (UTF-8) that can only come back to
it. The table of these states over bytes is the loop's canonical form.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD, MISS, ByteAutomaton, Loop
from engine.masking.jit import Kernels
from engine.masking.kernels import GROUP_START, TRIE_NODES, TRIE_TOKENS, address_of
from engine.vocabulary import Trie

_OUTSIDE = -1
_FEWEST_BYTES = 8  # a smaller loop is walked faster than looked up
_MOST_INNER = 16  # "any character" needs 7; a loop with more is walked at its lead bytes
_MOST_ODD = 16  # a byte that leaves the loop from one place only is walked below
_DEEPEST = 3  # continuation bytes of a character
_BROAD_SHARE = 8  # a byte is broad if one node out of so many lies below it
LONG = 16  # bytes of a token; few have more
_REGIONS_KEPT = 32  # per vocabulary; each holds up to a trie's nodes
_STRING_LOOPS = 4  # any string is marked and counted: in the spellings of names, of free values, and with any escapes

_Key = TypeVar("_Key", bound=Hashable)
_Found = TypeVar("_Found")

Targets: TypeAlias = npt.NDArray[np.int32]
LoopTable: TypeAlias = npt.NDArray[np.int8]
"""int8[states, 256], a loop's canonical form: 0 is home, others are inside a character, -1 is outside."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenSlice:
    """A loop's tokens and exits; the empty loop's exits are all the tokens' first bytes.

    Attributes:
        mask: uint32[words], the tokens that stay.
        roots: int32[R], the nodes at which tokens leave, grouped by byte.
        group_start: int32[257], where each byte's group begins in `roots`.
        given: the vocabulary's trie and the exits, as a walk is given them. The trie is not held.
    """

    mask: npt.NDArray[np.uint32]
    roots: npt.NDArray[np.int32]
    group_start: npt.NDArray[np.int32]
    given: memoryview

    @classmethod
    def of(cls, trie: Trie, mask: npt.NDArray[np.uint32], exits: npt.NDArray[np.int32]) -> TokenSlice:
        """Group the exits by their bytes."""
        labels = trie.byte[exits]
        roots = exits[np.argsort(labels, kind="stable")]
        group_start = np.zeros(257, np.int32)
        np.cumsum(np.bincount(labels, minlength=256), out=group_start[1:])
        of_trie = [address_of(trie.byte, np.uint8), *(address_of(array, np.int32) for array in trie.arrays[1:])]
        return cls._made(of_trie, (len(trie.byte), len(trie.token_ids)), mask, roots, group_start)

    def part(self, mask: npt.NDArray[np.uint32], kept: npt.NDArray[np.bool_]) -> TokenSlice:
        """With another mask and some of the exits."""
        before = np.zeros(len(kept) + 1, np.int32)
        np.cumsum(kept, out=before[1:])
        given = self.given.tolist()
        sizes = given[TRIE_NODES], given[TRIE_TOKENS]
        return self._made(given[:GROUP_START], sizes, mask, self.roots[kept], before[self.group_start])

    @classmethod
    def _made(
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
        given = np.array([*of_trie, *exits, *sizes, len(roots), seed], np.int64).data
        return cls(mask, roots, group_start, given)


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """How many characters of a loop tokens take.

    Attributes:
        of_token: int16[V], of each token that stays in the loop, its characters, an open one included; -1 for others.
        of_exit: int16[R], of each exit of the loop's region, the characters before it.
    """

    of_token: npt.NDArray[np.int16]
    of_exit: npt.NDArray[np.int16]
    _masks: dict[int, npt.NDArray[np.uint32]] = field(default_factory=dict)

    def cut(self, region: TokenSlice, least: int, most: int | None) -> TokenSlice:
        """The part of a loop's region with so many characters."""
        largest = int(self.of_token.max(initial=0)) if most is None else most
        kept = (self.of_exit >= least) & (self.of_exit <= largest)
        return region.part(self._up_to(largest, len(region.mask)), kept)

    def _up_to(self, largest: int, words: int) -> npt.NDArray[np.uint32]:
        """The tokens of so many characters at most. There are no more such masks than the longest token has bytes."""
        mask = self._masks.get(largest)
        if mask is None:
            bits = np.zeros(32 * words, np.bool_)
            bits[: len(self.of_token)] = (self.of_token > _OUTSIDE) & (self.of_token <= largest)
            mask = self._masks[largest] = np.packbits(bits, bitorder="little").view(np.uint32)
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class ExitTrie:
    """The tokens that leave a loop, as a trie of their own, and a region of it: what stays is the loop's."""

    trie: Trie
    all_tokens: TokenSlice


@dataclass(frozen=True, slots=True, eq=False)
class LongTokens:
    """The tokens of more than so many bytes, as a trie of their own, and the empty loop's region of it.

    Attributes:
        mask: uint32[words], the tokens.
    """

    trie: Trie
    all_tokens: TokenSlice
    mask: npt.NDArray[np.uint32]


def long_tokens(trie: Trie, length: int) -> LongTokens:
    """The part of a vocabulary with more than so many bytes."""
    part = trie.below(np.flatnonzero(trie.depth == length + 1).astype(np.int32))
    bits = np.zeros(32 * trie.words, np.bool_)
    bits[part.token_ids] = True
    return LongTokens(part, all_tokens(part), np.packbits(bits, bitorder="little").view(np.uint32))


def all_tokens(trie: Trie, first: tuple[int, ...] = tuple(range(256))) -> TokenSlice:
    """The region of the empty loop: nothing stays; or the part of it that begins with some bytes."""
    top = trie.top[list(first)]
    return TokenSlice.of(trie, np.zeros(trie.words, np.uint32), top[top >= 0])


class _Recent(OrderedDict[_Key, _Found]):
    """What was found by what it was asked for, the last used ones."""

    def __init__(self, most: int = _REGIONS_KEPT) -> None:
        super().__init__()
        self._most = most

    def found(self, key: _Key, find: Callable[[], _Found]) -> _Found:
        """What is asked for, found if it is not known."""
        known = self.get(key)
        if known is None:
            known = self[key] = find()
            if len(self) > self._most:
                self.popitem(last=False)
        else:
            self.move_to_end(key)
        return known


class TokenSlices:
    """The regions of one vocabulary, the last used ones.

    Attributes:
        whole: the empty loop's.
        broad_bytes: the bytes with which many tokens begin.
        prepared: the loops of any string that were prepared. It spares time only: loops of other grammars may have the
            same numbers.
    """

    def __init__(self, trie: Trie) -> None:
        self._by_loop: _Recent[tuple[bytes, int], TokenSlice] = _Recent()
        self.all_tokens = all_tokens(trie)
        self._counted: _Recent[tuple[bytes, int, int | None], TokenSlice] = _Recent()
        self._lengths: _Recent[bytes, Lengths] = _Recent(_STRING_LOOPS)
        self._leaving: _Recent[TokenSlice, ExitTrie] = _Recent(_STRING_LOOPS)
        self._without: _Recent[tuple[TokenSlice, tuple[int, ...]], TokenSlice] = _Recent()
        self._longer: LongTokens | None = None
        self.prepared: set[tuple[Loop, ...]] = set()
        nodes = np.where(trie.top >= 0, trie.skip[trie.top] - trie.top, 0) if len(trie.byte) else trie.top
        self.broad_bytes: list[int] = np.flatnonzero(nodes * _BROAD_SHARE > len(trie.byte)).tolist()

    def region(self, kernels: Kernels, trie: Trie, loop: LoopTable, entry: int | None = None) -> TokenSlice:
        """The region of a loop, or the part of it below the byte by which it is entered."""
        byte = -1 if entry is None else entry
        root = -1 if entry is None else int(trie.top[entry])
        return self._by_loop.found((loop.tobytes(), byte), lambda: _find(kernels, trie, loop, root))

    def leaving(self, region: TokenSlice, ends: npt.NDArray[np.bool_], trie: Trie) -> ExitTrie:
        """The part of the vocabulary that leaves a loop by some bytes.

        Args:
            region: the loop's region.
            ends: bool[256], the bytes.
            trie: the vocabulary.
        """

        def find() -> ExitTrie:
            part = trie.below(region.roots[ends[trie.byte[region.roots]]])
            return ExitTrie(part, TokenSlice.of(part, region.mask, part.top[part.top >= 0]))

        return self._leaving.found(region, find)

    def long_tokens(self, trie: Trie) -> LongTokens:
        """The part of the vocabulary with more than `LONG` bytes."""
        if self._longer is None:
            self._longer = long_tokens(trie, LONG)
        return self._longer

    def prepare(self, kernels: Kernels, trie: Trie, loops: Sequence[tuple[LoopTable, npt.NDArray[np.bool_]]]) -> None:
        """Find out what nearly all schemas need: before the first step, for it would be a slow one.

        Args:
            kernels: the kernels.
            trie: the vocabulary.
            loops: the loops of any string, and bool[256] for each, the bytes that end it; the first one is counted,
                too. All may be marked: the second one is, where items must differ.
        """
        for loop, ends in loops:
            self.leaving(self.region(kernels, trie, loop), ends, trie)
        self._lengths_of(kernels, trie, loops[0][0])
        self.long_tokens(trie)

    def without(self, region: TokenSlice, odd: tuple[int, ...], trie: Trie) -> TokenSlice:
        """A region but for what begins with some bytes."""
        return self._without.found((region, odd), lambda: _cut(region, odd, trie))

    def counted(self, kernels: Kernels, trie: Trie, loop: LoopTable, least: int, most: int | None) -> TokenSlice:
        """A loop's region where so many characters may, and must, come before it is left."""

        def find() -> TokenSlice:
            return self._lengths_of(kernels, trie, loop).cut(self.region(kernels, trie, loop), least, most)

        return self._counted.found((loop.tobytes(), least, most), find)

    def _lengths_of(self, kernels: Kernels, trie: Trie, loop: LoopTable) -> Lengths:

        def find() -> Lengths:
            of_token, of_node = np.full(trie.size, _OUTSIDE, np.int16), np.zeros(len(trie.byte), np.int16)
            path, counts = np.zeros((2, trie.height + 1), np.int32)
            kernels.measure(trie.arrays, loop, path, counts, of_token, of_node)
            return Lengths(of_token, of_node[self.region(kernels, trie, loop).roots])

        return self._lengths.found(loop.tobytes(), find)


_regions: WeakKeyDictionary[Trie, TokenSlices] = WeakKeyDictionary()


def token_slices_of(trie: Trie) -> TokenSlices:
    """The regions of a vocabulary; they are forgotten with it."""
    regions = _regions.get(trie)
    if regions is None:
        regions = _regions[trie] = TokenSlices(trie)
    return regions


def _cut(region: TokenSlice, odd: tuple[int, ...], trie: Trie) -> TokenSlice:
    bits = np.zeros(32 * trie.words, np.bool_)
    kept = np.ones(len(region.roots), np.bool_)
    for top in trie.top[list(odd)].tolist():
        if top >= 0:
            end = trie.skip[top]
            bits[trie.token_ids[trie.token_start[top] : trie.token_start[end]]] = True
            kept &= (region.roots < top) | (region.roots >= end)
    return region.part(region.mask & ~np.packbits(bits, bitorder="little").view(np.uint32), kept)


def _find(kernels: Kernels, trie: Trie, loop: LoopTable, root: int) -> TokenSlice:
    mask, exits = np.zeros(trie.words, np.uint32), np.empty(len(trie.byte), np.int32)
    stack = np.zeros(trie.height + 1, np.int32)
    count = kernels.circle(trie.arrays, loop, root, stack, exits, mask)
    return TokenSlice.of(trie, mask, exits[:count])


class LoopFinder:
    """Finds the loops of one automaton, and remembers them by their homes."""

    def __init__(self) -> None:
        self._loops: dict[int, LoopTable | None] = {}
        self._shared: dict[bytes, LoopTable] = {}  # many homes, few loops

    def loop_at(self, automaton: ByteAutomaton, configuration: int) -> tuple[int, LoopTable] | None:
        """The loop that a configuration is the home of, or one byte away from.

        In `[a-z]+` the first byte leads into the loop from outside. Where that configuration reads the loop's
        bytes as the home does, their masks differ in the other bytes only.

        Returns:
            The home and the loop's table; None where there is no loop worth a region.
        """
        found = self.nearly_at(automaton, configuration)
        return None if found is None or found[2] else found[:2]

    def nearly_at(self, automaton: ByteAutomaton, configuration: int) -> tuple[int, LoopTable, tuple[int, ...]] | None:
        """The same, where a few of the loop's bytes may lead elsewhere; with these."""
        targets = targets_of(automaton, configuration)
        if np.count_nonzero(targets) < _FEWEST_BYTES:
            return None
        home = int(np.bincount(targets[targets != DEAD]).argmax())
        if home not in self._loops:
            loop = _loop(automaton, home)
            self._loops[home] = None if loop is None else self._shared.setdefault(loop.tobytes(), loop)
        loop = self._loops[home]
        if loop is None:
            return None
        if home == configuration:
            return home, loop, ()
        within = loop[0] != _OUTSIDE
        odd = np.flatnonzero(within & (targets != targets_of(automaton, home)))
        return (home, loop, tuple(odd.tolist())) if len(odd) <= _MOST_ODD else None


def targets_of(automaton: ByteAutomaton, state: int) -> Targets:
    """int32[256]: the reading state to which each byte leads, `DEAD` where it ends the reading; fills the row."""
    automaton.complete(state)
    targets: Targets = np.maximum(automaton.rows[state][automaton.class_of_byte], DEAD)
    return targets


def entry_of(automaton: ByteAutomaton, state: int, byte_class: int) -> int:
    """An entry of a reading state's row; fills it in."""
    if automaton.rows[state, byte_class] == MISS:
        automaton.fill(state, byte_class)
    return int(automaton.rows[state, byte_class])


def _loop(automaton: ByteAutomaton, home: int) -> LoopTable | None:
    targets = targets_of(automaton, home)
    inner: dict[int, Targets] = {home: targets}
    for lead in dict.fromkeys(targets[0xC2:0xF5].tolist()):
        if lead not in (DEAD, home):
            found = _returning(automaton, lead, inner, _DEEPEST)
            inner = found or inner
    places = np.full(len(automaton.rows), _OUTSIDE, np.int8)
    places[list(inner)] = np.arange(len(inner))
    loop: LoopTable = places[np.stack(list(inner.values()))]
    return loop if np.count_nonzero(loop[0] != _OUTSIDE) >= _FEWEST_BYTES else None


def _returning(
    automaton: ByteAutomaton, configuration: int, inner: dict[int, Targets], deepest: int
) -> dict[int, Targets] | None:
    """`inner` with a configuration and what it leads to, if all of that can only come back to the loop."""
    if configuration in inner:
        return inner
    if deepest == 0 or len(inner) > _MOST_INNER:
        return None
    targets = targets_of(automaton, configuration)
    if not targets.any() or (automaton.rows[configuration] < DEAD).any():
        return None  # where the reading ends is no place inside a character
    found: dict[int, Targets] | None = {**inner, configuration: targets}
    for following in dict.fromkeys(targets.tolist()):
        if following != DEAD and found is not None:
            found = _returning(automaton, following, found, deepest - 1)
    return found
