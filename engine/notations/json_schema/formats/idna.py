"""Internationalized labels: IDNA2008 (RFC 5890 to 5893) as a regular language.

The valid characters are given by the derived property of RFC 5892, from the tables of the `idna` package; scripts and
joining types come from there as well, combining classes, directions and compositions from Python's own tables. A
character must be in both.

Exact: the contextual rules (RFC 5892, appendix A), hyphens, no combining mark at the start, and the Bidi rule (RFC
5893): either no label of a name has a right-to-left character, or every label satisfies the rule. Nothing is accepted
that the standard refuses. It is narrower than the standard, which is not regular, or not small, in these points:

- normal form C: no mark follows a character that it could compose with, no mark follows a mark, and the composing marks
  from U+0300 to U+036F are refused;
- a label's A-form has at most 63 octets. That form is Punycode (RFC 3492), whose length depends on the whole label; a
  bound on it holds for every label in `_TIERS`, and longer ones are refused;
- a zero width non-joiner directly follows a virama or a joining letter, without a transparent character in between;
- characters beyond the basic plane are refused, and names of more than three labels unless all are ASCII;
- A-labels (`xn--…`) are excluded, see `addresses`.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial, reduce

from engine.grammar import Chars, CharSet, Choice, Node, Repeat, Sequence
from engine.grammar.charset import ANY
from engine.grammar.nodes import Lookaround

DOTS = "\u002e\u3002\uff0e\uff61"
"""The label separators (RFC 3490, section 3.1)."""

# (characters beyond ASCII, characters) of a label. The Punycode of no such label is longer than 59 characters, so with
# `xn--` it fits in 63. The deltas sum to at most (0xFFFF - 127) × (length + 1). Under any bias, a delta of 4, 5, 6, 7
# digits is at least 2,886, 28,886, 288,886, 2,888,886; under the first bias, of 4 and 5 at least 31,886 and 350,386.
# So ten deltas of the first tier have at most 4 + 3 × 6 + 6 × 5 = 52 digits, beside 6 letters and a hyphen; and three
# of the second at most 5 + 2 × 6 = 17, beside 40 letters and a hyphen.
_TIERS = ((10, 16), (3, 43))

# The composed characters of the basic plane except Hangul syllables, whose parts are valid in no label.
_BEFORE_HANGUL = (*range(0xC0, 0x3400), *range(0xF900, 0x10000))
_LONG_RUN = 1000  # only ideographs and syllables have such long runs; they are letters and not marks

_ALEF = 0x5D0
_DIACRITICS = CharSet(((0x300, 0x36F),))
_ASCII = CharSet(((0x00, 0x7F),))
_LOWER_LETTERS = CharSet(((0x61, 0x7A),))
_LOWER_CASE = CharSet(((0x30, 0x39),)) | _LOWER_LETTERS
# directions of characters that cannot end a label of a name under the Bidi rule
_NEUTRAL = ("ES", "CS", "ET", "ON", "BN")
_HYPHEN = CharSet.chars("-")
_END = Lookaround(Chars(ANY), ahead=True, negated=True)


@dataclass(frozen=True)
class _Tables:
    """The characters beyond ASCII that a label may contain.

    Attributes:
        directions: by direction, the characters without a contextual rule, Arabic digits included.
        combining: those with a combining class other than 0.
        marks: those of the general category M.
        viramas: those with the combining class 9.
        low_marks: those with a combining class from 1 to 9, which normal form C sorts before others or leaves in place.
        composing: those that compose with a following character of `composed`, or are split by it.
        composed: the second characters of these pairs.
    """

    directions: dict[str, CharSet]
    combining: CharSet
    marks: CharSet
    viramas: CharSet
    low_marks: CharSet
    composing: CharSet
    composed: CharSet

    def of(self, *directions: str) -> CharSet:
        """Return the characters of some directions."""
        return reduce(CharSet.__or__, (self.directions.get(name, CharSet()) for name in directions))


def _runs(encoded: Iterable[int]) -> CharSet:
    # Each number of the package's tables holds the first code point and the one after the last.
    return CharSet.of((run >> 32, (run & 0xFFFFFFFF) - 1) for run in encoded)


@cache
def _tables() -> _Tables:
    from idna import idnadata

    digits = CharSet(((0x660, 0x669), (0x6F0, 0x6F9)))
    basic = (_runs(idnadata.codepoint_classes["PVALID"]) | digits) & CharSet(((0x80, 0xFFFF),))
    composed: dict[int, set[int]] = defaultdict(set)
    for code in _BEFORE_HANGUL:
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            pair = "".join(chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", pair) == chr(code):
                composed[ord(pair[1])].add(ord(pair[0]))
    directions: dict[str, list[tuple[int, int]]] = defaultdict(list)
    combining, marks = [], []
    for first, last in basic.ranges:
        if last - first > _LONG_RUN:
            directions["L"].append((first, last))
            continue
        for code in range(first, last + 1):
            character = chr(code)
            directions[unicodedata.bidirectional(character)].append((code, code))
            if unicodedata.combining(character):
                combining.append(code)
            if unicodedata.category(character)[0] == "M":
                marks.append(code)
    directions.pop("", None)  # unknown to Python's tables
    kept = _set(composed) & basic
    return _Tables(
        {direction: CharSet.of(codes) for direction, codes in directions.items()},
        _set(combining),
        _set(marks),
        _set(code for code in combining if unicodedata.combining(chr(code)) == 9),
        _set(code for code in combining if unicodedata.combining(chr(code)) <= 9),
        _set(first for code in kept for first in composed[code]) | _recomposing(basic, kept - _DIACRITICS),
        kept,
    )


def _recomposing(characters: CharSet, marks: CharSet) -> CharSet:
    """Return the characters that a mark splits: it sorts before their own mark and composes with the rest.

    U+0622 is alef with madda, and hamza below sorts before the madda: the two become alef with hamza, and a madda.
    """
    return _set(
        code
        for code in _BEFORE_HANGUL
        if unicodedata.decomposition(chr(code)) and code in characters
        if any(unicodedata.normalize("NFC", pair) != pair for pair in (chr(code) + chr(mark) for mark in marks))
    )


def _set(codes: Iterable[int]) -> CharSet:
    return CharSet.of((code, code) for code in codes)


def _ahead(*items: Node, negated: bool = False) -> Node:
    return Lookaround(Sequence(items), ahead=True, negated=negated)


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


def _plain(characters: CharSet, *, normal: bool) -> list[Node]:
    """Return characters without a contextual rule.

    Args:
        characters: the characters.
        normal: whether the label has to be in normal form C: then no character is followed by one that it would
            compose with, and no mark by a mark.
    """
    if not normal:
        return [Chars(characters)]
    tables = _tables()
    characters -= tables.composed & _DIACRITICS
    nodes: list[Node] = [Chars(characters - tables.composing - tables.combining)]
    if composing := (characters & tables.composing) - tables.combining:
        behind = (_any_of(tables.combining), Chars(tables.composed))
        nodes.append(Sequence((Chars(composing), _ahead(*behind, negated=True))))
    if combining := characters & tables.combining:
        nodes.append(Sequence((Chars(combining), _ahead(Chars(tables.combining), negated=True))))
    return nodes


def _contextual(characters: CharSet, ending: tuple[Node, ...] = (), *, normal: bool) -> list[Node]:
    """Return what is valid only in a context, with the preceding character (RFC 5892, appendix A.1 to A.6).

    The rules apply to normal form C, which sorts marks by their combining class and composes them with letters. So in
    a label in any form, a mark comes before such a character only if the sorting leaves it there.

    Args:
        characters: the other characters of the label.
        ending: what the Bidi rule requires after a joiner.
        normal: whether the label has to be in normal form C.
    """
    tables = _tables()
    right_to_left = _ALEF in characters

    def pair(before: CharSet, character: str, *after: Node) -> list[Node]:
        allowed = before & characters
        if not normal:
            allowed -= tables.combining
        return [Sequence((Chars(allowed), Chars(CharSet.chars(character)), *after))] if allowed else []

    viramas = tables.viramas & characters
    joiner = Chars(CharSet.chars("\u200c\u200d"))
    before = () if normal else (Chars(characters - tables.combining), _any_of(tables.low_marks & characters))
    composes = () if normal else (_ahead(_any_of(tables.combining), Chars(tables.composed), negated=True),)
    return [
        *([Sequence((*before, Chars(viramas), joiner, *ending))] if viramas else []),
        *pair(_joining("LD"), "\u200c", _ahead(Chars(_joining("RD")))),
        *pair(CharSet.chars("l"), "\u00b7", _ahead(Chars(CharSet.chars("l")), *composes)),
        *(pair(_script("Hebrew"), "\u05f3\u05f4") if right_to_left else []),
        *([] if right_to_left else [Sequence((Chars(CharSet.chars("\u0375")), _ahead(Chars(_script("Greek")))))]),
    ]


def _left_to_right(within: CharSet, *, normal: bool, bidi: bool) -> Node:
    """Return the labels without right-to-left characters.

    Args:
        within: the characters that do not separate labels.
        normal: whether the label has to be in normal form C.
        bidi: whether the label satisfies the Bidi rule's conditions 1, 5 and 6 (RFC 5893, section 2): it begins with a
            letter, and ends with a letter or digit, marks aside. Every label of a name with a right-to-left label does.
    """
    tables = _tables()
    directions = {"L", "EN", "NSM", *_NEUTRAL} if bidi else set(tables.directions) - {"R", "AL", "AN"}
    left = (tables.of(*directions) | _LOWER_CASE) & within
    neutral = tables.of(*_NEUTRAL) & within if bidi else CharSet()
    strong = (tables.of("L", "EN") | _LOWER_CASE) & within
    ending = (_ahead(_any_of(within), Chars(strong)),) if bidi else ()
    first = (tables.of("L") & within) | _LOWER_LETTERS if bidi else left
    items = (
        *_plain(left - neutral, normal=normal),
        *_contextual(left, ending, normal=normal),
        Sequence((Chars(_HYPHEN), *(ending or (_ahead(Chars(within)),)))),
        *([Sequence((Choice(tuple(_plain(neutral, normal=normal))), *ending))] if neutral else []),
    )
    middle_dot = CharSet.chars("\u30fb")
    eastern = (_script("Hiragana") | _script("Katakana") | _script("Han")) - middle_dot
    with_middle_dot = Sequence(
        (
            _ahead(_any_of(within), Chars(eastern)),
            _label(
                first - tables.marks | (CharSet() if bidi else middle_dot),
                (*items, Sequence((Chars(middle_dot), *ending))),
                within,
                normal=normal,
            ),
        )
    )
    return Choice((_label(first - tables.marks, items, within, normal=normal), with_middle_dot))


def _right_to_left(within: CharSet, *, normal: bool) -> Node:
    """Return the labels of the Bidi rule's conditions 1 to 4: they end with a letter or digit, and mix no digits."""
    tables = _tables()
    letters = tables.of("R", "AL")
    western, arabic = tables.of("EN") | CharSet(((0x30, 0x39),)), tables.of("AN")
    ending = _ahead(_any_of(within), Chars(letters | western | arabic))
    items = [
        *_plain(letters | tables.of("NSM"), normal=normal),
        *_contextual(letters | tables.of("NSM"), (ending,), normal=normal),
        Sequence((Chars(western), _ahead(_any_of(within), Chars(arabic), negated=True))),
        Sequence((Chars(arabic), _ahead(_any_of(within), Chars(western), negated=True))),
        Sequence((Chars(_HYPHEN), ending)),
    ]
    if neutral := tables.of(*_NEUTRAL):
        items.append(Sequence((Choice(tuple(_plain(neutral, normal=normal))), ending)))
    return _label(letters - tables.marks, tuple(items), within, normal=normal)


