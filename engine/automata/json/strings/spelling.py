"""Characters as JSON spells them within a string: raw UTF-8, short escapes, `\\uXXXX`, surrogate pairs.

A set of characters is a small acyclic byte automaton, exactly as in UTF-8, so
that a constraint on decoded characters runs on the text as it is written. An
escape is a number in base 16 behind `\\u`; beyond the basic plane the 20 bits
of a surrogate pair are digits of 2, 4, 4, 2, 4 and 4 bits. After RFC 8259,
section 7.

Rejected: decoding first and matching then. A prefix such as `\\u00` has no
decoded form, and a mask must know which of its continuations live.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

from engine.automata.utf8 import FINAL, Utf8Automaton, utf8_automaton
from engine.grammar import CharSet

Ranges: TypeAlias = tuple[tuple[int, int], ...]
Row: TypeAlias = tuple[tuple[int, int, int], ...]

_RAW: Final = ~CharSet(((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)))
_BASIC: Final = CharSet(((0x0000, 0xD7FF), (0xE000, 0xFFFF)))
_BEYOND: Final = CharSet(((0x10000, 0x10FFFF),))
SHORT: Final = {
    0x22: b'"',
    0x5C: b"\\",
    0x2F: b"/",
    0x08: b"b",
    0x0C: b"f",
    0x0A: b"n",
    0x0D: b"r",
    0x09: b"t",
}


@lru_cache(maxsize=4096)
def json_automaton(chars: CharSet) -> Utf8Automaton:
    """The automaton of a set of Unicode scalar values as JSON spells them."""
    return _Builder().build(chars)


class _Builder:
    def __init__(self) -> None:
        self._nodes: list[Row] = []
        self._ids: dict[object, int] = {}

    def build(self, chars: CharSet) -> Utf8Automaton:
        raw = utf8_automaton(chars & _RAW)
        self._nodes = list(raw.nodes)
        escapes: list[tuple[int, int, int]] = [
            (letter[0], letter[0], FINAL) for code, letter in SHORT.items() if code in chars
        ]
        hexadecimal = self._hexadecimal(chars)
        if hexadecimal is not None:
            escapes.append((0x75, 0x75, hexadecimal))
        rows = sorted((*raw.nodes[0], (0x5C, 0x5C, self._add(tuple(sorted(escapes))))))
        self._nodes[0] = tuple(rows)
        return Utf8Automaton(tuple(self._nodes))

    def _add(self, row: Row) -> int:
        node = self._ids.get(row)
        if node is None:
            node = self._ids[row] = len(self._nodes)
            self._nodes.append(row)
        return node

    def _hexadecimal(self, chars: CharSet) -> int | None:
        """The node behind `\\u`: four digits, or a surrogate pair."""
        rows: list[tuple[int, int, int]] = []
        basic = (chars & _BASIC).ranges
        if basic:
            rows += self._digits(basic, (4, 4, 4, 4), _hex_bytes, FINAL)
        beyond = tuple((first - 0x10000, last - 0x10000) for first, last in (chars & _BEYOND).ranges)
        if beyond:
            pair = self._add(tuple(self._digits(beyond, (2, 4, 4, 2, 4, 4), _pair_bytes, FINAL)))
            # 0xD also begins D000-D7FF.
            rows = self._merge_d(rows, pair)
        return self._add(tuple(sorted(rows))) if rows else None

    def _merge_d(self, rows: list[tuple[int, int, int]], pair: int) -> list[tuple[int, int, int]]:
        kept: list[tuple[int, int, int]] = []
        basic: int | None = None
        for first, last, target in rows:
            for byte in range(first, last + 1):
                if byte in b"dD":
                    basic = target
                else:
                    kept.append((byte, byte, target))
        node = pair if basic is None else self._add(tuple(sorted((*self._nodes[basic], *self._nodes[pair]))))
        return [*kept, (0x44, 0x44, node), (0x64, 0x64, node)]

    def _digits(
        self, ranges: Ranges, bits: tuple[int, ...], spell: Callable[[int, int], bytes], end: int
    ) -> list[tuple[int, int, int]]:
        """Rows that read numbers out of `ranges`, one digit for each of `bits`."""
        rest = sum(bits[1:])
        full = (1 << rest) - 1
        groups: dict[int, list[tuple[int, int]]] = {}
        for first, last in ranges:
            for digit in range(first >> rest, (last >> rest) + 1):
                low = first & full if digit == first >> rest else 0
                high = last & full if digit == last >> rest else full
                groups.setdefault(digit, []).append((low, high))
        rows = []
        for digit, remainder in groups.items():
            target = self._rest(tuple(remainder), bits[1:], spell, end)
            rows += [(byte, byte, target) for byte in spell(digit, len(bits))]
        return sorted(rows)

    def _rest(self, ranges: Ranges, bits: tuple[int, ...], spell: Callable[[int, int], bytes], end: int) -> int:
        if not bits:
            return end
        key = (ranges, bits, spell)
        node = self._ids.get(key)
        if node is None:
            node = self._add(tuple(self._digits(ranges, bits, spell, end)))
            if spell is _pair_bytes and len(bits) == 3:  # the second half begins: \uD
                for byte in (b"dD", b"u", b"\\"):
                    node = self._add(tuple((b, b, node) for b in sorted(byte)))
            self._ids[key] = node
        return node


def _hex_bytes(digit: int, _: int) -> bytes:
    text = f"{digit:x}"
    return bytes(sorted({ord(text), ord(text.upper())}))


def _pair_bytes(digit: int, left: int) -> bytes:
    if left == 6:  # D8-DB
        return _hex_bytes(8 + digit, 0)
    if left == 3:  # DC-DF
        return _hex_bytes(12 + digit, 0)
    return _hex_bytes(digit, 0)


@lru_cache(maxsize=65536)
def spellings(code: int) -> tuple[tuple[bytes, ...], ...]:
    """The ways to spell one character, each as the bytes that may stand at each place."""
    ways: list[tuple[bytes, ...]] = []
    if code in _RAW:
        ways.append(tuple(bytes([byte]) for byte in chr(code).encode("utf-8", "surrogatepass")))
    if code in SHORT:
        ways.append((b"\\", SHORT[code]))
    units = [code] if code < 0x10000 else [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code & 0x3FF)]
    ways.append(
        tuple(place for unit in units for place in (b"\\", b"u", *(_hex_bytes(int(d, 16), 0) for d in f"{unit:04x}")))
    )
    return tuple(ways)
