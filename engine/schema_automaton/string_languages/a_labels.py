"""Host names with A-labels: `xn--` and the Punycode of an internationalized label (RFC 5890, section 2.3.2.1).

Whether an A-label is valid depends on what Punycode (RFC 3492) decodes it to, so each
prefix of a label would be a state of its own, which is too many for an automaton.
But hardly any prefix is a dead end: a hyphen turns all characters before it into plain
letters, and the rest only has to say where other letters are inserted among them. The
length of such a suffix depends on the number of characters, and on hyphens at the
beginning and the end. So a state counts these, and has a suffix that is known to complete
it. Where a label ends, `classify` examines the text: that is a `Gate`, which the lexer
passes if the text is valid (see `host_name_lexer`).

The rest of a name is read by the automaton of names without A-labels. It reads an
A-label as plain letters of the same number, or as a label that begins with a digit, or as
an alef, depending on the directions of the U-label: a name with a right-to-left label is
valid only if every label satisfies the Bidi rule. Names of ASCII characters have no such
labels but A-labels, so `_Bidi` records the constraint of the earlier labels there. In
`idn-hostname` a right-to-left A-label is one of the first three labels, since later
labels are counted only if all labels are ASCII.

Narrower than the standard: labels whose known suffix would not fit in 63 characters are
refused, unless they are completed by that suffix. Most prefixes need four characters,
those with a hyphen at either end up to eight, so every label of up to 55 characters is
accepted, and most of up to 59. And an A-label is in lower case here, including `xn--`.

Rejected: each prefix as a state. After `xn--` a mask over the 131,072 tokens of tekken
visits 30,325 of them, which takes seconds and gigabytes.
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
from engine.schema_automaton.json_encoding.character_classes import (
    CharacterClasses,
    char_classes_of,
    common_refinement,
)
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.tables import TableAutomaton, table_of

DOTS: Final = {"hostname": ".", "idn-hostname": "\u002e\u3002\uff0e\uff61"}
"""The formats that allow A-labels, each with the characters that separate labels."""

LONGEST_NAME: Final = 253

_PREFIX: Final = "xn--"
_CHARACTERS: Final = ascii_lowercase + digits + "-"
_HEAD: Final = 4  # the number of leading characters that are examined for hyphens
_ADDED: Final = "\u00df"  # a letter that is valid anywhere in a label, the first one beyond ASCII
_MOST_IN_FRONT: Final = 3
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_ALEF: Final = "\u05d0"


class ALabel(IntEnum):
    """The class of a text that follows `xn--`, by the label that Punycode decodes it to.

    A name with a right-to-left label is a Bidi domain name (RFC 5893, section 1.4), in which every label satisfies the
    Bidi rule (section 2). So the classes distinguish what the other labels of a name depend on.
    """

    INVALID = 0
    """Not the Punycode of a U-label."""
    ANYWHERE = 1
    """No character is right-to-left, and the label satisfies the Bidi rule."""
    NOT_BIDI = 2
    """No character is right-to-left, and the label does not satisfy the Bidi rule."""
    RIGHT_TO_LEFT = 3
    """A character is right-to-left; as a U-label it satisfies the Bidi rule."""


_Targets: TypeAlias = tuple[int, int, int, int]  # one for each class


def classify(encoded: str) -> ALabel:
    """Return the class of a text in lower case that follows `xn--`."""
    from idna import IDNAError, check_bidi, check_label  # slow to import, and seldom needed

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
    """The beginning of an A-label after `xn--`, as far as it determines how the label can end.

    Attributes:
        length: the number of characters.
        head: the first characters, with `a` for everything but hyphens.
        last: the last character, likewise.
    """

    length: int
    head: str
    last: str

    def longer(self, character: str) -> Beginning:
        """Return the beginning with one more character."""
        kind = "-" if character == "-" else "a"
        return Beginning(self.length + 1, self.head + kind if self.length < _HEAD else self.head, kind)

    @property
    def text(self) -> str:
        """Return one text with this beginning."""
        return self.head if self.length <= _HEAD else self.head.ljust(self.length - 1, "a") + self.last


@cache
def end_of(beginning: Beginning) -> str:
    """Return a text that completes every such beginning to an A-label that any name may have (`ALabel.ANYWHERE`).

    The beginning becomes plain letters, with added letters before and after it. At least one is added before, since the
    beginning may start with a digit.
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
        bidi: the constraint of the labels so far; `OPEN` if the automaton without A-labels tracks it.
        read: the number of characters read of the `xn--` of a label; None if the label begins otherwise.
        start: the state of the table where the label began; None if `read` is.
    """

    table: int
    bidi: _Bidi
    read: int | None = None
    start: int | None = None


class _Within(NamedTuple):
    """A state after the `xn--` of an A-label.

    Attributes:
        table: the state of the automaton without A-labels after as many letters.
        bidi: the constraint of the labels before.
        start: the state of the table where the label began.
        beginning: the beginning of the label.
        end: a text that completes it.
        found: the class of the label so far; None if it is not known.
    """

    table: int
    bidi: _Bidi
    start: int
    beginning: Beginning
    end: str
    found: ALabel | None


class Gate(NamedTuple):
    """A state at which the text decides.

    Attributes:
        to: the state after it, by the class of the A-label that ends here; the same state for all if one begins.
        begins: whether an A-label begins here.
    """

    to: _Targets
    begins: bool


_State: TypeAlias = _Plain | _Within | Gate


class NamesWithALabels:
    """Host names, as an automaton over character classes in which A-labels begin and end at gates.

    Attributes:
        char_classes: the character classes.
        classes: a byte class for each character class.
        start: the state before the first character.
        gates: the states that are gates.
        far: the same automaton for states where no A-label may begin before the next dot.
    """

    def __init__(self, name: str, escapes: Escapes) -> None:
        """Create the automaton.

        Args:
            name: a format of `DOTS`.
            escapes: the escapes that may encode its characters.
        """
        self._alphabet = _alphabet(name, escapes)
        self._table = self._alphabet.table
        self.char_classes: CharacterClasses = self._alphabet.char_classes
        self.classes: ByteClasses = self.char_classes.classes
        self._states: list[_State | None] = [None]
        self._ids: dict[tuple[type[_State], _State], int] = {}
        self.gates: dict[int, Gate] = {}
        # States where no `xn--` may come, by the state of the table.
        self._plain: dict[_Bidi, dict[int, int]] = {bidi: {DEAD: DEAD} for bidi in _Bidi}
        # The table of `idn-hostname` has right-to-left labels and tracks their constraint on others.
        self._is_ascii = name == "hostname"
        self.start = self._number(self._label(self._table.start, _Bidi.OPEN))
        self.far = _Far(self, self._table)

    def row(self, state: int) -> list[int]:
        """Return the state after each character class."""
        at = self._states[state]
        if isinstance(at, _Plain):
            return self._row_outside(at)
        if isinstance(at, _Within):
            return self._row_within(at)
        return [DEAD] * self.char_classes.size

    def step(self, state: int, char_class: int) -> int:
        """Return the state after a character class."""
        return self.row(state)[char_class]

    def accepts(self, state: int) -> bool:
        """Return whether the name may end here, whatever its text is."""
        at = self._states[state]
        if isinstance(at, _Within):
            return at.found is not None and self._table.accepts(self._ended(at, at.found)[0])
        return isinstance(at, _Plain) and self._table.accepts(at.table)

    def depends_on_label(self, state: int) -> bool:
        """Return whether the name may end here if the open A-label is valid."""
        at = self._states[state]
        return isinstance(at, _Within) and at.found is None and self._table.accepts(at.table)

    def is_within(self, state: int) -> bool:
        """Return whether an A-label is open."""
        return isinstance(self._states[state], _Within)

    def given_label(self, state: int, found: ALabel) -> int:
        """Return a state for which `depends_on_label` holds, given the class of its label."""
        at = self._states[state]
        assert isinstance(at, _Within)
        return self._number(at._replace(found=found))

    def is_free(self, state: int) -> bool:
        """Return False: no name may be continued by every string."""
        return False

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> LengthBound:
        """Return bounds of the bytes that complete a state."""
        at = self._states[state]
        if isinstance(at, _Plain):
            return self._table.min_remaining(at.table, alphabet)
        return LengthBound(None if at is None else 0, exact=False)

    def _number(self, at: _State) -> int:
        key = type(at), at  # tuples of different classes may be equal
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._states)
            self._states.append(at)
            if isinstance(at, Gate):
                self.gates[number] = at
        return number

    def is_far(self, state: int) -> bool:
        """Return whether no A-label may begin before the next dot, so that `far` reads on with fewer classes."""
        at = self._states[state]
        return isinstance(at, _Plain) and at.read is None

    def row_far(self, state: int) -> list[int]:
        """Return the state after each character class of the table, if no A-label may begin before the next dot."""
        at = self._states[state]
        assert isinstance(at, _Plain)
        following, plain = self._table.row(at.table), self._plain[at.bidi]
        row = [plain[to] if to in plain else self._number_plain(to, at.bidi) for to in following]
        for char_class in self._alphabet.dots_in_table:
            if row[char_class] != DEAD:
                row[char_class] = self._number(self._label(following[char_class], at.bidi))
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
        char_class = alphabet.class_of[_PREFIX[at.read]]
        if at.read + 1 < len(_PREFIX):
            if row[char_class] != DEAD:
                longer = at._replace(table=following[alphabet.in_table[char_class]], read=at.read + 1)
                row[char_class] = self._number(longer)
        else:
            within = self._within(alphabet.after(at.table, 1), at.bidi, at.start, Beginning(0, "", ""))
            row[char_class] = DEAD if within == DEAD else self._number(Gate((within,) * 4, begins=True))
        return row

    def _begin_with_digit(self, row: list[int], at: _Plain, following: list[int]) -> None:
        """Replace the states after digits: of ASCII labels, only those that begin with a digit break the Bidi rule."""
        for digit in digits:
            char_class = self._alphabet.class_of[digit]
            to = following[self._alphabet.in_table[char_class]]
            is_dead = to == DEAD or at.bidi is _Bidi.RIGHT
            row[char_class] = DEAD if is_dead else self._number_plain(to, _Bidi.LEFT)

    def _number_plain(self, table: int, bidi: _Bidi) -> int:
        number = self._plain[bidi][table] = self._number(_Plain(table, bidi))
        return number

    @staticmethod
    def _label(table: int, bidi: _Bidi) -> _Plain:
        """Return the state at which a label begins."""
        return _Plain(table, bidi, 0, table)

    def _ended(self, at: _Within, found: ALabel) -> tuple[int, _Bidi]:
        """Return the state of the table after an A-label of a class, and the constraint of the labels so far."""
        if found is ALabel.INVALID:
            return DEAD, at.bidi
        if found is ALabel.ANYWHERE:
            return at.table, at.bidi
        right = found is ALabel.RIGHT_TO_LEFT
        if self._is_ascii:
            if at.bidi is (_Bidi.LEFT if right else _Bidi.RIGHT):
                return DEAD, at.bidi
            return at.table, _Bidi.RIGHT if right else _Bidi.LEFT
        # The table is in the same state after a U-label and after a label that begins with a digit.
        if right:
            return self._table.step(at.start, self._table.char_classes.of(ord(_ALEF))), at.bidi
        digit = self._table.step(at.start, self._table.char_classes.of(ord("0")))
        return self._alphabet.after(digit, len(_PREFIX) + at.beginning.length - 1), at.bidi

    def _row_within(self, at: _Within) -> list[int]:
        alphabet = self._alphabet
        row = [DEAD] * self.char_classes.size
        table = alphabet.after(at.table, 1)
        of_letters, of_hyphen = (
            self._within(table, at.bidi, at.start, at.beginning.longer(kind)) for kind in ("a", "-")
        )
        for character, char_class in alphabet.class_of.items():
            if character == at.end[:1]:
                found = ALabel.ANYWHERE if len(at.end) == 1 else None
                longer = at.beginning.longer(character)
                row[char_class] = self._number(_Within(table, at.bidi, at.start, longer, at.end[1:], found))
            else:
                row[char_class] = of_hyphen if character == "-" else of_letters
        for char_class in alphabet.dots:
            invalid, *valid = (self._behind(at, found, alphabet.in_table[char_class]) for found in ALabel)
            if at.found is not None:
                row[char_class] = (invalid, *valid)[at.found]
            elif any(to != DEAD for to in valid):
                row[char_class] = self._number(Gate((invalid, valid[0], valid[1], valid[2]), begins=False))
        return row

    def _behind(self, at: _Within, found: ALabel, dot: int) -> int:
        """Return the state after an A-label of a class and a dot."""
        table, bidi = self._ended(at, found)
        to = self._table.step(table, dot) if table != DEAD else DEAD
        return DEAD if to == DEAD else self._number(self._label(to, bidi))

    def _within(self, table: int, bidi: _Bidi, start: int, beginning: Beginning) -> int:
        """Return the state after the beginning of an A-label; `DEAD` if its suffix does not fit."""
        end = end_of(beginning)
        ended = self._alphabet.after(table, len(end)) if table != DEAD else DEAD
        if ended == DEAD or not self._table.accepts(ended):
            return DEAD
        return self._number(_Within(table, bidi, start, beginning, end, None))


class _Far:
    """Host names where no A-label may begin before the next dot, over the character classes of names without A-labels.

    Needless classes take time: with those of A-labels, a mask of host names takes half as long again.
    """

    def __init__(self, names: NamesWithALabels, table: TableAutomaton) -> None:
        self.char_classes: CharacterClasses = table.char_classes
        self.classes: ByteClasses = table.classes
        self.start = names.start
        self.row = names.row_far
        self.accepts = names.accepts
        self.is_free = names.is_free
        self.min_remaining = names.min_remaining

    def step(self, state: int, char_class: int) -> int:
        """Return the state after a character class."""
        return self.row(state)[char_class]


class _Alphabet:
    """The character classes of names with A-labels, and of those without.

    Attributes:
        table: the automaton of names without A-labels.
        char_classes: classes that distinguish each character of an A-label.
        in_table: for each class, the class of the table that it is part of.
        spread: maps a list by class of the table to one by class.
        class_of: the class of each character of an A-label.
        dots: the classes that separate labels.
        dots_in_table: those of the table.
    """

    def __init__(self, name: str, escapes: Escapes) -> None:
        table = table_of(("format", name), escapes)
        own = char_classes_of((CharSet.chars(character) for character in (*_CHARACTERS, DOTS[name])), escapes)
        assert table is not None
        assert own is not None
        common = common_refinement((table.char_classes, own))
        assert common is not None
        self.table: TableAutomaton = table
        self.char_classes, parts = common
        self.in_table = [of_table for of_table, _ in parts]
        self.spread: Callable[[list[int]], tuple[int, ...]] = itemgetter(*self.in_table)
        self.class_of = {character: self.char_classes.of(ord(character)) for character in _CHARACTERS}
        self.dots = sorted({self.char_classes.of(ord(dot)) for dot in DOTS[name]})
        self.dots_in_table = sorted({table.char_classes.of(ord(dot)) for dot in DOTS[name]})
        self._plain_class = self.in_table[self.class_of["a"]]
        self._after: dict[int, int] = {}

    def after(self, state: int, count: int) -> int:
        """Return the state of the table after `count` plain letters."""
        for _ in range(count):
            following = self._after.get(state)
            if following is None:
                following = self._after[state] = self.table.step(state, self._plain_class) if state != DEAD else DEAD
            state = following
        return state


@cache
def _alphabet(name: str, escapes: Escapes) -> _Alphabet:
    return _Alphabet(name, escapes)
