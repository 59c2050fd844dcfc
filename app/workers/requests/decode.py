"""Requests to the decode group, except those about forced runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from app.workers.protocol import Notice, WorkerRequest
from app.workers.trace_codec import RECEIVER, SENDER
from engine.decoding.debugging.breakpoints import Breakpoint, RuleEvents, StopBefore, StopPoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.strategies.given_values import GivenShares
from engine.decoding.values import (
    DEFAULT_MAX_TOKENS,
    NO_MASSES,
    ArchivedBranch,
    BaselineRun,
    Candidate,
    Chat,
    PackedMasses,
    Position,
    SampleOutcome,
    SamplerSettings,
    TokenStage,
    Trace,
)

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from app.workers.requests.grammar_position import GrammarPosition
    from engine.diagnosis.case import FailureCase
    from engine.diagnosis.failures.diagnosis import Diagnosis
    from engine.diagnosis.verdicts.verdict import Verdict
    from engine.document.content import DocumentFile
    from engine.document.saved_traces import SavedTrace
    from engine.grammar.options import CompileOptions
    from engine.matching.explanation import Explanation
    from engine.source import Span

# --- requests --------------------------------------------------------------------------------------------------------

A = TypeVar("A")


class SessionRequest(WorkerRequest[A]):
    """A request that may change the session; if the engine refuses it, the answer is a `DecodeView` with the error.

    All other requests are then answered with `Refusal`.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class OpenModel(SessionRequest["DecodeView"]):
    """Load a model; the current one stays in use until it is ready.

    Attributes:
        key: the key that the user typed for a server; empty for none.
    """

    spec: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SetGrammar(SessionRequest["DecodeView"]):
    """Replace the grammar and replay the trace under it, without the model.

    Attributes:
        rule_automata: the rules that the window draws, as the compile process pickled them, since computing them takes
            longer than their transfer; all later views then have the positions in them. Empty if none are drawn.
        draws_part: whether it draws the neighbourhood of the live state; all later views then have that.
    """

    revision: int
    notation: str
    text: str
    options: CompileOptions
    rule_automata: bytes = field(default=b"", repr=False)
    draws_part: bool = False


@dataclass(frozen=True, slots=True)
class Begin(SessionRequest["DecodeView"]):
    """Open another document: start again with its settings, and drop the trace."""

    prompt: str | Chat
    sampler: SamplerSettings
    max_tokens: int
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)


@dataclass(frozen=True, slots=True)
class SetPrompt(SessionRequest["DecodeView"]):
    """Start again from another prompt."""

    prompt: str | Chat


@dataclass(frozen=True, slots=True)
class SetSampler(SessionRequest["DecodeView"]):
    """Use other sampler settings from the next step on."""

    settings: SamplerSettings


@dataclass(frozen=True, slots=True)
class WatchGiven(SessionRequest["DecodeView"]):
    """Follow views with the probabilities of the next tokens, given that the text will match, or do so no longer."""

    is_watched: bool


@dataclass(frozen=True, slots=True)
class SetBudget(SessionRequest["DecodeView"]):
    """Set the budget in tokens; steps beyond a smaller budget stay."""

    max_tokens: int


@dataclass(frozen=True, slots=True)
class SetPipeline(SessionRequest["DecodeView | PipelineRefused"]):
    """Change or reorder the processors; the longest legal path stays."""

    settings: PipelineSettings


@dataclass(frozen=True, slots=True)
class StepOnce(SessionRequest["DecodeView"]):
    """Let the sampler take the next token.

    Attributes:
        watched: whether the view reports the rule events of the step.
        one_by_one: take exactly one token; otherwise a forced run is taken at once if the pipeline says so.
        breakpoints: a token that enters one of these, or meets its condition, is not taken, unless a step stopped
            before it just now. They need `one_by_one`, and those in the source `watched`.
        lists_tokens: whether the view lists the tokens that are allowed next by target state.
        in_run: whether the next request will probably be the same.
    """

    watched: bool = False
    one_by_one: bool = False
    breakpoints: tuple[StopPoint, ...] = ()
    lists_tokens: bool = False
    in_run: bool = False


