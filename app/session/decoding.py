"""The decode side of a session: the model, the trace, and running it.

The worker owns the state; this side keeps its last `DecodeView`. A run submits the next `StepOnce` after each answer,
so that Pause takes effect at once and every step is drawn.

A trace is restored (after a document is opened or shown, or a worker died) as soon as the worker has both the model and
the grammar that it was made with; until then the document's own trace is left alone, and shown as long as the worker
has not read the grammar. Branches that a new prompt or a new model archived belong to the document; the worker forgets
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import UnionType
from typing import TypeAlias

import msgspec
from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.document import Document, DocumentFile, ModelPart
from app.jobs import JobGroup, Loss, LostRequest, PendingAnswer
from app.session.compiling import CompiledGrammarView
from app.session.queries import DecodeQueries
from app.workers.protocol import Failed, Refusal, WorkerRequest
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
    Restart,
    RestoreTrace,
    RunBaseline,
    SampleMany,
    SetBudget,
    SetGrammar,
    SetPipeline,
    SetPrompt,
    SetSampler,
    ShareAnswer,
    ShareTrace,
    StepOnce,
    Take,
    WatchGiven,
    WhyAnswer,
)
from app.workers.requests.forced import MeasureStrategies
from app.workers.requests.scoring import AttributePrompt, ScoreOutput
from app.workers.requests.strategies import CompareStrategies, ContinuationRequest, SearchTexts
from engine.decoding.debugging.breakpoints import StopPoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Trace
from engine.diagnosis.case import FailureCase
from engine.servers.client import is_server_address
from engine.servers.keys import remembered_key


def share_request(
    path: str, document: Document, *, is_own: bool, as_bundle: bool = False, server_report: str = ""
) -> ShareTrace:
    """Return the request that writes a document's work as a page or as a bug bundle.

    Args:
        path: the file.
        document: the document to share.
        is_own: whether the worker holds the document's trace, which is then not sent again.
        as_bundle: whether a bug bundle is written.
        server_report: what a check of a server found, for the bundle; empty without one.
    """
    content = document.content
    work = msgspec.structs.replace(content, title=document.title, trace=Trace() if is_own else content.trace)
    return ShareTrace(path, work, is_own, as_bundle, server_report)


STOPPED_BY: dict[type, str] = {
    Take: "take",
    Force: "force",
    Back: "back",
    Restart: "restart",
    GoTo: "go_to",
    OpenOutput: "open_output",
    OpenRecord: "open_output",
    FollowRecord: "record",
    SetPrompt: "prompt",
    SetPipeline: "pipeline",
    SampleMany: "sample_many",
    ScoreOutput: "score",
    RunBaseline: "baseline",
    MeasureStrategies: "strategies",
    CompareStrategies: "strategies",
    ContinuationRequest: "strategies",
    SearchTexts: "strategies",
    AttributePrompt: "attribution",
}
"""The requests that end a run, with the key of the reason.

