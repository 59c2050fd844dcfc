"""The output: its chips, its branches, and the archived outputs of earlier prompts and models.

An archived output is shown in place of the present one, under its own title; the next change of the present output
brings that back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QActionGroup, QFontMetrics, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSplitter, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import duration, prompt_text, token_text
from app.panes.generation.chip import Chip, ChipCache, archived_chips, chips_of, respelled_chip
from app.panes.generation.chip_colours import SCALES, ChipColours, Legend
from app.panes.generation.chip_view import ChipView
from app.panes.generation.record_strip import RecordStrip
from app.theme.buttons import give_menu, push_button, tool_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.stable_widget import StableWidget
from app.workers.requests.decode import DecodeView, Respelling
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.forced.values import savings_of
from engine.decoding.values import ArchivedBranch, Position, Step, Trace, TraceNode

_HIGH_FROM = 600  # pixels
_SHARE = 0.25  # the largest share of the height that the output takes
_TIGHT_BELOW = 22  # lines of text: everything around the candidates needs about twelve and cannot be made lower


_MOST_BUTTONS = 3
_BUTTON_WIDTH = 104
_ARCHIVED_WIDTH = 128
_MENU_LENGTH = 40  # characters


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """The output that is shown: the present one, with what can be redone, or an archived one.

    Attributes:
        tokens: the id of each step and the bytes of its token; none of a special token.
        taken: how many of the tokens are part of the output; the others can be redone.
        broken_at: the index of the first token that the grammar does not allow; None if it allows them all.
        can_be_gone_to: whether the output can be continued from one of its steps.
    """

    tokens: tuple[tuple[int, bytes], ...] = ()
    taken: int = 0
    broken_at: int | None = None
    can_be_gone_to: bool = False


class OutputBox(QWidget):
    """Shows an output.

    Signals:
        changed: another output is shown.
        node_clicked(step id): go to right after this step.
        colours_chosen(what): colour the chips by this value of `ChipColours`.
        bytes_hovered(bytes): the pointer is on a token with these bytes of the output; an empty tuple for none.
    """

    changed = Signal()
    node_clicked = Signal(int)
    colours_chosen = Signal(str)
    bytes_hovered = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = DecodeView()
        self._archived: ArchivedBranch | None = None
        self._chip_cache: ChipCache = []
        self._respellings: dict[int, Respelling] = {}  # by the id of a step
        self._marked_chips: dict[int, tuple[Chip, Chip]] = {}  # a chip, and the same with its mark
        self.chips = ChipView(ui_text("generation.output.empty"))
        self.chips.setAccessibleName(ui_text("common.word.output"))
        self.branches = BranchStrip()
        self.record = RecordStrip()
        self.title = Label(ui_text("common.word.output"))
        self.title.setProperty("role", "heading")
        self.tally = ElidedLabel()
        self.colours = tool_button("", "", role="chip")
        self.colours.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.colours.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.legend = Legend()
        self._fill_colours()
        for widget in (self.legend, self.colours):
            widget.hide()
        self.resume = push_button(
            ui_text("generation.output.resume"),
            ui_text("generation.output.resume_tip"),
            role="link",
            clicked=lambda: self.read(None),
        )
        self.resume.hide()
        self.copy = push_button(
            ui_text("common.button.copy"), ui_text("generation.output.copy_tip"), role="link", clicked=self._copy
        )
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
        layout.addWidget(self.record)
        layout.addWidget(self.branches)
        self.chips.chip_clicked.connect(self._on_chip)
        self.chips.chip_hovered.connect(self._on_hovered)
        self.branches.branch_clicked.connect(self.node_clicked)
        self.branches.archived_clicked.connect(self.read)

    @property
    def archived(self) -> ArchivedBranch | None:
        """Return the archived output that is shown; None for the present one."""
        return self._archived

    @property
    def shown(self) -> ShownOutput:
        """Return the output that is shown."""
        if self._archived is not None:
            steps = self._archived.steps
            return ShownOutput(tuple((index, _bytes_of(step)) for index, step in enumerate(steps)), len(steps))
        trace, position = self._view.trace, self._view.position
        steps_by_id = {node.id: node.step for node in trace.nodes}
        tokens = tuple((node_id, _bytes_of(steps_by_id[node_id])) for node_id in trace.path)
        taken = trace.path.index(trace.current) + 1 if trace.current in trace.path else 0
        broken = None if position is None else position.broken_at
        return ShownOutput(tokens, taken, broken, can_be_gone_to=True)

    def show_view(self, view: DecodeView) -> None:
        """Show the state of a session."""
        if self._archived is not None and _content_of(view) != _content_of(self._view):
            self._archived = None
        self._view = view
        self.chips.set_placeholder(_placeholder(view.position))
        self.branches.show_branches(branches_of(view.trace))
        self.record.show_record(view.record)
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
        scale = SCALES[by]
        self.colours.setToolTip(plain_text(ui_text("generation.output.colours_tip", scale=scale.title, tip=scale.tip)))
        self.colours.setAccessibleName(ui_text("generation.output.colours", scale=scale.title))
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

    def mark_bytes(self, data: tuple[int, ...]) -> None:
        """Mark the tokens of a range of bytes; none for an empty tuple, and for outputs whose grammar has zones."""
        starts = self._starts if data else []
        if len(starts) < 2:
            self.chips.mark(range(0))
            return
        first, last = bisect_right(starts, data[0]) - 1, bisect_left(starts, max(data[1], data[0] + 1))
        self.chips.mark(range(first, min(last, len(starts) - 1)))

    @property
    def _starts(self) -> list[int]:
        """Return the offset of each token of the shown path, and the end of the last; empty if they say nothing."""
        if self._archived is not None or self._view.pipeline.zones is not None:
            return []
        steps = {node.id: node.step for node in self._view.trace.nodes}
        path = (steps[node_id] for node_id in self._view.trace.path)
        return [*accumulate((len(_bytes_of(step)) for step in path), initial=0)]

    def _on_hovered(self, index: int) -> None:
        starts = self._starts if index >= 0 else []
        position = self._view.position
        is_known = index + 1 < len(starts) and position is not None and starts[index + 1] <= len(position.output)
        self.bytes_hovered.emit((starts[index], starts[index + 1]) if is_known else ())

    def _fill_colours(self) -> None:
        menu = QMenu(self.colours)
        menu.setToolTipsVisible(True)
        self._choices = QActionGroup(menu)
        for by, scale in SCALES.items():
            action = menu.addAction(scale.title, partial(self.colours_chosen.emit, by.value))
            action.setToolTip(plain_text(scale.tip))
            action.setCheckable(True)
            action.setData(by.value)
            self._choices.addAction(action)
        give_menu(self.colours, menu)
        self.set_colours(ChipColours.PROBABILITY)

    def _refresh(self) -> None:
        self._show_chips()
        self.changed.emit()

    def _show_chips(self) -> None:
        read = self._archived
        self.title.setText(ui_text("common.word.output" if read is None else "generation.output.earlier"))
        self.resume.setVisible(read is not None)
        if read is not None:
            self.chips.show_chips(archived_chips(read), None)
            tokens = ui_text("common.count.tokens", count=len(read.steps))
            self.tally.set_text(ui_text("generation.output.read_only", tokens=tokens, branch=name_of(read)))
            self.title.setToolTip(plain_text(self.tally.text()))
            self.copy.show()
            return
        chips, current = chips_of(self._view.trace, self._chip_cache)
        if self._respellings:
            chips = tuple(self._respelled(chip) for chip in chips)
        self.chips.show_chips(chips, current)
        self.tally.set_text(_tally(0 if current is None else current + 1, self._view) if chips else "")
        self.legend.setVisible(bool(chips) and not self._is_tight)
        self.colours.setVisible(bool(chips))
        self.title.setToolTip(plain_text(self.tally.text()))
        self.copy.setVisible(bool(chips))

    def show_respellings(self, parts: tuple[Respelling, ...]) -> None:
        """Mark the tokens of the last view that the tokenizer would write otherwise."""
        path = self._view.trace.path
        found = {node_id: part for part in parts for node_id in path[part.first : part.end]}
        if found != self._respellings:
            self._respellings = found
            self._marked_chips.clear()
            if self._archived is None:
                self._show_chips()

    def _respelled(self, chip: Chip) -> Chip:
        """Return a chip with its mark; the same object for the same chip, since only other ones are painted again."""
        part = self._respellings.get(chip.id)
        if part is None:
            return chip
        known = self._marked_chips.get(chip.id)
        if known is None or known[0] is not chip:
            known = self._marked_chips[chip.id] = chip, respelled_chip(chip, part)
        return known[1]

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


def _bytes_of(step: Step) -> bytes:
    """Return what a step adds to the output: nothing if its token is special."""
    return b"" if step.name else step.token or b""


def _tally(taken: int, view: DecodeView) -> str:
    broken = view.position.broken_at if view.position is not None else None
    facts = [ui_text("common.count.tokens", count=taken), _savings(taken, view)]
    if broken is not None:
        facts.append(ui_text("generation.output.broken", token=broken + 1))
    return " · ".join(filter(None, facts))


def _savings(taken: int, view: DecodeView) -> str:
    """Describe what forced runs have saved so far; empty if they are not taken."""
    strategy = STRATEGIES[view.pipeline.forced]
    if not strategy.takes_runs:
        return ""
    trace = view.trace
    nodes = {node.id: node.step for node in trace.nodes}
    saved = savings_of([nodes[node_id] for node_id in trace.path[:taken]])
    if strategy.queries_model:
        return ui_text("generation.output.savings.none", forced=saved.forced)
    text = ui_text("generation.output.savings.calls", forced=saved.forced, count=saved.calls)
    if saved.seconds is None or not saved.calls:
        return text
    return ui_text("generation.output.savings.time", calls=text, time=duration(saved.seconds))


def _content_of(view: DecodeView) -> tuple[object, ...]:
    return view.trace, view.prompt, view.model


def _placeholder(position: Position | None) -> str:
    if position is None:
        return ui_text("generation.output.not_ready")
    return ui_text("generation.output.empty" if position.finish is None else "generation.output.ended")


class OutputSplitter(QSplitter):
    """The output above the pages.

    The output gets the height of its chips and no more, since in a low window every spare line can show a candidate. In
    a high window three lines are reserved from the beginning, so that the table does not move with the first steps.
    Once the user has moved the splitter, it stays.

    Signals:
        tightened(is tight): there is hardly space for the candidates, or enough again.

    Args:
        output: the upper part.
        following: the lower part, which grows with the window.
    """

    tightened = Signal(bool)

    def __init__(self, output: OutputBox, following: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._output = output
        self._was_moved = False  # by the user
        self._is_tight = False
        self.setChildrenCollapsible(False)
        self.addWidget(output)
        self.addWidget(following)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._on_splitter_moved)

    def fit(self) -> None:
        """Give the output the height of its chips."""
        if self._was_moved or not self.height():
            return
        chips = self._output.chips
        least = self._output.minimumSizeHint().height()
        around = least - chips.minimumSizeHint().height()
        reserved = chips.sizeHint().height() if self.height() >= _HIGH_FROM else 0
        most = max(least, round(self.height() * _SHARE))
        wanted = max(least, min(around + max(chips.content_height, reserved), most))
        if self._output.height() != wanted:
            self.setSizes([wanted, self.height() - wanted])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new height, or wrap at the new width."""
        super().resizeEvent(event)
        is_tight = self.height() < _TIGHT_BELOW * self.fontMetrics().lineSpacing()
        if is_tight != self._is_tight:
            self._is_tight = is_tight
            self.tightened.emit(is_tight)
        self.fit()

    def _on_splitter_moved(self, _position: int, _index: int) -> None:
        self._was_moved = True


