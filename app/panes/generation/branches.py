"""The other ways that an output took, one button for each."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from app import theme
from app.models.wording import count, token_text
from app.panes.generation.buttons import tool_button
from engine.decoding.values import Trace, TraceNode

_MOST_BUTTONS = 3
_BUTTON_WIDTH = 104


@dataclass(frozen=True, slots=True)
class Branch:
    """A path of the tree that is not shown.

    Attributes:
        leaf: the id of its last step.
        after: how many steps it shares with the shown path.
        text: its own tokens, made visible.
        steps: how many they are.
        illegal: whether the present grammar refuses one of them.
    """

    leaf: int
    after: int
    text: str
    steps: int
    illegal: bool


def branches_of(trace: Trace) -> tuple[Branch, ...]:
    """The paths of a trace beside the shown one, the latest first."""
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
        text="".join(token_text(node.step.token, node.step.name, node.step.token_id) for node in own),
        steps=len(own),
        illegal=any(node.id in trace.illegal for node in own),
    )


class BranchStrip(QWidget):
    """Buttons for the latest branches and a menu of all others; hidden while there are none.

    Signals:
        branch_clicked(step id): show the branch that ends in this step.
    """

    branch_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[Branch, ...] = ()
        self._buttons: list[QToolButton] = []
        title = QLabel("Branches")
        title.setProperty("role", "muted")
        self._more = tool_button("", "The other branches", role="chip")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self._more)
        self._more.setMenu(self._menu)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_XS)
        self._row.addWidget(title)
        self._row.addWidget(self._more)
        self._row.addStretch(1)
        self.hide()

    def show_branches(self, branches: tuple[Branch, ...]) -> None:
        """Show these."""
        if branches == self._shown:
            return
        self._shown = branches
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [self._button(branch) for branch in branches[:_MOST_BUTTONS]]
        for index, button in enumerate(self._buttons):
            self._row.insertWidget(1 + index, button)
        self._fill_menu(branches[_MOST_BUTTONS:])
        self.setVisible(bool(branches))

    @property
    def buttons(self) -> list[QToolButton]:
        """The buttons in the strip, the latest branch first."""
        return self._buttons

    def _button(self, branch: Branch) -> QToolButton:
        font = theme.mono_font(-0.5)
        font.setStrikeOut(branch.illegal)
        elided = QFontMetrics(font).elidedText(branch.text, Qt.TextElideMode.ElideRight, _BUTTON_WIDTH)
        button = tool_button(elided, _tip(branch), role="chip")
        button.setFont(font)
        button.clicked.connect(lambda: self.branch_clicked.emit(branch.leaf))
        return button

    def _fill_menu(self, branches: tuple[Branch, ...]) -> None:
        self._menu.clear()
        for branch in branches:
            elided = branch.text if len(branch.text) <= 40 else branch.text[:39] + "…"
            action = QAction(_plain(f"{elided}   {_origin(branch)}"), self._menu)
            action.triggered.connect(lambda _checked=False, leaf=branch.leaf: self.branch_clicked.emit(leaf))
            self._menu.addAction(action)
        self._more.setText(f"+{len(branches)}")
        self._more.setVisible(bool(branches))


def _origin(branch: Branch) -> str:
    return f"after step {branch.after}" if branch.after else "from the start"


def _tip(branch: Branch) -> str:
    steps = f"{count(branch.steps, 'token')}, {_origin(branch)}"
    illegal = "\nThe present grammar does not allow all of it" if branch.illegal else ""
    return f"{branch.text}\n{steps}{illegal}\nClick shows it"


def _plain(text: str) -> str:
    """Qt reads `&` as the mark of a key."""
    return text.replace("&", "&&")
