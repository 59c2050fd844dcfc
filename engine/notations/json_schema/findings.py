"""Findings about a schema, and their messages. Every finding names its JSON Pointer.

A finding is formatted when it is first read: its position takes a second pass over the text (see `json_tree`), and most
compilations with hints never show them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from engine.notations.json_schema.advice import advice_on, similar_word
from engine.notations.json_schema.json_tree import Json, Key
from engine.source import Diagnostic, Severity, Span

_E, _W, _H = Severity.ERROR, Severity.WARNING, Severity.HINT

_WORDS: Final[dict[str, tuple[Severity, str, str]]] = {
    "schema-no-json": (_E, "{what}", "A JSON Schema is written in JSON"),
    "schema-no-schema": (_E, "{where} should be a schema, an object or a boolean", ""),
    "schema-invalid-keyword": (_E, "{where} should be {what}", ""),
    "schema-huge-number": (
        _E,
        "{where} has a number with more than {most} digits before or behind its decimal point",
        "Use a smaller number",
    ),
    "schema-unknown-type": (_E, "{where} names no JSON type: {what}", "Types are {types}"),
    "schema-doubled-key": (_W, "the key {where} occurs twice in one object; the last one counts", "Remove one of them"),
    "schema-remote-reference": (
        _E,
        "{where} refers to {what}, which is not in this text, and nothing is fetched",
        "Copy that schema under $defs, with its $id",
    ),
    "schema-unresolved-reference": (_E, "{where} refers to {what}, which does not exist", ""),
    "schema-endless-reference": (
        _E,
        "{where} refers back to itself before any value is read, so it has no meaning",
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
    "schema-unknown-keyword": (
        _H,
        "{what} is not a keyword of JSON Schema, so it has no effect",
        "{advice}",
    ),
    "schema-no-keyword": (
        _W,
        "{where} has no keyword of JSON Schema, so it allows any value",
        "{advice}",
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


_MOST_LISTED: Final = {Severity.ERROR: 100, Severity.WARNING: 100, Severity.HINT: 20}
"""The largest number of listed findings with one code; further ones are only counted."""
_LONGEST_FIELD: Final = 200


@dataclass(frozen=True, slots=True)
class _Finding:
    """A finding that is not formatted yet."""

    code: str
    severity: Severity
    at: Json | Key | Span
    fields: dict[str, str]

    @property
    def span(self) -> Span:
        if isinstance(self.at, Span):
            return self.at
        span = self.at.span
        # A missing keyword has no span: use the first bracket of its schema.
        return Span(span.start, span.start + 1) if self.code == "schema-no-keyword" else span

    def in_words(self) -> Diagnostic:
        _, message, hint = _WORDS[self.code]
        fields = {"where": self._where(), "advice": self._advice(), **self.fields}
        short = {name: _shortened(value) for name, value in fields.items()}
        return Diagnostic(self.code, self.severity, self.span, message.format(**short), hint.format(**short))

    def _where(self) -> str:
        return "" if isinstance(self.at, Span) else self.at.pointer or "the schema"

    def _advice(self) -> str:
        if self.code == "schema-no-keyword" and isinstance(self.at, Json):
            return advice_on(self.at)
        if self.code == "schema-unknown-keyword" and isinstance(self.at, Key):
            meant = similar_word(self.fields["what"])
            if meant is not None and meant not in self.at.holder.members:
                return f"Did you mean {meant}?"
            return "Remove it, or begin its name with x- to mark an extension"
        return ""


class SchemaFindings:
    """Collects findings.

    Attributes:
        lenient: whether unenforced keywords are warnings.
    """

    def __init__(self, *, lenient: bool) -> None:
        self.lenient = lenient
        self.has_errors = False
        self._found: dict[object, _Finding] = {}

    def add(self, code: str, at: Json | Key | Span, **fields: str) -> None:
        """Report a finding about a part of the schema, or about a key.

        Args:
            code: the code of the finding.
            at: the part, key or span.
            fields: the fields of the message.
        """
        severity = _WORDS[code][0]
        if code == "schema-not-enforced" and self.lenient:
            severity = Severity.WARNING
        self.has_errors |= severity is Severity.ERROR
        identity = at if isinstance(at, Span) else at.identity
        self._found.setdefault((code, identity), _Finding(code, severity, at, fields))

    def in_source_order(self) -> tuple[Diagnostic, ...]:
        """Return all findings formatted; of many with one code the first ones, and the number of the others."""
        listed: list[Diagnostic] = []
        first_left_out: dict[str, _Finding] = {}
        counts: Counter[str] = Counter()
        for found in sorted(self._found.values(), key=lambda one: (one.span, one.code)):
            counts[found.code] += 1
            if counts[found.code] <= _MOST_LISTED[found.severity]:
                listed.append(found.in_words())
            else:
                first_left_out.setdefault(found.code, found)
        for code, found in first_left_out.items():
            more = counts[code] - _MOST_LISTED[found.severity]
            message = f"{more:,} more findings of this kind are not listed; the first of them is here"
            listed.append(Diagnostic(code, found.severity, found.span, message))
        return tuple(sorted(listed, key=lambda one: (one.span, one.code)))


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_FIELD:
        return text
    half = _LONGEST_FIELD // 2
    return f"{text[:half]}…{text[-half:]}"
