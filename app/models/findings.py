"""Findings about a grammar for people: their sign, their kind in words, and their icon.

A finding about the grammar has the sign of its severity. One about the target of the document has that of its effect,
and looks otherwise everywhere: by its shape, not by its colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from app.catalogue import capitalised, ui_text
from app.theme import Role
from engine.diagnosis.targets.findings import TargetDiagnostic
from engine.source import Diagnostic, Severity
from engine.targets import Effect, engine_record

Sign: TypeAlias = Severity | Effect

ICONS: Final[Mapping[Sign, tuple[str, Role]]] = {
    Severity.ERROR: ("ph.x-circle-fill", Role.ERROR),
    Severity.WARNING: ("ph.warning-fill", Role.WARNING),
    Severity.HINT: ("ph.info", Role.HINT),
    Effect.REFUSES: ("ph.prohibit", Role.TARGET),
    Effect.DROPS: ("ph.eye-slash", Role.TARGET),
    Effect.APPROXIMATES: ("ph.equals", Role.TARGET),
    Effect.SLOWS: ("ph.hourglass", Role.TARGET),
}
"""The icon of each sign, with its colour."""

_RANKS: Final = (Severity.ERROR, Severity.WARNING, Effect.REFUSES, Effect.DROPS, Effect.APPROXIMATES, Effect.SLOWS)


def sign_of(finding: Diagnostic) -> Sign:
    """Return the sign of a finding."""
    return finding.finding.effect if isinstance(finding, TargetDiagnostic) else finding.severity


def rank_of(finding: Diagnostic) -> int:
    """Return a number that is lower for a more severe finding; hints are last."""
    sign = sign_of(finding)
    return _RANKS.index(sign) if sign in _RANKS else len(_RANKS)


def sign_text(sign: Sign) -> str:
    """Return the name of a sign, such as "Error" or "Refused"."""
    if isinstance(sign, Effect):
        return capitalised(ui_text(f"common.fragment.effect.{sign}"))
    return ui_text(f"common.severity.{sign}")


def kind_text(finding: Diagnostic) -> str:
    """Return the kind of a finding, such as "Error" or "Refused by llama.cpp 0.5.0"."""
    if not isinstance(finding, TargetDiagnostic):
        return sign_text(finding.severity)
    about = finding.finding
    target = f"{engine_record(about.engine).engine} {about.version}".rstrip()
    return ui_text(f"common.effect_by.{about.effect}", target=target)
