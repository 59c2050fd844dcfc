"""A JSON text as a tree whose parts know their source spans.

The `json` module parses what it can, many times faster than Python code; spans are computed on first use by a parser of
the lexer's tokens, which reads the text again. That parser also explains syntax errors, and handles what the module
does not: duplicate keys, and deep nesting, for which it needs no call stack.

A part stores its value and its number; the numbers of parents are in a list. So no part refers back to itself, and an
unused tree is freed at once instead of by the next garbage collection.

Rejected: the parser in Python alone. Most schemas compile without a finding, and it took a quarter of the compile time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, Final, TypeAlias

from engine.notations.json_schema.lexer import json_tokens
from engine.schema_automaton.formula.values import (
    FALSE,
    NULL,
    TRUE,
    ArrayValue,
    HugeNumber,
    ObjectValue,
    Value,
    number,
)
from engine.source import Diagnostic, SourceText, Span, checkpoint, counted_cache, diagnostic
from engine.source.json_pointer import escape_step
from engine.source.json_scanner import JSON_NUMBER

_BLANKS: Final = " \t\n\r"
_OTHER_SPACE: Final = re.compile(r"[^\S \t\n\r]")
_CONTENT: Final = re.compile(r'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+')
_ESCAPED: Final = re.compile(r"\\(u.{4}|.)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JsonTextError(Exception):
    """The text is not JSON, or nested too deeply; the diagnostic says why."""

    def __init__(self, found: Diagnostic) -> None:
        super().__init__(found.message)
        self.diagnostic = found


class Json:
    """A JSON value in a text; compared by identity.

    Attributes:
        value: None, a boolean, a number, a string; a list of parts for an array; a dict of them for an object.
        number: its number among the parts of the text; the root's is 0.
    """

    __slots__ = ("_text", "number", "value")

    def __init__(self, value: Content, number: int, text: JsonText) -> None:
        self.value = value
        self.number = number
        self._text = text

    @property
    def identity(self) -> object:
        """A value that identifies the part among all parts and keys of the text."""
        return self.number

    @property
    def span(self) -> Span:
        """The source span."""
        return self._text.places[self.number][0]

    @property
    def key_spans(self) -> dict[str, Span]:
        """The spans of an object's keys."""
        return self._text.places[self.number][1]

    @property
    def duplicate_keys(self) -> Sequence[Span]:
        """The spans of an object's duplicate keys."""
        return self._text.doubled.get(self.number, ())

    @property
    def ancestors(self) -> Iterator[int]:
        """The number of this part, then those of its ancestors up to the root."""
        here, above = self.number, self._text.above
        while here >= 0:
            yield here
            here = above[here]

    @property
    def pointer(self) -> str:
        """The JSON Pointer (RFC 6901); empty for the root."""
        steps = [str(self._text.steps[number]) for number in self.ancestors if number]
        return "".join("/" + escape_step(step) for step in reversed(steps))

    @property
    def members(self) -> dict[str, Json]:
        """The members of an object; empty for other values."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[Json]:
        """The items of an array; empty for other values."""
        return self.value if isinstance(self.value, list) else []

    def to_value(self) -> Value:
        """Return the value without source spans."""
        value = self.value
        if value is None:
            return NULL
        if isinstance(value, bool):
            return TRUE if value else FALSE
        if isinstance(value, list):
            return ArrayValue(tuple(item.to_value() for item in value))
        if isinstance(value, dict):
            members = {name: item.to_value() for name, item in value.items()}
            return ObjectValue(frozenset(members.items()), tuple(members))
        return value


Content: TypeAlias = "bool | Fraction | HugeNumber | str | list[Json] | dict[str, Json] | None"


class Key:
    """The key of a member, as a source location."""

    __slots__ = ("_holder", "_name")

    def __init__(self, holder: Json, name: str) -> None:
        self._holder, self._name = holder, name

    @property
    def holder(self) -> Json:
        """The object that contains it."""
        return self._holder

    @property
    def identity(self) -> object:
        """A value that identifies the key among all parts and keys of the text."""
        return self._holder.number, self._name

    @property
    def span(self) -> Span:
        """The source span."""
        return self._holder.key_spans[self._name]

    @property
    def ancestors(self) -> Iterator[int]:
        """The numbers of its object and the object's ancestors, up to the root."""
        return self._holder.ancestors

    @property
    def pointer(self) -> str:
        """The JSON Pointer of its member."""
        return self._holder.members[self._name].pointer


def pointer_to(place: object) -> str:
    """Return the JSON Pointer of a location, in words."""
    return (place.pointer if isinstance(place, Json | Key) else "") or "the schema"


