"""The cause of a difference in words."""

from __future__ import annotations

from engine.diagnosis.differences.values import CauseKind, Difference, Direction
from engine.source.catalogue import catalogue_text


def cause_sentence(found: Difference, engines: tuple[str, str]) -> str:
    """Return the cause of a difference, without a period.

    Args:
        found: the difference.
        engines: the names of the first and the second engine.
    """
    looser = engines[1] if found.direction is Direction.GAINED else engines[0]
    keywords = ", ".join(found.pointers) or "/"
    fields = {"engine": found.engine, "keywords": keywords, "rule": found.rule, "reason": found.reason}
    return catalogue_text(f"differences.cause.{_key(found, is_looser=found.engine == looser)}", **fields)


def _key(found: Difference, *, is_looser: bool) -> str:
    side = "allows" if is_looser else "forbids"
    if found.kind is CauseKind.KEYWORD:
        return str(found.effect or side)
    if found.kind is CauseKind.RULE:
        return f"{'rule' if found.rule else 'expression'}_{side}"
    return f"other_{side}" if found.kind is CauseKind.OTHER else found.kind.name.lower()