@dataclass(frozen=True, slots=True)
class Take(SessionRequest["DecodeView | WhyAnswer"]):
    """Take this token instead of sampling one; `lists_tokens` as in `StepOnce`."""

    token_id: int
    lists_tokens: bool = False


@dataclass(frozen=True, slots=True)
class Force(SessionRequest["DecodeView"]):
    """Take this token even if the grammar does not allow it; the grammar is off from then on."""

    token_id: int


@dataclass(frozen=True, slots=True)
class Back(SessionRequest["DecodeView"]):
    """Undo the last step; its branch stays in the tree."""


@dataclass(frozen=True, slots=True)
class Restart(SessionRequest["DecodeView"]):
    """Go back to before the first step."""


@dataclass(frozen=True, slots=True)
class GoTo(SessionRequest["DecodeView"]):
    """Make a step of the tree the current one; None for before the first step."""

    node_id: int | None


@dataclass(frozen=True, slots=True)
class Why(WorkerRequest["WhyAnswer"]):
    """Explain why the grammar allows a token or not."""

    token_id: int


@dataclass(frozen=True, slots=True)
class Lookup(WorkerRequest["LookupAnswer"]):
    """Find tokens by text or by id, however improbable they are."""

    text: str


@dataclass(frozen=True, slots=True)
class ShowTokens(WorkerRequest["LookupAnswer"]):
    """Return the candidates of some ids, at most `most`: those that the model prefers."""

    ids: tuple[int, ...]
    most: int


@dataclass(frozen=True, slots=True)
class TokensRequest(WorkerRequest["TokensAnswer"]):
    """Group the tokens that are allowed after a text by target state, which takes a walk of the vocabulary.

    Attributes:
        revision: of the grammar that is drawn.
        output: the text; None for the position of the session, with the model's probabilities.
    """

    revision: int
    output: bytes | None = None


@dataclass(frozen=True, slots=True)
class SampleMany(WorkerRequest["ManyAnswer"]):
    """Generate `n` outputs from the prompt within the budget, with consecutive seeds from `first_seed`."""

    n: int
    first_seed: int = 0


@dataclass(frozen=True, slots=True)
class RunBaseline(WorkerRequest["BaselineAnswer"]):
    """Generate what the model would have written without the grammar, within the budget."""


@dataclass(frozen=True, slots=True)
class FindBreakpoint(WorkerRequest["BreakpointAnswer"]):
    """Return what a breakpoint at an offset of the grammar would be on."""

    offset: int


@dataclass(frozen=True, slots=True)
class RestoreTrace(SessionRequest["DecodeView"]):
    """Restore a saved trace as far as grammar and vocabulary allow; the model is not called for its steps."""

    trace: Trace


