"""The findings of a lint for an engine, as values; `lint` makes them, and windows show them as diagnostics.

This module imports no compiler, since the process of a window reads findings that a worker made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.notations.editing import Edit
from engine.source import Diagnostic, Severity, Span
from engine.source.catalogue import catalogue_text
from engine.targets import Effect, EvidenceSource

_SEVERE: Final = frozenset((Effect.REFUSES, Effect.DROPS))


@dataclass(frozen=True, slots=True)
class TargetRewrite:
    """An equivalent text: a title, and the edits that make it."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class TargetFinding:
    """A part of a grammar that an engine treats otherwise than the standard.

    Attributes:
        engine: the id of the engine, a name of `ENGINES`.
        version: the version of the engine that the statement is about; empty for a service.
        effect: the kind of treatment.
        keyword: the keyword; empty for another part of a grammar.
        pointer: the JSON Pointer of the keyword's value; empty outside of a schema.
        span: the keyword in the text.
        sentence: what the engine does.
        source: where it is known from.
        examined: the engine that was run or read; another one if the target uses that.
        examined_version: its version; empty for a service.
        date: the day of that, as in ISO 8601; empty if unknown.
        rewrite: an equivalent text that the engine treats as written; None for none.
        construct: the id of the construct of a regular expression that it is about; empty for others.
    """

    engine: str
    version: str
    effect: Effect
    keyword: str
    pointer: str
    span: Span
    sentence: str
    source: EvidenceSource
    examined: str
    examined_version: str
    date: str = ""
    rewrite: TargetRewrite | None = None
    construct: str = ""

    @property
    def evidence(self) -> str:
        """Return where it is known from, in a few words: the kind of source, engine, version and date."""
        engine = f"{self.examined} {self.examined_version}".rstrip()
        return catalogue_text(
            f"targets.fragment.evidence.{self.source}", about=", ".join(filter(None, (engine, self.date)))
        )

    @property
    def short_evidence(self) -> str:
        """Return the kind of source and the version."""
        return catalogue_text(f"targets.fragment.evidence.short.{self.source}", version=self.examined_version).rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDiagnostic(Diagnostic):
    """A finding about a target as a diagnostic; it never stops a compile.

    Attributes:
        finding: the finding.
    """

    finding: TargetFinding


def as_diagnostics(found: Iterable[TargetFinding]) -> tuple[TargetDiagnostic, ...]:
    """Return findings as diagnostics, whose hint says where they are known from."""
    return tuple(
        TargetDiagnostic(
            f"target-{one.effect}",
            Severity.WARNING if one.effect in _SEVERE else Severity.HINT,
            one.span,
            one.sentence,
            catalogue_text("targets.lint.source", evidence=one.evidence),
            finding=one,
        )
        for one in found
    )
