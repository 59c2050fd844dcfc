"""A trace on its way to the window: in pieces, each of which crosses once.

After every step the window gets the whole tree, and making a thousand steps anew
takes a reader longer than a frame. Here a piece of the tree is pickled once and
unpickled once, and in a worker process it is sent once, too: from then on its number
stands for it, as long as every view has it. So a step costs what it adds, and whoever
compares two traces finds most of their nodes identical.

That is safe because every message of a process is read, in order, even where its job
was cancelled and nobody hears of the answer; and a new process is another sender.

Rejected: sending only what a step changed. The answer to a cancelled request is
dropped, and the window would go on without a part of the tree.
"""

from __future__ import annotations

import pickle
import uuid
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from engine.decoding.values import Trace, TraceNode

_PIECE = 16  # nodes
_SENDERS = 4  # whose pieces are kept; a window hears one at a time

Nodes: TypeAlias = tuple[TraceNode, ...]


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """A trace whose nodes are pickled piece by piece; else the same fields.

    Attributes:
        sender: whose numbers the pieces have.
        pieces: pairs of a piece's number and its pickled nodes; None where the view before had this piece, too.
    """

    sender: str
    pieces: tuple[tuple[int, bytes | None], ...]
    path: tuple[int, ...]
    current: int | None
    illegal: frozenset[int]


class _Piece(NamedTuple):
    nodes: Nodes
    number: int
    pickled: bytes


class Sender:
    """Packs one trace after the other.

    Attributes:
        sends_once: whether a piece is left out that the view before had. Only for who is read without a gap.
    """

    def __init__(self) -> None:
        self.sends_once = False
        self._name = uuid.uuid4().hex
        self._numbers = 0
        self._pieces: list[_Piece] = []

    def pack(self, trace: Trace) -> PackedTrace:
        """Pickle what is new of a trace's nodes."""
        known = {piece.number for piece in self._pieces} if self.sends_once else set[int]()
        self._pieces = [
            self._piece(at, trace.nodes[start : start + _PIECE])
            for at, start in enumerate(range(0, len(trace.nodes), _PIECE))
        ]
        sent = ((piece.number, None if piece.number in known else piece.pickled) for piece in self._pieces)
        return PackedTrace(self._name, tuple(sent), trace.path, trace.current, trace.illegal)

    def _piece(self, at: int, nodes: Nodes) -> _Piece:
        if at < len(self._pieces) and self._pieces[at].nodes == nodes:  # mostly the very same ones, which is quick
            return self._pieces[at]
        self._numbers += 1
        return _Piece(nodes, self._numbers, pickle.dumps(nodes, pickle.HIGHEST_PROTOCOL))


class Receiver:
    """Unpacks what senders packed, in the order in which it came."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, Nodes]] = {}

    def unpack(self, packed: PackedTrace) -> Trace:
        """The trace again."""
        before = self._known.pop(packed.sender, {})
        pieces = {
            number: before[number] if number in before else _unpickled(pickled) for number, pickled in packed.pieces
        }
        self._known[packed.sender] = pieces  # at the end: the ones that are heard stay
        while len(self._known) > _SENDERS:
            del self._known[next(iter(self._known))]
        return Trace(tuple(chain.from_iterable(pieces.values())), packed.path, packed.current, packed.illegal)


def _unpickled(pickled: bytes | None) -> Nodes:
    assert pickled is not None, "a piece of the trace was never sent"
    nodes: Nodes = pickle.loads(pickled)  # noqa: S301 - our own worker wrote it
    return nodes


SENDER, RECEIVER = Sender(), Receiver()  # of this process
