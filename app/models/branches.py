"""The branches of a trace and the archived ones as trees of runs of steps, and two of them step by step.

A part of a tree is a run of steps up to where branches part, or one ends. Its probability is that of its output from
the first step on, after the mask: the product over its steps, of which the logarithm is kept, since a hundred tokens
may have 1e-60. A step whose token was the only one has probability 1, also where the model was not queried; of other
such steps nothing is known, so that the sum has bounds. Nothing unknown is a number.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from types import MappingProxyType
from typing import TypeAlias

from PySide6.QtCore import QObject, Qt

from app import theme
from app.catalogue import ui_text
from app.display_text import MINUS, UNKNOWN, percent_between, token_text
from app.models.rows import Index, RowsModel, rest_of_row
from engine.decoding.values import ArchivedBranch, Bounds, Chat, Step, StepOrigin, TraceNode
from engine.source.text import common_length

StepPair: TypeAlias = tuple[int, Step | None, Step | None]
"""The index of a step, and that step of two branches; None beyond the end of one."""

_UNKNOWN, _CERTAIN = Bounds(-math.inf, 0.0), Bounds(0.0, 0.0)


@dataclass(slots=True)
class BranchPart:
    """A run of steps that no branch leaves before its end.

    Attributes:
        steps: the steps.
        nodes: the ids of its steps in the trace; in an archived tree they mean nothing.
        before: how many steps precede it.
        log_p: the logarithm of the probability of the output up to its end, or bounds.
        ends: the archived branches that end with it, the latest first.
        below: the parts that follow.
    """

    steps: list[Step]
    nodes: list[int]
    before: int
    log_p: Bounds
    ends: list[ArchivedBranch] = field(default_factory=list)
    below: list[BranchPart] = field(default_factory=list)


def log_probability(step: Step) -> Bounds:
    """Return the logarithm of the probability of a token after the mask, or bounds."""
    known = _masked(step)
    if known is None:
        return _UNKNOWN
    low, high = (math.log(p) if p > 0 else -math.inf for p in known)
    return Bounds(low, min(high, 0.0))


def _masked(step: Step) -> Bounds | None:
    """Return the probability of a token after the mask, or its bounds; None if nothing is known."""
    if step.forced and step.origin is not StepOrigin.FORCED_BY_USER:
        return Bounds(1.0, 1.0)
    return step.masked_range if step.was_queried else None


def parts_of(
    nodes: Iterable[TraceNode], ends: Mapping[int, list[ArchivedBranch]] = MappingProxyType({})
) -> list[BranchPart]:
    """Return the tree of steps as parts, each before those that follow it.

    Args:
        nodes: the steps; a parent precedes its children.
        ends: the archived branches that end at a node, by its id; there a part ends, too.
    """
    children: defaultdict[int | None, list[TraceNode]] = defaultdict(list)
    for node in nodes:
        children[node.parent].append(node)
    first: list[BranchPart] = []
    waiting = deque((node, 0, _CERTAIN, first) for node in children[None])
    while waiting:
        node, before, log_p, siblings = waiting.popleft()
        part = BranchPart([], [], before, log_p)
        while True:
            low, high = log_probability(node.step)
            part.log_p = Bounds(part.log_p.low + low, part.log_p.high + high)
            part.steps.append(node.step)
            part.nodes.append(node.id)
            following = children[node.id]
            if len(following) != 1 or node.id in ends:
                break
            node = following[0]
        part.ends = ends.get(node.id, [])
        siblings.append(part)
        waiting += ((one, before + len(part.steps), part.log_p, part.below) for one in following)
    return first


def archived_trees(archived: Sequence[ArchivedBranch]) -> list[tuple[ArchivedBranch, list[BranchPart]]]:
    """Return a tree for each model and prompt of archived branches, with its latest branch."""
    groups: dict[tuple[str, str | Chat], list[ArchivedBranch]] = {}
    for branch in archived:
        groups.setdefault((branch.model, branch.prompt), []).append(branch)
    return [(branches[0], _tree_of(branches)) for branches in groups.values()]


def _tree_of(branches: Sequence[ArchivedBranch]) -> list[BranchPart]:
    nodes: list[TraceNode] = []
    known: dict[tuple[int | None, int], int] = {}
    ends: defaultdict[int, list[ArchivedBranch]] = defaultdict(list)
    for branch in branches:
        at: int | None = None
        for step in branch.steps:
            key = at, step.token_id
            if key not in known:
                known[key] = len(nodes)
                nodes.append(TraceNode(len(nodes), at, step))
            at = known[key]
        if at is not None:
            ends[at].append(branch)
    return parts_of(nodes, ends)


def text_of(step: Step) -> str:
    """Return the token of a step as text."""
    return token_text(step.token, step.name, step.token_id)


def step_percent(step: Step) -> str:
    """Return the probability of a token after the mask, in words."""
    known = _masked(step)
    return UNKNOWN if known is None else percent_between(*known)


def log_text(log_p: Bounds) -> str:
    """Return the logarithm of a probability, or its bounds, in words."""
    low, high = log_p
    if low == high:
        return f"{MINUS}∞" if low == -math.inf else _nats(low)
    if low == -math.inf:
        return UNKNOWN if high == 0 else f"≤{_nats(high)}"
    return f"{_nats(low)} … {_nats(high)}"


def _nats(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS) if value else "0"


class ComparedSteps(RowsModel):
    """The steps of one branch, or of two side by side: equal up to where they part.

    Attributes:
        common: how many steps both begin with.
    """

    titles: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()
    numbers = frozenset({0, 2, 4})

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_pair, self.common = False, 0

    def show_steps(self, first: Sequence[Step], second: Sequence[Step] | None = None) -> None:
        """Show the steps of a branch, and those of another one beside them; None for one branch alone."""
        self._is_pair = second is not None
        pairs = [(index, one, other) for index, (one, other) in enumerate(zip_longest(first, second or ()))]
        self.common = common_length([step.token_id for step in first], [step.token_id for step in second or ()])
        columns = ("step", "first", "p", "second", "p") if self._is_pair else ("step", "token", "p")
        self.titles = tuple(ui_text(f"branches.steps.fragment.{column}") for column in columns)
        self.tips = tuple(ui_text("branches.steps.p_tip") if column == "p" else "" for column in columns)
        self.show_rows(tuple(pairs))

    def text(self, row: StepPair, column: int) -> str:
        """Return the number of a step, a token, or its probability."""
        step = (None, row[1], row[1], row[2], row[2])[column]
        if column == 0:
            return f"{row[0] + 1:,}"
        return "" if step is None else step_percent(step) if column in self.numbers else text_of(step)

    def look(self, row: StepPair, column: int, role: int) -> object:
        """Show the tokens with which the branches part in bold, and common ones in a muted colour."""
        at = row[0]
        match role:
            case Qt.ItemDataRole.FontRole if column not in self.numbers:
                font = theme.mono_font()
                font.setBold(self._is_pair and at == self.common)
                return font
            case Qt.ItemDataRole.ForegroundRole if column == 0 or (self._is_pair and at < self.common):
                return theme.colour(theme.Role.MUTED)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what `RowsModel` does, and the rest of the row for screen readers."""
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and index.isValid() and index.column() == 0:
            return rest_of_row(index)
        return super().data(index, role)
