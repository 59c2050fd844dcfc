"""Internationalized labels: IDNA2008 (RFC 5890 to 5893) as a regular language.

Which characters are valid is the derived property of RFC 5892, in the tables of
the `idna` package; scripts and joining types come from there as well, combining
classes, directions and compositions from Python's own tables. A character has
to be known to both.

Exact: the contextual rules (RFC 5892, appendix A), hyphens, no combining mark in
front, the Bidi rule of each label (RFC 5893). Narrower than the standard, since
the whole of it is not regular or not small:

- a label is in normal form C without marks that could compose with what stands before them, and in the common
  scripts' case of U+0300 to U+036F without such marks at all;
- a label's A-form has at most 63 octets. That form is Punycode (RFC 3492), whose length is an arithmetic over the
  whole label; a bound on it holds for every label in `_TIERS`, and longer ones are refused;
- characters beyond the basic plane are refused, and names of more than three labels unless all are ASCII;
- A-labels (`xn--…`) are refused, see `hosts`.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from engine.grammar import Chars, CharSet, Choice, Node, Repeat, Sequence
from engine.grammar.charset import ANY
from engine.grammar.nodes import Look

DOTS = "\u002e\u3002\uff0e\uff61"
"""What separates labels (RFC 3490, section 3.1)."""

# (characters beyond ASCII, characters) of a label. The Punycode of no such label is longer than 59 digits: its deltas
# sum to at most (0xFFFF - 127) × length, and of each only the number of digits under the least favourable bias counts.
_TIERS = ((11, 12), (7, 25), (2, 48))

_ASCII = CharSet(((0x00, 0x7F),))
_LOWER_CASE = CharSet(((0x30, 0x39), (0x61, 0x7A)))
_HYPHEN = CharSet.chars("-")
_END = Look(Chars(ANY), ahead=True, negated=True)


@dataclass(frozen=True)
class _Tables:
    """The characters beyond ASCII that a label may hold, but for those with a contextual rule.

    Attributes:
        valid: all of them, with their direction.
        marks: those of the general category M.
        classes: those with a combining class that is not 0, by class.
        firsts: what a mark could compose with, by the marks.
    """

    valid: dict[int, str]
    marks: CharSet
    classes: dict[int, CharSet]
    firsts: dict[CharSet, CharSet]
    viramas: CharSet


def _runs(encoded: Iterable[int]) -> CharSet:
    # Each number of the package's tables holds a first code point and the one behind the last.
    return CharSet.of((run >> 32, (run & 0xFFFFFFFF) - 1) for run in encoded)


@cache
def _tables() -> _Tables:
    from idna import idnadata

    basic = _runs(idnadata.codepoint_classes["PVALID"]) & CharSet(((0x80, 0xFFFF),))
    second: dict[int, set[int]] = defaultdict(set)
    for code in range(0xC0, 0x10000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            pair = "".join(chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", pair) == chr(code):
                second[ord(pair[1])].add(ord(pair[0]))
    valid: dict[int, str] = {}
    classes: dict[int, set[int]] = defaultdict(set)
    marks: set[int] = set()
    for code in basic:
        character = chr(code)
        direction = unicodedata.bidirectional(character)
        if not direction or (code in second and 0x300 <= code <= 0x36F):
            continue
        valid[code] = direction
        combining = unicodedata.combining(character)
        if combining:
            classes[combining].add(code)
        if combining or unicodedata.category(character)[0] == "M":
            marks.add(code)
    composing: dict[int, set[int]] = defaultdict(set)
    for mark, firsts in second.items():
        if mark in valid:
            for first in firsts:
                composing[first].add(mark)
    groups: dict[frozenset[int], set[int]] = defaultdict(set)
    for first, these in composing.items():
        groups[frozenset(these)].add(first)
    return _Tables(
        valid,
        _set(marks),
        {number: _set(codes) for number, codes in classes.items()},
        {_set(these): _set(firsts) for these, firsts in groups.items()},
        _set(code for code in range(0x10000) if unicodedata.combining(chr(code)) == 9),
    )


def _set(codes: Iterable[int]) -> CharSet:
    return CharSet.of((code, code) for code in codes)


def _ahead(*items: Node, negated: bool = False) -> Node:
    return Look(Sequence(items), ahead=True, negated=negated)


def _behind(*items: Node) -> Node:
    return Look(Sequence(items), ahead=False, negated=False)


def _any_of(characters: CharSet) -> Node:
    return Repeat(Chars(characters), 0, None)


@cache
def _script(name: str) -> CharSet:
    from idna import idnadata

    return _runs(idnadata.scripts[name])


@cache
def _joining(kinds: str) -> CharSet:
    from idna import idnadata

    joined = CharSet()
    for kind in kinds:
        joined |= _runs(idnadata.joining_types.get(kind, ()))
    return joined


def _normal(characters: CharSet) -> list[Node]:
    """Characters, each followed by nothing that it would compose with, or that belongs before it."""
    tables = _tables()
    nodes: list[Node] = []
    combining = CharSet()
    for chars in tables.classes.values():
        combining |= chars
    rest = characters
    for seconds, firsts in tables.firsts.items():
        if group := rest & firsts - combining:
            nodes.append(Sequence((Chars(group), _ahead(_any_of(combining), Chars(seconds), negated=True))))
            rest -= group
    for number, chars in tables.classes.items():
        lower = CharSet()
        for other, others in tables.classes.items():
            if other < number:
                lower |= others
        if group := rest & chars:
            nodes.append(Sequence((Chars(group), _ahead(Chars(lower), negated=True))) if lower else Chars(group))
            rest -= group
    return [Chars(rest), *nodes]


def _contextual(within: CharSet) -> list[Node]:
    """The characters that RFC 5892 allows in a context only (appendix A.1 to A.7)."""

    def one(character: str) -> Node:
        return Chars(CharSet.chars(character))

    eastern = _script("Hiragana") | _script("Katakana") | _script("Han")
    eastern -= CharSet.chars("\u30fb")
    transparent = _any_of(_joining("T"))
    after_virama = _behind(Chars(_tables().viramas))
    between = Sequence(
        (
            _behind(Chars(_joining("LD")), transparent),
            one("\u200c"),
            _ahead(transparent, Chars(_joining("RD"))),
        )
    )
    return [
        Sequence((after_virama, one("\u200c"))),
        between,
        Sequence((after_virama, one("\u200d"))),
        Sequence((_behind(one("l")), one("\u00b7"), _ahead(one("l")))),
        Sequence((one("\u0375"), _ahead(Chars(_script("Greek"))))),
        Sequence((_behind(Chars(_script("Hebrew"))), Chars(CharSet.chars("\u05f3\u05f4")))),
        Sequence((one("\u30fb"), _ahead(_any_of(within), Chars(eastern)))),
        Sequence((_behind(Chars(eastern), _any_of(within)), one("\u30fb"))),
    ]


def _label(dots: CharSet) -> Node:
    tables = _tables()
    within = ~dots

    def of(test: Callable[[str], bool]) -> CharSet:
        return _set(code for code, direction in tables.valid.items() if test(direction))

    hyphen = Sequence((Chars(_HYPHEN), _ahead(Chars(within))))
    west = of(lambda direction: direction not in {"R", "AL", "AN"}) | _LOWER_CASE
    forms = [(Chars(west - tables.marks), Choice((*_normal(west), *_contextual(within), hyphen)))]
    right = of(lambda direction: direction in {"R", "AL"})
    for number in ("EN", "AN"):
        digits = of(lambda direction, number=number: direction == number)  # type: ignore[misc]
        if number == "EN":
            digits |= CharSet(((0x30, 0x39),))
        else:
            digits |= CharSet(((0x660, 0x669),))
        neutral = of(lambda direction: direction in {"ES", "CS", "ET", "ON", "BN"})
        ending = _ahead(_any_of(within), Chars(right | digits))
        transparent = of(lambda direction: direction == "NSM")
        inner = Choice(
            (
                *_normal(right | digits | transparent),
                *([Sequence((Chars(neutral), ending))] if neutral else []),
                Sequence((Chars(_HYPHEN), ending)),
                *_contextual(within),
            )
        )
        forms.append((Chars(right - tables.marks), inner))
    return Choice(tuple(_spelled(first, inner, within) for first, inner in forms))


def _spelled(first: Node, inner: Node, within: CharSet) -> Node:
    """A label of such a first character and such others, short enough in Punycode."""
    edge = Choice((Chars(~within), _END))
    ascii_within = _any_of(_ASCII & within)
    tiers = [
        Sequence(
            (
                _ahead(Repeat(Sequence((ascii_within, Chars(within - _ASCII))), 0, beyond), ascii_within, edge),
                _ahead(Repeat(Chars(within), 1, length), edge),
            )
        )
        for beyond, length in _TIERS
    ]
    reserved = _ahead(Repeat(Chars(within), 2, 2), Chars(_HYPHEN), Chars(_HYPHEN), negated=True)
    return Sequence((reserved, Choice(tuple(tiers)), _ahead(first), inner, Repeat(inner, 0, None)))


def name(dots: str) -> Node:
    """A name of one to three labels, with such characters between them."""
    separator = CharSet.chars(dots)
    label = _label(separator)
    return Sequence((label, Repeat(Sequence((Chars(separator), label)), 0, 2)))
