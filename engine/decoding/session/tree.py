"""The tree of steps, and the current node in it.

Equal tokens after the same node are one node, so stepping again along a known path makes no copies. The shown path may
extend beyond the current step: what was undone stays in view until another step replaces it, and then becomes a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from engine.decoding.values import Step, Trace, TraceNode
from engine.source import InvariantError


class StepTree:
    """Steps with parents, a shown path, and a depth on it.

    Attributes:
        illegal: ids of nodes that the current grammar does not allow.
    """

    def __init__(self) -> None:
        self._nodes: list[TraceNode] = []
        self._children: dict[int | None, dict[int, int]] = {None: {}}  # node -> token id -> node
        self._path: list[int] = []
        self._depth = 0
        self.illegal: frozenset[int] = frozenset()

    @classmethod
    def grown_from(cls, trace: Trace, keeps: Callable[[Step], bool]) -> StepTree:
        """Build the tree of a trace.

        Args:
            trace: a trace in any numbering in which a parent precedes its children.
            keeps: whether to keep a step; the steps after a dropped one are dropped too.
        """
        tree = cls()
        new_ids: dict[int | None, int | None] = {None: None}
        for node in trace.nodes:
            if node.parent in new_ids and keeps(node.step):
                new_ids[node.id] = tree._add(new_ids[node.parent], node.step)
        for node_id in trace.path:
            if (kept := new_ids.get(node_id)) is None:
                break
            tree._path.append(kept)
            if node_id == trace.current:
                tree._depth = len(tree._path)
        if trace.current is not None and trace.current not in new_ids:
            tree._depth = len(tree._path)
        return tree

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def path(self) -> tuple[int, ...]:
        """The node ids of the shown branch."""
        return tuple(self._path)

    @property
    def depth(self) -> int:
        """The number of steps of the path that are taken."""
        return self._depth

    @property
    def current(self) -> int | None:
        """The id of the last step taken; None at the start."""
        return self._path[self._depth - 1] if self._depth else None

    def taken(self) -> tuple[Step, ...]:
        """Return the steps from the start to the current one."""
        return tuple(self._nodes[i].step for i in self._path[: self._depth])

    def node(self, node_id: int) -> TraceNode:
        """Return a node by its id.

        Raises:
            InvariantError: there is none.
        """
        if not 0 <= node_id < len(self._nodes):
            raise InvariantError("errors.decoding.trace.no_step", id=node_id)
        return self._nodes[node_id]

    def children(self, node_id: int | None) -> Iterator[TraceNode]:
        """Yield the steps that follow a node, in order of creation."""
        return (self._nodes[i] for i in self._children[node_id].values())

    def line_to(self, node_id: int) -> tuple[int, ...]:
        """Return the node ids from the first step to this one."""
        line: list[int] = []
        at: int | None = node_id
        while at is not None:
            line.append(at)
            at = self.node(at).parent
        return tuple(reversed(line))

    def push(self, step: Step) -> TraceNode:
        """Take a step: follow the existing node if there is one, else add a node."""
        known = self._add(self.current, step)
        if self._depth >= len(self._path) or self._path[self._depth] != known:
            self._path[self._depth :] = [known]
        self._depth += 1
        return self._nodes[known]

    def _add(self, parent: int | None, step: Step) -> int:
        siblings = self._children[parent]
        known = siblings.get(step.token_id)
        if known is None:
            known = len(self._nodes)
            self._nodes.append(TraceNode(known, parent, step))
            siblings[step.token_id] = known
            self._children[known] = {}
        else:
            self.refresh(known, step)
        return known

    def refresh(self, node_id: int, step: Step) -> None:
        """Replace the step of a node by a newer version of the same decision; what a log has of it stays."""
        node = self._nodes[node_id]
        if step.recorded is None and node.step.recorded is not None:
            step = replace(step, recorded=node.step.recorded)
        self._nodes[node_id] = TraceNode(node.id, node.parent, step)

    def return_to(self, before: Trace) -> None:
        """Drop every node that was added since a trace was taken, and restore its path.

        Args:
            before: an earlier value of this tree (`trace`); since then nodes were only added or refreshed.
        """
        for node in reversed(self._nodes[len(before.nodes) :]):
            del self._children[node.id], self._children[node.parent][node.step.token_id]
        self._nodes, self._path = list(before.nodes), list(before.path)
        self._depth = 0 if before.current is None else before.path.index(before.current) + 1
        self.illegal = before.illegal

    def move_to_depth(self, depth: int) -> None:
        """Move along the shown path."""
        if not 0 <= depth <= len(self._path):
            raise InvariantError("errors.decoding.trace.path_length", steps=len(self._path), depth=depth)
        self._depth = depth

    def go_to(self, node_id: int | None) -> None:
        """Move to a node. If it is on another branch, show that branch down to its newest end."""
        if node_id is None:
            self._depth = 0
            return
        line = self.line_to(node_id)
        if tuple(self._path[: len(line)]) != line:
            self._path = [*line, *self._newest_below(node_id)]
        self._depth = len(line)

    def _newest_below(self, node_id: int) -> Iterator[int]:
        while below := self._children[node_id]:
            node_id = max(below.values())
            yield node_id

    def trace(self) -> Trace:
        """Return the tree as a value."""
        return Trace(tuple(self._nodes), tuple(self._path), self.current, self.illegal)
