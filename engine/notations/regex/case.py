"""Case-insensitive matching: closure of a character set under "differs only in case".

Two characters are equal when their keys are. The key of a character is

- for ASCII, its ASCII lower case;
- for Python, what `re` compares: the lower case, and lower-case characters that share an upper case are one (`s` and
  `ſ`, `µ` and `μ`; CPython, `Tools/build/generate_re_casefix.py`);
- for ECMAScript with u, simple case folding (CaseFolding.txt, statuses C and S). Python only offers full folding;
  where that gives one character it is status C, and where it gives several, status S is the simple lower case.

Few characters (some 2,900) share a key with another, so they are listed once, on first use, and a closure visits only
those in the set. They are all below U+20000; a later one in a new Unicode version would not be folded. The tables are
those of the running Python's Unicode version.

Rejected: expanding each character to alternatives in the pattern's text. It breaks inside classes, and spans would
point at text that is not in the source.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from engine.grammar import CharSet

_CASED_END: Final = 0x20000
# Status S folds that Unicode 15.1 added between characters with the same full folding.
_LATE_FOLDS: Final[Mapping[int, int]] = {0xFB05: 0xFB06, 0x1FD3: 0x0390, 0x1FE3: 0x03B0}


class CaseFold(StrEnum):
    """Which characters are equal when case is ignored."""

    ASCII = "ascii"
    PYTHON = "python"
    SIMPLE = "simple"


class _Orbits:
    """The characters that share a key with others, and for each its group, as ranges."""

    def __init__(self, key: Callable[[int], int]) -> None:
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for code in range(_CASED_END):
            groups[key(code)].append(code)
        self._groups = {
            code: tuple((member, member) for member in group)
            for group in groups.values()
            if len(group) > 1
            for code in group
        }
        self._codes = sorted(self._groups)

    def close(self, characters: CharSet) -> CharSet:
        added: list[tuple[int, int]] = []
        for first, last in characters.ranges:
            for code in self._codes[bisect_left(self._codes, first) : bisect_right(self._codes, last)]:
                added.extend(self._groups[code])
        return CharSet.of((*characters.ranges, *added)) if added else characters


def _ascii_key(code: int) -> int:
    return code + 32 if 0x41 <= code <= 0x5A else code


def _lower(code: int) -> int:
    # `re` uses the first character if the lower case has several: İ is i.
    return ord(chr(code).lower()[0])


def _python_key() -> Callable[[int], int]:
    sharing: defaultdict[str, set[int]] = defaultdict(set)
    for code in range(_CASED_END):
        sharing[chr(code).upper()].add(_lower(code))
    representative = {low: min(group) for group in sharing.values() if len(group) > 1 for low in group}

    def key(code: int) -> int:
        low = _lower(code)
        return representative.get(low, low)

    return key


def _simple_key(code: int) -> int:
    if code in _LATE_FOLDS:
        return _LATE_FOLDS[code]
    folded = chr(code).casefold()
    if len(folded) > 1:
        folded = chr(code).lower()
    return ord(folded) if len(folded) == 1 else code


@cache
def _orbits(fold: CaseFold) -> _Orbits:
    match fold:
        case CaseFold.ASCII:
            return _Orbits(_ascii_key)
        case CaseFold.PYTHON:
            return _Orbits(_python_key())
        case CaseFold.SIMPLE:
            return _Orbits(_simple_key)


@lru_cache(maxsize=512)
def close(characters: CharSet, fold: CaseFold) -> CharSet:
    """Return all characters that equal one of the set when case is ignored."""
    return _orbits(fold).close(characters)
