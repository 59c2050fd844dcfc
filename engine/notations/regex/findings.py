"""The list of findings that a parse of a pattern fills."""

from __future__ import annotations

from typing import Final

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
