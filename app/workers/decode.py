"""The decode group: a model, a grammar and the position of the user in the trace.

The window keeps no trace state of its own: after every request it gets a complete `DecodeView` and shows that. If the
engine refuses a request, the answer is the old view with the refusal in `error`; nothing is half done.

A prompt that the model cannot tokenise stays as it was typed, and no step is possible until another prompt or another
model resolves that.

The same holds for the stages of a document: if they do not fit the model (a trigger that is none of its tokens, say),
they stay in the document, and no step is possible until other stages or another model resolve that. Stages that the
user requests and that do not fit are refused, and the old ones stay active.

A model loads in a thread beside the other jobs, so that the old one stays in use until the new one is ready; the main
thread puts it in use, between two jobs. The trace does not survive another model, since its token ids differ there, nor
another prompt: the view that answers such a request carries the shown path as an archived branch.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import engine
from app.catalogue import ui_text
from app.workers.forced import ForcedHandler
from app.workers.loop import Emit, Handler
from app.workers.protocol import sentence
from app.workers.queries import (
    assess_output,
    baseline_of,
    breakpoint_for,
    force,
    look_up,
    many_of,
    replay_output,
    share,
    shown_prompt,
    summary_of,
    tokens_at,
    why,
)
from app.workers.requests.decode import (
    AssessOutput,
    Back,
    Begin,
    DecodeView,
    FindBreakpoint,
    Force,
    GoTo,
    Lookup,
    ModelSummary,
    OpenModel,
    OpenOutput,
    PipelineRefused,
    RefusedStage,
    ReplayOutput,
    Restart,
    RestoreTrace,
    RunBaseline,
    SampleMany,
    SetBudget,
    SetGrammar,
    SetPipeline,
    SetPrompt,
    SetSampler,
    ShareTrace,
    StepOnce,
    Take,
    TokensRequest,
    Why,
    WhyAnswer,
)
from app.workers.requests.export import ExportAnswer, ExportWithModel
from app.workers.requests.forced import ForcedRequest
from app.workers.trace_codec import SENDER
from engine.compile import compile_grammar
from engine.decoding.constraints.staged import unfit_stages
from engine.decoding.debugging.breakpoints import BreakpointKind, StopBefore, entered
from engine.decoding.debugging.rule_events import RuleEventTracker
from engine.decoding.errors import NotAllowedError, RemovedError
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.session import DecodeSession
from engine.decoding.session.replay import imported_trace
from engine.decoding.values import DEFAULT_MAX_TOKENS, ArchivedBranch, Chat, Finish, Position, SamplerSettings, Trace
from engine.models import load_model
from engine.source import CancelledError, CancelToken, EngineError
from engine.vocabulary import VocabularyError

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.debugging.breakpoints import Breakpoint, RuleEvents
    from engine.decoding.session.session import SavePoint
    from engine.models import LogitSource

_MOVES = (SetGrammar, Begin, SetPrompt, Take, Force, Back, Restart, GoTo, OpenOutput, RestoreTrace)
"""Requests that change the position or the rules: a run stops again at the breakpoint that it stopped at."""

Loader = Callable[[str, CancelToken], "LogitSource"]


def _load(spec: str, cancel: CancelToken) -> LogitSource:
    return load_model(spec, cancel=cancel)


def return_free_memory() -> None:
    """Return the memory of a replaced model to the system.

    glibc keeps freed memory below its latest allocations: measured, 450 MB after SmolLM2, as long as the process lives.
    Other systems return it by themselves, or have no such call.
    """
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # musl has no such function
            ctypes.CDLL(None).malloc_trim(0)


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model that is ready to be used.

    Attributes:
        spec: its name, as it was requested.
        model: the model; None if it did not load.
        error: why it did not load.
    """

    spec: str
    model: LogitSource | None
    error: str = ""


