"""What crosses to the process that decodes, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from app.workers.trace_codec import RECEIVER, SENDER
from engine.decoding.debugging.breakpoints import Breakpoint, RuleEvents, StopBefore
from engine.decoding.pipeline_settings import PipelineSettings, StageName
from engine.decoding.values import (
    DEFAULT_MAX_TOKENS,
    ArchivedBranch,
    BaselineRun,
    Candidate,
    Chat,
    Position,
    SampleOutcome,
    SamplerSettings,
    Trace,
)

if TYPE_CHECKING:
    from engine.grammar.options import CompileOptions
    from engine.matching.explanation import Explanation

# --- requests --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenModel:
    """Load a model; the present one serves until it is ready."""

    spec: str


@dataclass(frozen=True, slots=True)
class SetGrammar:
    """Replace the grammar and replay the trace under it, without the model."""

    revision: int
    notation: str
    text: str
    options: CompileOptions


@dataclass(frozen=True, slots=True)
class Begin:
    """Another document: start anew with its settings, and keep nothing of the trace."""

    prompt: str | Chat
    sampler: SamplerSettings
    max_tokens: int
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)


@dataclass(frozen=True, slots=True)
class SetPrompt:
    """Start anew from another prompt."""

    prompt: str | Chat


@dataclass(frozen=True, slots=True)
class SetSampler:
    """Draw differently from the next step on."""

    settings: SamplerSettings


@dataclass(frozen=True, slots=True)
class SetBudget:
    """End after so many tokens; steps beyond a smaller budget stay."""

    max_tokens: int


@dataclass(frozen=True, slots=True)
class SetPipeline:
    """Put other stages between the model and the draw, or in another order; the longest legal path stays."""

    settings: PipelineSettings


@dataclass(frozen=True, slots=True)
class StepOnce:
    """Let the sampler take the next token.

    Attributes:
        watched: whether the view is to tell what it did to the rules.
        one_by_one: one token and no more; else a forced run is taken in one go, where the pipeline says so.
        breakpoints: a token that enters one of these is not taken, except where a step stopped before it just now.
            They need `watched` and `one_by_one`.
    """

    watched: bool = False
    one_by_one: bool = False
    breakpoints: tuple[Breakpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Take:
    """Take this token instead of sampling one."""

    token_id: int


@dataclass(frozen=True, slots=True)
class Force:
    """Take this token even if the grammar does not allow it; it has no say from there on."""

    token_id: int


@dataclass(frozen=True, slots=True)
class Back:
    """Undo the last step; its branch stays in the tree."""


@dataclass(frozen=True, slots=True)
class Restart:
    """Go back to before the first step."""


@dataclass(frozen=True, slots=True)
class GoTo:
    """Stand right after a step of the tree; None stands before the first one."""

    node_id: int | None


@dataclass(frozen=True, slots=True)
class Why:
    """Explain what the grammar says of a token here."""

    token_id: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """Find tokens by text or by id, however improbable they are here."""

    text: str


@dataclass(frozen=True, slots=True)
class TokensRequest:
    """Say which tokens may come where a text leads.

    Attributes:
        revision: of the grammar that is drawn.
        output: the text; None where the session stands, which is what the model's probabilities are of.
        grouped: whether they are to be told by where they lead, which takes a walk of the vocabulary.
    """

    revision: int
    output: bytes | None = None
    grouped: bool = False


@dataclass(frozen=True, slots=True)
class SampleMany:
    """Generate `n` outputs from the prompt within the budget, with seeds counted up from `first_seed`."""

    n: int
    first_seed: int = 0


@dataclass(frozen=True, slots=True)
class RunBaseline:
    """Write what the model would have written without the grammar, as long as the budget lasts."""


@dataclass(frozen=True, slots=True)
class FindBreakpoint:
    """Say what a breakpoint at a place of the grammar in force would be on."""

    offset: int


@dataclass(frozen=True, slots=True)
class RestoreTrace:
    """Go on with a saved trace as far as grammar and vocabulary allow; the model is not asked for its steps."""

    trace: Trace


# --- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What the window needs to know of a loaded model.

    Attributes:
        is_tokenizer: whether it is a tokenizer alone, so that there are no probabilities of a model.
    """

    name: str
    spec: str
    vocabulary_size: int
    has_eos: bool
    has_chat: bool
    context_length: int | None
    fingerprint: str
    vocabulary_fingerprint: str
    is_tokenizer: bool = False


