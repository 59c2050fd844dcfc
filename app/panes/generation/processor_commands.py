"""The commands of the processors: the dialog, the budget switch and the reset."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from app.catalogue import ui_text
from app.commands import command
from app.pane_spec import PaneContext
from app.panes.generation.processors_button import Processors
from engine.decoding.pipeline_settings import PipelineSettings


class ProcessorCommands(QObject):
    """Connects commands, the processors' part of the pane, and the session."""

    def __init__(self, context: PaneContext, processors: Processors) -> None:
        super().__init__(context.window)
        document = context.session.document
        self._decoding = decoding = context.session.decoding
        self._processors = processors
        context.commands.add(processors)
        context.commands.add(self, decoding.view_changed, processors.problems_changed)
        processors.edited.connect(decoding.set_pipeline)
        processors.drafted.connect(lambda settings: document.draft(pipeline=settings))
        document.replaced.connect(processors.forget)
        decoding.pipeline_refused.connect(processors.show_refusal)

    @command("run.complete", "Ctrl+R, C", place=(4, 2), checked=lambda self: self.completes)
    def _toggle_budget(self) -> None:
        self._decoding.set_pipeline(replace(self._decoding.view.pipeline, budget=not self.completes))

    @property
    def completes(self) -> bool:
        """Return whether the output is completed within the token limit."""
        return self._decoding.view.pipeline.budget

    @property
    def reset_refusal(self) -> str:
        """Return why there is nothing to reset; an empty text if there is."""
        is_default = self._decoding.view.pipeline == PipelineSettings() and not self._processors.problems
        return ui_text("window.command.processors_are_default") if is_default else ""

    @command("run.processors_reset", "Ctrl+R, R", place=(4, 4), refusal=lambda self: self.reset_refusal)
    def _reset(self) -> None:
        self._processors.reset()
