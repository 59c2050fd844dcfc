"""Random regular expressions, and a matcher that applies their definition to one text.

A pattern is a tree that is written out for the engine and matched here directly: a node gives the ends of its matches
from one position, in the order in which a backtracking matcher finds them. Only atomic groups and possessive
quantifiers need the order; everything else is a set. Nothing of the engine is used. What a single character matches is
asked of `re` in Python's dialect, and defined here in ECMAScript's.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

DIALECTS = ("python", "ecma")
ALPHABET = "abkKsSzZ09_- .\n\r\té\u0301\u0663\u212a\u017fßẞİı\u00a0\u2028\ufeff\x1cΣς😀𐐀𐐨"
"""Characters on which the dialects, case folding and Unicode classes differ."""

_FOLDED = ("kK\u212a", "sS\u017f", "ßẞ", "aA", "bB", "zZ", "Σςσ", "𐐀𐐨", "éÉ")  # ECMAScript's, within the alphabet
_ECMA_SPACE = frozenset("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff").union(
    map(chr, range(0x2000, 0x200B))
)
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_LINE_ENDS = {"python": "\n", "ecma": "\n\r\u2028\u2029"}


@dataclass(frozen=True)
class Flags:
    """What is switched on at a place in a pattern."""

    dialect: str
    i: bool = False
    m: bool = False
    s: bool = False
    a: bool = False

    def switched(self, letters: str, *, on: bool = True) -> Flags:
        """Return the flags after a list such as `is`; `u` switches `a` off."""
        names = {letter: on for letter in letters if letter != "u"}
        return replace(self, **names, **({"a": False} if "u" in letters else {}))


@dataclass(frozen=True)
class One:
    """One character: a literal, an escape or a class, as it is written."""

    text: str


@dataclass(frozen=True)
class Anchor:
    """`^ $ \\A \\Z \\b \\B`."""

    text: str


@dataclass(frozen=True)
class Items:
    """Nodes in sequence."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True)
class Either:
    """Alternatives."""

    ways: tuple[Pattern, ...]


@dataclass(frozen=True)
class Loop:
    """A repetition; `kind` is empty for a greedy one, `?` for a lazy one and `+` for a possessive one."""

    node: Pattern
    least: int
    most: int | None
    kind: str = ""


@dataclass(frozen=True)
class Group:
    """A group: `(`, `(?:`, `(?>`, `(?i-s:`."""

    opening: str
    node: Pattern


@dataclass(frozen=True)
class Look:
    """A lookaround; `opening` is one of `(?= (?! (?<= (?<!`."""

    opening: str
    node: Pattern


Pattern: TypeAlias = One | Anchor | Items | Either | Loop | Group | Look


def write(node: Pattern) -> str:
    """Return the text of a pattern."""
    match node:
        case One(text) | Anchor(text):
            return text
        case Items(items):
            return "".join(f"(?:{write(item)})" if isinstance(item, Either) else write(item) for item in items)
        case Either(ways):
            return "|".join(map(write, ways))
        case Loop(inner, least, most, kind):
            text = write(inner)
            # A condition or a repetition may not be repeated as it is, nor more than one item.
            body = text if isinstance(inner, One | Group) else f"(?:{text})"
            return body + _count(least, most) + kind
        case Group(opening, inner) | Look(opening, inner):
            return f"{opening}{write(inner)})"


