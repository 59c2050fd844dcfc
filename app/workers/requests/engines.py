"""Requests about other engines, which run in processes of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from app.workers.requests.decode import ReplayQuestion
    from engine.diagnosis.failures.diagnosis import Diagnosis
    from engine.source import Span


@dataclass(frozen=True, slots=True)
class CompareEngines(WorkerRequest["EnginesAnswer"]):
    """Ask the installed engines how many bytes of an output they accept."""

    compiled: CompileRequest
    question: ReplayQuestion


@dataclass(frozen=True, slots=True)
class EngineRow:
    """The answer of one engine.

    Attributes:
        answer: in words, or why there is no answer.
        accepted: the number of bytes; None without an answer.
        is_complete: whether the output may end where it does.
    """

    engine: str
    version: str
    answer: str
    accepted: int | None
    is_complete: bool


@dataclass(frozen=True, slots=True)
class EnginesAnswer:
    """The answers of the engines, or the sentence that says why none was asked.

    Attributes:
        rows: the engines, Turnstile first.
        judged: the number of bytes of the part that was judged.
        diagnosis: the cause if they differ; None if they agree.
        error: a sentence; empty if engines were asked.
    """

    request: CompareEngines
    rows: tuple[EngineRow, ...] = ()
    judged: int = 0
    diagnosis: Diagnosis | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ListEngines(WorkerRequest["EngineList"]):
    """List the installed engines that read a notation, without Turnstile."""

    notation: str


@dataclass(frozen=True, slots=True)
class EngineList:
    """The engines that read a notation, without Turnstile.

    Attributes:
        engines: the installed ones: pairs of a name and a version.
        absent: the others: pairs of a name and the name of the package for pip.
    """

    notation: str
    engines: tuple[tuple[str, str], ...] = ()
    absent: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FuzzSchema(WorkerRequest["FuzzAnswer"]):
    """Compare the grammar of a schema with the package `jsonschema` on generated texts and mutants of them."""

    compiled: CompileRequest
    texts: int
    seed: int


@dataclass(frozen=True, slots=True)
class FuzzRow:
    """A text on which they differ.

    Attributes:
        is_accepted: whether Turnstile accepts it, and `jsonschema` does not; otherwise the reverse.
        reason: the message of `jsonschema`; empty if it accepts the text.
    """

    text: str
    is_accepted: bool
    reason: str


@dataclass(frozen=True, slots=True)
class FuzzAnswer:
    """The result of a run, or the sentence that says why there is none.

    Attributes:
        legal: the number of generated texts.
        mutants: the number of mutants.
        refused: how many texts both refuse.
        unjudged: how many texts one of them could not judge.
        error: a sentence; empty if there is a result.
    """

    request: FuzzSchema
    rows: tuple[FuzzRow, ...] = ()
    legal: int = 0
    mutants: int = 0
    refused: int = 0
    unjudged: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class FindSmallest(WorkerRequest["SmallestAnswer"]):
    """Find the smallest grammar on which an engine or a server still fails.

    Attributes:
        engine: the name of an installed engine; empty for a server.
        server: the address of a server.
        model: the model of the server; empty for the first one that it lists.
        key: the key of the server.
        examples: texts that the engine judges; empty for generated ones.
    """

    compiled: CompileRequest
    engine: str = ""
    server: str = ""
    model: str = ""
    key: str = field(default="", repr=False)
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SmallestAnswer:
    """A reduced grammar, or the sentence that says why there is none.

    Attributes:
        text: the reduced grammar.
        part: the guilty JSON Pointer or rule; empty if there is none.
        span: its place in the grammar of the editor; None if it is unknown.
        kind: how the engine or the server fails.
        shown: its message, or the text that it judges otherwise.
        checks: the number of checks.
        error: a sentence; empty if there is a result.
    """

    request: FindSmallest
    text: str = ""
    part: str = ""
    span: Span | None = None
    kind: str = ""
    shown: str = ""
    checks: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class CompareMasks(WorkerRequest["MasksAnswer"]):
    """Compare the masks of an engine with those of others on the grammar.

    Attributes:
        first: the name of the engine, or the address of a server.
        others: those of the engines that are compared with it.
        texts: texts to follow first.
    """

    compiled: CompileRequest
    first: str
    others: tuple[str, ...]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MaskVerdict:
    """The result of one comparison.

    Attributes:
        engine: the engine that was compared with the first.
        version: its version.
        sentence: the verdict in words.
        checked: the number of prefixes at which masks were compared.
    """

    engine: str
    version: str
    sentence: str
    checked: int


@dataclass(frozen=True, slots=True)
class MaskDifference:
    """Differences of one cause.

    Attributes:
        engine: the engine that was compared with the first.
        cause: the cause in words.
        is_gained: whether it allows more than the first; otherwise less.
        is_form: whether only the form of a value or the place of the end differs.
        prefix: the first prefix.
        prefix_bytes: its bytes in hexadecimal digits.
        tokens: the tokens that only one of them allows there.
        text: a text that only one of them accepts; None if none was found.
        accepted_by: the engine that accepts it.
        span: the place of the keyword or the rule; None if it is unknown.
        prefixes: the number of prefixes.
    """

    engine: str
    cause: str
    is_gained: bool
    is_form: bool = False
    prefix: str = ""
    prefix_bytes: str = ""
    tokens: str = ""
    text: str | None = None
    accepted_by: str = ""
    span: Span | None = None
    prefixes: int = 1


@dataclass(frozen=True, slots=True)
class EngineFigures:
    """The measurements of an engine on the grammar; None where there is none.

    Attributes:
        compile_ms, first_mask_ms: from the source to a matcher, and to the first mask.
        token_us: the mean time of a mask and a token.
        memory_mb: how much the grammar and its masks occupy.
        size_mb: the size of its package.
    """

    engine: str
    compile_ms: float | None = None
    first_mask_ms: float | None = None
    token_us: float | None = None
    memory_mb: float | None = None
    size_mb: float | None = None


@dataclass(frozen=True, slots=True)
class MasksAnswer:
    """The comparisons, or the sentence that says why there are none.

    Attributes:
        tokens: the size of the vocabulary of the measurements; 0 for that of bytes.
    """

    request: CompareMasks
    verdicts: tuple[MaskVerdict, ...] = ()
    differences: tuple[MaskDifference, ...] = ()
    figures: tuple[EngineFigures, ...] = ()
    tokens: int = 0
    error: str = ""
