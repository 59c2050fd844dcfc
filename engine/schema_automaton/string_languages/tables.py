"""Formats as tables that were worked out beforehand.

A format belongs to no grammar, and what its conditions come to is always the
same: the smallest deterministic automaton over letters. `resources/formats`
holds it, written by the script there. An e-mail address counts up to 64 and 255
and a leap second depends on an offset that is yet to come, so there are 26,000
states; they are kept in blocks that are unpacked as they are met.

Nothing here decides what a format is: the tests hold each table against the
automaton of the format's own node, and against a digest of that node.

Rejected: working them out in every process (the first date took 60 ms, the first
pattern of a `format: regex` 300 ms), and a file in the user's cache (the first of
all would still take seconds).
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, LengthBound
from engine.schema_automaton.json_encoding.alphabet import CharacterClasses, letters_from
from engine.schema_automaton.json_encoding.class_encoder import class_encoding_of
from engine.schema_automaton.json_encoding.encoder import Escapes

BLOCK: Final = 512
"""States in a block."""

Targets = npt.NDArray[np.unsignedinteger[Any]]


class _Block(NamedTuple):
    """Some states in a row.

    Attributes:
        rows: of each state and letter the next state; `DEAD` where nothing completes the string.
        lacks: of each state the fewest bytes that complete it; 0 where it accepts.
        characters: of each state the fewest characters that do.
    """

    rows: Targets
    lacks: Targets
    characters: Targets


class TableAutomaton:
    """An automaton over letters that is known in full.

    Attributes:
        letters: what it reads.
        size: how many states there are, `DEAD` included.
        reach: from any state so many characters at most complete a string.
        digest: of what it was made from.
    """

    start = 1

    def __init__(self, data: bytes, escapes: Escapes) -> None:
        length = int.from_bytes(data[:4], "little")
        header = json.loads(data[4 : 4 + length])
        self.letters: CharacterClasses = letters_from(tuple(map(tuple, header["segments"])), escapes)
        self.classes: ByteClasses = self.letters.classes
        self.n_classes = len(self.classes)
        self.size: int = header["states"]
        self.reach: int = header["reach"]
        self.digest: str = header["digest"]
        self._packed: list[bytes] = []
        at = 4 + length
        for size in header["blocks"]:
            self._packed.append(data[at : at + size])
            at += size
        self._blocks: dict[int, _Block] = {}
        self._lacks: dict[Alphabet, npt.NDArray[np.float64]] = {}

    def step(self, state: int, letter: int) -> int:
        """The state after a letter."""
        return self._block(state).rows.item(state % BLOCK, letter)

    def row(self, state: int) -> list[int]:
        """The state after each letter."""
        row: list[int] = self._block(state).rows[state % BLOCK].tolist()
        return row

    def accepts(self, state: int) -> bool:
        """Whether the string may end here."""
        return state != DEAD and self._block(state).lacks.item(state % BLOCK) == 0

    def is_free(self, state: int) -> bool:
        """Never: no format ends in any string."""
        return False

    def characters(self, state: int) -> int:
        """The fewest characters that complete a string from a live state."""
        return self._block(state).characters.item(state % BLOCK)

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> LengthBound:
        """What a state lacks."""
        if state == DEAD:
            return LengthBound(None, exact=True)
        if alphabet is None:
            return LengthBound(self._block(state).lacks.item(state % BLOCK), exact=True)
        lacks = self._lacks.get(alphabet)
        if lacks is None:
            lacks = self._lacks[alphabet] = self._find_lacks(alphabet)
        return LengthBound(None if lacks[state] == np.inf else int(lacks[state]), exact=True)

    def _block(self, state: int) -> _Block:
        number = state // BLOCK
        block = self._blocks.get(number)
        if block is None:
            block = self._blocks[number] = _Block(*self._unpacked(self._packed[number]))
        return block

    def _unpacked(self, packed: bytes) -> tuple[Targets, Targets, Targets]:
        return unpack(packed, self.letters.size, width_of(self.size))

    def _find_lacks(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        unpacked = [self._unpacked(packed) for packed in self._packed]
        rows = np.concatenate([rows for rows, _, _ in unpacked])
        accepting = np.concatenate([lacks for _, lacks, _ in unpacked]) == 0
        accepting[DEAD] = False
        return shortest(rows, accepting, class_encoding_of(self.letters).costs(alphabet)[0])


def shortest(
    rows: npt.NDArray[np.integer], accepting: npt.NDArray[np.bool_], costs: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """float64[states], the least cost from a state to one that accepts, where each letter costs what `costs` says."""
    lacks = np.where(accepting, 0.0, np.inf)
    while True:
        shorter = np.minimum(lacks, (lacks[rows] + costs).min(axis=1))
        shorter[DEAD] = np.inf
        if np.array_equal(shorter, lacks):
            return lacks
        lacks = shorter


def width_of(states: int) -> type[np.unsignedinteger[Any]]:
    """The type of numbers in the table of so many states."""
    return np.uint16 if states <= 1 << 16 else np.uint32


def pack(rows: Targets, lacks: Targets, characters: Targets) -> bytes:
    """A block: neighbours lead to neighbours, so differences are packed.

    Args:
        rows: [states, letters], of the type that `width_of` says, as are the others.
        lacks: [states].
        characters: [states].
    """
    columns = np.vstack((rows.T, lacks, characters))
    return zlib.compress(np.diff(columns, axis=1, prepend=rows.dtype.type(0)).tobytes(), 9)


def unpack(
    packed: bytes, letters: int, width: type[np.unsignedinteger[Any]] = np.uint16
) -> tuple[Targets, Targets, Targets]:
    """What was packed."""
    differences = np.frombuffer(zlib.decompress(packed), width).reshape(letters + 2, -1)
    columns = np.cumsum(differences, axis=1, dtype=width)
    return columns[:-2].T, columns[-2], columns[-1]


def write(rows: Targets, lacks: Targets, characters: Targets, *, letters: CharacterClasses, digest: str) -> bytes:
    """The file of a table."""
    blocks = [pack(*(each[at : at + BLOCK] for each in (rows, lacks, characters))) for at in range(0, len(rows), BLOCK)]
    header = {
        "digest": digest,
        "reach": int(characters.max()),
        "states": len(rows),
        "segments": letters.segments,
        "blocks": [len(block) for block in blocks],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((len(text).to_bytes(4, "little"), text, *blocks))


@cache
def table_of(key: object, escapes: Escapes) -> TableAutomaton | None:
    """The table of a condition that every grammar with such escapes shares; None where there is none."""
    match key:
        case ("format", str(name)):
            file = files("resources") / "formats" / f"{name}.table"
            return TableAutomaton(file.read_bytes(), escapes) if file.is_file() else None
        case _:
            return None
