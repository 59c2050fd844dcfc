"""The other branches of an output, one button each.

Those of another prompt or model come last, pale and with a dashed border: they can be read, but not continued.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app import theme
from app.display_text import count, prompt_text, token_text
from app.theme.buttons import give_menu, tool_button
from app.theme.labels import Label
from engine.decoding.values import ArchivedBranch, Step, Trace, TraceNode

_MOST_BUTTONS = 3
_BUTTON_WIDTH = 104
_FORMER_WIDTH = 128
_MENU_LENGTH = 40  # characters


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
    """Return what distinguishes an archived branch: its model and its prompt."""
    prompt = prompt_text(archived.prompt)
    return f"{archived.model} · prompt “{prompt}”" if prompt else f"{archived.model} · no prompt"


class BranchStrip(QWidget):
    """Buttons for the latest branches and a menu of the others; hidden if there are none.

    Signals:
        branch_clicked(step id): show the branch that ends in this step.
        archived_clicked(ArchivedBranch): show this output of another prompt or model.
    """

    branch_clicked = Signal(int)
    archived_clicked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._branches: tuple[Branch, ...] = ()
        self._archived: tuple[ArchivedBranch, ...] = ()
        self._model = ""
        self._buttons: list[QToolButton] = []
        title = Label("Branches")
        title.setProperty("role", "muted")
        self._more = tool_button("", "The other branches", role="chip")
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
        same = f"“{prompt}”" if prompt else "no prompt"
        text = f"{archived.model if archived.model != self._model else same}: {_text_of(archived.steps)}"
        elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, _FORMER_WIDTH)
        button = tool_button(elided, _archived_tip(archived), role="archived")
        button.clicked.connect(lambda: self.archived_clicked.emit(archived))
        return button

    def _button(self, branch: Branch) -> QToolButton:
        font = theme.mono_font(-0.5)
        font.setStrikeOut(branch.illegal)
        elided = QFontMetrics(font).elidedText(branch.text, Qt.TextElideMode.ElideRight, _BUTTON_WIDTH)
        button = tool_button(elided, _tip(branch), role="chip")
        button.setFont(font)
        button.clicked.connect(lambda: self.branch_clicked.emit(branch.leaf))
        return button

    def _fill_menu(self, branches: tuple[Branch, ...], archived: tuple[ArchivedBranch, ...]) -> None:
        self._menu.clear()
        for branch in branches:
            action = QAction(_plain(f"{_cut(branch.text)}   {_origin(branch)}"), self._menu)
            action.triggered.connect(lambda _checked=False, leaf=branch.leaf: self.branch_clicked.emit(leaf))
            self._menu.addAction(action)
        if archived:
            self._menu.addSeparator()
        for one in archived:
            action = QAction(_plain(f"{_cut(_text_of(one.steps))}   {_cut(name_of(one))}"), self._menu)
            action.triggered.connect(lambda _checked=False, one=one: self.archived_clicked.emit(one))
            self._menu.addAction(action)
        self._more.setText(f"+{len(branches) + len(archived)}")
        self._more.setVisible(bool(branches or archived))


def _text_of(steps: Iterable[Step]) -> str:
    return "".join(token_text(step.token, step.name, step.token_id) for step in steps)


def _cut(text: str) -> str:
    return text if len(text) <= _MENU_LENGTH else text[: _MENU_LENGTH - 1] + "…"


def _origin(branch: Branch) -> str:
    return f"after step {branch.after}" if branch.after else "from the start"


def _tip(branch: Branch) -> str:
    steps = f"{count(branch.steps, 'token')}, {_origin(branch)}"
    illegal = "\nThe present grammar does not allow all of it" if branch.illegal else ""
    return f"{branch.text}\n{steps}{illegal}\nClick shows it"


def _archived_tip(archived: ArchivedBranch) -> str:
    steps = count(len(archived.steps), "token")
    return f"{_text_of(archived.steps)}\n{steps}, {name_of(archived)}\nClick shows it, to read only"


def _plain(text: str) -> str:
    """Escape `&`, which Qt reads as the mark of a mnemonic."""
    return text.replace("&", "&&")
