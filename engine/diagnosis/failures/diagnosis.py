"""The cause of a failed request as a value, with its sentence, its fix and the evidence.

`engine.diagnosis.failures.diagnose` creates it; nothing here compiles a grammar.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from engine.diagnosis.case import JudgedOutput, RequestConstraint


class Cause(StrEnum):
    """The cause of a failure; the values are stable ids."""

    COMPLETE = "complete"
    CUT_OFF = "cut-off"
    CONTEXT_LIMIT = "context-limit"
    STOP_TOKEN = "stop-token"  # noqa: S105 - no secret
    EOS_REFUSED = "eos-refused"
    CONSTRAINT_OFF = "constraint-off"
    REQUEST_IGNORED = "request-ignored"
    KEYWORD_NOT_ENFORCED = "keyword-not-enforced"
    KEY_ORDER = "key-order"
    WRONG_ZONE = "wrong-zone"
    TRIGGER_NEVER_CAME = "trigger-never-came"
    WHITESPACE_LOOP = "whitespace-loop"
    REPETITION_LOOP = "repetition-loop"
    SCHEMA_VIOLATION = "schema-violation"
    GRAMMAR_ERROR = "grammar-error"
    LEFT_RECURSION = "left-recursion"
    UNSUPPORTED_CONSTRUCT = "unsupported-construct"
    STATE_EXPLOSION = "state-explosion"
    SLOW_COMPILE = "slow-compile"
    TOKEN_BOUNDARY = "token-boundary"  # noqa: S105 - no secret
    TOKENIZER_MISMATCH = "tokenizer-mismatch"
    SPECIAL_TOKEN_TEXT = "special-token-text"  # noqa: S105 - no secret
    ENCODING = "encoding"
    SAMPLER_CONFLICT = "sampler-conflict"
    SPECULATIVE_REJECTION = "speculative-rejection"
    ENGINE_DIFFERENCE = "engine-difference"
    UNKNOWN = "unknown"


ENFORCEABLE: Final = frozenset(
    (
        Cause.CONSTRAINT_OFF,
        Cause.REQUEST_IGNORED,
        Cause.KEYWORD_NOT_ENFORCED,
        Cause.KEY_ORDER,
        Cause.SCHEMA_VIOLATION,
        Cause.EOS_REFUSED,
    )
)
"""Causes that an engine excludes if it enforces the grammar."""


class EvidenceWeight(IntEnum):
    """The strength of evidence; the smaller value decides."""

    GRAMMAR = 0  # the grammar does not compile, so nothing else can be judged
    LOG = 1  # a message of the server
    REPORTED = 2  # a field of the request or of the response
    TEXT = 3  # the output


@dataclass(frozen=True, slots=True)
class FailurePlace:
    """A position that a diagnosis is about.

    Attributes:
        pointer: a JSON Pointer into the schema; None if the place is a position.
        line, column: of the output or of the grammar, counted from 1; None if the place is a pointer alone.
        offset: the offset in code points, from 0; None if unknown.
        is_in_output: whether the position is in the output; otherwise it is in the grammar.
    """

    pointer: str | None = None
    line: int | None = None
    column: int | None = None
    offset: int | None = None
    is_in_output: bool = False


@dataclass(frozen=True, slots=True)
class TextEdit:
    """A replacement of a part of a text.

    Attributes:
        start, end: the part, in code points.
        new: the text in its place.
    """

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class ViolationFix:
    """A repair of a violation.

    Attributes:
        title: what it does, as a command.
        edits: the changes of the text.
        of_schema: whether the edits are of the grammar; otherwise they are of the output.
    """

    title: str
    edits: tuple[TextEdit, ...]
    of_schema: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """Something in an output that is wrong as JSON or by the schema.

    Attributes:
        detail: the kind, such as `trailing-comma` or `range`.
        sentence: the violation in one sentence.
        start, end: the part of the output, in code points.
        instance: the JSON Pointer of the value in the output.
        pointer: the JSON Pointer of the keyword in the schema; None if the text is no JSON.
        keyword: the keyword; empty if the text is no JSON.
        fixes: repairs.
    """

    detail: str
    sentence: str
    start: int
    end: int
    instance: str = ""
    pointer: str | None = None
    keyword: str = ""
    fixes: tuple[ViolationFix, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherCause:
    """A further cause that holds."""

    cause: Cause
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LegalPrefix:
    """The length of the legal part of an output; the tokens are None if they are unknown."""

    bytes: int
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The cause of a failed request.

    Attributes:
        cause: the cause.
        detail: the kind of it; may be empty.
        sentence: the cause in one sentence.
        fix: what to change, in the words of the server if it is known.
        evidence: the evidence, and what follows from it.
        tool: the tool whose arguments are concerned; empty for the output itself.
        zone: the part of the output that was judged, such as `output`, `arguments` or the text of the trigger.
        target: the server or engine, with a version if it is known.
        places: the pointers into the schema and the positions that are concerned.
        others: further causes that hold.
        legal_prefix: the legal part of the output; None without a grammar or an output.
        violations: everything in the output that is wrong as JSON or by the schema.
        constraint: the grammar that was judged by; None if there is none.
        part: the part of the output that was judged; None without an output.
    """

    cause: Cause
    detail: str
    sentence: str
    fix: str
    evidence: tuple[str, ...] = ()
    tool: str = ""
    zone: str = ""
    target: str = ""
    places: tuple[FailurePlace, ...] = ()
    others: tuple[OtherCause, ...] = ()
    legal_prefix: LegalPrefix | None = None
    violations: tuple[Violation, ...] = ()
    constraint: RequestConstraint | None = None
    part: JudgedOutput | None = None
