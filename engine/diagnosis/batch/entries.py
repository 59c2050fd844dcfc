"""One request of a batch with its response: as texts, and read as a case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final, NamedTuple

from engine.diagnosis.case import FailureCase, FinishReason, RequestConstraint
from engine.diagnosis.intake import PastedText, TextKind, read_failure
from engine.diagnosis.intake.request_reader import is_request
from engine.diagnosis.intake.response_reader import is_response
from engine.notations import NOTATIONS
from engine.source import EngineError

FINISHES: Final = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "context": FinishReason.CONTEXT,
    "tool_calls": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.FILTER,
}
"""The reasons for an end, as a user writes them."""
LINE_SUFFIXES: Final = (".jsonl", ".ndjson")
"""The suffixes of files with an object in each line."""
_REQUEST_NAMES: Final = ("request", "req", "body", "payload", "kwargs", "input")
_RESPONSE_NAMES: Final = ("response", "resp", "completion", "result")
_ID_NAMES: Final = ("custom_id", "request_id", "trace_id", "name", "id")
_STREAM_STARTS: Final = ("data:", "event:")


class SourceForm(Enum):
    """The form in which a request of a batch, or a part of one, is in a file."""

    FILE = auto()  # the whole file, one part of a request
    RECORD = auto()  # the whole file, an object with a request, a response or both, or anything that was copied
    LINE = auto()  # a line, such an object
    LOG = auto()  # lines of the log of a vLLM server


class FileLine(NamedTuple):
    """A line of a file.

    Attributes:
        number: its number, from 1.
        offset, size: its bytes in the file.
    """

    number: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class EntrySource:
    """Where a request of a batch, or a part of one, is on the disk.

    Attributes:
        path: the file.
        name: the name of the request if it has none of its own.
        place: the file, and perhaps the line, as they are shown.
        form: the form in which it is there.
        kind: the part that a file is.
        notation: that of a grammar.
        lines: the lines that it has of a file.
        encoding: that of the lines.
    """

    path: Path
    name: str
    place: str
    form: SourceForm
    kind: TextKind = TextKind.ANY
    notation: str = ""
    lines: tuple[FileLine, ...] = ()
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """A request of a batch with its response and whatever else is known of it, not read yet.

    Attributes:
        name: its name, unique in the batch.
        place: where it was found: a file, and perhaps a line of it.
        texts: the request, the response and the log, as far as they are there.
        constraint: the grammar that was given beside them; None if there is none.
        output: the output that was given in place of a response; None if there is none.
        max_tokens: the token budget that was given beside them; None if there is none.
        finish: the reason for the end that was given beside them.
        error: why it cannot be read; None if it can, as far as is known.
        sources: where it is on the disk.
    """

    name: str
    place: str
    texts: tuple[PastedText, ...] = ()
    constraint: RequestConstraint | None = None
    output: bytes | None = None
    max_tokens: int | None = None
    finish: FinishReason = FinishReason.UNKNOWN
    error: EngineError | None = None
    sources: tuple[EntrySource, ...] = ()

    @property
    def has_request(self) -> bool:
        """Return whether there is a request or a grammar."""
        return self.constraint is not None or any(one.kind is TextKind.REQUEST for one in self.texts)

    @property
    def has_answer(self) -> bool:
        """Return whether there is a response, an output, or a log."""
        return self.output is not None or any(one.kind in (TextKind.RESPONSE, TextKind.LOG) for one in self.texts)

    def with_parts_of(self, other: BatchEntry) -> BatchEntry:
        """Return it with what another entry knows of the same request."""
        return replace(
            self,
            sources=(*self.sources, *other.sources),
            error=self.error or other.error,
            texts=(*self.texts, *other.texts),
            constraint=self.constraint or other.constraint,
            output=other.output if self.output is None else self.output,
            max_tokens=other.max_tokens if self.max_tokens is None else self.max_tokens,
            finish=self.finish or other.finish,
        )

    def case(self, constraint: RequestConstraint | None = None) -> FailureCase:
        """Read it as a case.

        Args:
            constraint: the grammar in place of its own; None for its own.

        Raises:
            EngineError: it cannot be read.
        """
        if self.error is not None:
            raise self.error
        case = read_failure(self.texts)
        constraint = constraint or self.constraint
        if constraint is not None:
            case = replace(case, constraints=(constraint,))
        if self.output is not None:
            case = replace(case, output=self.output)
        if self.max_tokens is not None:
            case = replace(case, max_tokens=self.max_tokens)
        return replace(case, finish=self.finish) if self.finish else case


def given_constraint(notation: str, text: str) -> RequestConstraint:
    """Return a grammar that was given by itself; the line end behind an expression is not part of it."""
    if NOTATIONS[notation].is_expression:
        text = text.removesuffix("\n").removesuffix("\r")
    return RequestConstraint(notation, text)


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """An object of a JSON file that is a request of a batch, its response, or both.

    Attributes:
        id: the name by which a request and its response find each other; empty if there is none.
        entry: the request, the response, or both.
    """

    id: str
    entry: BatchEntry


def read_record(record: Any, name: str, place: str) -> BatchRecord:
    """Read an object that has a request, a response, or both: by the names of its fields, or as one itself.

    OpenAI's files for batches are among them: a request is in `body`, a response in `response.body`.

    Args:
        record: the object.
        name: the name of the entry if the object has none.
        place: where it is.

    Raises:
        EngineError: it is nothing of all that, or names a notation that there is not.
    """
    if not isinstance(record, dict):
        raise EngineError("errors.diagnosis.batch.record")
    given = next((record[one] for one in _ID_NAMES if isinstance(record.get(one), str | int)), "")
    request, answer, output = _request_of(record), _answer_of(record), record.get("output")
    texts = [] if request is None else [PastedText(request, TextKind.REQUEST)]
    if answer is None and request is None and is_response(record):
        answer = _as_text(record)
        given = given if "custom_id" in record else ""  # the id of a response is no name of a request
    if answer is not None and _is_value(answer):
        texts.append(PastedText(answer, TextKind.RESPONSE))
    elif answer is not None:
        output = answer
    if record.get("log") is not None:
        texts.append(PastedText(_as_text(record["log"]), TextKind.LOG))
    constraint = _constraint(record)
    if not texts and not isinstance(output, str) and constraint is None:
        raise EngineError("errors.diagnosis.batch.record")
    budget, finish = record.get("budget"), record.get("finish")
    return BatchRecord(
        str(given),
        BatchEntry(
            str(given) or name,
            place,
            tuple(texts),
            constraint,
            output.encode("utf-8", "surrogatepass") if isinstance(output, str) else None,
            budget if isinstance(budget, int) and not isinstance(budget, bool) else None,
            FINISHES.get(finish, FinishReason.UNKNOWN) if isinstance(finish, str) else FinishReason.UNKNOWN,
        ),
    )


def count_of_records(text: str) -> int:
    """Return how many requests of a batch a text of JSON lines has; 0 if a line of it is something else."""
    found: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if not line.startswith("{"):
            return 0
        try:
            record = read_record(json.loads(line), str(number), "")
        except (ValueError, RecursionError, EngineError):
            return 0
        if not record.id and record.entry.has_request != record.entry.has_answer:
            return 0  # a stream, or a request that was copied before its response
        found.add(record.entry.name)
    return len(found)


def _request_of(record: Mapping[str, Any]) -> str | None:
    """Return the text of the request in an object; None if there is none."""
    held = next((record[one] for one in _REQUEST_NAMES[:2] if isinstance(record.get(one), dict | str)), None)
    own = {one: value for one, value in record.items() if one not in _RESPONSE_NAMES}
    if held is None and not _has_own_grammar(record) and "body" not in record and is_request(own):
        held = own if not is_response(own) else None
    if held is None:
        held = next((record[one] for one in _REQUEST_NAMES if isinstance(record.get(one), dict)), None)
    return None if held is None else _as_text(held)


def _answer_of(record: Mapping[str, Any]) -> str | None:
    """Return the text of the response in an object; None if there is none."""
    whole = record.get("response")
    is_whole = "response" in record and (whole is None or (isinstance(whole, dict) and "body" in whole))
    if "custom_id" in record and is_whole:  # of a batch, where an error may be beside the response
        return _as_text(record)
    if "done" in record and isinstance(record.get("response"), str):  # an answer of Ollama
        return None
    held = next((record[one] for one in _RESPONSE_NAMES if isinstance(record.get(one), dict | list | str)), None)
    return None if held is None else _as_text(held)


def _has_own_grammar(record: Mapping[str, Any]) -> bool:
    """Return whether a grammar is given beside an output, and not as the field of a request."""
    return record.get("grammar") is not None and ("notation" in record or isinstance(record.get("output"), str))


def _constraint(record: Mapping[str, Any]) -> RequestConstraint | None:
    """Return the grammar that is beside an output or a request.

    Raises:
        EngineError: there is no such notation.
    """
    notation = record.get("notation", "json_schema")
    if notation not in NOTATIONS:
        raise EngineError("errors.diagnosis.batch.notation", name=notation, names=", ".join(NOTATIONS))
    if not _has_own_grammar(record) and is_request(record):
        return None
    return given_constraint(notation, _as_text(record["grammar"])) if record.get("grammar") is not None else None


def _is_value(text: str) -> bool:
    """Return whether a text is a response, and not the output itself, which may be JSON, too."""
    start = text.lstrip()
    if start.startswith(_STREAM_STARTS):
        return True
    if not start.startswith(("{", "[")):
        return False
    try:
        return is_response(json.loads(text))
    except (ValueError, RecursionError):
        return False


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
