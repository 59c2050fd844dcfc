"""The decode group: a model, a grammar and the position of the user in the trace.

The window keeps no trace state of its own: after every request it gets a complete `DecodeView` and shows that. If the
engine refuses a request, the answer is the old view with the refusal in `error`; nothing is half done.

A step is one request and one answer. What nobody waits for (how far the end is, which text is forced) follows as
notices once there are no more requests. Rejected: adding it to the view. It takes up to seconds, and a fast user sees
none of it.

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
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

import engine
from app.catalogue import ui_text
from app.workers.auditing import AuditHandler
from app.workers.decode_state import DecodeState
from app.workers.forced import ForcedHandler
from app.workers.grammar_position import PositionReader
from app.workers.loop import Emit, Handler, Job, handles, handles_in_thread
from app.workers.protocol import Refusal, WorkerRequest, sentence
from app.workers.queries import QueryHandler, force, shown_prompt, summary_of, why
from app.workers.recording import opened_record, record_position
from app.workers.requests.decode import (
    Back,
    Begin,
    DecodeView,
    FollowRecord,
    Force,
    GoTo,
    ModelSummary,
    OpenModel,
    OpenOutput,
    OpenRecord,
    PipelineRefused,
    PositionNotice,
    RefusedStage,
    Restart,
    RestoreTrace,
    SessionRequest,
    SetBudget,
    SetGrammar,
    SetPipeline,
    SetPrompt,
    SetSampler,
    StepOnce,
    Take,
    WatchGiven,
    WhyAnswer,
)
from app.workers.scoring import ScoreHandler
from app.workers.strategies import StrategiesHandler
from app.workers.trace_codec import SENDER
from engine.compile import compile_grammar
from engine.decoding.constraints.staged import unfit_stages
from engine.decoding.debugging.breakpoints import (
    Breakpoint,
    BreakpointKind,
    ConditionBreakpoint,
    MetCondition,
    StopBefore,
    entered,
    met_conditions,
)
from engine.decoding.debugging.condition import DrawnStep
from engine.decoding.debugging.rule_events import RuleEventTracker
from engine.decoding.errors import DeadEndError, EmptyMaskError, NotAllowedError, RemovedError
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.run_ahead import expect_no_run, expect_run
from engine.decoding.session import DecodeSession
from engine.decoding.session.replay import imported_trace
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import DEFAULT_MAX_TOKENS, ArchivedBranch, Chat, Finish, Position, SamplerSettings, Trace
from engine.models import load_model
from engine.models.source import cancelled_by
from engine.models.uniform import UniformSource
from engine.servers.keys import remember_key
from engine.source import CancelledError, CancelToken, EngineError
from engine.vocabulary import VocabularyError

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.debugging.breakpoints import RuleEvents, StopPoint
    from engine.decoding.session.session import SavePoint
    from engine.models import LogitSource

_MOVES = (
    SetGrammar,
    Begin,
    SetPrompt,
    Take,
    Force,
    Back,
    Restart,
    GoTo,
    OpenOutput,
    OpenRecord,
    FollowRecord,
    RestoreTrace,
)
"""Requests that change the position or the rules: a run stops again at the breakpoint that it stopped at."""
_MOST_AHEAD = 32  # tokens that a server generates in vain if the run is paused

A = TypeVar("A")
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


class DecodeHandler(Handler):
    """Answers decode requests. Tests replace `loader`."""

    def __init__(self, loader: Loader = _load) -> None:
        self._state = DecodeState()
        self._forced = ForcedHandler(self._state)
        self._queries = QueryHandler(self._state)
        self._strategies = StrategiesHandler(self._state)
        super().__init__(
            self._forced,
            self._queries,
            AuditHandler(self._state, self._spec),
            ScoreHandler(self._state),
            self._strategies,
        )
        self._loader = loader
        self._summary: ModelSummary | None = None
        self._prompt: str | Chat = ""
        self._sampler = SamplerSettings()
        self._max_tokens = DEFAULT_MAX_TOKENS
        self._pipeline = PipelineSettings()
        self._watcher = RuleWatcher()
        self._positions: PositionReader | None = None  # in the active grammar
        self._draws_part = False
        self._is_annotated = True  # whether all notices about the last view were sent
        self._watches_given = False

    def warm(self) -> None:
        """Compile the kernels in the background.

        Everything that jobs import is imported with this module, before there is a second thread (see `Sealed`).
        """
        engine.warm(wait=False)
        SENDER.sends_once = True  # this is a process of its own, and all of its views are read

    def _spec(self) -> str:
        return "" if self._summary is None else self._summary.spec

    def handle(self, request: WorkerRequest[A], cancel: CancelToken, emit: Emit) -> A | Refusal:
        """Answer a decode request; a refusal of the engine is part of the answer.

        Args:
            request: a request of this group.
            cancel: checked regularly.
            emit: receives intermediate answers.
        """
        if isinstance(request, _MOVES):
            self._watcher.clear_stop()
        if isinstance(request, SessionRequest) and self._state.session is not None:
            if isinstance(request, StepOnce) and request.in_run:
                expect_run(self._state.session, _MOST_AHEAD)
            else:
                expect_no_run(self._state.session)
        try:
            with self._cancelled_by(cancel):
                return super().handle(request, cancel, emit)
        except CancelledError:
            raise
        except EngineError as error:
            if isinstance(request, SessionRequest):
                return cast("A", self._view(error=sentence(error)))
            return Refusal(sentence(error))

    def notices(self, cancel: CancelToken) -> Iterator[PositionNotice]:
        """Yield the forced text at the position of the last view, assessment and respellings, and what is watched.

        Args:
            cancel: checked regularly.
        """
        if self._is_annotated:
            return
        for find in (self._forced.forced_text, partial(self._queries.assessment, cancel), self._forced.respellings):
            cancel.check()
            try:
                with self._cancelled_by(cancel):
                    found = find()
            except CancelledError:
                raise
            except EngineError:
                continue  # no model or no prompt, as the view says, or too much work
            if found is not None:
                yield found
        if self._watches_given:
            with self._cancelled_by(cancel):
                yield from self._strategies.given(cancel)
        self._is_annotated = True

    def _cancelled_by(self, cancel: CancelToken) -> AbstractContextManager[None]:
        """Let a token end what the model waits for."""
        session = self._state.session
        return nullcontext() if session is None else cancelled_by(session.model, cancel)

    @handles_in_thread(OpenModel)
    def _open_model(self, request: OpenModel, job: Job) -> Callable[[], DecodeView]:
        try:
            if request.key:
                remember_key(request.spec, request.key)
            model = self._loader(request.spec, job.cancel)
        except CancelledError:
            raise
        except EngineError as error:
            return partial(self._view, error=sentence(error))
        return partial(self._use_model, request.spec, model)

    @handles(Begin)
    def _begin(self, request: Begin, job: Job) -> DecodeView:
        self._use_sampler(request.sampler)
        self._use_budget(request.max_tokens)
        if self._state.session is not None:
            self._state.session.restore(Trace())  # a prompt that the model cannot tokenise would leave the old trace
        self._begin_pipeline(request.pipeline)
        self._use_prompt(request.prompt, job.cancel)
        return self._view()

    @handles(SetPrompt)
    def _set_prompt(self, request: SetPrompt, job: Job) -> DecodeView:
        return self._view(archived=self._use_prompt(request.prompt, job.cancel))

    @handles(SetSampler)
    def _set_sampler(self, request: SetSampler, _job: Job) -> DecodeView:
        self._use_sampler(request.settings)
        return self._view()

    @handles(WatchGiven)
    def _watch_given(self, request: WatchGiven, _job: Job) -> DecodeView:
        self._watches_given = request.is_watched
        return self._view()

    @handles(SetBudget)
    def _set_budget(self, request: SetBudget, _job: Job) -> DecodeView:
        self._use_budget(request.max_tokens)
        return self._view()

    @handles(StepOnce)
    def _step(self, request: StepOnce, _job: Job) -> DecodeView:
        session = self._state.need_session()
        if session.finish is not None:
            return self._view()
        self._watcher.check(session, request.breakpoints)
        saved, read = session.save_point(), session.grammar_text if request.breakpoints else None
        self._forced.step(session, one_by_one=request.one_by_one or request.watched)
        passage = self._watcher.passage(session) if request.watched else None
        conditions = self._met_conditions(session, request.breakpoints, read)
        stop = self._watcher.stop_before(session, saved, passage, request.breakpoints, conditions)
        view = self._with_tokens(self._view(), request)
        if stop is not None or session.finish is not None:
            expect_no_run(session)
        return replace(view, passage=passage if stop is None else None, stop_before=stop)

    def _met_conditions(
        self, session: DecodeSession, breakpoints: tuple[StopPoint, ...], read: bytes | None
    ) -> tuple[MetCondition, ...]:
        """Return the conditions that the last step met before it was taken.

        Args:
            session: the session after the step.
            breakpoints: breakpoints of all kinds.
            read: what the grammar had read before the step; None if no grammar was read.
        """
        if not any(isinstance(one, ConditionBreakpoint) for one in breakpoints):
            return ()
        step, positions = session.steps[-1], self._positions
        drawn = DrawnStep(
            step,
            output=session.output[: len(session.output) - len(_text_of(session, step.token_id))],
            left=session.token_limit - len(session.steps) + 1,
            rank=session.last_rank,
            stacks=lambda most: None if positions is None or read is None else positions.count_stacks(read, most),
        )
        return met_conditions(breakpoints, drawn)

    @handles(Take)
    def _take(self, request: Take, _job: Job) -> DecodeView | WhyAnswer:
        session = self._state.need_session()
        try:
            session.take(request.token_id)
        except (NotAllowedError, RemovedError):
            return why(session, request.token_id)
        return self._with_tokens(self._view(), request)

    def _with_tokens(self, view: DecodeView, request: StepOnce | Take) -> DecodeView:
        """Return a view with the tokens that are allowed next, if a request asks for them."""
        if not request.lists_tokens or view.position is None:
            return view
        return replace(view, tokens=self._queries.tokens_of_step())

    @handles(Force)
    def _force(self, request: Force, _job: Job) -> DecodeView:
        return self._view(note=force(self._state.need_session(), request.token_id))

    @handles(Back)
    def _back(self, _request: Back, job: Job) -> DecodeView:
        session = self._state.need_session()
        session.back()
        return self._revisited(session, job)

    @handles(Restart)
    def _restart(self, _request: Restart, job: Job) -> DecodeView:
        session = self._state.need_session()
        session.restart()
        return self._revisited(session, job)

    @handles(GoTo)
    def _go_to(self, request: GoTo, job: Job) -> DecodeView:
        session = self._state.need_session()
        session.go_to(request.node_id)
        return self._revisited(session, job)

    def _revisited(self, session: DecodeSession, job: Job) -> DecodeView:
        """Return the view of an earlier step; first emit what is remembered of it, since the model may take long."""
        if (remembered := session.remembered()) is not None:
            job.emit(self._view(position=remembered))
        return self._view()

    @handles(RestoreTrace)
    def _restore_trace(self, request: RestoreTrace, _job: Job) -> DecodeView:
        lost = self._state.need_session().restore(request.trace)
        return self._view(note=ui_text("workers.decode.lost_steps", count=lost) if lost else "")

    @handles(OpenOutput)
    def _open_output(self, request: OpenOutput, _job: Job) -> DecodeView:
        """Replace the trace by a pasted output; the old trace is kept as an archived branch."""
        session = self._state.need_session()
        trace = imported_trace(request.ids, session.language, session.model.vocabulary)
        archived = self._shown_branch()
        session.restore(trace)
        return self._view(archived=archived)

    @handles(OpenRecord)
    def _open_record(self, request: OpenRecord, _job: Job) -> DecodeView:
        """Replace the trace by the tokens of a log, before the first of them; the old trace is archived."""
        session = self._state.need_session()
        trace, note = opened_record(request.case, session)
        archived = self._shown_branch()
        session.restore(trace)
        return self._view(archived=archived, note=note)

    @handles(FollowRecord)
    def _follow_record(self, _request: FollowRecord, _job: Job) -> DecodeView:
        session = self._state.need_session()
        session.follow_record()
        return self._view()

    def _use_sampler(self, settings: SamplerSettings) -> None:
        if self._state.session is not None:
            self._state.session.set_sampler(settings)
        self._sampler = settings

    def _use_budget(self, max_tokens: int) -> None:
        if self._state.session is not None:
            self._state.session.set_max_tokens(max_tokens)
        self._max_tokens = max_tokens

    @handles(SetPipeline)
    def _set_pipeline(self, request: SetPipeline, _job: Job) -> DecodeView | PipelineRefused:
        settings = request.settings
        note, refused = "", tuple[RefusedStage, ...]()
        if self._state.session is not None:
            before, requested = len(self._state.session.steps), settings
            try:
                replay = self._state.session.set_pipeline(settings)
            except EngineError as error:
                refusal = PipelineRefused(requested, sentence(error), in_force=self._pipeline)
                settings, refused = self._fitting(self._state.session, settings)
                if not refused:  # each one fits alone
                    return refusal
                try:
                    replay = self._state.session.set_pipeline(settings)
                except EngineError:
                    return refusal
            if replay.illegal is not None and before > replay.kept:
                note = _kept_note("processors", replay.kept, before)
        self._pipeline, self._state.pipeline_error = settings, None
        return replace(self._view(note=note), refused=refused)

    def _fitting(
        self, session: DecodeSession, settings: PipelineSettings
    ) -> tuple[PipelineSettings, tuple[RefusedStage, ...]]:
        """Return the settings with the unfitting stages replaced by the active ones, and the refused stages."""
        unfit = unfit_stages(settings, session.grammar, session.model.vocabulary)
        refused = tuple(RefusedStage(stage, sentence(error)) for stage, error in unfit.items())
        before = PipelineSettings() if self._state.pipeline_error else self._pipeline
        return settings.with_stages_of(before, unfit), refused

    def _begin_pipeline(self, settings: PipelineSettings) -> None:
        """Set the stages of a document; if they do not fit the model, no step is possible until they change."""
        self._pipeline, self._state.pipeline_error = settings, None
        if self._state.session is not None:
            try:
                self._state.session.set_pipeline(settings)
            except EngineError as error:
                self._refuse_pipeline(self._state.session, error)

    def _refuse_pipeline(self, session: DecodeSession, error: EngineError) -> None:
        session.set_pipeline(PipelineSettings())
        self._state.pipeline_error = EngineError("workers.decode.unfit", reason=error)

    def _use_prompt(self, prompt: str | Chat, cancel: CancelToken) -> ArchivedBranch | None:
        """Start again from a prompt; return the branch that was shown."""
        self._prompt, self._state.prompt_error = prompt, None
        archived = self._shown_branch()
        if self._state.session is not None:
            try:
                with cancel.scope():  # a chat template may take seconds before its limit stops it
                    self._state.session.set_prompt(prompt)
            except CancelledError:
                self._state.prompt_error = EngineError("workers.decode.prompt_cancelled")
                raise
            except EngineError as error:
                self._state.prompt_error = _prompt_error(prompt, self._state.session.model, error)
                return None  # the session still has it
        return archived

    def _shown_branch(self) -> ArchivedBranch | None:
        session, summary = self._state.session, self._summary
        if session is None or summary is None:
            return None
        trace = session.trace
        steps = tuple(trace.nodes[node_id].step for node_id in trace.path)
        return ArchivedBranch(summary.name, session.prompt, steps) if steps else None

    def _use_model(self, spec: str, model: LogitSource) -> DecodeView:
        prompt_error: EngineError | None = None
        try:
            session = DecodeSession(self._state.grammar, model, prompt=self._prompt, sampler=self._sampler)
        except EngineError as error:
            session = DecodeSession(self._state.grammar, model, sampler=self._sampler)
            prompt_error = _prompt_error(self._prompt, model, error)
        session.set_max_tokens(self._max_tokens)
        archived = self._shown_branch()
        self._state.session, self._summary, self._state.prompt_error = session, summary_of(model, spec), prompt_error
        self._forced.clear_session()
        self._watcher.clear_stop()
        self._begin_pipeline(self._pipeline)
        view = self._view(archived=archived)
        return_free_memory()
        return view

    @handles(SetGrammar)
    def _set_grammar(self, request: SetGrammar, job: Job) -> DecodeView:
        grammar = compile_grammar(request.notation, request.text, request.options, cancel=job.cancel)
        positions, note = PositionReader(grammar), ""
        if request.rule_automata:
            positions.follow(pickle.loads(request.rule_automata))  # noqa: S301 - the compile process pickled them
        if self._state.session is not None:
            before = len(self._state.session.steps)
            try:
                replay = self._state.session.replace_grammar(grammar)
            except VocabularyError as error:  # zones became active and wait for a token
                self._refuse_pipeline(self._state.session, error)
                replay = self._state.session.replace_grammar(grammar)
            if replay.illegal is not None and before > replay.kept:
                note = _kept_note("grammar", replay.kept, before)
        self._state.grammar, self._state.grammar_revision = grammar, request.revision
        self._positions, self._draws_part = positions, request.draws_part
        return self._view(note=note)

    def _view(
        self,
        *,
        note: str = "",
        error: str = "",
        archived: ArchivedBranch | None = None,
        position: Position | None = None,
    ) -> DecodeView:
        self._is_annotated = False
        state, dead_end = self._state, ""
        session = state.session if not state.prompt_error else None
        if position is None and session is not None and state.grammar is not None and not state.pipeline_error:
            try:
                position = session.position()
                if position.finish is Finish.DEAD_END and session.pipeline != PipelineSettings():
                    dead_end = _with_title(session.dead_end())
                elif position.emptied_by:
                    dead_end = _with_title(session.emptied(position.emptied_by))
            except EngineError as failure:
                error = error or sentence(failure)
        view = DecodeView(
            model=self._summary,
            trace=session.trace if session is not None else Trace(),
            position=position,
            sampler=self._sampler,
            max_tokens=self._max_tokens,
            prompt=self._prompt,
            prompt_tokens=shown_prompt(session) if session is not None else (),
            grammar_revision=state.grammar_revision,
            archived=archived,
            note=note,
            error=error or _sentence_of(state.prompt_error or state.pipeline_error),
            pipeline=self._pipeline,
            pipeline_error=_sentence_of(state.pipeline_error),
            dead_end=dead_end,
        )
        if session is not None and position is not None and not position.is_remembered:
            with contextlib.suppress(EngineError):  # a source that does not answer any more
                view = replace(view, record=record_position(session))
        return self._with_grammar_position(view)

    def _with_grammar_position(self, view: DecodeView) -> DecodeView:
        output = view.grammar_prefix
        if self._positions is None or output is None:
            return view
        try:
            found = self._positions.position(output, CancelToken(), draws_part=self._draws_part)
        except EngineError as error:
            return replace(view, error=view.error or sentence(error))
        return replace(view, grammar_position=found)


def _with_title(error: DeadEndError) -> str:
    """Return the text of an error with the title of its stage in place of the name."""
    return str(error.named(stage_title(error.stage)) if isinstance(error, EmptyMaskError) else error)


def _kept_note(cause: str, kept: int, total: int) -> str:
    """Return how many steps are valid after a change; `cause` is "processors" or "grammar"."""
    if kept:
        return ui_text(f"workers.decode.{cause}_kept", kept=kept, total=total)
    return ui_text(f"workers.decode.{cause}_none", total=total)


def _sentence_of(error: EngineError | None) -> str:
    return "" if error is None else sentence(error)


def _prompt_error(prompt: str | Chat, model: LogitSource, error: EngineError) -> EngineError:
    """Return the error that says why a model cannot use a prompt; most chat templates fail without a first message."""
    is_empty = isinstance(prompt, Chat) and not prompt.messages and bool(model.chat_template)
    return EngineError("workers.decode.no_message") if is_empty else error


class RuleWatcher:
    """Follows the rule events of steps in the active grammar, and stops before breakpoints."""

    def __init__(self) -> None:
        self._grammar: CompiledGrammar | None = None
        self._tracker: RuleEventTracker | None = None
        self._known: tuple[int | None, tuple[StopPoint, ...]] | None = None  # those that stop no step from a node

    def stop_before(
        self,
        session: DecodeSession,
        saved: SavePoint,
        passage: RuleEvents | None,
        breakpoints: tuple[StopPoint, ...],
        conditions: tuple[MetCondition, ...],
    ) -> StopBefore | None:
        """Undo the last step if its token enters a breakpoint or meets a condition; return why, or None if it stays.

        A step from the position of the last stop is not stopped again by the same breakpoints, nor a step from where
        the step before led to by a condition that lasts and was met there.

        Args:
            session: the session after the step.
            saved: the session before the step.
            passage: the rule events of the step; None without an active grammar.
            breakpoints: the breakpoints to stop before.
            conditions: those of them that are conditions, and met by the step.
        """
        passed, self._known = self._known, None
        on_source = () if passage is None else entered(breakpoints, passage)
        met: tuple[StopPoint, ...] = (*on_source, *(one.breakpoint for one in conditions))
        known = passed[1] if passed is not None and passed[0] == saved.trace.current else ()
        if not any(all(not one.is_same(other) for other in known) for one in met):
            lasting = tuple(one.breakpoint for one in conditions if one.breakpoint.kind.lasts)
            self._known = (session.trace.current, lasting) if lasting else None
            return None
        step = session.steps[-1]
        session.undo_to(saved)
        self._known = saved.trace.current, met
        return StopBefore(step, on_source, conditions)

    def check(self, session: DecodeSession, breakpoints: tuple[StopPoint, ...]) -> None:
        """Check that steps can detect these breakpoints.

        Raises:
            EngineError: one is on a rule of a grammar whose rules are not followed, or on a condition that needs a
                model, and there is a tokenizer alone.
        """
        on_source = [one for one in breakpoints if isinstance(one, Breakpoint)]
        conditions = (one.kind for one in breakpoints if isinstance(one, ConditionBreakpoint) and one.enabled)
        needing = next((kind for kind in conditions if kind.needs_model), None)
        if needing is not None and isinstance(session.model, UniformSource):
            raise EngineError("workers.decode.needs_model", condition=needing.title)
        grammar = session.grammar
        if not on_source or grammar is None or grammar.grammar is None:
            return
        names = {rule.name for rule in grammar.grammar.rules}
        why = self._tracker_of(grammar).unfollowed
        on_rule = next((one for one in on_source if one.kind is BreakpointKind.RULE and one.name in names), None)
        if why and on_rule is not None:
            raise EngineError("workers.decode.unfollowed", rule=on_rule.name, reason=why)

    def clear_stop(self) -> None:
        """Let the next step stop at any breakpoint: something other than a step changed the position."""
        self._known = None

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
