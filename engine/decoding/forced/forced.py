r"""What a JSON Schema forces but for the ways to write it.

JSON may be written in many ways: white space between its parts, and of each
character the escapes (`n` is also `\u006e`, RFC 8259 section 7). So of `{"name":`
nothing is forced to the letter, though nothing is open that anybody cares for.
Here white space is left out, and a character is written as itself unless JSON
escapes it, wherever the grammar leaves nothing else open: every way on spells
the same value. What is taken is allowed by the grammar, and so is what is behind
it; where more is open, the model is asked under the whole mask.

Rejected: running the session under the schema's compact form as GBNF, as exports
write it. It would have other states and other source spans than what the window
shows, and a text that the model began with a blank would have left it for good.
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
    """The compact text that every continuation spells, in whatever way.

    Args:
        matcher: of a JSON Schema, or of an output in which one rules; is not moved.
        read: what the schema has read so far.
        limit: how many bytes are looked for, about.
    """
    automaton, at = matcher.grammar.automaton, matcher.configuration
    found = b""
    while is_in_escape(read + found) or is_in_character(read + found):  # what was begun in one way is ended in it
        ways = list(_ways(automaton, at))
        if len(ways) != 1:
            return found
        at = automaton.run(at, bytes(ways))
        found += bytes(ways)
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
    """The byte that comes next between strings; None where more than white space is open."""
    ways = set(_ways(automaton, at))
    ways = ways - _WHITE_SPACE or ways
    return bytes(ways) if len(ways) == 1 else None


def _character(automaton: ByteAutomaton, at: int) -> bytes | None:
    """The character that comes next in a string, or the string's end; None where more is open."""
    ways = set(_ways(automaton, at))
    plain = ways - {_ESCAPE}
    if len(plain) > 1 or (_ESCAPE in ways and plain == {_QUOTE}):
        return None
    literal = _literal(automaton, at, plain.pop()) if plain else b""
    if literal is None or _ESCAPE not in ways:
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
    """The UTF-8 of a character that begins with a byte; None where it is one of several."""
    found = bytes((first,))
    while is_in_character(found):
        at = automaton.run(at, found[-1:])
        ways = list(_ways(automaton, at))
        if len(ways) != 1:
            return None
        found += bytes(ways)
    return found


def _escapes(automaton: ByteAutomaton, at: int) -> Iterator[int | None]:
    """The characters that the escapes behind a backslash mean, each way by itself; None for half a pair."""
    for way in _ways(automaton, at):
        if way in _SHORT:
            yield _SHORT[way]
        elif way == _UNICODE:
            for unit, after in _units(automaton, automaton.run(at, b"u")):
                yield from _paired(automaton, unit, after) if _HIGH <= unit < _LOW else (_whole(unit),)
        else:
            yield None


def _whole(unit: int) -> int | None:
    return None if _LOW <= unit < _AFTER else unit


def _paired(automaton: ByteAutomaton, high: int, at: int) -> Iterator[int | None]:
    """The characters beyond the first 65,536, whose escapes come in pairs."""
    behind = automaton.run(at, b"\\u")
    if behind == DEAD or set(_ways(automaton, at)) != {_ESCAPE}:
        yield None
        return
    for low, _ in _units(automaton, behind):
        yield _BEYOND + (high - _HIGH) * 0x400 + low - _LOW if _LOW <= low < _AFTER else None


def _units(automaton: ByteAutomaton, at: int, digits: str = "") -> Iterator[tuple[int, int]]:
    """The numbers of four hexadecimal digits that may stand here, and where each leads."""
    if len(digits) == 4:
        yield int(digits, 16), at
        return
    for way in _ways(automaton, at):
        yield from _units(automaton, automaton.run(at, bytes((way,))), digits + chr(way))


def _ways(automaton: ByteAutomaton, at: int) -> Iterator[int]:
    """The bytes that may come next."""
    for first, last in automaton.expected(at):
        yield from range(first, last + 1)
