"""A guide compiled from a pattern: character classes and texts, each with a repetition count.

    UPPER+ ":" " " LOWER{1,12} NEWLINE

Every element becomes a loop, and the loops are concatenated (Thompson, CACM 11(6), 1968). Where two elements can
continue with the same token, as in `LETTER+ LOWER`, the automaton follows both (subset construction), and equivalent
states are merged (Moore 1956): the result is the minimal automaton of its language, and equals one written by hand.

A class is repeated in tokens (see `character_classes`). A text may be encoded by any tokens, as long as none of them
extends beyond it.
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
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, visible

MOST_STATES = 10_000

Element = tuple["str | bytes", str]
"""A class name or a text, and a count: `1`, `?`, `*`, `+`, `3`, `{3}`, `{3,}` or `{3,5}`."""

_ELEMENT = re.compile(
    r"""(?P<name>[A-Z]+) | "(?P<text>(?:[^"\\]|\\.)*)" """,
    re.VERBOSE,
)
_COUNT = re.compile(r"\{(\d{1,6})(?:(,)(\d{0,6}))?\}|[?*+]")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"'}


def parse_pattern(text: str) -> tuple[Element, ...]:
    r"""Parse a pattern into its elements.

    Args:
        text: class names and texts in double quotes (with `\n \t \r \\ \"`), separated by white space, each followed by
            nothing, `?`, `*`, `+`, `{3}`, `{3,}` or `{3,5}`.

    Raises:
        InvariantError: the syntax is wrong; the message names the position.
    """
    found: list[Element] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        element = _ELEMENT.match(text, at)
        if element is None:
            _refuse(text, at, catalogue_text("errors.decoding.pattern.element"))
        at = element.end()
        name = element["name"]
        if name is not None and name not in CharacterClass.__members__:
            names = ", ".join(CharacterClass)
            _refuse(
                text, element.start(), catalogue_text("errors.decoding.pattern.unknown_class", name=name, names=names)
            )
        count = _COUNT.match(text, at)
        at = count.end() if count else at
        if at < len(text) and not text[at].isspace():
            _refuse(text, at, catalogue_text("errors.decoding.pattern.no_blank"))
        what = name if name is not None else _unescaped(text, element.start("text"), element["text"]).encode()
        found.append((what, count[0] if count else "1"))
    return tuple(found)


def _unescaped(text: str, start: int, quoted: str) -> str:
    def replace(found: re.Match[str]) -> str:
        if found[1] not in _ESCAPES:
            _refuse(text, start + found.start(), catalogue_text("errors.decoding.pattern.escape", escape=found[0]))
        return _ESCAPES[found[1]]

    return re.sub(r"\\(.)", replace, quoted)


def _refuse(text: str, at: int, why: str) -> NoReturn:
    raise InvariantError("errors.decoding.pattern.unreadable", text=repr(text), position=at + 1, reason=why)


def compile_pattern(
    vocabulary: Vocabulary, pattern: Sequence[Element] | str, pad_id: int | None = None
) -> FiniteStateGuide:
    """Compile a pattern to its minimal automaton.

    Args:
        vocabulary: the vocabulary of the token sets.
        pattern: its elements, or a text for `parse_pattern`. Bytes are always a text, `b"UPPER"` too.
        pad_id: as in `RowMachine`.

    Raises:
        InvariantError: an element is invalid, or no tokens of the vocabulary match it.
        LimitExceededError: it takes more than `MOST_STATES` states.

        >>> vocabulary = Vocabulary([b"A", b"a", b":", b"\\n"], eos_ids=[])
        >>> guide = compile_pattern(vocabulary, [("UPPER", "+"), (":", "1"), ("LOWER", "+"), ("NEWLINE", "1")])
        >>> len(guide.states)
        5
    """
    parts = _Nfa(vocabulary)
    for what, count in parse_pattern(pattern) if isinstance(pattern, str) else pattern:
        parts.add(what, *_counts(count))
    class_of_token, members = token_classes(vocabulary.size, parts.sets)
    rows, finals = _minimised(*_subsets(parts, members))
    guide = FiniteStateGuide(vocabulary, 0, pad_id)
    for state, row in enumerate(rows):
        for target in dict.fromkeys(row):
            if target != NOWHERE:
                guide.add_transition(state, np.isin(class_of_token, np.flatnonzero(np.array(row) == target)), target)
        if finals[state]:
            guide.add_final(state)
    return guide


