"""Host names with A-labels: `xn--` and the Punycode of an internationalized label (RFC 5890, section 2.3.2.1).

Whether an A-label is valid depends on what Punycode (RFC 3492) decodes it to,
so each beginning of one is a state of its own, of which no automaton has so many.
But hardly one is a dead end: a hyphen makes plain letters of all that came before
it, and what follows the hyphen only has to say where other letters are put among
them. How long such an end is depends on how many characters there are and on
where hyphens stand in front and last. So here states count, each with an end that
is known to complete it, and `is_a_label` looks at the text where a label ends: at
such a place stands a `Gate`. Who reads the text asks there (see `host_names`).

The rest of a name is read by the automaton of names without A-labels, for which
an A-label is so many plain letters.

Narrower than the standard: labels whose known end would not fit in 63 characters
are refused, unless they are such an end. Most beginnings need four characters,
those with a hyphen at either edge up to eight, so whatever has no more than 55
is read, and mostly 59. And an A-label is in lower case here, `xn--` included.

Rejected: each beginning as a state. Behind `xn--` a mask over the 131,072 tokens of
tekken meets 30,325 of them, which is seconds and gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from operator import itemgetter
from string import ascii_lowercase, digits
from typing import Final, NamedTuple, TypeAlias

from engine.automata.byte_classes import ByteClasses
from engine.automata.distance import Alphabet, Remaining
from engine.automata.json.strings.letters import Letters, common_letters, letters_of
from engine.automata.json.strings.spelling import Escapes
from engine.automata.json.strings.tables import TableAutomaton, table_of
from engine.automata.runtime import DEAD
from engine.grammar import CharSet

DOTS: Final = {"hostname": ".", "idn-hostname": "\u002e\u3002\uff0e\uff61"}
"""The formats that hold A-labels, each with what separates labels there."""

LONGEST_NAME: Final = 253

_PREFIX: Final = "xn--"
_CHARACTERS: Final = ascii_lowercase + digits + "-"
_HEAD: Final = 4  # so many characters of a label are looked at for hyphens
_ADDED: Final = "\u00df"  # a letter that stands anywhere in a label, the first one beyond ASCII
_MOST_IN_FRONT: Final = 3


def is_a_label(encoded: str) -> bool:
    """Whether `xn--` makes the A-label of a valid U-label of what stands behind it, which is in lower case."""
    from idna import IDNAError, check_label  # which takes long to import, and is seldom asked for

    try:
        decoded = encoded.encode("ascii").decode("punycode")
        check_label(decoded)
    except (UnicodeError, IDNAError):
        return False
    return not decoded.isascii() and decoded.encode("punycode").decode("ascii") == encoded


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
    """What makes an A-label of each such beginning: it becomes plain letters, with some others before and behind."""
    text = beginning.text
    for front, behind in sorted(product(range(_MOST_IN_FRONT + 1), range(2)), key=sum)[1:]:
        label = _ADDED * front + text + _ADDED * behind
        if label[0] != "-" != label[-1] and label[2:4] != "--":
            return label.encode("punycode").decode("ascii")[len(text) :]
    raise AssertionError(beginning)


class _Plain(NamedTuple):
    """Outside of A-labels.

    Attributes:
        table: the state of the automaton without A-labels.
        read: how much of the `xn--` of a label was read; None where something else was.
    """

    table: int
    read: int | None


class _Within(NamedTuple):
    """Behind the `xn--` of an A-label.

    Attributes:
        table: the state of the automaton without A-labels behind as many letters.
        beginning: what was read of the label.
        end: what completes it.
        valid: whether it is one as it is; None where that was not looked at.
    """

    table: int
    beginning: Beginning
    end: str
    valid: bool | None


class Gate(NamedTuple):
    """Where the text decides.

    Attributes:
        to: the state behind it.
        begins: whether an A-label begins there. Otherwise one ends, which has to be valid.
    """

    to: int
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
        self.letters: Letters = self._alphabet.letters
        self.classes: ByteClasses = self.letters.classes
        self._states: list[_State | None] = [None]
        self._ids: dict[tuple[type[_State], _State], int] = {}
        self.gates: dict[int, Gate] = {}
        self._plain = {DEAD: DEAD}  # where no `xn--` may come, by the state of the table
        self.start = self._number(_Plain(self._table.start, 0))
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
            return bool(at.valid) and self._table.accepts(at.table)
        return isinstance(at, _Plain) and self._table.accepts(at.table)

    def asks(self, state: int) -> bool:
        """Whether the name may end here if the A-label is one that stands here."""
        at = self._states[state]
        return isinstance(at, _Within) and at.valid is None and self._table.accepts(at.table)

    def is_within(self, state: int) -> bool:
        """Whether an A-label stands here."""
        return isinstance(self._states[state], _Within)

    def told(self, state: int, *, valid: bool) -> int:
        """A state that asks, with the answer."""
        at = self._states[state]
        assert isinstance(at, _Within)
        return self._number(at._replace(valid=valid))

    def is_free(self, state: int) -> bool:
        """Never: no format ends in any string."""
        return False

    def remaining(self, state: int, alphabet: Alphabet = None) -> Remaining:
        """What a state lacks, in bytes."""
        at = self._states[state]
        if isinstance(at, _Plain):
            return self._table.remaining(at.table, alphabet)
        return Remaining(None if at is None else 0, exact=False)

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
        following, plain = self._table.row(at.table), self._plain
        row = [plain[to] if to in plain else self._number_plain(to) for to in following]
        for letter in self._alphabet.dots_in_table:
            if row[letter] != DEAD:
                row[letter] = self._number(_Plain(following[letter], 0))
        return row

    def _row_outside(self, at: _Plain) -> list[int]:
        alphabet = self._alphabet
        row = list(alphabet.spread(self.row_far(self._ids[_Plain, at])))
        if at.read is None:
            return row
        following = self._table.row(at.table)
        letter = alphabet.letter_of[_PREFIX[at.read]]
        if at.read + 1 < len(_PREFIX):
            if row[letter] != DEAD:
                row[letter] = self._number(_Plain(following[alphabet.in_table[letter]], at.read + 1))
        else:
            within = self._within(alphabet.after(at.table, 1), Beginning(0, "", ""))
            row[letter] = DEAD if within == DEAD else self._number(Gate(within, begins=True))
        return row

    def _number_plain(self, table: int) -> int:
        number = self._plain[table] = self._number(_Plain(table, None))
        return number

    def _row_within(self, at: _Within) -> list[int]:
        alphabet = self._alphabet
        row = [DEAD] * self.letters.size
        table = alphabet.after(at.table, 1)
        of_letters, of_hyphen = (self._within(table, at.beginning.longer(kind)) for kind in "a-")
        for character, letter in alphabet.letter_of.items():
            if character == at.end[:1]:
                valid = True if len(at.end) == 1 else None
                row[letter] = self._number(_Within(table, at.beginning.longer(character), at.end[1:], valid))
            else:
                row[letter] = of_hyphen if character == "-" else of_letters
        if at.valid is not False:
            for letter in alphabet.dots:
                to = self._table.step(at.table, alphabet.in_table[letter])
                if to != DEAD:
                    behind = self._number(_Plain(to, 0))
                    row[letter] = behind if at.valid else self._number(Gate(behind, begins=False))
        return row

    def _within(self, table: int, beginning: Beginning) -> int:
        """The state behind the beginning of an A-label; `DEAD` where its end does not fit."""
        end = end_of(beginning)
        ended = self._alphabet.after(table, len(end)) if table != DEAD else DEAD
        if ended == DEAD or not self._table.accepts(ended):
            return DEAD
        return self._number(_Within(table, beginning, end, None))


class _Far:
    """Host names where no A-label may begin before the next dot, over the letters of names that have none.

    Letters that make no difference take time: with those of A-labels, a mask of host names takes half as long again.
    """

    def __init__(self, names: NamesWithALabels, table: TableAutomaton) -> None:
        self.letters: Letters = table.letters
        self.classes: ByteClasses = table.classes
        self.start = names.start
        self.row = names.row_far
        self.accepts = names.accepts
        self.is_free = names.is_free
        self.remaining = names.remaining

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
