"""Readers of the characters of a pattern: escapes of both dialects, and bracketed classes.

The `python` escapes are those of CPython's `re` (`Lib/re/_parser.py`), and `\\p{…}`. The `ecma` escapes are those of
ECMAScript's u mode (ECMA-262, section 22.2.1). Real JSON Schemas escape more than u mode permits, such as `\\-` and
`\\_`. Where annex B gives such an escape its only sensible meaning, the character itself, it is accepted with a
warning. An escaped letter or digit stays an error: the author of `\\Z` or `\\h` does not mean a letter.

Case folding widens the literals and ranges of a class before the class is negated, so that `(?i)[^k]` contains neither
`K` nor the Kelvin sign. Shorthands and properties are complete already.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, TypeAlias

from engine.grammar import CharSet
from engine.grammar.charset import LAST_CODE_POINT
from engine.notations.regex.dialect import Anchor, Dialect, Flags, fold_of, shorthand
from engine.notations.regex.reader import DIGITS, HEX_DIGITS, OCTAL_DIGITS, RegexReader
from engine.notations.regex.unicode_sets import close_under_case, loose_property, property_suggestion, strict_property
from engine.source import Span, checkpoint
from engine.source.catalogue import catalogue_text

Escape: TypeAlias = int | CharSet | Anchor | None
"""A code point, a complete set, a condition, or `None` after a reported error."""

_SHORTHANDS: Final = frozenset("dDsSwW")
# Escapes of other engines that neither dialect has: the variants of the diagnostic, which say what to write instead.
_FOREIGN: Final[dict[str, str]] = {
    "e": "escape-character",
    "h": "blank",
    "R": "line-break",
    "X": "grapheme",
    "K": "keep",
    "G": "continue",
    "Q": "quoting",
    "E": "quoting",
    "m": "word-start",
    "M": "word-end",
    "i": "xml-name",
    "o": "hexadecimal",
}


def read_escape(reader: RegexReader, flags: Flags, *, in_class: bool) -> Escape:
    """Read an escape; the backslash comes next.

    Args:
        reader: the reader of the pattern.
        flags: the active flags.
        in_class: whether it is a member of a bracketed class.
    """
    read = _read_python_escape if reader.dialect is Dialect.PYTHON else _read_ecma_escape
    return read(reader, flags, in_class=in_class)


def _refuse(reader: RegexReader, start: int, variant: str | None) -> None:
    """Report that the text from `start` is not an escape."""
    key = f"regex-bad-escape.{variant}" if variant else "regex-bad-escape"
    reader.report(key, start, escape=reader.text_since(start))


def _read_hex(reader: RegexReader, start: int, digits: int, form: str) -> int | None:
    """Read an exact number of hexadecimal digits.

    Args:
        reader: the reader of the pattern.
        start: the offset of the backslash.
        digits: the number of digits.
        form: an example for the message.
    """
    read = reader.take_while(HEX_DIGITS, digits)
    if len(read) < digits:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=form)
        return None
    return int(read, 16)


def _within_unicode(reader: RegexReader, start: int, code: int) -> int | None:
    """Return a code point; report it and return None if it is too large."""
    if code <= LAST_CODE_POINT:
        return code
    reader.report("regex-escape-too-large", start, escape=reader.text_since(start), last=f"U+{LAST_CODE_POINT:X}")
    return None


def _read_property(reader: RegexReader, flags: Flags, start: int, *, complement: bool) -> CharSet | None:
    """Read the rest of `\\p{…}` or `\\P{…}`.

    Args:
        reader: the reader of the pattern.
        flags: the active flags.
        start: the offset of the backslash.
        complement: whether it is `\\P`.
    """
    if reader.accept("{"):
        name = reader.take_until("}")
    else:
        name = reader.take() if reader.dialect is Dialect.PYTHON and reader.peek().isalpha() else None
    if name is None:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\p{L}")
        return None
    found = _lookup(name, reader.dialect, flags, complement=complement)
    if found is None:
        similar = property_suggestion(name)
        if similar:
            reader.report("regex-unknown-property.similar", start, name=name, similar=similar)
        else:
            reader.report("regex-unknown-property", start, name=name)
    return found


def _lookup(name: str, dialect: Dialect, flags: Flags, *, complement: bool) -> CharSet | None:
    if dialect is Dialect.PYTHON:
        found = loose_property(name, ignore_case=flags.ignore_case)
        return ~found if found is not None and complement else found
    found = strict_property(name)
    if found is None:
        return None
    # ECMAScript complements first and folds case second: `\P{Lu}` with i matches every letter.
    members = ~found if complement else found
    fold = fold_of(dialect, flags)
    return close_under_case(members, fold) if fold else members


# ---------------------------------------------------------------------- escapes of ECMAScript

_ECMA_CONTROLS: Final = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ECMA_ANCHORS: Final = {"b": Anchor.WORD_BOUNDARY, "B": Anchor.NOT_WORD_BOUNDARY}
_SYNTAX_CHARACTERS: Final = frozenset(r"^$\.*+?()[]{}|/")
_HIGH_SURROGATES: Final = range(0xD800, 0xDC00)
_LOW_SURROGATES: Final = range(0xDC00, 0xE000)
_ECMA_VARIANTS: Final = {
    **_FOREIGN,
    "A": "ecma-text-start",
    "Z": "ecma-text-end",
    "z": "ecma-text-end",
    "a": "ecma-bell",
    "U": "ecma-long",
    "N": "ecma-named",
    "B": "ecma-class-b",
}


def _read_ecma_escape(reader: RegexReader, flags: Flags, *, in_class: bool) -> Escape:
    start = reader.position
    reader.take()
    letter = reader.take()
    if not letter:
        reader.report("regex-trailing-backslash", start)
        return None
    if letter in _SHORTHANDS:
        return shorthand(letter, Dialect.ECMA, flags)
    if letter in _ECMA_ANCHORS and not in_class:
        return _ECMA_ANCHORS[letter]
    if letter in "pP":
        return _read_property(reader, flags, start, complement=letter == "P")
    if letter in DIGITS:
        return _read_nul_or_reference(reader, start, letter, in_class=in_class)
    if letter == "k" and not in_class:
        _refuse_named_reference(reader, start)
        return None
    return _read_ecma_character(reader, start, letter, in_class=in_class)


def _read_ecma_character(reader: RegexReader, start: int, letter: str, *, in_class: bool) -> int | None:
    if letter in _SYNTAX_CHARACTERS or (in_class and letter == "-"):
        return ord(letter)
    if letter in _ECMA_CONTROLS:
        return _ECMA_CONTROLS[letter]
    match letter:
        case "b":
            return ord("\b")
        case "x":
            return _read_hex(reader, start, 2, r"\x41")
        case "u":
            return _read_unicode(reader, start)
        case "c":
            return _read_control(reader, start)
        case _:
            return _read_identity_escape(reader, start, letter)


def _read_identity_escape(reader: RegexReader, start: int, letter: str) -> int | None:
    if letter.isascii() and letter.isalpha():
        _refuse(reader, start, _ECMA_VARIANTS.get(letter))
        return None
    reader.report("regex-needless-escape", start, escape=reader.text_since(start), character=letter)
    return ord(letter)


def _read_unicode(reader: RegexReader, start: int) -> int | None:
    if reader.accept("{"):
        digits = reader.take_while(HEX_DIGITS, len(reader.text))
        if not digits or not reader.accept("}"):
            reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\u{1F600}")
            return None
        return _within_unicode(reader, start, int(digits, 16))
    code = _read_hex(reader, start, 4, r"\u0041")
    if code is not None and code in _HIGH_SURROGATES and reader.accept(r"\u"):
        low_digits = reader.take_while(HEX_DIGITS, 4)
        low = int(low_digits, 16) if len(low_digits) == 4 else 0
        if low in _LOW_SURROGATES:
            return 0x10000 + (code - _HIGH_SURROGATES.start) * 0x400 + (low - _LOW_SURROGATES.start)
        reader.position -= len(r"\u" + low_digits)
    return code


def _read_control(reader: RegexReader, start: int) -> int | None:
    letter = reader.peek()
    if letter.isascii() and letter.isalpha():
        return ord(reader.take()) % 32
    reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\cJ")
    return None


def _read_nul_or_reference(reader: RegexReader, start: int, first: str, *, in_class: bool) -> int | None:
    digits = first + reader.take_while(DIGITS, len(reader.text))
    if digits == "0":
        return 0
    if first == "0" or in_class:
        _refuse(reader, start, "code")
    else:
        reader.report("regex-backreference", start, reference=reader.text_since(start))
    return None


def _refuse_named_reference(reader: RegexReader, start: int) -> None:
    if reader.accept("<") and reader.take_until(">"):
        reader.report("regex-backreference", start, reference=reader.text_since(start))
    else:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\k<name>")


# ---------------------------------------------------------------------- escapes of Python

_PYTHON_CONTROLS: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_PYTHON_ANCHORS: Final = {
    "A": Anchor.TEXT_START,
    "Z": Anchor.TEXT_END,
    "b": Anchor.WORD_BOUNDARY,
    "B": Anchor.NOT_WORD_BOUNDARY,
}
_FORMS: Final = {"x": (2, r"\x41"), "u": (4, r"\u0041"), "U": (8, r"\U00000041")}
_PYTHON_VARIANTS: Final = {
    **_FOREIGN,
    "z": "python-text-end",
    "k": "python-reference",
    "c": "python-control",
}
_LAST_OCTAL: Final = 0o377
_NAMES: Final = {"d": "digits", "w": "words", "s": "spaces"}
_ASCII: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": r" \t\n\r\f\v"}


def _read_python_escape(reader: RegexReader, flags: Flags, *, in_class: bool) -> Escape:
    start = reader.position
    reader.take()
    letter = reader.take()
    if not letter:
        reader.report("regex-trailing-backslash", start)
        return None
    if letter in _SHORTHANDS:
        return _read_shorthand(reader, start, letter, flags, in_class=in_class)
    if letter in _PYTHON_ANCHORS and not in_class:
        return _PYTHON_ANCHORS[letter]
    if letter in _PYTHON_CONTROLS:
        return _PYTHON_CONTROLS[letter]
    if letter in "pP":
        return _read_property(reader, flags, start, complement=letter == "P")
    if letter in DIGITS:
        return _read_octal(reader, start, letter) if in_class else _read_octal_or_reference(reader, start, letter)
    return _read_python_character(reader, start, letter)


def _read_shorthand(reader: RegexReader, start: int, letter: str, flags: Flags, *, in_class: bool) -> CharSet:
    """Return the set of a shorthand; report a hint if it is a Unicode set, which few grammar authors want."""
    characters = shorthand(letter, Dialect.PYTHON, flags)
    if not flags.ascii:
        is_complement = letter.isupper()
        kind = letter.lower()
        members = ~characters if is_complement else characters
        effect = "complement" if is_complement else "class"
        what = catalogue_text(f"diagnostics.fragment.{_NAMES[kind]}")
        instead = _ascii_only(letter, flags, in_class=in_class)
        if instead:
            key = f"regex-unicode-{effect}"
            reader.report(key, start, text=f"\\{letter}", count=len(members), what=what, instead=instead)
        else:
            key = f"regex-unicode-{effect}.in-group"
            reader.report(key, start, text=f"\\{letter}", count=len(members), what=what)
    return characters


def _ascii_only(letter: str, flags: Flags, *, in_class: bool) -> str:
    """Return what matches only the ASCII characters of a shorthand; empty if nothing does within this class."""
    is_complement = letter.isupper()
    kind = letter.lower()
    # With `(?i)`, ranges of letters also match `ı`, `ſ` and the Kelvin sign.
    widens = kind == "w" and flags.ignore_case
    if in_class:
        return "" if is_complement or widens else _ASCII[kind]
    return f"(?a:\\{letter})" if widens else f"[{'^' * is_complement}{_ASCII[kind]}]"


def _read_python_character(reader: RegexReader, start: int, letter: str) -> int | None:
    if letter in _FORMS:
        code = _read_hex(reader, start, *_FORMS[letter])
        return None if code is None else _within_unicode(reader, start, code)
    if letter == "N":
        return _read_name(reader, start)
    if letter.isascii() and letter.isalpha():
        _refuse(reader, start, _PYTHON_VARIANTS.get(letter))
        return None
    return ord(letter)


def _read_name(reader: RegexReader, start: int) -> int | None:
    name = reader.take_until("}") if reader.accept("{") else None
    if not name:
        reader.report("regex-incomplete-escape", start, escape=reader.text_since(start), form=r"\N{EM DASH}")
        return None
    try:
        return ord(unicodedata.lookup(name))
    # a name may belong to a sequence of characters, and a surrogate has none
    except (KeyError, TypeError, UnicodeEncodeError):
        reader.report("regex-unknown-character-name", start, name=name)
        return None


def _read_octal(reader: RegexReader, start: int, first: str) -> int | None:
    if first not in OCTAL_DIGITS:
        _refuse(reader, start, "octal")
        return None
    return _octal(reader, start, first + reader.take_while(OCTAL_DIGITS, 2))


def _octal(reader: RegexReader, start: int, digits: str) -> int | None:
    code = int(digits, 8)
    if code <= _LAST_OCTAL:
        return code
    reader.report("regex-escape-too-large.octal", start, escape=reader.text_since(start))
    return None


def _read_octal_or_reference(reader: RegexReader, start: int, first: str) -> int | None:
    # `\0` and three octal digits are a character; everything else refers to a group.
    if first == "0":
        return _octal(reader, start, first + reader.take_while(OCTAL_DIGITS, 2))
    number = first + reader.take_while(DIGITS, 1)
    if len(number) == 2 and set(number) <= OCTAL_DIGITS and reader.peek() in OCTAL_DIGITS:
        return _octal(reader, start, number + reader.take())
    known = int(number) <= reader.groups_opened
    reader.report("regex-backreference" if known else "regex-bad-reference", start, reference=reader.text_since(start))
    return None


# ---------------------------------------------------------------------- bracketed classes

_Member: TypeAlias = int | CharSet | None

_POSIX: Final = re.compile(r"\[:\^?([a-z]+):\]")
_INSTEAD_OF_POSIX: Final = {
    "alnum": r"[\p{L}\p{Nd}]",
    "alpha": r"\p{L}",
    "ascii": r"[\x00-\x7f]",
    "blank": r"[ \t]",
    "cntrl": r"\p{Cc}",
    "digit": r"\d",
    "graph": r"[^\s\p{C}]",
    "lower": r"\p{Ll}",
    "print": r"[^\p{C}]",
    "punct": r"\p{P}",
    "space": r"\s",
    "upper": r"\p{Lu}",
    "word": r"\w",
    "xdigit": r"[0-9A-Fa-f]",
}
_OPERATOR: Final = re.compile(r"(--)\[|(&&)(?!&)")
_OPERATORS: Final = {"--": "difference", "&&": "intersection"}
_DASH: Final = ord("-")


class _Members:
    """The members of a class: code points that case folding widens, and sets that it does not."""

    def __init__(self) -> None:
        self._foldable: list[tuple[int, int]] = []
        self._complete: list[tuple[int, int]] = []

    def add(self, member: _Member) -> None:
        if isinstance(member, int):
            self._foldable.append((member, member))
        elif member is not None:
            self._complete.extend(member.ranges)

    def add_range(self, low: int, high: int) -> None:
        self._foldable.append((low, high))

    def closed(self, dialect: Dialect, flags: Flags) -> CharSet:
        fold = fold_of(dialect, flags)
        if fold is None:
            return CharSet.of((*self._foldable, *self._complete))
        return CharSet.of((*close_under_case(CharSet.of(self._foldable), fold).ranges, *self._complete))


def read_class(reader: RegexReader, flags: Flags) -> CharSet | None:
    """Read a class; its `[` comes next.

    Args:
        reader: the reader of the pattern.
        flags: the active flags.

    Returns:
        The set, or `None` if the class is not closed, which is reported.
    """
    start = reader.position
    _warn_of_posix(reader)
    reader.take()
    negated = reader.accept("^")
    opening = reader.since(start)
    members = _Members()
    # A leading `]` is a member in Python; in ECMAScript it makes an empty or a full class.
    first = reader.dialect is Dialect.PYTHON
    while first or not reader.accept("]"):
        checkpoint()
        if reader.at_end:
            reader.findings.add("regex-unclosed-class", opening, opening=reader.text[opening.start : opening.end])
            reader.abandon()
            return None
        _warn_of_operators(reader, first=first)
        _read_item(reader, members, flags)
        first = False
    characters = members.closed(reader.dialect, flags)
    return ~characters if negated else characters


def _read_item(reader: RegexReader, members: _Members, flags: Flags) -> None:
    start = reader.position
    low = _read_member(reader, flags)
    if reader.peek() != "-" or reader.peek(1) in {"]", ""}:
        members.add(low)
        return
    reader.take()
    high = _read_member(reader, flags)
    text = reader.text_since(start)
    if isinstance(low, int) and isinstance(high, int):
        if low <= high:
            members.add_range(low, high)
            _warn_of_letter_range(reader, start, text)
        else:
            reader.report("regex-reversed-range", start, range=text)
    elif low is not None and high is not None:
        # ECMAScript's annex B reads a dash beside a set as a literal; `re` refuses it.
        is_ecma = reader.dialect is Dialect.ECMA
        reader.report("regex-dash-after-set" if is_ecma else "regex-bad-range", start, range=text)
        for member in (low, _DASH, high):
            members.add(member)


def _read_member(reader: RegexReader, flags: Flags) -> _Member:
    if reader.peek() == "\\":
        escape = read_escape(reader, flags, in_class=True)
        return None if isinstance(escape, Anchor) else escape
    _warn_of_posix(reader)
    return ord(reader.take())


def _warn_of_posix(reader: RegexReader) -> None:
    match = _POSIX.match(reader.text, reader.position) if reader.peek() == "[" else None
    if match and match[1] in _INSTEAD_OF_POSIX:
        reader.findings.add(
            "regex-posix-class", Span(*match.span()), text=match[0], instead=_INSTEAD_OF_POSIX[match[1]]
        )


def _warn_of_operators(reader: RegexReader, *, first: bool) -> None:
    if first or reader.peek() not in {"-", "&"}:
        return
    match = _OPERATOR.match(reader.text, reader.position)
    if match:
        operator = match[1] or match[2]
        span = Span(match.start(), match.start() + len(operator))
        reader.findings.add(f"regex-class-operator.{_OPERATORS[operator]}", span, operator=operator)


def _warn_of_letter_range(reader: RegexReader, start: int, text: str) -> None:
    if len(text) == 3 and "A" <= text[0] <= "Z" and "a" <= text[2] <= "z":
        reader.report("regex-letter-range", start, range=text, instead=f"{text[0]}-Za-{text[2]}")