class DecodeHandler(Handler):
    """Answers decode requests. Tests replace `loader`."""

    def __init__(self, loader: Loader = _load) -> None:
        self._loader = loader
        self._session: DecodeSession | None = None
        self._summary: ModelSummary | None = None
        self._grammar: CompiledGrammar | None = None
        self._grammar_revision = -1
        self._prompt: str | Chat = ""
        self._prompt_error = ""  # why the session does not have this prompt
        self._sampler = SamplerSettings()
        self._max_tokens = DEFAULT_MAX_TOKENS
        self._pipeline = PipelineSettings()
        self._pipeline_error = ""  # why the session does not have these stages
        self._watcher = RuleWatcher()
        self._forced = ForcedHandler()

    def warm(self) -> None:
        """Compile the kernels in the background.

        Everything that jobs import is imported with this module, before there is a second thread (see `Sealed`).
        """
        engine.warm(wait=False)
        SENDER.sends_once = True  # this is a process of its own, and all of its views are read

    def prepares(self, request: Any) -> bool:
        """Return whether a request is prepared beside the others: a model loads while the old one is in use."""
        return isinstance(request, OpenModel)

    def prepare(self, request: OpenModel, cancel: CancelToken) -> LoadedModel:
        """Load a model.

        Args:
            request: the request.
            cancel: checked regularly.
        """
        try:
            return LoadedModel(request.spec, self._loader(request.spec, cancel))
        except CancelledError:
            raise
        except EngineError as error:
            return LoadedModel(request.spec, None, sentence(error))

    def handle(self, request: Any, cancel: CancelToken, emit: Emit) -> Any:
        """Answer a decode request.

        Args:
            request: a request of this group.
            cancel: checked regularly.
            emit: receives intermediate answers.
        """
        if isinstance(request, OpenModel):
            request = self.prepare(request, cancel)
        if isinstance(request, LoadedModel):
            return self._use_model(request)
        try:
            return self._dispatch(request, cancel, emit)
        except CancelledError:
            raise
        except EngineError as error:
            return self._view(error=sentence(error))

    def _dispatch(self, request: Any, cancel: CancelToken, emit: Emit) -> Any:
        if isinstance(request, _MOVES):
            self._watcher.clear_stop()
        match request:
            case SetGrammar():
                return self._set_grammar(request, cancel)
            case Begin(prompt, sampler, max_tokens, pipeline):
                self._set_sampler(sampler)
                self._set_budget(max_tokens)
                if self._session is not None:
                    self._session.restore(Trace())  # a prompt that the model cannot tokenise would leave the old trace
                self._begin_pipeline(pipeline)
                self._set_prompt(prompt, cancel)
            case SetPrompt(prompt):
                return self._view(archived=self._set_prompt(prompt, cancel))
            case SetSampler(settings):
                self._set_sampler(settings)
            case SetBudget(max_tokens):
                self._set_budget(max_tokens)
            case SetPipeline(settings):
                return self._set_pipeline(settings)
            case ShareTrace():
                return share(request, self._session, self._grammar, cancel)
            case ReplayOutput():
                return replay_output(request, self._session, self._grammar, self._grammar_revision, cancel)
            case _ if isinstance(request, ForcedRequest):
                session = self._need_session()
                return self._forced.handle(session, request, self._grammar_revision, cancel, emit)
            case _:
                return self._dispatch_in_session(self._need_session(), request, cancel, emit)
        return self._view()

    def _dispatch_in_session(self, session: DecodeSession, request: Any, cancel: CancelToken, emit: Emit) -> Any:
        match request:
            case StepOnce():
                if session.finish is None:
                    return self._step(session, request)
            case Take() | Force():
                return self._take(session, request)
            case Back() | Restart() | GoTo():
                _move(session, request)
                if (remembered := session.remembered()) is not None:
                    emit(self._view(position=remembered))  # the model may take long
            case Why() | Lookup() | TokensRequest() | RunBaseline() | FindBreakpoint():
                return self._answer_query(session, request, cancel, emit)
            case AssessOutput():
                return assess_output(session, cancel)
            case OpenOutput(ids):
                return self._open_output(session, ids)
            case SampleMany(n, first_seed):
                return many_of(session, range(first_seed, first_seed + n), cancel, emit)
            case ExportWithModel():
                return self._export(session, request, cancel)
            case RestoreTrace():
                lost = session.restore(request.trace)
                return self._view(note=ui_text("workers.decode.lost_steps", count=lost) if lost else "")
            case _:
                raise TypeError(f"the decode group does not know {type(request).__name__}")
        return self._view()

    def _step(self, session: DecodeSession, request: StepOnce) -> DecodeView:
        self._watcher.check(session, request.breakpoints)
        saved = session.save_point()
        self._forced.step(session, one_by_one=request.one_by_one or request.watched)
        passage = self._watcher.passage(session) if request.watched else None
        stop = self._watcher.stop_before(session, saved, passage, request.breakpoints)
        return replace(self._view(), passage=passage if stop is None else None, stop_before=stop)

    def _answer_query(
        self,
        session: DecodeSession,
        request: Why | Lookup | TokensRequest | RunBaseline | FindBreakpoint,
        cancel: CancelToken,
        emit: Emit,
    ) -> Any:
        """Answer a query that does not change the session."""
        match request:
            case Why(token_id):
                return why(session, token_id)
            case Lookup(text):
                return look_up(session, text)
            case RunBaseline():
                for answer in baseline_of(session, cancel):
                    emit(answer)
                return answer
            case FindBreakpoint(offset):
                return breakpoint_for(self._grammar, offset)
            case TokensRequest():
                return tokens_at(session, request, self._grammar_revision, cancel)

    def _need_session(self) -> DecodeSession:
        if self._session is None:
            raise EngineError(ui_text("workers.decode.no_model"))
        if self._prompt_error:
            raise EngineError(self._prompt_error)
        if self._pipeline_error:
            raise EngineError(self._pipeline_error)
        return self._session

    def _set_sampler(self, settings: SamplerSettings) -> None:
        if self._session is not None:
            self._session.set_sampler(settings)
        self._sampler = settings

    def _set_budget(self, max_tokens: int) -> None:
        if self._session is not None:
            self._session.set_max_tokens(max_tokens)
        self._max_tokens = max_tokens

    def _set_pipeline(self, settings: PipelineSettings) -> DecodeView | PipelineRefused:
        note, refused = "", tuple[RefusedStage, ...]()
        if self._session is not None:
            before, requested = len(self._session.steps), settings
            try:
                replay = self._session.set_pipeline(settings)
            except EngineError as error:
                refusal = PipelineRefused(requested, sentence(error), in_force=self._pipeline)
                settings, refused = self._fitting(self._session, settings)
                if not refused:  # each one fits alone
                    return refusal
                try:
                    replay = self._session.set_pipeline(settings)
                except EngineError:
                    return refusal
            if replay.illegal is not None and before > replay.kept:
                note = _kept_note("processors", replay.kept, before)
        self._pipeline, self._pipeline_error = settings, ""
        return replace(self._view(note=note), refused=refused)

    def _fitting(
        self, session: DecodeSession, settings: PipelineSettings
    ) -> tuple[PipelineSettings, tuple[RefusedStage, ...]]:
        """Return the settings with the unfitting stages replaced by the active ones, and the refused stages."""
        unfit = unfit_stages(settings, session.grammar, session.model.vocabulary)
        refused = tuple(RefusedStage(stage, sentence(error)) for stage, error in unfit.items())
        before = PipelineSettings() if self._pipeline_error else self._pipeline
        return settings.with_stages_of(before, unfit), refused

    def _begin_pipeline(self, settings: PipelineSettings) -> None:
        """Set the stages of a document; if they do not fit the model, no step is possible until they change."""
        self._pipeline, self._pipeline_error = settings, ""
        if self._session is not None:
            try:
                self._session.set_pipeline(settings)
            except EngineError as error:
                self._refuse_pipeline(self._session, error)

    def _refuse_pipeline(self, session: DecodeSession, error: EngineError) -> None:
        session.set_pipeline(PipelineSettings())
        self._pipeline_error = ui_text("workers.decode.unfit", reason=error)

    def _set_prompt(self, prompt: str | Chat, cancel: CancelToken) -> ArchivedBranch | None:
        """Start again from a prompt; return the branch that was shown."""
        self._prompt, self._prompt_error = prompt, ""
        archived = self._shown_branch()
        if self._session is not None:
            try:
                with cancel.scope():  # a chat template may take seconds before its limit stops it
                    self._session.set_prompt(prompt)
            except CancelledError:
                self._prompt_error = ui_text("workers.decode.prompt_cancelled")
                raise
            except EngineError as error:
                self._prompt_error = _prompt_sentence(prompt, self._session.model, error)
                return None  # the session still has it
        return archived

    def _shown_branch(self) -> ArchivedBranch | None:
        session, summary = self._session, self._summary
        if session is None or summary is None:
            return None
        trace = session.trace
        steps = tuple(trace.nodes[node_id].step for node_id in trace.path)
        return ArchivedBranch(summary.name, session.prompt, steps) if steps else None

    def _use_model(self, loaded: LoadedModel) -> DecodeView:
        model, prompt_error = loaded.model, ""
        if model is None:
            return self._view(error=loaded.error)
        try:
            session = DecodeSession(self._grammar, model, prompt=self._prompt, sampler=self._sampler)
        except EngineError as error:
            session = DecodeSession(self._grammar, model, sampler=self._sampler)
            prompt_error = _prompt_sentence(self._prompt, model, error)
        session.set_max_tokens(self._max_tokens)
        archived = self._shown_branch()
        self._session, self._summary, self._prompt_error = session, summary_of(model, loaded.spec), prompt_error
        self._forced.clear_session()
        self._watcher.clear_stop()
        self._begin_pipeline(self._pipeline)
        view = self._view(archived=archived)
        return_free_memory()
        return view

    def _set_grammar(self, request: SetGrammar, cancel: CancelToken) -> DecodeView:
        grammar = compile_grammar(request.notation, request.text, request.options, cancel=cancel)
        note = ""
        if self._session is not None:
            before = len(self._session.steps)
            try:
                replay = self._session.replace_grammar(grammar)
            except VocabularyError as error:  # zones became active and wait for a token
                self._refuse_pipeline(self._session, error)
                replay = self._session.replace_grammar(grammar)
            if replay.illegal is not None and before > replay.kept:
                note = _kept_note("grammar", replay.kept, before)
        self._grammar, self._grammar_revision = grammar, request.revision
        return self._view(note=note)

    def _open_output(self, session: DecodeSession, ids: tuple[int, ...]) -> DecodeView:
        """Replace the trace by a pasted output; the old trace is kept as an archived branch."""
        trace = imported_trace(ids, session.language, session.model.vocabulary)
        archived = self._shown_branch()
        session.restore(trace)
        return self._view(archived=archived)

    def _take(self, session: DecodeSession, request: Take | Force) -> DecodeView | WhyAnswer:
        if isinstance(request, Force):
            return self._view(note=force(session, request.token_id))
        try:
            session.take(request.token_id)
        except (NotAllowedError, RemovedError):
            return why(session, request.token_id)
        return self._view()

    def _export(self, session: DecodeSession, request: ExportWithModel, cancel: CancelToken) -> ExportAnswer:
        if session.grammar is None:
            return ExportAnswer(request.target, request.path, request.number, error=ui_text("workers.no_grammar"))
        from app.workers.exporting import export  # start-up time: 40 ms

        return export(request, session.grammar, session.model.vocabulary, cancel)

    def _view(
        self,
        *,
        note: str = "",
        error: str = "",
        archived: ArchivedBranch | None = None,
        position: Position | None = None,
    ) -> DecodeView:
        session, dead_end = self._session if not self._prompt_error else None, ""
        if position is None and session is not None and self._grammar is not None and not self._pipeline_error:
            try:
                position = session.position()
                if position.finish is Finish.DEAD_END and session.pipeline != PipelineSettings():
                    dead_end = str(session.dead_end())
                elif position.emptied_by:
                    dead_end = str(session.emptied(position.emptied_by))
            except EngineError as failure:
                error = error or sentence(failure)
        return DecodeView(
            model=self._summary,
            trace=session.trace if session is not None else Trace(),
            position=position,
            sampler=self._sampler,
            max_tokens=self._max_tokens,
            prompt=self._prompt,
            prompt_tokens=shown_prompt(session) if session is not None else (),
            grammar_revision=self._grammar_revision,
            archived=archived,
            note=note,
            error=error or self._prompt_error or self._pipeline_error,
            pipeline=self._pipeline,
            pipeline_error=self._pipeline_error,
            dead_end=dead_end,
        )


