"""Remarks on pasted texts: what was recognised and not read, and what to paste next.

The window and the command line show the same remarks.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.diagnosis.case import FailureCase
from engine.diagnosis.intake.log_reader import KnownMessage, known_messages
from engine.source.catalogue import catalogue_text


@dataclass(frozen=True, slots=True)
class IntakeRemark:
    """A remark on pasted texts.

    Attributes:
        title: what was recognised.
        detail: what to do; may be empty.
        command: a command that prints what is missing, to be copied; empty if there is none.
    """

    title: str
    detail: str = ""
    command: str = ""


def remarks_of(case: FailureCase) -> tuple[IntakeRemark, ...]:
    """Return the remarks on the texts of a failure: its findings, then each message of its logs once."""
    findings = [IntakeRemark(found.message, command=found.command) for found in case.findings]
    messages = (known_messages()[name] for name in dict.fromkeys(found.message for found in case.log))
    return (*findings, *(_of_message(known) for known in messages))


def _of_message(known: KnownMessage) -> IntakeRemark:
    return IntakeRemark(known.sentence, catalogue_text("intake.remark.log", setting=known.setting, next=known.next))
