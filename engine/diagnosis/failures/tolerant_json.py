"""A reader of JSON as models write it: it goes on behind a trailing comma, a code fence or a `NaN`, and lists them.

Each deviation from RFC 8259 is a defect with the edits that remove it. The values keep their positions, so that
violations of a schema can be shown in the output. A text that ends early is read up to its end.

Rejected: a library that repairs JSON. It would return a value without positions and without the reasons.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from engine.diagnosis.failures.diagnosis import TextEdit
from engine.schema_automaton.formula.values import HugeNumber, number
from engine.source.json_scanner import JSON_NUMBER

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})[\w+.-]*[ \t]*(?:\r?\n|\Z)")
_CLOSING_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})\s*\Z")
_BARE_KEY: Final = re.compile(r"[^\W\d][\w$-]*")
_BARE_TEXT: Final = re.compile(r"[A-Za-z][\w .-]*(?=[,}\]\n])")
_WORD: Final = re.compile(r"[A-Za-z]+")
_OTHER_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|inf|NaN|nan)\b|[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d*)?")
_NOT_NUMBERS: Final = frozenset(("nan", "infinity", "inf"))
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONTROL_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_WORDS_FOLLOW: Final = re.compile(r"[ \t]*(?!(?:true|false|null)\b)[^\W\d_]")
_STRING_END: Final = re.compile(r'\s*(?:[:}\]]|\Z|,\s*(?:["{\[}\]\d-]|\Z|(?:true|false|null)\b))')
_LAST_QUOTE: Final = re.compile(r'(?<!\\)"' + _STRING_END.pattern)
_LONGEST_QUOTED: Final = 4_000  # characters in which the end of a string with a quote in it is searched
_QUOTES: Final = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}
_DEPTH: Final = 400


@dataclass(eq=False, slots=True)
class OutputValue:
    """A JSON value of an output.

    Attributes:
        value: None, a boolean, a number, a string, a list of values or a dict of them.
        start, end: its part of the text, in code points.
        keys: the spans of an object's keys.
        is_open: whether the text ends inside it.
        is_number_missing: whether it is `NaN` or an infinity.
    """

    value: bool | Fraction | HugeNumber | str | list[OutputValue] | dict[str, OutputValue] | None
    start: int
    end: int
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    is_open: bool = False
    is_number_missing: bool = False

    def plain(self) -> object:
        """Return the value without positions."""
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {name: item.plain() for name, item in self.value.items()}
        return self.value


@dataclass(frozen=True, slots=True)
class JsonDefect:
    """A deviation from JSON.

    Attributes:
        kind: its id, such as `trailing-comma`.
        start, end: the part of the text, in code points.
        edits: the changes that remove it.
    """

    kind: str
    start: int
    end: int
    edits: tuple[TextEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOutput:
    """An output as a JSON value.

    Attributes:
        root: the first value; None if there is none.
        defects: the deviations from JSON, in the order of the text.
        end: the end of the first value.
        broken_at: where the reader had to stop; None if it read everything.
        repaired: the text without the defects.
    """

    root: OutputValue | None
    defects: tuple[JsonDefect, ...]
    end: int
    broken_at: int | None
    repaired: str


def apply_edits(text: str, edits: tuple[TextEdit, ...] | list[TextEdit]) -> str:
    """Return a text with edits applied; an edit that overlaps an earlier one is left out."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start >= at:
            parts += [text[at : edit.start], edit.new]
            at = edit.end
    return "".join((*parts, text[at:]))


def read_output(text: str) -> ReadOutput:
    """Read an output as JSON, whatever is wrong in it."""
    reader = _Reader(text)
    root = reader.run()
    defects = tuple(sorted(reader.defects, key=lambda one: one.start))
    edits = [edit for defect in defects for edit in defect.edits]
    return ReadOutput(root, defects, reader.first_end, reader.broken_at, apply_edits(text, edits))


