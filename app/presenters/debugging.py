"""The commands that step, run, stop and compare, and the two panes that only they need.

Only this module connects the timeline, the breakpoints and the baseline run to a session.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import Commands, Handler, command, keys_of
from app.display_text import end_text
from app.panes.generation.schema_parts import schema_parts
from app.presenters.panes import Panes
from app.session import CompiledGrammarView, Session
from app.settings import Settings
from app.widgets.lazy import Lazy
from app.workers.requests.decode import Back, BaselineAnswer, DecodeView, Force, GoTo, Restart
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind
from engine.decoding.debugging.run_until import RunUntil
from engine.decoding.values import Finish, Trace
from engine.notations import NOTATIONS
from engine.source import Span

if TYPE_CHECKING:
    from app.panes.breakpoints import BreakpointsPane
    from app.panes.timeline import TimelinePane

_RULE = re.compile(r"^[ \t]*([\w-]+)[ \t]*::=", re.MULTILINE)  # precise enough for a text that compiled


def _chips(by: str, place: int) -> Callable[[Handler], Handler]:
    """Declare a command that colours the output's tokens."""
    return command(
        f"view.chips_{by}",
        f"Ctrl+L, {place}",
        place=(3, place),
        arguments=(by,),
        checked=lambda self, by: self.chip_colours == by,
    )


