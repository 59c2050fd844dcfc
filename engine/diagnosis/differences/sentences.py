"""Verdicts, refusals and causes in words."""

from __future__ import annotations

from engine.diagnosis.differences.values import (
    FORMS,
    CauseKind,
    Difference,
    DifferenceReport,
    Direction,
    RefusedGrammar,
)
from engine.source.catalogue import catalogue_text


def cause_sentence(found: Difference, engines: tuple[str, str]) -> str:
    """Return the cause of a difference, without a period.

    Args:
        found: the difference.
        engines: the names of the first and the second engine.
    """
    looser = engines[1] if found.direction is Direction.GAINED else engines[0]
    keywords = ", ".join(found.pointers) or "/"
    key = _key(found, is_looser=found.engine == looser)
    fields = {"engine": found.engine, "keywords": keywords, "rule": found.rule, "reason": found.reason}
    return catalogue_text(f"differences.cause.{key}", **{name: fields[name] for name in _fields(found)})


def verdict_sentence(report: DifferenceReport) -> str:
    """Return what the second engine does, compared with the first, without a period."""
    first, second = (f"{name} {version}".rstrip() for name, version in report.engines)
    return catalogue_text(f"differences.verdict.{report.verdict}", first=first, second=second)


def refusal_sentence(refused: RefusedGrammar) -> str:
    """Return why an engine does not compile the grammar, without a period."""
    fields = {"engine": refused.engine, "reason": refused.reason}
    if refused.pointer is None:
        return catalogue_text("differences.refused", **fields)
    return catalogue_text("differences.refused_for", **fields, pointer=refused.pointer)


def _fields(found: Difference) -> tuple[str, ...]:
    """Return the names of the fields of the text of a cause."""
    if found.kind in (*FORMS, CauseKind.TOKENS, CauseKind.UNEXPLAINED):
        return ()
    if found.kind is CauseKind.RULE:
        return ("engine", "rule") if found.rule else ("engine",)
    with_keywords = (CauseKind.KEYWORD, CauseKind.DEFAULT, CauseKind.OTHER)
    others = {CauseKind.FAILURE: ("engine", "reason"), **dict.fromkeys(with_keywords, ("engine", "keywords"))}
    return others.get(found.kind, ("engine",))


def _key(found: Difference, *, is_looser: bool) -> str:
    side = "allows" if is_looser else "forbids"
    if found.kind is CauseKind.KEYWORD:
        return str(found.effect or side)
    if found.kind is CauseKind.RULE:
        return f"{'rule' if found.rule else 'expression'}_{side}"
    return f"other_{side}" if found.kind is CauseKind.OTHER else found.kind.name.lower()
