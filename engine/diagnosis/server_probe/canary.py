"""Canaries: constraints that allow a single value, which no prompt shows.

An answer with that value proves that a mask is in force if the server did not put the constraint into the prompt, which
the number of prompt tokens shows. Where it may have, the canary is asked for once more at a temperature at which the
model cannot copy a text that it sees: a mask with one legal text is not affected by heat. That the model cannot copy it
is itself tried, without a constraint.

Rejected: one obeying answer as evidence, since a capable model follows a schema that it is shown; a value of which the
prompt speaks, for the same reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from engine.diagnosis.case import FailureCase, FinishReason
from engine.servers.grammar_form import GrammarForm

CANARY_VALUE: Final = "zq7kvx"
CANARY_INSTANCE: Final = {"a": CANARY_VALUE}
CANARY_SCHEMA: Final = {
    "type": "object",
    "properties": {"a": {"type": "string", "enum": [CANARY_VALUE]}},
    "required": ["a"],
    "additionalProperties": False,
}
"""A schema with a single value, in the part of JSON Schema that every server reads."""
SCALAR_SCHEMA: Final = {"type": "string", "enum": [CANARY_VALUE]}
"""A schema with a single value, for a model that fills its budget with the white space between the tokens of JSON."""
PROMPT: Final = "Write the word hello, and nothing else."
COPY_PROMPT: Final = f"Copy this text: {json.dumps(CANARY_INSTANCE)} {CANARY_VALUE}"

_LEAST_WRITTEN: Final = 4
"""The characters of the value that an answer which was cut off must have."""
_LONGEST_SHOWN: Final = 200
_ERROR_WORDS: Final = ("error", "exception", "failed", "not supported", "unsupported", "invalid", "traceback")
_THINK_END: Final = "</think>"


CANARIES: Final[dict[GrammarForm, Any]] = {
    GrammarForm.JSON_SCHEMA: CANARY_SCHEMA,
    GrammarForm.GRAMMAR: f'root ::= "{CANARY_VALUE}"',
    GrammarForm.REGEX: CANARY_VALUE,
    GrammarForm.CHOICE: [CANARY_VALUE],
}
"""The canary in each form."""


class AnswerState(StrEnum):
    """The evidence of an answer to a canary."""

    OBEYED = "obeyed"  # the value, and nothing else
    LATE = "late"  # the value, after or within other text
    FREE = "free"  # a text that the constraint does not allow
    CUT_OFF = "cut-off"  # it ended before anything could be seen
    EMPTY = "empty"
    ERROR_TEXT = "error-text"  # an answer that reports an error


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer to a canary.

    Attributes:
        state: what it shows.
        text: the answer, or the arguments of the call; its beginning.
        begins_at: the number of characters before the value's text; 0 if it obeyed.
        has_thoughts: whether thoughts come before it.
    """

    state: AnswerState
    text: str
    begins_at: int = 0
    has_thoughts: bool = False


def is_canary(text: str) -> bool:
    """Return whether a text is the canary, as JSON or as plain text."""
    if text.strip() == CANARY_VALUE:
        return True
    try:
        return json.loads(text) in (CANARY_INSTANCE, CANARY_VALUE)
    except (ValueError, RecursionError):
        return False


def judge_answer(case: FailureCase, form: GrammarForm, *, is_call: bool = False) -> JudgedAnswer:
    """Judge an answer to a canary.

    Args:
        case: the response.
        form: the form of the canary.
        is_call: whether the arguments of a tool call should be the canary.
    """
    text = (case.output or b"").decode("utf-8", "replace")
    if is_call and case.tool_calls:
        text = case.tool_calls[0].arguments
    _thoughts, mark, answer = text.rpartition(_THINK_END)
    answer = answer.lstrip() if mark else text
    has_thoughts = bool(case.reasoning or mark)
    shown = text[:_LONGEST_SHOWN]
    begins_at = len(text) - len(answer)
    if case.status:
        return JudgedAnswer(AnswerState.ERROR_TEXT, case.status[:_LONGEST_SHOWN])
    if is_canary(answer):
        return JudgedAnswer(AnswerState.OBEYED, shown, begins_at, has_thoughts)
    is_cut = case.finish is FinishReason.LENGTH
    if is_cut and _begins_canary(answer, form):
        state = AnswerState.OBEYED if _written(answer) >= _LEAST_WRITTEN else AnswerState.CUT_OFF
        return JudgedAnswer(state, shown, begins_at, has_thoughts)
    if CANARY_VALUE in answer:
        begins_at += max(0, min(answer.find(part) for part in ("{", CANARY_VALUE) if part in answer))
        return JudgedAnswer(AnswerState.LATE, shown, begins_at, has_thoughts)
    if not text.strip():
        return JudgedAnswer(AnswerState.CUT_OFF if is_cut or has_thoughts else AnswerState.EMPTY, shown)
    if is_cut and not mark and "<think>" in text:
        return JudgedAnswer(AnswerState.CUT_OFF, shown)
    return JudgedAnswer(AnswerState.FREE, shown, 0, has_thoughts)


def is_other_text(case: FailureCase, form: GrammarForm) -> bool:
    """Return whether an answer, as far as it goes, is a text that does not become the canary.

    Args:
        case: the response, which may be cut off.
        form: the form of the canary.
    """
    judged = judge_answer(case, form)
    return judged.state is AnswerState.FREE and not CANARY_VALUE.startswith(judged.text.strip('" \n'))


def is_error_text(text: str, control: str) -> bool:
    """Return whether an answer reads as a report of an error, in words that the answer without a constraint lacks."""
    lowered, usual = text.lower(), control.lower()
    return any(word in lowered and word not in usual for word in _ERROR_WORDS)


def _written(text: str) -> int:
    """Return how many characters of the value a text has."""
    return next((n for n in range(len(CANARY_VALUE), 0, -1) if CANARY_VALUE[:n] in text), 0)


def _begins_canary(text: str, form: GrammarForm) -> bool:
    """Return whether a text begins the canary; white space between the tokens of JSON may be long."""
    if form is not GrammarForm.JSON_SCHEMA:
        return CANARY_VALUE.startswith(text)
    compact = "".join(text.split())
    return json.dumps(CANARY_INSTANCE, separators=(",", ":")).startswith(compact)
