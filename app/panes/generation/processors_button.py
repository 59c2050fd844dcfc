"""The processors in the pane: a button that opens the dialog, and a chip that shows what is active."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.panes.generation.processors_dialog import ProcessorsDialog
from app.panes.generation.processors_format import summary
from app.theme.buttons import tool_button
from app.theme.labels import plain_text
from app.widgets.banner import Banner
from app.workers.requests.decode import DecodeView, PipelineRefused
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.stage_texts import stage_title

_LONGEST = 56


class Processors(QObject):
    """The button, the chip and the dialog, which is created when it is first opened.

    Signals:
        edited(PipelineSettings): apply these stages.
        drafted(PipelineSettings): the user entered these; `edited` follows shortly after.
        sampler_wanted: open the sampler.
        refused(why): stages that were requested elsewhere are not applied.
        problems_changed: the set of invalid stages changed.

    Attributes:
        button: opens the dialog.
        chip: shows what is active, and opens the dialog; hidden at the defaults.
        notice: names the invalid stages while the dialog is closed.
    """

    edited = Signal(PipelineSettings)
    drafted = Signal(PipelineSettings)
    sampler_wanted = Signal()
    refused = Signal(str)
    problems_changed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._view = DecodeView()
        self._dialog: ProcessorsDialog | None = None
        self.button = tool_button(ui_text("generation.processors.button"), "", role="outlined", clicked=self.open)
        self.chip = tool_button("", "", role="chip", clicked=self.open)
        self.notice = Banner("warning", closable=True)
        self.show_view(self._view)

    def show_view(self, view: DecodeView) -> None:
        """Show what is in force."""
        before, self._view = self._view, view
        if view is before or (view.pipeline, view.pipeline_error) != (before.pipeline, before.pipeline_error):
            self._refresh_chip()  # not at every step
        if self._dialog is not None:
            self._dialog.show_view(view)

    def _refresh_chip(self) -> None:
        """Show on the chip what is in force, and what is invalid."""
        view, text = self._view, summary(self._view.pipeline)
        grammar_alone = ui_text("generation.processors.grammar_alone")
        description = ui_text("generation.processors.active", stages=text) if text else grammar_alone
        if self.problems:
            invalid = ui_text("generation.processors.invalid", stages=", ".join(map(stage_title, self.problems)))
            text = " · ".join(filter(None, (f"✗ {invalid}", text)))
            description = "\n".join((description, *self.dialog.problem_lines()))
        if view.pipeline_error:
            text, description = f"! {text}", view.pipeline_error
        self.chip.setText((text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…").replace("&", "&&"))
        self.chip.setVisible(bool(text))
        self.chip.setToolTip(plain_text(description))
        self.chip.setAccessibleName(description)
        self.button.setToolTip(plain_text(ui_text("generation.processors.tip", processors=description)))

    @property
    def problems(self) -> dict[str, str]:
        """Return the stages whose input is invalid, with the reasons."""
        return self._dialog.problems if self._dialog is not None else {}

    def reset(self) -> None:
        """Restore the grammar alone and the default order; discard what was typed."""
        if self._dialog is not None:
            self._dialog.restore_defaults()
        elif self._view.pipeline != PipelineSettings():
            self.edited.emit(PipelineSettings())

    def forget(self) -> None:
        """Discard what was typed for another document."""
        if self._dialog is not None:
            self._dialog.forget(self._view.pipeline)

    def _show_problems(self) -> None:
        """Show in the pane what the closed dialog would show."""
        self._refresh_chip()
        if not self.problems or self.dialog.isVisible():
            self.notice.set_text("")
            return
        names = ", ".join(map(stage_title, self.problems))
        first = next(iter(self.problems))
        self.notice.show_message(
            ui_text("generation.processors.notice", stages=names),
            "\n".join(self.dialog.problem_lines()),
            button=ui_text("generation.processors.edit"),
            action=lambda: self.dialog.open_at(first, self.button),
        )

    def show_refusal(self, refused: PipelineRefused) -> None:
        """Show why stages that were requested are not applied."""
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_refusal(refused)
        else:
            self.refused.emit(ui_text("generation.processors.refused", reason=refused.why))

    @property
    def dialog(self) -> ProcessorsDialog:
        """Return the dialog, open or not."""
        if self._dialog is None:
            self._dialog = ProcessorsDialog(self._window)
            self._dialog.edited.connect(self.edited)
            self._dialog.drafted.connect(self.drafted)
            self._dialog.sampler_wanted.connect(self.sampler_wanted)
            self._dialog.problems_changed.connect(self._show_problems)
            self._dialog.problems_changed.connect(self.problems_changed)
            self._dialog.hidden.connect(self._show_problems)
            self._dialog.show_view(self._view)
        return self._dialog

    @command("run.processors", "Ctrl+R, P", place=(4, 1), icon="ph.funnel")
    def open(self) -> None:
        """Open the dialog."""
        self.notice.set_text("")
        self.dialog.open_under(self.button)
