"""Host names with A-labels: `xn--` and the Punycode of an internationalized label (RFC 5890, section 2.3.2.1).

Whether an A-label is valid depends on what Punycode (RFC 3492) decodes it to,
so each beginning of one is a state of its own, of which no automaton has so many.
But hardly one is a dead end: a hyphen makes plain letters of all that came before
it, and what follows the hyphen only has to say where other letters are put among
them. How long such an end is depends on how many characters there are and on
where hyphens stand in front and last. So here states count, each with an end that
is known to complete it, and `classify` looks at the text where a label ends: at
such a place stands a `Gate`. Who reads the text asks there (see `host_names`).

The rest of a name is read by the automaton of names without A-labels. For it an
A-label is so many plain letters, or a label that begins with a digit, or an alef,
as the U-label's directions are: a name with a right-to-left label is valid only if
every label satisfies the Bidi rule. Names of ASCII characters have no such labels
but A-labels, so there `_Bidi` says what the labels before mean. In `idn-hostname` a
right-to-left A-label is one of the first three labels, since those that follow are
counted only where all labels are ASCII.

Narrower than the standard: labels whose known end would not fit in 63 characters
are refused, unless they are such an end. Most beginnings need four characters,
those with a hyphen at either edge up to eight, so whatever has no more than 55
is read, and mostly 59. And an A-label is in lower case here, `xn--` included.

Rejected: each beginning as a state. Behind `xn--` a mask over the 131,072 tokens of
tekken meets 30,325 of them, which is seconds and gigabytes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from itertools import product
from operator import itemgetter
from string import ascii_lowercase, digits
from typing import Final, NamedTuple, TypeAlias

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, LengthBound
from engine.grammar import CharSet
from engine.schema_automaton.json_encoding.alphabet import CharacterClasses, common_letters, letters_of
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.tables import TableAutomaton, table_of

DOTS: Final = {"hostname": ".", "idn-hostname": "\u002e\u3002\uff0e\uff61"}
"""The formats that hold A-labels, each with what separates labels there."""

LONGEST_NAME: Final = 253

_PREFIX: Final = "xn--"
_CHARACTERS: Final = ascii_lowercase + digits + "-"
_HEAD: Final = 4  # so many characters of a label are looked at for hyphens
_ADDED: Final = "\u00df"  # a letter that is valid anywhere in a label, the first one beyond ASCII
_MOST_IN_FRONT: Final = 3
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_ALEF: Final = "\u05d0"


class ALabel(IntEnum):
    """Classes of the texts that follow `xn--`, by the label that Punycode decodes them to.

    A name with a right-to-left label is a Bidi domain name (RFC 5893, section 1.4), in which every label satisfies the
    Bidi rule (section 2). So the two classes on which the other labels of a name depend are told apart.
    """

    INVALID = 0
    """Not the Punycode of a U-label."""
    ANYWHERE = 1
    """No character is right-to-left, and the label satisfies the Bidi rule."""
    NOT_BIDI = 2
    """No character is right-to-left, and the label does not satisfy the Bidi rule."""
    RIGHT_TO_LEFT = 3
    """A character is right-to-left; as a U-label it satisfies the Bidi rule."""


_Targets: TypeAlias = tuple[int, int, int, int]  # one of each class


def classify(encoded: str) -> ALabel:
    """Return the class of a text in lower case that follows `xn--`."""
    from idna import IDNAError, check_bidi, check_label  # takes long to import, and is seldom needed

    try:
        decoded = encoded.encode("ascii").decode("punycode")
        check_label(decoded)
    except (UnicodeError, IDNAError):
        return ALabel.INVALID
    if decoded.isascii() or decoded.encode("punycode").decode("ascii") != encoded:
        return ALabel.INVALID
    if not _RIGHT_TO_LEFT.isdisjoint(map(unicodedata.bidirectional, decoded)):
        return ALabel.RIGHT_TO_LEFT
    try:
        check_bidi(decoded, check_ltr=True)
    except IDNAError:
        return ALabel.NOT_BIDI
    return ALabel.ANYWHERE


class Beginning(NamedTuple):
    """What of the beginning of an A-label, behind `xn--`, says how it can end.

    Attributes:
        length: how many characters there are.
        head: the first ones, with `a` for whatever is no hyphen.
        last: the last one, likewise.
    """

    length: int
    head: str
    last: str

    def longer(self, character: str) -> Beginning:
        """The beginning with another character."""
        kind = "-" if character == "-" else "a"
        return Beginning(self.length + 1, self.head + kind if self.length < _HEAD else self.head, kind)

    @property
    def text(self) -> str:
        """One such beginning."""
        return self.head if self.length <= _HEAD else self.head.ljust(self.length - 1, "a") + self.last


@cache
def end_of(beginning: Beginning) -> str:
    """Return what completes every such beginning to an A-label that may be in any name (`ALabel.ANYWHERE`).

    The beginning becomes plain letters, with some others before and behind. One is always in front, since the beginning
    may start with a digit.
    """
    text = beginning.text
    for front, behind in sorted(product(range(1, _MOST_IN_FRONT + 1), range(2)), key=sum):
        label = _ADDED * front + text + _ADDED * behind
        if label[0] != "-" != label[-1] and label[2:4] != "--":
            return label.encode("punycode").decode("ascii")[len(text) :]
    raise AssertionError(beginning)


class _Bidi(IntEnum):
    """The constraint that the labels read so far put on the next ones, in a name of ASCII characters."""

    OPEN = 0
    """No label is right-to-left, and every label satisfies the Bidi rule."""
    LEFT = 1
    """A label does not satisfy the Bidi rule, so none may be right-to-left."""
    RIGHT = 2
    """A label is right-to-left, so each has to satisfy the Bidi rule."""


class _Plain(NamedTuple):
    """A state outside of A-labels.

    Attributes:
        table: the state of the automaton without A-labels.
        bidi: what the labels so far mean; `OPEN` where the automaton without A-labels knows that.
        read: how many characters of the `xn--` of a label were read; None where something else was.
        start: the state of the table where the label began; None where `read` is.
    """

    table: int
    bidi: _Bidi
    read: int | None = None
    start: int | None = None


class _Within(NamedTuple):
    """A state behind the `xn--` of an A-label.

    Attributes:
        table: the state of the automaton without A-labels behind as many letters.
        bidi: what the labels before mean.
        start: the state of the table where the label began.
        beginning: what was read of the label.
        end: what completes it.
        found: the class of what was read; None where that is not known.
    """

    table: int
    bidi: _Bidi
    start: int
    beginning: Beginning
    end: str
    found: ALabel | None


class Gate(NamedTuple):
    """A state where the text decides.

    Attributes:
        to: the state behind it by the class of the A-label that ends there; the same state where one begins.
        begins: whether an A-label begins there.
    """

    to: _Targets
    begins: bool


_State: TypeAlias = _Plain | _Within | Gate


class NamesWithALabels:
    """Host names, as an automaton over letters whose ways into and out of A-labels lead to gates.

    Attributes:
        letters: what it reads.
        classes: every letter as a class of its own.
        start: before the first character.
        gates: the states that are gates.
        far: the same where no A-label may begin before the next dot.
    """

    def __init__(self, name: str, escapes: Escapes) -> None:
        """Begin.

        Args:
            name: a format of `DOTS`.
            escapes: which escapes may stand for its characters.
        """
        self._alphabet = _alphabet(name, escapes)
        self._table = self._alphabet.table
        self.letters: CharacterClasses = self._alphabet.letters
        self.classes: ByteClasses = self.letters.classes
        self._states: list[_State | None] = [None]
        self._ids: dict[tuple[type[_State], _State], int] = {}
        self.gates: dict[int, Gate] = {}
        # States where no `xn--` may come, by the state of the table.
        self._plain: dict[_Bidi, dict[int, int]] = {bidi: {DEAD: DEAD} for bidi in _Bidi}
        # The table of `idn-hostname` has right-to-left labels and knows what they mean for others.
        self._is_ascii = name == "hostname"
        self.start = self._number(self._label(self._table.start, _Bidi.OPEN))
        self.far = _Far(self, self._table)

    def row(self, state: int) -> list[int]:
        """The state after each letter."""
        at = self._states[state]
        if isinstance(at, _Plain):
            return self._row_outside(at)
        if isinstance(at, _Within):
            return self._row_within(at)
        return [DEAD] * self.letters.size

    def step(self, state: int, letter: int) -> int:
        """The state after a letter."""
        return self.row(state)[letter]

    def accepts(self, state: int) -> bool:
        """Whether it is clear that the name may end here."""
        at = self._states[state]
        if isinstance(at, _Within):
            return at.found is not None and self._table.accepts(self._ended(at, at.found)[0])
        return isinstance(at, _Plain) and self._table.accepts(at.table)

    def asks(self, state: int) -> bool:
        """Whether the name may end here if the A-label is one that stands here."""
        at = self._states[state]
        return isinstance(at, _Within) and at.found is None and self._table.accepts(at.table)

    def is_within(self, state: int) -> bool:
        """Whether an A-label stands here."""
        return isinstance(self._states[state], _Within)

    def told(self, state: int, found: ALabel) -> int:
        """Return a state that asks, with the answer."""
        at = self._states[state]
        assert isinstance(at, _Within)
        return self._number(at._replace(found=found))

    def is_free(self, state: int) -> bool:
        """Never: no format ends in any string."""
        return False

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> LengthBound:
        """What a state lacks, in bytes."""
        at = self._states[state]
        if isinstance(at, _Plain):
            return self._table.min_remaining(at.table, alphabet)
        return LengthBound(None if at is None else 0, exact=False)

    def _number(self, at: _State) -> int:
        key = type(at), at  # tuples of different kinds may be equal
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._states)
            self._states.append(at)
            if isinstance(at, Gate):
                self.gates[number] = at
        return number

    def is_far(self, state: int) -> bool:
        """Whether no A-label may begin before the next dot, so that `far` reads as this does, with fewer letters."""
        at = self._states[state]
        return isinstance(at, _Plain) and at.read is None

    def row_far(self, state: int) -> list[int]:
        """The state after each letter of the table, where no A-label may begin before the next dot."""
        at = self._states[state]
        assert isinstance(at, _Plain)
        following, plain = self._table.row(at.table), self._plain[at.bidi]
        row = [plain[to] if to in plain else self._number_plain(to, at.bidi) for to in following]
        for letter in self._alphabet.dots_in_table:
            if row[letter] != DEAD:
                row[letter] = self._number(self._label(following[letter], at.bidi))
        return row

    def _row_outside(self, at: _Plain) -> list[int]:
        alphabet = self._alphabet
        row = list(alphabet.spread(self.row_far(self._ids[_Plain, at])))
        if at.read is None:
            return row
        assert at.start is not None
        following = self._table.row(at.table)
        if at.read == 0 and self._is_ascii:
            self._begin_with_digit(row, at, following)
        letter = alphabet.letter_of[_PREFIX[at.read]]
        if at.read + 1 < len(_PREFIX):
            if row[letter] != DEAD:
                longer = at._replace(table=following[alphabet.in_table[letter]], read=at.read + 1)
                row[letter] = self._number(longer)
        else:
            within = self._within(alphabet.after(at.table, 1), at.bidi, at.start, Beginning(0, "", ""))
            row[letter] = DEAD if within == DEAD else self._number(Gate((within,) * 4, begins=True))
        return row

    def _begin_with_digit(self, row: list[int], at: _Plain, following: list[int]) -> None:
        """Replace the states behind digits: of ASCII labels only those that begin with one break the Bidi rule."""
        for digit in digits:
            letter = self._alphabet.letter_of[digit]
            to = following[self._alphabet.in_table[letter]]
            is_dead = to == DEAD or at.bidi is _Bidi.RIGHT
            row[letter] = DEAD if is_dead else self._number_plain(to, _Bidi.LEFT)

    def _number_plain(self, table: int, bidi: _Bidi) -> int:
        number = self._plain[bidi][table] = self._number(_Plain(table, bidi))
        return number

    @staticmethod
    def _label(table: int, bidi: _Bidi) -> _Plain:
        """Return the state where a label begins."""
        return _Plain(table, bidi, 0, table)

    def _ended(self, at: _Within, found: ALabel) -> tuple[int, _Bidi]:
        """Return the state of the table behind an A-label of a class, and what the labels mean then."""
        if found is ALabel.INVALID:
            return DEAD, at.bidi
        if found is ALabel.ANYWHERE:
            return at.table, at.bidi
        right = found is ALabel.RIGHT_TO_LEFT
        if self._is_ascii:
            if at.bidi is (_Bidi.LEFT if right else _Bidi.RIGHT):
                return DEAD, at.bidi
            return at.table, _Bidi.RIGHT if right else _Bidi.LEFT
        # The same table is in the same state behind a U-label and behind a label that begins with a digit.
        if right:
            return self._table.step(at.start, self._table.letters.of(ord(_ALEF))), at.bidi
        digit = self._table.step(at.start, self._table.letters.of(ord("0")))
        return self._alphabet.after(digit, len(_PREFIX) + at.beginning.length - 1), at.bidi

    def _row_within(self, at: _Within) -> list[int]:
        alphabet = self._alphabet
        row = [DEAD] * self.letters.size
        table = alphabet.after(at.table, 1)
        of_letters, of_hyphen = (
            self._within(table, at.bidi, at.start, at.beginning.longer(kind)) for kind in ("a", "-")
        )
        for character, letter in alphabet.letter_of.items():
            if character == at.end[:1]:
                found = ALabel.ANYWHERE if len(at.end) == 1 else None
                longer = at.beginning.longer(character)
                row[letter] = self._number(_Within(table, at.bidi, at.start, longer, at.end[1:], found))
            else:
                row[letter] = of_hyphen if character == "-" else of_letters
        for letter in alphabet.dots:
            invalid, *valid = (self._behind(at, found, alphabet.in_table[letter]) for found in ALabel)
            if at.found is not None:
                row[letter] = (invalid, *valid)[at.found]
            elif any(to != DEAD for to in valid):
                row[letter] = self._number(Gate((invalid, valid[0], valid[1], valid[2]), begins=False))
        return row

    def _behind(self, at: _Within, found: ALabel, dot: int) -> int:
        """Return the state behind an A-label of a class and a dot."""
        table, bidi = self._ended(at, found)
        to = self._table.step(table, dot) if table != DEAD else DEAD
        return DEAD if to == DEAD else self._number(self._label(to, bidi))

    def _within(self, table: int, bidi: _Bidi, start: int, beginning: Beginning) -> int:
        """The state behind the beginning of an A-label; `DEAD` where its end does not fit."""
        end = end_of(beginning)
        ended = self._alphabet.after(table, len(end)) if table != DEAD else DEAD
        if ended == DEAD or not self._table.accepts(ended):
            return DEAD
        return self._number(_Within(table, bidi, start, beginning, end, None))


class _Far:
    """Host names where no A-label may begin before the next dot, over the letters of names that have none.

    Letters that make no difference take time: with those of A-labels, a mask of host names takes half as long again.
    """

    def __init__(self, names: NamesWithALabels, table: TableAutomaton) -> None:
        self.letters: CharacterClasses = table.letters
        self.classes: ByteClasses = table.classes
        self.start = names.start
        self.row = names.row_far
        self.accepts = names.accepts
        self.is_free = names.is_free
        self.min_remaining = names.min_remaining

    def step(self, state: int, letter: int) -> int:
        """The state after a letter."""
        return self.row(state)[letter]


class _Alphabet:
    """The letters of names with A-labels, and of those without.

    Attributes:
        table: names without A-labels.
        letters: what tells each character of an A-label apart.
        in_table: of each letter the one of the table that it is part of.
        spread: from what stands for each letter of the table to what stands for each letter.
        letter_of: of each character of an A-label its letter.
        dots: the letters that separate labels.
        dots_in_table: those of the table.
    """

    def __init__(self, name: str, escapes: Escapes) -> None:
        table = table_of(("format", name), escapes)
        own = letters_of((CharSet.chars(character) for character in (*_CHARACTERS, DOTS[name])), escapes)
        assert table is not None
        assert own is not None
        common = common_letters((table.letters, own))
        assert common is not None
        self.table: TableAutomaton = table
        self.letters, parts = common
        self.in_table = [of_table for of_table, _ in parts]
        self.spread: Callable[[list[int]], tuple[int, ...]] = itemgetter(*self.in_table)
        self.letter_of = {character: self.letters.of(ord(character)) for character in _CHARACTERS}
        self.dots = sorted({self.letters.of(ord(dot)) for dot in DOTS[name]})
        self.dots_in_table = sorted({table.letters.of(ord(dot)) for dot in DOTS[name]})
        self._letter = self.in_table[self.letter_of["a"]]
        self._after: dict[int, int] = {}

    def after(self, state: int, count: int) -> int:
        """The state of the table behind so many plain letters."""
        for _ in range(count):
            following = self._after.get(state)
            if following is None:
                following = self._after[state] = self.table.step(state, self._letter) if state != DEAD else DEAD
            state = following
        return state


@cache
def _alphabet(name: str, escapes: Escapes) -> _Alphabet:
    return _Alphabet(name, escapes)
