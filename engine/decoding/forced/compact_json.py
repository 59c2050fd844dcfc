r"""The text that a JSON Schema forces up to formatting.

JSON can be written in many ways: white space between its parts, and escapes for each character (`n` is also `\u006e`,
RFC 8259 section 7). So after `{"name":` no byte is forced, even if the value is. Here white space is omitted, and a
character is written as itself unless JSON escapes it, wherever the grammar leaves nothing else open: every continuation
encodes the same value. The grammar allows what is taken and what follows it; where more is open, the model is queried
under the full mask.

Rejected: running the session under the schema's compact form as GBNF, as exports write it. It would have other states
and source spans than the window shows, and a text that the model began with a space would leave it for good.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.matching import Matcher
from engine.source import checkpoint
from engine.source.json_scanner import is_in_character, is_in_escape, is_in_string

_WHITE_SPACE = frozenset(b" \t\r\n")
_QUOTE, _ESCAPE, _UNICODE = ord('"'), ord("\\"), ord("u")
_SHORT = {34: 34, 92: 92, 47: 47, 98: 8, 102: 12, 110: 10, 114: 13, 116: 9}
_HIGH, _LOW, _AFTER = 0xD800, 0xDC00, 0xE000  # surrogates: https://www.unicode.org/faq/utf_bom.html
_BEYOND = 0x10000


def compactly_forced(matcher: Matcher, read: bytes, limit: int) -> bytes:
    """Return the compact text that every continuation encodes.

    Args:
        matcher: the matcher of a JSON Schema, or of an output with a schema zone; it is not changed.
        read: what the schema has read so far.
        limit: the approximate limit of the result, in bytes.
    """
    automaton, at = matcher.grammar.automaton, matcher.configuration
    found = b""
    # finish an escape or a character that has already begun
    while is_in_escape(read + found) or is_in_character(read + found):
        options = list(_next_bytes(automaton, at))
        if len(options) != 1:
            return found
        at = automaton.run(at, bytes(options))
        found += bytes(options)
    inside = is_in_string(read + found)
    while len(found) < limit and not matcher.is_finished:
        checkpoint()
        if at == DEAD or automaton.accepts(at) or automaton.token_sets(at):
            break
        piece = _character(automaton, at) if inside else _outside(automaton, at)
        after = DEAD if piece is None else automaton.run(at, piece)
        if piece is None or after == DEAD:
            break
        inside ^= piece == b'"'
        found, at = found + piece, after
    return found


def _outside(automaton: ByteAutomaton, at: int) -> bytes | None:
    """Return the next byte between strings; None if more than white space is open."""
    options = set(_next_bytes(automaton, at))
    options = options - _WHITE_SPACE or options
    return bytes(options) if len(options) == 1 else None


def _character(automaton: ByteAutomaton, at: int) -> bytes | None:
    """Return the next character of a string, or the closing quote; None if more is open."""
    options = set(_next_bytes(automaton, at))
    plain = options - {_ESCAPE}
    if len(plain) > 1 or (_ESCAPE in options and plain == {_QUOTE}):
        return None
    literal = _literal(automaton, at, plain.pop()) if plain else b""
    if literal is None or _ESCAPE not in options:
        return literal
    code = None if not literal else ord(literal.decode())
    for escaped in _escapes(automaton, automaton.run(at, b"\\")):
        if escaped is None or code not in (None, escaped):
            return None
        code = escaped
    if literal or code is None:
        return literal or None
    return json.dumps(chr(code), ensure_ascii=False)[1:-1].encode()


def _literal(automaton: ByteAutomaton, at: int, first: int) -> bytes | None:
    """Return the UTF-8 of the character that starts with a byte; None if several characters are possible."""
    found = bytes((first,))
    while is_in_character(found):
        at = automaton.run(at, found[-1:])
        options = list(_next_bytes(automaton, at))
        if len(options) != 1:
            return None
        found += bytes(options)
    return found


def _escapes(automaton: ByteAutomaton, at: int) -> Iterator[int | None]:
    """Yield the characters of the possible escapes after a backslash; None for half of a surrogate pair."""
    for byte in _next_bytes(automaton, at):
        if byte in _SHORT:
            yield _SHORT[byte]
        elif byte == _UNICODE:
            for unit, after in _units(automaton, automaton.run(at, b"u")):
                yield from _paired(automaton, unit, after) if _HIGH <= unit < _LOW else (_single_unit(unit),)
        else:
            yield None


def _single_unit(unit: int) -> int | None:
    return None if _LOW <= unit < _AFTER else unit


def _paired(automaton: ByteAutomaton, high: int, at: int) -> Iterator[int | None]:
    """Yield the characters above U+FFFF, whose escapes are surrogate pairs."""
    low_start = automaton.run(at, b"\\u")
    if low_start == DEAD or set(_next_bytes(automaton, at)) != {_ESCAPE}:
        yield None
        return
    for low, _ in _units(automaton, low_start):
        yield _BEYOND + (high - _HIGH) * 0x400 + low - _LOW if _LOW <= low < _AFTER else None


def _units(automaton: ByteAutomaton, at: int, digits: str = "") -> Iterator[tuple[int, int]]:
    """Yield the possible numbers of four hexadecimal digits, each with the configuration after it."""
    if len(digits) == 4:
        yield int(digits, 16), at
        return
    for byte in _next_bytes(automaton, at):
        yield from _units(automaton, automaton.run(at, bytes((byte,))), digits + chr(byte))


def _next_bytes(automaton: ByteAutomaton, at: int) -> Iterator[int]:
    """Yield the bytes that may come next."""
    for first, last in automaton.expected(at):
        yield from range(first, last + 1)
