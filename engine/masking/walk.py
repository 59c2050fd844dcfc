"""One mask's walk: the kernel, and what it comes back for.

The tables of an automaton are filled as walks meet their gaps. A kernel stops
at a gap, says which it is, and goes on where it stopped once it is filled.

What depends on the text itself (an item that may not equal another) has no
entry. There the tokens are read one after the other, as the plain twin does.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.actions import ASK
from engine.automata.runtime import Runtime
from engine.masking.kernels import DONE, NO_ACTION, NO_ENTRY
from engine.masking.plain import add_below
from engine.masking.regions import Region
from engine.masking.runtime import Kernels
from engine.vocabulary import Trie

NOTHING: npt.NDArray[np.uint8] = np.zeros(256, np.uint8)
NOTHING.setflags(write=False)
_WITHOUT_BOUND = 1 << 30

_BEGIN = np.array((0, 0, 0, 0, -1, 0, 0, 0), np.int64)

Ints: TypeAlias = npt.NDArray[np.int32]


class Room:
    """What walks write on, one after the other.

    Attributes:
        scratch: as the kernel takes it.
    """

    __slots__ = ("_below", "scratch")

    def __init__(self, height: int) -> None:
        states, nodes = np.zeros((2, height + 1), np.int32)
        frames, belows = np.zeros((2, 5 * height + 5), np.int32)
        self.scratch: tuple[Ints, Ints, Ints, Ints] = states, nodes, frames, belows
        self._below = np.arange(1, height + 2, dtype=np.int32)

    def stack(self, given: list[int]) -> None:
        """Put a stack there, the top first, of at most `height + 1` frames."""
        count = len(given)
        if count:
            self.scratch[2][:count] = given
            self.scratch[3][:count] = self._below[:count]


class Walk:
    """The walk for one configuration.

    Attributes:
        reading: the configuration's reading state, relaxed.
        words: uint32[words], the mask so far.
        looked: the lowest frame of the stack that was looked at, -1 for none.
    """

    __slots__ = (
        "_automaton",
        "_class_of_byte",
        "_configuration",
        "_given",
        "_kernels",
        "_scratch",
        "_trie",
        "looked",
        "reading",
        "words",
    )

    def __init__(
        self,
        kernels: Kernels,
        automaton: Runtime,
        at: tuple[int, int, list[int]],
        trie: Trie,
        class_of_byte: npt.NDArray[np.uint8],
        room: Room,
    ) -> None:
        """At a configuration, with its reading state and the uppermost frames of its stack."""
        self._kernels, self._automaton, self._trie = kernels, automaton, trie
        self._class_of_byte, self._scratch = class_of_byte, room.scratch
        self._configuration, self.reading, frames = at
        self._given = len(frames)
        room.stack(frames)
        self.words = np.zeros(trie.words, np.uint32)
        self.looked = -1

    def add(
        self,
        region: Region,
        start: tuple[int, int, int],
        apart: npt.NDArray[np.uint8] = NOTHING,
        trie: Trie | None = None,
    ) -> None:
        """Walk below the exits of a region.

        Args:
            region: where to begin.
            start: the reading states above its exits at depth `base + 1` and above deeper ones, and `base`.
            apart: uint8[256], first bytes that are left out.
            trie: the trie that the region is of, if that is a part of the vocabulary's.
        """
        automaton, trie = self._automaton, trie or self._trie
        walk, arrays = self._kernels.walk, trie.arrays
        exits, progress, begin = (region.group_start, region.roots), _BEGIN.copy(), (*start, self._given)
        while True:
            known = automaton.actions
            lacking = walk(
                arrays,
                exits,
                (automaton.rows, self._class_of_byte),  # anew each time: they may be replaced
                (known.near, known.keys, known.values),
                begin,
                apart,
                self._scratch,
                progress,
                self.words,
            )
            if lacking == DONE:
                self.looked = max(self.looked, progress.item(4))
                return
            self._supply(lacking, trie, progress)

    def _supply(self, lacking: int, trie: Trie, progress: npt.NDArray[np.int64]) -> None:
        of, at = progress.item(6), progress.item(7)
        if lacking == NO_ENTRY:
            self._automaton.fill(of, at)
            return
        asked = self._automaton.act(of, at) if lacking == NO_ACTION else -self._automaton.act_below(of, at)
        if asked == ASK:
            node = progress.item(3)
            add_below(trie, self._automaton, self._configuration, node, self.words)
            progress[3] = trie.skip[node]
            progress[4] = _WITHOUT_BOUND
