"""Requests about test strings and conversions."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from app.workers.protocol import WorkerRequest
from app.workers.requests.compile import CompileRequest
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.intake.remarks import IntakeRemark
from engine.diagnosis.intake.values import Intake
from engine.diagnosis.parse_trees.values import AmbiguityAnswer, TextParse
from engine.diagnosis.scores.price_values import GrammarPrice
from engine.diagnosis.test_strings.values import CountedText, Coverage, Suggestion, SuggestionKind
from engine.diagnosis.verdicts.verdict import Verdict
from engine.matching.explanation import TokenRefusal
from engine.source import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class JudgeRequest(WorkerRequest["JudgeAnswer"]):
    """Judge texts, and compute their coverage of the grammar.

    Attributes:
        compiled: the grammar.
        texts: the test strings.
        counted: the indices of those that count for the coverage: the ones that should be accepted.
    """

    compiled: CompileRequest
    texts: tuple[str, ...]
    counted: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """A verdict for each text, in their order, or one sentence that says why there is none.

    Attributes:
        revision: of the grammar.
        texts: what was judged.
        coverage: what the counted texts use of the grammar.
    """

    revision: int
    texts: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    error: str = ""


class SampleMode(StrEnum):
    """A way of judging a sample text."""

    LINES = "lines"  # each line is a text
    WHOLE = "whole"  # the sample is one text
    SEARCH = "search"  # the matches within it are sought


@dataclass(frozen=True, slots=True)
class SampleVerdict:
    """The part of a verdict that is shown of a sample, since those of all lines are sent at every key.

    Attributes:
        sentence: the result in one sentence.
        is_complete: whether the text matches.
        is_prefix: whether it begins a match.
        legal: the number of bytes that begin one.
        spans: the parts of the grammar where the match stops.
    """

    sentence: str
    is_complete: bool
    is_prefix: bool
    legal: int
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, verdict: Verdict) -> SampleVerdict:
        """Return the part of a verdict."""
        spans = verdict.failure.spans[:1] if verdict.failure is not None else ()
        return cls(verdict.sentence, verdict.is_complete, verdict.is_prefix, verdict.legal, spans)


MOST_SAMPLE_TEXTS = 2_000
"""The lines of a sample that are judged."""


def sample_texts(text: str, mode: SampleMode) -> tuple[str, ...]:
    """Return the texts of a sample that are judged."""
    return (text,) if mode is SampleMode.WHOLE else tuple(text.split("\n", MOST_SAMPLE_TEXTS)[:MOST_SAMPLE_TEXTS])


@dataclass(frozen=True, slots=True)
class JudgeSample(WorkerRequest["SampleAnswer"]):
    """Judge a sample text."""

    compiled: CompileRequest
    text: str
    mode: SampleMode


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """The verdicts on the texts of a sample, or the matches in it.

    Attributes:
        request: what was judged.
        verdicts: those of the texts, in their order; fewer than there are texts at the limit.
        matches: the half-open ranges of the matches, in bytes.
        searched: the number of bytes in which matches were sought.
        error: a sentence that says why nothing was judged; empty otherwise.
    """

    request: JudgeSample
    verdicts: tuple[SampleVerdict, ...] = ()
    matches: tuple[tuple[int, int], ...] = ()
    searched: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class CoverRequest(WorkerRequest["CoverAnswer"]):
    """Compute the coverage of a grammar by generated outputs, each as far as it is legal.

    Attributes:
        compiled: the grammar.
        outputs: the outputs, each once.
    """

    compiled: CompileRequest
    outputs: tuple[CountedText, ...]


@dataclass(frozen=True, slots=True)
class CoverAnswer:
    """The coverage of a grammar by generated outputs.

    Attributes:
        revision: of the grammar.
        coverage: by the outputs that have been followed.
        pending: the number of outputs left. Sending the same request again follows more of them; no answer takes long.
    """

    revision: int
    coverage: Coverage = field(default_factory=Coverage)
    pending: int = 0


@dataclass(frozen=True, slots=True)
class PriceOutput(WorkerRequest["PriceAnswer"]):
    """Find out what asks the price of a grammar for an output.

    Attributes:
        compiled: the grammar.
        output: the output, with the allowed masses of its steps.
    """

    compiled: CompileRequest
    output: CountedText


@dataclass(frozen=True, slots=True)
class PriceAnswer:
    """The price of a grammar for an output; None if the grammar does not compile, or a limit was exceeded."""

    price: GrammarPrice | None


@dataclass(frozen=True, slots=True)
class FollowLog(WorkerRequest["LogAnswer"]):
    """Compute the coverage of a grammar by the outputs of a log; each request follows some more of them.

    Attributes:
        compiled: the grammar, in place of those of the log.
        paths: the folders and files.
        begins: whether the log is read from its beginning.
    """

    compiled: CompileRequest
    paths: tuple[str, ...]
    begins: bool = True


@dataclass(frozen=True, slots=True)
class LogState:
    """How much of a log has been followed.

    Attributes:
        rows: the number of its requests so far.
        empty: how many of them have no output.
        illegal: how many have an output that the grammar refuses; it counts as far as it is legal.
        unread: how many cannot be read.
        done, total: bytes that were read, and those of all files.
        is_cut: whether there is more.
    """

    rows: int = 0
    empty: int = 0
    illegal: int = 0
    unread: int = 0
    done: int = 0
    total: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class LogAnswer:
    """The coverage by a log once it is complete, or how far it is."""

    request: FollowLog
    coverage: Coverage = field(default_factory=Coverage)
    state: LogState = LogState()
    is_complete: bool = False


@dataclass(frozen=True, slots=True)
class SuggestRequest(WorkerRequest["SuggestAnswer"]):
    """Suggest texts of one kind that are not known yet; `seed` varies the random ones."""

    compiled: CompileRequest
    kind: SuggestionKind
    known: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SuggestAnswer:
    """Suggestions, or one sentence that says why there are none."""

    kind: SuggestionKind
    suggestions: tuple[Suggestion, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class FindRefusal(WorkerRequest[TokenRefusal]):
    """Find the keywords of a schema for which a token may not come.

    Attributes:
        compiled: the schema.
        read: what it has read.
        token: the bytes of the token.
    """

    compiled: CompileRequest
    read: bytes
    token: bytes


@dataclass(frozen=True, slots=True)
class ParseText(WorkerRequest["ParsedText"]):
    """Parse a text.

    Attributes:
        compiled: the grammar.
        text: the text.
        known: the number of the last answer that the window has; 0 for none. The nodes that it has are not sent again.
    """

    compiled: CompileRequest
    text: bytes
    known: int = 0


@dataclass(frozen=True, slots=True)
class ParsedText:
    """The parse of a text.

    Attributes:
        number: the number of the answer.
        kept: how many nodes at the beginning of the first tree are those of the known answer; they are not in `parse`.
        parse: the parse; None with an error.
        error: a sentence that says why there is none.
    """

    number: int = 0
    kept: int = 0
    parse: TextParse | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class FindAmbiguousText(WorkerRequest[AmbiguityAnswer]):
    """Search for a shortest text that has two readings in a grammar."""

    compiled: CompileRequest


@dataclass(frozen=True, slots=True)
class GenerateRequest(WorkerRequest["GenerateAnswer"]):
    """Convert a compiled grammar to GBNF, with the source span of each rule.

    Attributes:
        spelling: `plain` or `any`, see `engine.export.NumberSpelling`.
    """

    compiled: CompileRequest
    spelling: str = "plain"


@dataclass(frozen=True, slots=True)
class GeneratedRule:
    """A rule of a generated text: like `engine.export.WrittenRule`, which is not light to import."""

    name: str
    span: Span
    source_spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GenerateAnswer:
    """A generated text, or why there is none.

    Attributes:
        revision: of the source document.
        rules: in the order of the text.
        notes: the texts of the source that it does not match, one sentence each.
        error: a sentence; empty if there is a text.
        error_span: the source span that causes the error.
    """

    revision: int
    spelling: str = "plain"
    text: str = ""
    rules: tuple[GeneratedRule, ...] = ()
    notes: tuple[str, ...] = ()
    error: str = ""
    error_span: Span | None = None


@dataclass(frozen=True, slots=True)
class ConvertRequest(WorkerRequest["ConvertAnswer"]):
    """Convert a compiled grammar to another notation, and check the result against the original.

    Attributes:
        notation: the target notation.
        dialect: the target dialect of a regex.
        spelling: the spelling of a schema's strings and numbers.
        depth: the number of levels at which recursion is cut; None to refuse recursion.
        number: incremented with each request, to recognise a late answer.
    """

    compiled: CompileRequest
    notation: str
    dialect: str = "python"
    spelling: str = "plain"
    depth: int | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class ConvertAnswer:
    """A text in another notation, or why there is none.

    Attributes:
        losses: what it lacks of the original, one sentence each.
        checked: how it was checked against the original, a sentence.
        compared: the grammar whose texts are to be compared with those of the original; None without a text.
        error: one or two sentences; empty if there is a text.
        can_close: whether the conversion works for the schema without additional properties.
    """

    number: int
    text: str = ""
    losses: tuple[str, ...] = ()
    checked: str = ""
    compared: CompileRequest | None = None
    error: str = ""
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class InferGrammar(WorkerRequest["InferAnswer"]):
    """Infer a grammar from samples.

    Attributes:
        samples: the samples as a text.
        notation: the id of the notation; empty for the likely one.
        form: how the text is divided (`engine.inference.samples.SampleForm`).
        path: the file that has the samples; empty if they are in `samples`.
    """

    samples: str
    notation: str
    form: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class InferAnswer:
    """A grammar that accepts every sample, or the sentence that says why there is none."""

    request: InferGrammar
    notation: str = ""
    text: str = ""
    count: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class ReadRequest(WorkerRequest["ReadAnswer"]):
    """Diagnose a text in another notation, which `compiled` has."""

    compiled: CompileRequest
    number: int = 0


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The findings of a text in another notation."""

    number: int
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class IntakeRequest(WorkerRequest["IntakeAnswer"]):
    """Read what a user copied of a failed request.

    Attributes:
        data: a text, or the bytes of a file.
        answers: the answers to questions about it, by their ids.
    """

    data: str | bytes
    answers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class IntakeAnswer:
    """Hold what was recognised in a text, or the sentence that says why it cannot be read.

    Attributes:
        request: the request.
        intake: what it contains, and the first open question.
        remarks: what was recognised and not read.
        calls: the grammars of the calls of its tools.
        text: of a file: its text without secrets.
        requests: the number of requests with responses, if it has one in each line.
        error: a sentence; empty if the text was read.
    """

    request: IntakeRequest
    intake: Intake = field(default_factory=Intake)
    remarks: tuple[IntakeRemark, ...] = ()
    calls: tuple[RequestConstraint, ...] = ()
    text: str = ""
    requests: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class ReadAutomaton(WorkerRequest["AutomatonText"]):
    """Read a file of an automaton that another program wrote.

    Attributes:
        data: the bytes of the file.
        name: its name, whose suffix determines the format.
    """

    data: bytes
    name: str


@dataclass(frozen=True, slots=True)
class AutomatonText:
    """The grammar of an automaton, or the sentence that says why it has none.

    Attributes:
        notation: of the grammar.
        text: the grammar.
        error: a sentence; empty if it was read.
    """

    notation: str = ""
    text: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class ReadLicences(WorkerRequest["tuple[LicensedPart, ...]"]):
    """Read the licences of all distributions of this installation."""


@dataclass(frozen=True, slots=True)
class LicensedPart:
    """A distribution with its licence.

    Attributes:
        name: its name.
        version: its version.
        licence: the name of its licence; empty if its metadata has none.
        text: the texts of its licence, one after the other; empty if they are not part of it.
    """

    name: str
    version: str
    licence: str
    text: str
