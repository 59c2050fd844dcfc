"""Pasted texts as one failure: each part is recognised and read, and what the parts say is merged.

Secrets are removed first, so that nothing behind this module sees them.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from engine.diagnosis.case import FailureCase, IntakeFinding, RequestConstraint
from engine.diagnosis.intake.languages import is_lark, program_of, server_of_command, xgrammar_constructs
from engine.diagnosis.intake.literals import PastedValue, TooDeepError, UnreadableValueError, dedented, read_value
from engine.diagnosis.intake.log_reader import engine_of_log, read_log, version_in_log
from engine.diagnosis.intake.parts_of_texts import TextPart, parts_of
from engine.diagnosis.intake.request_reader import is_request, read_request
from engine.diagnosis.intake.response_reader import is_response, read_response
from engine.diagnosis.intake.schema_words import has_schema_keyword
from engine.diagnosis.intake.secrets import remove_secrets
from engine.diagnosis.intake.servers import ignored_places, with_server_options
from engine.diagnosis.intake.values import (
    MOST_CHARACTERS,
    Intake,
    IntakeError,
    IntakeQuestion,
    PastedText,
    TextKind,
    UnclearInputError,
)
from engine.notations import NOTATIONS

_STATUS: Final = re.compile(r"^HTTP/[\d.]+ ([45]\d\d)\b[^\r\n]*|\bError code: (\d{3})\b", re.MULTILINE)
_DEFAULT: Final = FailureCase()
_MERGED: Final = ("constraints", "findings", "log", "triggers")
"""The fields of which all parts have a share; of the others, the first part that has one counts."""
_BOMS: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))


def read_failure(texts: Iterable[str | bytes | PastedText], answers: Mapping[str, str] | None = None) -> FailureCase:
    """Return the failure that pasted texts describe.

    Args:
        texts: the texts, in any order; a `PastedText` says what a text is.
        answers: the answers to earlier questions, by their ids.

    Raises:
        UnclearInputError: a text can be read in several ways; its question settles it.
        IntakeError: a text is no text, too long, or nested too deeply.
    """
    intake = read_intake(texts, answers)
    if intake.question is not None:
        raise UnclearInputError(intake.question)
    return intake.case


def read_intake(texts: Iterable[str | bytes | PastedText], answers: Mapping[str, str] | None = None) -> Intake:
    """Return what pasted texts contain, with the first open question; see `read_failure`."""
    reader = _TextsReader(dict(answers or {}))
    for text in texts:
        reader.add(text if isinstance(text, PastedText) else PastedText(text))
    return reader.intake()


def as_pasted_text(data: str | bytes) -> str:
    """Return a text without its byte order mark.

    Raises:
        IntakeError: the bytes are no text, or too many.
    """
    if len(data) > MOST_CHARACTERS:
        raise IntakeError("errors.diagnosis.too_long", size=len(data), limit=MOST_CHARACTERS)
    if isinstance(data, bytes):
        bom, encoding = next(((bom, name) for bom, name in _BOMS if data.startswith(bom)), (b"", "utf-8"))
        data = data[len(bom) :].decode(encoding, "replace")
    text = data.removeprefix("\ufeff")
    beginning = text[:4096]
    if beginning.count("\0") + beginning.count("\ufffd") > len(beginning) // 20:
        raise IntakeError("errors.diagnosis.no_text")
    return text


def merged(cases: Iterable[FailureCase]) -> FailureCase:
    """Return one case with all that several cases say; the first that has a value counts."""
    values: dict[str, Any] = {one.name: getattr(_DEFAULT, one.name) for one in fields(FailureCase)}
    for case in cases:
        for name, known in values.items():
            found = getattr(case, name)
            if name in _MERGED:
                values[name] = (*known, *(one for one in found if one not in known))
            elif name == "removed_secrets":
                values[name] = known + found
            elif known == getattr(_DEFAULT, name):
                values[name] = found
    return FailureCase(**values)


@dataclass
class _TextsReader:
    """Reads texts one after another."""

    answers: dict[str, str]
    requests: list[FailureCase] = field(default_factory=list)
    responses: list[FailureCase] = field(default_factory=list)
    others: list[FailureCase] = field(default_factory=list)
    unclear: list[tuple[IntakeQuestion, str]] = field(default_factory=list)
    kinds: list[TextKind] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    logged: list[PastedValue] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    secrets: int = 0
    url: str = ""
    is_http: bool = True
    log_engine: str = ""

    def add(self, pasted: PastedText) -> None:
        """Read a text."""
        text, count = remove_secrets(as_pasted_text(pasted.text))
        self.secrets += count
        try:
            self._read(text, pasted)
        except (TooDeepError, RecursionError) as error:
            raise IntakeError("errors.diagnosis.too_deep") from error

    def _read(self, text: str, pasted: PastedText) -> None:
        match pasted.kind:
            case TextKind.LOG:
                self._log(text)
                self.logged += [part.value for part in parts_of(text) if part.value is not None]
            case TextKind.OUTPUT:
                self._output(text)
            case TextKind.GRAMMAR:
                self._grammar(text, pasted.notation)
            case TextKind.REQUEST | TextKind.RESPONSE:
                parts = [part for part in parts_of(text) if part.value is not None or part.events is not None]
                if not parts and is_recognised(text):
                    self._text(TextPart(text))
                    return
                for part in parts or [TextPart(value=_required_value(text))]:
                    self._value_of(part, pasted.kind)
            case _:
                for part in parts_of(text):
                    self._part(part)

    def _part(self, part: TextPart) -> None:
        self.files += part.files
        if part.value is None and part.events is None:
            if part.url and not part.text:
                self._request(PastedValue({}), part)
            elif part.text.strip():
                self._text(part)
            return
        value = part.events if part.events is not None else part.value.value if part.value is not None else None
        if part.events is None and is_request(value) and not is_response(value):
            self._value_of(part, TextKind.REQUEST)
        elif part.events is not None or is_response(value):
            self._value_of(part, TextKind.RESPONSE)
        else:
            self._unknown_value(part)

    def _value_of(self, part: TextPart, kind: TextKind) -> None:
        """Read a value as a request or as a response."""
        if part.events is not None or kind is TextKind.RESPONSE:
            value = part.events if part.events is not None else part.value.value if part.value is not None else None
            self.responses.append(read_response(value))
            self.kinds.append(TextKind.RESPONSE)
            self._log(self.responses[-1].status, is_part=True)
        elif part.value is not None:
            self._request(part.value, part)

    def _request(self, value: PastedValue, part: TextPart) -> None:
        self.url = self.url or part.url
        self.is_http = self.is_http and part.is_http
        self.requests.append(read_request(value, part.url))
        self.kinds.append(TextKind.REQUEST)

    def _unknown_value(self, part: TextPart) -> None:
        """Read a value that is no request and no response: a schema, an output, or both of it are possible."""
        if part.value is None:
            return
        source = part.value.source(())
        if has_schema_keyword(part.value.value):
            self._grammar(source, "json_schema")
            return
        output = part.text or source  # what is no JSON is judged as it is written
        answer = self._ask("value", (TextKind.OUTPUT, "json_schema", TextKind.REQUEST), output)
        if answer == TextKind.OUTPUT:
            self._output(output.removesuffix("\n"))
        elif answer == TextKind.REQUEST:
            self._request(part.value, part)
        elif answer:
            self._grammar(source, answer)

    def _text(self, part: TextPart) -> None:
        """Read a text that has no value in it; what a user says beside values and code blocks is no output."""
        text = part.text
        status = _STATUS.search(text)
        if status is not None:
            self.responses.append(FailureCase(status=(status[1] or status[2])))
        if self._log(text) or status is not None:
            return
        program = program_of(text)
        if program is not None:
            kind, name = program
            self.others.append(FailureCase(findings=(IntakeFinding(kind, "", {"name": name}),)))
            self.kinds.append(TextKind.PROGRAM)
            return
        if (command := server_of_command(text)) is not None:
            self.others.append(FailureCase(server=command))
            self.kinds.append(TextKind.PROGRAM)
            return
        if part.is_beside:
            self.behind += [part.behind] if part.behind.strip() else []
            return
        if is_lark(text) or xgrammar_constructs(text):
            self._grammar(text, "")
            return
        likely = NOTATIONS.likely(text)
        if likely is not None and not likely.describes_json:
            self._grammar(text if not likely.is_expression else text.strip(), likely.id)
            return
        stripped = text.strip()
        options = (TextKind.OUTPUT, TextKind.LOG, *(n.id for n in NOTATIONS.values() if not n.describes_json))
        if stripped.startswith(("{", "[")):
            options = (TextKind.OUTPUT, TextKind.LOG, "json_schema")
        answer = self._ask("text", options, text)
        if answer == TextKind.OUTPUT:
            self._output(text)
        elif answer == TextKind.LOG:
            self.kinds.append(TextKind.LOG)
        elif answer:
            self._grammar(text, answer)

    def _ask(self, key: str, options: tuple[str, ...], text: str) -> str:
        """Return the answer to a question; empty if it is open."""
        question = IntakeQuestion(f"{key}-{len(self.unclear) + len(self.kinds)}", key, options)
        answer = self.answers.get(question.id, "")
        if answer in options:
            return answer
        self.unclear.append((question, text))
        return ""

    def _log(self, text: str, *, is_part: bool = False) -> bool:
        """Read the messages of a log; return whether there are any.

        Args:
            text: the log.
            is_part: whether it is the message of a response, which is no log of its own.
        """
        found = read_log(text)
        self.log_engine = self.log_engine or engine_of_log(found, text)
        version = version_in_log(text)
        if found or version:
            self.others.append(FailureCase(log=found, version=version))
            if not is_part:
                self.kinds.append(TextKind.LOG)
        return bool(found or version)

    def _output(self, text: str) -> None:
        self.responses.append(FailureCase(output=text.encode("utf-8", "surrogatepass")))
        self.kinds.append(TextKind.OUTPUT)

    def _grammar(self, text: str, notation: str) -> None:
        self.kinds.append(TextKind.GRAMMAR)
        if not notation:
            likely = NOTATIONS.likely(text)
            notation = likely.id if likely is not None else ""
        if not notation or not (NOTATIONS[notation].describes_json or NOTATIONS[notation].is_expression):
            found = [IntakeFinding("lark", "", {"pointer": "/"})] if is_lark(text) else []
            if constructs := xgrammar_constructs(text):
                found.append(IntakeFinding("xgrammar", "", {"pointer": "/", "constructs": ", ".join(constructs)}))
            if found:
                self.others.append(FailureCase(findings=tuple(found)))
                return
        text = text if text.endswith("\n") or NOTATIONS[notation].is_expression else text + "\n"
        self.others.append(FailureCase(constraints=(RequestConstraint(notation, text),)))

    # --- the result

    def intake(self) -> Intake:
        """Return what was read."""
        if not self.requests and not any(case.constraints for case in self.others):
            self.requests += [read_request(one) for one in self.logged if is_request(one.value)][:1]
        question = self._open_question()
        case = merged([*self.requests, *self.responses, *self.others])
        answered = merged(self.responses)
        server = self.log_engine or answered.server or case.server
        case = replace(case, server=server, version=case.version if server else "")
        constraints = _without_copies(case.constraints)
        case = replace(
            case,
            constraints=with_server_options(constraints, server) if self.requests else constraints,
            ignored=ignored_places(case, url=self.url, is_http=self.is_http),
            findings=(*case.findings, *self._file_findings()),
            removed_secrets=self.secrets,
        )
        return Intake(case, tuple(self.kinds), question, tuple(self.files))

    def _open_question(self) -> IntakeQuestion | None:
        """Return the first open question; beside a request, an unknown text is the output."""
        has_constraint = any(case.constraints for case in (*self.requests, *self.others))
        has_output = any(case.output is not None or case.tool_calls or case.status for case in self.responses)
        if not has_output and not self.unclear and TextKind.LOG not in self.kinds:
            for text in self.behind[-1:]:
                self._text(TextPart(text))
        if len(self.unclear) == 1 and has_constraint and not has_output:
            ((question, text),) = self.unclear
            self._output(text.removesuffix("\n") if question.key == "value" else text)
            self.unclear.clear()
        return self.unclear[0][0] if self.unclear else None

    def _file_findings(self) -> Iterator[IntakeFinding]:
        for name in dict.fromkeys(self.files):
            yield IntakeFinding("file", "", {"name": name})


def _without_copies(constraints: Sequence[RequestConstraint]) -> tuple[RequestConstraint, ...]:
    """Return constraints without grammars that were pasted by themselves and are in the request, too."""
    requested = {_layoutless(one) for one in constraints if one.way}
    return tuple(one for one in constraints if one.way or _layoutless(one) not in requested)


def _layoutless(constraint: RequestConstraint) -> tuple[str, str]:
    """Return the notation and the text of a grammar; of JSON, without its white space."""
    text = constraint.text.strip()
    if NOTATIONS[constraint.notation].describes_json:
        with contextlib.suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text))
    return constraint.notation, text


def is_recognised(text: str) -> bool:
    """Return whether a text that has no value is a log, a program, or a grammar that is not read."""
    return bool(read_log(text) or program_of(text) or is_lark(text) or xgrammar_constructs(text))


def _required_value(text: str) -> PastedValue:
    """Return the value that a text must be.

    Raises:
        IntakeError: it is none.
    """
    try:
        return read_value(text)
    except TooDeepError:
        raise
    except UnreadableValueError as error:
        raise IntakeError("errors.diagnosis.no_value", beginning=dedented(text.strip()[:60]).strip()) from error
