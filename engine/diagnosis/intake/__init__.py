"""Intake: what a user pastes — requests, responses, streams, logs, grammars — as a `FailureCase`.

`read_failure` merges what several texts contain, and `read_intake` returns what is still to be asked, too. The readers
of each kind are public for whoever knows the kind already.
"""

from engine.diagnosis.intake.call_grammars import call_grammars
from engine.diagnosis.intake.log_reader import KnownMessage, known_messages, read_log
from engine.diagnosis.intake.reading_texts import as_pasted_text, merged, read_failure, read_intake
from engine.diagnosis.intake.remarks import IntakeRemark, remarks_of
from engine.diagnosis.intake.secrets import remove_secrets
from engine.diagnosis.intake.servers import ignored_places
from engine.diagnosis.intake.values import (
    Intake,
    IntakeError,
    IntakeQuestion,
    PastedText,
    TextKind,
    UnclearInputError,
)

__all__ = [
    "Intake",
    "IntakeError",
    "IntakeQuestion",
    "IntakeRemark",
    "KnownMessage",
    "PastedText",
    "TextKind",
    "UnclearInputError",
    "as_pasted_text",
    "call_grammars",
    "ignored_places",
    "known_messages",
    "merged",
    "read_failure",
    "read_intake",
    "read_log",
    "remarks_of",
    "remove_secrets",
]
