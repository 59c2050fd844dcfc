"""A session: the document with its compile and decode sides.

It computes the live state of the drawn automaton, whether a step is possible and the background activity, and it turns
problems into notifications. It also owns the worker processes.
"""

from __future__ import annotations

import platform
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from app.catalogue import capitalised, ui_text
from app.delays import delayed
from app.display_text import context_full, unmarked
from app.document import Document
from app.jobs import KILLED_AFTER_GRACE, JobGroup, Policy
from app.session.compiling import CompiledGrammarView, Compiling, LiveStates
from app.session.converting import Converting
from app.session.coverage import OutputPrice, ShownCoverage
from app.session.debugging import Debugging
from app.session.decoding import Decoding
from app.session.engine_masks import ComparedMasks
from app.session.engines import Engines
from app.session.links import PaneLinks
from app.session.queries import ForcedQueries
from app.session.test_runs import StringTestRuns
from app.workers.handlers import compile_handler, engines_handler, judge_handler, layout_handler
from app.workers.handlers import decode_handler as usual_decode_handler
from app.workers.loop import Handler
from app.workers.protocol import Failed, Progress, WorkerRequest
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import (
    DecodeView,
    OpenModel,
    OpenRecord,
    RestoreTrace,
    RunBaseline,
    SampleMany,
    SetGrammar,
    ShareTrace,
)
from app.workers.requests.export import ExportRequest
from app.workers.requests.forced import CompareSpellings, ListIndex, MeasureStrategies
from app.workers.requests.layout import LayOutPlainly
from app.workers.requests.scoring import AttributePrompt, ScoreOutput
from app.workers.requests.strategies import CompareStrategies, ContinuationRequest, SearchTexts
from engine.decoding.values import Finish, Position
from engine.source import Diagnostic, Severity

_GRACE_MS = 200
_COMPILE_GRACE_MS = 1_000  # every key cancels a compile, and a new process needs longer than that before it compiles
DECODE_GRACE_MS = 10_000
"""How long a cancelled decode request may go on: a kill loses the model, and loading it again takes longer."""
_ENGINES_GRACE_MS = 3_000  # the process stops its engines first: nobody else could
LAYOUT_LIMIT_MS = 60_000
"""The limit for a library that does not return: `lay_out` chooses by work what takes a second."""


class WorkerPool(QObject):
    """The job groups of a window by name. `decode_handler` creates the decode handler; tests replace it."""

    def __init__(
        self, parent: QObject | None = None, *, decode_handler: Callable[[], Handler] = usual_decode_handler
    ) -> None:
        super().__init__(parent)
        self.compile = JobGroup("compile", compile_handler, Policy(exclusive=True, grace_ms=_COMPILE_GRACE_MS), self)
        policy = Policy(exclusive=False, grace_ms=DECODE_GRACE_MS, stateful=True)
        self.decode = JobGroup("decode", decode_handler, policy, self)
        self.judge = JobGroup("judge", judge_handler, Policy(exclusive=True, grace_ms=_GRACE_MS), self)
        policy = Policy(exclusive=True, grace_ms=_ENGINES_GRACE_MS)
        self.engines = JobGroup("engines", engines_handler, policy, self)
        self.layout = JobGroup(
            "layout",
            layout_handler,
            Policy(exclusive=True, grace_ms=_GRACE_MS, limit_ms=LAYOUT_LIMIT_MS, unlimited=(LayOutPlainly,)),
            self,
        )

    def __iter__(self) -> Iterator[JobGroup]:
        return iter((self.compile, self.decode, self.layout, self.judge, self.engines))

    def start(self) -> None:
        """Start the processes before the first job; those for test strings and engines start with their first job."""
        for group in (self.compile, self.decode, self.layout):
            group.start()

    def close(self) -> None:
        """Stop the processes and wait for their end."""
        for group in self:
            group.close()


BannerTarget = Literal["window", "generation"]