@dataclass(frozen=True, slots=True)
class Branch:
    """A path of the trace that is not shown.

    Attributes:
        leaf: the id of its last step.
        after: how many steps it shares with the shown path.
        text: its own tokens as text.
        steps: the number of its own tokens.
        illegal: whether the present grammar rejects one of them.
    """

    leaf: int
    after: int
    text: str
    steps: int
    illegal: bool


def branches_of(trace: Trace) -> tuple[Branch, ...]:
    """Return the paths of a trace other than the shown one, the latest first."""
    nodes = {node.id: node for node in trace.nodes}
    shown = set(trace.path)
    parents = {node.parent for node in trace.nodes}
    leaves = [node for node in trace.nodes if node.id not in parents and node.id not in shown]
    return tuple(_branch(leaf, nodes, shown, trace) for leaf in reversed(leaves))


def _branch(leaf: TraceNode, nodes: dict[int, TraceNode], shown: set[int], trace: Trace) -> Branch:
    own: list[TraceNode] = []
    at: TraceNode | None = leaf
    while at is not None and at.id not in shown:
        own.append(at)
        at = nodes[at.parent] if at.parent is not None else None
    own.reverse()
    return Branch(
        leaf=leaf.id,
        after=0 if at is None else trace.path.index(at.id) + 1,
        text=_text_of(node.step for node in own),
        steps=len(own),
        illegal=any(node.id in trace.illegal for node in own),
    )


