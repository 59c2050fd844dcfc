"""A scanner of incomplete JSON texts: finds the open values and their paths, without a schema.

The nesting follows from the bytes alone (RFC 8259), and so does the path to a value: its
keys and indexes. The scanner reads byte by byte, since most texts are incomplete outputs.

Rejected: deriving the path from the stack of a schema's automaton. Its frames contain only
what is still to be checked, and for a plain `{"type": "string"}` they have no path.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple, TypeAlias

JsonPath: TypeAlias = tuple[str | int, ...]
"""The keys and indexes from the top-level value to a value."""

JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""A number as RFC 8259 defines it."""
_SCALAR_ENDS: Final = frozenset(b",]} \t\r\n")
_QUOTE, _ESCAPE = ord('"'), ord("\\")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+|\s+', re.DOTALL)
_OPEN_ESCAPE = re.compile(rb"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?\Z")


class OpenValues(NamedTuple):
    """The values around a byte.

    Attributes:
        read: the paths of the values that contain the byte, outermost first.
        open: the paths of the values that are still open after it.
    """

    read: tuple[JsonPath, ...]
    open: tuple[JsonPath, ...]


class JsonScanner:
    """A byte-by-byte scanner of a prefix of a JSON text. Bytes that are not valid JSON do not change its state."""

    def __init__(self) -> None:
        self._open: list[JsonPath] = []
        self._containers: list[bool] = []  # for each open object or array: whether it is an object
        self._next: str | int | None = None  # the key or the index of the next value
        self._key: bytearray | None = None  # the bytes of an incomplete key
        self._in_string = self._escaped = self._in_scalar = False
        self._expects_key = False

    @property
    def ahead(self) -> JsonPath:
        """Return the path of the current value, or of the next one."""
        if self._in_scalar or (self._in_string and self._key is None) or self._next is None or self._expects_key:
            return self._open[-1] if self._open else ()
        return (*self._open[-1], self._next) if self._open else ()

    @property
    def in_string(self) -> bool:
        """Return whether a string, value or key, is open."""
        return self._in_string

    def take(self, byte: int) -> OpenValues:
        """Read one byte and return the values around it."""
        if self._in_scalar and byte in _SCALAR_ENDS:
            self._close()
        if self._in_string:
            return self._take_string_byte(byte)
        match byte:
            case 0x7B | 0x5B:  # an object, an array
                self._begin()
                self._containers.append(byte == 0x7B)
                self._expects_key, self._next = byte == 0x7B, 0
            case 0x7D | 0x5D if self._containers:
                read = tuple(self._open)
                self._containers.pop()
                self._close()
                return OpenValues(read, tuple(self._open))
            case 0x2C if self._containers:  # a comma
                is_object = self._containers[-1]
                self._expects_key = is_object
                last = self._next
                self._next = last + 1 if isinstance(last, int) and not is_object else None
            case _ if byte == _QUOTE and self._expects_key and self._containers:
                self._in_string, self._key = True, bytearray()
            case _ if byte == _QUOTE:
                self._begin()
                self._in_string = True
            case 0x3A | 0x20 | 0x09 | 0x0A | 0x0D:
                pass
            case _ if not self._in_scalar:
                self._begin()
                self._in_scalar = True
        return OpenValues(tuple(self._open), tuple(self._open))

    def _take_string_byte(self, byte: int) -> OpenValues:
        read = tuple(self._open)
        if self._key is not None and (byte != _QUOTE or self._escaped):
            self._key.append(byte)
        if byte == _QUOTE and not self._escaped:
            self._in_string = False
            if self._key is None:
                self._close()
            else:
                self._next, self._key, self._expects_key = decode_key(bytes(self._key)), None, False
        self._escaped = byte == _ESCAPE and not self._escaped
        return OpenValues(read, tuple(self._open))

    def _begin(self) -> None:
        above = self._open[-1] if self._open else ()
        self._open.append((*above, self._next) if self._open and self._next is not None else above)

    def _close(self) -> None:
        self._in_scalar = False
        if self._open:
            path = self._open.pop()
            self._next = path[-1] if path else None


def decode_key(key: bytes) -> str:
    """Return a key whose bytes between the quotes are `key`, as far as they were read."""
    try:
        return str(json.loads(b'"' + key + b'"'))
    except ValueError:
        return key.decode("utf-8", "replace")


def added_properties(completion: bytes) -> tuple[str, ...]:
    """Return the names of the properties that a completion adds to the object that is open where it begins.

    The shortest completion adds only required properties.
    """
    found: list[str] = []
    depth, key = 0, b""
    for token in _TOKEN.findall(completion):
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < 0:
                break
        elif token == b":" and depth == 0 and key:
            try:
                found.append(str(json.loads(key)))
            except ValueError:
                return ()
        key = token if token.startswith(b'"') else b""
    return tuple(found)


def open_path(text: bytes) -> JsonPath:
    """Return the path of the value that an incomplete JSON text ends in, or that comes next."""
    return _scan(text).ahead


def is_in_string(text: bytes) -> bool:
    """Return whether a JSON text ends inside a string."""
    return _scan(text).in_string


def is_in_escape(text: bytes) -> bool:
    """Return whether a JSON text ends inside an escape of a string."""
    return is_in_string(text) and _OPEN_ESCAPE.search(text) is not None


def is_in_character(data: bytes) -> bool:
    """Return whether bytes end inside a UTF-8 character."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back < length
        if byte < 0x80:
            return False
    return False


def _scan(text: bytes) -> JsonScanner:
    scanner = JsonScanner()
    for byte in text:
        scanner.take(byte)
    return scanner
