"""The output: its chips, its branches, and the archived outputs of earlier prompts and models.

An archived output is shown in place of the present one, under its own title; the next change of the present output
brings that back.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.display_text import count, duration
from app.panes.generation.branches import BranchStrip, branches_of, name_of
from app.panes.generation.chip import Known, archived_chips, chips_of
from app.panes.generation.chip_colours import SCALES, ChipColours, Legend
from app.panes.generation.chip_view import ChipView
from app.theme.buttons import give_menu, push_button, tool_button
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.stable_widget import StableWidget
from app.workers.decode_messages import DecodeView
from engine.decoding.forced.values import savings_of
from engine.decoding.pipeline_settings import Strategy
from engine.decoding.values import ArchivedBranch, Position

_NOT_READY = "The output stands here once there is a model and a grammar."
_EMPTY = "Nothing is generated yet. Press Step, or click a token below."
_ENDED = "Nothing is generated, and nothing can be: below stands why."


class OutputBox(QWidget):
    """Shows an output.

    Signals:
        node_clicked(step id): go to right after this step.
        colours_chosen(what): colour the chips by this value of `ChipColours`.
    """

    node_clicked = Signal(int)
    colours_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = DecodeView()
        self._archived: ArchivedBranch | None = None
        self._chip_cache: Known = []
        self.chips = ChipView(_EMPTY)
        self.chips.setAccessibleName("Output")
        self.branches = BranchStrip()
        self.title = Label("Output")
        self.title.setProperty("role", "heading")
        self.tally = ElidedLabel()
        self.colours = tool_button("", "", role="chip")
        self.colours.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.colours.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.legend = Legend()
        self._fill_colours()
        for widget in (self.legend, self.colours):
            widget.hide()
        self.resume = push_button("Back to the output", "Stop reading the earlier output", role="link")
        self.resume.hide()
        self.copy = push_button("Copy", "Copy the output as text", role="link")
        policy = self.copy.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.copy.setSizePolicy(policy)
        self._is_tight = False
        self._bar = bar = QHBoxLayout()
        bar.setSpacing(theme.SPACE_S)
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(bar)
        bar.addWidget(self.title)
        self._stable_tally = StableWidget.around(self.tally)
        bar.addWidget(self._stable_tally, 1)
        bar.addWidget(self.legend)
        bar.addWidget(self.colours)
        bar.addWidget(self.resume)
        bar.addWidget(self.copy)
        layout.addWidget(self.chips, 1)
        layout.addWidget(self.branches)
        self.chips.chip_clicked.connect(self._on_chip)
        self.branches.branch_clicked.connect(self.node_clicked)
        self.branches.archived_clicked.connect(self.read)
        self.resume.clicked.connect(lambda: self.read(None))
        self.copy.clicked.connect(self._copy)

    def show_view(self, view: DecodeView) -> None:
        """Show the state of a session."""
        if self._archived is not None and _shown(view) != _shown(self._view):
            self._archived = None
        self._view = view
        self.chips.set_placeholder(_placeholder(view.position))
        self.branches.show_branches(branches_of(view.trace))
        self._refresh()

    def set_tight(self, is_tight: bool) -> None:
        """Place the chips beside their title, instead of the token count and the legend; or below it."""
        if is_tight != self._is_tight:
            self._is_tight = is_tight
            old, new = (self._column, self._bar) if is_tight else (self._bar, self._column)
            old.removeWidget(self.chips)
            new.insertWidget(1, self.chips, 1)
            self._stable_tally.setVisible(not is_tight)
            self._refresh()

    def set_colours(self, what: str) -> None:
        """Colour the chips by one of `ChipColours`, and show its legend."""
        by = ChipColours(what) if what in set(ChipColours) else ChipColours.PROBABILITY
        self.chips.set_colours(by)
        self.legend.show_scale(by)
        self.colours.setText(f"{SCALES[by].title} ▾")
        self.colours.setToolTip(plain_text(f"Chips are coloured by: {SCALES[by].title.lower()}. {SCALES[by].tip}"))
        self.colours.setAccessibleName(f"Chips are coloured by {SCALES[by].title.lower()}")
        for action in self._choices.actions():
            action.setChecked(action.data() == by.value)

    def show_archived(self, archived: tuple[ArchivedBranch, ...]) -> None:
        """Offer the archived outputs of earlier prompts and models."""
        self.branches.show_archived(archived, self._view.model.name if self._view.model else "")
        if self._archived is not None and self._archived not in archived:
            self.read(None)

    def read(self, archived: ArchivedBranch | None) -> None:
        """Show an archived output in place of the present one; None returns to that."""
        self._archived = archived
        self._refresh()

    def _fill_colours(self) -> None:
        menu = QMenu(self.colours)
        menu.setToolTipsVisible(True)
        self._choices = QActionGroup(menu)
        for by, scale in SCALES.items():
            action = menu.addAction(scale.title)
            action.setToolTip(plain_text(scale.tip))
            action.setCheckable(True)
            action.setData(by.value)
            action.triggered.connect(lambda _checked=False, by=by: self.colours_chosen.emit(by.value))
            self._choices.addAction(action)
        give_menu(self.colours, menu)
        self.set_colours(ChipColours.PROBABILITY)

    def _refresh(self) -> None:
        read = self._archived
        self.title.setText("Output" if read is None else "Earlier output")
        self.resume.setVisible(read is not None)
        if read is not None:
            self.chips.show_chips(archived_chips(read), None)
            self.tally.set_text(f"read-only · {count(len(read.steps), 'token')} · {name_of(read)}")
            self.title.setToolTip(plain_text(self.tally.text()))
            self.copy.show()
            return
        chips, current = chips_of(self._view.trace, self._chip_cache)
        self.chips.show_chips(chips, current)
        self.tally.set_text(_tally(0 if current is None else current + 1, self._view) if chips else "")
        self.legend.setVisible(bool(chips) and not self._is_tight)
        self.colours.setVisible(bool(chips))
        self.title.setToolTip(plain_text(self.tally.text()))
        self.copy.setVisible(bool(chips))

    def _on_chip(self, node_id: int) -> None:
        if self._archived is None:
            self.node_clicked.emit(node_id)

    def _copy(self) -> None:
        if self._archived is not None:
            output = b"".join(step.token or b"" for step in self._archived.steps)
        elif self._view.position is not None:
            output = self._view.position.output
        else:
            return
        QGuiApplication.clipboard().setText(output.decode("utf-8", "replace"))


def _tally(taken: int, view: DecodeView) -> str:
    broken = view.position.broken_at if view.position is not None else None
    off = "" if broken is None else f" · ✗ broken at {broken + 1}"
    return count(taken, "token") + _saved(taken, view) + off


def _saved(taken: int, view: DecodeView) -> str:
    """Describe what forced runs have saved so far; empty if they are not taken."""
    if view.pipeline.forced is Strategy.NONE:
        return ""
    trace = view.trace
    nodes = {node.id: node.step for node in trace.nodes}
    saved = savings_of([nodes[node_id] for node_id in trace.path[:taken]])
    if view.pipeline.forced is Strategy.PROBABLE:
        return f" · {saved.forced:,} in forced runs, the model asked for their spelling"
    time = f", about {duration(saved.seconds)}" if saved.seconds is not None and saved.calls else ""
    return f" · {saved.forced:,} in forced runs: {count(saved.calls, 'call')} saved{time}"


def _shown(view: DecodeView) -> tuple[object, ...]:
    return view.trace, view.prompt, view.model


def _placeholder(position: Position | None) -> str:
    if position is None:
        return _NOT_READY
    return _EMPTY if position.finish is None else _ENDED
