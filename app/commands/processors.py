"""The commands of the processors: the dialog, the budget switch and the reset."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.actions import Actions
from app.panes.generation.processors_button import Processors
from app.session import Session
from app.workers.requests.decode import DecodeView
from engine.decoding.pipeline_settings import PipelineSettings


class ProcessorCommands(QObject):
    """Connects commands, the processors' part of the pane, and the session."""

    def __init__(self, commands: Actions, processors: Processors, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._commands = commands
        self._session = session
        decoding = session.decoding
        commands.connect_to(
            {
                "run.processors": processors.open,
                "run.complete": self._toggle_budget,
                "run.processors_reset": processors.reset,
            }
        )
        self._processors = processors
        processors.edited.connect(decoding.set_pipeline)
        processors.problems_changed.connect(lambda: self._show_view(decoding.view))
        session.document.replaced.connect(processors.forget)
        processors.drafted.connect(lambda settings: session.document.draft(pipeline=settings))
        decoding.pipeline_refused.connect(processors.show_refusal)
        decoding.view_changed.connect(self._show_view)

    def _toggle_budget(self) -> None:
        settings = self._session.decoding.view.pipeline
        self._session.decoding.set_pipeline(replace(settings, budget=not settings.budget))

    def _show_view(self, view: DecodeView) -> None:
        self._commands["run.complete"].setChecked(view.pipeline.budget)
        self._commands["run.processors_reset"].setEnabled(
            view.pipeline != PipelineSettings() or bool(self._processors.problems)
        )