def _label(first: CharSet, items: tuple[Node, ...], within: CharSet, *, normal: bool) -> Node:
    """Return a label of some items with a given first character, short enough in Punycode.

    It must not have hyphens as its third and fourth characters. A label in any form must not have them behind what may
    become two characters in normal form C.
    """
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
    reserved = [_ahead(Repeat(Chars(within), 2, 2), Chars(_HYPHEN), Chars(_HYPHEN), negated=True)]
    if not normal:
        attached = (_tables().combining | _tables().composed) & within
        starter = Chars(within - attached)
        two = Choice(
            (
                Repeat(Sequence((starter, _any_of(attached))), 2, 2),
                Sequence((starter, Repeat(Chars(attached), 2, None))),
            )
        )
        reserved.append(_ahead(two, Chars(_HYPHEN), Chars(_HYPHEN), negated=True))
    return Sequence((*reserved, Choice(tuple(tiers)), _ahead(Chars(first)), Repeat(Choice(items), 1, None)))


def name(dots: str, *, normal: bool = True) -> Node:
    """Return the names of one to three labels.

    Either no label has right-to-left characters, or every label satisfies the Bidi rule.

    Args:
        dots: what separates labels.
        normal: whether a label has to be in normal form C.
    """
    separator = CharSet.chars(dots)

    def labels(label: Node) -> Node:
        return Sequence((label, Repeat(Sequence((Chars(separator), label)), 0, 2)))

    left, right = partial(_left_to_right, ~separator, normal=normal), _right_to_left(~separator, normal=normal)
    return Choice((labels(left(bidi=False)), labels(Choice((left(bidi=True), right)))))
