"""The commands that step, run, stop and compare, and what a run can stop at."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import Handler, command
from app.display_text import state_label
from app.pane_spec import PaneContext
from app.panes.generation.pane import GenerationPane
from app.panes.generation.schema_parts import schema_parts
from app.session import CompiledGrammarView
from app.workers.requests.decode import BaselineAnswer
from engine.decoding.debugging.run_until import RunUntil
from engine.decoding.values import Finish
from engine.notations import NOTATIONS


def _chips(by: str, place: int) -> Callable[[Handler], Handler]:
    """Declare a command that colours the output's tokens."""
    return command(
        f"view.chips_{by}",
        f"Ctrl+L, {place}",
        place=(3, place),
        arguments=(by,),
        checked=lambda self, by: self.chip_colours == by,
    )


class RunCommands(QObject):
    """Connects the commands of runs, the generation pane and the session.

    Attributes:
        until_button: the button under which *Run until…* opens.
    """

    def __init__(self, context: PaneContext, pane: GenerationPane) -> None:
        super().__init__(context.window)
        self._context, self._session, self._pane = context, context.session, pane
        self.until_button: QWidget = context.window
        self._rules: tuple[str, ...] = ()  # the rules that a run can leave
        self._schema = ""  # the schema whose parts take the place of rules
        self._no_rules = ""  # why there are none
        self._connect()
        pane.output.set_colours(self.chip_colours)
        context.commands.add(self, self._session.step_allowed_changed, self._session.decoding.running_changed)

    def _connect(self) -> None:
        session, debugging, decoding, pane = self._session, self._session.debugging, self._session.decoding, self._pane
        decoding.run_ended.connect(pane.show_run_end)
        decoding.resumed.connect(lambda: pane.show_run_end(""))
        pane.token_forced.connect(lambda token_id: decoding.choose(token_id, is_forced=True))
        pane.until_wanted.connect(self._run_until)
        pane.colours_chosen.connect(self._set_chip_colours)
        pane.output.record.wanted.connect(self._follow_record)
        pane.baseline_wanted.connect(self._run_baseline)
        pane.baseline_cancelled.connect(debugging.cancel_baseline)
        debugging.baseline_written.connect(self._show_baseline)
        debugging.baseline_stopped.connect(self._stop_baseline)
        debugging.breakpoint_refused.connect(pane.show_stop)
        session.document.replaced.connect(self._forget_baseline)
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
    def record_refusal(self) -> str:
        """Return why there is no token of a log to take now; an empty text if there is."""
        record = self._session.decoding.view.record
        if record is None or record.token_id is None:
            return ui_text("window.command.no_record")
        return self.step_refusal

    @property
    def _finish(self) -> Finish | None:
        position = self._session.decoding.view.position
        return None if position is None else position.finish

    def _show_baseline(self, answer: BaselineAnswer) -> None:
        self._pane.baseline.show_baseline(answer)

    def _stop_baseline(self, why: str) -> None:
        if (page := self._pane.lazy_baseline.built) is not None:
            page.stop(why)

    def _forget_baseline(self) -> None:
        if (page := self._pane.lazy_baseline.built) is not None:
            page.show_baseline(None)

    def _offer_rules(self, drawn: CompiledGrammarView) -> None:
        text, notation = drawn.request.text, NOTATIONS[drawn.request.notation]
        self._schema = text if notation.describes_json else ""
        self._rules = tuple(dict.fromkeys(name for name, _offset in notation.rule_starts(text)))
        self._no_rules = (
            "" if notation.describes_json or notation.has_named_rules else ui_text("window.command.no_rules")
        )

    @property
    def chip_colours(self) -> str:
        """Return what the colours of the output's tokens show."""
        return self._context.settings.preferences.chip_colours

    @_chips("probability", 1)
    @_chips("choice", 2)
    @_chips("surprise", 3)
    @_chips("time", 4)
    def _set_chip_colours(self, by: str) -> None:
        self._pane.output.set_colours(by)
        if by != self.chip_colours:
            self._context.settings.change(chip_colours=by)
        self._context.commands.refresh(self)

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
        self._pane.commit_prompt()
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
        self._session.decoding.back()

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
        self._session.decoding.restart()

    @command("run.record", "Ctrl+F11", place=(1, 5), repeats=True, refusal=lambda self: self.record_refusal)
    def _follow_record(self) -> None:
        if not self.record_refusal:
            self._session.decoding.follow_record()

    @command("run.cancel", "Esc", place=(5, 4), icon="ph.x")
    def _cancel(self) -> None:
        self._session.cancel_background()

    @command("run.workers", "Ctrl+Shift+F5", place=(6, 1))
    def _restart_workers(self) -> None:
        self._session.restart_workers()

    @command("run.force", "Ctrl+R, Return", place=(3, 1), refusal=lambda self: self.force_refusal)
    def _force(self) -> None:
        self._pane.force_selected()

    @command("run.until", "Ctrl+F5", place=(2, 1), icon="ph.flag", refusal=lambda self: self.step_refusal)
    def _ask_until(self) -> None:
        state = self._session.links.selected_state()
        named = state is not None and state[1] >= 0
        popover = self._pane.run_until
        popover.show_rules(schema_parts(self._schema) if self._schema else self._rules, self._no_rules)
        popover.show_state(state if named else None, state_label(state) if state and named else "")
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
            self._pane.commit_prompt()
            start()

    @command("view.baseline", "Ctrl+9", place=(1, 9))
    def _reveal_baseline(self) -> None:
        self._context.reveal(self._pane.baseline)

    @command("run.baseline", "Ctrl+Shift+T", place=(3, 3), refusal=lambda self: self.baseline_refusal)
    def _run_baseline(self) -> None:
        generation = self._pane
        generation.pages.setCurrentWidget(generation.baseline)
        generation.baseline.is_writing()
        self._session.debugging.run_baseline()
