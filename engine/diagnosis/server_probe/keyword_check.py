"""Which keywords of the user's schema a server enforces, and what it does with unsupported constructs.

Where the server's mask decides texts (`text_judge`), a keyword is enforced if the mask excludes each text that violates
it alone and allows the legal text beside it; one that is allowed is a counterexample. Elsewhere the model is told to
write the violating text: if it does, or writes another violating text, that is a counterexample; if it does not,
nothing is known, since the model may have obeyed by itself.
"""

from __future__ import annotations

import json
from typing import Any, Final

from engine.compile import CompileOptions
from engine.diagnosis.failures.schema_check import violated_keywords
from engine.diagnosis.failures.tolerant_json import read_output
from engine.diagnosis.server_probe.asking import AskingWay, RefusedSchemaError, TextJudge
from engine.diagnosis.server_probe.canary import AnswerState, judge_answer
from engine.diagnosis.server_probe.constructs import Construct, begins_canary
from engine.diagnosis.server_probe.report import ConstructFinding, ConstructState, KeywordFinding
from engine.diagnosis.server_probe.violating_texts import SchemaKeyword, ViolatingTexts
from engine.diagnosis.server_probe.way_check import WayCheck
from engine.servers import RefusedRequestError, SilentServerError

COPY_EXACTLY: Final = "Write exactly: {text}"
_FREE_TEXT: Final = "hello"
_MOST_TOKENS: Final = 160


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
    written = "" if told.case is None else (told.case.output or b"").decode("utf-8", "replace")
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


def decide_keyword(schema: Any, keyword: SchemaKeyword, texts: ViolatingTexts, judge: TextJudge) -> KeywordFinding:
    """Return whether the mask of a server enforces a keyword.

    Args:
        schema: the schema, as JSON data.
        keyword: the keyword.
        texts: finds texts that violate it alone.
        judge: decides texts by the mask.

    Raises:
        RefusedSchemaError: the server refuses the schema.
        ServerError: the server cannot be reached.
        CancelledError: the work was cancelled.
    """
    tried = texts.of(keyword)
    if not tried:
        return _untried(keyword, tried)
    try:
        for text in tried:
            if judge.allows(schema, text):
                return KeywordFinding(keyword.pointer, keyword.keyword, False, text)
        if texts.legal and judge.allows(schema, texts.legal):
            return KeywordFinding(keyword.pointer, keyword.keyword, True)
    except RefusedRequestError:  # such as a text that is longer than the context
        return KeywordFinding(keyword.pointer, keyword.keyword, None, reason="unasked")
    return KeywordFinding(keyword.pointer, keyword.keyword, None, reason="stricter")


def try_keyword(
    schema: Any, keyword: SchemaKeyword, texts: ViolatingTexts, way: AskingWay, check: WayCheck
) -> KeywordFinding:
    """Tell the model to violate a keyword, and return what it wrote under the mask.

    Args:
        schema: the schema, as JSON data.
        keyword: the keyword.
        texts: finds texts that violate it alone.
        way: the way of asking.
        check: asks the server.

    Raises:
        RefusedSchemaError: the server refuses the schema.
        ServerError: the server cannot be reached.
        CancelledError: the work was cancelled.
    """
    tried = texts.of(keyword)
    if not tried:
        return _untried(keyword, tried)
    answer = check.ask(way, schema, prompt=COPY_EXACTLY.format(text=tried[0]), most_tokens=_MOST_TOKENS)
    if answer.case is None:
        raise RefusedSchemaError("errors.diagnosis.schema_refused", message=answer.message)
    written = (answer.case.output or b"").decode("utf-8", "replace")
    read = read_output(written)
    if read.root is not None and not read.defects and read.broken_at is None and not read.root.is_open:
        violated = violated_keywords(schema, read.root, CompileOptions())
        if keyword.pointer in {one.pointer for one in violated}:
            return KeywordFinding(keyword.pointer, keyword.keyword, False, written)
    return KeywordFinding(keyword.pointer, keyword.keyword, None, reason="unseen")


def _untried(keyword: SchemaKeyword, tried: tuple[str, ...] | None) -> KeywordFinding:
    """Return the finding of a keyword for which there is no text."""
    reason = "no_text" if tried is None else "implied"
    return KeywordFinding(keyword.pointer, keyword.keyword, None, reason=reason)


def _is_same(text: str, other: str) -> bool:
    try:
        return bool(json.loads(text) == json.loads(other))
    except (ValueError, RecursionError):
        return False