class DebuggingPresenter(QObject):
    """Connects commands, panes and session.

    Attributes:
        until_button: the button under which *Run until…* opens.
        lazy_timeline, lazy_breakpoints: the two panes, built when first shown.
    """

    def __init__(self, commands: Commands, panes: Panes, session: Session, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._commands = commands
        self._panes = panes
        self._session = session
        self._settings = settings
        self._window = window
        self.until_button: QWidget = window
        self.lazy_timeline = Lazy(self._make_timeline)
        self.lazy_breakpoints = Lazy(self._make_breakpoints)
        self._rules: tuple[str, ...] = ()  # the rules that a run can leave
        self._schema = ""  # the schema whose parts take the place of rules
        self._no_rules = ""  # why there are none
        self._connect_signals()
        self._panes.generation.output.set_colours(settings.preferences.chip_colours)
        commands.add(panes.generation)
        commands.add(self)

    @property
    def timeline(self) -> TimelinePane:
        """Return the pane with the timeline of the steps."""
        return self.lazy_timeline.get()

    @property
    def breakpoints(self) -> BreakpointsPane:
        """Return the list of breakpoints."""
        return self.lazy_breakpoints.get()

    def _make_timeline(self) -> TimelinePane:
        from app.panes.timeline import TimelinePane  # start-up time: the pane is built when first shown

        timeline = TimelinePane()
        timeline.show_trace(*_timeline_of(self._session.decoding.view))
        timeline.node_clicked.connect(lambda node_id: self._session.decoding.ask(GoTo(node_id)))
        return timeline

    def _make_breakpoints(self) -> BreakpointsPane:
        from app.panes.breakpoints import BreakpointsPane  # start-up time: the pane is built when first shown

        breakpoints = BreakpointsPane()
        breakpoints.show_breakpoints(self._session.debugging.breakpoints)
        breakpoints.changed.connect(self._session.debugging.set_breakpoints)
        breakpoints.activated.connect(self._go_to_breakpoint)
        breakpoints.add_wanted.connect(self._break_at_cursor)
        return breakpoints

    def _connect_signals(self) -> None:
        session, debugging, decoding = self._session, self._session.debugging, self._session.decoding
        generation = self._panes.generation
        decoding.view_changed.connect(self._show_view)
        decoding.run_ended.connect(generation.show_run_end)
        decoding.resumed.connect(lambda: generation.show_run_end(""))
        generation.token_forced.connect(lambda token_id: decoding.choose(Force(token_id)))
        generation.until_wanted.connect(self._run_until)
        generation.colours_chosen.connect(self._set_chip_colours)
        generation.baseline_wanted.connect(self._run_baseline)
        generation.baseline_cancelled.connect(debugging.cancel_baseline)
        debugging.baseline_written.connect(self._show_baseline)
        debugging.baseline_stopped.connect(self._stop_baseline)
        debugging.breakpoint_refused.connect(generation.show_stop)
        debugging.breakpoint_hit.connect(self._show_hit)
        session.document.breakpoints_changed.connect(self._show_breakpoints)
        session.document.replaced.connect(self._on_replaced)
        session.document.changed.connect(lambda _revision: self._mark_editor())
        self._panes.editor.breakpoint_wanted.connect(debugging.toggle_at)
        session.compiling.compiled.connect(self._offer_rules)

    # --- showing -----------------------------------------------------------------------------------------------------

    @property
    def step_refusal(self) -> str:
        """Return why no step can be taken now; an empty text if one can."""
        running = ui_text("window.command.running") if self._session.decoding.is_running else ""
        return self._session.step_refusal or running

    @property
    def run_refusal(self) -> str:
        """Return why nothing can be run or paused now; an empty text if it can."""
        return "" if self._session.decoding.is_running else self._session.step_refusal

    @property
    def force_refusal(self) -> str:
        """Return why no token can be forced now; an empty text if one can."""
        return "" if self._finish is Finish.DEAD_END else self._session.step_refusal

    @property
    def baseline_refusal(self) -> str:
        """Return why there can be no baseline run now; an empty text if there can."""
        return self._session.step_refusal if self._finish is None else ""

    @property
    def back_refusal(self) -> str:
        """Return why there is no step to go back from; an empty text if there is."""
        trace = self._session.decoding.view.trace
        return ui_text("window.command.no_step") if trace.current is None else ""

    @property
    def worst_refusal(self) -> str:
        """Return why there is no most unlikely step; an empty text if there is."""
        return "" if self._session.decoding.view.trace.path else ui_text("window.command.no_step")

    @property
    def _finish(self) -> Finish | None:
        position = self._session.decoding.view.position
        return None if position is None else position.finish

    def _show_view(self, view: DecodeView) -> None:
        if self.lazy_timeline.built is not None:
            self.lazy_timeline.built.show_trace(*_timeline_of(view))

    def _show_baseline(self, answer: BaselineAnswer) -> None:
        self._panes.generation.baseline.show_baseline(answer)

    def _stop_baseline(self, why: str) -> None:
        if (baseline_page := self._panes.generation.lazy_baseline.built) is not None:
            baseline_page.stop(why)

    def _show_hit(self, one: Breakpoint) -> None:
        self.breakpoints.show_hit(one)

    def _show_breakpoints(self) -> None:
        if self.lazy_breakpoints.built is not None:
            self.lazy_breakpoints.built.show_breakpoints(self._session.debugging.breakpoints)
        self._mark_editor()

    def _mark_editor(self) -> None:
        """Mark the lines that have a breakpoint."""
        breakpoints = self._session.debugging.breakpoints
        offsets = ((self._offset_of(one), one.enabled) for one in breakpoints)
        self._panes.automaton.show_breakpoints(breakpoints)
        self._panes.editor.show_breakpoints((offset, is_on) for offset, is_on in offsets if offset >= 0)

    def _offset_of(self, one: Breakpoint) -> int:
        """Return the current offset of a breakpoint, which an edit may have moved; -1 if it has none."""
        if one.kind is not BreakpointKind.RULE:
            return one.offset
        text = self._session.document.content.grammar.text
        return next((found.start(1) for found in _RULE.finditer(text) if found[1] == one.name), one.offset)

    def _on_replaced(self) -> None:
        if (baseline_page := self._panes.generation.lazy_baseline.built) is not None:
            baseline_page.show_baseline(None)
        self._show_breakpoints()

    def _offer_rules(self, drawn: CompiledGrammarView) -> None:
        text, notation = drawn.request.text, NOTATIONS[drawn.request.notation]
        self._schema = text if notation.describes_json else ""
        self._rules = tuple(dict.fromkeys(_RULE.findall(text))) if notation.has_named_rules else ()
        self._no_rules = (
            "" if notation.describes_json or notation.has_named_rules else ui_text("window.command.no_rules")
        )

    @property
    def chip_colours(self) -> str:
        """Return what the colours of the output's tokens show."""
        return self._settings.preferences.chip_colours

    @_chips("probability", 1)
    @_chips("choice", 2)
    @_chips("surprise", 3)
    @_chips("time", 4)
    def _set_chip_colours(self, by: str) -> None:
        self._panes.generation.output.set_colours(by)
        if by != self.chip_colours:
            self._settings.change(chip_colours=by)
        self._commands.refresh(self)

    # --- runs --------------------------------------------------------------------------------------------------------

    @command(
        "run.step",
        "Ctrl+Return",
        "F11",
        place=(1, 1),
        icon="ph.play",
        repeats=True,
        refusal=lambda self: self.step_refusal,
    )
    def step(self) -> None:
        """Take one token, after committing the prompt."""
        self._panes.generation.commit_prompt()
        self._session.decoding.step()

    @command(
        "run.back",
        "Ctrl+Shift+Return",
        place=(1, 2),
        icon="ph.skip-back",
        repeats=True,
        refusal=lambda self: self.back_refusal,
    )
    def _go_back(self) -> None:
        self._session.decoding.ask(Back())

    @command("run.run", "F5", place=(1, 3), icon="ph.fast-forward", refusal=lambda self: self.run_refusal)
    def toggle_run(self) -> None:
        """Run, or pause."""
        if self._session.decoding.is_running:
            self._session.decoding.pause()
        else:
            self._run(self._session.debugging.run_until)

    @command(
        "run.restart",
        "Shift+F5",
        place=(1, 4),
        icon="ph.arrow-counter-clockwise",
        refusal=lambda self: self.back_refusal,
    )
    def _restart(self) -> None:
        self._session.decoding.ask(Restart())

    @command("run.cancel", "Esc", place=(5, 2), icon="ph.x")
    def _cancel(self) -> None:
        self._session.cancel_background()

    @command("run.workers", "Ctrl+Shift+F5", place=(6, 1))
    def _restart_workers(self) -> None:
        self._session.restart_workers()

    @command("run.force", "Ctrl+R, Return", place=(3, 1), refusal=lambda self: self.force_refusal)
    def _force(self) -> None:
        self._panes.generation.force_selected()

    @command("run.worst", "Ctrl+R, W", place=(3, 2), refusal=lambda self: self.worst_refusal)
    def _go_to_worst(self) -> None:
        self.timeline.go_to_worst()

    @command("run.until", "Ctrl+F5", place=(2, 1), icon="ph.flag", refusal=lambda self: self.step_refusal)
    def _ask_until(self) -> None:
        state = self._panes.automaton.navigation.selected_state
        named = state is not None and state[1] >= 0
        popover = self._panes.generation.run_until
        popover.show_rules(schema_parts(self._schema) if self._schema else self._rules, self._no_rules)
        popover.show_state(state if named else None, _state_label(state) if named else "")
        popover.open_under(self.until_button)

    @command(
        "run.over",
        "F10",
        place=(2, 2),
        icon="ph.arrow-arc-right",
        repeats=True,
        refusal=lambda self: self.step_refusal,
    )
    def _step_over(self) -> None:
        self._run(self._session.debugging.step_over)

    @command("run.out", "Shift+F11", place=(2, 3), icon="ph.arrow-line-up", refusal=lambda self: self.step_refusal)
    def _step_out(self) -> None:
        self._run(self._session.debugging.step_out)

    def _run_until(self, until: RunUntil) -> None:
        self._run(lambda: self._session.debugging.run_until(until))

    def _run(self, start: Callable[[], None]) -> None:
        if not self._session.step_refusal:
            self._panes.generation.commit_prompt()
            start()

    @command("run.baseline", "Ctrl+Shift+T", place=(3, 3), refusal=lambda self: self.baseline_refusal)
    def _run_baseline(self) -> None:
        generation = self._panes.generation
        generation.pages.setCurrentWidget(generation.baseline)
        generation.baseline.is_writing()
        self._session.debugging.run_baseline()

    # --- breakpoints -------------------------------------------------------------------------------------------------

    @command("run.breakpoint", "F9", place=(2, 4), icon="ph.record")
    def toggle_breakpoint(self) -> None:
        """Toggle a breakpoint on the selected state if the automaton has the focus, otherwise at the cursor."""
        automaton = self._panes.automaton
        if automaton.isAncestorOf(self._window.focusWidget() or self._window):
            self._break_at_state()
        else:
            self._break_at_cursor()

    def _break_at_state(self) -> None:
        named = self._panes.automaton.navigation.selected_state
        if named is None:
            self._panes.generation.show_stop(ui_text("window.command.select_state", keys=keys_of("run.breakpoint")))
            return
        rule, state = named
        if state < 0:
            self._session.debugging.toggle(Breakpoint(BreakpointKind.RULE, rule, label=rule))
        else:
            self._session.debugging.toggle(
                Breakpoint(BreakpointKind.STATE, rule, state=state, label=_state_label(named))
            )

    def _break_at_cursor(self) -> None:
        self._session.debugging.toggle_at(self._panes.editor.cursor_offset)

    def _go_to_breakpoint(self, one: Breakpoint) -> None:
        offset = self._offset_of(one)
        if offset >= 0:
            self._panes.editor.go_to(Span(offset, offset))
        elif one.kind is BreakpointKind.STATE:
            self._panes.automaton.setFocus()


def _timeline_of(view: DecodeView) -> tuple[Trace, str]:
    """Return the trace of a view, and how the generation ended."""
    return view.trace, "" if view.position is None else end_text(view.position)


def _state_label(named: tuple[str, int] | None) -> str:
    if named is None:
        return ""
    rule, state = named
    return f"state {state} of {rule}" if rule else f"state {state}"