def fixed_sets(vocabulary: Vocabulary, pattern: str) -> list[Allowed]:
    """Return the token sets of a pattern of fixed length: one for each position, as `StaticMask` takes them.

    Raises:
        InvariantError: an element has a variable count, or a text is no single token.
    """
    sets: list[Allowed] = []
    for what, count in parse_pattern(pattern):
        least, most = _counts(count)
        if least != most:
            raise InvariantError("errors.decoding.pattern.variable", element=repr(what), count=count)
        sets += [token_set(vocabulary, what)] * least
    return sets


def _counts(count: str) -> tuple[int, int | None]:
    if count.isdecimal():
        return int(count), int(count)
    found = _COUNT.fullmatch(count)
    if found is None:
        raise InvariantError("errors.decoding.pattern.count", count=count)
    if found[1] is None:
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[count]
    least = int(found[1])
    most = least if found[2] is None else int(found[3]) if found[3] else None
    if most is not None and most < least:
        raise InvariantError("errors.decoding.pattern.order", count=count)
    return least, most


@dataclass
class _Nfa:
    """The NFA: states in a chain, with transitions that read a token set and transitions that read nothing."""

    vocabulary: Vocabulary
    sets: list[Allowed] = field(default_factory=list)
    # by state: index of a token set, next state
    reads: list[list[tuple[int, int]]] = field(default_factory=lambda: [[]])
    skips: list[list[int]] = field(default_factory=lambda: [[]])
    _numbers: dict[str | bytes, int] = field(default_factory=dict)

    @property
    def end(self) -> int:
        return len(self.reads) - 1

    def add(self, what: str | bytes, least: int, most: int | None) -> None:
        """Append an element: its required repetitions, then the optional ones."""
        for _ in range(least if most is not None else max(0, least - 1)):
            self._append(what)
        if most is None:
            begin = self.end
            self._append(what)
            again = self.end
            out = self._new_state()  # a separate state, or the next element's loop would lead back into this one
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
            self.reads[source].append((self._set(what), self._new_state()))
            return
        text = what.encode() if isinstance(what, str) else what
        if not text:
            raise InvariantError("errors.decoding.pattern.empty")
        base = self.end
        for _ in text:
            self._new_state()
        for start in range(len(text)):
            for length in range(1, len(text) - start + 1):
                number = self._set_of_text(text[start : start + length])
                if number is not None:
                    self.reads[base + start].append((number, base + start + length))
        if not _is_spelled(self.reads[base : base + len(text)], base, len(text)):
            raise InvariantError("errors.decoding.pattern.not_spelled", text=visible(text))

    def _new_state(self) -> int:
        self.reads.append([])
        self.skips.append([])
        if len(self.reads) > MOST_STATES:
            raise LimitExceededError("errors.limit.pattern_states", given=len(self.reads), limit=MOST_STATES)
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
    for state, row in enumerate(reads, base):
        if state in reached:
            reached.update(target for _, target in row)
    return base + length in reached


def _subsets(parts: _Nfa, members: NDArray[np.bool_]) -> tuple[list[list[int]], list[bool]]:
    """Determinise; return rows over token classes, and which states are final."""

    def closure(nfa_states: set[int]) -> frozenset[int]:
        waiting = list(nfa_states)
        while waiting:
            for nfa_state in parts.skips[waiting.pop()]:
                if nfa_state not in nfa_states:
                    nfa_states.add(nfa_state)
                    waiting.append(nfa_state)
        return frozenset(nfa_states)

    first = closure({0})
    numbers, order, rows = {first: 0}, [first], list[list[int]]()
    for state in order:  # the list grows during the loop
        row = []
        for token_class in range(members.shape[1]):
            after = {t for nfa_state in state for number, t in parts.reads[nfa_state] if members[number, token_class]}
            if not after:
                row.append(NOWHERE)
                continue
            following = closure(after)
            if following not in numbers:
                if len(order) >= MOST_STATES:
                    raise LimitExceededError("errors.limit.pattern_states", given=len(order) + 1, limit=MOST_STATES)
                numbers[following] = len(order)
                order.append(following)
            row.append(numbers[following])
        rows.append(row)
    return rows, [parts.end in state for state in order]


def _minimised(rows: list[list[int]], finals: list[bool]) -> tuple[list[list[int]], list[bool]]:
    """Merge equivalent states; the initial state stays first."""
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
