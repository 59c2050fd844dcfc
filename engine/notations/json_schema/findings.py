"""Findings about a schema, and their messages. Every finding names its JSON Pointer.

A finding is formatted when it is first read: its position takes a second pass over the text (see `json_tree`), and most
compilations with hints never show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.notations.json_schema.advice import advice_on_schema, similar_word
from engine.notations.json_schema.json_tree import Json, Key
from engine.source import Diagnostic, Severity, Span, diagnostic
from engine.source.catalogue import catalogue_text
from engine.source.diagnostics import diagnostic_texts

_MOST_LISTED: Final = {Severity.ERROR: 100, Severity.WARNING: 100, Severity.HINT: 20}
"""The largest number of listed findings with one code; further ones are only counted."""
_LONGEST_FIELD: Final = 200


@dataclass(frozen=True, slots=True)
class _Finding:
    """A finding that is not formatted yet."""

    key: str
    severity: Severity
    at: Json | Key | Span
    fields: Mapping[str, object]

    @property
    def code(self) -> str:
        return self.key.partition(".")[0]

    @property
    def span(self) -> Span:
        if isinstance(self.at, Span):
            return self.at
        span = self.at.span
        # A missing keyword has no span: use the first bracket of its schema.
        return Span(span.start, span.start + 1) if self.key == "schema-no-keyword" else span

    def formatted(self) -> Diagnostic:
        key, fields = self._with_advice()
        if "where" in diagnostic_texts(key).fields and "where" not in fields:
            fields["where"] = "" if isinstance(self.at, Span) else self.at.pointer or "the schema"
        short = {name: _shortened(value) if isinstance(value, str) else value for name, value in fields.items()}
        return diagnostic(key, self.span, self.severity, **short)

    def _with_advice(self) -> tuple[str, dict[str, object]]:
        """Return the key and the fields, with advice that takes a search."""
        if self.key == "schema-no-keyword" and isinstance(self.at, Json):
            variant, fields = advice_on_schema(self.at)
            return (f"schema-no-keyword.{variant}" if variant else self.key), {**self.fields, **fields}
        if self.key == "schema-unknown-keyword" and isinstance(self.at, Key):
            similar = similar_word(str(self.fields["what"]))
            if similar is not None and similar not in self.at.holder.members:
                return "schema-unknown-keyword.similar", {**self.fields, "similar": similar}
        return self.key, dict(self.fields)


class SchemaFindings:
    """Collects findings.

    Attributes:
        lenient: whether unenforced keywords are warnings.
    """

    def __init__(self, *, lenient: bool) -> None:
        self.lenient = lenient
        self.has_errors = False
        self._found: dict[object, _Finding] = {}

    def add(self, key: str, at: Json | Key | Span, **fields: object) -> None:
        """Report a finding about a part of the schema, or about a key.

        Args:
            key: its code in the catalogue, and the variant after a dot if there is one.
            at: the part, key or span; its JSON Pointer is the field `where`, unless that is given.
            fields: the other fields of its message and hint; text is shortened.
        """
        texts = diagnostic_texts(key)
        severity = texts.severity
        if texts.code == "schema-not-enforced" and self.lenient:
            severity = Severity.WARNING
        self.has_errors |= severity is Severity.ERROR
        identity = at if isinstance(at, Span) else at.identity
        self._found.setdefault((texts.code, identity), _Finding(key, severity, at, fields))

    def in_source_order(self) -> tuple[Diagnostic, ...]:
        """Return all findings formatted; of many with one code the first ones, and the number of the others."""
        listed: list[Diagnostic] = []
        first_left_out: dict[str, _Finding] = {}
        counts: Counter[str] = Counter()
        for found in sorted(self._found.values(), key=lambda one: (one.span, one.code)):
            counts[found.code] += 1
            if counts[found.code] <= _MOST_LISTED[found.severity]:
                listed.append(found.formatted())
            else:
                first_left_out.setdefault(found.code, found)
        for code, found in first_left_out.items():
            more = counts[code] - _MOST_LISTED[found.severity]
            message = catalogue_text("diagnostics.fragment.more", count=more)
            listed.append(Diagnostic(code, found.severity, found.span, message))
        return tuple(sorted(listed, key=lambda one: (one.span, one.code)))


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_FIELD:
        return text
    half = _LONGEST_FIELD // 2
    return f"{text[:half]}…{text[-half:]}"
