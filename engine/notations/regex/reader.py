"""The cursor in a pattern, and the state that all parts of one parse share."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from engine.notations.regex.dialect import Dialect
from engine.notations.regex.findings import RegexFindings
from engine.source import Span

HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
OCTAL_DIGITS: Final = frozenset("01234567")
DIGITS: Final = frozenset("0123456789")


class RegexReader:
    """Reads a pattern from left to right and collects findings.

    Attributes:
        text: the pattern.
        position: the offset of the next character.
        dialect: its syntax.
        findings: the findings so far.
        group_names: the names of groups so far.
        groups_opened: the number of capturing groups so far.
        abandoned: whether reading stopped before the end.
    """

    __slots__ = ("abandoned", "dialect", "findings", "group_names", "groups_opened", "position", "text")

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.position = 0
        self.dialect = dialect
        self.findings = RegexFindings()
        self.group_names: set[str] = set()
        self.groups_opened = 0
        self.abandoned = False

    @property
    def at_end(self) -> bool:
        """True if everything was read."""
        return self.position >= len(self.text)

    def peek(self, ahead: int = 0) -> str:
        """Return the next character, or one further ahead; empty beyond the end."""
        return self.text[self.position + ahead : self.position + ahead + 1]

    def take(self) -> str:
        """Read one character; empty at the end."""
        character = self.peek()
        self.position += len(character)
        return character

    def accept(self, expected: str) -> bool:
        """Read `expected` if it comes next."""
        if self.text.startswith(expected, self.position):
            self.position += len(expected)
            return True
        return False

    def take_while(self, allowed: Container[str], at_most: int) -> str:
        """Read up to `at_most` characters of a set."""
        start = self.position
        end = min(start + at_most, len(self.text))
        while self.position < end and self.text[self.position] in allowed:
            self.position += 1
        return self.text[start : self.position]

    def take_until(self, terminator: str) -> str | None:
        """Read up to a terminator and past it; read nothing and return `None` if there is none."""
        end = self.text.find(terminator, self.position)
        if end < 0:
            return None
        taken = self.text[self.position : end]
        self.position = end + len(terminator)
        return taken

    def since(self, start: int) -> Span:
        """Return the span from `start` to the current position."""
        return Span(start, self.position)

    def text_since(self, start: int) -> str:
        """Return the text from `start` to the current position."""
        return self.text[start : self.position]

    def report(self, key: str, start: int, /, **fields: object) -> None:
        """Report a finding about the text from `start` to the current position."""
        self.findings.add(key, self.since(start), **fields)

    def abandon(self) -> None:
        """Stop reading: the rest cannot be understood, and open groups are not the author's error."""
        self.position = len(self.text)
        self.abandoned = True
