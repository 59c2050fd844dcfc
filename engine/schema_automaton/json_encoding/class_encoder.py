"""The JSON encoding of character classes as one byte automaton: raw UTF-8, short escapes, `\\uXXXX`, surrogate pairs.

The encoding depends only on the partition into classes, and on the escapes that are
allowed (see `encoder`). So it is one small acyclic automaton from bytes to character
classes, made once for a partition and shared by all conditions that have it. Where only
ASCII characters are distinguished, it is the automaton that distinguishes all of ASCII,
with its classes renamed. A set of characters is read as a single class.

After RFC 8259, section 7. UTF-8 is split into digits as in `utf8`. An escape is a
number in base 16 after `\\u`; beyond the basic plane the 20 bits of a surrogate pair
are digits of 2, 4, 4, 2, 4 and 4 bits.

Rejected: decoding first and matching then. A prefix such as `\\u00` has no decoded
form, and a mask must know which of its continuations are live.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.automata.byte_classes import ByteClasses, join_ranges
from engine.automata.completion import Alphabet
from engine.automata.utf8 import Utf8Automaton
from engine.grammar import CharSet
from engine.grammar.charset import EVERY_SCALAR
from engine.schema_automaton.json_encoding.character_classes import CharacterClasses, Segments
from engine.schema_automaton.json_encoding.encoder import RAW, Escapes, hex_digit, lower_hex_digit

_ASCII: Final = 0x80
_LAST: Final = 0x10FFFF
_BASIC_PLANE: Final = CharSet(((0x0000, 0xFFFF),))
_OTHER_PLANES: Final = CharSet(((0x10000, _LAST),))
_FEW: Final = 4

_Bits: TypeAlias = tuple[int, ...]
_Few: TypeAlias = dict[int, list[int]]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


class ClassEncoding:
    """The encoding of character classes as an acyclic automaton over bytes.

    Attributes:
        table: int64[nodes, 256], by the node within a character (0 is between two) and the byte: 0 for a byte that is
            not allowed, another node, or `nodes + class` where a character ends.
        nodes: the number of nodes.
        reach: bool[nodes, F], the parts of character classes that may be read from a node.
        part_of: int[F], the character class of each part.
        below: for each node, the nodes that are reached from it, nearest first; between two characters, by one byte.
        few: the nodes after a first byte at which few parts of classes can end, and those parts.
    """

    def __init__(self, table: Ints, reach: Bools, part_of: Ints, below: list[list[int]], few: _Few) -> None:
        self.table = table
        self.below = below
        self.few = few
        self.nodes = len(table)
        self.reach = reach
        self.part_of = part_of
        self._costs: dict[Alphabet, npt.NDArray[np.float64]] = {}

    @cached_property
    def classes(self) -> ByteClasses:
        """Return the bytes that no node distinguishes, as classes."""
        numbers: dict[bytes, int] = {}
        columns = np.ascontiguousarray(self.table.T)
        of_byte = bytes([numbers.setdefault(column.tobytes(), len(numbers)) for column in columns])
        ranges = tuple(join_ranges(((b, b),) for b in range(256) if of_byte[b] == i) for i in range(len(numbers)))
        return ByteClasses(of_byte, tuple(group[0][0] for group in ranges), ranges)

    @cached_property
    def leads(self) -> Ints:
        """Return the bytes that begin a character of several bytes."""
        entries = self.table[0]
        return np.flatnonzero((entries > 0) & (entries < self.nodes))

    @cached_property
    def narrow(self) -> dict[int, list[int]]:
        """Return the nodes after a first byte at which few character classes can end, and those classes."""
        char_classes = self.part_of.tolist()
        return {node: sorted({char_classes[part] for part in parts}) for node, parts in self.few.items()}

    @cached_property
    def bytes_of(self) -> list[int]:
        """Return the number of single-byte characters of each class."""
        char_classes = int(self.part_of.max()) + 1
        counts: list[int] = np.bincount(self.table[0], minlength=self.nodes + char_classes)[self.nodes :].tolist()
        return counts

    def alive(self, char_classes: Bools) -> list[bool]:
        """Return for each node whether one of some character classes may be read from it."""
        alive: list[bool] = np.logical_or.reduce(self.reach & char_classes[self.part_of], axis=1).tolist()
        return alive

    def costs(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        """Return float64[nodes, classes]: the fewest bytes of an alphabet from a node to the end of a class; or inf."""
        known = self._costs.get(alphabet)
        if known is None:
            known = self._costs[alphabet] = self._compute_costs(alphabet)
        return known

    def _compute_costs(self, alphabet: Alphabet) -> npt.NDArray[np.float64]:
        char_classes = int(self.part_of.max()) + 1
        usable = list(range(256) if alphabet is None else alphabet)
        costs = np.full((self.nodes + char_classes, char_classes), np.inf)
        costs[self.nodes + np.arange(char_classes), np.arange(char_classes)] = 0
        for node in (*range(1, self.nodes), 0):  # successors have smaller numbers
            targets = np.unique(self.table[node, usable])
            targets = targets[targets > 0]
            if len(targets):
                costs[node] = 1 + costs[targets].min(axis=0)
        return costs[: self.nodes]


@lru_cache(maxsize=4096)
def json_automaton(chars: CharSet, escapes: Escapes) -> Utf8Automaton:
    """Return the automaton of a set of characters in all spellings that `escapes` has for them."""
    return _Builder(tuple((first, last, 0) for first, last in (chars & EVERY_SCALAR).ranges), escapes).automaton()


@lru_cache(maxsize=256)
def class_encoding_of(char_classes: CharacterClasses) -> ClassEncoding:
    """Return the encoding of these classes, by renaming those of a partition that distinguishes all of ASCII."""
    names: list[int] = []
    beyond: list[tuple[int, int, int]] = []
    numbers: dict[int, int] = {}
    for first, last, char_class in char_classes.segments:
        names += [char_class] * (min(last + 1, _ASCII) - first)
        if last >= _ASCII:
            beyond.append((max(first, _ASCII), last, numbers.setdefault(char_class, _ASCII + len(numbers))))
    every = _encoding_of_ascii_and(tuple(beyond), char_classes.escapes)
    part_of = np.array([*names, *numbers])
    renamed = np.concatenate((np.arange(every.nodes), every.nodes + part_of))
    return ClassEncoding(renamed[every.table], every.reach, part_of, every.below, every.few)


@lru_cache(maxsize=64)
def _encoding_of_ascii_and(beyond: Segments, escapes: Escapes) -> ClassEncoding:
    """Return the encoding of a partition with a class for each ASCII character and some classes beyond."""
    return _Builder((*((code, code, code) for code in range(_ASCII)), *beyond), escapes).spelling()


class _Digits(NamedTuple):
    """The encoding of the digits of a code point.

    Attributes:
        of: returns the bytes that may encode a digit.
        pairs: whether they are the digits of a surrogate pair.
    """

    of: Callable[[int], bytes]
    pairs: bool = False

    def written(self, digit: int, remaining: int) -> bytes:
        """Return the bytes of a digit with `remaining` to go; the halves of a pair begin with D8-DB and DC-DF."""
        return self.of({6: 8, 3: 12}.get(remaining, 0) + digit if self.pairs else digit)


class _Builder:
    """Builds the automaton; an entry is a node, or `-1 - class`."""

    def __init__(self, segments: Segments, escapes: Escapes) -> None:
        self._segments = segments
        self._escapes = escapes
        self._nodes: list[dict[int, int]] = [{}]
        self._ids: dict[object, int] = {}

    def spelling(self) -> ClassEncoding:
        """Return the automaton as a table over bytes."""
        self._build()
        nodes, char_classes = (
            len(self._nodes),
            1 + max(char_class for _, _, char_class in self._segments),
        )
        table = np.zeros((nodes, 256), np.int64)
        reach = np.zeros((nodes, char_classes), np.bool_)
        for node in (*range(1, nodes), 0):  # successors have smaller numbers
            for byte, entry in self._nodes[node].items():
                table[node, byte] = entry if entry > 0 else nodes - 1 - entry
                if entry > 0:
                    reach[node] |= reach[entry]
                else:
                    reach[node, -1 - entry] = True
        below = self._below()
        few = {node: reach[node].nonzero()[0].tolist() for node in below[0]}
        few = {node: parts for node, parts in few.items() if len(parts) <= _FEW}
        return ClassEncoding(table, reach, np.arange(char_classes), below, few)

    def automaton(self) -> Utf8Automaton:
        """Return the automaton as ranges of bytes, for a single class: its entry is `FINAL`."""
        self._build()
        return Utf8Automaton(tuple(tuple(_ranges(row)) for row in self._nodes))

    def _build(self) -> None:
        root: dict[int, int] = {}
        for low, high, char_class in self._clip(0x20, 0x7F):
            root.update({code: -1 - char_class for code in range(low, high + 1) if code in RAW})
        for first, last, marker, bits in (
            (0x80, 0x7FF, 0xC0, (5, 6)),
            (0x800, 0xFFFF, 0xE0, (4, 6, 6)),
            (0x10000, _LAST, 0xF0, (3, 6, 6, 6)),
        ):
            for digit, target in self._digits(self._clip(first, last), bits, _UTF_8).items():
                root[marker | digit] = target
        escapes = {
            short[0]: -1 - char_class
            for code, short in self._escapes.short.items()
            for *_, char_class in self._clip(code, code)
        }
        hexadecimal = self._hexadecimal()
        if hexadecimal:
            escapes[0x75] = self._add(hexadecimal)
        if escapes:
            root[0x5C] = self._add(escapes)
        self._nodes[0] = root

    def _below(self) -> list[list[int]]:
        near = [[entry for entry in dict.fromkeys(row.values()) if entry > 0] for row in self._nodes]
        below = near[:]
        for node in range(1, len(near)):  # successors have smaller numbers
            below[node] = list(dict.fromkeys((*near[node], *(each for other in near[node] for each in below[other]))))
        return below

    def _clip(self, first: int, last: int) -> Segments:
        return tuple(
            (max(low, first), min(high, last), char_class)
            for low, high, char_class in self._segments
            if low <= last and high >= first
        )

    def _add(self, row: dict[int, int]) -> int:
        key = frozenset(row.items())
        node = self._ids.get(key)
        if node is None:
            node = self._ids[key] = len(self._nodes)
            self._nodes.append(row)
        return node

    def _hexadecimal(self) -> dict[int, int]:
        """Return the row after `\\u`: four digits, or a surrogate pair, whose first digit is a D as well."""
        row: dict[int, int] = {}
        for characters, digit in ((self._escapes.lower_case, lower_hex_digit), (self._escapes.either_case, hex_digit)):
            basic, pairs = (
                tuple(segment for low, high in (characters & plane).ranges for segment in self._clip(low, high))
                for plane in (_BASIC_PLANE, _OTHER_PLANES)
            )
            row = self._union(row, self._encoded(basic, (4, 4, 4, 4), _Digits(digit)))
            if pairs:
                halves = tuple((low - 0x10000, high - 0x10000, char_class) for low, high, char_class in pairs)
                behind = self._add(self._encoded(halves, (2, 4, 4, 2, 4, 4), _Digits(digit, pairs=True)))
                row = self._union(row, dict.fromkeys(digit(0xD), behind))
        return row

    def _union(self, one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
        """Return the union of two rows, which have no complete encoding in common."""
        joined = dict(one)
        for byte, entry in other.items():
            before = joined.setdefault(byte, entry)
            if before != entry:
                joined[byte] = self._add(self._union(self._nodes[before], self._nodes[entry]))
        return joined

    def _digits(self, segments: Segments, bits: _Bits, digits: _Digits) -> dict[int, int]:
        """Return the node after each value of the first digit, at which the remaining digits are read."""
        rest = sum(bits[1:])
        full = (1 << rest) - 1
        groups: dict[int, list[tuple[int, int, int]]] = {}
        for first, last, char_class in segments:
            for digit in range(first >> rest, (last >> rest) + 1):
                low = first & full if digit == first >> rest else 0
                high = last & full if digit == last >> rest else full
                groups.setdefault(digit, []).append((low, high, char_class))
        return {digit: self._rest(tuple(remainder), bits[1:], digits) for digit, remainder in groups.items()}

    def _encoded(self, segments: Segments, bits: _Bits, digits: _Digits) -> dict[int, int]:
        targets = self._digits(segments, bits, digits)
        return {byte: target for digit, target in targets.items() for byte in digits.written(digit, len(bits))}

    def _rest(self, segments: Segments, bits: _Bits, digits: _Digits) -> int:
        if not bits:
            return -1 - segments[0][2]
        key = (segments, bits, digits)
        node = self._ids.get(key)
        if node is None:
            node = self._add(self._encoded(segments, bits, digits))
            if digits.pairs and len(bits) == 3:  # the second half begins with \uD
                for byte in (digits.of(0xD), b"u", b"\\"):
                    node = self._add(dict.fromkeys(byte, node))
            self._ids[key] = node
        return node


def _ranges(row: dict[int, int]) -> list[tuple[int, int, int]]:
    """Return a row as ranges in ascending order; neighbours with the same target are one range."""
    ranges: list[tuple[int, int, int]] = []
    for byte, target in sorted(row.items()):
        if ranges and ranges[-1][1:] == (byte - 1, target):
            ranges[-1] = (ranges[-1][0], byte, target)
        else:
            ranges.append((byte, byte, target))
    return ranges


_UTF_8: Final = _Digits(lambda digit: bytes((0x80 | digit,)))