# --- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """Facts about a loaded model for the window.

    Attributes:
        is_tokenizer: whether it is a tokenizer alone, so that there are no model probabilities.
        waits: whether its answers come from another process, and waiting for them can be cancelled.
    """

    name: str
    spec: str
    vocabulary_size: int
    has_chat: bool
    context_length: int | None
    fingerprint: str
    vocabulary_fingerprint: str
    is_tokenizer: bool = False
    waits: bool = False


@dataclass(frozen=True, slots=True)
class DecodeView:
    """The contents of the generation panes, after each decode request.

    Attributes:
        model: the loaded model; None before the first one is ready.
        trace: the tree of steps.
        position: the state before the next decision; None without a model or a grammar.
        max_tokens: the budget.
        prompt: the prompt as typed.
        prompt_tokens: how the model sees the prompt: pairs of token id and displayed text.
        grammar_revision: the revision of the active grammar; -1 before the first one.
        archived: the branch that this request archived, because it changed the prompt or the model.
        note: one sentence about what a replay kept and lost; empty otherwise.
        error: why the last request failed, and what to do; empty if it succeeded.
        passage: the rule events of a watched step; None for any other request.
        stop_before: why a step did not take its token; None if it did, and for any other request.
        pipeline: the stages between the model and the sampler.
        pipeline_error: why this model cannot use them, so that no step is possible; empty if it can.
        dead_end: at a dead end, or if no token can be drawn, the stage that removes all tokens and what it expects;
            empty if it is the grammar alone.
        refused: the stages that this request asked for and that are not active, each unfit by itself.
        grammar_position: where the output is in the grammar; None without a position and outside of zones.
        tokens: the allowed tokens by target state, if a step asked for them; None if it takes too many steps of the
            automaton.
        record: where it is in the tokens of a log; None if none is open.
    """

    model: ModelSummary | None = None
    trace: Trace = field(default_factory=Trace)
    position: Position | None = None
    sampler: SamplerSettings = field(default_factory=SamplerSettings)
    max_tokens: int = DEFAULT_MAX_TOKENS
    prompt: str | Chat = ""
    prompt_tokens: tuple[tuple[int, str], ...] = ()
    grammar_revision: int = -1
    archived: ArchivedBranch | None = None
    note: str = ""
    error: str = ""
    passage: RuleEvents | None = None
    stop_before: StopBefore | None = None
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    pipeline_error: str = ""
    dead_end: str = ""
    refused: tuple[RefusedStage, ...] = ()
    grammar_position: GrammarPosition | None = None
    tokens: TokensAnswer | None = None
    record: RecordPosition | None = None

    @property
    def grammar_prefix(self) -> bytes | None:
        """Return the bytes that the grammar has read; None before there is a position and outside of zones."""
        if self.position is None:
            return None
        return self.position.output if self.pipeline.zones is None else self.position.grammar_text

    @property
    def has_model(self) -> bool:
        """Return whether the probabilities come from a model; a tokenizer alone has none."""
        return self.model is None or not self.model.is_tokenizer

    def __reduce__(self) -> tuple[Callable[[dict[str, Any]], DecodeView], tuple[dict[str, Any]]]:
        """Pickle the trace in pieces, which the window keeps from view to view."""
        values = {of.name: getattr(self, of.name) for of in fields(self)}
        return _view_of, ({**values, "trace": SENDER.pack(self.trace)},)


def _view_of(values: dict[str, Any]) -> DecodeView:
    return DecodeView(**{**values, "trace": RECEIVER.unpack(values["trace"])})


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """Why a token is or is not allowed, as data and as prose.

    Attributes:
        token_id: its id; None for a text of several tokens.
        removed_by: the stage that removes a token which the grammar allows, and why; None if there is none.
        index: the number of tokens before it: in a run the window may show a later step by now.
        read: what the grammar has read before it; None if no grammar is read.
        stages: its numbers after each stage before the draw; empty for a text, and if the model is not queried.
    """

    token_id: int | None
    explanation: Explanation
    prose: str
    removed_by: tuple[str, str] | None = None
    index: int | None = None
    read: bytes | None = None
    stages: tuple[TokenStage, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedStage:
    """A requested stage that a session cannot use, by its name, and why."""

    stage: str
    why: str


@dataclass(frozen=True, slots=True)
class PipelineRefused:
    """Why requested stages are not active.

    Attributes:
        settings: the requested settings.
        why: why none of them is active; empty if only some stages are refused.
        stages: the refused stages; their old settings stay active.
        in_force: the active settings.
    """

    settings: PipelineSettings
    why: str = ""
    stages: tuple[RefusedStage, ...] = ()
    in_force: PipelineSettings = field(default_factory=PipelineSettings)


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """Tokens that a look-up found.

    Attributes:
        verdicts: for the first of them, why each may or may not come next, in a few words; if the text is no token, for
            the whole text.
        spelled: if the text is no token, how many tokens it is; the candidate is the first of them. 0 otherwise.
        why: why such a text may or may not come next; None otherwise.
    """

    text: str
    candidates: tuple[Candidate, ...]
    verdicts: tuple[str, ...] = ()
    spelled: int = 0
    why: WhyAnswer | None = None


@dataclass(frozen=True, slots=True)
class BaselineAnswer:
    """The baseline run so far; complete if its `finish` is set. `budget` is its maximum number of tokens."""

    run: BaselineRun
    budget: int


@dataclass(frozen=True, slots=True)
class BreakpointAnswer:
    """The element that a breakpoint at an offset is on; None, and why, if there is none."""

    breakpoint: Breakpoint | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class TokensTo:
    """Allowed tokens that begin in the same part of the grammar, and after which the same parts may come.

    Attributes:
        examples: the bytes of one of them for each state that they lead to, from which the automaton computes these.
        shown: some of them as displayed text, the most probable first.
        count: how many there are.
        mass: their total probability; None if no model was used.
        rule: the rule or the schema that reads the first byte; empty in a grammar without names.
        first: the first bytes, as a label.
        follows: what may come next after them, as text for the user; empty if it is not known.
    """

    examples: tuple[bytes, ...]
    shown: tuple[str, ...]
    count: int
    mass: float | None
    rule: str = ""
    first: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class TokensAnswer:
    """The tokens that are allowed at a state.

    Attributes:
        request: the request.
        total: the number of allowed tokens, EOS ids and tokens without bytes included.
        groups: those with bytes, by rule, first byte and what comes next.
    """

    request: TokensRequest
    total: int = 0
    groups: tuple[TokensTo, ...] = ()


@dataclass(frozen=True, slots=True)
class ManyAnswer:
    """The outcomes of many seeds so far, out of `total`; the last answer has `done` set.

    Attributes:
        masses: what the steps of the last outcome lost; only the first answer with an outcome has them.
    """

    outcomes: tuple[SampleOutcome, ...]
    total: int
    done: bool
    masses: PackedMasses = NO_MASSES


# --- pasted outputs and shared traces --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShareTrace(WorkerRequest["ShareAnswer"]):
    """Write a trace as a page, or as a bug bundle.

    Attributes:
        path: the file.
        work: the shared parts of the document; without its trace if the worker's own is shared.
        is_own: whether the worker's own trace is shared.
        as_bundle: whether a bug bundle is written.
        server_report: what a check of a server found, for the bundle; empty without one.
    """

    path: str
    work: DocumentFile
    is_own: bool
    as_bundle: bool = False
    server_report: str = ""


@dataclass(frozen=True, slots=True)
class ShareAnswer:
    """The result of writing a shared page.

    Attributes:
        path: the file.
        size: in bytes.
        steps: the number of steps of all branches; of a bundle, that of its files.
        error: why nothing was written; empty if it was.
        left_out: of a bundle: the names of what it lacks.
        as_bundle: whether it is a bug bundle.
    """

    path: str
    size: int = 0
    steps: int = 0
    error: str = ""
    left_out: tuple[str, ...] = ()
    as_bundle: bool = False


@dataclass(frozen=True, slots=True)
class ReplayQuestion:
    """An output to judge.

    Attributes:
        text: the output; ignored if there are ids or a saved trace.
        saved: the output as it was saved with its tokens.
        ids: the output as token ids of the loaded model; None if it is text.
        budget: the number of tokens; None if unknown.
        finish: one of `engine.document.saved_traces.FINISHES`, or empty.
        case: what else is known of the request, the response and the server; the grammar of the editor, the output,
            the budget and the reason for the end take precedence.
    """

    text: str = ""
    ids: tuple[int, ...] | None = None
    saved: SavedTrace | None = None
    budget: int | None = None
    finish: str = ""
    case: FailureCase | None = None


@dataclass(frozen=True, slots=True)
class ReplayOutput(WorkerRequest["ReplayAnswer"]):
    """Judge an output under the current grammar of the editor, even if that has errors."""

    compiled: CompileRequest
    question: ReplayQuestion


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """The diagnosis and the verdict on an output; or one sentence that says why there is none.

    Attributes:
        question: the question.
        verdict: the verdict; None without an output.
        tokens_of: the name of the model whose tokens the verdict uses.
        error: why there is no answer.
        diagnosis: the cause; None if only the zones of the session explain the output.
        schema_spans: the spans in the grammar of the JSON Pointers that the diagnosis names.
    """

    question: ReplayQuestion
    verdict: Verdict | None = None
    tokens_of: str = ""
    error: str = ""
    diagnosis: Diagnosis | None = None
    schema_spans: dict[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenOutput(SessionRequest["DecodeView"]):
    """Make an output the current trace as if it had been generated; the model is not called."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpenRecord(SessionRequest["DecodeView"]):
    """Make the tokens of a log the current trace, before its first step; the model is not called."""

    case: FailureCase