@dataclass(frozen=True, slots=True)
class Notification:
    """The contents of a banner.

    Attributes:
        target: where the banner opens: in the pane that failed, or across the window.
        text: what happened and what to do, in one or two sentences.
        details: in a pane, the cause; across the window, a traceback or the like, folded. May be empty.
        button: the label of the button; empty for none.
        action: the callback of the button.
        severity: the style of the banner.
        other_button, other_action: a second button beside the first.
        is_passing: whether it only reports what was done, and leaves by itself after a while.
        is_of_document: whether it leaves with the document that is open.
    """

    target: BannerTarget
    text: str
    details: str = ""
    button: str = ""
    action: Callable[[], object] | None = None
    severity: Literal["error", "warning", "hint"] = "error"
    other_button: str = ""
    other_action: Callable[[], object] | None = None
    is_passing: bool = False
    is_of_document: bool = False


def post_mortem(process: str, cause: str, lost: Sequence[object]) -> str:
    """Return a report about a process that died: its requests, the exit cause and the platform.

    Requests are listed by their type only, since texts of the user may be long and private.

    Args:
        process: the name of its job group.
        cause: what ended it.
        lost: the requests that it had not answered.
    """
    kinds = [type(request).__name__ for request in lost]
    return ui_text(
        "session.process.fragment.report",
        process=process,
        cause=cause,
        requests=", ".join(dict.fromkeys(kinds)) or ui_text("session.process.fragment.no_request"),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
    )


_PATIENCE_MS = 400  # a shorter compile is not shown, or the status bar would flicker at every key
_ACTIVITIES: tuple[tuple[type, str], ...] = (
    (OpenModel, "open_model"),
    (SampleMany, "sample_many"),
    (ScoreOutput, "score"),
    (RunBaseline, "baseline"),
    (MeasureStrategies, "strategies"),
    (CompareStrategies, "strategies"),
    (ContinuationRequest, "strategies"),
    (SearchTexts, "strategies"),
    (AttributePrompt, "attribution"),
    (CompareSpellings, "tokenizations"),
    (ListIndex, "tokens"),
    (RestoreTrace, "restore"),
    (OpenRecord, "restore"),
    (ExportRequest, "export"),
    (ShareTrace, "share"),
    (CompileRequest, "compile"),
    (SetGrammar, "set_grammar"),
)
"""The background activities, with the keys of their names; the first one in the list that is pending is shown."""
_SHOWN_REQUESTS = tuple(kind for kind, _ in _ACTIVITIES)