@dataclass(frozen=True, slots=True)
class DecodeView:
    """Everything that the generation panes show, after each decode request.

    Attributes:
        model: the loaded model; None before the first one is ready.
        trace: the tree of steps.
        position: what stands before the next decision; None without a model or a grammar.
        max_tokens: the budget.
        prompt: the prompt as typed.
        prompt_tokens: how the model sees the prompt: pairs of token id and its shown text.
        grammar_revision: the revision of the grammar in force; -1 before the first one.
        former: the path that this very request put aside, for it began from another prompt or with another model.
        note: one sentence about what a replay kept and lost; empty otherwise.
        error: why the last request failed, one sentence and a way on; empty where it did not.
        passage: what a step that was watched did to the rules; None of any other request.
        stop_before: why a step did not take its token; None where it did, and of any other request.
        pipeline: the stages between the model and the draw.
        pipeline_error: why this model cannot have them, so that nothing can be stepped; empty where it can.
        dead_end: at a dead end, which stage leaves nothing and what it expects; empty where the grammar is alone.
        refused: the stages that this very request asked for and that are not in force, each by itself unfit.
    """

    model: ModelSummary | None = None
    trace: Trace = field(default_factory=Trace)
    position: Position | None = None
    sampler: SamplerSettings = field(default_factory=SamplerSettings)
    max_tokens: int = DEFAULT_MAX_TOKENS
    prompt: str | Chat = ""
    prompt_tokens: tuple[tuple[int, str], ...] = ()
    grammar_revision: int = -1
    former: ArchivedBranch | None = None
    note: str = ""
    error: str = ""
    passage: RuleEvents | None = None
    stop_before: StopBefore | None = None
    pipeline: PipelineSettings = field(default_factory=PipelineSettings)
    pipeline_error: str = ""
    dead_end: str = ""
    refused: tuple[RefusedStage, ...] = ()

    @property
    def has_model(self) -> bool:
        """Whether the probabilities are a model's; a tokenizer alone has none."""
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
        removed_by: the stage that does not leave a token which the grammar allows, and why; None where there is none.
        index: how many tokens there were before it: in a run the window may show a later step by now.
    """

    token_id: int
    explanation: Explanation
    prose: str
    removed_by: tuple[str, str] | None = None
    index: int | None = None


@dataclass(frozen=True, slots=True)
class RefusedStage:
    """A stage that a session cannot have as it was asked for, by its name, and why."""

    stage: StageName
    why: str


@dataclass(frozen=True, slots=True)
class PipelineRefused:
    """Why stages are not in force as they were asked for.

    Attributes:
        settings: what was asked for.
        why: why nothing of it is in force; empty where all but some stages are.
        stages: those that are not; what was in force of them before still is.
        in_force: what is in force now.
    """

    settings: PipelineSettings
    why: str = ""
    stages: tuple[RefusedStage, ...] = ()
    in_force: PipelineSettings = field(default_factory=PipelineSettings)


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """Tokens that a look-up found.

    Attributes:
        verdicts: of the first of them, why each may or may not come next, in a few words.
    """

    text: str
    candidates: tuple[Candidate, ...]
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineAnswer:
    """The unconstrained twin so far; whole where its `finish` is told. `budget` is how many tokens it may take."""

    twin: BaselineRun
    budget: int


@dataclass(frozen=True, slots=True)
class BreakpointAnswer:
    """What a breakpoint at a place would be on; None, and why, where there is nothing."""

    breakpoint: Breakpoint | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class TokensTo:
    """The tokens that lead from one place to another.

    Attributes:
        example: the bytes of one of them: whoever knows the automaton finds the place by it.
        shown: some of them as a person reads them, the most probable first.
        count: how many there are.
        mass: what the model gives to them together; None where no model was asked.
    """

    example: bytes
    shown: tuple[str, ...]
    count: int
    mass: float | None


@dataclass(frozen=True, slots=True)
class TokensAnswer:
    """The tokens that may come next at a place.

    Attributes:
        request: what was asked.
        counts: by the first byte, 256 numbers; none where nothing may come.
        masses: the same as the model's probabilities; none where no model was asked.
        total: how many tokens are allowed.
        groups: by where they lead; empty unless that was asked.
    """

    request: TokensRequest
    counts: tuple[int, ...] = ()
    masses: tuple[float, ...] = ()
    total: int = 0
    groups: tuple[TokensTo, ...] = ()


@dataclass(frozen=True, slots=True)
class ManyAnswer:
    """Outcomes of many seeds so far, out of `total`; the last one has `done` set."""

    outcomes: tuple[SampleOutcome, ...]
    total: int
    done: bool
