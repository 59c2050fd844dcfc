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
from typing import Final, Literal

from engine.grammar import Chars, CharSet, Empty, Lookaround, Never, Node, Repeat
from engine.notations.regex.anchors import Anchor, anchor_node
from engine.notations.regex.atomic import Atomics
from engine.notations.regex.case import close
from engine.notations.regex.classes import Member, read_class
from engine.notations.regex.codepoints import SURROGATES, literal
from engine.notations.regex.dialect import Dialect, Flags, dot, fold_of
from engine.notations.regex.ecma_escapes import read_ecma_escape
from engine.notations.regex.escapes import Escape
from engine.notations.regex.frame import LastItem, RegexFrame
from engine.notations.regex.groups import Comment, GlobalFlags, Opening, Refused, read_opening
from engine.notations.regex.python_escapes import read_python_escape
from engine.notations.regex.quantifiers import Quantifier, read_quantifier
from engine.notations.regex.reader import RegexReader
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


def parse_written(
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
    limits.check("characters of the pattern", len(source.text), limits.source_length, "source_length")
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
        self._frames = [RegexFrame(Opening(Span(0, 0), flags))]

    @property
    def _frame(self) -> RegexFrame:
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
                self._add_escape(self._read_escape(in_class=False), start)
            case "[":
                characters = read_class(reader, self._frame.flags, self._read_member)
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
        self._add_set(close(characters, fold) if fold else characters, start)

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
        advice = "Write the whole character, or leave it out"
        low = _LOW_SURROGATE_ESCAPE.match(reader.text, reader.position)
        high = characters.ranges[0][0]
        if low and high < SURROGATES.ranges[0][0] + 0x400:
            code = 0x10000 + ((high & 0x3FF) << 10) + (int(low[1], 16) & 0x3FF)
            advice = rf"Write the whole character: `\U{code:08X}`"
        reader.report("regex-lone-surrogate", start, text=reader.text_since(start), advice=advice)

    def _add_anchor(self, anchor: Anchor, start: int) -> None:
        node = anchor_node(anchor, self._dialect, self._frame.flags, self.reader.since(start))
        self._frame.add(node, LastItem.CONDITION)

    def _read_escape(self, *, in_class: bool) -> Escape:
        read = read_python_escape if self._dialect is Dialect.PYTHON else read_ecma_escape
        return read(self.reader, self._frame.flags, in_class=in_class)

    def _read_member(self) -> Member:
        escape = self._read_escape(in_class=True)
        return None if isinstance(escape, Anchor) else escape

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
                self._frames.append(RegexFrame(opening))
                if len(self._frames) - 1 > self._limits.nesting:
                    self.reader.findings.add("regex-nesting-limit", opening.span, limit=f"{self._limits.nesting:,}")
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
            self._frame.add(node, LastItem.ATOM, frame.weight, start=span.start)
            return
        body = frame.finish(Span(frame.opening.span.end, end), end)
        condition = Lookaround(body, ahead=look.ahead, negated=look.negated, span=span)
        # `re` accepts a repeated lookaround, without effect; ECMAScript refuses it like anchors.
        last = LastItem.CONDITION if self._dialect is Dialect.ECMA else LastItem.ATOM
        self._frame.add(condition, last, frame.weight)

    # Repetition

    def _repeat(self) -> None:
        quantifier = read_quantifier(self.reader)
        if quantifier is None:
            self._add_literal("{")
            return
        problem = self._frame.last.value
        if problem:
            self.reader.findings.add(problem, quantifier.span, quantifier=quantifier.text)
        else:
            self._apply(quantifier)

    def _apply(self, quantifier: Quantifier) -> None:
        node, weight, start = self._frame.take_last()
        count = max(quantifier.minimum if quantifier.maximum is None else quantifier.maximum, 1)
        if count * weight > self._limits.repetition:
            self.reader.findings.add(
                "regex-repetition-limit",
                quantifier.span,
                quantifier=quantifier.text,
                given=f"{count * weight:,}",
                limit=f"{self._limits.repetition:,}",
            )
            count = 1
        span = Span(start, quantifier.span.end)
        if quantifier.maximum == 0:
            self._frame.add(Empty(span), LastItem.REPETITION)
        else:
            self._frame.add(self._repeated(node, quantifier, span), LastItem.REPETITION, count * weight)

    def _repeated(self, node: Node, quantifier: Quantifier, span: Span) -> Node:
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
