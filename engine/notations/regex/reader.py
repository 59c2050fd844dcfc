"""The place in the text, and what all parts of one parse share."""

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
    """Reads a pattern from left to right and collects what is found.

    Attributes:
        text: the pattern.
        position: the offset of the next character.
        dialect: whose syntax it follows.
        findings: what was found so far.
        group_names: the names given to groups so far.
        groups_opened: how many capturing groups began so far.
        abandoned: whether reading was given up before the end.
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
        """Whether everything was read."""
        return self.position >= len(self.text)

    def peek(self, ahead: int = 0) -> str:
        """The next character, or one further on; empty beyond the end."""
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
        """Read up to `at_most` characters out of a set."""
        start = self.position
        end = min(start + at_most, len(self.text))
        while self.position < end and self.text[self.position] in allowed:
            self.position += 1
        return self.text[start : self.position]

    def take_until(self, terminator: str) -> str | None:
        """Read up to a terminator and past it; read nothing and give `None` where it never comes."""
        end = self.text.find(terminator, self.position)
        if end < 0:
            return None
        taken = self.text[self.position : end]
        self.position = end + len(terminator)
        return taken

    def since(self, start: int) -> Span:
        """The span from `start` to here."""
        return Span(start, self.position)

    def text_since(self, start: int) -> str:
        """What was read from `start` to here."""
        return self.text[start : self.position]

    def report(self, code: str, start: int, /, **fields: str) -> None:
        """Report a finding about what was read from `start` to here."""
        self.findings.add(code, self.since(start), **fields)

    def abandon(self) -> None:
        """Read no further: what follows cannot be understood, and what is open was not left open by its author."""
        self.position = len(self.text)
        self.abandoned = True
