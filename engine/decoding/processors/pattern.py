"""A guide compiled from a pattern: classes and texts, each with how often it comes.

    UPPER+ ":" " " LOWER{1,12} NEWLINE

Every element is a loop of its own, and the loops stand in a row (Thompson, CACM
11(6), 1968). Where two may go on with the same token, as in `LETTER+ LOWER`, the
machine follows both (subset construction), and states that nothing tells apart
become one (Moore 1956): so the result is the least machine of its language, and
equal to one made by hand.

A class is repeated in tokens (see `character_classes`). A text is spelled by any
tokens that spell it, token by token: none of them reaches beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.character_classes import CharacterClass, token_set
from engine.decoding.processors.guide import NOWHERE, FiniteStateGuide, token_classes
from engine.decoding.processors.logits import Allowed
from engine.source import InvariantError, LimitExceededError
from engine.vocabulary import Vocabulary, visible

MOST_STATES = 10_000

Element = tuple["str | bytes", str]
"""What, and how often: the name of a class or a text; `1`, `?`, `*`, `+`, `3`, `{3}`, `{3,}` or `{3,5}`."""

_ELEMENT = re.compile(
    r"""(?P<name>[A-Z]+) | "(?P<text>(?:[^"\\]|\\.)*)" """,
    re.VERBOSE,
)
_COUNT = re.compile(r"\{(\d{1,6})(?:(,)(\d{0,6}))?\}|[?*+]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}


def parse_pattern(text: str) -> tuple[Element, ...]:
    r"""The elements of a written pattern.

    Args:
        text: class names and texts between double quotes (with `\n \t \r \\ \"`), blanks between them, each followed
            by nothing, `?`, `*`, `+`, `{3}`, `{3,}` or `{3,5}`.

    Raises:
        InvariantError: it is not such a text; the message says where.
    """
    found: list[Element] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        element = _ELEMENT.match(text, at)
        if element is None:
            _refuse(text, at, "a class in capitals or a text between double quotes is expected")
        at = element.end()
        name = element["name"]
        if name is not None and name not in CharacterClass.__members__:
            _refuse(text, element.start(), f"{name} is no class; there are {', '.join(CharacterClass)}")
        count = _COUNT.match(text, at)
        at = count.end() if count else at
        if at < len(text) and not text[at].isspace():
            _refuse(text, at, "a blank is expected between elements")
        what = name if name is not None else _unescaped(text, element.start("text"), element["text"]).encode()
        found.append((what, count[0] if count else "1"))
    return tuple(found)


def _unescaped(text: str, start: int, quoted: str) -> str:
    def replace(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            _refuse(text, start + found.start(), f"{found[0]} is no escape")
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", replace, quoted)


def _refuse(text: str, at: int, why: str) -> NoReturn:
    raise InvariantError(f"the pattern {text!r} cannot be read at character {at + 1}: {why}")


def compile_pattern(
    vocabulary: Vocabulary, pattern: Sequence[Element] | str, pad_id: int | None = None
) -> FiniteStateGuide:
    """The least machine of a pattern.

    Args:
        vocabulary: whose tokens.
        pattern: its elements, or as `parse_pattern` reads it. Bytes are always a text, `b"UPPER"` too.
        pad_id: as `Machine` has it.

    Raises:
        InvariantError: an element is none, or no tokens of the vocabulary are in it.
        LimitExceededError: it takes more than `MOST_STATES` states.

        >>> letters = Vocabulary([b"A", b"a", b":", b"\\n"], eos_ids=[])
        >>> guide = compile_pattern(letters, [("UPPER", "+"), (":", "1"), ("LOWER", "+"), ("NEWLINE", "1")])
        >>> len(guide.states)
        5
    """
    parts = _Parts(vocabulary)
    for what, count in parse_pattern(pattern) if isinstance(pattern, str) else pattern:
        parts.add(what, *_counts(count))
    class_of_token, members = token_classes(vocabulary.size, parts.sets)
    rows, finals = _least(*_subsets(parts, members))
    guide = FiniteStateGuide(vocabulary, 0, pad_id)
    for state, row in enumerate(rows):
        for target in dict.fromkeys(row):
            if target != NOWHERE:
                guide.add_transition(state, np.isin(class_of_token, np.flatnonzero(np.array(row) == target)), target)
        if finals[state]:
            guide.add_final(state)
    return guide


def fixed_sets(vocabulary: Vocabulary, pattern: str) -> list[Allowed]:
    """The sets of a pattern whose length is fixed: one for each position, as `StaticMask` takes them.

    Raises:
        InvariantError: an element may come more or less often, or a text is no single token.
    """
    sets: list[Allowed] = []
    for what, count in parse_pattern(pattern):
        least, most = _counts(count)
        if least != most:
            raise InvariantError(f"a static mask has fixed positions, so {what!r} cannot come `{count}`; say {{n}}")
        sets += [token_set(vocabulary, what)] * least
    return sets


def _counts(count: str) -> tuple[int, int | None]:
    if count.isdecimal():
        return int(count), int(count)
    found = _COUNT.fullmatch(count)
    if found is None:
        raise InvariantError(f"`{count}` does not say how often: 1, ?, *, +, {{3}}, {{3,}} or {{3,5}} does")
    if found[1] is None:
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[count]
    least = int(found[1])
    most = least if found[2] is None else int(found[3]) if found[3] else None
    if most is not None and most < least:
        raise InvariantError(f"`{count}`: the second number is below the first")
    return least, most


@dataclass
class _Parts:
    """The nondeterministic machine: places in a row, with steps that read a set and steps that read nothing."""

    vocabulary: Vocabulary
    sets: list[Allowed] = field(default_factory=list)
    reads: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])  # by place: number of a set, next place
    skips: list[list[int]] = field(default_factory=lambda: [[]])
    _numbers: dict[str | bytes, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return len(self.reads) - 1

    def add(self, what: str | bytes, least: int, most: int | None) -> None:
        """Append an element: as often as it must come, then as often as it may."""
        for _ in range(least if most is not None else max(0, least - 1)):
            self._append(what)
        if most is None:
            begin = self.end
            self._append(what)
            again = self.end
            out = self._place()  # a place of its own, or the next element's loop would lead back into this one
            self.skips[again] += [begin, out]
            if least == 0:
                self.skips[begin].append(out)
            return
        begins = []
        for _ in range(most - least):
            begins.append(self.end)
            self._append(what)
        for begin in begins:
            self.skips[begin].append(self.end)

    def _append(self, what: str | bytes) -> None:
        if isinstance(what, str) and what in CharacterClass.__members__:
            source = self.end
            self.reads[source].append((self._set(what), self._place()))
            return
        text = what.encode() if isinstance(what, str) else what
        if not text:
            raise InvariantError("an element without text means nothing")
        base = self.end
        for _ in text:
            self._place()
        for begin in range(len(text)):
            for length in range(1, len(text) - begin + 1):
                number = self._set_of_text(text[begin : begin + length])
                if number is not None:
                    self.reads[base + begin].append((number, base + begin + length))
        if not _is_spelled(self.reads[base : base + len(text)], base, len(text)):
            raise InvariantError(f"no tokens of this vocabulary spell `{visible(text)}`")

    def _place(self) -> int:
        self.reads.append([])
        self.skips.append([])
        if len(self.reads) > MOST_STATES:
            raise LimitExceededError("places of a pattern", given=len(self.reads), limit=MOST_STATES)
        return self.end

    def _set(self, what: str | bytes) -> int:
        if what not in self._numbers:
            self.sets.append(token_set(self.vocabulary, what))
            self._numbers[what] = len(self.sets) - 1
        return self._numbers[what]

    def _set_of_text(self, text: bytes) -> int | None:
        try:
            return self._set(text)
        except InvariantError:
            return None


def _is_spelled(reads: list[list[tuple[int, int]]], base: int, length: int) -> bool:
    reached = {base}
    for place, row in enumerate(reads, base):
        if place in reached:
            reached.update(target for _, target in row)
    return base + length in reached


def _subsets(parts: _Parts, members: NDArray[np.bool_]) -> tuple[list[list[int]], list[bool]]:
    """Rows over token classes, and which states are final."""

    def closed(places: set[int]) -> frozenset[int]:
        waiting = list(places)
        while waiting:
            for place in parts.skips[waiting.pop()]:
                if place not in places:
                    places.add(place)
                    waiting.append(place)
        return frozenset(places)

    first = closed({0})
    numbers, order, rows = {first: 0}, [first], list[list[int]]()
    for state in order:  # it grows on the way
        row = []
        for token_class in range(members.shape[1]):
            after = {t for place in state for number, t in parts.reads[place] if members[number, token_class]}
            if not after:
                row.append(NOWHERE)
                continue
            following = closed(after)
            if following not in numbers:
                if len(order) >= MOST_STATES:
                    raise LimitExceededError("states of a pattern", given=len(order) + 1, limit=MOST_STATES)
                numbers[following] = len(order)
                order.append(following)
            row.append(numbers[following])
        rows.append(row)
    return rows, [parts.end in state for state in order]


def _least(rows: list[list[int]], finals: list[bool]) -> tuple[list[list[int]], list[bool]]:
    """States that nothing tells apart become one; the first stays the first."""
    block = [int(final) for final in finals]
    while True:
        keys = [(block[s], *(NOWHERE if t == NOWHERE else block[t] for t in row)) for s, row in enumerate(rows)]
        numbers: dict[tuple[int, ...], int] = {}
        refined = [numbers.setdefault(key, len(numbers)) for key in keys]
        if len(numbers) == len(set(block)):
            break
        block = refined
    a_state = {number: state for state, number in reversed(list(enumerate(refined)))}
    merged = [[NOWHERE if t == NOWHERE else refined[t] for t in rows[a_state[n]]] for n in range(len(a_state))]
    return merged, [finals[a_state[n]] for n in range(len(a_state))]