class Session(QObject):
    """The state behind the panes.

    Attributes:
        patience: runs while a compile is too short to be shown.

    Signals:
        view_changed(CompiledGrammarView): there is a new automaton, or another part of it; `live_changed` follows.
        live_changed(states, spans): the live states in the drawn automaton and their source spans.
        step_allowed_changed(reason): why no step is possible; empty if one is.
        activity_changed(text, done, total): the background activity; an empty text for none.
        notification_raised(Notification): something went wrong.
        notification_withdrawn(Notification): the problem no longer exists.
    """

    view_changed = Signal(CompiledGrammarView)
    live_changed = Signal(frozenset, tuple)
    step_allowed_changed = Signal(str)
    activity_changed = Signal(str, object, object)
    notification_raised = Signal(Notification)
    notification_withdrawn = Signal(Notification)

    def __init__(self, document: Document, groups: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.worker_pool = groups
        self.compiling = Compiling(document, groups.compile, groups.layout, self)
        self.decoding = Decoding(document, groups.decode, self)
        self.debugging = Debugging(document, groups.decode, self.compiling, self.decoding, self)
        self.forced = ForcedQueries(groups.decode, self)
        self.test_runs = StringTestRuns(document, groups.judge, self.compiling, self.decoding, self)
        self.converting = Converting(groups.judge, self.compiling, self)
        self.engines = Engines(groups.engines, self)
        self.compared_masks = ComparedMasks(self.compiling, self.decoding, groups.engines, groups.decode, self)
        self.coverage = ShownCoverage(document, self.test_runs, self)
        self.price = OutputPrice(self.compiling, self.decoding, self.test_runs, self)
        self.live_states = LiveStates(self.compiling, self)
        self.links = PaneLinks(self)
        self._progress: dict[type, Progress] = {}
        self._activity: tuple[str, int, int | None] = ("", 0, None)
        self.patience = delayed(self, _PATIENCE_MS, self._update_activity)
        self._is_compiling = False
        self._is_reading = False
        self._decode_is_gone = False
        self.live_changed.connect(self.live_states.show)
        document.autosave_failed.connect(self._on_autosave_failed)
        self.compiling.compiled.connect(self.decoding.set_grammar)
        self.compiling.view_changed.connect(self._on_drawn)
        self.compiling.stale_changed.connect(self._on_stale)
        self.decoding.view_changed.connect(self._on_view)
        for failures in (self.compiling.failed, self.decoding.failed, self.test_runs.failed, self.engines.failed):
            failures.connect(self._on_failed)
        self.decoding.model_failed.connect(self._on_model_failed)
        self.decoding.model_differs.connect(self._on_model_differs)
        self.decoding.tokenizer_differs.connect(self._on_tokenizer_differs)
        for group in groups:
            group.died.connect(lambda code, lost, restarted, group=group: self._on_died(group, code, lost, restarted))
            group.changed.connect(self._update_activity)
            group.progressed.connect(self._on_progress)

    @property
    def step_refusal(self) -> str:
        """Return why no step is possible now; empty if one is."""
        reason, view = self.sampling_refusal, self.decoding.view
        return reason if reason or view.position is None else self._refusal_at_end(view, view.position)

    @property
    def sampling_refusal(self) -> str:
        """Return why no output can be generated from the prompt now; empty if one can, also after an ended output."""
        view = self.decoding.view
        if self._decode_is_gone:
            return ui_text("session.refusal.process_stopped")
        if self.compiling.stale_reason:
            return ui_text("session.refusal.stale", reason=self.compiling.stale_reason)
        if view.model is None:
            is_loading = self.decoding.model_is_loading
            return ui_text("session.refusal.model_loading" if is_loading else "session.refusal.no_model")
        if self._is_reading_for_long:
            return ui_text("session.refusal.compiling_for_model")
        if view.position is None:
            return view.error or ui_text("session.refusal.compiling")
        if not (self.decoding.has_grammar or self.decoding.is_reading_grammar):
            return view.error or ui_text("session.refusal.not_compiled")
        return ""

    def shows_other_notation(self, diagnostics: Sequence[Diagnostic]) -> bool:
        """Return whether the text has errors, and the last grammar that compiled is in another notation."""
        good = self.compiling.last_good
        is_other = good is not None and good.request.notation != self.document.content.grammar.notation
        return is_other and any(found.severity is Severity.ERROR for found in diagnostics)

    @property
    def _is_reading_for_long(self) -> bool:
        """Return whether the decode worker compiles for long; steps that are requested earlier simply wait."""
        return self.decoding.is_reading_grammar and not self.patience.isActive()

    def start(self) -> None:
        """Start the worker processes."""
        self.worker_pool.start()

    def close(self, *, keeps_autosave: bool = False) -> None:
        """Stop the processes and delete the autosave, unless it is kept for the next start."""
        self.worker_pool.close()
        self.document.close(keeps_autosave=keeps_autosave)

    def cancel_background(self) -> None:
        """Cancel the run and all activities that the user waits for."""
        self.decoding.pause()
        self.decoding.cancel_waiting()
        self.compiling.cancel()
        if self._is_reading_for_long:
            self.decoding.cancel_grammar()
        self.forced.cancel_all()
        waited_for = OpenModel | SampleMany | ScoreOutput | RunBaseline | RestoreTrace | ExportRequest | ShareTrace
        for group in (self.worker_pool.decode, self.worker_pool.compile):
            group.cancel(lambda request: isinstance(request, waited_for))

    def restart_workers(self) -> None:
        """Restart all processes and send them their state."""
        self._decode_is_gone = False
        for group in self.worker_pool:
            group.cancel()
            if group not in (self.worker_pool.judge, self.worker_pool.engines) or group.pid is not None:
                group.restart()
        self.compiling.compile_now()
        self.decoding.revive()
        self.test_runs.revive()
        self.converting.revive()

    def _refusal_at_end(self, view: DecodeView, position: Position) -> str:
        match position.finish:
            case Finish.STOP:
                return ui_text("session.refusal.complete")
            case Finish.LENGTH:
                return ui_text("session.refusal.budget")
            case Finish.CONTEXT:
                return ui_text("session.refusal.context", context=context_full(position))
            case Finish.DEAD_END if self.compiling.last_good is not None and not self.compiling.last_good.dfa.states:
                return ui_text("session.refusal.no_text")
            case Finish.DEAD_END if view.dead_end:
                return unmarked(capitalised(view.dead_end))
            case Finish.DEAD_END if not position.index:
                return ui_text("session.refusal.no_first_token")
            case Finish.DEAD_END:
                return ui_text("session.refusal.no_next_token")
        return ""

    def _on_view(self, view: DecodeView) -> None:
        self.compiling.draw_around(view.grammar_revision, view.grammar_position)
        self._update_live()
        self.step_allowed_changed.emit(self.step_refusal)

    def _on_drawn(self, drawn: CompiledGrammarView) -> None:
        self.view_changed.emit(drawn)
        self._update_live()

    def _on_stale(self, is_stale: bool, reason: str) -> None:
        if is_stale:
            self.decoding.pause(ui_text("session.run.stopped", reason=f"{reason[:1].lower()}{reason[1:]}"))
        self.step_allowed_changed.emit(self.step_refusal)

    def _update_live(self) -> None:
        drawn, text = self.compiling.last_good, self.decoding.view.grammar_prefix
        state = None
        if drawn is not None and text is not None:
            state = live_state(drawn, text)
        if state is None or drawn is None:
            self.live_changed.emit(frozenset(), ())
        else:
            self.live_changed.emit(frozenset({state}), drawn.dfa.states[state].spans)

    def _on_progress(self, request: WorkerRequest[Any], progress: Progress) -> None:
        self._progress[type(request)] = progress
        self._update_activity()

    def _update_activity(self) -> None:
        pending = [request for group in self.worker_pool for request in group.pending]
        was_compiling = self._is_compiling
        self._is_compiling = any(isinstance(request, CompileRequest | SetGrammar) for request in pending)
        if self._is_compiling and not was_compiling:
            self.patience.start()
        was_reading, self._is_reading = self._is_reading, self._is_reading_for_long
        if self._is_reading != was_reading:
            self.step_allowed_changed.emit(self.step_refusal)
        if not self._progress and not any(isinstance(request, _SHOWN_REQUESTS) for request in pending):
            self._show_activity("", 0, None)  # every step submits a few requests
            return
        for kind, key in _ACTIVITIES:
            request = next((request for request in pending if isinstance(request, kind)), None)
            if request is None or (kind in (CompileRequest, SetGrammar) and self.patience.isActive()):
                self._progress.pop(kind, None)
                continue
            progress = self._progress.get(kind, Progress("", 0, None))
            fields = {"spec": request.spec} if isinstance(request, OpenModel) else {}
            name = ui_text(f"session.activity.{key}", **fields)
            if progress.what not in ("", name):
                name = ui_text("session.activity.stage", activity=name, stage=progress.what)
            self._show_activity(name, progress.done, progress.total)
            return
        self._show_activity("", 0, None)

    def _show_activity(self, text: str, done: int, total: int | None) -> None:
        """Emit the activity if it changed."""
        if (text, done, total) != self._activity:
            self._activity = (text, done, total)
            self.activity_changed.emit(text, done, total)

    def _on_model_failed(self, spec: str, sentence: str) -> None:
        reason, served = sentence.rstrip("."), self.decoding.view.model
        if served:
            detail = ui_text("session.notification.model_failed_still", reason=reason, name=served.name)
        else:
            detail = ui_text("session.notification.model_failed_detail", reason=reason)
        self.notification_raised.emit(
            Notification(
                "generation",
                ui_text("session.notification.model_failed"),
                detail,
                button=ui_text("common.button.retry"),
                action=lambda: self.decoding.open_model(spec),
            )
        )

    def _on_model_differs(self, name: str) -> None:
        text = ui_text("session.notification.model_differs", name=name)
        self.notification_raised.emit(Notification("generation", text, severity="hint"))

    def _on_tokenizer_differs(self, name: str) -> None:
        text = ui_text("session.notification.tokenizer_differs", name=name)
        self.notification_raised.emit(Notification("window", text, severity="warning", is_of_document=True))

    def _on_autosave_failed(self, reason: str) -> None:
        text = ui_text("session.notification.autosave_failed", reason=reason)
        self.notification_raised.emit(Notification("window", text, severity="warning"))

    def _on_failed(self, failed: Failed) -> None:
        self.notification_raised.emit(
            Notification("window", ui_text("common.internal_error", summary=failed.summary), failed.traceback)
        )

    def _on_died(self, group: JobGroup, exit_code: int, lost: Any, restarted: bool) -> None:
        name, cause = ui_text(f"session.process.{group.name}"), _cause(exit_code)
        details = post_mortem(group.name, cause, lost)
        if exit_code == KILLED_AFTER_GRACE:  # what was cancelled, such as a model that loads, is all that ended
            text = ui_text("session.notification.process_replaced", process=name, cause=cause)
            self._revive(group)
            self.notification_raised.emit(Notification("window", text, details, severity="hint", is_passing=True))
        elif restarted:
            text = ui_text("session.notification.process_restarted", process=name, cause=cause)
            self._revive(group)
            self.notification_raised.emit(Notification("window", text, details, severity="warning"))
        else:
            if group is self.worker_pool.decode:
                self._decode_is_gone = True
                self.decoding.pause()
                self.step_allowed_changed.emit(self.step_refusal)
            text = ui_text("session.notification.process_stopped", process=name, cause=cause)
            self.notification_raised.emit(
                Notification(
                    "window",
                    text,
                    details,
                    button=ui_text("common.button.restart"),
                    action=lambda: self._restart(group),
                )
            )

    def _restart(self, group: JobGroup) -> None:
        group.restart()
        self._revive(group)

    def _revive(self, group: JobGroup) -> None:
        if group is self.worker_pool.decode:
            self._decode_is_gone = False
            self.decoding.revive()
        elif group is self.worker_pool.judge:
            self.test_runs.revive()
            self.converting.revive()
        elif group is not self.worker_pool.engines:
            self.compiling.compile_now()


def live_state(drawn: CompiledGrammarView, output: bytes) -> int | None:
    """Return the drawn state that an output leads to; None if it is not drawn."""
    if drawn.is_whole:
        return drawn.dfa.run(output)
    return drawn.dfa.start if output == drawn.output else None


def _cause(exit_code: int) -> str:
    if exit_code == KILLED_AFTER_GRACE:
        return ui_text("session.process.fragment.not_ending")
    if exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            return ui_text("session.process.fragment.signal", number=-exit_code)
        return ui_text("session.process.fragment.named_signal", number=-exit_code, name=name)
    return ui_text("session.process.fragment.exit", code=exit_code)
