"""The processors in the pane: a button that opens them, and a chip that says what is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.panes.generation.processors_text import summary
from app.theme.buttons import tool_button
from app.theme.plain_text import plain_text
from app.workers.decode_messages import DecodeView, PipelineRefused

if TYPE_CHECKING:
    from app.panes.generation.processors_dialog import ProcessorsDialog

_LONGEST = 56


class Processors(QObject):
    """The button, the chip and the dialog, which is made when it is first opened.

    Signals:
        edited(PipelineSettings): put these stages in place.
        sampler_wanted: open the sampler.
        refused(why): stages that were asked for elsewhere are not in place.

    Attributes:
        button: opens the dialog.
        chip: says what is on, and opens the dialog; hidden where all is as usual.
    """

    edited = Signal(object)
    sampler_wanted = Signal()
    refused = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._view = DecodeView()
        self._dialog: ProcessorsDialog | None = None
        self.button = tool_button("Processors…", "", role="outlined")
        self.chip = tool_button("", "", role="chip")
        for opener in (self.button, self.chip):
            opener.clicked.connect(self.open)
        self.show_view(self._view)

    def show_view(self, view: DecodeView) -> None:
        """Show what is in force."""
        self._view = view
        said = summary(view.pipeline)
        facts = f"Processors: {said or 'the grammar alone'}"
        if view.pipeline_error:
            said, facts = f"! {said}", view.pipeline_error
        self.chip.setText((said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…").replace("&", "&&"))
        self.chip.setVisible(bool(said))
        self.chip.setToolTip(plain_text(facts))
        self.chip.setAccessibleName(facts)
        self.button.setToolTip(plain_text(f"What stands between the model and the draw, and in which order. {facts}"))
        if self._dialog is not None:
            self._dialog.show_view(view)

    def show_refusal(self, refused: PipelineRefused) -> None:
        """Say why stages that were asked for are not in place."""
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.show_refusal(refused)
        else:
            self.refused.emit(f"The processors stay as they were: {refused.why}")

    @property
    def dialog(self) -> ProcessorsDialog:
        """The dialog, open or not."""
        from app.panes.generation.processors_dialog import ProcessorsDialog

        if self._dialog is None:
            self._dialog = ProcessorsDialog(self._window)
            self._dialog.edited.connect(self.edited)
            self._dialog.sampler_wanted.connect(self.sampler_wanted)
            self._dialog.show_view(self._view)
        return self._dialog

    def open(self) -> None:
        """Open the dialog."""
        self.dialog.open_under(self.button)
