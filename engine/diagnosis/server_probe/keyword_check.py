"""Which keywords and rules of the user's grammar a server enforces, and what it does with unsupported constructs.

Where the server's mask decides texts (`text_judges`), a keyword or a rule is enforced if the mask excludes each text
that violates it alone and allows the legal text beside it; one that is allowed is a counterexample. Elsewhere the model
is told to write the violating text: if it does, or writes another violating text, that is a counterexample. If it does
not, but writes it when asked without the constraint, the constraint held in this try; that is no proof, and never
called enforced. Else nothing is known, since the model may have obeyed by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from engine.compile import CompiledGrammar, CompileOptions
from engine.diagnosis.case import FailureCase, FinishReason
from engine.diagnosis.failures.schema_check import violated_keywords
from engine.diagnosis.failures.tolerant_json import read_output
from engine.diagnosis.server_probe.asking import AskingWay, RefusedSchemaError, TextJudge
from engine.diagnosis.server_probe.canary import AnswerState, judge_answer
from engine.diagnosis.server_probe.constructs import Construct, begins_canary
from engine.diagnosis.server_probe.report import ConstructFinding, ConstructState, KeywordFinding
from engine.diagnosis.server_probe.violating_texts import TriedConstraint
from engine.diagnosis.server_probe.way_check import WayCheck
from engine.servers import RefusedRequestError, SilentServerError

COPY_EXACTLY: Final = "Write exactly: {text}"
_FREE_TEXT: Final = "hello"
_MOST_TOKENS: Final = 160
_MOST_TRIES: Final = 2
IsViolation = Callable[[FailureCase, str], bool]


def check_construct(construct: Construct, way: AskingWay, check: WayCheck, judge: TextJudge | None) -> ConstructFinding:
    """Return what a server does with a construct, asked in a way of which the mask is known to be on.

    Args:
        construct: the construct.
        way: the way of asking.
        check: asks the server.
        judge: decides texts by the mask of this way; None if the server cannot.

    Raises:
        ServerError: the server cannot be reached.
        CancelledError: the work was cancelled.
    """
    found = None if judge is None else _decided(construct, way, judge)
    if found is not None:
        return found
    answer = check.ask_for_difference(way, construct.whole)
    if answer.case is None:
        state = ConstructState.REFUSED if answer.status else ConstructState.UNKNOWN
        return ConstructFinding(construct.name, way.name, state, answer.message)
    judged = judge_answer(answer.case, way.form)
    if not begins_canary(judged.text[judged.begins_at :]):
        is_open = judged.state is AnswerState.FREE
        state = ConstructState.OPEN if is_open else ConstructState.UNKNOWN
        return ConstructFinding(construct.name, way.name, state, judged.text)
    told = check.ask(way, construct.whole, prompt=COPY_EXACTLY.format(text=construct.invalid_text))
    written = told.text
    if _is_same(written, construct.invalid_text):
        return ConstructFinding(construct.name, way.name, ConstructState.DROPPED, written)
    return ConstructFinding(construct.name, way.name, ConstructState.MASKED)


def _decided(construct: Construct, way: AskingWay, judge: TextJudge) -> ConstructFinding | None:
    """Return what the mask of a way allows; None if that shows no mask, since it allows a text that is no JSON."""
    try:
        if judge.allows(construct.whole, _FREE_TEXT):
            return None
        if judge.allows(construct.whole, construct.invalid_text):
            return ConstructFinding(construct.name, way.name, ConstructState.DROPPED, construct.invalid_text)
        is_enforced = bool(construct.valid_text) and judge.allows(construct.whole, construct.valid_text)
    except RefusedSchemaError as error:
        return ConstructFinding(construct.name, way.name, ConstructState.REFUSED, str(error.fields["message"]))
    except (RefusedRequestError, SilentServerError):
        return None
    state = ConstructState.ENFORCED if is_enforced else ConstructState.MASKED
    return ConstructFinding(construct.name, way.name, state)


def decide_keyword(constraint: Any, tried: TriedConstraint, judge: TextJudge) -> KeywordFinding:
    """Return whether the mask of a server enforces a keyword or a rule.

    Args:
        constraint: the whole constraint, as a request has it.
        tried: the keyword or the rule.
        judge: decides texts by the mask.

    Raises:
        RefusedSchemaError: the server refuses the constraint.
        ServerError: the server cannot be reached.
        CancelledError: the work was cancelled.
    """
    finding = KeywordFinding(tried.pointer, tried.name, None)
    if not tried.violating:
        return replace(finding, reason=_untried(tried))
    try:
        for text in tried.violating:
            if judge.allows(constraint, text):
                return replace(finding, enforced=False, counterexample=text)
        if tried.legal and judge.allows(constraint, tried.legal):
            return replace(finding, enforced=True)
    except RefusedRequestError:  # such as a text that is longer than the context
        return replace(finding, reason="unasked")
    return replace(finding, reason="stricter")


def try_keyword(
    constraint: Any, tried: TriedConstraint, way: AskingWay, check: WayCheck, is_violation: IsViolation
) -> KeywordFinding:
    """Tell the model to violate a keyword or a rule, and return what it wrote under the mask.

    A try in which it did not counts if the same model writes the text without the constraint.

    Args:
        constraint: the whole constraint, as a request has it.
        tried: the keyword or the rule.
        way: the way of asking.
        check: asks the server.
        is_violation: decides whether an answer violates it, from the answer and the text that was asked for.

    Raises:
        RefusedSchemaError: the server refuses the constraint.
        ServerError: the server cannot be reached.
        CancelledError: the work was cancelled.
    """
    finding = KeywordFinding(tried.pointer, tried.name, None)
    if not tried.violating:
        return replace(finding, reason=_untried(tried))
    held = 0
    for text in tried.violating[:_MOST_TRIES]:
        prompt = COPY_EXACTLY.format(text=text)
        answer = check.ask(way, constraint, prompt=prompt, most_tokens=_MOST_TOKENS)
        if answer.case is None:
            raise RefusedSchemaError("errors.diagnosis.schema_refused", message=answer.message)
        is_whole = answer.case.finish is FinishReason.STOP and not answer.case.status
        if not answer.case.status and is_violation(answer.case, text):
            return replace(finding, enforced=False, counterexample=answer.text)
        free = check.ask(way, None, prompt=prompt, most_tokens=_MOST_TOKENS)
        held += is_whole and free.text.strip() == text.strip()
    return replace(finding, held=held, reason="held" if held else "unseen")


def violates_keyword(schema: Any, pointer: str) -> IsViolation:
    """Return a function that decides whether a whole answer violates a keyword of a schema."""

    def is_violation(case: FailureCase, _text: str) -> bool:
        read = read_output((case.output or b"").decode("utf-8", "replace"))
        if read.root is None or read.defects or read.broken_at is not None or read.root.is_open:
            return False
        return pointer in {one.pointer for one in violated_keywords(schema, read.root, CompileOptions())}

    return is_violation


def violates_rule(grammar: CompiledGrammar, tried: TriedConstraint) -> IsViolation:
    """Return a function that decides whether a whole answer violates a rule: an illegal text that was asked for.

    Args:
        grammar: the grammar.
        tried: the rule; a regex is violated by any illegal text.
    """

    def is_violation(case: FailureCase, text: str) -> bool:
        written = case.output or b""
        is_meant = not tried.name or written.decode("utf-8", "replace").strip() == text.strip()
        return is_meant and case.finish is FinishReason.STOP and not grammar.fullmatch(written)

    return is_violation


def _untried(tried: TriedConstraint) -> str:
    """Return why there is no text that violates a keyword or a rule."""
    return "no_text" if tried.violating is None else "implied"


def _is_same(text: str, other: str) -> bool:
    try:
        return bool(json.loads(text) == json.loads(other))
    except (ValueError, RecursionError):
        return False
