"""Runs with a goal, breakpoints, and the baseline run without the grammar.

A run is one step after another (see `decoding`). After each step, this module decides whether the goal is reached or a
breakpoint was hit. The worker reports with the view what it knows about a step, and it stops before a token that enters
a breakpoint on a rule. Which drawn states the step passed is decided here, by the positions in the view.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from PySide6.QtCore import QObject, Signal

from app.catalogue import ui_text
from app.document import Document
from app.jobs import JobGroup, LostRequest
from app.session.compiling import CompiledGrammarView, Compiling
from app.session.decoding import Decoding
from app.workers.requests.decode import BaselineAnswer, BreakpointAnswer, DecodeView, FindBreakpoint, RunBaseline
from app.workers.requests.grammar_position import GrammarPosition
from engine.decoding.debugging.breakpoints import (
    Breakpoint,
    BreakpointKind,
    ConditionBreakpoint,
    StateName,
    StopBefore,
    StopPoint,
    reached_states,
    toggled,
)
from engine.decoding.debugging.run_until import Goal, RunProgress, RunUntil, reached
from engine.notations import NOTATIONS
from engine.vocabulary.visible import visible


class Debugging(QObject):
    """Breakpoints, goals of runs, and the baseline run.

    Signals:
        breakpoint_refused(why): nothing at the requested offset can have a breakpoint.
        breakpoint_hit(Breakpoint): a run stopped at it.
        condition_hit(ConditionBreakpoint): a run stopped because it was met.
        baseline_written(BaselineAnswer): the baseline run so far.
        baseline_stopped(why): the baseline run will not be completed.
    """

    breakpoint_refused = Signal(str)
    breakpoint_hit = Signal(Breakpoint)
    condition_hit = Signal(ConditionBreakpoint)
    baseline_written = Signal(BaselineAnswer)
    baseline_stopped = Signal(str)

    def __init__(
        self, document: Document, group: JobGroup, compiling: Compiling, decoding: Decoding, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._group = group
        self._compiling = compiling
        self._decoding = decoding
        self._until = RunUntil()
        self._steps = 0
        self._depth: int | None = None
        self._states_before: frozenset[StateName] = frozenset()  # the states before a step
        self._text: str | None = None  # of the last grammar that compiled
        compiling.compiled.connect(self._on_compiled)
        document.replaced.connect(self._forget)

    # --- runs --------------------------------------------------------------------------------------------------------

    def run_until(self, until: RunUntil | None = None) -> None:
        """Step until a goal is reached or a breakpoint is hit; without a goal, to the end."""
        if self._decoding.is_running:
            return
        self._until, self._steps, self._depth = until or RunUntil(), 0, None
        self._states_before = frozenset()
        self._decoding.run(
            self._judge, watched=self._is_watched, one_by_one=self._steps_singly, stops=self._stops_before
        )

    def step_over(self) -> None:
        """Run until the rules that the next token opens are closed."""
        self.run_until(RunUntil(Goal.OVER))

    def step_out(self) -> None:
        """Run until the innermost rule is closed."""
        self.run_until(RunUntil(Goal.OUT))

    def _is_watched(self) -> bool:
        """Return whether steps have to report their rule events."""
        return self._until.needs_rule_events or bool(self._source_breakpoints())

    def _source_breakpoints(self) -> tuple[Breakpoint, ...]:
        return tuple(one for one in self.breakpoints if one.enabled and one.kind is not BreakpointKind.STATE)

    def _stops_before(self) -> tuple[StopPoint, ...]:
        """Return the breakpoints that a run stops before: those in the source and conditions, not those on states."""
        return (*self._source_breakpoints(), *(one for one in self.conditions if one.enabled))

    def _steps_singly(self) -> bool:
        """Return whether the run may stop within a forced run."""
        return self._until.goal is not Goal.END or any(one.enabled for one in self.stop_points)

    def _judge(self, view: DecodeView) -> str:
        if view.stop_before is not None:
            stop = view.stop_before
            if stop.breakpoints:
                self.breakpoint_hit.emit(stop.breakpoints[0])
            else:
                self.condition_hit.emit(stop.conditions[0].breakpoint)
            return _stop_sentence(stop)
        position = view.position
        node = view.trace.nodes[view.trace.current] if view.trace.current is not None else None
        if position is None or node is None:
            return ""
        states = self._states_passed(view)
        self._steps += 1
        passage = view.passage
        if self._depth is None and passage is not None:
            self._depth = passage.depth_before
        if self._until.needs_rule_events and passage is None:
            return ui_text("session.run.forced")
        now = RunProgress(self._steps, self._depth, node.step, position, passage, states)
        for one in reached_states(self.breakpoints, states):
            self.breakpoint_hit.emit(one)
            return ui_text("session.run.breakpoint_reached", name=name_of(one))
        if self._wants_states and view.grammar_position is not None and view.grammar_position.rule_positions is None:
            return ui_text("session.run.unknown_position")
        return reached(self._until, now)

    # --- states of the drawing ---------------------------------------------------------------------------------------

    @property
    def _state_names(self) -> set[StateName]:
        wanted = {(one.name, one.state) for one in self.breakpoints if one.enabled and one.kind is BreakpointKind.STATE}
        return wanted | ({(self._until.name, self._until.state)} if self._until.goal is Goal.STATE else set())

    @property
    def _wants_states(self) -> bool:
        """Return whether rule positions are needed."""
        return any(rule for rule, _ in self._state_names)

    def _states_passed(self, view: DecodeView) -> frozenset[StateName]:
        """Return the states of interest that the last step entered."""
        names, output = self._state_names, view.grammar_prefix
        if not names or output is None:
            return frozenset()
        entered = self._entered_in_dfa(view) if any(not rule for rule, _ in names) else frozenset()
        if not self._wants_states:
            return entered
        return entered | self._entered_in_rules(view.grammar_position)

    def _entered_in_dfa(self, view: DecodeView) -> frozenset[StateName]:
        """Return the states of the complete automaton that the last step entered, byte by byte."""
        drawn = self._compiling.last_good
        output = view.grammar_prefix
        if drawn is None or not drawn.is_whole or not output or view.trace.current is None:
            return frozenset()
        step = view.trace.nodes[view.trace.current].step
        token = (step.token or b"") if not step.name else b""
        if view.pipeline.zones is not None and token.endswith(output):
            token = output  # the bytes before it closed the trigger
        if not token or not output.endswith(token):
            return frozenset()
        state = drawn.dfa.run(output[: -len(token)])
        entered: set[StateName] = set()
        for value in token:
            before, state = state, None if state is None else drawn.dfa.run(bytes((value,)), state)
            if state is not None and state != before:
                entered.add(("", state))
        return frozenset(entered)

    def _entered_in_rules(self, position: GrammarPosition | None) -> frozenset[StateName]:
        """Return the rule states that are live now and were not before the step."""
        drawn = self._compiling.last_good
        if drawn is None or drawn.rules is None or position is None or position.rule_positions is None:
            return frozenset()
        names = drawn.rules.names
        live = frozenset((names[rule], state) for rule, state in position.rule_positions.reading)
        before, self._states_before = self._states_before, live
        return live - before

    # --- breakpoints -------------------------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """Return all breakpoints on parts and states of the grammar, including the disabled ones."""
        return self._document.content.breakpoints

    @property
    def conditions(self) -> tuple[ConditionBreakpoint, ...]:
        """Return all breakpoints on conditions, including the disabled ones."""
        return self._document.content.conditions

    @property
    def stop_points(self) -> tuple[StopPoint, ...]:
        """Return all breakpoints, of both kinds."""
        return (*self.breakpoints, *self.conditions)

    def offset_of(self, one: Breakpoint) -> int:
        """Return the current offset of a breakpoint, which an edit may have moved; -1 if it has none."""
        if one.kind is not BreakpointKind.RULE:
            return one.offset
        grammar = self._document.content.grammar
        starts = NOTATIONS[grammar.notation].rule_starts(grammar.text)
        return next((offset for name, offset in starts if name == one.name), one.offset)

    def toggle(self, one: Breakpoint) -> None:
        """Set a breakpoint, or remove it."""
        self._document.set_breakpoints(toggled(self.breakpoints, one))

    def toggle_at(self, offset: int) -> None:
        """Set a breakpoint on the element at an offset of the grammar, or remove it."""
        asked = self._group.ask(FindBreakpoint(offset), self).then(self._on_breakpoint)
        asked.lost(lambda lost: self.breakpoint_refused.emit(lost.why))

    def _on_breakpoint(self, answer: BreakpointAnswer) -> None:
        if answer.breakpoint is None:
            self.breakpoint_refused.emit(answer.why_not)
        else:
            self.toggle(answer.breakpoint)

    def set_stop_points(self, stop_points: tuple[StopPoint, ...]) -> None:
        """Replace all breakpoints, of both kinds."""
        self._document.set_breakpoints(tuple(one for one in stop_points if isinstance(one, Breakpoint)))
        self._document.set_conditions(tuple(one for one in stop_points if isinstance(one, ConditionBreakpoint)))

    def _forget(self) -> None:
        self._text, self._states_before = None, frozenset()

    def _on_compiled(self, drawn: CompiledGrammarView) -> None:
        """Disable the breakpoints whose positions an edit invalidates: states, and offsets in a regular expression."""
        text, self._text = drawn.request.text, drawn.request.text if self._text is None else self._text
        if text == self._text:
            return
        self._text, self._states_before = text, frozenset()
        self._document.set_breakpoints(tuple(_outdated(one) for one in self.breakpoints))

    # --- the baseline run --------------------------------------------------------------------------------------------

    @property
    def is_running_baseline(self) -> bool:
        """Return whether the baseline run is in progress; steps wait for it."""
        return any(isinstance(request, RunBaseline) for request in self._group.pending)

    def run_baseline(self) -> None:
        """Generate what the model would have written without the grammar."""
        self._decoding.stop_for(RunBaseline)
        self.cancel_baseline()
        asked = self._group.ask(RunBaseline(), self).then(self.baseline_written.emit)
        asked.reported(self.baseline_written.emit).lost(self._on_baseline_lost)

    def cancel_baseline(self) -> None:
        """Cancel the baseline run and keep its tokens so far."""
        self._group.cancel(lambda request: isinstance(request, RunBaseline))

    def _on_baseline_lost(self, lost: LostRequest) -> None:
        if not self.is_running_baseline:
            self.baseline_stopped.emit(lost.why)


def _outdated(one: Breakpoint) -> Breakpoint:
    if one.kind is BreakpointKind.RULE or not one.enabled:
        return one
    suffix = f" {ui_text('session.run.fragment.outdated')}"
    return replace(one, enabled=False, label=name_of(one).removesuffix(suffix) + suffix)


def _stop_sentence(stop: StopBefore) -> str:
    step = stop.step
    token = step.name or visible(step.token or b"") or f"#{step.token_id}"
    names = [name_of(one) for one in stop.breakpoints]
    met = [one.breakpoint.kind.met_text(one.value, one.breakpoint.limit) for one in stop.conditions]
    if not names:
        return ui_text("session.run.condition_before", token=token, reasons=_joined(met))
    if not met:
        return ui_text("session.run.breakpoint_before", token=token, names=_joined(names))
    return ui_text("session.run.both_before", token=token, names=_joined(names), reasons=_joined(met))


def _joined(parts: list[str]) -> str:
    return reduce(lambda first, second: ui_text("session.run.fragment.and", first=first, second=second), parts)


def name_of(one: Breakpoint) -> str:
    """Return the element that a breakpoint is on, in words."""
    match one.kind:
        case BreakpointKind.RULE:
            if one.name.startswith("/") or not one.name:
                return one.label or one.name
            return ui_text("session.run.fragment.rule", name=one.name)
        case BreakpointKind.STATE:
            if one.label or not one.name:
                return one.label or ui_text("session.run.fragment.state", state=one.state)
            return ui_text("session.run.fragment.state_of", state=one.state, name=one.name)
        case BreakpointKind.POSITION:
            return one.label or ui_text("session.run.fragment.offset", offset=one.offset)