class _StopError(Exception):
    """The text cannot be read further."""


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0
        self._size = len(text)
        self.defects: list[JsonDefect] = []
        self.broken_at: int | None = None
        self.first_end = 0

    def run(self) -> OutputValue | None:
        opening = _FENCE.match(self._text)
        if opening is not None:
            self._at = opening.end()
            self._defect("code-fence", opening.start(1), opening.end(), TextEdit(0, opening.end(), ""))
            closing = _CLOSING_FENCE.search(self._text, self._at)
            if closing is not None:
                self._size = closing.start()
                self._defect("code-fence", closing.start(), closing.end(), TextEdit(self._size, len(self._text), ""))
        elif self._text.startswith("\ufeff"):
            self._at = 1
            self._defect("byte-order-mark", 0, 1, TextEdit(0, 1, ""))
        root = self._first()
        self.first_end = self._at
        if root is not None and self.broken_at is None and not root.is_open:
            self._further_values()
        return root

    def _first(self) -> OutputValue | None:
        try:
            self._skip()
            return self._value()
        except _StopError:
            self.broken_at = self._at
            return None

    def _further_values(self) -> None:
        """Read the values behind the first; text that is none stops the reader."""
        end, known = self._at, len(self.defects)
        try:
            self._skip()
            while self._at < self._size:
                if self._peek() in ",;":
                    self._at += 1
                self._skip()
                self._further_value()
                self._skip()
        except _StopError:
            self.broken_at = end
            del self.defects[known:]
            return
        del self.defects[known:]
        if self._text[end : self._size].strip():
            self._defect("second-value", end, self._size, TextEdit(end, self._size, ""))

    def _further_value(self) -> None:
        if self._peek() not in '{["0123456789-':
            raise _StopError
        self._value()

    # --- pieces

    def _defect(self, kind: str, start: int, end: int, *edits: TextEdit) -> None:
        self.defects.append(JsonDefect(kind, start, end, edits))

    def _peek(self) -> str:
        return self._text[self._at] if self._at < self._size else ""

    def _skip(self) -> None:
        while True:
            match = _BLANKS.match(self._text, self._at, self._size)
            self._at = match.end() if match else self._at
            comment = _COMMENT.match(self._text, self._at, self._size) if self._peek() == "/" else None
            if comment is None:
                return
            self._defect("comment", comment.start(), comment.end(), TextEdit(comment.start(), comment.end(), ""))
            self._at = comment.end()

    def _value(self) -> OutputValue:
        first, start = self._peek(), self._at
        if not first:
            raise _StopError
        if first in "{[":
            if self._depth >= _DEPTH:
                raise _StopError
            self._depth += 1
            made = self._object() if first == "{" else self._array()
            self._depth -= 1
            return made
        if first in _QUOTES:
            text, is_open = self._string()
            return OutputValue(text, start, self._at, is_open=is_open)
        return self._number() if first in "+-.0123456789NIi" or self._text.startswith("nan", start) else self._word()

    def _word(self) -> OutputValue:
        start = self._at
        match = _WORD.match(self._text, start, self._size)
        if match is None:
            raise _StopError
        word = match[0]
        if word in _WORDS:
            self._at = match.end()
            return OutputValue(_WORDS[word], start, self._at)
        if word in _PYTHON_WORDS:
            self._at = match.end()
            right = _PYTHON_WORDS[word]
            self._defect("python-literal", start, self._at, TextEdit(start, self._at, right))
            return OutputValue(_WORDS[right], start, self._at)
        known = next((one for one in _WORDS if one.startswith(word)), None)
        if match.end() < self._size and self._depth and (bare := _BARE_TEXT.match(self._text, start, self._size)):
            self._at = start + len(bare[0].rstrip())
            text = bare[0].rstrip()
            self._defect("unquoted-string", start, self._at, TextEdit(start, self._at, f'"{text}"'))
            return OutputValue(text, start, self._at)
        if known is None or match.end() < self._size:
            raise _StopError
        self._at = match.end()
        return OutputValue(_WORDS[known], start, self._at, is_open=True)

    def _number(self) -> OutputValue:
        start = self._at
        match = JSON_NUMBER.match(self._text, start, self._size)
        other = _OTHER_NUMBER.match(self._text, start, self._size)
        if other is None or not other[0]:
            if self._peek() == "-" and start + 1 == self._size:
                self._at += 1
                return OutputValue(Fraction(0), start, self._at, is_open=True)
            return self._word()
        if match is not None and match.end() >= other.end():
            self._at = match.end()
            return OutputValue(number(match[0]), start, self._at, is_open=self._at == self._size and self._depth > 0)
        self._at = other.end()
        written = other[0]
        if written.lstrip("+-").lower() in _NOT_NUMBERS:
            self._defect("nan", start, self._at, TextEdit(start, self._at, "null"))
            return OutputValue(None, start, self._at, is_number_missing=True)
        if self._at == self._size and re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.|\.?\d*[eE][+-]?)", written):
            return OutputValue(Fraction(0), start, self._at, is_open=True)
        plain = _plain_number(written)
        self._defect("bad-number", start, self._at, TextEdit(start, self._at, plain))
        return OutputValue(number(plain), start, self._at)

    def _string(self) -> tuple[str, bool]:
        text, start = self._text, self._at
        quote = _QUOTES[text[start]]
        is_plain = text[start] == '"'
        edits = [] if is_plain else [TextEdit(start, start + 1, '"')]
        inner: list[TextEdit] = []
        self._at += 1
        parts: list[str] = []
        while self._at < self._size:
            char = text[self._at]
            if char == quote and is_plain and self._is_inner_quote(bool(inner)):
                inner.append(TextEdit(self._at, self._at + 1, '\\"'))
                parts.append(char)
                self._at += 1
                continue
            if char == quote and (is_plain or self._ends_string()):
                self._at += 1
                if not is_plain:
                    edits.append(TextEdit(self._at - 1, self._at, '"'))
                    self._defect("single-quotes", start, self._at, *edits)
                if inner:
                    self._defect("unescaped-quote", inner[0].start, inner[0].end, *inner)
                return _joined(parts), False
            if char == "\\":
                parts.append(self._escape(is_plain, edits))
                continue
            if char < " ":
                kind = "raw-newline" if char in "\r\n" else "raw-control"
                written = _CONTROL_ESCAPES.get(char, f"\\u{ord(char):04x}")
                self._defect(kind, self._at, self._at + 1, TextEdit(self._at, self._at + 1, written))
            elif char == '"' and not is_plain:
                edits.append(TextEdit(self._at, self._at + 1, '\\"'))
            parts.append(char)
            self._at += 1
        if not is_plain:
            self._defect("single-quotes", start, self._at, *edits)
        return _joined(parts), True

    def _ends_string(self) -> bool:
        """Return whether a quote that JSON does not know ends a string: punctuation follows, or nothing."""
        following = self._text[self._at + 1 : self._size].lstrip()
        return not following or following[0] in ",:}]"

    def _is_inner_quote(self, is_known: bool) -> bool:
        """Return whether a quote is text of its string: words follow it, and later a quote that ends the string.

        Args:
            is_known: whether the string has such a quote already.
        """
        at = self._at + 1
        if not is_known and _WORDS_FOLLOW.match(self._text, at, self._size) is None:
            return False
        if is_known and _STRING_END.match(self._text, at, self._size) is not None:
            return False
        return _LAST_QUOTE.search(self._text, at, min(self._size, at + _LONGEST_QUOTED)) is not None

    def _escape(self, is_plain: bool, edits: list[TextEdit]) -> str:
        text, at = self._text, self._at
        kind = text[at + 1 : at + 2]
        if kind in _ESCAPES and kind:
            self._at += 2
            return _ESCAPES[kind]
        digits = re.compile(r"[0-9a-fA-F]{0,4}").match(text, at + 2, self._size) if kind == "u" else None
        if digits is not None and (len(digits[0]) == 4 or digits.end() == self._size):
            self._at = digits.end()
            return chr(int(digits[0], 16)) if len(digits[0]) == 4 else ""
        if not kind or at + 1 >= self._size:
            self._at = self._size
            return ""
        self._at += 2
        if kind == "'" and not is_plain:
            edits.append(TextEdit(at, at + 2, "'"))
        else:
            self._defect("bad-escape", at, at + 2, TextEdit(at, at + 1, "\\\\"))
        return kind

    def _object(self) -> OutputValue:
        made = OutputValue({}, self._at, self._at)
        assert isinstance(made.value, dict)
        self._at += 1
        self._skip()
        comma: int | None = None
        while (here := self._peek()) != "}":
            if not here:
                return self._opened(made)
            if made.value and comma is None:
                self._missing_comma()
            key_start = self._at
            if here in _QUOTES:
                key, is_open = self._string()
                if is_open:
                    return self._opened(made)
            elif bare := _BARE_KEY.match(self._text, self._at, self._size):
                key, self._at = bare[0], bare.end()
                self._defect("unquoted-key", key_start, self._at, TextEdit(key_start, self._at, f'"{key}"'))
            else:
                raise _StopError
            key_span = key_start, self._at
            self._skip()
            if not self._peek():
                return self._opened(made)
            if self._peek() != ":":
                raise _StopError
            self._at += 1
            self._skip()
            if not self._peek():
                return self._opened(made)
            value = self._value()
            if key in made.value and comma is not None:
                self._defect("duplicate-key", *key_span, TextEdit(comma, self._at, ""))
            else:
                made.value[key] = value
                made.keys[key] = key_span
            if value.is_open and self._at == self._size:
                return self._opened(made)
            comma = self._comma()
        return self._closed(made, comma)

    def _array(self) -> OutputValue:
        made = OutputValue([], self._at, self._at)
        assert isinstance(made.value, list)
        self._at += 1
        self._skip()
        comma: int | None = None
        while (here := self._peek()) != "]":
            if not here:
                return self._opened(made)
            if made.value and comma is None:
                self._missing_comma()
            value = self._value()
            made.value.append(value)
            if value.is_open and self._at == self._size:
                return self._opened(made)
            comma = self._comma()
        return self._closed(made, comma)

    def _closed(self, made: OutputValue, comma: int | None) -> OutputValue:
        """Skip the closing bracket of an object or array, and report a comma before it."""
        self._at += 1
        made.end = self._at
        if comma is not None:
            self._defect("trailing-comma", comma, comma + 1, TextEdit(comma, comma + 1, ""))
        return made

    def _missing_comma(self) -> None:
        if self._peek() not in "\"'{[-" and not self._peek().isalnum():
            raise _StopError
        at = len(self._text[: self._at].rstrip())
        self._defect("missing-comma", at, at, TextEdit(at, at, ","))

    def _comma(self) -> int | None:
        """Skip white space and one comma; return its position, or None."""
        self._skip()
        if self._peek() != ",":
            return None
        comma = self._at
        self._at += 1
        self._skip()
        return comma

    def _opened(self, made: OutputValue) -> OutputValue:
        self._at = made.end = self._size
        made.is_open = True
        return made


def _joined(parts: list[str]) -> str:
    value = "".join(parts)
    if any("\ud800" <= part <= "\udfff" for part in parts):  # two surrogates make one character
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _plain_number(written: str) -> str:
    """Return a number that is not JSON in JSON's form."""
    sign = "-" if written.startswith("-") else ""
    digits = written.lstrip("+-").replace("_", "")
    whole, mark, exponent = digits.partition("e") if "e" in digits else digits.partition("E")
    before, _, after = whole.partition(".")
    plain = sign + (before.lstrip("0") or "0") + (f".{after}" if after else "")
    return plain + (mark + exponent if exponent.lstrip("+-") else "")
