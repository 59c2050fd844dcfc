"""Diagnostics by code: severity, message and hint of each are in `resources/texts/diagnostics.toml`.

A code may have variants, which differ in message or hint: `diagnostic("gbnf-bad-token.unclosed", span)` has the code
`gbnf-bad-token`. What a variant leaves out is that of its code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.source.catalogue import area_texts, check_fields, unknown_key
from engine.source.text import Diagnostic, Severity, Span

_AREA: Final = "diagnostics"


@dataclass(frozen=True, slots=True)
class DiagnosticTexts:
    """The entry of a diagnostic in the catalogue.

    Attributes:
        code: the code.
        severity: its severity.
        message: the message, with its fields in braces.
        hint: the hint, with its fields in braces; may be empty.
        fields: the names of the fields of both.
    """

    code: str
    severity: Severity
    message: str
    hint: str
    fields: frozenset[str]


def diagnostic(key: str, span: Span, severity: Severity | None = None, /, **fields: object) -> Diagnostic:
    """Return a diagnostic with the message and hint of the catalogue.

    Args:
        key: the code, and the variant after a dot if there is one.
        span: the position in the source.
        severity: the severity; that of the catalogue by default.
        fields: the fields of message and hint, all of them and no others. User text is quoted as it is given.

    Raises:
        CatalogueError: there is no such code or variant, or it has other fields.
    """
    texts = diagnostic_texts(key)
    check_fields(key, texts.fields, fields)
    message, hint = texts.message.format(**fields), texts.hint.format(**fields)
    return Diagnostic(texts.code, severity or texts.severity, span, message, hint)


@cache
def diagnostic_texts(key: str) -> DiagnosticTexts:
    """Return the texts of a diagnostic.

    Args:
        key: the code, and the variant after a dot if there is one.

    Raises:
        CatalogueError: there is no such code or variant.
    """
    code = key.partition(".")[0]
    known = diagnostic_keys()
    if key not in known:
        raise unknown_key(key, iter(known))
    texts = area_texts(_AREA)
    severity, message, hint = (
        texts.get(f"{key}.{part}") or texts.get(f"{code}.{part}") for part in ("severity", "message", "hint")
    )
    assert message is not None
    return DiagnosticTexts(
        code,
        Severity(severity.other) if severity else Severity.ERROR,
        message.other,
        hint.other if hint else "",
        message.fields | (hint.fields if hint else frozenset()),
    )


@cache
def diagnostic_keys() -> frozenset[str]:
    """Return the keys of all diagnostics: codes and their variants. A code that lacks a part has variants only."""
    texts = area_texts(_AREA)
    owners = {name.rpartition(".")[0] for name in texts}
    variants = {owner for owner in owners if "." in owner}
    codes_with_variants = {variant.partition(".")[0] for variant in variants}
    complete = {
        owner
        for owner in owners - variants
        if f"{owner}.message" in texts and (f"{owner}.hint" in texts or owner not in codes_with_variants)
    }
    return frozenset(variants | complete)