@dataclass(frozen=True, slots=True)
class FollowRecord(SessionRequest["DecodeView"]):
    """Take the next token of a log, also if the grammar does not allow it."""


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """A token with the probability of a log and that of the present model.

    Attributes:
        index: the number of the step, from 0.
        then: the probability in the log.
        now: that of the present model, before or behind the mask as in the log; None if unknown.
    """

    index: int
    then: float
    now: float | None


@dataclass(frozen=True, slots=True)
class RecordPosition:
    """Where a session is in the tokens of a log.

    Attributes:
        taken: how many of them were taken.
        total: how many there are on the shown path.
        token, name, token_id: the next one; the id is None at the end.
        next: its probabilities; None at the end, or if the log has none.
        is_allowed: whether the grammar allows it.
        has_left: at the end: whether the shown path went on otherwise than the log.
        largest: of the tokens that the present model was asked for, the one whose probability differs most.
    """

    taken: int
    total: int
    token: bytes | None = None
    name: str = ""
    token_id: int | None = None
    next: RecordDifference | None = None
    is_allowed: bool = True
    has_left: bool = False
    largest: RecordDifference | None = None


# --- notices ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PositionNotice(Notice):
    """A notice about the position of the last view, which is not computed before the view is sent.

    Attributes:
        revision: of the active grammar.
        at: the current step of the session; None at the start.
    """

    revision: int
    at: int | None

    def is_about(self, view: DecodeView) -> bool:
        """Return whether a view shows this position."""
        return view.position is not None and (self.revision, self.at) == (view.grammar_revision, view.trace.current)


@dataclass(frozen=True, slots=True)
class Assessment(PositionNotice):
    """The verdict on the output so far, against the budget: the distance to the end, and why it ended if it did."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Respelling:
    """A part of the output that the tokenizer would write in other tokens.

    Attributes:
        first, end: the indices of its first step and of that after its last one.
        tokens: the tokenizer's own tokens.
        p_most: an upper bound of their probability there: that of the first of them; None if unknown.
        is_exact: whether it is their probability, since there is one.
    """

    first: int
    end: int
    tokens: tuple[bytes, ...]
    p_most: float | None
    is_exact: bool


@dataclass(frozen=True, slots=True)
class Respellings(PositionNotice):
    """The parts of the output that the tokenizer would write in other tokens."""

    parts: tuple[Respelling, ...]


@dataclass(frozen=True, slots=True)
class GivenNotice(PositionNotice):
    """The probabilities of the next tokens, given that the text will match, as far as they are known."""

    found: GivenShares


@dataclass(frozen=True, slots=True)
class ForcedText(PositionNotice):
    """The bytes that must come next; for JSON, up to formatting."""

    data: bytes