def _kept_note(cause: str, kept: int, total: int) -> str:
    """Return how many steps are valid after a change; `cause` is "processors" or "grammar"."""
    if kept:
        return ui_text(f"workers.decode.{cause}_kept", kept=kept, total=total)
    return ui_text(f"workers.decode.{cause}_none", total=total)


def _prompt_sentence(prompt: str | Chat, model: LogitSource, error: EngineError) -> str:
    """Return why a model cannot use a prompt; most chat templates fail without a first message."""
    is_empty = isinstance(prompt, Chat) and not prompt.messages and bool(model.chat_template)
    return ui_text("workers.decode.no_message") if is_empty else sentence(error)


def _move(session: DecodeSession, request: Back | Restart | GoTo) -> None:
    match request:
        case Back():
            session.back()
        case Restart():
            session.restart()
        case GoTo(node_id):
            session.go_to(node_id)


class RuleWatcher:
    """Follows the rule events of steps in the active grammar, and stops before breakpoints."""

    def __init__(self) -> None:
        self._grammar: CompiledGrammar | None = None
        self._tracker: RuleEventTracker | None = None
        self._stopped: tuple[int | None, tuple[Breakpoint, ...]] | None = None

    def stop_before(
        self, session: DecodeSession, saved: SavePoint, passage: RuleEvents | None, breakpoints: tuple[Breakpoint, ...]
    ) -> StopBefore | None:
        """Undo the last step if its token enters a breakpoint; return why, or None if the step stays.

        A step from the position of the last stop is not stopped again by the same breakpoints.

        Args:
            session: the session after the step.
            saved: the session before the step.
            passage: the rule events of the step; None without an active grammar.
            breakpoints: the breakpoints to stop before.
        """
        passed, self._stopped = self._stopped, None
        met = () if passage is None else entered(breakpoints, passage)
        known = passed[1] if passed is not None and passed[0] == saved.trace.current else ()
        if not any(all(not one.is_same(other) for other in known) for one in met):
            return None
        step = session.steps[-1]
        session.undo_to(saved)
        self._stopped = saved.trace.current, met
        return StopBefore(step, met)

    def check(self, session: DecodeSession, breakpoints: tuple[Breakpoint, ...]) -> None:
        """Check that steps can detect these breakpoints.

        Raises:
            EngineError: one is on a rule of a grammar whose rules are not followed.
        """
        grammar = session.grammar
        if not breakpoints or grammar is None or grammar.grammar is None:
            return
        names = {rule.name for rule in grammar.grammar.rules}
        why = self._tracker_of(grammar).unfollowed
        on_rule = next((one for one in breakpoints if one.kind is BreakpointKind.RULE and one.name in names), None)
        if why and on_rule is not None:
            raise EngineError(ui_text("workers.decode.unfollowed", rule=on_rule.name, reason=why))

    def clear_stop(self) -> None:
        """Let the next step stop at any breakpoint: something other than a step changed the position."""
        self._stopped = None

    def passage(self, session: DecodeSession) -> RuleEvents | None:
        """Return the rule events of the last step; None if no grammar is active.

        Raises:
            LimitExceededError: the text is too ambiguous to follow.
        """
        grammar = session.grammar
        if grammar is None or session.broken_at is not None:
            return None
        tracker = self._tracker_of(grammar)
        taken = [_text_of(session, step.token_id) for step in session.steps]
        if session.pipeline.zones is None:
            return tracker.after(taken)
        read = session.grammar_text
        return None if read is None else tracker.after(_split_last_token(read, taken[-1] if taken else b""))

    def _tracker_of(self, grammar: CompiledGrammar) -> RuleEventTracker:
        if self._tracker is None or self._grammar is not grammar:
            self._grammar, self._tracker = grammar, RuleEventTracker(grammar)
        return self._tracker


def _split_last_token(read: bytes, token: bytes) -> list[bytes]:
    """Split off what a grammar read of the last token; the other bytes of that token closed a trigger."""
    length = len(token) if read.endswith(token) else len(read)
    return [read[: len(read) - length], read[len(read) - length :]]


def _text_of(session: DecodeSession, token_id: int) -> bytes:
    vocabulary = session.model.vocabulary
    if token_id in vocabulary.eos_ids or token_id in vocabulary.special:
        return b""
    return vocabulary.token_bytes(token_id) or b""