def read_json(text: str, nesting: int | None = None) -> Json:
    """Parse a JSON text.

    Args:
        text: the text.
        nesting: the largest nesting depth of objects and arrays; None for any.

    Raises:
        JsonTextError: it is not JSON, or nested too deeply.
    """
    reader = JsonText(text)
    if _is_shallow(text, nesting):
        try:
            return reader.tree(_DECODER.decode(text))
        except json.JSONDecodeError as error:
            reader.explain_error(error.pos)
        except ValueError:
            pass  # the other parser explains errors and handles unusual texts
    return reader.read(nesting)


_HOLDERS: Final = (dict, list)

_Location: TypeAlias = tuple[Span, dict[str, Span]]
"""The span of a part, and those of an object's keys."""


class JsonText:
    """Parses a text, and holds the positions of its parts.

    Attributes:
        above: for each part, by number, the number of its parent; -1 for the root.
        steps: for each part, its key or index.
        doubled: for objects with duplicate keys, their spans.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.above: list[int] = [-1]
        self.steps: list[str | int] = [""]
        self.doubled: dict[int, Sequence[Span]] = {}
        self._places: list[_Location] | None = None

    def tree(self, plain: Any) -> Json:
        """Return the root of a value that the `json` module has parsed."""
        above, steps = self.above, self.steps
        root = Json(plain, 0, self)
        todo = [(plain, 0)] if isinstance(plain, dict | list) else []
        while todo:
            value, holder = todo.pop()
            checkpoint(1 + len(value))
            number = len(above)
            above += [holder] * len(value)
            steps += value if isinstance(value, dict) else range(len(value))
            for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
                value[step] = Json(inner, number, self)
                if isinstance(inner, _HOLDERS):
                    todo.append((inner, number))
                number += 1
        return root

    def explain_error(self, at: int) -> None:
        """Parse the tokens around the place where the `json` module has found the first error.

        Raises:
            JsonTextError: the error, as `read` raises it, which parses the text before it, too.
        """
        start = _after_last_bracket(self._text, at)
        if start:
            parser = _Parser(self._text, None, self)
            parser.begin_after(_brackets(self._text[:start]).decode(), start)
            parser.run(start)

    def read(self, nesting: int | None = None) -> Json:
        """Parse the tokens and return the root, with all spans."""
        reader = _Parser(self._text, nesting, self)
        root = reader.run()
        above, places, todo = [-1], [reader.places[root]], [root]
        steps: list[str | int] = [""]
        while todo:
            checkpoint()
            holder = todo.pop()
            parts: list[tuple[str | int, Json]] = [*holder.members.items(), *enumerate(holder.items)]
            for step, part in parts:
                part.number = len(above)
                above.append(holder.number)
                steps.append(step)
                places.append(reader.places[part])
                if isinstance(part.value, dict | list):
                    todo.append(part)
        self.above, self.steps, self._places = above, steps, places
        self.doubled = {holder.number: spans for holder, spans in reader.doubled.items()}
        return root

    @property
    def places(self) -> list[_Location]:
        """The spans of all parts, computed on first use."""
        if self._places is None:
            self.read()
            assert self._places is not None
        return self._places


# The json module is recursive, in C. Up to this depth its stack is known to suffice.
_SHALLOW: Final = 300
_BRACKETS: Final = "[]{}"
_NO_MARKS: Final = bytes(byte for byte in range(256) if byte not in b'"[]{}')
_STRINGS: Final = re.compile(rb'"[^"]*+"?')
_ONE_KIND: Final = bytes.maketrans(b"[]", b"{}")
_STEPS: Final = {ord("{"): 1, ord("}"): -1}
_PASSES: Final = 16  # over the brackets of a text; few texts are nested deeper


def _is_shallow(text: str, nesting: int | None) -> bool:
    most = _SHALLOW if nesting is None else min(_SHALLOW, nesting)
    if text.count("[") + text.count("{") <= most:
        return True
    brackets, depth = _brackets(text).translate(_ONE_KIND), 0
    while brackets and depth < _PASSES:  # each pass removes the innermost pairs
        brackets, depth = brackets.replace(b"{}", b""), depth + 1
    return depth + max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) <= most


def _without_escapes(text: str) -> str:
    """Return a text of the same length without the quotation marks that end no string."""
    return text.replace("\\\\", "__").replace('\\"', "__") if "\\" in text else text


def _brackets(text: str) -> bytes:
    """Return the brackets outside of strings, up to the first error of a text; whatever follows is arbitrary.

    A pattern that matches what is between brackets takes eight times as long.
    """
    marks = _without_escapes(text).encode("utf-8", "surrogatepass").translate(None, _NO_MARKS)
    # Where two quotation marks meet, what follows them is in a string or not as it would be without them.
    return _STRINGS.sub(b"", marks.replace(b'""', b""))


def _after_last_bracket(text: str, at: int) -> int:
    """Return the offset after the last bracket outside of strings before an error; 0 if there is none."""
    plain, end = _without_escapes(text[:at]), at
    if plain.count('"') % 2:
        end = plain.rindex('"')
    # From here on, `end` is outside of strings.
    while (found := max(plain.rfind(mark, 0, end) for mark in _BRACKETS)) >= 0 and plain.count('"', found, end) % 2:
        end = plain.rindex('"', 0, found)
    return found + 1


class _UnusualError(ValueError):
    """The json module accepts the text, but reads it differently."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    checkpoint(1 + len(pairs))
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _UnusualError
    return members


