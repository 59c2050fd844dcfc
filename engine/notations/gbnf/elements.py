"""The leaves of GBNF: literals, classes and token elements."""

from __future__ import annotations

import re
from typing import Final

from engine.grammar import Chars, CharSet, Empty, Never, Node, Sequence, TokenSet
from engine.notations.gbnf.reader import GbnfReader, RuleError, error
from engine.source import Severity, Span

# An escape includes the next character, valid or not.
_LITERAL: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_CLASS: Final = re.compile(r"\[(?:[^\]\\]++|\\.)*+\]", re.DOTALL)
_LINE_END: Final = re.compile(r"[\r\n]")
_SURROGATES: Final = CharSet(((0xD800, 0xDFFF),))
_LAST_TOKEN_ID: Final = 2**31 - 1


_ASCII: Final = tuple(CharSet(((code, code),)) for code in range(0x80))


def read_literal(reader: GbnfReader) -> Node:
    """Read a literal: a character, a sequence of them, or nothing."""
    start = reader.at
    end = _closing(reader, _LITERAL)
    if end is None:
        raise _unclosed(reader, "literal", "the text is never closed", 'Add a `"`')
    reader.at += 1
    characters: list[Node] = []
    while reader.at < end:
        at = reader.at
        code = reader.character()
        node = Chars(_ASCII[code], Span(at, reader.at)) if code < 0x80 else _chars(reader, CharSet(((code, code),)), at)
        characters.append(node)
    reader.at = end + 1
    if not characters:
        return Empty(reader.since(start))
    return characters[0] if len(characters) == 1 else Sequence(tuple(characters), reader.since(start))


def read_class(reader: GbnfReader) -> Node:
    """Read a class. Without members it matches the empty text, negated or not, as in llama.cpp."""
    start = reader.at
    end = _closing(reader, _CLASS)
    if end is None:
        raise _unclosed(reader, "class", "the class `[` is never closed", "Add a `]`")
    reader.at += 1
    negated = reader.accept("^")
    if reader.at == end:
        reader.at += 1
        text = "[^]" if negated else "[]"
        message = f"`{text}` has no members and matches the empty text, as in llama.cpp"
        hint = 'Write `.` for any character, or `""` for the empty text'
        reader.note("empty-class", Severity.WARNING, reader.since(start), message, hint)
        return Empty(reader.since(start))
    ranges: list[tuple[int, int]] = []
    while reader.at < end:
        at = reader.at
        first = last = reader.character()
        if reader.peek() == "-" and reader.at + 1 < end:
            reader.at += 1
            last = reader.character()
        if first <= last:
            ranges.append((first, last))
        else:
            message = f"the range `{reader.text[at : reader.at]}` runs backwards, so it holds no character"
            reader.note("bad-range", Severity.WARNING, reader.since(at), message, "Swap its ends")
    reader.at = end + 1
    members = CharSet.of(ranges)
    return _chars(reader, ~members if negated else members, start)


def _closing(reader: GbnfReader, pattern: re.Pattern[str]) -> int | None:
    """Return the offset of the closing quote or bracket, or None."""
    found = pattern.match(reader.text, reader.at)
    if found is None:
        return None
    if reader.crossing is None and _LINE_END.search(reader.text, found.start(), found.end()):
        reader.crossing = Span(*found.span())
    return found.end() - 1


def _unclosed(reader: GbnfReader, kind: str, message: str, hint: str) -> RuleError:
    return error(f"unclosed-{kind}", Span(reader.at, reader.at + 1), message, hint)


def _chars(reader: GbnfReader, characters: CharSet, start: int) -> Node:
    span = Span(start, reader.at)
    if characters.ranges and characters.ranges[0][0] < 0xD800:
        return Chars(characters, span)
    if characters - _SURROGATES:
        return Chars(characters, span)
    if characters:
        message = f"`{reader.text[start : reader.at]}` is half of a surrogate pair, which is no character"
        hint = "Write the whole character, such as `\\U0001F600`"
        reader.note("lone-surrogate", Severity.WARNING, span, message, hint)
    return Never(span)


def read_token(reader: GbnfReader) -> Node:
    """Read `<name>` or `<[id]>`, or `!` before one of them."""
    start = reader.at
    negated = reader.accept("!")
    opened = reader.at
    if not reader.accept("<"):
        hint = "Write `!<token>` or `!<[123]>`"
        raise error("bad-token", reader.since(start), "`!` negates a token element only", hint)
    if reader.accept("["):
        number = reader.number()
        if number is None or not reader.accept("]>"):
            raise error("bad-token", reader.since(start), "a token id is written `<[123]>`", "Write digits only")
        if number > _LAST_TOKEN_ID:
            hint = f"The last possible one is {_LAST_TOKEN_ID:,}"
            raise error("bad-token", reader.since(start), "no vocabulary has a token of that id", hint)
        return TokenSet((), (number,), negated, reader.since(start))
    end = reader.text.find(">", reader.at)
    line = _LINE_END.search(reader.text, reader.at, end if end >= 0 else len(reader.text))
    if end < 0 or line:
        raise error("bad-token", Span(start, reader.at), "the token `<` is never closed", "Add a `>`")
    reader.at = end + 1
    return TokenSet((reader.text[opened : reader.at],), (), negated, reader.since(start))
