"""Automata of string formats as tables that were computed beforehand.

A format belongs to no grammar, and its conditions always give the same minimal
deterministic automaton over character classes. `resources/formats` contains it, written
by the script there. An e-mail address counts up to 64 and 255, and a leap second depends
on an offset that follows it, so there are 26,000 states; they are stored in blocks that
are unpacked on first use.

Nothing here decides what a format is: the tests compare each table with the automaton of
the format's own node, and with a digest of that node.

Rejected: computing them in every process (the first date took 60 ms, the first
pattern of a `format: regex` 300 ms), and a file in the user's cache (the very first
run would still take seconds).
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
from engine.schema_automaton.json_encoding.character_classes import CharacterClasses, char_classes_from
from engine.schema_automaton.json_encoding.class_encoder import class_encoding_of
from engine.schema_automaton.json_encoding.encoder import Escapes

BLOCK: Final = 512
"""The number of states in a block."""

Targets = npt.NDArray[np.unsignedinteger[Any]]


class _Block(NamedTuple):
    """Consecutive states.

    Attributes:
        rows: for each state and character class the next state; `DEAD` if nothing completes the string.
        lacks: for each state the fewest bytes that complete it; 0 if it accepts.
        characters: for each state the fewest characters that complete it.
    """

    rows: Targets
    lacks: Targets
    characters: Targets


class TableAutomaton:
    """A complete automaton over character classes.

    Attributes:
        char_classes: the character classes.
        size: the number of states, including `DEAD`.
        reach: the most characters that are needed to complete a string from any state.
        digest: the digest of the node that it was made from.
    """

    start = 1

    def __init__(self, data: bytes, escapes: Escapes) -> None:
        length = int.from_bytes(data[:4], "little")
        header = json.loads(data[4 : 4 + length])
        self.char_classes: CharacterClasses = char_classes_from(tuple(map(tuple, header["segments"])), escapes)
        self.classes: ByteClasses = self.char_classes.classes
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

    def step(self, state: int, char_class: int) -> int:
        """Return the state after a character class."""
        return self._block(state).rows.item(state % BLOCK, char_class)

    def row(self, state: int) -> list[int]:
        """Return the state after each character class."""
        row: list[int] = self._block(state).rows[state % BLOCK].tolist()
        return row

    def accepts(self, state: int) -> bool:
        """Return whether the string may end here."""
        return state != DEAD and self._block(state).lacks.item(state % BLOCK) == 0

    def is_free(self, state: int) -> bool:
        """Return False: no format may be continued by every string."""
        return False

    has_exact_lengths: Final = True

    def characters(self, state: int) -> int:
        """Return the fewest characters that complete a string from a live state."""
        return self._block(state).characters.item(state % BLOCK)

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> LengthBound:
        """Return the least number of bytes of an alphabet that complete a state."""
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
        return unpack(packed, self.char_classes.size, width_of(self.size))

    def _find_lacks(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        unpacked = [self._unpacked(packed) for packed in self._packed]
        rows = np.concatenate([rows for rows, _, _ in unpacked])
        accepting = np.concatenate([lacks for _, lacks, _ in unpacked]) == 0
        accepting[DEAD] = False
        return shortest(rows, accepting, class_encoding_of(self.char_classes).costs(alphabet)[0])


def shortest(
    rows: npt.NDArray[np.integer], accepting: npt.NDArray[np.bool_], costs: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Compute the least cost from each state to an accepting one.

    Args:
        rows: int[states, classes], the transitions.
        accepting: bool[states].
        costs: float64[classes], the cost of each character class.

    Returns:
        float64[states]; infinity if no accepting state is reachable.
    """
    lacks = np.where(accepting, 0.0, np.inf)
    while True:
        shorter = np.minimum(lacks, (lacks[rows] + costs).min(axis=1))
        shorter[DEAD] = np.inf
        if np.array_equal(shorter, lacks):
            return lacks
        lacks = shorter


def width_of(states: int) -> type[np.unsignedinteger[Any]]:
    """Return the type of state numbers in a table of this size."""
    return np.uint16 if states <= 1 << 16 else np.uint32


def pack(rows: Targets, lacks: Targets, characters: Targets) -> bytes:
    """Pack a block of states. Neighbours lead to neighbours, so differences are compressed.

    Args:
        rows: [states, classes], of the type that `width_of` returns, as are the others.
        lacks: [states].
        characters: [states].
    """
    columns = np.vstack((rows.T, lacks, characters))
    return zlib.compress(np.diff(columns, axis=1, prepend=rows.dtype.type(0)).tobytes(), 9)


def unpack(
    packed: bytes, char_classes: int, width: type[np.unsignedinteger[Any]] = np.uint16
) -> tuple[Targets, Targets, Targets]:
    """Unpack what `pack` packed.

    Args:
        packed: the block.
        char_classes: the number of character classes.
        width: the type that `width_of` returns.

    Returns:
        The rows, the bytes and the characters that complete each state.
    """
    differences = np.frombuffer(zlib.decompress(packed), width).reshape(char_classes + 2, -1)
    columns = np.cumsum(differences, axis=1, dtype=width)
    return columns[:-2].T, columns[-2], columns[-1]


def write(rows: Targets, lacks: Targets, characters: Targets, *, char_classes: CharacterClasses, digest: str) -> bytes:
    """Return the contents of a table's file.

    Args:
        rows: [states, classes], the transitions.
        lacks: [states], the fewest bytes that complete each state.
        characters: [states], the fewest characters that complete it.
        char_classes: the character classes.
        digest: the digest of the node that the table was made from.
    """
    blocks = [pack(*(each[at : at + BLOCK] for each in (rows, lacks, characters))) for at in range(0, len(rows), BLOCK)]
    header = {
        "digest": digest,
        "reach": int(characters.max()),
        "states": len(rows),
        "segments": char_classes.segments,
        "blocks": [len(block) for block in blocks],
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((len(text).to_bytes(4, "little"), text, *blocks))


@cache
def table_of(key: object, escapes: Escapes) -> TableAutomaton | None:
    """Return the table of a condition that all grammars with such escapes share; None if it has no table."""
    match key:
        case ("format", str(name)):
            file = files("resources") / "formats" / f"{name}.table"
            return TableAutomaton(file.read_bytes(), escapes) if file.is_file() else None
        case _:
            return None