def _no_number(text: str) -> Any:
    raise _UnusualError(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=number, parse_float=number, parse_constant=_no_number
)


# What the parser expects next.
_FIRST_KEY: Final = "first key"  # or the end of an empty object
_FIRST_ITEM: Final = "first item"  # or the end of an empty array
_KEY: Final = "key"
_COLON: Final = "colon"
_VALUE: Final = "value"
_COMMA: Final = "comma"  # or the end of the object or array
_NOTHING: Final = "nothing"

_FIRST: Final = frozenset((_FIRST_KEY, _FIRST_ITEM))
_BEFORE_VALUE: Final = frozenset((_FIRST_ITEM, _VALUE))
_BEFORE_END: Final = _FIRST | {_COMMA}
_ERRORS: Final = {
    _FIRST_KEY: "schema-no-json.key",
    _KEY: "schema-no-json.key",
    _COLON: "schema-no-json.colon",
    _NOTHING: "schema-no-json.rest",
}
_WORDS: Final[dict[str, bool | None]] = {"null": None, "true": True, "false": False}
_SCALAR: Final = re.compile(f"null|true|false|{JSON_NUMBER.pattern}")


class _Parser:
    """Parses the tokens of a text; the numbers of its parts are assigned later.

    Attributes:
        places: the span of each part.
        doubled: the spans of duplicate keys, by object.
    """

    def __init__(self, text: str, nesting: int | None, owner: JsonText) -> None:
        self._text, self._owner = text, owner
        self._nesting = nesting
        self._expects = _VALUE
        self.places: dict[Json, _Location] = {}
        self.doubled: dict[Json, list[Span]] = {}
        self._open: list[Json] = []
        self._after_comma = _VALUE  # what the innermost of them has after a comma
        self._keys: list[str] = []
        self._root: Json | None = None

    def begin_after(self, brackets: str, end: int) -> None:
        """Take over the state after a part without errors: its brackets, and where the last of them ends."""
        opened: list[str] = []
        for mark in brackets:
            if mark in "{[":
                opened.append(mark)
            else:
                opened.pop()
        self._open = [Json({} if mark == "{" else [], 0, self._owner) for mark in opened]
        self.places = {holder: (Span(end, end), {}) for holder in self._open}
        self._root = Json(None, 0, self._owner)
        self._after_comma = _KEY if opened and opened[-1] == "{" else _VALUE
        first = {"{": _FIRST_KEY, "[": _FIRST_ITEM}
        self._expects = first.get(brackets[-1], _COMMA if opened else _NOTHING)

    def run(self, start: int = 0) -> Json:
        """Parse the text from an offset and return its root."""
        text = self._text
        has_other_space = _OTHER_SPACE.search(text, start) is not None
        end = start
        for token in json_tokens(text, start):
            if has_other_space:
                self._check_blanks(end, token.start())
            kind = token.lastgroup
            start, end = token.span()
            expects = self._expects
            if kind == "mark":
                mark = text[start]
                if mark == "," and expects is _COMMA:
                    self._expects = self._after_comma
                elif mark == ":" and expects is _COLON:
                    self._expects = _VALUE
                else:
                    self._bracket(mark, start)
            elif kind == "string" and (expects is _KEY or expects is _FIRST_KEY):
                self._key(start, end)
            elif expects is not _VALUE and (expects is not _FIRST_ITEM or self._is_too_deep()):
                raise self._unexpected(start)
            elif kind == "string":
                self._add(self._string(start, end), start, end)
            else:
                self._word(start, end)
        self._check_blanks(end, len(text))
        if self._root is None or self._open:
            raise self._unexpected(len(text))
        return self._root

    def _check_blanks(self, start: int, end: int) -> None:
        """Refuse white space that is not JSON's."""
        if other := self._text[start:end].lstrip(_BLANKS):
            raise self._unexpected(end - len(other))

    def _bracket(self, mark: str, start: int) -> None:
        """Open or close an object or array; another mark is not expected."""
        expects = self._expects
        if mark in "{[" and expects in _BEFORE_VALUE:
            self._check_nesting()
            is_object = mark == "{"
            self._open.append(self._add({} if is_object else [], start, start + 1))
            self._expects = _FIRST_KEY if is_object else _FIRST_ITEM
            self._after_comma = _KEY if is_object else _VALUE
        elif expects in _BEFORE_END and mark == self._closing:
            holder = self._open.pop()
            span, key_spans = self.places[holder]
            self.places[holder] = Span(span.start, start + 1), key_spans
            self._expects = _COMMA if self._open else _NOTHING
            self._after_comma = _KEY if self._open and isinstance(self._open[-1].value, dict) else _VALUE
        else:
            raise self._unexpected(start)

    @property
    def _closing(self) -> str:
        """The bracket that closes the innermost open object or array."""
        return "}" if self._after_comma is _KEY else "]"

    def _is_too_deep(self) -> bool:
        """Return whether an object or array that is not empty is nested too deeply."""
        return self._expects in _FIRST and len(self._open) - 1 == self._nesting

    def _check_nesting(self) -> None:
        if self._is_too_deep():
            start = self.places[self._open[-1]][0].start
            raise self._error("schema-too-deep", start, limit=self._nesting)

    def _unexpected(self, at: int) -> JsonTextError:
        """Return the error of a character, or of the text's end, that is not what is expected."""
        self._check_nesting()
        if self._expects is _COMMA:
            return self._error("schema-no-json.comma", at, closing=self._closing)
        if self._expects in _BEFORE_VALUE:
            return self._error("schema-no-json.value" if at < len(self._text) else "schema-no-json.end", at)
        return self._error(_ERRORS[self._expects], at)

    def _error(self, key: str, start: int, **fields: object) -> JsonTextError:
        span = Span(start, min(start + 1, max(len(self._text), start)))
        return JsonTextError(diagnostic(key, span, **fields))

    def _add(self, value: Content, start: int, end: int) -> Json:
        """Add a value to the innermost open object or array."""
        checkpoint()
        part = Json(value, 0, self._owner)
        self.places[part] = Span(start, end), {}
        if not self._open:
            self._root = part
            self._expects = _NOTHING
            return part
        values = self._open[-1].value
        if isinstance(values, dict):
            values[self._keys.pop()] = part
        elif isinstance(values, list):
            values.append(part)
        self._expects = _COMMA
        return part

    def _word(self, start: int, end: int) -> None:
        """Add the number or name at the beginning of a word; nothing may follow it there."""
        match = _SCALAR.match(self._text, start, end)
        if match is None:
            raise self._unexpected(start)
        word, read = match[0], match.end()
        self._add(_WORDS[word] if word in _WORDS else number(word), start, read)
        if read < end:
            raise self._unexpected(read)

    def _key(self, start: int, end: int) -> None:
        checkpoint()
        if self._expects is _FIRST_KEY:
            self._check_nesting()
        holder = self._open[-1]
        key = self._string(start, end)
        span = Span(start, end)
        key_spans = self.places[holder][1]
        if key in key_spans:
            self.doubled.setdefault(holder, []).append(span)
        key_spans[key] = span
        self._keys.append(key)
        self._expects = _COLON

    def _string(self, start: int, end: int) -> str:
        """Return the value of a string token."""
        text = self._text
        content = _CONTENT.match(text, start + 1, end)
        assert content is not None
        read = content.end()
        if read == end or text[read] != '"':
            mark = text[read : read + 1]
            if not mark:
                raise self._error("schema-no-json.string", start)
            raise self._error("schema-no-json.escape" if mark == "\\" else "schema-no-json.control", read)
        value = content[0]
        if "\\" in value:
            value = _ESCAPED.sub(_unescaped, value)
            if _SURROGATE.search(value):  # two surrogates make one character
                value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return value


def _unescaped(escape: re.Match[str]) -> str:
    checkpoint()
    kind = escape[1]
    return _ESCAPES[kind] if len(kind) == 1 else chr(int(kind[1:], 16))


def pointers(source: SourceText, spans: Iterable[Span]) -> tuple[str, ...]:
    """Return the pointers of spans without repetition: a span is that of a value, or of a value's key."""
    known = _pointers(source)
    return tuple(dict.fromkeys(known[span] for span in spans if span in known))


@counted_cache(maxsize=8)
def _pointers(source: SourceText) -> dict[Span, str]:
    """Return the pointers of all values and keys by span."""
    found: dict[Span, str] = {}
    todo: list[tuple[Json, str]] = [(read_json(source.text), "")]
    while todo:
        value, pointer = todo.pop()
        found[value.span] = pointer
        for name, member in value.members.items():
            below = f"{pointer}/{escape_step(name)}"
            found[value.key_spans[name]] = below
            todo.append((member, below))
        todo += ((item, f"{pointer}/{index}") for index, item in enumerate(value.items))
    return found
