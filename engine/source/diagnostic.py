"""Diagnostics: errors, warnings and hints about a grammar's text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.source.text import SourceText, Span


class Severity(StrEnum):
    """The severity of a diagnostic. Only errors stop a compile."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic: what is wrong, where, and what to do.

    Attributes:
        code: a stable, kebab-case name, such as `regex-unclosed-group`.
        severity: only `Severity.ERROR` stops a compile.
        span: the position in the source.
        message: what is wrong, one sentence without a full stop.
        hint: what to do about it, one sentence; may be empty.
    """

    code: str
    severity: Severity
    span: Span
    message: str
    hint: str = ""

    def render(self, source: SourceText) -> str:
        """Format the diagnostic on one line, as compilers do: `name:line:column: severity: message`."""
        line, column = source.line_column(self.span.start)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{source.name}:{line}:{column}: {self.severity}: {self.message}{hint} [{self.code}]"