def name_of(archived: ArchivedBranch) -> str:
    """Return what distinguishes an archived branch: its name, or its model and its prompt."""
    if archived.name:
        return archived.name
    prompt = prompt_text(archived.prompt)
    if not prompt:
        return f"{archived.model} · {ui_text('generation.branches.fragment.no_prompt')}"
    return ui_text("generation.branches.prompt", model=archived.model, prompt=prompt)


class BranchStrip(QWidget):
    """Buttons for the latest branches and a menu of the others; hidden if there are none.

    Outputs of another prompt or model come last, pale and with a dashed border: they can be read, but not continued.

    Signals:
        branch_clicked(step id): show the branch that ends in this step.
        archived_clicked(ArchivedBranch): show this output of another prompt or model.
    """

    branch_clicked = Signal(int)
    archived_clicked = Signal(ArchivedBranch)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._branches: tuple[Branch, ...] = ()
        self._archived: tuple[ArchivedBranch, ...] = ()
        self._model = ""
        self._buttons: list[QToolButton] = []
        title = Label(ui_text("generation.branches.heading"))
        title.setProperty("role", "muted")
        self._more = tool_button("", ui_text("generation.branches.more"), role="chip")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self._more)
        give_menu(self._more, self._menu)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_XS)
        self._row.addWidget(title)
        self._row.addWidget(self._more)
        self._row.addStretch(1)
        self.hide()

    def show_branches(self, branches: tuple[Branch, ...]) -> None:
        """Replace the branches."""
        if branches != self._branches:
            self._branches = branches
            self._fill()

    def show_archived(self, archived: tuple[ArchivedBranch, ...], model: str) -> None:
        """Show archived branches after the others, the latest first, labelled by what differs from `model`."""
        if (archived, model) != (self._archived, self._model):
            self._archived, self._model = archived, model
            self._fill()

    @property
    def buttons(self) -> list[QToolButton]:
        """Return the buttons, that of the latest branch first."""
        return self._buttons

    @property
    def more(self) -> QToolButton:
        """Return the button whose menu has the other branches."""
        return self._more

    def _fill(self) -> None:
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        branches = self._branches[:_MOST_BUTTONS]
        archived = self._archived[: _MOST_BUTTONS - len(branches)]
        self._buttons = [*map(self._button, branches), *map(self._archived_button, archived)]
        for index, button in enumerate(self._buttons):
            self._row.insertWidget(1 + index, button)
        self._fill_menu(self._branches[len(branches) :], self._archived[len(archived) :])
        self.setVisible(bool(self._buttons))

    def _archived_button(self, archived: ArchivedBranch) -> QToolButton:
        font = theme.ui_font()
        prompt = prompt_text(archived.prompt)
        same = f"“{prompt}”" if prompt else ui_text("generation.branches.fragment.no_prompt")
        origin = archived.name or (archived.model if archived.model != self._model else same)
        text = f"{origin}: {_text_of(archived.steps)}"
        elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, _ARCHIVED_WIDTH)
        choose = partial(self.archived_clicked.emit, archived)
        return tool_button(elided, _archived_tip(archived), role="archived", clicked=choose)

    def _button(self, branch: Branch) -> QToolButton:
        font = theme.mono_font(-0.5)
        font.setStrikeOut(branch.illegal)
        elided = QFontMetrics(font).elidedText(branch.text, Qt.TextElideMode.ElideRight, _BUTTON_WIDTH)
        choose = partial(self.branch_clicked.emit, branch.leaf)
        button = tool_button(elided, _tip(branch), role="chip", clicked=choose)
        button.setFont(font)
        return button

    def _fill_menu(self, branches: tuple[Branch, ...], archived: tuple[ArchivedBranch, ...]) -> None:
        self._menu.clear()
        for branch in branches:
            text = _plain(f"{_cut(branch.text)}   {_origin(branch)}")
            self._menu.addAction(text, partial(self.branch_clicked.emit, branch.leaf))
        if archived:
            self._menu.addSeparator()
        for one in archived:
            text = _plain(f"{_cut(_text_of(one.steps))}   {_cut(name_of(one))}")
            self._menu.addAction(text, partial(self.archived_clicked.emit, one))
        self._more.setText(f"+{len(branches) + len(archived)}")
        self._more.setVisible(bool(branches or archived))


def _text_of(steps: Iterable[Step]) -> str:
    return "".join(token_text(step.token, step.name, step.token_id) for step in steps)


def _cut(text: str) -> str:
    return text if len(text) <= _MENU_LENGTH else text[: _MENU_LENGTH - 1] + "…"


def _origin(branch: Branch) -> str:
    if not branch.after:
        return ui_text("generation.branches.fragment.start")
    return ui_text("generation.branches.fragment.after", step=branch.after)


def _tip(branch: Branch) -> str:
    lines = [branch.text, f"{ui_text('common.count.tokens', count=branch.steps)}, {_origin(branch)}"]
    if branch.illegal:
        lines.append(ui_text("generation.branches.illegal"))
    return "\n".join((*lines, ui_text("generation.branches.click")))


def _archived_tip(archived: ArchivedBranch) -> str:
    tokens = f"{ui_text('common.count.tokens', count=len(archived.steps))}, {name_of(archived)}"
    return "\n".join((_text_of(archived.steps), tokens, ui_text("generation.branches.click_archived")))


def _plain(text: str) -> str:
    """Escape `&`, which Qt reads as the mark of a mnemonic."""
    return text.replace("&", "&&")