They move the session, change what the next token depends on in a way that the run was not started with, or keep the
model busy for long. All other requests interleave with a run.
"""


_MOVES = StepOnce | Take | Force | Back | GoTo | Restart | FollowRecord

Judge: TypeAlias = Callable[[DecodeView], str]
"""Called after a step of a run: returns why the run stops, "" to continue."""


class Decoding(QObject):
    """Sends decode requests and keeps the last view.

    Attributes:
        queries: requests that do not move the session.
        lists_tokens: returns whether the view after a step or a token of the user should list the allowed tokens.
        may_open: returns whether the model of a document may be opened without asking: a file must not make the window
            send a prompt and a key to any server.

    Signals:
        view_changed(DecodeView): the contents of the generation panes.
        running_changed(is running): a run began or ended.
        run_ended(why): a run stopped for a reason other than the user's Pause or the end of the generation.
        restarted(): the generation begins again; its steps stay in the trace.
        resumed(): the user continued after `run_ended`, so its reason is outdated.
        model_opened(): the requested model is in use now.
        model_failed(spec, sentence): a model did not load; the old one stays in use.
        model_differs(name): the document was made with another model of this name.
        server_named(spec): a document was opened that was made with a server to which the user never attached.
        tokenizer_differs(name): the document was made with another tokenizer than that of this model.
        pipeline_refused(PipelineRefused): requested stages do not fit; the active ones stay.
        failed(Failed): a job hit a bug.
    """

    view_changed = Signal(DecodeView)
    running_changed = Signal(bool)
    run_ended = Signal(str)
    restarted = Signal()
    resumed = Signal()
    model_opened = Signal()
    model_failed = Signal(str, str)
    model_differs = Signal(str)
    server_named = Signal(str)
    tokenizer_differs = Signal(str)
    pipeline_refused = Signal(PipelineRefused)
    failed = Signal(Failed)

    def __init__(self, document: Document, group: JobGroup, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._group = group
        self._view = DecodeView()
        self._spec = ""
        self._grammar: SetGrammar | None = None
        self._first_revision = 0  # of the open document; views of older grammars belong to the document before
        self._to_restore: RestoreTrace | OpenRecord | None = None
        self._made_with = ModelPart()  # the model that an opened document names, until one is in use
        self._opening_steps = 0
        self._next_move: Back | GoTo | None = None  # submitted once the current one is answered
        self._watches_given = False
        self._running = False
        self._shows_run_end = False  # whether the reason for the last end of a run is still shown
        self._judge: Judge = _run_to_end
        self._watched: Callable[[], bool] = bool
        self._one_by_one: Callable[[], bool] = bool
        self._breakpoints_before: Callable[[], tuple[StopPoint, ...]] = tuple
        group.failed.connect(self._on_failed)
        group.refused.connect(self._on_refused)
        self.lists_tokens: Callable[[], bool] = bool
        self.may_open: Callable[[str], bool] = lambda spec: not is_server_address(spec)
        self.queries = DecodeQueries(document, group, lambda: self._view, self)
        document.replaced.connect(self._take_document)

    @property
    def view(self) -> DecodeView:
        """Return the worker's last view."""
        return self._view

    @property
    def awaits_restore(self) -> bool:
        """Return whether the trace of the document is not restored yet, since its model or grammar is missing."""
        return self._to_restore is not None

    @property
    def is_running(self) -> bool:
        """Return whether a run is in progress."""
        return self._running

    @property
    def spec(self) -> str:
        """Return the model that was requested last."""
        return self._spec

    @property
    def model_is_loading(self) -> bool:
        """Return whether a model is loading."""
        return any(isinstance(request, OpenModel) for request in self._group.pending)

    @property
    def is_reading_grammar(self) -> bool:
        """Return whether the worker still compiles a grammar; steps that are requested meanwhile are taken under it."""
        return any(isinstance(request, SetGrammar) for request in self._group.pending)

    @property
    def has_grammar(self) -> bool:
        """Return whether the last view belongs to the last grammar that compiled."""
        return self._grammar is None or self._view.grammar_revision == self._grammar.revision

    def open_model(self, spec: str) -> None:
        """Load a model; cancels one that is still loading."""
        self._group.cancel(lambda request: isinstance(request, OpenModel))
        self._spec = spec
        asked = (
            self._group.ask(OpenModel(spec, remembered_key(spec)), self)
            .then(partial(self._drop_unrestored, spec))
            .then(self._show)
        )
        asked.then(partial(self._on_opened, spec)).lost(partial(self._on_model_lost, spec))

    def cancel_waiting(self) -> None:
        """Cancel a step or a move that waits for a server; steps that were taken stay."""
        if self._view.model is not None and self._view.model.waits:
            self._group.cancel(lambda request: isinstance(request, _MOVES))

    def cancel_model(self) -> None:
        """Cancel loading and keep the current model."""
        self._group.cancel(lambda request: isinstance(request, OpenModel))

    def set_grammar(self, drawn: CompiledGrammarView) -> None:
        """Continue with a grammar that compiled."""
        compiled = drawn.request
        self.queries.set_grammar(drawn)
        self._grammar = SetGrammar(
            compiled.revision,
            compiled.notation,
            compiled.text,
            compiled.options,
            rule_automata=drawn.rule_automata,
            draws_part=not drawn.is_whole,
        )
        self._send(self._grammar)
        self._group.cancel(lambda request: isinstance(request, SetGrammar) and request is not self._grammar)

    def set_prompt(self, prompt: str | Chat) -> None:
        """Start again from another prompt."""
        if prompt != self._document.content.prompt:
            self.stop_for(SetPrompt)
            self._document.set_prompt(prompt)
            self._send(SetPrompt(prompt))

    def set_sampler(self, settings: SamplerSettings) -> None:
        """Use other sampler settings from now on."""
        if settings != self._document.content.sampler:
            self._document.set_sampler(settings)
            self._send(SetSampler(settings))

    def watch_given(self, is_watched: bool) -> None:
        """Let views be followed by the probabilities of the next tokens given that the text will match, or not."""
        if is_watched != self._watches_given:
            self._watches_given = is_watched
            self._send(WatchGiven(is_watched))

    def set_max_tokens(self, max_tokens: int) -> None:
        """Change the budget, in tokens."""
        if max_tokens != self._document.content.max_tokens:
            self._document.set_max_tokens(max_tokens)
            self._send(SetBudget(max_tokens))

    def set_pipeline(self, settings: PipelineSettings) -> None:
        """Change the processors; the document takes the settings over once the worker has."""
        self.stop_for(SetPipeline)
        self._document.draft(pipeline=settings)
        asked = self._group.ask(SetPipeline(settings), self).then(partial(self._on_pipeline, settings))
        asked.lost(self._on_pipeline_lost)

    def take(self, token_id: int) -> None:
        """Take a token, which ends a run; if it is not allowed, say why."""
        self._begin_move(Take)
        self._archive_unrestored()
        request = Take(token_id, lists_tokens=self.lists_tokens())
        self._group.ask(request, self).then(self._on_taken)

    def force(self, token_id: int) -> None:
        """Take a token whether it is allowed or not, which ends a run."""
        self._begin_move(Force)
        self._archive_unrestored()
        self._send(Force(token_id))

    def choose(self, token_id: int, *, is_forced: bool = False) -> None:
        """Take one of the shown candidates, unless a pending request will change them.

        Args:
            token_id: the token.
            is_forced: whether to take it even if it is not allowed.
        """
        self._next_move = None
        self.stop_for(Force if is_forced else Take)
        if not self._waits_for(_MOVES):
            (self.force if is_forced else self.take)(token_id)

    def back(self) -> None:
        """Go back by a token, which ends a run."""
        self._move_to(Back())

    def go_to(self, node_id: int | None) -> None:
        """Go to a node of the trace, which ends a run; None for the beginning."""
        self._move_to(GoTo(node_id))

    def restart(self) -> None:
        """Go to the beginning of an output without tokens, which ends a run."""
        self._begin_move(Restart)
        self._archive_unrestored()
        self._send(Restart()).reported(self._show_remembered).then(lambda _view: self.restarted.emit())

    def _move_to(self, request: Back | GoTo) -> None:
        """Send a move, or let it wait.

        A held key or quick clicks build no queue: while one move is in progress, only the last one after it waits.
        """
        self._begin_move(type(request))
        if isinstance(self._to_restore, RestoreTrace):
            return  # its steps are shown, but the worker does not have them yet
        if self._waits_for(Back | GoTo):
            self._next_move = request
            return
        self._archive_unrestored()
        self._send(request).reported(self._show_remembered).then(self._make_next_move)

    def _begin_move(self, kind: type) -> None:
        """End a run, for a request of the user that moves the session."""
        self._next_move = None
        self._withdraw_run_end()
        self.stop_for(kind)

    def step(self) -> None:
        """Take one token, unless a step is already pending."""
        self._next_move = None
        if not self._running:
            self._withdraw_run_end()
        if not self._waits_for(StepOnce):
            self._archive_unrestored()
            request = self._next_step() if self._running else StepOnce(lists_tokens=self.lists_tokens())
            self._send(request).then(self._go_on)

    def run(
        self,
        judge: Judge | None = None,
        *,
        watched: Callable[[], bool] = bool,
        one_by_one: Callable[[], bool] = bool,
        stops: Callable[[], tuple[StopPoint, ...]] = tuple,
    ) -> None:
        """Step until the end, until `pause`, or until `judge` stops the run.

        Args:
            judge: called after each step; see `Judge`.
            watched: called before each step; whether its view reports the rule events.
            one_by_one: called before each step; whether forced runs are taken token by token, so that none is missed.
            stops: called before each step; the breakpoints that it stops before.
        """
        if not self._running:
            self._withdraw_run_end()
            self._judge, self._watched, self._one_by_one = judge or _run_to_end, watched, one_by_one
            self._breakpoints_before = stops
            self._running = True
            self.running_changed.emit(True)
            self.step()

    def _next_step(self) -> StepOnce:
        return StepOnce(self._watched(), self._one_by_one(), self._breakpoints_before(), in_run=True)

    def pause(self, why: str = "") -> None:
        """Stop stepping and drop a waiting move.

        Args:
            why: why the run stopped, as a sentence to show; empty if the user paused it or the reason is reported
                elsewhere.
        """
        self._next_move = None
        if self._running:
            self._running = False
            self.running_changed.emit(False)
            if why:
                self._shows_run_end = True
                self.run_ended.emit(why)

    def stop_for(self, kind: type) -> None:
        """End a run, and report why, if requests of this kind end runs."""
        if name := STOPPED_BY.get(kind):
            self.pause(ui_text("session.run.stopped", reason=ui_text(f"session.run.fragment.{name}")))

    def open_output(self, ids: tuple[int, ...]) -> None:
        """Make a pasted output the current trace; the old trace is kept as an archived branch."""
        self._begin_move(OpenOutput)
        self._archive_unrestored()
        self._send(OpenOutput(ids))

    def open_record(self, case: FailureCase) -> None:
        """Make the tokens of a log the current trace, once the model and the grammar of the document are there."""
        self._begin_move(OpenRecord)
        self._archive_unrestored()
        self._to_restore = OpenRecord(case)
        self._restore_if_ready()

    def follow_record(self) -> None:
        """Take the next token of a log, which ends a run; while one is being taken, do nothing."""
        self._begin_move(FollowRecord)
        if not self._waits_for(FollowRecord):
            self._send(FollowRecord())

    def step_when_ready(self, count: int) -> None:
        """Take some steps as soon as there is a model and a grammar; used at the first start."""
        self._opening_steps = count

    def sample_many(self, count: int) -> None:
        """Generate many outputs with consecutive seeds, starting at the sampler's seed; ends a run first."""
        self.stop_for(SampleMany)
        self.queries.sample_many(count)

    def score(self, request: ScoreOutput) -> None:
        """Score a pasted output, which keeps the model busy; ends a run first."""
        self.stop_for(ScoreOutput)
        self.queries.score(request)

    def cancel_grammar(self) -> None:
        """Cancel compiling a grammar; the worker keeps the old one, and no step is possible until another edit."""
        self._group.cancel(lambda request: isinstance(request, SetGrammar))

    def share(
        self,
        path: str,
        report: Callable[[ShareAnswer], object],
        *,
        as_bundle: bool = False,
        server_report: str = "",
    ) -> None:
        """Request a web page that replays the trace with its branches and the archived ones, or a bug bundle.

        Args:
            path: the file to write.
            report: receives the answer.
            as_bundle: whether a bug bundle is written.
            server_report: what a check of a server found, for the bundle; empty without one.
        """
        is_own = self._to_restore is None and self._view.model is not None
        request = share_request(path, self._document, is_own=is_own, as_bundle=as_bundle, server_report=server_report)
        self.queries.share(request, report)

    def revive(self) -> None:
        """Send the complete state to a new process after the old one died."""
        self.pause()
        self._to_restore = self._to_restore or restore_request(self._view.trace)
        self._view = self._of_this_document(view_of(self._document.content))
        self.view_changed.emit(self._view)
        self._begin()
        if self._spec:
            self.open_model(self._spec)
        if self._grammar is not None:
            self._send(self._grammar)

    def _take_document(self) -> None:
        self.pause()
        self._withdraw_run_end()
        content = self._document.content
        self._to_restore, self._made_with = restore_request(content.trace), content.model
        self._opening_steps = 0
        self._grammar, self._first_revision = None, self._document.revision
        # Drop everything of the old document.
        self._view = self._of_this_document(replace(view_of(content), model=self._view.model))
        self.view_changed.emit(self._view)
        self._begin()
        spec = content.model.spec
        if spec and spec != self._spec:
            if self.may_open(spec):
                self.open_model(spec)
            else:
                self.server_named.emit(spec)

    def _withdraw_run_end(self) -> None:
        if self._shows_run_end:
            self._shows_run_end = False
            self.resumed.emit()

    def _waits_for(self, kinds: UnionType | type) -> bool:
        return any(isinstance(request, kinds) for request in self._group.pending)

    def _begin(self) -> None:
        content = self._document.content
        self._send(Begin(content.prompt, content.sampler, content.max_tokens, content.pipeline))
        if self._watches_given:
            self._send(WatchGiven(True))

    def _send(self, request: WorkerRequest[DecodeView]) -> PendingAnswer[DecodeView]:
        """Send a request, and show the view that answers it."""
        return self._group.ask(request, self).then(self._show)

    def _show(self, view: DecodeView) -> None:
        waiting = self._to_restore
        self._view = self._of_this_document(view)
        if self._restore_if_ready():
            self._view = _unrestored(self._view, waiting)
        else:
            self._store_in_document(self._view)
        self.view_changed.emit(self._view)
        self._open_with_steps()

    def _show_remembered(self, view: DecodeView) -> None:
        """Show the part of a view that is known before the model answers."""
        self._view = self._of_this_document(view)
        self.view_changed.emit(self._view)

    def _on_taken(self, answer: DecodeView | WhyAnswer) -> None:
        if isinstance(answer, WhyAnswer):
            self.queries.explained.emit(answer)
        else:
            self._show(answer)

    def _make_next_move(self, _view: DecodeView) -> None:
        if self._next_move is not None:
            self._move_to(self._next_move)

    def _on_pipeline(self, requested: PipelineSettings, answer: DecodeView | PipelineRefused) -> None:
        if isinstance(answer, PipelineRefused):
            self._document.drop_draft("pipeline")
            self.pipeline_refused.emit(answer)
            return
        self._view = self._of_this_document(answer)
        if not self._another_document_waits:
            self._document.set_pipeline(answer.pipeline)
            if not self._waits_for(SetPipeline):
                self._document.drop_draft("pipeline")  # some of its stages may be refused
        if answer.refused:
            self.pipeline_refused.emit(PipelineRefused(requested, "", answer.refused, answer.pipeline))
        self._show(answer)

    def _on_pipeline_lost(self, lost: LostRequest) -> None:
        if lost.cause is Loss.FAILED:
            self._document.drop_draft("pipeline")

    def _drop_unrestored(self, spec: str, view: DecodeView) -> None:
        """Archive a waiting trace if the user chose a model that it was not made with."""
        made_with = self._document.content.model.spec
        if view.model is not None and view.model.spec == spec and made_with not in ("", spec):
            self._archive_unrestored()

    def _on_opened(self, spec: str, view: DecodeView) -> None:
        if view.model is not None and view.model.spec == spec:
            self.model_opened.emit()
            return
        if spec == self._spec:
            self._spec = view.model.spec if view.model else ""
        self.model_failed.emit(spec, view.error)

    def _on_model_lost(self, spec: str, lost: LostRequest) -> None:
        if lost.cause is not Loss.DIED and spec == self._spec:
            self._spec = self._view.model.spec if self._view.model else ""

    def _of_this_document(self, view: DecodeView) -> DecodeView:
        """Return a view without its position until the worker has read this document's grammar.

        Until then the steps are those that will be restored, although the worker does not have them.
        """
        is_own = self._grammar is not None and view.grammar_revision >= self._first_revision
        return view if is_own else _unrestored(view, self._to_restore)

    @property
    def _another_document_waits(self) -> bool:
        """Return whether the last view belongs to the document that was open before."""
        return any(isinstance(later, Begin) for later in self._group.pending)

    def _store_in_document(self, view: DecodeView) -> None:
        if self._another_document_waits:
            return
        if view.archived is not None:
            self._document.add_archived(view.archived)
        if view.model is None or self._to_restore is not None:
            return
        model = view.model
        if not self.model_is_loading:
            made_with, self._made_with = self._made_with, ModelPart()
            if _has_other_tokenizer(made_with, model):
                self.tokenizer_differs.emit(model.name)
        self._document.set_model(ModelPart(model.spec, model.name, model.fingerprint, model.vocabulary_fingerprint))
        self._document.set_trace(view.trace)

    def _archive_unrestored(self) -> None:
        """Archive a trace that could not be restored, since the user continues without it."""
        if self._to_restore is None:
            return
        request, self._to_restore = self._to_restore, None
        if isinstance(request, OpenRecord):
            return
        trace = request.trace
        content = self._document.content
        steps = {node.id: node.step for node in trace.nodes}
        if trace.path:
            branch = ArchivedBranch(content.model.name, content.prompt, tuple(steps[node_id] for node_id in trace.path))
            self._document.add_archived(branch)

    def _restore_if_ready(self) -> bool:
        made_with, model = self._document.content.model, self._view.model
        ready = (
            self._to_restore is not None
            and model is not None
            and not self.model_is_loading
            and made_with.spec in ("", model.spec)
            and self._grammar is not None
            and self._view.grammar_revision == self._document.revision
        )
        if ready and self._to_restore is not None and model is not None:
            request, self._to_restore = self._to_restore, None
            self._send(request)
            if made_with.fingerprint not in ("", model.fingerprint) and not _has_other_tokenizer(made_with, model):
                self.model_differs.emit(model.name)
        return ready

    def _go_on(self, view: DecodeView) -> None:
        if self._running:
            if view.position is None and not view.error:
                self.pause(ui_text("session.run.stopped", reason=ui_text("session.run.fragment.no_grammar")))
                return
            if view.error or view.position is None or view.position.finish is not None:
                self.pause()  # the view has the reason
                return
            if why := self._judge(view):
                self.pause(why)
            else:
                self.step()

    def _open_with_steps(self) -> None:
        position = self._view.position
        if self._opening_steps and position is not None and position.finish is None:
            steps, self._opening_steps = self._opening_steps, 0
            for _ in range(steps):
                self._send(StepOnce()).then(self._go_on)

    def _on_failed(self, _request: object, failed: Failed) -> None:
        self.pause()
        self.failed.emit(failed)

    def _on_refused(self, refusal: Refusal) -> None:
        """Show why a query has no answer; requests that change the session are answered with a view in any case."""
        self._view = replace(
            self._view, error=refusal.error, note="", archived=None, passage=None, stop_before=None, refused=()
        )
        self.view_changed.emit(self._view)


def _unrestored(view: DecodeView, waiting: RestoreTrace | OpenRecord | None) -> DecodeView:
    """Return a view without its position, and with the steps of a trace that waits to be restored."""
    trace = waiting.trace if isinstance(waiting, RestoreTrace) else view.trace
    return replace(view, trace=trace, position=None, grammar_position=None, dead_end="")


def _has_other_tokenizer(made_with: ModelPart, model: ModelSummary) -> bool:
    return made_with.vocabulary_fingerprint not in ("", model.vocabulary_fingerprint)


def _run_to_end(_view: DecodeView) -> str:
    """Continue the run."""
    return ""


def restore_request(trace: Trace) -> RestoreTrace | None:
    """Return the request that restores a trace; None if it has no steps."""
    return RestoreTrace(trace) if trace.nodes else None


def view_of(content: DocumentFile) -> DecodeView:
    """Return the view of a document before the worker has answered."""
    return DecodeView(
        prompt=content.prompt, sampler=content.sampler, max_tokens=content.max_tokens, pipeline=content.pipeline
    )
