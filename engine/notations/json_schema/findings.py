"""What is found about a schema, with the words for it. Every finding names its JSON Pointer."""

from __future__ import annotations

from typing import Final

from engine.notations.json_schema.text import Json
from engine.source import Diagnostic, Severity, Span

_E, _W, _H = Severity.ERROR, Severity.WARNING, Severity.HINT

_WORDS: Final[dict[str, tuple[Severity, str, str]]] = {
    "schema-no-json": (_E, "{what}", "A JSON Schema is written in JSON"),
    "schema-no-schema": (_E, "{where} should be a schema, an object or a boolean", ""),
    "schema-invalid-keyword": (_E, "{where} should be {what}", ""),
    "schema-unknown-type": (_E, "{where} names no JSON type: {what}", "Types are {types}"),
    "schema-doubled-key": (_W, "the key {where} stands twice in one object; the last counts", "Remove one of them"),
    "schema-remote-reference": (
        _E,
        "{where} refers to {what}, which is not in this text, and nothing is fetched",
        "Copy that schema under $defs, with its $id",
    ),
    "schema-unresolved-reference": (_E, "{where} refers to {what}, and there is no such place", ""),
    "schema-endless-reference": (
        _E,
        "{where} comes back to itself before any value is read, so it says nothing",
        "Put the reference under properties or items",
    ),
    "schema-pattern": (_E, "{where}: {what}", ""),
    "schema-unknown-dialect": (_H, "{where}: {what} is not a known dialect; it is read as draft 2020-12", ""),
    "schema-unknown-format": (_H, "{where}: the format {what} is unknown, and only an annotation", ""),
    "schema-misspelled-keyword": (
        _H,
        "{what} is no keyword, so it is only an annotation",
        "Did you mean {meant}?",
    ),
    "schema-later-keyword": (
        _W,
        "{where} is no keyword of {draft}, so it is only an annotation",
        "Name {since} or a later one in $schema",
    ),
    "schema-former-keyword": (_W, "{where} is no keyword any more in {draft}", "Use $dynamicRef, and $dynamicAnchor"),
    "schema-beside-reference": (
        _W,
        "{where} does not count: up to draft 7, nothing beside $ref does",
        "Put both under allOf, or name a later draft in $schema",
    ),
    "schema-not-enforced": (_E, "{where} is not enforced: {what}", 'Remove it, or compile with unenforced="warn"'),
    "schema-too-deep": (_E, "{what}", "Put inner schemas under $defs, and refer to them"),
}


class Findings:
    """Collects findings.

    Attributes:
        lenient: what is not enforced is a warning.
    """

    def __init__(self, *, lenient: bool) -> None:
        self.lenient = lenient
        self._found: dict[tuple[str, Span], Diagnostic] = {}

    def add(self, code: str, at: Json | Span, *, span: Span | None = None, **fields: str) -> None:
        """Report a finding about a part of the schema."""
        severity, message, hint = _WORDS[code]
        if code == "schema-not-enforced" and self.lenient:
            severity = Severity.WARNING
        if isinstance(at, Json):
            fields.setdefault("where", at.pointer or "the schema")
            span = span or at.span
        else:
            span = at
        self._found.setdefault(
            (code, span), Diagnostic(code, severity, span, message.format(**fields), hint.format(**fields))
        )

    def in_source_order(self) -> tuple[Diagnostic, ...]:
        """All findings."""
        return tuple(sorted(self._found.values(), key=lambda d: (d.span, d.code)))

    @property
    def has_errors(self) -> bool:
        """Whether one of them stops the compile."""
        return any(d.severity is Severity.ERROR for d in self._found.values())