def _count(least: int, most: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    if short is not None:
        return short
    if most is None:
        return f"{{{least},}}"
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


# --- making them -----------------------------------------------------------------------------------------------------


def loops_within(node: Pattern) -> int:
    """Return how many loops lie within one another at most; backtracking takes exponential time from two on."""
    match node:
        case One() | Anchor():
            return 0
        case Items(parts) | Either(parts):
            return max(map(loops_within, parts), default=0)
        case Loop(inner):
            return 1 + loops_within(inner)
        case Group(_, inner) | Look(_, inner):
            return loops_within(inner)


class Maker:
    """Makes patterns of one dialect over a few characters."""

    def __init__(self, rng: random.Random, dialect: str, *, looks: bool = True, atomic: bool = True) -> None:
        self.rng, self.dialect = rng, dialect
        self.characters = rng.sample(ALPHABET, rng.randint(2, 6))
        self._looks, self._atomic = looks, atomic and dialect == "python"

    def pattern(self) -> tuple[str, Pattern]:
        """Return the global flags of a pattern and its tree."""
        letters = self.rng.choice(("", "", "i", "m", "s", "a", "ai", "ims", "u")) if self.dialect == "python" else ""
        return letters, self.node(self.rng.randint(1, 4))

    def node(self, depth: int) -> Pattern:
        """Return a random node."""
        chance = self.rng.random()
        if depth == 0 or chance < 0.15:
            return self._leaf()
        if chance < 0.45:
            return Items(tuple(self.node(depth - 1) for _ in range(self.rng.randint(1, 3))))
        if chance < 0.6:
            return Either(tuple(self.node(depth - 1) for _ in range(self.rng.randint(2, 3))))
        if chance < 0.8:
            return self._loop(depth)
        if chance < 0.9 or not self._looks:
            return Group(self._opening(), self.node(depth - 1))
        return self._look(depth)

    def _leaf(self) -> Pattern:
        chance = self.rng.random()
        if chance < 0.15 and self._looks:
            names = ("^", "$", r"\b", r"\B") + ((r"\A", r"\Z") if self.dialect == "python" else ())
            return Anchor(self.rng.choice(names))
        if chance < 0.2:
            return Items(())
        return One(self._one())

    def _one(self) -> str:
        chance = self.rng.random()
        if chance < 0.5:
            return _literal(self.rng.choice(self.characters), self.dialect)
        if chance < 0.7:
            return self.rng.choice((r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", "."))
        return f"[{'^' * (self.rng.random() < 0.3)}{''.join(self._member() for _ in range(self.rng.randint(1, 3)))}]"

    def _member(self) -> str:
        chance = self.rng.random()
        if chance < 0.5:
            return _literal(self.rng.choice(self.characters), self.dialect, in_class=True)
        if chance < 0.75:
            return self.rng.choice((r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"))
        low, high = sorted((self.rng.choice(self.characters), self.rng.choice(ALPHABET)))
        return f"{_literal(low, self.dialect, in_class=True)}-{_literal(high, self.dialect, in_class=True)}"

    def _loop(self, depth: int) -> Loop:
        least = self.rng.choice((0, 0, 0, 1, 1, 2, 3))
        most = self.rng.choice((None, None, max(1, least), least + 1, least + 2))
        kinds = ("", "", "", "?", "+") if self._atomic else ("", "", "?")
        return Loop(self.node(depth - 1), least, most, self.rng.choice(kinds))

    def _opening(self) -> str:
        if self.dialect == "ecma":
            return self.rng.choice(("(", "(?:", "(?i:", "(?-i:", "(?s:", "(?m:", "(?im-s:"))
        others = ("(?i:", "(?-i:", "(?s:", "(?m:", "(?a:", "(?u:", "(?im-s:", *(("(?>",) * 4 if self._atomic else ()))
        return self.rng.choice(("(", "(?:", *others))

    def _look(self, depth: int) -> Look:
        opening = self.rng.choice(("(?=", "(?!", "(?=", "(?!", "(?<=", "(?<!"))
        if opening.startswith("(?<") and self.rng.random() < 0.8:  # `re` takes one width only
            return Look(opening, Items(tuple(One(self._one()) for _ in range(self.rng.randint(1, 2)))))
        inner = self.node(depth - 1)
        if self.rng.random() < 0.4:
            inner = Items((inner, Anchor("$")))  # what it asks for reaches the end of the text
        return Look(opening, inner)


def _literal(character: str, dialect: str, *, in_class: bool = False) -> str:
    escapes = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    if character in escapes:
        return escapes[character]
    if in_class:
        return f"\\{character}" if character in "-]\\^" else character
    return r"\." if character == "." else character


# --- matching by the definition --------------------------------------------------------------------------------------


class DirectMatcher:
    """Matches texts in full by the definition of a pattern.

    Args:
        node: the pattern.
        flags: what holds at its start.
    """

    def __init__(self, node: Pattern, flags: Flags) -> None:
        self._node, self._flags = node, flags

    def fullmatch(self, text: str) -> bool:
        """Return whether the whole text matches."""
        self._text = text
        self._known: dict[tuple[int, Flags, int], tuple[int, ...]] = {}
        return len(text) in self._ends(self._node, self._flags, 0)

    def _ends(self, node: Pattern, flags: Flags, start: int) -> tuple[int, ...]:
        key = id(node), flags, start
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = tuple(dict.fromkeys(self._found(node, flags, start)))
        return known

    def _found(self, node: Pattern, flags: Flags, start: int) -> Iterable[int]:
        match node:
            case One(text):
                fits = start < len(self._text) and matches_one(text, self._text[start], flags)
                return (start + 1,) if fits else ()
            case Anchor(text):
                return (start,) if self._holds(text, flags, start) else ()
            case Items(items):
                reached: tuple[int, ...] = (start,)
                for item in items:
                    reached = tuple(dict.fromkeys(end for at in reached for end in self._ends(item, flags, at)))
                return reached
            case Either(ways):
                return [end for way in ways for end in self._ends(way, flags, start)]
            case Loop(kind=kind):
                found = self._passes(node, flags, start, 0, {})
                return found[:1] if kind == "+" else found
            case Group(opening, inner):
                ends = self._ends(inner, _inside(opening, flags), start)
                return ends[:1] if opening == "(?>" else ends
            case Look(opening, inner):
                if "<" in opening:
                    found_any = any(start in self._ends(inner, flags, begin) for begin in range(start + 1))
                else:
                    found_any = bool(self._ends(inner, flags, start))
                return (start,) if found_any != opening.endswith("!") else ()

    def _passes(
        self, loop: Loop, flags: Flags, at: int, count: int, known: dict[tuple[int, int], tuple[int, ...]]
    ) -> tuple[int, ...]:
        key = at, min(count, loop.least) if loop.most is None else count
        if key in known:
            return known[key]
        further: list[int] = []
        if loop.most is None or count < loop.most:
            for end in self._ends(loop.node, flags, at):
                if end > at or count < loop.least:  # a pass that reads nothing counts only where passes are missing
                    further += self._passes(loop, flags, end, count + 1, known)
        stop = [at] if count >= loop.least else []
        known[key] = tuple(dict.fromkeys([*stop, *further] if loop.kind == "?" else [*further, *stop]))
        return known[key]

    def _holds(self, anchor: str, flags: Flags, at: int) -> bool:
        text, line_ends = self._text, _LINE_ENDS[flags.dialect]
        before, after = text[at - 1 : at] if at else "", text[at : at + 1]
        match anchor:
            case "^" if flags.m:
                return not before or before in line_ends
            case "^" | r"\A":
                return at == 0
            case "$" if flags.m:
                return not after or after in line_ends
            case "$" if flags.dialect == "python":
                return text[at:] in ("", "\n")
            case "$" | r"\Z":
                return at == len(text)
            case _:
                sides = [bool(side) and matches_one(r"\w", side, flags) for side in (before, after)]
                return (sides[0] != sides[1]) == (anchor == r"\b")


def _inside(opening: str, flags: Flags) -> Flags:
    written = re.fullmatch(r"\(\?([a-z]*)(?:-([a-z]+))?:", opening)
    if written is None:
        return flags
    return flags.switched(written[1]).switched(written[2] or "", on=False)


@cache
def _in_python(text: str, letters: str) -> Callable[[str], re.Match[str] | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(f"(?{letters}){text}" if letters else text).fullmatch


@cache
def matches_one(text: str, character: str, flags: Flags) -> bool:
    """Return whether a character is one of those that a literal, an escape or a class stands for."""
    if flags.dialect == "python":
        # Under `(?ai)`, `re` folds ranges beyond U+FFFF, which its documentation says it does not.
        folds = flags.i and not (flags.a and not character.isascii())
        letters = "a" * flags.a + "i" * folds + "s" * flags.s
        if not text.startswith("["):
            return _in_python(text, letters)(character) is not None
        # One member at a time: `(?i)[z𐐀]` of Python 3.11 matches no `𐐀`, and `(?i)[𐐀]` does.
        return any(_in_python(f"[{member}]", letters)(character) for member in _members(text)) != text.startswith("[^")
    if text == ".":
        return flags.s or character not in _LINE_ENDS["ecma"]
    if text.startswith("["):
        return any(_is_member(member, character, flags) for member in _members(text)) != text.startswith("[^")
    return _is_member(text, character, flags)


def _members(text: str) -> Iterator[str]:
    """Yield the members of a class; a range is one of them."""
    text = text[2:-1] if text.startswith("[^") else text[1:-1]
    for found in re.finditer(r"(\\[dDwWsS])|((?:\\.|[^\\])-(?:\\.|[^\\]))|(\\.|[^\\])", text, re.DOTALL):
        yield found[0]


def _is_member(member: str, character: str, flags: Flags) -> bool:
    if re.fullmatch(r"\\[dDwWsS]", member):
        kind = member[1].lower()
        chosen = {"d": frozenset("0123456789"), "w": _WORD, "s": _ECMA_SPACE}[kind]
        if kind == "w" and flags.i:
            chosen |= {"\u017f", "\u212a"}
        return (character in chosen) != member[1].isupper()
    ends = [_character(end) for end in re.findall(r"\\.|.", member, re.DOTALL)]
    first, last = ends[0], ends[-1]
    group = next((each for each in _FOLDED if character in each), character) if flags.i else character
    if len(member) > 2 and "-" in ends[1:2]:
        return any(first <= each <= last for each in _with_case(group, flags))
    return first in _with_case(group, flags)


def _with_case(group: str, flags: Flags) -> set[str]:
    return {each for one in group for each in ((one, one.lower(), one.upper()) if flags.i and one.isascii() else one)}


def _character(written: str) -> str:
    return {"\\n": "\n", "\\r": "\r", "\\t": "\t"}.get(written, written[-1])


# --- texts -----------------------------------------------------------------------------------------------------------


def texts(rng: random.Random, maker: Maker, node: Pattern, flags: Flags, count: int) -> list[str]:
    """Return texts to try: some that match but for conditions, some of those changed, and some at random."""
    found: dict[str, None] = {"": None}
    for _ in range(count):
        chance = rng.random()
        text = _sample(rng, maker, node, flags) if chance < 0.7 else ""
        if chance < 0.25 and text:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(maker.characters) * rng.randint(0, 2) + text[at + rng.randint(0, 1) :]
        elif chance >= 0.7:
            text = "".join(rng.choices([*maker.characters, rng.choice(ALPHABET)], k=rng.randint(1, 6)))
        found[text[:24]] = None
    return list(found)


def _sample(rng: random.Random, maker: Maker, node: Pattern, flags: Flags) -> str:
    match node:
        case One(text):
            fitting = [each for each in (*maker.characters, *ALPHABET) if matches_one(text, each, flags)]
            return rng.choice(fitting[:8]) if fitting else ""
        case Items(items):
            return "".join(_sample(rng, maker, item, flags) for item in items)
        case Either(ways):
            return _sample(rng, maker, rng.choice(ways), flags)
        case Loop(inner, least, most):
            passes = rng.randint(least, least + 2 if most is None else most)
            return "".join(_sample(rng, maker, inner, flags) for _ in range(passes))
        case Group(opening, inner):
            return _sample(rng, maker, inner, _inside(opening, flags))
        case _:
            return ""
