"""The cursor in a pattern, the findings, and the other state that all parts of one parse share."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from engine.notations.regex.dialect import Dialect
from engine.source import Diagnostic, Severity, Span, diagnostic
from engine.source.diagnostics import diagnostic_texts

_LONGEST_QUOTE: Final = 60
MOST_FINDINGS: Final = 100
"""The number of findings after which a parse stops: the text is not a regular expression. Hints count separately."""


class RegexFindings:
    """The findings of one parse."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []
        self._hints = 0
        self.has_errors = False

    @property
    def is_full(self) -> bool:
        """True if there are enough findings to stop."""
        return self.has_errors and len(self._found) - self._hints >= MOST_FINDINGS

    def add(self, key: str, span: Span, /, **fields: object) -> None:
        """Report a finding.

        Args:
            key: its code in the catalogue, and the variant after a dot if there is one.
            span: its span.
            fields: the fields of its message and hint; text is shortened and made visible.
        """
        severity = diagnostic_texts(key).severity
        is_error, is_hint = severity is Severity.ERROR, severity is Severity.HINT
        # A first error is always reported, however many warnings precede it; hints do not count against the limit of
        # others.
        count = self._hints if is_hint else len(self._found) - self._hints
        if count >= MOST_FINDINGS and not (is_error and not self.has_errors):
            return
        self._hints += is_hint
        self.has_errors = self.has_errors or is_error
        quoted = {name: _quotable(value) if isinstance(value, str) else value for name, value in fields.items()}
        self._found.append(diagnostic(key, span, **quoted))

    def in_source_order(self) -> tuple[Diagnostic, ...]:
        """Return all findings, sorted by their start."""
        return tuple(sorted(self._found, key=lambda finding: finding.span))


def _quotable(text: str) -> str:
    short = text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in short
    )


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
