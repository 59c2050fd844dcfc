"""Regex parser: text to nodes, in one pass with an explicit stack.

Open groups are frames on a list, so nesting is bounded by a limit with a message and never by Python's call stack.

An error is reported and skipped in the way that the author most likely meant, so one parse reports all errors. The
resulting nodes are then meaningless, but the diagnostics are useful.

Rejected: translating CPython's own parse (`re._parser`). It is private, has no spans, stops at the first error, and
knows neither dialects nor properties.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from engine.grammar import Chars, CharSet, Choice, Empty, Lookaround, Never, Node, Repeat, Sequence
from engine.notations.regex.atomic import Atomics
from engine.notations.regex.characters import Escape, read_class, read_escape
from engine.notations.regex.dialect import Anchor, Dialect, Flags, anchor_node, dot, fold_of
from engine.notations.regex.groups import Comment, GlobalFlags, Opening, Refused, read_opening
from engine.notations.regex.reader import RegexReader
from engine.notations.regex.unicode_sets import SURROGATES, close_under_case, literal
from engine.source import Diagnostic, GrammarError, Limits, SourceText, Span, checkpoint

_SPECIAL: Final = frozenset("\\[](){}|*+?.^$")
_VERBOSE_SPACE: Final = frozenset(" \t\n\r\v\f")
# As in `re`, a backslash includes the next character, even a line end.
_VERBOSE_COMMENT: Final = re.compile(r"#(?:[^\\\n]|\\.)*+\n?", re.DOTALL)
_LOW_SURROGATE_ESCAPE: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def parse(
    source: SourceText, dialect: Dialect | Literal["python", "ecma"], limits: Limits, flags: Flags | None = None
) -> tuple[Node, tuple[Diagnostic, ...]]:
    """Parse a pattern.

    Args:
        source: the pattern.
        dialect: its syntax.
        limits: the limits of length, depth and repetition.
        flags: the flags at its start; None for none.

    Returns:
        The node of the pattern itself (the caller decides whether it must match in full), and warnings.

    Raises:
        GrammarError: the pattern is malformed, not regular, or beyond a limit of nesting or repetition; it carries all
            findings.
        LimitExceededError: the pattern is too long.
    """
    node, parser = _parsed(source, dialect, limits, flags or Flags())
    return node, parser.reader.findings.in_source_order()


@dataclass(frozen=True, slots=True)
class RegexGroup:
    """A group, which has no node of its own.

    Attributes:
        opening: what opened it.
        span: its span, parentheses included.
        node: the node of its body.
    """

    opening: Opening
    span: Span
    node: Node


@dataclass(frozen=True, slots=True)
class SourceDetails:
    """Source details of a pattern that its nodes do not record.

    Attributes:
        groups: all groups except lookarounds, which are nodes; an inner one comes before the one around it.
        flags: the spans of flags for the whole pattern.
    """

    groups: tuple[RegexGroup, ...]
    flags: tuple[Span, ...]


def parse_with_details(
    source: SourceText, dialect: Dialect | Literal["python", "ecma"], limits: Limits
) -> tuple[Node, SourceDetails]:
    """Parse a pattern and keep its source details; arguments and errors are those of `parse`.

    Args:
        source: the pattern.
        dialect: its syntax.
        limits: the limits of length, depth and repetition.
    """
    node, parser = _parsed(source, dialect, limits, Flags())
    return node, SourceDetails(tuple(parser.groups), tuple(parser.flags))


def _parsed(
    source: SourceText, dialect: Dialect | Literal["python", "ecma"], limits: Limits, flags: Flags
) -> tuple[Node, _Parser]:
    limits.check("errors.limit.pattern_length", len(source.text), limits.source_length, "source_length")
    parser = _Parser(RegexReader(source.text, Dialect(dialect)), limits, flags)
    node = parser.run()
    if parser.reader.findings.has_errors:
        raise GrammarError(parser.reader.findings.in_source_order(), source)
    return node, parser


class _Parser:
    def __init__(self, reader: RegexReader, limits: Limits, flags: Flags) -> None:
        self.reader = reader
        self.groups: list[RegexGroup] = []
        self.flags: list[Span] = []
        self._atomics = Atomics()
        self._dialect = reader.dialect
        self._limits = limits
        self._frames = [_Frame(Opening(Span(0, 0), flags))]

    @property
    def _frame(self) -> _Frame:
        return self._frames[-1]

    def run(self) -> Node:
        """Parse all of the text."""
        reader = self.reader
        while not reader.at_end and not reader.findings.is_full:
            checkpoint()
            character = reader.text[reader.position]
            if self._frame.flags.verbose and self._skip(character):
                continue
            if character not in _SPECIAL:
                self._add_literal(character)
            else:
                self._read_special(character)
        if not reader.abandoned and not reader.findings.is_full:
            for frame in self._frames[1:]:
                opening = frame.opening.span
                reader.findings.add("regex-unclosed-group", opening, opening=reader.text[opening.start : opening.end])
        return self._frames[0].finish(Span(0, len(reader.text)), len(reader.text))

    def _skip(self, character: str) -> bool:
        """Skip white space, or a comment, of verbose mode."""
        if character in _VERBOSE_SPACE:
            self.reader.position += 1
            return True
        if character == "#":
            match = _VERBOSE_COMMENT.match(self.reader.text, self.reader.position)
            self.reader.position = match.end() if match else self.reader.position + 1
            return True
        return False

    def _read_special(self, character: str) -> None:
        reader = self.reader
        start = reader.position
        match character:
            case "\\":
                self._add_escape(read_escape(reader, self._frame.flags, in_class=False), start)
            case "[":
                characters = read_class(reader, self._frame.flags)
                if characters is not None:
                    self._add_set(characters, start)
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._frame.end_alternative(start)
                reader.position += 1
            case "*" | "+" | "?" | "{":
                self._repeat()
            case ".":
                reader.position += 1
                self._add_set(dot(self._dialect, dot_all=self._frame.flags.dot_all), start)
            case "^" | "$":
                reader.position += 1
                self._add_anchor(Anchor(character), start)
            case _:
                self._add_bracket(character)

    # Atoms

    def _add_literal(self, character: str) -> None:
        start = self.reader.position
        self.reader.position += 1
        frame = self._frames[-1]
        if character.isascii() and not frame.flags.ignore_case:  # the most frequent case
            frame.add(Chars(literal(ord(character)), Span(start, start + 1)))
        else:
            self._add_code(ord(character), start)

    def _add_bracket(self, character: str) -> None:
        # a `]` or `}` that closes nothing
        start = self.reader.position
        self._add_literal(character)
        if self._dialect is Dialect.ECMA:
            self.reader.report("regex-lone-bracket", start, character=character)

    def _add_code(self, code: int, start: int) -> None:
        fold = fold_of(self._dialect, self._frame.flags)
        characters = literal(code)
        self._add_set(close_under_case(characters, fold) if fold else characters, start)

    def _add_set(self, characters: CharSet, start: int) -> None:
        span = self.reader.since(start)
        if not characters:
            self._frame.add(Never(span))
            return
        if characters.ranges[0][0] >= SURROGATES.ranges[0][0] and not characters - SURROGATES:
            self._warn_about_surrogate(characters, start)
        self._frame.add(Chars(characters, span))

    def _warn_about_surrogate(self, characters: CharSet, start: int) -> None:
        reader = self.reader
        low = _LOW_SURROGATE_ESCAPE.match(reader.text, reader.position)
        high = characters.ranges[0][0]
        if low and high < SURROGATES.ranges[0][0] + 0x400:
            code = 0x10000 + ((high & 0x3FF) << 10) + (int(low[1], 16) & 0x3FF)
            reader.report("regex-lone-surrogate.pair", start, text=reader.text_since(start), code=code)
        else:
            reader.report("regex-lone-surrogate", start, text=reader.text_since(start))

    def _add_anchor(self, anchor: Anchor, start: int) -> None:
        node = anchor_node(anchor, self._dialect, self._frame.flags, self.reader.since(start))
        self._frame.add(node, _LastItem.CONDITION)

    def _add_escape(self, escape: Escape, start: int) -> None:
        match escape:
            case None:
                self._frame.add(Never(self.reader.since(start)))
            case Anchor():
                self._add_anchor(escape, start)
            case CharSet():
                self._add_set(escape, start)
            case int():
                self._add_code(escape, start)

    # Groups

    def _open(self) -> None:
        start = self.reader.position
        at_start = len(self._frames) == 1 and self._frame.is_untouched
        match read_opening(self.reader, self._frame.flags, at_start=at_start):
            case Comment():
                pass
            case Refused():
                self._frame.add(Never(self.reader.since(start)))
            case GlobalFlags(flags):
                self._frame.flags = flags
                self.flags.append(self.reader.since(start))
            case Opening() as opening:
                self._frames.append(_Frame(opening))
                if len(self._frames) - 1 > self._limits.nesting:
                    self.reader.findings.add("regex-nesting-limit", opening.span, limit=self._limits.nesting)
                    self.reader.abandon()

    def _close(self) -> None:
        reader = self.reader
        end = reader.position
        reader.position += 1
        if len(self._frames) == 1:
            reader.report("regex-unopened-group", end)
            return
        frame = self._frames.pop()
        span = reader.since(frame.opening.span.start)
        look = frame.opening.look
        if look is None:
            node = frame.finish(span, end)
            if frame.opening.atomic:
                first = self._atomics.group(node)
                if first is None:
                    reader.findings.add("regex-atomic", frame.opening.span)
                node = first or node
            self.groups.append(RegexGroup(frame.opening, span, node))
            self._frame.add(node, _LastItem.ATOM, frame.weight, start=span.start)
            return
        body = frame.finish(Span(frame.opening.span.end, end), end)
        condition = Lookaround(body, ahead=look.ahead, negated=look.negated, span=span)
        # `re` accepts a repeated lookaround, without effect; ECMAScript refuses it like anchors.
        last = _LastItem.CONDITION if self._dialect is Dialect.ECMA else _LastItem.ATOM
        self._frame.add(condition, last, frame.weight)

    # Repetition

    def _repeat(self) -> None:
        quantifier = _read_quantifier(self.reader)
        if quantifier is None:
            self._add_literal("{")
            return
        problem = self._frame.last.value
        if problem:
            self.reader.findings.add(problem, quantifier.span, quantifier=quantifier.text)
        else:
            self._apply(quantifier)

    def _apply(self, quantifier: _Quantifier) -> None:
        node, weight, start = self._frame.take_last()
        count = max(quantifier.minimum if quantifier.maximum is None else quantifier.maximum, 1)
        if count * weight > self._limits.repetition:
            self.reader.findings.add(
                "regex-repetition-limit",
                quantifier.span,
                quantifier=quantifier.text,
                given=count * weight,
                limit=self._limits.repetition,
            )
            count = 1
        span = Span(start, quantifier.span.end)
        if quantifier.maximum == 0:
            self._frame.add(Empty(span), _LastItem.REPETITION)
        else:
            self._frame.add(self._repeated(node, quantifier, span), _LastItem.REPETITION, count * weight)

    def _repeated(self, node: Node, quantifier: _Quantifier, span: Span) -> Node:
        repeated: Node = Repeat(node, quantifier.minimum, quantifier.maximum, span)
        if quantifier.lazy:
            self._atomics.note_lazy(repeated)
        if quantifier.plain:
            most = self._atomics.repeated(node, quantifier.minimum, quantifier.maximum, span)
            if most is None:
                self.reader.findings.add(
                    "regex-possessive", quantifier.span, quantifier=quantifier.text, plain=quantifier.plain
                )
            repeated = most or repeated
        return repeated


# ---------------------------------------------------------------------- open groups


class _LastItem(StrEnum):
    """The kind of the last item; the value is the finding for a quantifier after it, if any."""

    NOTHING = "regex-nothing-to-repeat"
    CONDITION = "regex-anchor-repeated"
    REPETITION = "regex-multiple-repeat"
    ATOM = ""


class _Frame:
    """One open group, or the complete pattern.

    Attributes:
        opening: what opened it.
        flags: the active flags.
        last: the operand of a following quantifier.
        weight: the largest product of nested repetition counts inside.
    """

    __slots__ = (
        "_alternative_start",
        "_alternatives",
        "_items",
        "_last_start",
        "_last_weight",
        "flags",
        "last",
        "opening",
        "weight",
    )

    def __init__(self, opening: Opening) -> None:
        self.opening = opening
        self.flags = opening.flags
        self.last = _LastItem.NOTHING
        self.weight = 1
        self._last_weight = 1
        self._last_start = opening.span.end
        self._items: list[Node] = []
        self._alternatives: list[Node] = []
        self._alternative_start = opening.span.end

    @property
    def is_untouched(self) -> bool:
        """True if nothing that matches was read yet."""
        return not self._items and not self._alternatives

    def add(self, node: Node, last: _LastItem = _LastItem.ATOM, weight: int = 1, *, start: int | None = None) -> None:
        """Append an item.

        Args:
            node: the item's node.
            last: its kind.
            weight: its largest product of nested repetition counts.
            start: where it begins in the text, if before its node (at a parenthesis).
        """
        self._items.append(node)
        self.last = last
        self._last_weight = weight
        self._last_start = node.span.start if start is None else start
        self.weight = max(self.weight, weight)

    def take_last(self) -> tuple[Node, int, int]:
        """Remove and return the last item, to be repeated: its node, its weight and its start."""
        return self._items.pop(), self._last_weight, self._last_start

    def end_alternative(self, end: int) -> None:
        """Begin a new alternative after a `|` at `end`."""
        self._alternatives.append(_sequence(self._items, Span(self._alternative_start, end)))
        self._alternative_start = end + 1
        self._items = []
        self.last = _LastItem.NOTHING

    def finish(self, span: Span, end: int) -> Node:
        """Return the node of everything read; the body ends at `end`, the group with its parentheses covers `span`."""
        if not self._alternatives:
            return _sequence(self._items, span)
        self.end_alternative(end)
        return Choice(tuple(self._alternatives), span)


def _sequence(items: list[Node], span: Span) -> Node:
    match items:
        case []:
            return Empty(span)
        case [single]:
            return single
        case _:
            return Sequence(tuple(items), span)


# ---------------------------------------------------------------------- quantifiers

_COUNTS: Final = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_SIMPLE: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
# More digits than any limit has; `int` itself refuses thousands of them.
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class _Quantifier:
    """A quantifier.

    Attributes:
        minimum, maximum: the counts; None for any number.
        text: its source text.
        span: its span.
        lazy: whether the fewest are tried first.
        plain: for a possessive one, its text without the `+`; otherwise empty.
    """

    minimum: int
    maximum: int | None
    text: str
    span: Span
    lazy: bool = False
    plain: str = ""


def _read_quantifier(reader: RegexReader) -> _Quantifier | None:
    """Read a quantifier where one of `* + ? {` comes next.

    Returns:
        `None`, with nothing read, if a `{` opens no quantifier and is a character (reported as a warning in
        ECMAScript).
    """
    start = reader.position
    if reader.peek() == "{":
        counts = _read_counts(reader)
        if counts is None:
            return None
        minimum, maximum = counts
    else:
        minimum, maximum = _SIMPLE[reader.take()]
    if maximum is not None and maximum < minimum:
        reader.report(
            "regex-repeat-reversed",
            start,
            quantifier=reader.text_since(start),
            minimum=minimum,
            maximum=maximum,
        )
        maximum = minimum
    plain, lazy = "", reader.accept("?")
    if not lazy and reader.dialect is Dialect.PYTHON and reader.peek() == "+":
        plain = reader.text_since(start)
        reader.take()
    return _Quantifier(minimum, maximum, reader.text_since(start), reader.since(start), lazy, plain)


def _read_counts(reader: RegexReader) -> tuple[int, int | None] | None:
    match = _COUNTS.match(reader.text, reader.position)
    is_ecma = reader.dialect is Dialect.ECMA
    if match is None or match[0] == "{}" or (is_ecma and not match[1]):
        if is_ecma:
            _warn_of_literal(reader, match)
        return None
    low, comma, high = match.groups()
    reader.position = match.end()
    minimum = _count(low) if low else 0
    if not comma:
        return minimum, minimum
    return minimum, _count(high) if high else None


def _warn_of_literal(reader: RegexReader, match: re.Match[str] | None) -> None:
    if match and match[2]:
        reader.findings.add("regex-repeat-literal", Span(*match.span()), quantifier=match[0], maximum=match[3])
    else:
        brace = Span(reader.position, reader.position + 1)
        reader.findings.add("regex-lone-bracket", brace, character="{")


def _count(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _MOST_DIGITS else 10**_MOST_DIGITS
